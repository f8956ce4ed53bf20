package vecchia

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/nearest"
)

// Single predicts the targets of one row at a time, as [Posterior.Predict] does, without allocating. It is immutable and safe for
// concurrent use.
type Single struct {
	post   *Posterior
	index  *nearest.Single
	metric []float32
	means  []singleMeans
}

// singleMeans is the means of one solution, in one of two precisions.
type singleMeans struct {
	*means
	low  *panelMeans[float32]
	high *panelMeans[float64]
}

// panelMeans is meansIn with the rows of each part in panels.
type panelMeans[T la.Float] struct {
	*meansIn[T]
	panels []la.Panels[T]
}

// SingleScratch is memory for one prediction.
type SingleScratch struct {
	Mean []float64 // receives the means of the targets

	c      *conditional
	search *nearest.SingleScratch
	near   []int32
	x      []float32
	low    singleTile[float32]
	high   singleTile[float64]
}

// singleTile is memory for correlations of one row with tileRows others.
type singleTile[T la.Float] struct{ z, k, e, out []T }

// Single prepares predictions of one row at a time. It holds another copy of the rows.
func (p *Posterior) Single() *Single {
	s := &Single{post: p, index: p.local.index.Single()}
	for _, v := range p.local.metric {
		s.metric = append(s.metric, float32(v))
	}
	for _, m := range p.means {
		of := singleMeans{means: m}
		if m.high != nil {
			of.high = newPanelMeans(m.high)
		} else {
			of.low = newPanelMeans(m.low)
		}
		s.means = append(s.means, of)
	}
	return s
}

func newPanelMeans[T la.Float](m *meansIn[T]) *panelMeans[T] {
	p := &panelMeans[T]{meansIn: m}
	for _, x := range m.values.x {
		p.panels = append(p.panels, la.PackPanels(x))
	}
	return p
}

// NewScratch returns memory for a prediction.
func (s *Single) NewScratch() *SingleScratch {
	l := s.post.local
	t, d := len(s.post.state.Factor), s.post.state.X.Cols
	w := &SingleScratch{
		Mean: make([]float64, t), c: newConditional(l.s, len(l.cov.Parts), l.m),
		search: s.index.NewScratch(), near: make([]int32, l.m), x: make([]float32, d),
		low: newSingleTile[float32](d, t), high: newSingleTile[float64](d, t),
	}
	w.c.cov = l.cov
	return w
}

func newSingleTile[T la.Float](d, t int) singleTile[T] {
	return singleTile[T]{make([]T, d), make([]T, tileRows), make([]T, tileRows), make([]T, t)}
}

// Predict stores the means of the targets of the row x in w.Mean and returns their variance before the factors of the targets:
// of target c it is Factor(c) times as large. With meanOnly the variance is NaN.
func (s *Single) Predict(w *SingleScratch, x []float64, meanOnly bool) (variance float64) {
	clear(w.Mean)
	variance = math.NaN()
	if weight := s.post.state.LocalWeight; weight > 0 || !meanOnly {
		for f, v := range x {
			w.x[f] = float32(v * s.post.local.metric[f])
		}
		s.index.Nearest(w.search, w.x, w.near)
		v := w.c.at(w.near, x, 1, false)
		copy(w.Mean, w.c.mean)
		la.Scal(weight, w.Mean)
		if !meanOnly {
			variance = v
		}
	}
	for i, m := range s.means {
		weight := s.post.state.Solved[i].Weight
		la.Gemv(&w.c.w, la.Transpose, weight, m.slope, x, 1, w.Mean)
		la.Axpy(weight, m.shift, w.Mean)
		if m.high != nil {
			m.high.add(&w.c.w, &w.high, m.cov, x, weight, w.Mean)
		} else {
			m.low.add(&w.c.w, &w.low, m.cov, x, weight, w.Mean)
		}
	}
	return variance
}

// Factor returns the factor of the variance of a target.
func (s *Single) Factor(target int) float64 { return s.post.state.Factor[target] }

// add adds the means by the parts of the covariance at x, times by, to mean.
func (m *panelMeans[T]) add(ws *la.Workspace, t *singleTile[T], cov *Covariance, x []float64, by float64, mean []float64) {
	for q, shape := range m.values.shapes {
		coordinate(t.z, &cov.Parts[q], x)
		panels := m.panels[q]
		for j0 := 0; j0 < panels.Rows; j0 += tileRows {
			j1 := min(panels.Rows, j0+tileRows)
			part := la.Panels[T]{Rows: j1 - j0, Cols: panels.Cols, Data: panels.Data[j0*panels.Cols:]}
			part.Data = part.Data[:part.Padded()*part.Cols]
			part.SqDistVec(t.z, t.k[:part.Padded()])
			k := t.k[:j1-j0]
			correlate(shape, k, t.e)
			if alpha := m.alpha.Slice(j0, j1, 0, m.alpha.Cols); alpha.Cols == 1 {
				t.out[0] = la.Dot(k, alpha.Data[:len(k)]) // the sum that tiles have
			} else {
				la.Gemv(ws, la.Transpose, 1, alpha, k, 0, t.out)
			}
			for c, v := range t.out {
				mean[c] += float64(by * m.values.amp[q] * float64(v))
			}
		}
	}
}
