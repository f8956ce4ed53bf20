package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// problem makes hostile data and settings. Of everything it makes a share is harmless, so
// that some problems pass all checks but one.
type problem struct {
	*rand.Rand
	n     int     // samples
	share float64 // of what is hostile

	made []mkl.Features // what [problem.features] returned
}

func newProblem(r *rand.Rand) *problem {
	return &problem{
		Rand: r, n: pick(r, 1, 2, 3, 5, 8, 12, 20, 33),
		share: pick(r, 0.02, 0.1, 0.3, 1),
	}
}

// again returns a problem of as many samples that makes the same things for the same seed.
func (p *problem) again(seed uint64) *problem {
	return &problem{Rand: rand.New(rand.NewPCG(seed, 6)), n: p.n, share: p.share}
}

// pick returns one of the values.
func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// mild reports whether the next thing is to be harmless.
func (p *problem) mild() bool { return p.Float64() >= p.share }

// number returns a number that is likely to do harm.
func (p *problem) number() float64 {
	return pick(p.Rand, 0, 1, 1e-300, 1e300, 1e-10, 1e10, 1e150, 1e-150, 5e-324, math.MaxFloat64, math.NaN(), math.Inf(1), -1)
}

// spoil changes harmless normal numbers, rows of the given length.
func (p *problem) spoil(x []float64, cols int) {
	kinds := []string{"as it is", "repeated", "constant", "offset", "line", "rounded", "collinear", "outlier"}
	if !p.mild() {
		kinds = []string{"times", "times", "one", "largest", "zero", "denormal", "scales"}
	}
	kind := pick(p.Rand, kinds...)
	c := p.number()
	for i := range x {
		switch kind {
		case "repeated":
			x[i] = x[i%max(cols, len(x)/3)]
		case "constant":
			x[i] = 3
		case "offset":
			x[i] += 1e8
		case "line":
			x[i] = float64(i)
		case "rounded":
			x[i] = math.Round(x[i])
		case "collinear":
			x[i] = x[i-i%cols]
		case "times":
			x[i] *= c
		case "largest":
			x[i] = math.Copysign(math.MaxFloat64, x[i])
		case "zero":
			x[i] = 0
		case "denormal":
			x[i] *= 1e-310
		case "scales":
			x[i] *= math.Pow(10, float64(20*(i%cols)-20))
		}
	}
	if len(x) > 0 {
		switch kind {
		case "outlier":
			x[p.IntN(len(x))] = 1e6
		case "one":
			x[p.IntN(len(x))] = c
		}
	}
}

// features returns n×d of them.
func (p *problem) features(d int) mkl.Features {
	x := la.NewMatrix[float64](p.n, d)
	for i := range x.Data {
		x.Data[i] = p.NormFloat64()
	}
	p.spoil(x.Data, d)
	if !p.mild() && p.IntN(20) == 0 {
		x.Stride = pick(p.Rand, 0, -1, d-1, math.MaxInt)
	}
	if !p.mild() && p.IntN(20) == 0 {
		x.Data = x.Data[:len(x.Data)-1]
	}
	p.made = append(p.made, x)
	return x
}

// targets returns targets of the samples.
func (p *problem) targets() []float64 {
	y := make([]float64, p.n)
	for i := range y {
		y[i] = p.NormFloat64()
	}
	p.spoil(y, 1)
	if !p.mild() && p.IntN(20) == 0 {
		y = y[:p.n-1]
	}
	return y
}

// labels returns classes of the samples.
func (p *problem) labels() []string {
	classes := pick(p.Rand, 1, 2, 2, 3, 3, p.n)
	labels := make([]string, p.n)
	for i := range labels {
		labels[i] = fmt.Sprint("c", p.IntN(classes))
	}
	if !p.mild() && p.IntN(20) == 0 {
		labels = labels[:p.n-1]
	}
	return labels
}

// known returns what is known of one to three labels of the samples.
func (p *problem) known() [][]mkl.Label {
	labels := make([][]mkl.Label, pick(p.Rand, 1, 2, 3))
	for o := range labels {
		labels[o] = make([]mkl.Label, p.n)
		for i := range labels[o] {
			labels[o][i] = mkl.Label(p.IntN(3))
		}
	}
	return labels
}

// width returns the width of a kernel.
func (p *problem) width() float64 {
	if p.mild() {
		return pick(p.Rand, 0, 0.1, 1, 10)
	}
	return p.number()
}

func (p *problem) kernel() kernel.Kernel {
	switch p.IntN(7) {
	case 0:
		return kernel.Linear{}
	case 1:
		return kernel.Laplacian{Width: p.width(), Manhattan: p.IntN(2) == 0}
	case 2:
		if p.mild() {
			return kernel.Polynomial{Degree: pick(p.Rand, 1, 2, 3), Offset: 1}
		}
		return kernel.Polynomial{Degree: pick(p.Rand, -1, 7, 1000, math.MaxInt), Offset: p.number(), Scale: p.number()}
	case 3:
		return kernel.RBF{Scale: p.width()}
	case 4:
		return kernel.RBF{}
	}
	return kernel.RBF{Width: p.width()}
}

// views returns views of the samples, some of the same features, some with given kernels.
func (p *problem) views() []mkl.View {
	var views []mkl.View
	for i := range pick(p.Rand, 1, 1, 2, 3) {
		var v mkl.View
		switch {
		case i > 0 && p.IntN(3) == 0:
			v = views[0]
			if _, given := v.Kernel.(kernel.Precomputed); !given {
				v.Kernel = p.kernel()
			}
		case p.IntN(6) == 0:
			v = mkl.View{X: p.gram(), Kernel: kernel.Precomputed{AllowIndefinite: p.IntN(2) == 0}}
		default:
			d := 1 + p.IntN(4)
			v = mkl.View{X: p.features(d), Kernel: p.kernel(), Standardize: p.IntN(3) == 0}
		}
		v.Center, v.Normalize = p.IntN(4) == 0, p.IntN(4) == 0
		views = append(views, v)
	}
	return views
}

// gram returns the Gram matrix of some features, or a matrix that is no Gram matrix.
func (p *problem) gram() mkl.Features {
	x := la.NewMatrix[float64](p.n, 2)
	for i := range x.Data {
		x.Data[i] = p.NormFloat64()
	}
	p.spoil(x.Data, 2)
	k := la.NewMatrix[float64](p.n, p.n)
	asymmetric, shift := !p.mild() && p.IntN(4) == 0, 0.0
	if !p.mild() {
		shift = pick(p.Rand, -1e-9, -1, 1e300)
	}
	for i := range p.n {
		for j := range p.n {
			k.Set(i, j, la.Dot(x.Row(i), x.Row(j)))
			if asymmetric {
				k.Set(i, j, p.NormFloat64())
			}
		}
		k.Set(i, i, k.At(i, i)+shift)
	}
	return k
}

// gamma returns a prior, mostly the default.
func (p *problem) gamma() mkl.Gamma {
	if p.mild() || p.IntN(2) == 0 {
		return mkl.Gamma{}
	}
	return mkl.Gamma{Shape: p.number(), Scale: p.number()}
}

// fitting returns the settings that every estimator has.
func (p *problem) fitting() fitting {
	f := fitting{Fitting: mkl.Fitting{Seed: p.Uint64(), Workers: pick(p.Rand, 1, 2)}, Ascent: mkl.Ascent{MaxSweeps: pick(p.Rand, 1, 2, 10, 30), Tolerance: pick(p.Rand, 0, 0, -1, 1e-300, 1), Restarts: pick(p.Rand, 0, 0, 0, 1)}, AllowDuplicates: p.IntN(4) > 0}
	if !p.mild() && p.IntN(10) == 0 {
		f.MaxSweeps = pick(p.Rand, -1, math.MinInt)
	}
	if !p.mild() && p.IntN(10) == 0 {
		f.Tolerance = p.number()
	}
	if !p.mild() && p.IntN(10) == 0 {
		f.Workers = pick(p.Rand, -5, 1000)
	}
	return f
}

// stored is fitting with any storage of the kernels: as they are, rounded in memory, or
// rounded in a file.
func (p *problem) stored() fitting {
	f := p.fitting()
	f.Storage = mkl.KernelStorage{Float32: p.IntN(2) == 0, Directory: pick(p.Rand, "", os.TempDir())}
	if !p.mild() && p.IntN(10) == 0 {
		f.Storage.Directory = "no such directory"
	}
	return f
}

// landmarks returns how many landmarks there are, and how they are chosen.
func (p *problem) landmarks() *mkl.Landmarks {
	l := &mkl.Landmarks{Count: pick(p.Rand, 0, 1, 4, 50)}
	l.Choose = pick(p.Rand, mkl.RandomLandmarks, mkl.KMeansLandmarks, mkl.PivotedLandmarks)
	if !p.mild() {
		l.Count, l.Sample = pick(p.Rand, -1, 3, math.MaxInt), pick(p.Rand, -1, 0, 2, math.MaxInt)
	}
	return l
}

// slab returns a spike-and-slab prior.
func (p *problem) slab() mkl.SlabPrior {
	if p.mild() {
		return mkl.SlabPrior{}
	}
	return mkl.SlabPrior{Pi: pick(p.Rand, 0, 0.5, 1, 1e-300, 1-1e-16, math.NaN(), 2), Variance: p.number()}
}

// points returns samples for a model, near the training samples or far from them.
func (p *problem) points(m mkl.Model, rows int) []mkl.Features {
	scale := pick(p.Rand, 0, 1e-300, 1, 1, 1e6, 3e16, 1e160, 1e300, math.MaxFloat64)
	var all []mkl.Features
	for _, in := range m.Inputs() {
		x := la.NewMatrix[float64](rows, in.Cols)
		for i := range x.Data {
			x.Data[i] = min(math.Abs(p.NormFloat64())*scale, math.MaxFloat64)
		}
		all = append(all, x)
	}
	return all
}

// pairs returns a table of the samples with themselves, of values or of labels, perhaps with gaps.
func (p *problem) pairs(labels bool) mkl.DenseTable {
	x := make([]float64, p.n*p.n)
	for i := range x {
		x[i] = p.NormFloat64()
		if labels {
			x[i] = float64(p.IntN(2))
		}
	}
	if !labels || !p.mild() {
		p.spoil(x, p.n)
	}
	gaps := p.IntN(2) == 0
	var table mkl.DenseTable
	for i := range p.n {
		table = append(table, x[i*p.n:(i+1)*p.n])
		for j := range table[i] {
			if gaps && p.IntN(3) == 0 {
				table[i][j] = math.NaN()
			}
		}
	}
	return table
}
