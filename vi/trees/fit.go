package trees

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Process has the settings of a fit. The zero value is ready.
type Process struct {
	Seed    uint64 // of the samples that a tree sees
	Workers int    // goroutines, 0 for all processors; results do not depend on it

	// Held is the number of samples, the last ones, that learn the factor of the variances. Trees do not see them. 0 means
	// a fifth of the samples, and at most 4000.
	Held int

	// Seconds limits the work of the fit, in seconds of one core as [Forecast] counts them. 0 means no limit.
	Seconds float64

	// Progress, if not nil, is called with the seconds of work done so far and forecast.
	Progress func(done, all float64)
}

const (
	fewestHeld = 20 // samples held out

	curveHeights = 640 // of all curves together
	mostKnots    = 24  // of a curve

	leavesOfTree = 16
	rate         = 0.3 // share of a tree's means that the next tree finds removed
	together     = 8   // trees whose heights have the same prior

	mostGrown = 200_000 // samples that trees grow on
	updates   = 12      // of precisions and noise
)

// fitting is the state of a fit.
type fitting struct {
	Process
	x     la.Matrix[float64]
	y     []float64
	train int // samples that are not held out: the first
	stop  *work.Stop
	la    la.Workspace

	state  State
	blocks []block
	groups []group
	spent  float64
	all    float64
}

// Fit infers the heights of curves and trees from the samples x (n×d) and their targets y, whose mean should be 0 and variance 1.
// The order of the samples must be random. Errors name values that are not finite. If ctx ends the error wraps its cause.
func (p Process) Fit(ctx context.Context, x la.Matrix[float64], y []float64) (*Posterior, error) {
	p, err := p.checked(x, len(y))
	if err != nil {
		return nil, err
	}
	if i := check.NonFinite(y); i >= 0 {
		return nil, fmt.Errorf("trees: y: entry %d is %g", i, y[i])
	}
	n := x.Rows
	f := &fitting{Process: p, x: x, y: y, train: n - p.Held, stop: new(work.Stop), la: la.Workspace{Workers: p.Workers}}
	f.stop.Heed(ctx)
	trees := p.trees(f.train, x.Cols)
	f.all = Forecast(n, x.Cols, trees)
	r, err := f.curves()
	if err != nil {
		return nil, err
	}
	if err := f.grow(trees, r); err != nil {
		return nil, err
	}
	return f.posterior()
}

// checked returns the settings for samples x with so many targets, with the number of samples held out.
func (p Process) checked(x la.Matrix[float64], targets int) (Process, error) {
	n := x.Rows
	switch {
	case n == 0 || x.Cols == 0:
		return p, fmt.Errorf("trees: x: %d×%d where at least one row and one column are needed", n, x.Cols)
	case targets != n:
		return p, fmt.Errorf("trees: y: length %d where %d is needed", targets, n)
	}
	for i := range n {
		if f := check.NonFinite(x.Row(i)); f >= 0 {
			return p, fmt.Errorf("trees: x: entry (%d, %d) is %g", i, f, x.At(i, f))
		}
	}
	if p.Held == 0 {
		p.Held = min(4000, n/5)
	}
	if p.Held < fewestHeld || n-p.Held < 2*fewestHeld {
		return p, fmt.Errorf("trees: %d of %d samples held out: at least %d must be, and twice as many must be left", p.Held, n, fewestHeld)
	}
	return p, nil
}

// spend records work that was done.
func (f *fitting) spend(seconds float64) {
	f.spent += seconds
	if f.Progress != nil {
		f.Progress(f.spent, max(f.spent, f.all))
	}
}

// heights returns the number of heights so far.
func (f *fitting) heights() int {
	if len(f.blocks) == 0 {
		return 0
	}
	last := f.blocks[len(f.blocks)-1]
	return last.first + last.size
}

// knotsFor returns the number of knots of the curve of each of so many features, 0 if the features are too many for curves.
func knotsFor(features int) int {
	if k := curveHeights / features; k >= 2 {
		return min(mostKnots, k)
	}
	return 0
}

// curves adds a curve for each feature that varies, and returns what the best curves leave of the targets of the first samples.
func (f *fitting) curves() ([]float64, error) {
	features, knots := f.x.Cols, knotsFor(f.x.Cols)
	if knots == 0 {
		features = 0
	}
	for j := range features {
		values := make([]float64, f.train)
		for i := range values {
			values[i] = f.x.At(i, j)
		}
		slices.Sort(values)
		c := newCurve(j, values, knots)
		if len(c.Knots) < 2 {
			continue
		}
		b := block{first: f.heights(), size: len(c.Knots), place: make([]uint8, f.x.Rows), share: make([]float32, f.x.Rows)}
		for i := range f.x.Rows {
			k, u := c.at(f.x.At(i, j))
			b.place[i], b.share[i] = uint8(k), float32(u)
		}
		f.groups = append(f.groups, group{first: b.first, size: b.size, curve: true, precision: 1})
		f.state.Curves = append(f.state.Curves, c)
		f.blocks = append(f.blocks, b)
	}
	r := slices.Clone(f.y[:f.train])
	if len(f.blocks) == 0 {
		return r, nil
	}
	h, _, err := f.learn()
	if err != nil {
		return nil, err
	}
	for k := range f.blocks {
		f.blocks[k].subtract(h.mean, r)
	}
	f.spend(binSeconds(f.train, f.x.Cols) + sumSeconds(f.train, len(f.blocks)) + evidenceSeconds(f.heights()))
	return r, nil
}

// learn learns the heights by the first samples.
func (f *fitting) learn() (*heights, *sums, error) {
	s := newSums(f.heights())
	if err := s.add(f.blocks, f.y, 0, f.train, f.Workers, f.stop); err != nil {
		return nil, nil, err
	}
	h := &heights{groups: slices.Clone(f.groups), noise: 0.1, mean: make([]float64, f.heights()), covariance: la.NewMatrix[float64](f.heights(), f.heights())}
	err := h.learn(s, updates, &f.la)
	if err == nil {
		err = f.stop.Ended()
	}
	return h, s, err
}

// subtract subtracts the part of the function from the first targets.
func (b *block) subtract(w, r []float64) {
	w = w[b.first : b.first+b.size]
	for i := range r {
		p := b.place[i]
		if b.share == nil {
			r[i] -= w[p]
			continue
		}
		r[i] -= w[p] + float64(float64(b.share[i])*(w[p+1]-w[p]))
	}
}

// grow adds trees, each grown on what curves and earlier trees leave of the targets, r. Each tree sees a half of the samples.
func (f *fitting) grow(trees int, r []float64) error {
	grown := min(f.train, mostGrown)
	g := &grower{binned: bin(f.x, f.train), least: leastRows(grown), most: leavesOfTree}
	g.crew = work.NewCrew(f.Workers, f.x.Cols, func(int) struct{} { return struct{}{} })
	g.crew.Stop = f.stop
	f.spend(binSeconds(f.train, f.x.Cols))
	src := random.Source(f.Seed)
	for t := range trees {
		rows := make([]int32, 0, grown)
		for i := range grown {
			if src.Float64() < 0.5 {
				rows = append(rows, int32(i))
			}
		}
		tree, err := g.grow(rows, r)
		if err != nil {
			return err
		}
		if tree.Leaves < 2 {
			break
		}
		b := block{first: f.heights(), size: tree.Leaves, place: make([]uint8, f.x.Rows)}
		sum, n := make([]float64, tree.Leaves), make([]float64, tree.Leaves)
		for i := range f.x.Rows {
			b.place[i] = uint8(tree.leaf(f.x.Row(i)))
			if i < grown {
				sum[b.place[i]] += r[i]
				n[b.place[i]]++
			}
		}
		for i := range r {
			p := b.place[i]
			r[i] -= float64(rate * sum[p] / (n[p] + shrinkage))
		}
		if t%together == 0 {
			f.groups = append(f.groups, group{first: b.first, precision: 10})
		}
		f.groups[len(f.groups)-1].size += b.size
		f.state.Trees = append(f.state.Trees, tree)
		f.blocks = append(f.blocks, b)
		f.spend(growSeconds(grown, f.x.Cols) + placeSeconds(f.x.Rows))
	}
	return nil
}

// leastRows returns the least number of samples of a leaf of trees that see a half of n.
func leastRows(n int) int { return max(5, min(30, n/400)) }

// posterior learns the heights, measures the factor of the variances by the samples held out, and adds these samples to the sums.
func (f *fitting) posterior() (*Posterior, error) {
	if len(f.blocks) == 0 {
		return nil, fmt.Errorf("trees: no feature varies")
	}
	h, s, err := f.learn()
	if err != nil {
		return nil, err
	}
	p := &Posterior{state: f.state}
	p.state.Noise, p.state.Mean, p.state.Covariance, p.state.Factor = h.noise, h.mean, h.covariance, 1
	p.HeldMean, p.HeldVariance = make([]float64, f.Held), make([]float64, f.Held)
	c := p.Cells()
	var factor float64
	for i := range f.Held {
		p.HeldMean[i], p.HeldVariance[i] = p.predict(f.x.Row(f.train+i), c)
		e := f.y[f.train+i] - p.HeldMean[i]
		factor += float64(e*e) / p.HeldVariance[i] / float64(f.Held)
	}
	factor = max(factor, leastNoise)
	la.Scal(factor, p.HeldVariance)
	p.state.Factor = factor
	if err := s.add(f.blocks, f.y, f.train, f.x.Rows, f.Workers, f.stop); err != nil {
		return nil, err
	}
	if err := h.update(s, &f.la); err != nil {
		return nil, err
	}
	f.spend(sumSeconds(f.x.Rows, len(f.blocks)) + evidenceSeconds(f.heights()))
	p.Spent = f.spent
	return p, f.stop.Ended()
}
