package mgp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// blocks returns features of 60 samples, half as many new ones, and targets of the former.
func blocks(seed uint64) (train, test []la.Matrix[float64], y []float64) {
	const N, T = 60, 30
	src := rand.New(rand.NewPCG(seed, 3))
	y = make([]float64, N)
	for p, d := range []int{4, 7, 2} {
		f, g := la.NewMatrix[float64](d, N), la.NewMatrix[float64](d, T)
		for i := range f.Data {
			f.Data[i] = src.NormFloat64()
		}
		for i := range g.Data {
			g.Data[i] = src.NormFloat64()
		}
		train, test = append(train, f), append(test, g)
		for i := range d {
			la.Axpy(src.NormFloat64()/float64(p*p+1), f.Row(i), y)
		}
	}
	for i := range y {
		y[i] += 0.5 * src.NormFloat64()
	}
	return train, test, y
}

// inner returns the kernels of features.
func inner(t *testing.T, a, b []la.Matrix[float64]) *vi.Dense {
	var ks []la.Matrix[float64]
	for p := range a {
		k := la.NewMatrix[float64](a[p].Cols, b[p].Cols)
		la.Gemm(nil, la.Transpose, la.NoTrans, 1, a[p], b[p], 0, k)
		ks = append(ks, k)
	}
	d, err := vi.NewDense(ks...)
	require.NoError(t, err)
	return d
}

// TestFeaturesAreTheirKernels compares with the fit by N×N matrices.
func TestFeaturesAreTheirKernels(t *testing.T) {
	for _, family := range []Family{FamilyDefault, FamilyFlat} {
		train, test, y := blocks(1)
		e := Evidence{Family: family, Ascent: vi.Ascent{Tolerance: 1e-13}}
		want, err := e.Fit(context.Background(), inner(t, train, train), y)
		require.NoError(t, err)
		got, err := e.FitFeatures(context.Background(), Features{Blocks: train, Targets: y})
		require.NoError(t, err)
		assert.InEpsilon(t, want.LogEvidence, got.LogEvidence, 1e-7)
		assert.InEpsilon(t, want.Record.Bound(), got.Record.Bound(), 1e-9)
		s := got.Posterior.State()
		assert.InEpsilon(t, 1/want.Posterior.State().Tau, s.Noise, 1e-3)
		assert.InEpsilonSlice(t, want.Posterior.State().Gamma, s.Gamma, 1e-2)

		self := la.NewMatrix[float64](len(test), test[0].Cols)
		for p, f := range test {
			for d := range f.Rows {
				for i, v := range f.Row(d) {
					self.Row(p)[i] += v * v
				}
			}
		}
		exact, err := want.Posterior.Predict(inner(t, train, test), self, vi.PredictOptions{})
		require.NoError(t, err)
		mean, variance, err := got.Posterior.Predict(test, la.Matrix[float64]{}, false, 1)
		require.NoError(t, err)
		assert.InDeltaSlice(t, exact.Mean, mean, 1e-3)
		assert.InDeltaSlice(t, exact.Variance, variance, 1e-3)
		rest := la.NewMatrix[float64](len(test), test[0].Cols)
		rest.Fill(2)
		_, more, err := got.Posterior.Predict(test, rest, false, 1)
		require.NoError(t, err)
		for i := range more {
			assert.InDelta(t, variance[i]+2/s.Gamma[0]+2/s.Gamma[1]+2/s.Gamma[2], more[i], 1e-9)
		}
	}
}

func TestFeatureGradient(t *testing.T) {
	train, _, y := blocks(2)
	m, x, err := Evidence{}.featureObjective(context.Background(), Features{Blocks: train, Targets: y, Samples: 500})
	require.NoError(t, err)
	for i := range x {
		x[i] += 0.3 * float64(i)
	}
	g, none := make([]float64, len(x)), make([]float64, len(x))
	_, err = m.cost(x, g)
	require.NoError(t, err)
	for i := range x {
		const h = 1e-5
		x[i] += h
		up, _ := m.cost(x, none)
		x[i] -= 2 * h
		down, _ := m.cost(x, none)
		x[i] += h
		assert.InEpsilon(t, (up-down)/(2*h), g[i], 1e-6, "variable %d", i)
	}
}

// TestFeaturesOfPseudoSamples turns the samples: the fit is the same, also by fewer columns.
func TestFeaturesOfPseudoSamples(t *testing.T) {
	train, _, y := blocks(3)
	n := 4 + 7 + 2 + 1
	z, perm := la.NewMatrix[float64](n, len(y)), make([]int, n)
	row := 0
	for _, f := range train {
		z.Slice(row, row+f.Rows, 0, len(y)).CopyFrom(f)
		row += f.Rows
	}
	copy(z.Row(row), y)
	gram := la.NewMatrix[float64](n, n)
	la.Syrk(nil, la.NoTrans, 1, z, 0, gram)
	rank, err := la.CholeskyPivoted(nil, gram, 0, perm)
	require.NoError(t, err)
	require.Equal(t, n, rank)
	r := la.NewMatrix[float64](n, n)
	for i, to := range perm {
		copy(r.Row(to), gram.Row(i)[:i+1])
	}
	few := Features{Targets: r.Row(n - 1), Samples: float64(len(y))}
	row = 0
	for _, f := range train {
		few.Blocks = append(few.Blocks, r.Slice(row, row+f.Rows, 0, n))
		row += f.Rows
	}
	want, err := Evidence{}.FitFeatures(context.Background(), Features{Blocks: train, Targets: y})
	require.NoError(t, err)
	got, err := Evidence{}.FitFeatures(context.Background(), few)
	require.NoError(t, err)
	assert.InEpsilon(t, want.LogEvidence, got.LogEvidence, 1e-9)
	assert.InDeltaSlice(t, want.Posterior.State().Mean, got.Posterior.State().Mean, 1e-6)
}

// TestFeaturesOfManySamples stops at the same scales whether the samples are there once or very many
// times: their number is no reason to stop early.
func TestFeaturesOfManySamples(t *testing.T) {
	const N, D, P = 120, 12, 5
	src := rand.New(rand.NewPCG(9, 3))
	var blocks []la.Matrix[float64]
	x, at, y := make([]float64, N), make([]float64, D), make([]float64, N)
	for i := range x {
		x[i] = 2*src.Float64() - 1
		y[i] = math.Sin(6*x[i]) + 0.1*src.NormFloat64()
	}
	for d := range at {
		at[d] = 2*src.Float64() - 1
	}
	for p := range P { // kernels with landmarks, from narrow to wide: features of one kernel are nearly features of another
		width := 0.1 * math.Pow(2, float64(p))
		b := la.NewMatrix[float64](D, N)
		for d := range at {
			for i, v := range x {
				b.Set(d, i, math.Exp(-(v-at[d])*(v-at[d])/(2*width*width)))
			}
		}
		blocks = append(blocks, b)
	}
	for _, copies := range []float64{1, 1e2, 1e4} {
		f := Features{Samples: copies * N}
		for _, b := range blocks {
			b := b.Clone()
			la.Scal(math.Sqrt(copies), b.Data)
			f.Blocks = append(f.Blocks, b)
		}
		f.Targets = append([]float64(nil), y...)
		la.Scal(math.Sqrt(copies), f.Targets)
		got, err := Evidence{}.FitFeatures(context.Background(), f)
		require.NoError(t, err)
		assert.Equal(t, vi.Converged, got.Record.Reason)
		want, err := Evidence{Ascent: vi.Ascent{Tolerance: 1e-15, MaxSweeps: 2000}}.FitFeatures(context.Background(), f)
		require.NoError(t, err)
		t.Logf("%g copies: %d steps, %.6f of %.6f after %d (%v)", copies, len(got.Record.Trace), got.Record.Bound(), want.Record.Bound(), len(want.Record.Trace), want.Record.Reason)
		assert.InDelta(t, want.Record.Bound(), got.Record.Bound(), 0.1)
	}
}

func TestFeatureErrors(t *testing.T) {
	train, test, y := blocks(4)
	bad := train[1].Clone()
	bad.Set(2, 5, math.Inf(1))
	ctx := context.Background()
	for want, c := range map[string]struct {
		e Evidence
		f Features
	}{
		"vi: Blocks: none": {f: Features{Targets: y}},
		"vi: Blocks[0]: 4×30 where features of 60 samples are needed":                 {f: Features{Blocks: test, Targets: y}},
		"vi: Blocks[0]: entry (2, 5) is +Inf":                                         {f: Features{Blocks: []la.Matrix[float64]{bad}, Targets: y}},
		"vi: Targets: their mean square is 0":                                         {f: Features{Blocks: train, Targets: make([]float64, 60)}},
		"vi: Samples is -3":                                                           {f: Features{Blocks: train, Targets: y, Samples: -3}},
		"vi: Start.Gamma: 1 values for 3 kernels":                                     {e: Evidence{Start: &EvidenceStart{Gamma: []float64{1}}}, f: Features{Blocks: train, Targets: y}},
		"vi: FitFeatures does not learn the prior of family Student-t: set HeldPrior": {e: Evidence{Family: FamilyStudentT}, f: Features{Blocks: train, Targets: y}},
	} {
		_, err := c.e.FitFeatures(ctx, c.f)
		assert.EqualError(t, err, want)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	_, err := Evidence{}.FitFeatures(stopped, Features{Blocks: train, Targets: y})
	assert.ErrorIs(t, err, context.Canceled)

	fit, err := Evidence{}.FitFeatures(ctx, Features{Blocks: train, Targets: y})
	require.NoError(t, err)
	_, _, err = fit.Posterior.Predict(test[:2], la.Matrix[float64]{}, true, 1)
	assert.EqualError(t, err, "vi: features: 2 blocks where 3 are needed")
	for _, spoil := range []func(s *FeatureState){
		func(s *FeatureState) { s.Blocks = nil },
		func(s *FeatureState) { s.Gamma = s.Gamma[:1] },
		func(s *FeatureState) { s.Noise = 0 },
		func(s *FeatureState) { s.Mean = []float64{math.NaN()} },
		func(s *FeatureState) { s.Factor = la.NewMatrix[float64](13, 13) },
	} {
		s := fit.Posterior.State()
		spoil(&s)
		_, err := NewFeaturePosterior(s)
		assert.Error(t, err)
	}
}

// TestFeatureContributions: the parts of all kernels together are the prediction without noise, and each part is the prediction from its
// features where the others are 0.
func TestFeatureContributions(t *testing.T) {
	train, test, y := blocks(4)
	e := Evidence{Ascent: vi.Ascent{Tolerance: 1e-10}}
	f, err := e.FitFeatures(context.Background(), Features{Blocks: train, Targets: y})
	require.NoError(t, err)
	p := f.Posterior
	whole, wide, err := p.Predict(test, la.Matrix[float64]{}, false, 1)
	require.NoError(t, err)
	noise := p.State().Noise
	mean, variance, err := p.Contribution(test, []int{0, 1, 2}, 1)
	require.NoError(t, err)
	assert.Equal(t, whole, mean)
	for i := range variance {
		assert.InDelta(t, wide[i]-noise, variance[i], 1e-12)
	}
	for _, which := range [][]int{{1}, {0, 2}, {}} {
		mean, variance, err := p.Contribution(test, which, 2)
		require.NoError(t, err)
		some := make([]la.Matrix[float64], len(test))
		for k := range some {
			some[k] = test[k].Clone()
			if !slices.Contains(which, k) {
				some[k].Fill(0)
			}
		}
		want, wide, err := p.Predict(some, la.Matrix[float64]{}, false, 1)
		require.NoError(t, err)
		for i := range mean {
			assert.InDelta(t, want[i], mean[i], 1e-12)
			assert.InDelta(t, wide[i]-noise, variance[i], 1e-12)
		}
	}
	_, _, err = p.Contribution(test, []int{3}, 1)
	assert.ErrorContains(t, err, "which[0] is 3 of 3 kernels")
	_, _, err = p.Contribution(test[:2], nil, 1)
	assert.ErrorContains(t, err, "features: 2 blocks where 3 are needed")
}

// TestFeaturePredictionsUseMemoryAgain: the memory of a call serves the next one. What it holds from more samples, more kernels or other
// workers does not matter: samples have the same bits together, in blocks, and one by one.
func TestFeaturePredictionsUseMemoryAgain(t *testing.T) {
	train, test, y := blocks(4)
	f, err := Evidence{Ascent: vi.Ascent{Tolerance: 1e-10}}.FitFeatures(context.Background(), Features{Blocks: train, Targets: y})
	require.NoError(t, err)
	const T = 2*predictColumns + 3
	many := make([]la.Matrix[float64], len(test))
	for k, m := range test {
		many[k] = la.NewMatrix[float64](m.Rows, T)
		for d := range m.Rows {
			for j := range T {
				many[k].Set(d, j, m.At(d, j%m.Cols)*(1+float64(j)/T))
			}
		}
	}
	piece := func(from, to int) (p []la.Matrix[float64]) {
		for _, m := range many {
			p = append(p, m.Slice(0, m.Rows, from, to))
		}
		return p
	}
	for _, workers := range []int{1, 2} {
		mean, variance, err := f.Posterior.Predict(many, la.Matrix[float64]{}, false, workers)
		require.NoError(t, err)
		for _, cut := range [][2]int{{0, 1}, {5, 12}, {predictColumns - 2, predictColumns + 2}, {T - 1, T}, {1, T - 1}} {
			_, _, err := f.Posterior.Contribution(many, []int{1}, workers)
			require.NoError(t, err)
			m, v, err := f.Posterior.Predict(piece(cut[0], cut[1]), la.Matrix[float64]{}, false, workers)
			require.NoError(t, err)
			require.Equal(t, variance[cut[0]:cut[1]], v)
			for i := range m {
				require.InDelta(t, mean[cut[0]+i], m[i], 1e-12)
			}
		}
		phi := make([]float64, 0, 64)
		for _, m := range piece(7, 8) {
			for d := range m.Rows {
				phi = append(phi, m.At(d, 0))
			}
		}
		m, v := f.Posterior.PredictOne(phi, false)
		require.InDelta(t, mean[7], m, 1e-12)
		require.InDelta(t, variance[7], v, 1e-12)
	}
}
