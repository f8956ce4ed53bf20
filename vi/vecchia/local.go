package vecchia

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/nearest"
	"github.com/bmkl/bmkl/vi/internal/work"
)

const localTogether = 64 // rows predicted in one task

// local predicts from the nearest rows.
type local struct {
	s      *samples
	cov    *Covariance
	m      int
	metric []float64
	index  *nearest.Index
}

// newLocal returns the prediction by m neighbours among the samples.
func newLocal(s *samples, cov *Covariance, m, workers int) *local {
	l := &local{s: s, cov: cov, m: m, metric: cov.metric()}
	l.index = nearest.New(workers, scaled(s.x, l.metric), m)
	return l
}

// predict stores the means of the targets at the rows of x and their variances, noise included, whose
// relative variance is noise, or 1 if that is nil.
func (l *local) predict(workers int, stop *work.Stop, x la.Matrix[float64], noise []float64, mean la.Matrix[float64], variance []float64) error {
	near := make([]int32, x.Rows*l.m)
	l.index.Search(workers, scaled(x, l.metric), nil, l.m, near)
	tasks := (x.Rows + localTogether - 1) / localTogether
	crew := work.NewCrew(workers, max(1, tasks), func(int) *conditional {
		c := newConditional(l.s, len(l.cov.Parts), l.m)
		c.cov = l.cov
		return c
	})
	crew.Stop = stop
	return crew.First(tasks, func(c *conditional, t int) error {
		for i := t * localTogether; i < min(x.Rows, (t+1)*localTogether); i++ {
			r := 1.0
			if noise != nil {
				r = noise[i]
			}
			variance[i] = c.at(near[i*l.m:][:l.m], x.Row(i), r, false)
			copy(mean.Row(i), c.mean)
		}
		return nil
	})
}
