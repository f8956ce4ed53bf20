package stat

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

type matrix = la.Matrix[float64]

var small = Layout{Plan: [32]byte{1, 2, 3}, Views: []int{5, 3}, Outputs: 2}

// draw returns n random samples; a share of the targets is missing.
func draw(l Layout, n int, missing float64, seed uint64) Samples {
	src := rand.New(rand.NewPCG(seed, 1))
	var s Samples
	for _, d := range l.Views {
		k := la.NewMatrix[float64](d, n)
		for i := range k.Data {
			k.Data[i] = math.Exp(-2 * src.Float64())
		}
		s.Kernels = append(s.Kernels, k)
	}
	s.Self = la.NewMatrix[float64](len(l.Views), n)
	for i := range s.Self.Data {
		s.Self.Data[i] = 1 + src.Float64()
	}
	s.Targets = la.NewMatrix[float64](l.Outputs, n)
	for i := range s.Targets.Data {
		if s.Targets.Data[i] = src.NormFloat64(); src.Float64() < missing {
			s.Targets.Data[i] = math.NaN()
		}
	}
	return s
}

// cut returns samples from to end−1.
func (s Samples) cut(from, end int) Samples {
	c := Samples{Self: s.Self, Targets: s.Targets.Slice(0, s.Targets.Rows, from, end)}
	if s.Self.Rows > 0 {
		c.Self = s.Self.Slice(0, s.Self.Rows, from, end)
	}
	for _, k := range s.Kernels {
		c.Kernels = append(c.Kernels, k.Slice(0, k.Rows, from, end))
	}
	return c
}

// samples returns their number.
func (s Samples) samples() int { return s.Kernels[0].Cols }

// z returns the entries of sample i, 0 where a target is missing.
func (s Samples) z(i int) []float64 {
	var z []float64
	for _, k := range s.Kernels {
		for d := range k.Rows {
			z = append(z, k.At(d, i))
		}
	}
	z = append(z, 1)
	for o := range s.Targets.Rows {
		v := s.Targets.At(o, i)
		if math.IsNaN(v) {
			v = 0
		}
		z = append(z, v)
	}
	return z
}

// sum adds samples in pieces of the given size.
func sum(t testing.TB, l Layout, s Samples, piece, workers int) *Statistic {
	b, err := NewBuilder(l, workers)
	require.NoError(t, err)
	for i := 0; i < s.samples(); i += piece {
		require.NoError(t, b.Add(s.cut(i, min(i+piece, s.samples()))))
	}
	return b.Finish()
}

// TestFixedPointSumsAreExact compares conversions and sums with math/big.
func TestFixedPointSumsAreExact(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	unit := new(big.Float).SetMantExp(big.NewFloat(1), -point)
	exact := func(a fixed) *big.Float {
		v := new(big.Float).SetPrec(200).SetInt64(a.hi)
		v.SetMantExp(v, 64)
		v.Add(v, new(big.Float).SetPrec(200).SetUint64(a.lo))
		return v.Mul(v, unit)
	}
	total, want := fixed{}, new(big.Float).SetPrec(300)
	for k := range 20000 {
		x := src.NormFloat64() * math.Pow(2, 60*src.Float64()-40)
		switch k % 10 {
		case 0:
			x = math.Trunc(x)
		case 1:
			x = math.Ldexp(math.Trunc(4*src.NormFloat64())+0.5, -point) // half a unit
		case 2:
			x = -math.Ldexp(1, -80)
		}
		f := toFixed(x)
		off := new(big.Float).Sub(exact(f), big.NewFloat(x))
		limit := 0x1p-73
		if math.Abs(x) >= 0x1p-20 || x == 0 {
			limit = 0
		}
		v, _ := off.Float64()
		require.LessOrEqual(t, math.Abs(v), limit, "%g", x)
		total.add(f)
		want.Add(want, exact(f))
		nearest, _ := want.Float64()
		require.Equal(t, nearest, total.float(), "after %d", k)
		require.Zero(t, exact(total).Cmp(want))
		require.Equal(t, f, fixed{}.minus(fixed{}.minus(f)))
	}
	for _, x := range []float64{0, 1, -1, 1 << 52, -(1 << 52), 0x1p-72, -0x1p-72, 1<<40 + 0x1p-12} {
		assert.Equal(t, x, toFixed(x).float())
	}
}

// TestSumsEqualALoopOverSamples compares the moments of a pass with loops over the samples.
func TestSumsEqualALoopOverSamples(t *testing.T) {
	s := draw(small, 9000, 0.3, 2)
	m, err := sum(t, small, s, 500, 2).Moments()
	require.NoError(t, err)
	require.Len(t, m.Groups, 4)
	assert.Equal(t, 9000.0, m.Samples())
	n := small.Entries()
	for _, g := range m.Groups {
		want, self, count := la.NewMatrix[float64](n, n), make([]float64, 2), 0.0
		for i := range s.samples() {
			if math.IsNaN(s.Targets.At(0, i)) == g.Observed[0] || math.IsNaN(s.Targets.At(1, i)) == g.Observed[1] {
				continue
			}
			z := s.z(i)
			for r, v := range z {
				la.Axpy(v, z, want.Row(r))
			}
			count++
			for p := range self {
				self[p] += s.Self.At(p, i)
			}
		}
		assert.Equal(t, count, g.Count)
		assert.InDeltaSlice(t, self, g.Self, 1e-9)
		for r := range n {
			assert.InDeltaSlice(t, want.Row(r), g.Sums.Row(r), 1e-9)
		}
	}
	for o := range 2 {
		var values []float64
		for _, v := range s.Targets.Row(o) {
			if v == v {
				values = append(values, v)
			}
		}
		count, mean, sd := m.Target(o)
		var square float64
		for _, v := range values {
			square += (v - mean) * (v - mean)
		}
		assert.Equal(t, float64(len(values)), count)
		assert.InDelta(t, math.Sqrt(square/(count-1)), sd, 1e-12)
		assert.InDelta(t, 0, mean, 0.1)
	}
}

// TestHashDependsOnTheSetOfBlocksOnly sums the same blocks in many orders, on several builders, in
// pieces of several sizes, with one worker and with several.
func TestHashDependsOnTheSetOfBlocksOnly(t *testing.T) {
	const blocks = 5
	n := (blocks-1)*BlockSamples + 3000
	for name, missing := range map[string]float64{"complete": 0, "missing": 0.2} {
		t.Run(name, func(t *testing.T) {
			s := draw(small, n, missing, 3)
			want := sum(t, small, s, n, 1)
			hash := want.Hash()
			for _, piece := range []int{1, 777, 1024, 8192, 10000} {
				if piece == 1 && testing.Short() {
					continue
				}
				got := sum(t, small, s, piece, 3)
				require.Equal(t, hash, got.Hash(), "pieces of %d", piece)
			}
			src := rand.New(rand.NewPCG(3, 2))
			for trial := range 6 {
				var builders []*Builder
				for range 1 + trial%3 {
					b, err := NewBuilder(small, 1+trial%2)
					require.NoError(t, err)
					builders = append(builders, b)
				}
				for _, k := range src.Perm(blocks) {
					b := builders[src.IntN(len(builders))]
					require.NoError(t, b.Add(s.cut(k*BlockSamples, min((k+1)*BlockSamples, n))))
					b.EndBlock()
				}
				total := &Statistic{}
				for _, i := range src.Perm(len(builders)) {
					require.NoError(t, total.Merge(builders[i].Finish()))
				}
				require.Equal(t, hash, total.Hash(), "trial %d", trial)
			}
			part := sum(t, small, draw(small, 9000, missing, 4), 9000, 1)
			both := want.Clone()
			require.NoError(t, both.Merge(part))
			assert.NotEqual(t, hash, both.Hash())
			assert.EqualValues(t, n+9000, both.Samples())
			require.NoError(t, both.Subtract(part))
			assert.Equal(t, hash, both.Hash())
			require.NoError(t, both.Subtract(want))
			assert.Zero(t, both.Samples())
			empty, err := New(small)
			require.NoError(t, err)
			assert.Equal(t, empty.Hash(), both.Hash())
		})
	}
}

// TestTakenPartsMergeToTheWhole calls Take now and then. The parts merge to the statistic that Finish
// returns without calls of Take.
func TestTakenPartsMergeToTheWhole(t *testing.T) {
	const n = 2*BlockSamples + 500
	s := draw(small, n, 0.1, 11)
	b, err := NewBuilder(small, 1)
	require.NoError(t, err)
	total := &Statistic{}
	for i := 0; i < n; i += 3000 {
		require.NoError(t, b.Add(s.cut(i, min(i+3000, n))))
		part := b.Take()
		assert.Zero(t, part.Samples()%BlockSamples, "an open block was taken")
		require.NoError(t, total.Merge(part))
	}
	require.NoError(t, total.Merge(b.Finish()))
	assert.Equal(t, sum(t, small, s, n, 1).Hash(), total.Hash())
}

// TestBlocksDoNotMatterWithoutRounding sums entries with so few digits that no sum is rounded. A block
// for each sample then gives the same bits as one block.
func TestBlocksDoNotMatterWithoutRounding(t *testing.T) {
	s := draw(small, 300, 0.1, 5)
	for _, x := range append(slices.Clone(s.Kernels), s.Self, s.Targets) {
		for i, v := range x.Data {
			x.Data[i] = math.Trunc(v*256) / 256
		}
	}
	rounded := sum(t, small, s, 300, 1).Hash()
	b, err := NewBuilder(small, 1)
	require.NoError(t, err)
	for i := range 300 {
		require.NoError(t, b.Add(s.cut(i, i+1)))
		b.EndBlock()
	}
	assert.Equal(t, rounded, b.Finish().Hash())
}

// TestHashOfVersion1 holds what is summed and how it is written to the first version, on
// every machine. The entries are made without functions whose last digits may differ.
func TestHashOfVersion1(t *testing.T) {
	s := draw(small, 10000, 0, 1)
	src := rand.New(rand.NewPCG(8, 8))
	for _, x := range append(slices.Clone(s.Kernels), s.Self, s.Targets) {
		for i := range x.Data {
			x.Data[i] = src.Float64() - 0.25
		}
	}
	for i := range 10000 {
		if i%7 == 3 {
			s.Targets.Set(1, i, math.NaN())
		}
	}
	s.Self.Fill(0.5)
	assert.Equal(t, "a36a76129b6d094addd9271c921a4c0dd7df6aa4459841175dbef68807877d02", fmt.Sprintf("%x", sum(t, small, s, 999, 0).Hash()))
}

func TestBuilderRefuses(t *testing.T) {
	b, err := NewBuilder(small, 1)
	require.NoError(t, err)
	good := draw(small, 10, 0, 6)
	require.NoError(t, b.Add(good))
	for _, c := range []struct {
		spoil func(s *Samples)
		want  string
	}{
		{func(s *Samples) { s.Kernels[1].Set(2, 7, math.NaN()) }, "stat: view 1, landmark 2, sample 7: NaN is not a number from -128 to 128"},
		{func(s *Samples) { s.Kernels[0].Set(4, 0, 128.5) }, "stat: view 0, landmark 4, sample 0: 128.5 is not a number from -128 to 128"},
		{func(s *Samples) { s.Targets.Set(1, 3, math.Inf(-1)) }, "stat: output 1, sample 3: -Inf is not a number from -128 to 128"},
		{func(s *Samples) { s.Self.Set(0, 9, 20000) }, "stat: view 0, kernel with itself, sample 9: 20000 is not a number from -16384 to 16384"},
		{func(s *Samples) { s.Kernels = s.Kernels[:1] }, "stat: Kernels: 1 views where the layout has 2"},
		{func(s *Samples) { s.Targets = la.NewMatrix[float64](1, 10) }, "stat: Targets: 1×10 where 2×10 is needed"},
		{func(s *Samples) { s.Kernels[1] = la.NewMatrix[float64](3, 9) }, "stat: Kernels[1]: 3×9 where 3×10 is needed"},
	} {
		s := draw(small, 10, 0, 6)
		c.spoil(&s)
		assert.EqualError(t, b.Add(s), c.want)
	}
	require.NoError(t, b.Add(good.cut(0, 0)))
	assert.EqualValues(t, 10, b.Finish().Samples(), "refused samples count")

	// The largest entries allowed, next to each other.
	large := draw(small, 4, 0, 6)
	large.Targets.Fill(maxEntry)
	large.Self.Fill(maxSelf)
	require.NoError(t, b.Add(large))
	m, err := b.Finish().Moments()
	require.NoError(t, err)
	assert.Equal(t, 4.0*maxEntry*maxEntry, m.Groups[0].Sums.At(9, 10))

	wide := Layout{Views: []int{1}, Outputs: 9}
	b, err = NewBuilder(wide, 1)
	require.NoError(t, err)
	assert.ErrorContains(t, b.Add(draw(wide, 5000, 0.5, 1)), "more than 256 patterns of missing targets")
	assert.Zero(t, b.Finish().Samples())

	for _, l := range []Layout{{}, {Views: []int{0}}, {Views: []int{3, -1}}, {Views: []int{1 << 20}}, {Views: []int{1}, Outputs: 65}} {
		_, err := NewBuilder(l, 1)
		assert.Error(t, err, "%+v", l)
	}
}

func TestMergeAndSubtractRefuse(t *testing.T) {
	a := sum(t, small, draw(small, 100, 0.1, 7), 100, 1)
	before := a.Hash()
	other := small
	other.Plan[31] = 9
	assert.EqualError(t, a.Merge(sum(t, other, draw(small, 10, 0, 7), 10, 1)),
		"stat: statistics of different plans: 01020300… and 01020300…")
	other = small
	other.Views = []int{3, 5}
	assert.EqualError(t, a.Merge(sum(t, other, draw(other, 10, 0, 7), 10, 1)),
		"stat: statistics of different layouts: landmarks [5 3], 2 outputs and landmarks [3 5], 2 outputs")
	assert.Error(t, a.Subtract(sum(t, small, draw(small, 200, 0, 8), 200, 1)), "more samples than there are")
	stranger := draw(small, 60, 0, 8)
	stranger.Targets.Fill(100)
	assert.Error(t, a.Subtract(sum(t, small, stranger, 60, 1)), "squares would be negative")
	assert.Equal(t, before, a.Hash())
	many := a.Clone()
	for i := range many.groups {
		many.groups[i].count = MaxSamples
	}
	assert.ErrorContains(t, a.Merge(many), "a statistic holds at most 1099511627776")
	assert.Equal(t, before, a.Hash())
}

// TestBytesRoundTrip writes and reads statistics, and reads damaged bytes.
func TestBytesRoundTrip(t *testing.T) {
	a := sum(t, small, draw(small, 400, 0.2, 9), 100, 1)
	data, err := a.MarshalBinary()
	require.NoError(t, err)
	assert.Equal(t, a.size(), len(data))
	hash := a.Hash()
	assert.Equal(t, hash[:], data[len(data)-32:])
	var buf bytes.Buffer
	n, err := a.WriteTo(&buf)
	require.NoError(t, err)
	assert.EqualValues(t, len(data), n)
	assert.Equal(t, data, buf.Bytes())
	_, err = a.WriteTo(failing{})
	assert.ErrorIs(t, err, errFull)

	var back Statistic
	require.NoError(t, back.UnmarshalBinary(data))
	assert.Equal(t, *a, back)
	assert.Equal(t, small, back.Layout())
	var zero, still Statistic
	data0, err := zero.MarshalBinary()
	require.NoError(t, err)
	require.NoError(t, still.UnmarshalBinary(data0))
	assert.Equal(t, zero, still)

	for i := range data { // every byte counts
		spoiled := slices.Clone(data)
		spoiled[i] ^= 0x10
		err := back.UnmarshalBinary(spoiled)
		require.ErrorIs(t, err, ErrCorrupt, "byte %d", i)
	}
	for n := range len(data) {
		if n > 200 && n < len(data)-40 && n%97 != 0 {
			continue
		}
		require.ErrorIs(t, back.UnmarshalBinary(data[:n]), ErrCorrupt, "%d bytes", n)
	}
	assert.Equal(t, *a, back, "a failure changed it")
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// FuzzStatistic feeds bytes with a right checksum: what is accepted is written as it was read.
func FuzzStatistic(f *testing.F) {
	tiny := Layout{Views: []int{2, 1}, Outputs: 1}
	for _, n := range []int{0, 1, 20} {
		data, err := sum(f, tiny, draw(tiny, n, 0.3, 1), max(n, 1), 1).MarshalBinary()
		require.NoError(f, err)
		f.Add(data[:len(data)-32])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		data := withHash(body)
		var s Statistic
		if err := s.UnmarshalBinary(data); err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		again, err := s.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, data, again)
		if s.Samples() > 0 {
			m, err := s.Moments()
			require.NoError(t, err)
			_, _ = m.PseudoSamples(nil, 0)
		}
	})
}

// TestLimits takes what is exactly at its limit, and nothing beyond.
func TestLimits(t *testing.T) {
	for _, views := range [][]int{{maxEntries - 3}, {5, maxEntries - 8}} { // with the entries of 1 and of two targets
		assert.NoError(t, Layout{Views: views, Outputs: 2}.validate())
		views[0]++
		assert.ErrorContains(t, Layout{Views: views, Outputs: 2}.validate(), "more than")
	}
	for _, n := range []uint64{1, 1000, 1 << 38} { // sums of n products of two entries of 2⁷ are at most n·2¹⁴, but for rounding of 2⁻³⁰
		for _, sign := range []float64{-1, 1} {
			most := sign * float64(n) * (1 << 14)
			assert.True(t, toFixed(most).within(n))
			assert.True(t, toFixed(most*(1+0x1p-31)).within(n))
			assert.False(t, toFixed(most*(1+0x1p-20)).within(n))
		}
	}
}
