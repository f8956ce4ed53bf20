package kernel

import (
	"encoding/json"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

func norm(x, y []float64, widths []float64) (sum float64) {
	for j := range x {
		d := x[j] - y[j]
		if widths != nil {
			d /= widths[j]
		}
		sum += d * d
	}
	return math.Sqrt(sum)
}

func manhattan(x, y []float64, widths []float64) (sum float64) {
	for j := range x {
		d := math.Abs(x[j] - y[j])
		if widths != nil {
			d /= widths[j]
		}
		sum += d
	}
	return sum
}

func differ(x, y []float64) (share float64) {
	for j := range x {
		if x[j] != y[j] {
			share += 1 / float64(len(x))
		}
	}
	return share
}

func inner(x, y []float64) (sum float64) {
	for j := range x {
		sum += x[j] * y[j]
	}
	return sum
}

// halves calls f with the positive, and with the negative parts of each feature, unless both are 0.
func halves(x, y []float64, f func(v, w float64)) {
	for j := range x {
		for _, sign := range []float64{1, -1} {
			if v, w := max(0, sign*x[j]), max(0, sign*y[j]); v+w > 0 {
				f(v, w)
			}
		}
	}
}

// single is the kernel of one feature of an [Interaction]: of a function f with a Gaussian kernel, the covariance of
// f(x) − E f(Z) and f(y) − E f(Z) given that E f(Z) = 0, Z ~ N(0, 1), with the expectations as sums.
func single(x, y, width float64) float64 {
	k := func(x, y float64) float64 { return math.Exp(-(x - y) * (x - y) / (2 * width * width)) }
	const step = 0.125
	var ofX, ofY, all float64
	for a := -9.0; a <= 9; a += step {
		density := step * math.Exp(-a*a/2) / math.Sqrt(2*math.Pi)
		ofX += density * k(x, a)
		ofY += density * k(y, a)
		for b := -9.0; b <= 9; b += step {
			all += density * step * math.Exp(-b*b/2) / math.Sqrt(2*math.Pi) * k(a, b)
		}
	}
	return k(x, y) - ofX*ofY/all
}

// definitions are the kernels of features beside their formulas.
var definitions = []struct {
	kernel  Kernel
	formula func(x, y []float64) float64
}{
	{RBF{Width: 0.7}, func(x, y []float64) float64 { return math.Exp(-math.Pow(norm(x, y, nil)/0.7, 2) / 2) }},
	{RBF{Scale: 1.5}, func(x, y []float64) float64 { return math.Exp(-math.Pow(norm(x, y, nil)/1.5, 2)) }},
	{RBF{Widths: []float64{1, 2, 0.5}}, func(x, y []float64) float64 {
		return math.Exp(-math.Pow(norm(x, y, []float64{1, 2, 0.5}), 2) / 2)
	}},
	{Laplacian{Width: 2}, func(x, y []float64) float64 { return math.Exp(-norm(x, y, nil) / 2) }},
	{Laplacian{Width: 2, Manhattan: true}, func(x, y []float64) float64 { return math.Exp(-manhattan(x, y, nil) / 2) }},
	{Laplacian{Widths: []float64{1, 2, 0.5}}, func(x, y []float64) float64 { return math.Exp(-manhattan(x, y, []float64{1, 2, 0.5})) }},
	{Matern{Width: 2}, func(x, y []float64) float64 {
		u := math.Sqrt(3) * norm(x, y, nil) / 2
		return (1 + u) * math.Exp(-u)
	}},
	{Matern{Widths: []float64{1, 2, 0.5}, Smoothness: 2.5}, func(x, y []float64) float64 {
		u := math.Sqrt(5) * norm(x, y, []float64{1, 2, 0.5})
		return (1 + u + u*u/3) * math.Exp(-u)
	}},
	{RationalQuadratic{Width: 2}, func(x, y []float64) float64 { return 1 / (1 + math.Pow(norm(x, y, nil), 2)/8) }},
	{RationalQuadratic{Widths: []float64{1, 2, 0.5}, Alpha: 3}, func(x, y []float64) float64 {
		return math.Pow(1+math.Pow(norm(x, y, []float64{1, 2, 0.5}), 2)/6, -3)
	}},
	{PowerExponential{Width: 2}, func(x, y []float64) float64 { return math.Exp(-math.Pow(norm(x, y, nil)/2, 1.5)) }},
	{PowerExponential{Width: 2, Power: 0.4}, func(x, y []float64) float64 { return math.Exp(-math.Pow(norm(x, y, nil)/2, 0.4)) }},
	{Periodic{Period: 1.3, Width: 0.8}, func(x, y []float64) float64 {
		k := 1.0
		for j := range x {
			k *= math.Exp(-2 * math.Pow(math.Sin(math.Pi*(x[j]-y[j])/1.3)/0.8, 2))
		}
		return k
	}},
	{Tanimoto{}, func(x, y []float64) float64 {
		var both, one float64
		halves(x, y, func(v, w float64) { both, one = both+min(v, w), one+max(v, w) })
		return both / one
	}},
	{PowerExponential{Width: 2, Norm: 1, Power: 0.9}, func(x, y []float64) float64 { return math.Exp(-math.Pow(manhattan(x, y, nil)/2, 0.9)) }},
	{PowerExponential{Width: 2, Norm: 1.6}, func(x, y []float64) float64 {
		var sum float64
		for j := range x {
			sum += math.Pow(math.Abs(x[j]-y[j]), 1.6)
		}
		return math.Exp(-math.Pow(math.Pow(sum, 1/1.6)/2, 1.5))
	}},
	{Periodic{Period: 1.3, Width: 0.8, Decay: 2}, func(x, y []float64) float64 {
		k := math.Exp(-math.Pow(norm(x, y, nil)/2, 2) / 2)
		for j := range x {
			k *= math.Exp(-2 * math.Pow(math.Sin(math.Pi*(x[j]-y[j])/1.3)/0.8, 2))
		}
		return k
	}},
	{Spectral{Period: 1.3, Width: 2}, func(x, y []float64) float64 {
		k := math.Exp(-math.Pow(norm(x, y, nil)/2, 2) / 2)
		for j := range x {
			k *= math.Cos(2 * math.Pi * (x[j] - y[j]) / 1.3)
		}
		return k
	}},
	{ChiSquare{Width: 3}, func(x, y []float64) (sum float64) {
		halves(x, y, func(v, w float64) { sum += (v - w) * (v - w) / (v + w) })
		return math.Exp(-sum / 3)
	}},
	{ChiSquare{Additive: true}, func(x, y []float64) (sum float64) {
		halves(x, y, func(v, w float64) { sum += 2 * v * w / (v + w) })
		return sum
	}},
	{Interaction{}, func(x, y []float64) float64 {
		a, b, c := single(x[0], y[0], 1), single(x[1], y[1], 1), single(x[2], y[2], 1)
		return (a*b + a*c + b*c) / 3
	}},
	{Interaction{Order: 1, Width: 0.7}, func(x, y []float64) float64 {
		return (single(x[0], y[0], 0.7) + single(x[1], y[1], 0.7) + single(x[2], y[2], 0.7)) / 3
	}},
	{Interaction{Order: 3, Width: 2}, func(x, y []float64) float64 {
		return single(x[0], y[0], 2) * single(x[1], y[1], 2) * single(x[2], y[2], 2)
	}},
	{Intersection{}, func(x, y []float64) (sum float64) {
		halves(x, y, func(v, w float64) { sum += min(v, w) })
		return sum
	}},
	{Clinical{Low: []float64{-1, -2, 0}, High: []float64{1, 2, 0}}, func(x, y []float64) float64 {
		clip := func(v, end float64) float64 { return min(max(v, -end), end) }
		return 1 - (math.Abs(clip(x[0], 1)-clip(y[0], 1))/2+math.Abs(clip(x[1], 2)-clip(y[1], 2))/4)/3
	}},
	{IBS{}, func(x, y []float64) (sum float64) {
		for j := range x {
			sum += (2 - math.Abs(min(max(x[j], 0), 2)-min(max(y[j], 0), 2))) / 6
		}
		return sum
	}},
	{Categorical{Width: 0.5}, func(x, y []float64) float64 { return math.Exp(-differ(x, y) / 0.5) }},
	{Categorical{Overlap: true}, func(x, y []float64) float64 { return 1 - differ(x, y) }},
	{Product{[]Factor{{1, Categorical{Overlap: true}}, {2, Linear{Scale: 2}}}}, func(x, y []float64) float64 {
		return (1 - differ(x[:1], y[:1])) * 2 * inner(x[1:], y[1:])
	}},
	{Product{[]Factor{{2, RBF{Width: 0.7}}, {1, Clinical{Low: []float64{-1}, High: []float64{2}}}}}, func(x, y []float64) float64 {
		clip := func(v float64) float64 { return min(max(v, -1), 2) }
		return math.Exp(-math.Pow(norm(x[:2], y[:2], nil)/0.7, 2)/2) * (1 - math.Abs(clip(x[2])-clip(y[2]))/3)
	}},
	{Linear{}, inner},
	{Linear{Scale: 3}, func(x, y []float64) float64 { return 3 * inner(x, y) }},
	{Polynomial{Degree: 3, Offset: 1, Scale: 0.5}, func(x, y []float64) float64 { return math.Pow(inner(x, y)/2+1, 3) }},
	{Polynomial{}, func(x, y []float64) float64 { return math.Pow(inner(x, y), 2) }},
	{Constant{}, func(x, y []float64) float64 { return 1 }},
	{Func{Name: "f", F: inner}, inner},
}

// values computes the kernel between samples as a view does: what it sees is divided by the widths first.
func values(k Kernel, x la.Matrix[float64]) la.Matrix[float64] {
	s := k.Statistic()
	z := x.Clone()
	for i := range z.Rows {
		for j := range s.Widths {
			z.Row(i)[j] /= s.Widths[j]
		}
	}
	out := la.NewMatrix[float64](x.Rows, x.Rows)
	s.Compute(&la.Workspace{Workers: 1}, z, z, out)
	for i := range out.Rows {
		k.Apply(out.Row(i))
	}
	return out
}

func samples() la.Matrix[float64] {
	rng := rand.New(rand.NewPCG(1, 2))
	x := la.NewMatrix[float64](9, 3)
	for i := range x.Data {
		x.Data[i] = float64(rng.IntN(4)) - 1.5 + 0.1*float64(i%2)
	}
	return x
}

func TestKernelsByTheirFormulas(t *testing.T) {
	x := samples()
	for _, c := range definitions {
		require.NoError(t, c.kernel.Check(3))
		k := c.kernel.Resolve(0)
		got := values(k, x)
		for i := range x.Rows {
			for j := range x.Rows {
				assert.InDelta(t, c.formula(x.Row(i), x.Row(j)), got.At(i, j), 1e-12, "%v of samples %d and %d", c.kernel, i, j)
				if k.Properties().Bounded {
					assert.True(t, got.At(i, j) >= 0 && got.At(i, j) <= 1, "%v", c.kernel)
				}
			}
		}
		if k.Properties().Definite {
			for i := range got.Rows {
				got.Row(i)[i] += 1e-9
			}
			assert.NoError(t, la.Cholesky(nil, got), "%v", c.kernel)
		}
		for i := range x.Rows {
			if s := k.Statistic(); s.IsDistance() {
				assert.Zero(t, s.Of(x.Row(i), x.Row(i)), "%v", c.kernel)
			}
		}
	}
}

// Interaction computes many samples together as one after another, and as the sum over all sets of features.
func TestInteractionOfManySamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const d = 4
	a, b := la.NewMatrix[float64](3, d), la.NewMatrix[float64](2*interactionColumns+1, d)
	for _, m := range []la.Matrix[float64]{a, b} {
		for i := range m.Data {
			m.Data[i] = 2 * rng.NormFloat64()
		}
	}
	for order := 1; order <= d; order++ {
		k := Interaction{Order: order, Width: 1.3}
		near, far, share := k.Rates()
		s := k.Statistic()
		out := la.NewMatrix[float64](a.Rows, b.Rows)
		s.Compute(nil, a, b, out)
		for i := range a.Rows {
			for j := range b.Rows {
				x, y := a.Row(i), b.Row(j)
				var sum, sets float64
				for set := range 1 << d {
					if bits.OnesCount(uint(set)) != order {
						continue
					}
					product := 1.0
					for f := range d {
						if set>>f&1 == 1 {
							product *= math.Exp(-near*(x[f]-y[f])*(x[f]-y[f])) - share*math.Exp(-far*(x[f]*x[f]+y[f]*y[f]))
						}
					}
					sum += product
					sets++
				}
				assert.InDelta(t, sum/sets, out.At(i, j), 1e-14)
				assert.Equal(t, s.Of(x, y), out.At(i, j))
			}
		}
	}
}

// The values come from sklearn.gaussian_process.kernels, sklearn.metrics.jaccard_score and sklearn.metrics.pairwise of
// scikit-learn 1.2.1, for samples 0 and 1, 0 and 2, 1 and 2. Its additive χ² is −Σ (x−y)²/(x+y), which is half of the
// sums of x and y less than ours.
func TestKernelsAgainstScikitLearn(t *testing.T) {
	x := la.MatrixOf(3, 3, []float64{0.3, -1.2, 2, 1.1, 0.4, -0.5, 0.3, -1, 1.5})
	counts := la.MatrixOf(3, 3, []float64{0.3, 1.2, 2, 1.1, 0.4, 0.5, 0.3, 1, 1.5})
	times := la.MatrixOf(3, 1, []float64{0.3, 1.1, 7.35})
	for _, c := range []struct {
		kernel Kernel
		x      la.Matrix[float64]
		want   [3]float64
	}{
		{Matern{Width: 0.7}, x, [3]float64{0.00427965217446571, 0.615358979035737, 0.012764027086927}},
		{Matern{Width: 1.3, Smoothness: 2.5}, x, [3]float64{0.0788774019109781, 0.876116495985292, 0.143700351245189}},
		{Matern{Widths: []float64{1, 2, 0.5}, Smoothness: 2.5}, x, [3]float64{0.000591441923017763, 0.521122998686046, 0.00371199276614918}},
		{RationalQuadratic{Width: 0.9, Alpha: 0.6}, x, [3]float64{0.240895738698829, 0.854996124174893, 0.291792010092034}},
		{RationalQuadratic{Width: 2, Alpha: 30}, x, [3]float64{0.31392940947032, 0.964420268130422, 0.443144214337907}},
		{Periodic{Period: 0.45, Width: 0.8}, times, [3]float64{0.274947606194784, 0.0959670860449983, 0.693811091744299}},
		{ChiSquare{Width: 1.7}, counts, [3]float64{0.355719263330449, 0.9486531910586127, 0.4895416595569531}},
		{ChiSquare{Additive: true}, counts, [3]float64{1.8714285714285714, 3.105194805194805, 1.7928571428571427}},
	} {
		k := values(c.kernel, c.x)
		for i, v := range []float64{k.At(0, 1), k.At(0, 2), k.At(1, 2)} {
			assert.InDelta(t, c.want[i], v, 1e-13, "%v", c.kernel)
		}
	}
	fingerprints := la.MatrixOf(2, 6, []float64{1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0})
	assert.InDelta(t, 0.4, values(Tanimoto{}, fingerprints).At(0, 1), 1e-15)
	assert.InDelta(t, 1, values(Tanimoto{}, la.NewMatrix[float64](2, 6)).At(0, 1), 0)
}

func TestKernelsSayWhatIsWrong(t *testing.T) {
	for want, k := range map[string]Kernel{
		"Smoothness is 2":       Matern{Smoothness: 2},
		"more than one of":      Matern{Width: 1, Medians: 1},
		"Alpha is -1":           RationalQuadratic{Alpha: -1},
		"Power is 2.5":          PowerExponential{Power: 2.5},
		"Power is 1.5":          PowerExponential{Power: 1.5, Norm: 1},
		"Norm is 3":             PowerExponential{Norm: 3},
		"Decay is -1":           Periodic{Decay: -1},
		"Order is 4 where":      Interaction{Order: 4},
		"Order is 9, not":       Interaction{Order: 9},
		"Width is -1":           Interaction{Width: -1},
		"Low and High: 1 and 1": Clinical{Low: []float64{0}, High: []float64{1}},
		"Low[1] is 3":           Clinical{Low: []float64{0, 3, 0}, High: []float64{1, 2, 1}},
		"more than one of Width, Medians and Additive": ChiSquare{Width: 1, Additive: true},
		"Period is -1":           Periodic{Period: -1},
		"Width is NaN":           Periodic{Width: math.NaN()},
		"Widths: 2 widths where": RationalQuadratic{Widths: []float64{1, 2}},
	} {
		assert.ErrorContains(t, k.Check(3), want)
	}
}

// Positive powers of divisible kernels are positive semidefinite.
func TestDivisibleKernels(t *testing.T) {
	for _, c := range definitions {
		if !c.kernel.Properties().Divisible {
			continue
		}
		k := values(c.kernel, samples())
		for i := range k.Data {
			k.Data[i] = math.Pow(k.Data[i], 0.13)
		}
		for i := range k.Rows {
			k.Row(i)[i] += 1e-9
		}
		assert.NoError(t, la.Cholesky(nil, k), "%v", c.kernel)
	}
}

// A kernel that decays is exp(−d/ℓ) of its distances d, and a length that grows by a factor lets ℓ grow by its power.
func TestDecay(t *testing.T) {
	x := samples()
	for _, c := range definitions {
		k, ok := c.kernel.(Decaying)
		if !ok {
			continue
		}
		l, power := k.Decay()
		if l == 0 {
			continue
		}
		s := k.Statistic()
		d := la.NewMatrix[float64](x.Rows, x.Rows)
		s.Compute(&la.Workspace{Workers: 1}, x, x, d)
		for _, longer := range []float64{l, 3 * l} {
			want := values(k.WithDecay(longer), x)
			for i := range d.Rows {
				own := append([]float64(nil), d.Row(i)...)
				k.Distances(own)
				for j, v := range own {
					assert.InDelta(t, want.At(i, j), math.Exp(-v/longer), 1e-12, "%v", k)
				}
			}
		}
		lengths, each := k.Lengths()
		require.False(t, each)
		again, _ := k.WithLengths([]float64{2 * lengths[0]}).(Decaying).Decay()
		assert.InEpsilon(t, math.Pow(2, power)*l, again, 1e-12, "%v", k)
	}
}

// Fall is −2·dK/ds.
func TestFall(t *testing.T) {
	for _, k := range []Radial{
		Matern{Width: 0.8}, Matern{Width: 0.8, Smoothness: 2.5}, Matern{Widths: []float64{1, 2, 3}}, RationalQuadratic{Width: 2}, RationalQuadratic{Width: 2, Alpha: 0.3},
	} {
		for _, s := range []float64{0.01, 0.7, 9} {
			const h = 1e-6
			at := []float64{s - h, s + h}
			fall := []float64{s}
			k.Apply(at)
			k.Fall(fall)
			assert.InDelta(t, -(at[1]-at[0])/h, fall[0], 1e-7, "%v", k)
		}
	}
}

// Slopes are the differences of the kernel when one length changes.
func TestPairSlopes(t *testing.T) {
	x := samples()
	for _, k := range []Sloped{
		Periodic{Period: 1.3, Width: 0.8}, Periodic{Period: 2.7, Width: 1.8, Decay: 1.5}, Spectral{Period: 3.3, Width: 1.9},
		Polynomial{Degree: 3, Scale: 0.5}, Polynomial{Degree: 2, Scale: 0.5, Offset: 0.8},
	} {
		lengths, _ := k.Lengths()
		slopes := make([]float64, len(lengths))
		for i := range x.Rows {
			for j := range x.Rows {
				k.Slopes(x.Row(i), x.Row(j), slopes)
				for p := range lengths {
					const h = 1e-5
					var ends [2]float64
					for e, sign := range []float64{-1, 1} {
						moved := append([]float64(nil), lengths...)
						moved[p] *= math.Exp(sign * h)
						ends[e] = values(k.WithLengths(moved), x).At(i, j)
					}
					assert.InDelta(t, (ends[1]-ends[0])/(2*h), slopes[p], 1e-6*max(1, math.Abs(slopes[p])), "%v", k)
				}
			}
		}
	}
}

func TestLengths(t *testing.T) {
	for _, c := range []struct {
		kernel  Kernel
		lengths []float64
		each    bool
		with    []float64
		want    Kernel
	}{
		{RBF{Width: 2}, []float64{2}, false, []float64{3}, RBF{Width: 3}},
		{RBF{Scale: 2}, []float64{2}, false, []float64{3}, RBF{Scale: 3}},
		{RBF{Widths: []float64{1, 2}}, []float64{1, 2}, true, []float64{3, 4}, RBF{Widths: []float64{3, 4}}},
		{RBF{Width: 2, ARD: true}, []float64{2}, false, []float64{3, 4}, RBF{Widths: []float64{3, 4}}},
		{RBF{Width: 2, ARD: true}, []float64{2}, false, nil, RBF{ARD: true}},
		{Laplacian{Width: 2, Manhattan: true}, []float64{2}, false, []float64{3}, Laplacian{Width: 3, Manhattan: true}},
		{Laplacian{Width: 2, ARD: true}, []float64{2}, false, []float64{3, 4}, Laplacian{Widths: []float64{3, 4}, Manhattan: true}},
		{Matern{Width: 2, Smoothness: 2.5}, []float64{2}, false, []float64{3}, Matern{Width: 3, Smoothness: 2.5}},
		{Matern{Widths: []float64{1, 2}}, []float64{1, 2}, true, []float64{3, 4}, Matern{Widths: []float64{3, 4}}},
		{RationalQuadratic{Medians: 2}, []float64{0}, false, []float64{3}, RationalQuadratic{Width: 3}},
		{PowerExponential{Width: 2}, []float64{2}, false, nil, PowerExponential{}},
		{Categorical{Width: 2}, []float64{2}, false, []float64{3}, Categorical{Width: 3}},
		{Categorical{Overlap: true}, nil, false, nil, Categorical{Overlap: true}},
		{FromDistance{Scale: 2}, []float64{2}, false, []float64{3}, FromDistance{Scale: 3}},
		{Linear{Scale: 2}, nil, false, []float64{3}, Linear{Scale: 2}},
		{Polynomial{}, []float64{1}, false, []float64{3}, Polynomial{Scale: 3}},
		{Polynomial{Scale: 2, Offset: 1}, []float64{2, 1}, false, []float64{3, 4}, Polynomial{Scale: 3, Offset: 4}},
		{Periodic{}, []float64{1, 1}, false, []float64{2, 3}, Periodic{Period: 2, Width: 3}},
		{Periodic{Decay: 5}, []float64{1, 1, 5}, false, []float64{2, 3, 4}, Periodic{Period: 2, Width: 3, Decay: 4}},
		{Spectral{Period: 5}, []float64{5, 5}, false, []float64{2, 3}, Spectral{Period: 2, Width: 3}},
		{ChiSquare{Width: 2}, []float64{2}, false, []float64{3}, ChiSquare{Width: 3}},
	} {
		lengths, each := Lengths(c.kernel)
		assert.Equal(t, c.lengths, lengths, "%v", c.kernel)
		assert.Equal(t, c.each, each, "%v", c.kernel)
		assert.Equal(t, c.want, WithLengths(c.kernel, c.with), "%v", c.kernel)
	}
	assert.Nil(t, Widths(RBF{Width: 2}))
	assert.Equal(t, []float64{3}, Widths(RBF{Widths: []float64{3}}))
}

func TestLearning(t *testing.T) {
	assert.False(t, Learns(Linear{}))
	assert.False(t, Learns(RBF{}))
	assert.True(t, Learns(Laplacian{ARD: true}))
	assert.Equal(t, RBF{Medians: 1}, RBF{ARD: true}.WithLearning(false))
	assert.Equal(t, RBF{Width: 2}, RBF{Width: 2, ARD: true}.WithLearning(false))
	assert.Equal(t, Laplacian{Medians: 1, Manhattan: true}, Laplacian{ARD: true}.WithLearning(false))
	assert.Equal(t, RBF{Width: 2, ARD: true}, RBF{Width: 2}.WithLearning(true))
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		kernel  Kernel
		missing Distance
		want    Kernel // of a distance of 3
	}{
		{RBF{}, MeanDistance, RBF{Width: 3}},
		{RBF{Medians: 0.5}, MedianDistance, RBF{Width: 1.5}},
		{RBF{ARD: true}, MedianDistance, RBF{Width: 3, ARD: true}},
		{RBF{Scale: 1}, NoDistance, RBF{Scale: 1}},
		{Laplacian{Medians: 2}, MedianDistance, Laplacian{Width: 6}},
		{Matern{}, MeanDistance, Matern{Width: 3, Smoothness: 1.5}},
		{RationalQuadratic{Medians: 2}, MedianDistance, RationalQuadratic{Width: 6, Alpha: 1}},
		{PowerExponential{Power: 0.5}, MeanDistance, PowerExponential{Width: 3, Power: 0.5}},
		{Periodic{}, NoDistance, Periodic{Period: 1, Width: 1}},
		{Tanimoto{}, NoDistance, Tanimoto{}},
		{Spectral{Period: 2}, NoDistance, Spectral{Period: 2, Width: 2}},
		{ChiSquare{}, MeanDistance, ChiSquare{Width: 3}},
		{ChiSquare{Additive: true}, NoDistance, ChiSquare{Additive: true}},
		{PowerExponential{Norm: 1}, MeanDistance, PowerExponential{Width: 3, Norm: 1, Power: 1}},
		{Categorical{}, MeanDistance, Categorical{Width: 3}},
		{Categorical{Overlap: true}, NoDistance, Categorical{Overlap: true}},
		{FromDistance{}, MeanDistance, FromDistance{Scale: 3}},
		{Polynomial{}, NoDistance, Polynomial{Degree: 2, Scale: 1}},
		{Precomputed{}, NoDistance, Precomputed{}},
	} {
		assert.Equal(t, c.missing, c.kernel.Missing(), "%v", c.kernel)
		assert.Equal(t, c.want, c.kernel.Resolve(3), "%v", c.kernel)
		assert.Equal(t, NoDistance, c.want.Missing(), "%v", c.want)
	}
}

// What files hold of kernels is part of their format.
func TestEncode(t *testing.T) {
	for _, c := range []struct {
		kernel Kernel
		want   string
	}{
		{RBF{Width: 0.5}, `{"kind":"rbf","width":0.5}`},
		{RBF{Widths: []float64{1, 2}}, `{"kind":"rbf","widths":[1,2]}`},
		{Laplacian{Widths: []float64{1}, Manhattan: true}, `{"kind":"laplacian","widths":[1],"manhattan":true}`},
		{Matern{Width: 2, Smoothness: 2.5}, `{"kind":"matern","width":2,"smoothness":2.5}`},
		{RationalQuadratic{Widths: []float64{1}, Alpha: 2}, `{"kind":"rational-quadratic","widths":[1],"alpha":2}`},
		{PowerExponential{Width: 2, Power: 1.2}, `{"kind":"power-exponential","width":2,"power":1.2}`},
		{Periodic{Period: 7, Width: 1}, `{"kind":"periodic","period":7,"width":1}`},
		{Periodic{Period: 7, Width: 1, Decay: 2}, `{"kind":"periodic","period":7,"width":1,"decay":2}`},
		{PowerExponential{Width: 2, Power: 1, Norm: 1}, `{"kind":"power-exponential","width":2,"power":1,"norm":1}`},
		{Spectral{Period: 7, Width: 1}, `{"kind":"spectral","period":7,"width":1}`},
		{ChiSquare{Width: 2}, `{"kind":"chi2","width":2}`},
		{ChiSquare{Additive: true}, `{"kind":"chi2","additive":true}`},
		{Intersection{}, `{"kind":"intersection"}`},
		{Clinical{Low: []float64{0}, High: []float64{1}}, `{"kind":"clinical","low":[0],"high":[1]}`},
		{IBS{}, `{"kind":"ibs"}`},
		{Tanimoto{}, `{"kind":"tanimoto"}`},
		{Categorical{Overlap: true}, `{"kind":"categorical","overlap":true}`},
		{Constant{}, `{"kind":"constant"}`},
		{Product{[]Factor{{1, RBF{Width: 2}}, {3, Linear{Scale: 1}}}},
			`{"kind":"product","factors":[{"columns":1,"kernel":{"kind":"rbf","width":2}},{"columns":3,"kernel":{"kind":"linear","scale":1}}]}`},
		{KnownFunction{}, `{"kind":"function"}`},
		{Linear{Scale: 2}, `{"kind":"linear","scale":2}`},
		{Polynomial{Scale: 1, Degree: 2, Offset: 3}, `{"kind":"polynomial","scale":1,"degree":2,"offset":3}`},
		{Interaction{Order: 3, Width: 1}, `{"kind":"interaction","order":3,"width":1}`},
		{FromDistance{Scale: 2}, `{"kind":"distance","scale":2}`},
		{Precomputed{AllowIndefinite: true}, `{"kind":"precomputed","allow_indefinite":true}`},
	} {
		text, err := Encode(c.kernel)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(text))
		again, err := Decode(text)
		require.NoError(t, err)
		assert.Equal(t, c.kernel, again)
	}
	_, err := Encode(Func{Name: "f"})
	assert.EqualError(t, err, "the kernel f cannot be saved")
	for text, want := range map[string]string{
		`{"kind":"wave"}`:            `kernel kind "wave" is unknown`,
		`{"kind":"rbf","degree":2}`:  `json: unknown field "degree"`,
		`{"kind":"rbf","medians":2}`: `json: unknown field "medians"`,
		`{"width":2}`:                "kernel kind: unexpected end of JSON input",
		`[]`:                         "json: cannot unmarshal array into Go value of type map[string]json.RawMessage",
	} {
		_, err := Decode(json.RawMessage(text))
		assert.EqualError(t, err, want, text)
	}
}
