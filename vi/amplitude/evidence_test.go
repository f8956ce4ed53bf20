package amplitude

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// simulated returns kernels of V views with two kernels each, of n samples, centred: a Gaussian one and a linear one.
func simulated(t testing.TB, src *rand.Rand, V, n int, rounded bool) (*Kernels, Layout) {
	var ks []la.Matrix[float64]
	var l Layout
	for v := range V {
		x := la.NewMatrix[float64](n, 2)
		for i := range n {
			for c := range 2 {
				x.Set(i, c, src.NormFloat64())
			}
		}
		rbf, lin := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n)
		la.RBF(nil, 0.5, x, x, rbf)
		la.Gemm(nil, la.NoTrans, la.Transpose, 1, x, x, 0, lin)
		for kind, k := range []la.Matrix[float64]{rbf, lin} {
			centre(k)
			ks = append(ks, k)
			l.View, l.Kind = append(l.View, v), append(l.Kind, kind)
		}
	}
	d, err := vi.NewDense(ks...)
	require.NoError(t, err)
	p, err := Pack(d, rounded)
	require.NoError(t, err)
	return p, l
}

// lackView gives sample n the kernels of a sample that lacks view v: after centring, 0 with other samples and the mean diagonal with
// itself, which is 1.
func lackView(k *Kernels, l Layout, v, n int) {
	for j, of := range l.View {
		if of != v {
			continue
		}
		for i := range k.n {
			at := size(max(i, n)) + min(i, n)
			value := 0.0
			if i == n {
				value = 1
			}
			if k.rounded() {
				k.half.Row(j)[at] = float32(value)
			} else {
				k.whole.Row(j)[at] = value
			}
		}
	}
}

// centre subtracts the means of rows and columns.
func centre(k la.Matrix[float64]) {
	n := float64(k.Rows)
	mean := make([]float64, k.Rows)
	var all float64
	for i := range mean {
		for _, v := range k.Row(i) {
			mean[i] += v / n
		}
		all += mean[i] / n
	}
	for i := range mean {
		for j := range mean {
			k.Set(i, j, k.At(i, j)-mean[i]-mean[j]+all)
		}
	}
}

// targets returns C standardised rows.
func targets(src *rand.Rand, C, n int) la.Matrix[float64] {
	y := la.NewMatrix[float64](C, n)
	for c := range C {
		row := y.Row(c)
		for i := range row {
			row[i] = src.NormFloat64()
		}
		standardise(row)
	}
	return y
}

func standardise(row []float64) {
	var mean, square float64
	for _, v := range row {
		mean += v / float64(len(row))
	}
	for _, v := range row {
		square += (v - mean) * (v - mean) / float64(len(row))
	}
	for i := range row {
		row[i] = (row[i] - mean) / math.Sqrt(square)
	}
}

func TestGradients(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	for _, grouped := range []bool{false, true} {
		for s := range Free + 1 {
			for _, rounded := range []bool{false, true} {
				t.Run(fmt.Sprint(s, grouped, rounded), func(t *testing.T) {
					k, l := simulated(t, src, 4, 15, rounded)
					if grouped {
						l.Group = []int{0, 0, -1, 1}
					}
					if grouped {
						lackView(k, l, 1, 4)
						lackView(k, l, 1, 9)
					}
					p := Problem{Kernels: k, Layout: l, Y: targets(src, 3, 15), Indicators: true}
					if grouped {
						for i := range 15 {
							p.NoiseShare = append(p.NoiseShare, math.Exp(0.3*float64(i-7)))
							p.OwnNoise = append(p.OwnNoise, 0.2*float64(i%3))
						}
						p.NoiseShare[2], p.NoiseShare[5] = 0, 0
					}
					pr := newPrior(s, l)
					pr.include(l, []float64{1, 0.3, 0, 1})
					c := p.newClimb(&pr)
					z, g, ignored := make([]float64, pr.dims()), make([]float64, pr.dims()), make([]float64, pr.dims())
					for i := range z {
						z[i] = 0.7 * src.NormFloat64()
					}
					c.cost(z, g)
					const h = 1e-4
					for i := range z {
						value := func(d float64) float64 {
							moved := append([]float64(nil), z...)
							moved[i] += d
							return c.cost(moved, ignored)
						}
						want := (8*(value(h)-value(-h)) - (value(2*h) - value(-2*h))) / (12 * h)
						assert.InDelta(t, want, g[i], 1e-7*max(1, math.Abs(want)), "variable %d", i)
					}
				})
			}
		}
	}
}

func TestFactorIsHalfCauchy(t *testing.T) {
	for _, u := range []float64{-30, -8, -3, -1, -0.2, 0, 0.2, 1, 3, 8, 30} {
		value, slope := logFactor(u)
		// P(λ < x) = (2/π)·atan x, which the definition must give back.
		if math.Abs(u) < 4 {
			assert.InDelta(t, 0.5*math.Erfc(-u/math.Sqrt2), 2/math.Pi*math.Atan(math.Exp(value)), 1e-14, "u = %g", u)
		}
		if u < 0 { // log tan loses its digits near a right angle
			assert.InDelta(t, math.Log(math.Tan(math.Pi/4*math.Erfc(-u/math.Sqrt2))), value, 1e-12*math.Abs(value), "u = %g", u)
		}
		const h = 1e-4
		up, _ := logFactor(u + h)
		down, _ := logFactor(u - h)
		assert.InDelta(t, (up-down)/(2*h), slope, 1e-6*max(1, slope), "u = %g", u)
		other, _ := logFactor(-u)
		assert.InDelta(t, -other, value, 1e-12*math.Abs(value), "λ and 1/λ have one distribution")
	}
}

// TestTiedKernelsAreAddedUp compares the objective of kernels that are added up once with the objective of all kernels.
func TestTiedKernelsAreAddedUp(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 2))
	k, l := simulated(t, src, 5, 20, false)
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 20)}
	pr := newPrior(Tied, l)
	c := p.newClimb(&pr)
	J, _ := c.e.k.Dims()
	require.Equal(t, 2, J, "two kinds")
	theta := make([]float64, len(pr.mean))
	z := []float64{0.3, -0.2, 0.5, 0.1}
	pr.theta(z, theta, nil)
	process, err := p.at(theta)
	require.NoError(t, err)
	assert.InDelta(t, process.LogEvidence, c.value(z), 1e-10*math.Abs(process.LogEvidence))
}

func TestTwoClassesNeedOneRow(t *testing.T) {
	src := rand.New(rand.NewPCG(4, 2))
	k, l := simulated(t, src, 2, 18, false)
	y := la.NewMatrix[float64](2, 18)
	for i := range 18 {
		y.Set(1, i, math.Copysign(1, src.NormFloat64()))
	}
	standardise(y.Row(1))
	for i := range 18 {
		y.Set(0, i, -y.At(1, i))
	}
	both := Problem{Kernels: k, Layout: l, Y: y, Indicators: true}
	one := Problem{Kernels: k, Layout: l, Y: y.Slice(1, 2, 0, 18)}
	for s := range Free + 1 {
		a, err := both.Fit(context.Background(), s, Search{})
		require.NoError(t, err)
		b, err := one.Fit(context.Background(), s, Search{})
		require.NoError(t, err)
		assert.InDelta(t, a.LogEvidence, b.LogEvidence, 1e-6)
		within(t, a.Amplitudes, b.Amplitudes, 1e-4, "amplitudes")
	}
}

// TestRoundedKernels holds the evidence of float32 kernels to the bound that a fit states, at the amplitudes of that fit.
func TestRoundedKernels(t *testing.T) {
	for seed := range uint64(5) {
		whole, l := simulated(t, rand.New(rand.NewPCG(seed, 2)), 4, 40, false)
		half, _ := simulated(t, rand.New(rand.NewPCG(seed, 2)), 4, 40, true)
		y := targets(rand.New(rand.NewPCG(seed, 3)), 2, 40)
		a, b := Problem{Kernels: half, Layout: l, Y: y}, Problem{Kernels: whole, Layout: l, Y: y, LeastNoise: leastNoiseRounded}
		f, err := a.Fit(context.Background(), Sparse, Search{})
		require.NoError(t, err)
		require.Positive(t, f.Rounding)
		pr := newPrior(Sparse, l)
		_, process := at(t, b, Sparse, f.Z)
		moved := math.Abs(process.LogEvidence - f.LogEvidence)
		assert.LessOrEqual(t, moved, 1.01*f.Rounding)
		assert.Less(t, f.Rounding, 1e-3, "of a problem of 80 targets")
		assert.Equal(t, pr.dims(), len(f.Z))
	}
}

func TestWorkersGiveTheSameBits(t *testing.T) {
	fit := func(workers int) (*Fit, *Selection, *Shares, []Draw) {
		src := rand.New(rand.NewPCG(5, 2))
		k, l := simulated(t, src, 3, 70, true)
		p := Problem{Kernels: k, Layout: l, Y: targets(src, 3, 70), Indicators: true, Workers: workers}
		f, err := p.Fit(context.Background(), Sparse, Search{})
		require.NoError(t, err)
		draws, err := p.Draws(context.Background(), f, Sampling{Sweeps: 20})
		require.NoError(t, err)
		s, err := p.Select(context.Background(), Sparse, nil, Sampling{Sweeps: 20})
		require.NoError(t, err)
		shares, err := p.Shares(context.Background(), s.Draws, 1)
		require.NoError(t, err)
		return f, s, shares, draws
	}
	f, s, shares, draws := fit(1)
	for _, workers := range []int{2, 3, 7} {
		g, u, other, again := fit(workers)
		assert.Equal(t, f, g)
		assert.Equal(t, s, u)
		assert.Equal(t, shares, other)
		assert.Equal(t, draws, again)
	}
}

func TestLeftOutViewsHaveNoAmplitude(t *testing.T) {
	src := rand.New(rand.NewPCG(6, 2))
	k, l := simulated(t, src, 3, 30, false)
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 30)}
	for s := range Free + 1 {
		all, err := p.Fit(context.Background(), s, Search{})
		require.NoError(t, err)
		f, err := p.FitWith(context.Background(), all, []int{1}, 0, Search{})
		require.NoError(t, err)
		assert.Equal(t, []float64{1, 0, 1}, f.Include)
		for j, a := range f.Amplitudes {
			assert.Equal(t, l.View[j] == 1, a == 0, "kernel %d", j)
		}
		// The same from scratch.
		g, err := p.Fit(context.Background(), s, Search{Include: f.Include})
		require.NoError(t, err)
		assert.InDelta(t, g.LogPosterior, f.LogPosterior, 0.05)
	}
}

func TestArguments(t *testing.T) {
	src := rand.New(rand.NewPCG(7, 2))
	k, l := simulated(t, src, 2, 10, false)
	good := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 10)}
	nan := targets(src, 1, 10)
	nan.Set(0, 3, math.NaN())
	with := func(change func(*Problem)) Problem {
		p := good
		change(&p)
		return p
	}
	for want, p := range map[string]Problem{
		"vi: Kernels: nil":                    with(func(p *Problem) { p.Kernels = nil }),
		"vi: Layout.View: 3 kernels where":    with(func(p *Problem) { p.Layout.View = []int{0, 0, 1} }),
		"vi: Layout.View[2] is 0":             with(func(p *Problem) { p.Layout.View = []int{0, 1, 0, 1} }),
		"vi: Layout.Kind[0] is -1":            with(func(p *Problem) { p.Layout.Kind = []int{-1, 0, 0, 0} }),
		"vi: Layout.Group: 1 views":           with(func(p *Problem) { p.Layout.Group = []int{0} }),
		"vi: Layout.Group[1] is -2":           with(func(p *Problem) { p.Layout.Group = []int{0, -2} }),
		"vi: Y: 1×9 where rows of 10 samples": with(func(p *Problem) { p.Y = targets(src, 1, 9) }),
		"vi: Y: entry (0, 3) is NaN":          with(func(p *Problem) { p.Y = nan }),
		"vi: LeastNoise is -1":                with(func(p *Problem) { p.LeastNoise = -1 }),
		"vi: KnownNoise is NaN":               with(func(p *Problem) { p.KnownNoise = math.NaN() }),
		"vi: NoiseShare: 2 where there are":   with(func(p *Problem) { p.NoiseShare = []float64{1, 1} }),
		"vi: NoiseShare[0] is 0":              with(func(p *Problem) { p.NoiseShare = make([]float64, 10) }),
		"vi: OwnNoise: 2 where there are":     with(func(p *Problem) { p.OwnNoise = []float64{1, 1} }),
		"vi: OwnNoise[0] is -1":               with(func(p *Problem) { p.OwnNoise = []float64{-1, 1, 1, 1, 1, 1, 1, 1, 1, 1} }),
		"vi: OwnNoise[0] is 0":                with(func(p *Problem) { p.NoiseShare, p.OwnNoise = make([]float64, 10), make([]float64, 10) }),
	} {
		_, err := p.Fit(context.Background(), Tied, Search{})
		assert.ErrorContains(t, err, want)
		_, err = p.Select(context.Background(), Sparse, nil, Sampling{})
		assert.ErrorContains(t, err, want)
	}
	_, err := good.Fit(context.Background(), Tied, Search{Include: []float64{1}})
	assert.ErrorContains(t, err, "vi: Include: 1 views where there are 2")
	_, err = good.Fit(context.Background(), Tied, Search{Start: []float64{1}})
	assert.ErrorContains(t, err, "vi: Start: 1 numbers where 4 finite ones are needed")
	_, err = good.Select(context.Background(), Sparse, []float64{1, 0.5}, Sampling{})
	assert.ErrorContains(t, err, "vi: view 0 is included with the probability 1")
	for want, at := range map[string]func() (*Process, error){
		"vi: 3 amplitudes of 4 kernels":            func() (*Process, error) { return good.At([]float64{1, 1, 1}, 0.5) },
		"vi: noise is 1e-08 where more than 1e-08": func() (*Process, error) { return good.At([]float64{1, 1, 1, 1}, 1e-8) },
		"vi: amplitude 1 is -1":                    func() (*Process, error) { return good.At([]float64{1, -1, 1, 1}, 0.5) },
	} {
		_, err := at()
		assert.ErrorContains(t, err, want)
	}
	_, err = good.At([]float64{1, 0, 1, 1}, 0.5)
	assert.NoError(t, err)
	stopped, stop := context.WithCancel(context.Background())
	stop()
	_, err = good.Fit(stopped, Tied, Search{})
	assert.ErrorIs(t, err, context.Canceled)
	_, err = good.Select(stopped, Sparse, nil, Sampling{})
	assert.ErrorIs(t, err, context.Canceled)
	bad := la.NewMatrix[float64](3, 3)
	d, err := vi.NewDense(bad)
	require.NoError(t, err)
	_, err = Pack(d, false)
	assert.ErrorContains(t, err, "vi: kernel 0: its trace is 0")
}

// A noise of a sample's own is the same as a larger share, and a part keeps its units.
func TestOwnNoise(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 2))
	k, l := simulated(t, src, 2, 12, false)
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 12)}
	J, _ := k.Dims()
	amplitudes := slices.Repeat([]float64{0.4}, J)
	const noise = 0.3
	q := p
	for i := range 12 {
		own := 0.1 * float64(i)
		p.OwnNoise, p.NoiseShare = append(p.OwnNoise, own), append(p.NoiseShare, float64(i%2+1))
		q.NoiseShare = append(q.NoiseShare, float64(i%2+1)+own/noise)
	}
	a, err := p.At(amplitudes, noise)
	require.NoError(t, err)
	b, err := q.At(amplitudes, noise)
	require.NoError(t, err)
	assert.InDelta(t, b.LogEvidence, a.LogEvidence, 1e-9)
	assert.InDeltaSlice(t, b.LeftOutVariance, a.LeftOutVariance, 1e-9)

	rows := []int{1, 4, 5, 9, 11}
	part, err := p.Part(rows)
	require.NoError(t, err)
	scale := (part.Y.At(0, 1) - part.Y.At(0, 0)) / (p.Y.At(0, 4) - p.Y.At(0, 1))
	for i, r := range rows {
		assert.InDelta(t, p.OwnNoise[r]*scale*scale, part.OwnNoise[i], 1e-9)
	}
}

// A sum of kernels is the naive sum.
func TestSumOfKernels(t *testing.T) {
	src := rand.New(rand.NewPCG(4, 2))
	for _, rounded := range []bool{false, true} {
		k, _ := simulated(t, src, 3, 9, rounded)
		J, N := k.Dims()
		amplitudes := make([]float64, J)
		for j := range amplitudes {
			amplitudes[j] = src.Float64()
		}
		sum := k.Sum(amplitudes, 1)
		one := make([]float64, J)
		for a := range N {
			for b := range N {
				var want float64
				for j := range J {
					clear(one)
					one[j] = 1
					want += amplitudes[j] * k.Sum(one, 1).At(max(a, b), min(a, b))
				}
				assert.InDelta(t, want, sum.At(a, b), 1e-12)
			}
		}
		assert.InDelta(t, vecTotal(amplitudes)*float64(N), trace(sum), 1e-6, "kernels have a mean diagonal of 1")
	}
}

func trace(m la.Matrix[float64]) (sum float64) {
	for i := range m.Rows {
		sum += m.At(i, i)
	}
	return sum
}

func vecTotal(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}
