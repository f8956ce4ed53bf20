package vecchia

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Process has the settings of a fit. The zero value is ready.
type Process struct {
	Seed    uint64 // of random choices
	Workers int    // goroutines, 0 for all processors; results do not depend on it

	// Held is the number of rows, the last ones, that compare covariances and weigh predictions. The
	// fit learns no width from them. 0 means a fifth of the rows, and at most 1000.
	Held int

	// Seconds limits the work of the fit, in seconds of one core as [Forecast] counts them. The count
	// does not depend on the machine. 0 means no limit.
	Seconds float64

	// LeastNoise is the least variance of the noise. 0 means e⁻¹⁴, below which rounding to float32 would count.
	LeastNoise float64

	// Worth, if not nil, is given the predictions of the rows held out by neighbours alone. It reports whether the means of all rows, which take
	// most of the work, are to be computed.
	Worth func(mean, variance la.Matrix[float64]) bool

	// Progress, if not nil, is called with the seconds of work done so far and forecast.
	Progress func(done, all float64)
}

// fewestHeld is the least number of rows held out.
const fewestHeld = 20

// heldRows returns the number of rows held out of n.
func (p Process) heldRows(n int) int {
	if p.Held > 0 {
		return p.Held
	}
	return min(1000, n/5)
}

// family is the shapes of the parts of a covariance.
type family []Shape

// single are the families that a fit compares first.
var single = []family{{RBF}, {Matern}}

// after returns the families of two parts that a fit compares next, the more promising one first: both shapes together, and the better
// shape twice. They start from what was learned of their first part.
func after(better Shape) []family {
	if better == Matern {
		return []family{{Matern, Matern}, {RBF, Matern}}
	}
	return []family{{RBF, Matern}, {RBF, RBF}}
}

// fitting is the state of a fit.
type fitting struct {
	Process
	s     *samples
	stop  *work.Stop
	train int // rows that are not held out: the first
	all   []*candidate
	spent float64
	limit float64
}

// Fit infers the process of the rows of x (n×d) and their targets y (n×t), which share a covariance.
// Features and targets should have means near 0 and variances near 1, and the order of the rows must
// be random. noise has the relative noise variance of each row; nil stands for ones. Errors name
// values that are not finite. If ctx ends the error wraps its cause.
func (p Process) Fit(ctx context.Context, x, y la.Matrix[float64], noise []float64) (*Posterior, error) {
	s, err := newSamples(x, y, noise)
	if err != nil {
		return nil, err
	}
	f := &fitting{Process: p, s: s, stop: new(work.Stop), limit: p.Seconds}
	held := p.heldRows(x.Rows)
	if held < fewestHeld || x.Rows-held < 2*fewestHeld {
		return nil, fmt.Errorf("vecchia: %d of %d rows held out: at least %d must be, and twice as many must be left", held, x.Rows, fewestHeld)
	}
	f.train = x.Rows - held
	if f.limit <= 0 {
		f.limit = unlimited
	}
	f.stop.Heed(ctx)
	if err := f.learn(); err != nil {
		return nil, err
	}
	if p.Worth == nil || p.Worth(f.byNeighbours()) {
		if err := f.solve(); err != nil {
			return nil, err
		}
	}
	return f.mix()
}

// spend records work that was done.
func (f *fitting) spend(seconds float64) {
	f.spent += seconds
	if f.Progress != nil {
		f.Progress(f.spent, max(f.spent, min(f.limit, f.whole())))
	}
}

// learn learns a covariance of each family that the limit allows, and sorts them by the log densities
// of the rows held out, the best first.
func (f *fitting) learn() error {
	first := max(0, f.train-mostLearned)
	l := &learner{
		l:     &likelihood{samples: f.s.between(first, f.s.x.Rows), workers: f.Workers, stop: f.stop},
		train: f.train - first, seed: f.Seed, noise: f.LeastNoise,
	}
	for i := f.train - first; i < l.l.x.Rows; i++ {
		l.held = append(l.held, i)
	}
	learned := map[Shape]*Covariance{}
	next := single
	for i := 0; i < len(next); i++ {
		fam := next[i]
		steps := stepsOf(fam)
		cost := f.learnSeconds(len(fam), steps)
		room := float64(learnShare*f.limit) - f.spent
		if cost > room && i > 0 {
			break
		}
		for cost > room && steps > leastSteps {
			steps = max(leastSteps, steps*17/20)
			cost = f.learnSeconds(len(fam), steps)
		}
		var cov *Covariance
		var err error
		if len(fam) == 1 {
			cov, err = l.single(fam[0], steps)
			learned[fam[0]] = cov
		} else {
			cov, err = l.double(learned[fam[0]], fam[1], steps)
		}
		if err != nil {
			return err
		}
		c := &candidate{cov: cov}
		if err := f.judge(c, neighbours[0]); err != nil {
			return err
		}
		f.all = append(f.all, c)
		f.spend(cost)
		if i == len(single)-1 {
			better := RBF
			if f.all[1].score > f.all[0].score {
				better = Matern
			}
			next = append(next[:len(next):len(next)], after(better)...)
		}
	}
	slices.SortStableFunc(f.all, func(a, b *candidate) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return nil
}
