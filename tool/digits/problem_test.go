package digits

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// problem is data whose kernel matrices are nearly singular.
type problem struct {
	name        string
	train, test *vi.Dense          // kernels of the training samples with those and with the test samples
	self        la.Matrix[float64] // kernels of the test samples with themselves
	y           []float64          // targets
}

var samples = flag.Int("samples", 12, "samples of each problem: a reference takes N³ operations of 256 bits; with more than a hundred a few problems are tried")

func problems() []problem {
	var all []problem
	for _, widths := range [][]float64{{1}, {0.5, 30}, {1, 1e3}, {1, 1e6}, {1e6}} {
		for _, kind := range []string{"", "repeated", "offset"} {
			for _, noise := range []float64{1e-1, 1e-6, 0} {
				all = append(all, newProblem(widths, kind, noise, *samples, uint64(len(all))))
			}
		}
	}
	if *samples > 100 {
		return []problem{all[0], all[13], all[31], all[44]}
	}
	return all
}

// newProblem returns n samples of a sine with noise and RBF kernels of the given widths,
// in which every third sample is there twice, or which come with a linear kernel far
// from the origin.
func newProblem(widths []float64, kind string, noise float64, n int, seed uint64) problem {
	const tests = 6
	src := rand.New(rand.NewPCG(seed, 256))
	x := make([]float64, n+tests)
	y := make([]float64, n)
	for i := range x {
		x[i] = 6 * src.Float64()
		if i >= n {
			x[i] = 9*src.Float64() - 1.5 // beyond the training samples too
		}
		if kind == "repeated" && i%3 == 1 && i < n {
			x[i] = x[i-1]
		}
		if i < n {
			y[i] = math.Sin(x[i]) + float64(noise*src.NormFloat64())
		}
	}
	var kernels []func(a, b float64) float64
	for _, w := range widths {
		kernels = append(kernels, func(a, b float64) float64 { return math.Exp(-(a - b) / w * ((a - b) / w)) })
	}
	if kind == "offset" {
		kernels = append(kernels, func(a, b float64) float64 { return (a + 1e8) * (b + 1e8) })
	}
	var train, test []la.Matrix[float64]
	self := la.NewMatrix[float64](len(kernels), tests)
	for p, k := range kernels {
		a, b := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, tests)
		for i := range n {
			for j := range n {
				a.Set(i, j, k(x[i], x[j]))
			}
			for j := range tests {
				b.Set(i, j, k(x[i], x[n+j]))
			}
		}
		for j := range tests {
			self.Set(p, j, k(x[n+j], x[n+j]))
		}
		train, test = append(train, a), append(test, b)
	}
	return problem{
		name:  fmt.Sprintf("widths %v %s, noise %g", widths, kind, noise),
		train: testkit.Must(vi.NewDense(train...)), test: testkit.Must(vi.NewDense(test...)), self: self, y: y,
	}
}

// worst is the largest of some figures, and where it was found.
type worst struct {
	value float64
	where string
}

func (w *worst) add(value float64, where string) {
	if !(value <= w.value) { // NaN is the worst
		w.value, w.where = value, where
	}
}

// below requires that the figure is at most limit, and at least a hundred-thousandth of
// it, below which the limit would say nothing.
func (w worst) below(t *testing.T, what string, limit float64) {
	t.Helper()
	t.Logf("%s: %.3g of the promise, %s", what, w.value, w.where)
	if !(w.value <= limit) {
		t.Errorf("%s: %g times the promise: %s", what, w.value, w.where)
	}
	if w.value < limit/1e5 {
		t.Errorf("%s: %g of the promise, which says nothing", what, w.value)
	}
}
