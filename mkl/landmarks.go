package mkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Landmarks says which points stand for the samples in kernels of any number of them. The
// zero value is the default. [LandmarkGP] and [LandmarkClassifier] have them always, and
// [Regression], [SharedRegression], [Classifier] and [MultiLabel] where they are not nil. They
// are chosen by Seed: a fit that goes on From a model needs the Seed of that model's fit, or
// the same landmarks Given.
type Landmarks struct {
	// Count is the number of landmarks, 0 for DefaultLandmarks, or fewer where there are more
	// than six kernels: 3000 features in all. More represent the kernels better: a pass over
	// the samples costs the square of the features of all kernels, at most Count for each, and
	// a step of the fit their cube.
	Count int

	// Choose says how they are chosen.
	Choose LandmarkChoice

	// Given are the landmarks of [GivenLandmarks]: a row for each, in one matrix for each
	// distinct X of the views, in the order of their first view.
	Given []Features

	// Sample is the most samples that landmarks, widths and units are taken from; of more as
	// many are chosen at random. 0 means DefaultPlanSamples.
	Sample int
}

// Defaults of Count and Sample of [Landmarks].
const (
	DefaultLandmarks   = 500
	DefaultPlanSamples = 5000
)

// Limits of the number of landmarks that is not given.
const (
	mostFeatures   = 3000
	leastLandmarks = 50
)

// size returns the size of a fit with landmarks, unless l is nil.
func (l *Landmarks) size(s Size) Size {
	if l != nil && s.Basis == 0 {
		s.Basis = min(l.count(s.Kernels), s.Samples)
	}
	return s
}

// count returns the number of landmarks for so many kernels.
func (l Landmarks) count(kernels int) int {
	if l.Count > 0 {
		return l.Count
	}
	return min(DefaultLandmarks, max(leastLandmarks, mostFeatures/max(1, kernels)))
}

// LandmarkChoice is a way to choose landmarks.
type LandmarkChoice int

// Ways to choose landmarks.
const (
	RandomLandmarks  LandmarkChoice = iota // samples, drawn at random
	KMeansLandmarks                        // centres of clusters of the standardised features
	PivotedLandmarks                       // samples, each the one whose kernels those before represent worst
	GivenLandmarks                         // those of Landmarks.Given
)

// String returns the name of the way.
func (c LandmarkChoice) String() string {
	switch c {
	case RandomLandmarks:
		return "random"
	case KMeansLandmarks:
		return "k-means"
	case PivotedLandmarks:
		return "pivoted Cholesky"
	case GivenLandmarks:
		return "given"
	}
	return fmt.Sprintf("LandmarkChoice(%d)", int(c))
}

// memory estimates what a fit takes beside its data, with posteriors of so many functions of
// labels.
func (l Landmarks) memory(f *Fitting, s Size, functions int) int64 {
	most := l.Sample
	if most == 0 {
		most = DefaultPlanSamples
	}
	kernels := max(s.Kernels, 2+len(narrower)) // at least those of an open view
	some := float64(min(s.Samples, most))
	count := min(float64(l.count(kernels)), some)
	P := float64(kernels)
	M := float64(P*count) + 2 + float64(functions)
	words := float64((10 + float64(functions)) * M * M)     // sums, twice as long; maps of them; pseudo-samples; gram and factors
	words += float64(2 * pieceSamples * M)                  // kernels and features of a piece
	words += float64(P * count * count)                     // whitening
	words += float64(some * count)                          // choice of landmarks
	words += float64((P + 3) * widthSamples * widthSamples) // learning widths
	words += float64(float64(f.workers()) * (1 << 18))
	return inBytes(words)
}

// choose returns the landmarks: a matrix for each input of the design of the sample.
func (l Landmarks) choose(ctx context.Context, ds *design, seed uint64, workers int) ([]Features, error) {
	count := min(l.count(len(ds.views)), ds.d)
	switch l.Choose {
	case RandomLandmarks:
		return ds.rowsOf(sample(ds.d, count, nil, seed+1)), nil
	case PivotedLandmarks:
		rows, err := ds.pivots(ctx, count, workers)
		return ds.rowsOf(rows), err
	case KMeansLandmarks:
		return ds.centres(ctx, count, seed, workers)
	case GivenLandmarks:
		return ds.checkLandmarks(l.Given)
	}
	return nil, fmt.Errorf("mkl: Landmarks: Choose: %v is not known", l.Choose)
}

// rowsOf returns some of the samples of each input.
func (ds *design) rowsOf(rows []int) (out []Features) {
	for _, in := range ds.inputs {
		out = append(out, in.basis.TakeRows(rows))
	}
	return out
}

// checkLandmarks checks landmarks that are given, and copies them.
func (ds *design) checkLandmarks(given []Features) (out []Features, err error) {
	if len(given) != len(ds.inputs) {
		return nil, fmt.Errorf("mkl: Landmarks.Given: %d matrices where the views have %d distinct X", len(given), len(ds.inputs))
	}
	for i, x := range given {
		arg := fmt.Sprintf("Landmarks.Given[%d]", i)
		if err := checkLayout(arg, x); err != nil {
			return nil, err
		}
		if x.Rows == 0 || x.Rows != given[0].Rows || x.Cols != ds.inputs[i].cols {
			return nil, fmt.Errorf("mkl: %s is %d×%d where %d landmarks of %d features are needed", arg, x.Rows, x.Cols, max(1, given[0].Rows), ds.inputs[i].cols)
		}
		if err := checkFinite(arg, x); err != nil {
			return nil, err
		}
		out = append(out, x.Clone())
	}
	return out, nil
}

// pivots returns the samples of the first pivots of the sum of the kernels, each divided by
// its mean for a sample with itself: the next is the sample of which those before leave out
// most. They are fewer than count if nothing is left.
func (ds *design) pivots(ctx context.Context, count, workers int) (rows []int, err error) {
	n := ds.d
	self := la.NewMatrix[float64](len(ds.views), n)
	for _, g := range ds.groups {
		for _, i := range g.views {
			v := &ds.views[i]
			v.center = false
			row := self.Row(i)
			for t := range row {
				row[t] = g.statisticOfOne(v, g.basis.Row(t))
			}
			v.kernel.apply(row)
			if !v.normalize {
				continue
			}
			v.unit = make([]float64, n)
			for t, s := range row {
				if v.unit[t] = 0; s > 0 {
					v.unit[t], row[t] = 1/math.Sqrt(s), 1
				}
			}
		}
	}
	left, weight := make([]float64, n), make([]float64, len(ds.views))
	for i := range weight {
		if mean := total(self.Row(i)) / float64(n); mean > 0 {
			weight[i] = 1 / mean
		}
		la.Axpy(weight[i], self.Row(i), left)
	}
	least := 1e-10 * slices.Max(left)
	factor := la.NewMatrix[float64](count, n)
	ks := make([]la.Matrix[float64], len(ds.views))
	for i := range ks {
		ks[i] = la.NewMatrix[float64](n, 1)
	}
	ws, before := &la.Workspace{Workers: workers}, make([]float64, count)
	for len(rows) < count {
		m := len(rows)
		pivot := argMax(left)
		if !(left[pivot] > least) {
			break
		}
		if err := ds.cross(ctx, 1, ds.rowsOf([]int{pivot}), 0, ks); err != nil {
			return nil, err
		}
		row := factor.Row(m)
		for i, k := range ks {
			la.Axpy(weight[i], k.Data[:n], row)
		}
		for r := range before[:m] {
			before[r] = factor.At(r, pivot)
		}
		if m > 0 {
			la.Gemv(ws, la.Transpose, -1, factor.Slice(0, m, 0, n), before[:m], 1, row)
		}
		la.Scal(1/math.Sqrt(left[pivot]), row)
		for t, v := range row {
			left[t] -= float64(v * v)
		}
		left[pivot] = 0
		rows = append(rows, pivot)
	}
	slices.Sort(rows)
	return rows, nil
}

// Figures of k-means: so many sweeps bring centres to where more hardly move them.
const clusterSweeps = 10

// centres returns the centres of clusters of the standardised features, in their units. The
// first ones are drawn with the probabilities of k-means++.
//
// Source: D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding",
// SODA 2007.
func (ds *design) centres(ctx context.Context, count int, seed uint64, workers int) ([]Features, error) {
	n, ws := ds.d, &la.Workspace{Workers: workers}
	var columns int
	for _, in := range ds.inputs {
		columns += in.cols
	}
	z, first := la.NewMatrix[float64](n, columns), 0
	for _, in := range ds.inputs {
		mean, sd := columnStats(in.basis)
		for i := range n {
			for j, v := range in.basis.Row(i) {
				z.Set(i, first+j, (v-mean[j])/sd[j])
			}
		}
		first += in.cols
	}

	src := special.NewRand(rand.NewPCG(seed, 0x6b6d65616e73))
	centre := la.NewMatrix[float64](count, columns)
	far, d := make([]float64, n), la.NewMatrix[float64](1, n)
	pick := src.IntN(n)
	for c := range count {
		copy(centre.Row(c), z.Row(pick))
		la.SqDist(ws, centre.Slice(c, c+1, 0, columns), z, d)
		for i, v := range d.Row(0) {
			if c == 0 || v < far[i] {
				far[i] = v
			}
		}
		at := src.Float64() * total(far)
		pick = n - 1
		for i, v := range far {
			if at -= v; at < 0 {
				pick = i
				break
			}
		}
	}
	of, size := make([]int, n), make([]float64, count)
	distance := la.NewMatrix[float64](min(n, pieceSamples), count)
	for range clusterSweeps {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("mkl: landmarks: %w", context.Cause(ctx))
		}
		for first := 0; first < n; first += pieceSamples {
			last := min(n, first+pieceSamples)
			part := distance.Slice(0, last-first, 0, count)
			la.SqDist(ws, z.Slice(first, last, 0, columns), centre, part)
			for i := range part.Rows {
				of[first+i] = argMin(part.Row(i))
			}
		}
		clear(size)
		for _, c := range of {
			size[c]++
		}
		for c, s := range size {
			if s > 0 { // one without samples stays
				clear(centre.Row(c))
			}
		}
		for i, c := range of {
			la.Axpy(1/size[c], z.Row(i), centre.Row(c))
		}
	}
	var out []Features
	first = 0
	for _, in := range ds.inputs {
		mean, sd := columnStats(in.basis)
		x := la.NewMatrix[float64](count, in.cols)
		for c := range count {
			for j := range in.cols {
				x.Set(c, j, mean[j]+float64(sd[j]*centre.At(c, first+j)))
			}
		}
		out = append(out, x)
		first += in.cols
	}
	return out, nil
}

func argMin(x []float64) int {
	best := 0
	for i, v := range x {
		if v < x[best] {
			best = i
		}
	}
	return best
}
