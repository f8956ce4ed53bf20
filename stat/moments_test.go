package stat

import (
	"crypto/sha256"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

func withHash(body []byte) []byte {
	h := sha256.Sum256(body)
	return append(slices.Clone(body), h[:]...)
}

// mapped returns the samples after a map.
func mapped(s Samples, a Map) Samples {
	n := s.samples()
	var out Samples
	out.Self = la.NewMatrix[float64](len(a.Views), n)
	for i, v := range a.Views {
		k := s.Kernels[v.View]
		if v.By.Rows > 0 {
			k = la.NewMatrix[float64](v.By.Rows, n)
			la.Gemm(nil, la.NoTrans, la.NoTrans, 1, v.By, s.Kernels[v.View], 0, k)
		}
		k = k.Clone()
		for d, c := range v.Shift {
			for j := range k.Row(d) {
				k.Row(d)[j] += c
			}
		}
		out.Kernels = append(out.Kernels, k)
		copy(out.Self.Row(i), s.Self.Row(v.View))
	}
	out.Targets = la.NewMatrix[float64](len(a.Targets), n)
	for i, t := range a.Targets {
		for j, y := range s.Targets.Row(t.Output) {
			out.Targets.Set(i, j, (y-t.Shift)/t.scale())
		}
	}
	return out
}

func moments(t testing.TB, l Layout, s Samples) *Moments {
	m, err := sum(t, l, s, 1000, 1).Moments()
	require.NoError(t, err)
	return m
}

func requireSameMoments(t *testing.T, want, got *Moments) {
	t.Helper()
	require.Equal(t, want.Views, got.Views)
	require.Equal(t, want.Outputs, got.Outputs)
	require.Len(t, got.Groups, len(want.Groups))
	for _, g := range want.Groups {
		i := slices.IndexFunc(got.Groups, func(h Group) bool { return h.pattern() == g.pattern() })
		require.GreaterOrEqual(t, i, 0)
		h := got.Groups[i]
		require.Equal(t, g.Count, h.Count)
		require.InDeltaSlice(t, g.Self, h.Self, 1e-9)
		for r := range g.Sums.Rows {
			require.InDeltaSlice(t, g.Sums.Row(r), h.Sums.Row(r), 1e-9*g.Count, "row %d", r)
		}
	}
}

// TestMappedSumsAreSumsOfMappedSamples compares Apply with a pass over mapped samples.
func TestMappedSumsAreSumsOfMappedSamples(t *testing.T) {
	s := draw(small, 700, 0.2, 1)
	m := moments(t, small, s)
	by := la.NewMatrix[float64](4, 5)
	src := rand.New(rand.NewPCG(1, 2))
	for i := range by.Data {
		by.Data[i] = src.NormFloat64()
	}
	for name, a := range map[string]Map{
		"all":              m.All(),
		"standard":         m.Standard(),
		"one view":         {Views: []ViewMap{{View: 1}}, Targets: m.All().Targets},
		"no target":        {Views: m.All().Views},
		"one target":       {Views: m.All().Views, Targets: []TargetMap{{Output: 1, Shift: 0.5, Scale: 2}}},
		"linear, shifted":  {Views: []ViewMap{{View: 1}, {View: 0, By: by, Shift: []float64{1, 2, 3, 4}}}, Targets: m.All().Targets},
		"a view twice":     {Views: []ViewMap{{View: 0, By: by}, {View: 0}}, Targets: []TargetMap{{Output: 1}, {Output: 0}}},
		"shift on its own": {Views: []ViewMap{{View: 1, Shift: []float64{1, 0, -1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := m.Apply(nil, a)
			require.NoError(t, err)
			to := mapped(s, a)
			l := Layout{Outputs: len(a.Targets)}
			for _, k := range to.Kernels {
				l.Views = append(l.Views, k.Rows)
			}
			requireSameMoments(t, moments(t, l, to), got)
		})
	}
}

func TestStandardMapCentresAndScales(t *testing.T) {
	m := moments(t, small, draw(small, 700, 0.2, 1))
	standard, err := m.Apply(nil, m.Standard())
	require.NoError(t, err)
	for p := range 2 {
		for _, v := range standard.ViewMean(p) {
			assert.InDelta(t, 0, v, 1e-14)
		}
		_, mean, sd := standard.Target(p)
		assert.InDelta(t, 0, mean, 1e-14)
		assert.InDelta(t, 1, sd, 1e-13)
	}
}

func TestApplyRejectsBadMaps(t *testing.T) {
	m := moments(t, small, draw(small, 700, 0.2, 1))
	by := la.NewMatrix[float64](4, 5)
	for _, a := range []Map{
		{}, {Views: []ViewMap{{View: 2}}}, {Views: []ViewMap{{View: 1, By: by}}}, {Views: []ViewMap{{Shift: []float64{1}}}},
		{Views: []ViewMap{{}}, Targets: []TargetMap{{Output: 2}}}, {Views: []ViewMap{{}}, Targets: []TargetMap{{Scale: math.NaN()}}},
	} {
		_, err := m.Apply(nil, a)
		assert.Error(t, err, "%+v", a)
	}
}

// whitened returns D×D kernels among landmarks, two of them equal, their D×n kernels with samples, and
// the features.
func whitened(t *testing.T, D, n int) (landmarks, samples matrix, f Features) {
	src := rand.New(rand.NewPCG(3, 3))
	points, x := la.NewMatrix[float64](D, 1), la.NewMatrix[float64](n, 1)
	for _, m := range []matrix{points, x} {
		for i := range m.Data {
			m.Data[i] = src.NormFloat64()
		}
	}
	copy(points.Row(7), points.Row(2))
	landmarks, samples = la.NewMatrix[float64](D, D), la.NewMatrix[float64](D, n)
	la.RBF(nil, 2, points, points, landmarks)
	la.RBF(nil, 2, points, x, samples)
	f, err := Whiten(nil, landmarks, 1e-9)
	require.NoError(t, err)
	return landmarks, samples, f
}

// TestWhitenedLandmarksHaveTheirKernels: φ(x)ᵀφ(x') = k(x, x') for landmarks x and x'.
func TestWhitenedLandmarksHaveTheirKernels(t *testing.T) {
	const D = 12
	w, _, f := whitened(t, D, 1)
	require.Less(t, len(f.Landmarks), D)
	require.Equal(t, len(f.Landmarks), f.By.Rows)
	phi := la.NewMatrix[float64](f.By.Rows, D)
	la.Gemm(nil, la.NoTrans, la.NoTrans, 1, f.By, w, 0, phi)
	for i := range D {
		for j := range D {
			var dot float64
			for r := range phi.Rows {
				dot += phi.At(r, i) * phi.At(r, j)
			}
			assert.InDelta(t, w.At(i, j), dot, 1e-8, "(%d, %d)", i, j)
		}
	}
}

// TestTraceErrorIsTheMeanOverSamples of k(x, x) − kᵀW⁻¹k, W being the kernels among the landmarks kept.
func TestTraceErrorIsTheMeanOverSamples(t *testing.T) {
	const D, n = 12, 300
	w, k, f := whitened(t, D, n)
	m := moments(t, Layout{Views: []int{D}}, Samples{Kernels: []matrix{k}, Targets: la.NewMatrix[float64](0, n)})
	got, err := m.TraceError(nil, 0, f.By)
	require.NoError(t, err)
	kept := w.Take(f.Landmarks, f.Landmarks)
	require.NoError(t, la.Cholesky(nil, kept))
	var left float64
	for i := range n {
		c := make([]float64, len(f.Landmarks))
		for d, a := range f.Landmarks {
			c[d] = k.At(a, i)
		}
		la.Trsv(la.NoTrans, kept, c)
		left += 1 - la.SumSq(c)
	}
	assert.InDelta(t, left/n, got, 1e-6)
	assert.Greater(t, got, 1e-6)

	_, err = m.TraceError(nil, 1, f.By)
	assert.EqualError(t, err, "stat: TraceError: view 1 of 1")
	_, err = m.TraceError(nil, 0, la.NewMatrix[float64](2, 3))
	assert.EqualError(t, err, "stat: TraceError: a map of 3 entries where view 0 has 12")
}

func TestWhitenRejectsBadKernels(t *testing.T) {
	w, _, _ := whitened(t, 12, 1)
	_, err := Whiten(nil, la.NewMatrix[float64](2, 3), 0)
	assert.EqualError(t, err, "stat: Whiten: kernels of 2×3 landmarks")
	_, err = Whiten(nil, la.NewMatrix[float64](3, 3), 0)
	assert.EqualError(t, err, "stat: Whiten: the kernel of all 3 landmarks is 0")
	w.Set(3, 1, math.NaN())
	_, err = Whiten(nil, w, 0)
	assert.EqualError(t, err, "stat: Whiten: kernel of landmarks 3 and 1 is NaN")
}

func TestPseudoSamplesHaveTheSums(t *testing.T) {
	for name, missing := range map[string]float64{"complete": 0, "missing": 0.3} {
		t.Run(name, func(t *testing.T) {
			s := draw(small, 500, missing, 4)
			copy(s.Kernels[0].Row(1), s.Kernels[0].Row(3)) // less than full rank
			clear(s.Kernels[1].Row(2))                     // an entry that is always 0
			m := moments(t, small, s)
			r, err := m.PseudoSamples(nil, 0)
			require.NoError(t, err)
			assert.LessOrEqual(t, len(r.Ones), 9*len(m.Groups))
			assert.InDelta(t, 500, la.SumSq(r.Ones), 1e-9)
			back := Samples{Kernels: r.Views, Targets: r.Targets}
			for _, g := range m.Groups {
				n := small.Entries()
				sums := la.NewMatrix[float64](n, n)
				for i := range r.Ones {
					same := true
					for o, seen := range g.Observed {
						same = same && math.IsNaN(r.Targets.At(o, i)) != seen
					}
					if !same {
						continue
					}
					z := back.z(i)
					z[small.Entries()-3] = r.Ones[i]
					for a, v := range z {
						la.Axpy(v, z, sums.Row(a))
					}
				}
				for a := range n {
					for b := range n {
						limit := 1e-13 * math.Sqrt(g.Sums.At(a, a)*g.Sums.At(b, b))
						require.InDelta(t, g.Sums.At(a, b), sums.At(a, b), limit, "(%d, %d)", a, b)
					}
				}
			}
		})
	}
}

// TestPseudoSamplesOfConstantEntries subtracts the mean of an entry that is constant. What is left of its sums is
// rounding errors, and the pseudo-samples have none of them. An entry that varies by 1e-6 of its mean stays.
func TestPseudoSamplesOfConstantEntries(t *testing.T) {
	l := Layout{Views: []int{1, 40, 1}, Outputs: 1}
	for _, v := range []float64{3.7, 0.1, 800.0 / 7, 1.0 / 3} {
		s := draw(l, 3000, 0.1, 7)
		for i := range 3000 {
			s.Kernels[0].Set(0, i, v)
			s.Kernels[2].Set(0, i, v*(1+1e-6*s.Kernels[2].At(0, i)))
		}
		m := moments(t, l, s)
		m, err := m.Apply(nil, m.Standard())
		require.NoError(t, err)
		r, err := m.PseudoSamples(nil, 0)
		require.NoError(t, err)
		assert.Zero(t, la.SumSq(r.Views[0].Data), "%g", v)
		assert.Positive(t, la.SumSq(r.Views[1].Data), "%g", v)
		var want float64
		for _, g := range m.Groups {
			want += g.Sums.At(41, 41)
		}
		assert.InEpsilon(t, want, la.SumSq(r.Views[2].Data), 0.1, "%g", v)
	}
}

// TestPseudoSamplesKeepResidualsOfTargets factors the sums of features that are nearly equal. No
// combination of the features of the pseudo-samples fits the noise in the target.
func TestPseudoSamplesKeepResidualsOfTargets(t *testing.T) {
	l := Layout{Views: []int{30}, Outputs: 1}
	s := draw(l, 2000, 0, 6)
	src := rand.New(rand.NewPCG(6, 6))
	for d := 1; d < 30; d++ {
		for i := range 2000 {
			s.Kernels[0].Set(d, i, s.Kernels[0].At(0, i)+1e-8*src.NormFloat64())
		}
	}
	r, err := moments(t, l, s).PseudoSamples(nil, 0)
	require.NoError(t, err)
	require.Less(t, len(r.Ones), 32)
	last := len(r.Ones) - 1
	for d := range 30 {
		assert.Zero(t, r.Views[0].At(d, last))
	}
	assert.Zero(t, r.Ones[last])
	assert.InDelta(t, 2000, r.Targets.At(0, last)*r.Targets.At(0, last), 200, "the target is noise")
}

// TestSubtractLeavesOutAFoldExactly subtracts every fold from the sums of all.
func TestSubtractLeavesOutAFoldExactly(t *testing.T) {
	const folds = 4
	var parts []*Statistic
	all := &Statistic{}
	for f := range folds {
		parts = append(parts, sum(t, small, draw(small, 200+f, 0.1, uint64(f)), 300, 1))
		require.NoError(t, all.Merge(parts[f]))
	}
	for f := range folds {
		rest := all.Clone()
		require.NoError(t, rest.Subtract(parts[f]))
		want := &Statistic{}
		for g := range folds {
			if g != f {
				require.NoError(t, want.Merge(parts[g]))
			}
		}
		assert.Equal(t, want.Hash(), rest.Hash())
	}
}

func BenchmarkBuilder(b *testing.B) {
	l := Layout{Views: []int{200, 200, 200, 200, 200}, Outputs: 1}
	s := draw(l, 1024, 0, 1)
	builder, err := NewBuilder(l, 1)
	require.NoError(b, err)
	n := 0
	for b.Loop() {
		for range BlockSamples / 1024 {
			if err := builder.Add(s); err != nil {
				b.Fatal(err)
			}
			n += 1024
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
	b.ReportMetric(float64(n)*1002*1002/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// BenchmarkFold measures the work of a block besides its products.
func BenchmarkFold(b *testing.B) {
	const n = 1002
	o := open{gram: la.NewMatrix[float64](n, n)}
	for i := range o.gram.Data {
		o.gram.Data[i] = float64(i) * 1e-3
	}
	sums := make([]fixed, triangle(n))
	for b.Loop() {
		o.fold(sums, 1)
	}
}

// TestMappedScales compares the scales of mapped entries with the formulas: of a map A the root of Σ (A_ij·s_j)², with the shift as one term,
// divided by the scale of a target.
func TestMappedScales(t *testing.T) {
	l := Layout{Views: []int{2, 1}, Outputs: 2}
	from := newPlaces(l.Views, l.Outputs)
	g := Group{Scale: make([]float64, l.Entries()), Observed: []bool{true, true}}
	for i := range g.Scale {
		g.Scale[i] = float64(i + 2)
	}
	a := Map{
		Views:   []ViewMap{{View: 0, By: la.MatrixOf(1, 2, []float64{3, -4}), Shift: []float64{0.5}}, {View: 1}, {View: 1, Shift: []float64{-2}}},
		Targets: []TargetMap{{Output: 1, Shift: -0.25, Scale: -4}, {Output: 0}, {Output: 0, Scale: 0.125}},
	}
	to := newPlaces([]int{1, 1, 1}, 3)
	got := a.scales(from, to, g, la.NewMatrix[float64](to.entries(), to.entries()))
	first, _ := from.view(0)
	second, _ := from.view(1)
	s := func(i int) float64 { return g.Scale[i] }
	one, x, y, v := s(from.one), s(first), s(first+1), s(second)
	at := func(view int) float64 { i, _ := to.view(view); return got[i] }
	assert.InEpsilon(t, math.Sqrt(9*x*x+16*y*y+0.25*one*one), at(0), 1e-14)
	assert.InEpsilon(t, v, at(1), 1e-14)
	assert.InEpsilon(t, math.Sqrt(v*v+4*one*one), at(2), 1e-14)
	assert.Equal(t, one, got[to.one])
	u, w := s(from.output(1)), s(from.output(0))
	assert.InEpsilon(t, math.Sqrt(u*u+one*one/16)/4, got[to.output(0)], 1e-14)
	assert.InEpsilon(t, w, got[to.output(1)], 1e-14)
	assert.InEpsilon(t, 8*w, got[to.output(2)], 1e-14)
	large := la.NewMatrix[float64](to.entries(), to.entries())
	large.Set(to.one, to.one, 1e6)
	assert.Equal(t, 1e3, a.scales(from, to, g, large)[to.one], "never below the root of a sum of squares")
}
