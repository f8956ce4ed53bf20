package mgp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// labelled is samples with labels.
type labelled struct {
	blocks []la.Matrix[float64]
	y      []float64
}

// newLabelled draws features in blocks of six, whose weights have a deviation for each block, and labels.
func newLabelled(seed uint64, n int, scales ...float64) labelled {
	src := rand.New(rand.NewPCG(seed, 11))
	l := labelled{y: make([]float64, n)}
	for _, scale := range scales {
		phi := la.NewMatrix[float64](6, n)
		for d := range phi.Rows {
			w := scale * src.NormFloat64()
			for i := range n {
				phi.Row(d)[i] = src.NormFloat64()
				l.y[i] += float64(w * phi.Row(d)[i])
			}
		}
		l.blocks = append(l.blocks, phi)
	}
	for i, f := range l.y {
		l.y[i] = math.Copysign(1, f+src.NormFloat64())
	}
	return l
}

// labels sums what FitFeatureLabels needs, and passes over the samples in pieces. It counts the passes.
func (l labelled) labels(passes *int) FeatureLabels {
	D, N := 0, len(l.y)
	var blocks []int
	for _, b := range l.blocks {
		blocks = append(blocks, b.Rows)
		D += b.Rows
	}
	phi, gram, sums := la.NewMatrix[float64](D, N), la.NewMatrix[float64](D, D), la.NewMatrix[float64](1, D)
	first := 0
	for _, b := range l.blocks {
		phi.Slice(first, first+b.Rows, 0, N).CopyFrom(b)
		first += b.Rows
	}
	ws := &la.Workspace{}
	la.Syrk(ws, la.NoTrans, 1, phi, 0, gram)
	la.Gemv(ws, la.NoTrans, 1, phi, l.y, 0, sums.Row(0))
	return FeatureLabels{
		Blocks: blocks, Gram: gram, Sums: sums, Samples: float64(N),
		Pass: func(_ context.Context, p *Pass) error {
			*passes++
			for first := 0; first < N; first += 100 {
				last := min(N, first+100)
				var part []la.Matrix[float64]
				for _, b := range l.blocks {
					part = append(part, b.Slice(0, b.Rows, first, last))
				}
				if err := p.Add(part, la.MatrixOf(1, last-first, l.y[first:last])); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// plainFit is Laplace's approximation by the derived formulas, with dense inverses and no shortcut: the mode by
// Newton's steps with the curvature of every sample, the mean curvature there, and MacKay's rule, until the
// scales stay.
func (l labelled) plainFit() (evidence float64, mean, weight []float64) {
	var passes int
	in := l.labels(&passes)
	D, N, ws := len(in.Sums.Row(0)), len(l.y), &la.Workspace{}
	phi := la.NewMatrix[float64](D, N)
	first := 0
	for _, b := range l.blocks {
		phi.Slice(first, first+b.Rows, 0, N).CopyFrom(b)
		first += b.Rows
	}
	mean, weight = make([]float64, D), make([]float64, len(l.blocks))
	for p := range weight {
		weight[p] = 0.1
	}
	f := make([]float64, N)
	precision := func(of la.Matrix[float64], c float64) la.Matrix[float64] {
		out := la.NewMatrix[float64](D, D)
		la.Syrk(ws, la.NoTrans, c, of, 0, out)
		for d := range D {
			out.Set(d, d, out.At(d, d)+1/weight[d/6])
		}
		if err := la.Cholesky(ws, out); err != nil {
			panic(err)
		}
		return out
	}
	for moved := 1.0; moved > 1e-12; {
		var likelihood, c float64
		for range 50 {
			la.Gemv(ws, la.Transpose, 1, phi, mean, 0, f)
			likelihood, c = 0, 0
			weighted, step := phi.Clone(), make([]float64, D)
			for i, y := range l.y {
				h, logCDF := special.Mills(y * f[i])
				bend := h * (h + y*f[i])
				likelihood, c = likelihood+logCDF, c+bend/float64(N)
				for d := range D {
					step[d] += phi.At(d, i) * y * h
					weighted.Set(d, i, phi.At(d, i)*math.Sqrt(bend))
				}
			}
			for d := range D {
				step[d] -= mean[d] / weight[d/6]
			}
			la.CholeskySolveVec(precision(weighted, 1), step)
			la.Axpy(1, step, mean)
			if la.SumSq(step) < 1e-28*la.SumSq(mean) {
				break
			}
		}
		factor := precision(phi, c)
		covariance := make([]float64, D)
		la.CholeskyInvDiag(ws, factor, covariance)
		evidence = likelihood - 0.5*la.LogDet(factor)
		moved = 0
		for p, a := range weight {
			square, used := la.SumSq(mean[6*p:6*p+6]), 6.0
			for _, v := range covariance[6*p : 6*p+6] {
				used -= v / a
			}
			evidence -= 0.5*square/a + 3*special.Log(a)
			weight[p] = square / used
			moved = max(moved, math.Abs(weight[p]/a-1))
		}
	}
	return evidence, mean, weight
}

func TestFitFeatureLabels(t *testing.T) {
	for _, c := range []struct {
		seed   uint64
		scales []float64
	}{
		{1, []float64{0.3, 0.05}},
		{2, []float64{1, 0.5}},
		{3, []float64{1.5}}, // nearly separable
		{5, []float64{3, 1}},
	} {
		l := newLabelled(c.seed, 600, c.scales...)
		passes := 0
		in := l.labels(&passes)
		var last float64
		fits, err := Evidence{Ascent: vi.Ascent{Tolerance: 1e-12, MaxSweeps: 300, Progress: func(p vi.Progress) { last = p.Bound }}}.FitFeatureLabels(t.Context(), in)
		require.NoError(t, err)
		fit := fits[0]
		assert.Equal(t, fit.LogEvidence, last)
		assert.Equal(t, fit.LogEvidence, fit.Record.Bound())

		// With c held the evidence has a slope in the scales, so that it is as exact as they are.
		want, mean, weight := l.plainFit()
		assert.InDelta(t, want, fit.LogEvidence, 1e-6*math.Abs(want))
		state := fit.Posterior.State()
		for d, v := range state.Mean {
			assert.InDelta(t, mean[d], v, 1e-5*(0.1+math.Abs(mean[d])), "%d", d)
		}
		for p, g := range state.Gamma {
			assert.InEpsilon(t, weight[p], 1/g, 1e-4)
		}

		// By default few passes are enough.
		passes = 0
		quick, err := Evidence{}.FitFeatureLabels(t.Context(), in)
		require.NoError(t, err)
		assert.LessOrEqual(t, passes, 15)
		assert.InDelta(t, want, quick[0].LogEvidence, 1e-4*in.Samples)
		again, err := Evidence{Workers: 3}.FitFeatureLabels(t.Context(), in)
		require.NoError(t, err)
		assert.Equal(t, quick, again)
	}
}

// A pass that fails, or is interrupted, ends the fit; what passes before it found stays.
func TestFitFeatureLabelsEnds(t *testing.T) {
	l := newLabelled(4, 300, 1)
	passes := 0
	in := l.labels(&passes)
	pass, broken := in.Pass, errors.New("the disk is gone")
	in.Pass = func(ctx context.Context, p *Pass) error {
		if passes == 2 {
			return broken
		}
		return pass(ctx, p)
	}
	fits, err := Evidence{Ascent: vi.Ascent{Tolerance: -1}}.FitFeatureLabels(t.Context(), in)
	assert.ErrorIs(t, err, broken)
	assert.Len(t, fits[0].Record.Trace, 2)
	assert.Equal(t, vi.Failed, fits[0].Record.Reason)

	ctx, stop := context.WithCancel(t.Context())
	passes = 0
	in.Pass = func(_ context.Context, p *Pass) error {
		stop()
		return pass(ctx, p)
	}
	fits, err = Evidence{Ascent: vi.Ascent{Tolerance: -1}}.FitFeatureLabels(ctx, in)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Len(t, fits[0].Record.Trace, 1)
	assert.Equal(t, vi.Cancelled, fits[0].Record.Reason)

	in.Pass = pass
	for _, c := range []struct {
		spoil func(l *FeatureLabels)
		want  string
	}{
		{func(l *FeatureLabels) { l.Blocks = nil }, "vi: FeatureLabels.Blocks: none"},
		{func(l *FeatureLabels) { l.Blocks = []int{5} }, "vi: FeatureLabels: Gram is 6×6 and Sums 1×6 for 5 features"},
		{func(l *FeatureLabels) { l.Gram = l.Gram.Clone(); l.Gram.Set(2, 1, math.NaN()) }, "vi: FeatureLabels.Gram: entry (2, 1) is NaN"},
		{func(l *FeatureLabels) { l.Samples = 0 }, "vi: FeatureLabels.Samples is 0"},
		{func(l *FeatureLabels) { l.Samples++ }, "vi: a pass over 300 samples where there are 301"},
		{func(l *FeatureLabels) { l.Pass = nil }, "vi: FeatureLabels.Pass is nil"},
		{func(l *FeatureLabels) {
			l.Pass = func(_ context.Context, p *Pass) error {
				return p.Add([]la.Matrix[float64]{la.NewMatrix[float64](6, 2)}, la.MatrixOf(1, 2, []float64{1, 0}))
			}
		}, "vi: labels: 1 of function 0 is 0: labels are −1 and +1"},
	} {
		spoilt := in
		c.spoil(&spoilt)
		_, err := Evidence{}.FitFeatureLabels(t.Context(), spoilt)
		assert.EqualError(t, err, c.want)
	}
}

// Several functions share their passes: each fit is the one that it is alone, bit for bit.
func TestFitFeatureLabelsTogether(t *testing.T) {
	l := newLabelled(6, 400, 1, 0.3)
	alone := l.labels(new(int))
	other := newLabelled(7, 400, 0.1, 1) // labels that have nothing to do with these features
	third := labelled{l.blocks, slices.Clone(l.y)}
	for i := range third.y[:40] {
		third.y[i] *= -1
	}
	rows := [][]float64{l.y, other.y, third.y}
	together := alone
	together.Sums = la.NewMatrix[float64](3, 12)
	for o, y := range rows {
		one := labelled{l.blocks, y}.labels(new(int))
		copy(together.Sums.Row(o), one.Sums.Row(0))
	}
	var about []int
	together.Pass = func(_ context.Context, p *Pass) error {
		about = append(about, p.Weights().Rows)
		for first := 0; first < 400; first += 100 {
			y := la.NewMatrix[float64](3, 100)
			for o := range rows {
				copy(y.Row(o), rows[o][first:])
			}
			if err := p.Add([]la.Matrix[float64]{l.blocks[0].Slice(0, 6, first, first+100), l.blocks[1].Slice(0, 6, first, first+100)}, y); err != nil {
				return err
			}
		}
		return nil
	}
	fits, err := Evidence{}.FitFeatureLabels(t.Context(), together)
	require.NoError(t, err)
	for o, y := range rows {
		want, err := Evidence{}.FitFeatureLabels(t.Context(), labelled{l.blocks, y}.labels(new(int)))
		require.NoError(t, err)
		assert.Equal(t, want[0], fits[o], o)
	}
	assert.Equal(t, 3, about[0])
	assert.IsNonIncreasing(t, about, "those that are done are looked at no more")
	assert.Less(t, about[len(about)-1], 3)
}

// Parts of a pass, merged, are the pass.
func TestPassParts(t *testing.T) {
	l := newLabelled(5, 200, 1, 0.5)
	weights := la.NewMatrix[float64](1, 12)
	for d := range weights.Data {
		weights.Data[d] = 0.1 * float64(d)
	}
	y := la.MatrixOf(1, 200, l.y)
	whole := newPass([]int{0}, weights, 1)
	require.NoError(t, whole.Add(l.blocks, y))
	merged := newPass([]int{0}, weights, 1)
	for first := 0; first < 200; first += 50 {
		part := merged.Part()
		require.NoError(t, part.Add([]la.Matrix[float64]{l.blocks[0].Slice(0, 6, first, first+50), l.blocks[1].Slice(0, 6, first, first+50)}, y.Slice(0, 1, first, first+50)))
		merged.Merge(part)
	}
	assert.InEpsilonSlice(t, whole.LogLikelihood(), merged.LogLikelihood(), 1e-13)
	assert.InEpsilonSlice(t, whole.gradient.Data, merged.gradient.Data, 1e-11)
	assert.InEpsilonSlice(t, whole.curvature, merged.curvature, 1e-13)
	assert.Equal(t, whole.samples, merged.samples)

	// The gradient equals the gradient of the likelihood.
	for d := range weights.Data {
		const step = 1e-5
		at := func(w float64) float64 {
			moved := weights.Clone()
			moved.Data[d] = w
			p := newPass([]int{0}, moved, 1)
			require.NoError(t, p.Add(l.blocks, y))
			return p.LogLikelihood()[0]
		}
		was := weights.Data[d]
		assert.InDelta(t, (at(was+step)-at(was-step))/(2*step), whole.gradient.Data[d], 1e-6)
	}

	for _, c := range []struct {
		err  error
		want string
	}{
		{whole.Look(la.NewMatrix[float64](2, 3), la.NewMatrix[float64](1, 3)), "vi: labels: 1×3 with values 2×3 of 1 functions"},
		{whole.AddGradient(la.NewMatrix[float64](1, 3)), "vi: gradient: 1×3 where 1×12 is needed"},
		{whole.Add(l.blocks[:1], y), "vi: features: 6 where there are 12 weights"},
	} {
		assert.EqualError(t, c.err, c.want)
	}
}

// A posterior that is made anew of what was learned is the same.
func TestNewLabelPosterior(t *testing.T) {
	l := newLabelled(8, 150, 1, 0.5)
	in := l.labels(new(int))
	fits, err := Evidence{}.FitFeatureLabels(t.Context(), in)
	require.NoError(t, err)
	s := fits[0].Posterior.State()
	again, err := NewLabelPosterior(in.Gram, s.Blocks, s.Gamma, s.Mean, fits[0].Curvature, 2)
	require.NoError(t, err)
	assert.Equal(t, fits[0].Posterior, again)
	_, err = NewLabelPosterior(in.Gram, []int{5}, s.Gamma, s.Mean, 1, 1)
	assert.ErrorContains(t, err, "sums 12×12, 2 scales and 12 means for 1 blocks of 5 features")
	_, err = NewLabelPosterior(in.Gram, nil, s.Gamma, s.Mean, 1, 1)
	assert.ErrorContains(t, err, "Blocks: none")
	_, err = NewLabelPosterior(in.Gram, s.Blocks, []float64{1, 0}, s.Mean, 1, 1)
	assert.ErrorContains(t, err, "scale 1 is 0")
}
