package mkl

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bmkl/bmkl/la"
)

// group is a set of views whose kernels are functions of one statistic, which
// is computed once for all of them.
type group struct {
	input int
	sight sight
	stat  statistic
	basis Features // the basis points as the kernels see them; empty if given
	views []int
}

// group finds the views that share a statistic.
func (ds *design) group() {
	ds.groups = nil
	for i := range ds.views {
		v := &ds.views[i]
		if v.isFunction() {
			continue // it has no kernel
		}
		stat := v.kernel.statistic()
		var basis Features
		found := false
		for j := range ds.groups {
			g := &ds.groups[j]
			if g.input != v.input || !g.sight.equal(v.sight) || stat.widths != nil || g.stat.widths != nil || g.stat.kind == given {
				continue
			}
			basis = g.basis
			if g.stat.kind == stat.kind && stat.kind < given {
				g.views, found = append(g.views, i), true
				break
			}
		}
		if found {
			continue
		}
		if in := &ds.inputs[v.input]; stat.kind != given && basis.Data == nil {
			basis = in.seen(in.basis, v.sight, stat.widths)
		}
		ds.groups = append(ds.groups, group{input: v.input, sight: v.sight, stat: stat, basis: basis, views: []int{i}})
	}
}

// seen returns x as kernels see it, divided by their widths. If that is x, it is
// not copied.
func (in *input) seen(x Features, s sight, widths []float64) Features {
	if s.equal(sight{}) && widths == nil {
		return x
	}
	z := la.NewMatrix[float64](x.Rows, s.cols(x.Cols))
	for i := range z.Rows {
		in.see(z.Row(i), x.Row(i), s, widths)
	}
	return z
}

// see is seen for one sample x, and stores it in z.
func (in *input) see(z, x []float64, s sight, widths []float64) {
	if s.columns == nil {
		copy(z, x)
	}
	for j, c := range s.columns {
		z[j] = x[c]
	}
	for j := range z {
		c := j
		if s.columns != nil {
			c = s.columns[j]
		}
		switch {
		case s.standardize:
			z[j] = (z[j] - in.mean[c]) / in.sd[c]
		case s.ranks:
			z[j] = in.ranks.of(c, z[j])
		}
		if widths != nil {
			z[j] /= widths[j]
		}
	}
}

// compute stores the statistic of row i of a and row j of b in out(i, j).
func (s statistic) compute(ws *la.Workspace, a, b Features, out la.Matrix[float64]) {
	switch s.kind {
	case squaredDistance:
		la.SqDist(ws, a, b, out)
	case innerProduct:
		la.Gemm(ws, la.NoTrans, la.Transpose, 1, a, b, 0, out)
	case nothing:
		out.Fill(0)
	default:
		for i := range a.Rows {
			row := out.Row(i)
			for j := range row {
				row[j] = s.of(a.Row(i), b.Row(j))
			}
		}
	}
}

// of returns the statistic of two samples.
func (s statistic) of(x, y []float64) (sum float64) {
	switch s.kind {
	case squaredDistance:
		for j, v := range x {
			d := v - y[j]
			sum = math.FMA(d, d, sum)
		}
	case manhattanDistance:
		for j, v := range x {
			sum += math.Abs(v - y[j])
		}
	case disagreement:
		for j, v := range x {
			if v != y[j] {
				sum++
			}
		}
		sum /= float64(len(x))
	case innerProduct:
		sum = la.Dot(x, y)
	case custom:
		sum = s.f(x, y)
	}
	return sum
}

// blockRows is the number of rows of a kernel matrix that one task computes.
const blockRows = 64

// inBlocks runs a task on each of the row blocks of 0 … n−1, the last first:
// where blocks are rows of a triangle those are the longest. Each of the
// workers (0: all processors) gets a task function of its own from newTask.
func inBlocks(ctx context.Context, workers, n int, newTask func() func(first, last int)) error {
	if ctx == nil {
		return errNoContext
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	count := (n + blockRows - 1) / blockRows
	var next atomic.Int64
	work := func() {
		task := newTask()
		for ctx.Err() == nil {
			b := count - int(next.Add(1))
			if b < 0 {
				return
			}
			task(b*blockRows, min(n, (b+1)*blockRows))
		}
	}
	var wg sync.WaitGroup
	for range min(workers, count) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("mkl: kernel matrices: %w", context.Cause(ctx))
	}
	return nil
}

// train computes the kernel matrices of the training samples, D×N each, fills in
// the kernels' defaults and keeps the statistics that test kernels need.
func (ds *design) train(ctx context.Context, views []View, workers int) ([]la.Matrix[float64], error) {
	if err := ds.prepare(ctx, views, workers); err != nil {
		return nil, err
	}
	ks, err := ds.fill(ctx, views, workers)
	if err != nil {
		return nil, err
	}
	for i := range views {
		if err := ds.finish(i, views[i].label(i), ks[i]); err != nil {
			return nil, err
		}
	}
	return ks, nil
}

// trainEach is train for one view after the other, whose matrix use has until it returns.
func (ds *design) trainEach(ctx context.Context, views []View, workers int, use func(i int, k la.Matrix[float64]) error) error {
	if err := ds.prepare(ctx, views, workers); err != nil {
		return err
	}
	of := make([]group, len(views))
	for _, g := range ds.groups {
		for _, i := range g.views {
			of[i] = g
			of[i].views = []int{i}
		}
	}
	var room la.Matrix[float64]
	for i, g := range of {
		ks := make([]la.Matrix[float64], len(views))
		err := ds.fillGroup(ctx, workers, g, views, ks, func(rows, cols int) la.Matrix[float64] {
			if room.Rows == 0 {
				room = la.NewMatrix[float64](rows, cols)
			}
			return room
		})
		if err != nil {
			return err
		}
		if err := ds.finish(i, views[i].label(i), ks[i]); err != nil {
			return err
		}
		if err := use(i, ks[i]); err != nil {
			return err
		}
	}
	return nil
}

// prepare finds the groups, and fills in the kernels' defaults and the views' names.
func (ds *design) prepare(ctx context.Context, views []View, workers int) error {
	ds.group()
	if err := ds.resolve(ctx, views, workers); err != nil {
		return err
	}
	ds.nameViews()
	return nil
}

// fill computes the kernel matrices of the training samples as they are before
// they are centred and normalised.
func (ds *design) fill(ctx context.Context, views []View, workers int) ([]la.Matrix[float64], error) {
	ks := make([]la.Matrix[float64], len(views))
	for _, g := range ds.groups {
		if err := ds.fillGroup(ctx, workers, g, views, ks, la.NewMatrix[float64]); err != nil {
			return nil, err
		}
	}
	return ks, nil
}

// fillGroup is fill for one group, in matrices that room makes.
func (ds *design) fillGroup(ctx context.Context, workers int, g group, views []View, ks []la.Matrix[float64], room func(rows, cols int) la.Matrix[float64]) error {
	n := views[0].X.Rows
	if g.stat.kind == given {
		i := g.views[0]
		if k, ok := ds.borrow(i, views[i].X); ok {
			ks[i] = k
			return nil
		}
		ks[i] = room(ds.d, n)
		ds.fillGiven(i, views[i].X, ks[i])
		return nil
	}
	for _, i := range g.views {
		ks[i] = room(n, n)
	}
	if err := ds.fillSymmetric(ctx, workers, g, ks); err != nil {
		return err
	}
	if in := &ds.inputs[g.input]; in.gaps {
		for _, i := range g.views {
			ds.views[i].expect(ks[i], in.lacking)
		}
	}
	return nil
}

// resolve replaces the widths and scales that were left to the data by the mean or
// a multiple of the median distance.
func (ds *design) resolve(ctx context.Context, views []View, workers int) error {
	for _, g := range ds.groups {
		distances := map[figure]float64{}
		for _, i := range g.views {
			v := &ds.views[i]
			what := v.kernel.lacks()
			if what == noFigure {
				v.kernel = v.kernel.resolve(0)
				continue
			}
			distance, ok := distances[what]
			if !ok {
				var err error
				switch what {
				case meanDistance:
					distance, err = g.meanDistance(ctx, workers, ds.inputs[g.input].present(g.basis), views[i].X)
				case medianDistance:
					distance, err = g.medianDistance(ctx, workers, ds.inputs[g.input].present(g.basis))
				}
				if err != nil {
					return err
				}
				distances[what] = distance
			}
			k := v.kernel.resolve(distance)
			if err := k.check(v.sight.cols(views[i].X.Cols)); err != nil || k.lacks() != noFigure {
				return fmt.Errorf("mkl: %s: the %v distance between the training samples is %g: give a width or scale", views[i].label(i), what, distance)
			}
			v.kernel = k
		}
	}
	return nil
}

// meanDistance is the mean distance over all pairs of two training samples b as the kernels
// see them, or of given ones over all pairs of x, a training sample and a basis point. The
// order of the sum does not depend on the workers.
func (g *group) meanDistance(ctx context.Context, workers int, b, x Features) (float64, error) {
	sums := make([]float64, x.Rows)
	if g.stat.kind == given {
		for i := range sums {
			for _, v := range x.Row(i) {
				sums[i] += v
			}
		}
		return total(sums) / float64(x.Rows) / float64(x.Cols), nil
	}
	err := inBlocks(ctx, workers, b.Rows, func() func(int, int) {
		ws, scratch := &la.Workspace{Workers: 1}, la.NewMatrix[float64](min(blockRows, b.Rows), b.Rows)
		return func(first, last int) {
			s := scratch.Slice(0, last-first, 0, b.Rows)
			g.stat.compute(ws, b.Slice(first, last, 0, b.Cols), b, s)
			for i := range s.Rows {
				for _, v := range s.Row(i) {
					if g.stat.kind == squaredDistance {
						v = math.Sqrt(v)
					}
					sums[first+i] += v
				}
			}
		}
	})
	return total(sums) / float64(b.Rows) / float64(b.Rows), err
}

// medianSamples is the most training samples that a median distance is taken of:
// half a million pairs tell it to a fraction of a percent. In very many dimensions,
// where distances are alike, fewer do.
func medianSamples(n, features int) int {
	return min(n, 1000, max(100, int(1e4/math.Sqrt(float64(features)))))
}

// evenly returns m of the rows of x at even distances.
func evenly(x Features, m int) Features {
	if m == x.Rows {
		return x
	}
	y := la.NewMatrix[float64](m, x.Cols)
	for i := range m {
		copy(y.Row(i), x.Row(i*x.Rows/m))
	}
	return y
}

// medianDistance is the median distance over pairs of two training samples, all of those in x
// or some at even distances. If it is 0, for more than half of the pairs
// are of equal samples, it is the median of the positive distances, and 0 only if
// there are none.
func (g *group) medianDistance(ctx context.Context, workers int, x Features) (float64, error) {
	b := evenly(x, medianSamples(x.Rows, x.Cols))
	d := make([]float64, b.Rows*(b.Rows-1)/2)
	err := inBlocks(ctx, workers, b.Rows, func() func(int, int) {
		ws, scratch := &la.Workspace{Workers: 1}, la.NewMatrix[float64](min(blockRows, b.Rows), b.Rows)
		return func(first, last int) {
			s := scratch.Slice(0, last-first, 0, last)
			g.stat.compute(ws, b.Slice(first, last, 0, b.Cols), b.Slice(0, last, 0, b.Cols), s)
			for r := range s.Rows {
				i := first + r
				copy(d[i*(i-1)/2:], s.Row(r)[:i])
			}
		}
	})
	if err != nil {
		return 0, err
	}
	slices.Sort(d)
	median := middle(d)
	if median == 0 {
		positive, _ := slices.BinarySearchFunc(d, 0, func(v, _ float64) int {
			if v > 0 {
				return 1
			}
			return -1
		})
		median = middle(d[positive:])
	}
	if g.stat.kind == squaredDistance {
		median = math.Sqrt(median)
	}
	return median, nil
}

// middle returns the middle of sorted numbers, the lower of two, and 0 of none.
func middle(sorted []float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)/2]
}

func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// borrow returns the given matrix itself if it is the kernel matrix already, and
// otherwise false.
func (ds *design) borrow(i int, x Features) (la.Matrix[float64], bool) {
	v := &ds.views[i]
	if _, ok := v.kernel.(Precomputed); !ok || v.center || v.normalize || x.Rows != x.Cols {
		return x, false
	}
	for r := range x.Rows {
		for c, value := range x.Row(r)[:r] {
			if value != x.At(c, r) {
				return x, false
			}
		}
	}
	return x, true
}

// fillGiven stores the kernel of a given matrix, samples × basis points, in k,
// basis points × samples.
func (ds *design) fillGiven(i int, x Features, k la.Matrix[float64]) {
	for s := range x.Rows {
		for d, v := range x.Row(s)[:k.Rows] {
			k.Data[d*k.Stride+s] = v
		}
	}
	for d := range k.Rows {
		ds.views[i].kernel.apply(k.Row(d))
	}
}

// fillSymmetric computes the kernel matrices of a group: the lower triangle in
// row blocks, mirrored.
func (ds *design) fillSymmetric(ctx context.Context, workers int, g group, ks []la.Matrix[float64]) error {
	b := g.basis
	return inBlocks(ctx, workers, b.Rows, func() func(int, int) {
		ws := &la.Workspace{Workers: 1}
		return func(first, last int) {
			ds.fillBlock(ws, g, b.Slice(0, last, 0, b.Cols), first, last, ks)
			for _, i := range g.views {
				mirrorBlock(ks[i], first, last)
			}
		}
	})
}

// fillBlock computes rows first … last−1 of a group's kernel matrices between
// the basis points and the samples x. The first view's matrix holds the
// statistic until the other views have copied it.
func (ds *design) fillBlock(ws *la.Workspace, g group, x Features, first, last int, ks []la.Matrix[float64]) {
	stat := ks[g.views[0]].Slice(first, last, 0, x.Rows)
	g.stat.compute(ws, g.basis.Slice(first, last, 0, x.Cols), x, stat)
	for n := len(g.views) - 1; n >= 0; n-- {
		k := ks[g.views[n]].Slice(first, last, 0, x.Rows)
		if n > 0 {
			k.CopyFrom(stat)
		}
		for r := range k.Rows {
			ds.views[g.views[n]].kernel.apply(k.Row(r))
		}
	}
}

// mirrorBlock copies the part of rows first … last−1 that is left of the
// diagonal to its mirror image.
func mirrorBlock(k la.Matrix[float64], first, last int) {
	for c := range last {
		above := k.Row(c)
		for r := max(first, c+1); r < last; r++ {
			above[r] = k.Data[r*k.Stride+c]
		}
	}
}

// finish centres and normalises view i's training kernel and keeps what its test
// kernels need.
func (ds *design) finish(i int, label string, k la.Matrix[float64]) error {
	v := &ds.views[i]
	for d := range k.Rows {
		if s := firstNonFinite(k.Row(d)); s >= 0 {
			return fmt.Errorf("mkl: %s: the kernel of samples %d and %d is %g", label, s, d, k.At(d, s))
		}
	}
	if p, ok := v.kernel.(Precomputed); ok && k.Rows == k.Cols && !p.AllowIndefinite {
		if err := checkSemidefinite(k); err != nil {
			return fmt.Errorf("mkl: %s: X is %w", label, err)
		}
	}
	if v.center {
		v.centerTraining(k, ds.share)
	}
	if v.normalize {
		if err := v.normalizeTraining(k); err != nil {
			return fmt.Errorf("mkl: %s: %w", label, err)
		}
	}
	v.measure(k)
	if v.largest == 0 {
		return fmt.Errorf("mkl: %s: the kernel is 0 for all samples", label)
	}
	v.derive()
	return nil
}

func (v *boundView) centerTraining(k la.Matrix[float64], share []float64) {
	v.rowMean = make([]float64, k.Rows)
	for d := range v.rowMean {
		v.rowMean[d] = sharedMean(k.Row(d), share)
	}
	v.totalMean = sharedMean(v.rowMean, share)
	for d, rd := range v.rowMean {
		row := k.Row(d)
		for s, rs := range v.rowMean {
			row[s] = row[s] - (rd + rs) + v.totalMean
		}
	}
}

// atMean is the share of the largest self-similarity below which that of a
// centred sample is round-off: the sample lies at the mean.
const atMean = 1e-12

func (v *boundView) normalizeTraining(k la.Matrix[float64]) error {
	v.unit = make([]float64, k.Rows)
	var largest float64
	for d := range v.unit {
		largest = max(largest, k.At(d, d))
	}
	for d := range v.unit {
		self := k.At(d, d)
		if !(self > 0) || v.center && self <= 2*atMean*largest {
			return fmt.Errorf("Normalize: the kernel of sample %d with itself is %g", d, self)
		}
		v.unit[d] = 1 / math.Sqrt(self)
	}
	for d, ud := range v.unit {
		row := k.Row(d)
		for s, us := range v.unit {
			row[s] *= ud * us
		}
		row[d] = 1
	}
	return nil
}

// measure notes how large the kernel's values are.
func (v *boundView) measure(k la.Matrix[float64]) {
	for d := range k.Rows {
		for _, x := range k.Row(d) {
			v.largest = max(v.largest, math.Abs(x))
		}
	}
}

// derive sets what follows from the other fields: how large the kernel can be,
// and how small the kernel of a centred sample with itself.
func (v *boundView) derive() {
	kind := v.kernel.statistic().kind
	switch {
	case v.normalize && kind < given: // the Cauchy-Schwarz inequality
		v.largest, v.certain = 1, true
	case v.kernel.bounded() && !v.normalize && v.center: // each of four terms is in [0, 1]
		v.largest, v.certain = 2, true
	case v.kernel.bounded() && !v.normalize:
		v.largest, v.certain = 1, true
	}
	if v.center {
		for _, u := range v.unit {
			v.floor = max(v.floor, atMean/(u*u))
		}
	}
}

// Tolerances for given kernel matrices, wide enough for float32 round-off.
const (
	asymmetryTolerance = 1e-6 // of the largest entry
	definitenessJitter = 1e-7 // of the trace
)

// checkSemidefinite reports a square matrix that is asymmetric or has an
// eigenvalue clearly below zero. It costs a copy and a Cholesky factorisation.
func checkSemidefinite(k la.Matrix[float64]) error {
	var largest, trace float64
	for i := range k.Rows {
		trace += k.At(i, i)
		for _, v := range k.Row(i) {
			largest = max(largest, math.Abs(v))
		}
	}
	for i := range k.Rows {
		for j := range i {
			if a, b := k.At(i, j), k.At(j, i); math.Abs(a-b) > asymmetryTolerance*largest {
				return fmt.Errorf("not symmetric: X[%d][%d] is %g and X[%d][%d] is %g (AllowIndefinite accepts it)", j, i, a, i, j, b)
			}
		}
	}
	if largest == 0 {
		return nil
	}
	a := k.Clone()
	jitter := float64(definitenessJitter * math.Abs(trace))
	for i := range a.Rows {
		a.Row(i)[i] += jitter
	}
	if err := la.Cholesky(nil, a); err != nil {
		return fmt.Errorf("not positive semidefinite (with %.3g added to its diagonal: %w; AllowIndefinite accepts it)", jitter, err)
	}
	return nil
}
