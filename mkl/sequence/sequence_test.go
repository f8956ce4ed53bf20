package sequence

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl"
)

// randomStrings returns n strings of at least shortest letters that share pieces, with
// some letters that are unknown and some in lower case.
func randomStrings(a Alphabet, n, shortest, longest int, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 17))
	from := map[Alphabet]string{Protein: letters(Protein) + letters(Protein) + "X", DNA: "ACGTACGTUNacgt", Bytes: "ab\x00\xffc"}[a]
	random := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(from[rng.IntN(len(from))])
		}
		return b.String()
	}
	pieces := []string{random(6), random(4)}
	all := make([]string, n)
	for i := range all {
		s := random(shortest + rng.IntN(longest-shortest+1))
		if piece := pieces[i%2]; len(s) > len(piece) && i%3 > 0 {
			at := rng.IntN(len(s) - len(piece))
			s = s[:at] + piece + s[at+len(piece):]
		}
		all[i] = s
	}
	return all
}

// reference returns the value of a kernel by its definition, for strings that are plain.
func reference(k Kernel, a Alphabet, x, y string) float64 {
	switch k := k.(type) {
	case Spectrum:
		return naiveMismatch(a, x, y, k.filled().K, 0)
	case Mismatch:
		return naiveMismatch(a, x, y, k.filled().K, k.filled().M)
	case Subsequence:
		return naiveSubsequence(a, x, y, k.filled().K, k.filled().Decay)
	case Oligomer:
		return naiveOligomer(a, x, y, k.filled().K, k.Longest)
	case Alignment:
		return naiveAlignment(a, x, y, newScoring(a, k.Gaps).gaps)
	case Pairwise:
		return naiveAlignment(a, x, y, newScoring(a, k.Gaps).gaps)
	case LocalAlignment:
		v := naiveLocalAlignment(a, x, y, k.filled().Gaps, k.filled().Beta)
		if k.Sum {
			return v
		}
		return v / k.filled().Beta
	}
	panic(k)
}

func TestKernelsAgainstTheirDefinitions(t *testing.T) {
	cases := []struct {
		alphabet Alphabet
		kernel   Kernel
	}{
		{Protein, Spectrum{}}, {Protein, Spectrum{K: 1}}, {DNA, Spectrum{K: 5}}, {Bytes, Spectrum{K: 2}},
		{DNA, Mismatch{}}, {DNA, Mismatch{K: 4, M: 2}}, {DNA, Mismatch{K: 4, M: 3}}, {DNA, Mismatch{K: 3}},
		{Protein, Mismatch{K: 3, M: 1}}, {Protein, Mismatch{K: 2, M: 1}},
		{Protein, Subsequence{}}, {DNA, Subsequence{K: 2, Decay: 1}}, {Bytes, Subsequence{K: 4, Decay: 0.8}}, {DNA, Subsequence{K: 1}},
		{Protein, Oligomer{}}, {DNA, Oligomer{K: 2}}, {Bytes, Oligomer{K: 3}}, {DNA, Oligomer{Longest: 4}},
		{Protein, Alignment{}}, {DNA, Alignment{}}, {Bytes, Alignment{Gaps{3, 1}}}, {Protein, Alignment{Gaps{2, 0}}}, {DNA, Alignment{Gaps{3, 3}}},
		{Protein, LocalAlignment{}}, {DNA, LocalAlignment{Beta: 1.5, Gaps: Gaps{4, 1}}}, {Bytes, LocalAlignment{Beta: 20}},
		{Protein, LocalAlignment{Sum: true}}, {Protein, LocalAlignment{Beta: 0.1, Gaps: Gaps{1, 1}}},
		{Protein, Pairwise{}},
	}
	for i, c := range cases {
		t.Run(fmt.Sprintf("%v/%v", c.alphabet, c.kernel), func(t *testing.T) {
			x := randomStrings(c.alphabet, testkit.Fewer(7, 3), 3, 10, uint64(i))
			for n := range x {
				x[n] = x[n] + "ACGTA" // known to every alphabet
			}
			other := randomStrings(c.alphabet, testkit.Fewer(4, 2), 0, 16, uint64(i)+100)
			set := &Set{Alphabet: c.alphabet, Kernels: []Kernel{c.kernel}, Strings: x, Workers: 3}
			// Scaling by the reference's own diagonal.
			want := func(x, y string) float64 {
				x, y = plain(c.alphabet, x), plain(c.alphabet, y)
				value := func(x, y string) float64 { return reference(c.kernel, c.alphabet, x, y) }
				if l, ok := c.kernel.(LocalAlignment); ok && l.Sum {
					return math.Exp(value(x, y) - value(x, x)/2 - value(y, y)/2)
				}
				if value(x, x) == 0 || value(y, y) == 0 {
					return 0
				}
				return value(x, y) / math.Sqrt(value(x, x)*value(y, y))
			}
			views, err := set.Views(context.Background())
			require.NoError(t, err)
			for i := range x {
				for j := range x {
					assert.InDelta(t, want(x[i], x[j]), views[0].X.At(i, j), 1e-12, "%q, %q", x[i], x[j])
				}
				assert.Equal(t, 1.0, views[0].X.At(i, i))
			}
			inputs, err := set.Inputs(context.Background(), other)
			require.NoError(t, err)
			for i := range other {
				for j := range x {
					assert.InDelta(t, want(other[i], x[j]), inputs[0].At(i, j), 1e-12, "%q, %q", other[i], x[j])
				}
				if inputs[0].Cols > len(x) {
					assert.InDelta(t, want(other[i], other[i]), inputs[0].At(i, len(x)), 1e-12, "%q", other[i])
				}
			}
		})
	}
}

// On long strings counts are whole numbers far above what the short ones have, and sums
// over alignments pass the range of floating-point numbers.
func TestLongStrings(t *testing.T) {
	x := randomStrings(Protein, 2, 45, 45, 5)
	x[1] = x[0][:25] + x[1][:9] + x[0][25:]
	codes := Protein.encodeAll(x)
	value := func(k Kernel) float64 {
		job := (&Set{Alphabet: Protein, Workers: 1}).task(codes[:1], codes[1:])
		require.NoError(t, k.values(context.Background(), job))
		return job.k.At(0, 0)
	}
	u, v := plain(Protein, x[1]), plain(Protein, x[0])
	assert.Equal(t, naiveMismatch(Protein, u, v, 5, 2), value(Mismatch{K: 5, M: 2}))
	assert.Equal(t, naiveMismatch(Protein, u, v, 3, 0), value(Spectrum{}))
	assert.Equal(t, naiveOligomer(Protein, u, v, 1, 0), value(Oligomer{}))
	assert.Equal(t, naiveAlignment(Protein, u, v, Gaps{11, 1}), value(Alignment{}))
	steep := LocalAlignment{Beta: 8, Gaps: Gaps{11, 1}}
	assert.Greater(t, 8*value(steep), 710.0, "the sum has to overflow for this test to tell")
	assert.InEpsilon(t, naiveLocalAlignment(Protein, u, v, Gaps{11, 1}, 8)/8, value(steep), 1e-12)
	assert.InEpsilon(t, naiveLocalAlignment(Protein, u, v, Gaps{12, 2}, 0.5)/0.5, value(LocalAlignment{}), 1e-12)
}

var everyKernel = []Kernel{
	Spectrum{}, Mismatch{K: 4, M: 1}, Subsequence{K: 2}, Oligomer{Longest: 9}, Alignment{}, LocalAlignment{}, LocalAlignment{Sum: true}, Pairwise{},
}

func TestResultsDoNotDependOnWorkers(t *testing.T) {
	x, other := randomStrings(Protein, 30, 8, 60, 1), randomStrings(Protein, 9, 0, 60, 2)
	one := &Set{Alphabet: Protein, Kernels: everyKernel, Strings: x, Workers: 1}
	many := &Set{Alphabet: Protein, Kernels: everyKernel, Strings: x, Workers: 7}
	a, err := one.Views(context.Background())
	require.NoError(t, err)
	b, err := many.Views(context.Background())
	require.NoError(t, err)
	assert.Equal(t, a, b)
	c, err := one.Inputs(context.Background(), other)
	require.NoError(t, err)
	d, err := many.Inputs(context.Background(), other)
	require.NoError(t, err)
	assert.Equal(t, c, d)

	// Training strings given as new ones have the kernels of the training.
	same, err := many.Inputs(context.Background(), x)
	require.NoError(t, err)
	for p := range everyKernel {
		for i := range x {
			assert.InDeltaSlice(t, a[p].X.Row(i), same[p].Row(i)[:len(x)], 1e-13, "%v", everyKernel[p])
		}
	}
}

func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, k := range everyKernel {
		_, err := (&Set{Alphabet: Protein, Kernels: []Kernel{k}, Strings: randomStrings(Protein, 3, 9, 9, 1)}).Views(ctx)
		assert.ErrorIs(t, err, context.Canceled, "%v", k)
	}
}

func TestSetErrors(t *testing.T) {
	for _, c := range []struct {
		set  Set
		want string
	}{
		{Set{}, "0 kernels and 0 strings"},
		{Set{Alphabet: 7, Kernels: everyKernel, Strings: []string{"A"}}, "Alphabet(7)"},
		{Set{Kernels: []Kernel{nil}, Strings: []string{"A"}}, "Kernels[0] is nil"},
		{Set{Kernels: []Kernel{Spectrum{K: 9}}, Strings: []string{"A"}}, "K is 9, not between 1 and 8 for bytes"},
		{Set{Alphabet: Protein, Kernels: []Kernel{Spectrum{K: -1}}, Strings: []string{"A"}}, "K is -1"},
		{Set{Kernels: []Kernel{Mismatch{K: 3, M: 3}}, Strings: []string{"A"}}, "M is 3, not between 0 and 2"},
		{Set{Kernels: []Kernel{Mismatch{K: 8, M: 4}}, Strings: []string{"A"}}, "too many"},
		{Set{Kernels: []Kernel{Subsequence{Decay: 1.5}}, Strings: []string{"A"}}, "Decay is 1.5"},
		{Set{Kernels: []Kernel{Subsequence{K: 65}}, Strings: []string{"A"}}, "K is 65"},
		{Set{Kernels: []Kernel{Oligomer{Longest: -1}}, Strings: []string{"A"}}, "Longest is -1"},
		{Set{Kernels: []Kernel{Alignment{Gaps{1, 2}}}, Strings: []string{"A"}}, "Open is 1 and Extend 2"},
		{Set{Kernels: []Kernel{LocalAlignment{Beta: math.NaN()}}, Strings: []string{"A"}}, "Beta is NaN"},
		{Set{Kernels: []Kernel{Spectrum{}}, Strings: []string{"AAA", "AA"}}, "Strings[1] (2 letters)"},
	} {
		_, err := c.set.Views(context.Background())
		assert.ErrorContains(t, err, c.want)
	}
}

func TestParse(t *testing.T) {
	for _, k := range append([]Kernel{
		Spectrum{K: 4}, Mismatch{K: 3}, Subsequence{K: 2, Decay: 0.25}, Oligomer{K: 2, Longest: 7},
		Alignment{Gaps{5, 2}}, LocalAlignment{Beta: 0.1, Gaps: Gaps{9, 3}, Sum: true}, Pairwise{Gaps{5, 2}},
	}, everyKernel...) {
		read, err := Parse(k.String())
		require.NoError(t, err)
		assert.Equal(t, k.String(), read.String())
	}
	k, err := Parse(" mismatch ")
	require.NoError(t, err)
	assert.Equal(t, Mismatch{}, k)
	for text, want := range map[string]string{
		"rbf": "is none of", "spectrum(k=3": "not closed", "spectrum(k=x)": "not a whole number", "la(beta=a)": "not a number",
		"spectrum(k=3,k=4)": "twice", "spectrum(m=3)": `no setting "m"`, "la(sum=3)": "takes no value",
	} {
		_, err := Parse(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestSetAsJSON(t *testing.T) {
	set := &Set{Alphabet: DNA, Kernels: []Kernel{Mismatch{K: 4, M: 2}, LocalAlignment{Beta: 0.3}}, Strings: []string{"ACGTTA", "GGCATT"}}
	text, err := json.Marshal(set)
	require.NoError(t, err)
	var back Set
	require.NoError(t, json.Unmarshal(text, &back))
	a, err := set.Inputs(context.Background(), []string{"ACGTGGA"})
	require.NoError(t, err)
	b, err := back.Inputs(context.Background(), []string{"ACGTGGA"})
	require.NoError(t, err)
	assert.Equal(t, a, b)

	_, err = json.Marshal(&Set{Kernels: everyKernel, Strings: []string{"\xff"}})
	assert.ErrorContains(t, err, "Strings[0] is not UTF-8")
	for text, want := range map[string]string{
		`{"alphabet":"latin"}`:                                            `"latin" is none of`,
		`{"alphabet":"dna","kernels":["x"],"strings":["A"]}`:              "is none of",
		`{"alphabet":"dna","kernels":["spectrum(k=99)"],"strings":["A"]}`: "K is 99",
		`{"alphabet":"dna"}`:                                              "0 kernels",
		`{"alphabet":3}`:                                                  "cannot unmarshal",
	} {
		assert.ErrorContains(t, json.Unmarshal([]byte(text), &Set{}), want)
	}
}

func TestReadFASTA(t *testing.T) {
	records, err := ReadFASTA(strings.NewReader("; a note\n>one\tfirst of two\r\nacg \r\n\nTT\n> two\n>three\nA C\tG"))
	require.NoError(t, err)
	assert.Equal(t, []Record{{"one", "first of two", "acgTT"}, {"two", "", ""}, {"three", "", "ACG"}}, records)
	for text, want := range map[string]string{"\nACG\n": "line 2: letters before", ">a\nA\n>\n": "line 3: the entry has no name"} {
		_, err := ReadFASTA(strings.NewReader(text))
		assert.ErrorContains(t, err, want)
	}
	records, err = ReadFASTA(strings.NewReader(""))
	require.NoError(t, err)
	assert.Empty(t, records)
}

func FuzzReadFASTA(f *testing.F) {
	f.Add(">a b\nACG\n>c\n")
	f.Add(";\n\n> \n")
	f.Fuzz(func(t *testing.T, text string) {
		records, err := ReadFASTA(strings.NewReader(text))
		if err != nil {
			assert.Nil(t, records)
			return
		}
		for _, r := range records {
			assert.NotEmpty(t, r.ID)
			assert.NotContains(t, r.Sequence, "\n")
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, k := range everyKernel {
		f.Add(k.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := Parse(text)
		if err != nil || k.check(Protein) != nil {
			return
		}
		again, err := Parse(k.String())
		require.NoError(t, err)
		assert.Equal(t, k.String(), again.String())
	})
}

// Every family of models that takes given kernels fits a set's views, and what it predicts
// after a file is what it predicted before.
func TestModels(t *testing.T) {
	x := randomStrings(Protein, 24, 10, 30, 3)
	set := &Set{Alphabet: Protein, Kernels: []Kernel{Spectrum{K: 2}, LocalAlignment{}, Pairwise{}}, Strings: x}
	views, err := set.Views(context.Background())
	require.NoError(t, err)
	y, class := make([]float64, len(x)), make([]string, len(x))
	for i := range x {
		y[i] = float64(strings.Count(x[i], "A")) + 0.01*float64(i)
		class[i] = []string{"no", "yes"}[i%2]
	}
	note, err := json.Marshal(set)
	require.NoError(t, err)
	fitting, ascent := mkl.Fitting{Notes: map[string]string{"strings": string(note)}}, mkl.Ascent{MaxSweeps: 20}
	other := randomStrings(Protein, 5, 10, 30, 4)
	inputs, err := set.Inputs(context.Background(), other)
	require.NoError(t, err)

	regression, err := mkl.Regression{Fitting: fitting, Ascent: ascent}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	mean, variance, err := regression.Predict(inputs...)
	require.NoError(t, err)
	var file strings.Builder
	require.NoError(t, regression.Save(&file))
	loaded, err := mkl.LoadAs[*mkl.RegressionModel](strings.NewReader(file.String()))
	require.NoError(t, err)
	var back Set
	require.NoError(t, json.Unmarshal([]byte(loaded.Notes()["strings"]), &back))
	again, err := back.Inputs(context.Background(), other)
	require.NoError(t, err)
	mean2, variance2, err := loaded.Predict(again...)
	require.NoError(t, err)
	assert.Equal(t, mean, mean2)
	assert.Equal(t, variance, variance2)

	probit, err := mkl.ProbitClassifier[string]{Fitting: fitting, Ascent: ascent}.Fit(context.Background(), views, class)
	require.NoError(t, err)
	_, _, err = probit.Predict(inputs...)
	require.NoError(t, err)

	// A Gaussian process takes the kernels that are positive semidefinite.
	definite := &Set{Alphabet: Protein, Kernels: []Kernel{Mismatch{}, Oligomer{}, Subsequence{}, LocalAlignment{Sum: true}}, Strings: x}
	views, err = definite.Views(context.Background())
	require.NoError(t, err)
	process, err := mkl.MultiGP{Fitting: fitting, Climb: mkl.Climb{MaxSteps: 20}}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	inputs, err = definite.Inputs(context.Background(), other)
	require.NoError(t, err)
	_, _, err = process.Predict(inputs...)
	require.NoError(t, err)
}

// A comparer gives the bits of the set, whatever it keeps, and predicts single strings.
func TestComparer(t *testing.T) {
	ctx := context.Background()
	x := randomStrings(Protein, 24, 10, 30, 3)
	others := append(randomStrings(Protein, 5, 10, 40, 4), "", "X", x[0])
	set := &Set{Alphabet: Protein, Kernels: everyKernel, Strings: x}
	want, err := set.Inputs(ctx, others)
	require.NoError(t, err)
	c, err := set.Comparer(ctx)
	require.NoError(t, err)
	got, err := c.Inputs(ctx, others)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	var wg sync.WaitGroup
	for n, s := range others {
		wg.Go(func() {
			for i, row := range c.Rows(s) {
				assert.Equal(t, want[i].Row(n), row, "%v, %q", everyKernel[i], s)
			}
		})
	}
	wg.Wait()
	for _, k := range c.known {
		k.indexes = nil
	}
	got, err = c.Inputs(ctx, others)
	require.NoError(t, err)
	assert.Equal(t, want, got, "without the indexes")
	_, err = (&Set{Strings: x}).Comparer(ctx)
	assert.ErrorContains(t, err, "0 kernels")

	set.Kernels = []Kernel{Spectrum{K: 2}, LocalAlignment{}, Pairwise{}}
	views, err := set.Views(ctx)
	require.NoError(t, err)
	y := make([]float64, len(x))
	for i := range x {
		y[i] = float64(strings.Count(x[i], "A")) + 0.01*float64(i)
	}
	model, err := mkl.Regression{Ascent: mkl.Ascent{MaxSweeps: 20}}.Fit(ctx, views, y)
	require.NoError(t, err)
	predictor, err := model.Predictor(mkl.PredictorOptions{})
	require.NoError(t, err)
	inputs, err := set.Inputs(ctx, others[:5])
	require.NoError(t, err)
	mean, variance, err := model.Predict(inputs...)
	require.NoError(t, err)
	c, err = set.Comparer(ctx)
	require.NoError(t, err)
	for n, s := range others[:5] {
		m, v, err := predictor.Predict(c.Rows(s)...)
		require.NoError(t, err)
		assert.InEpsilon(t, mean[n], m, 1e-9)
		assert.InEpsilon(t, variance[n], v, 1e-9)
	}
}

func TestAlphabetOf(t *testing.T) {
	for want, all := range map[Alphabet][][]string{
		DNA:     {{"ACGT", "acgun"}, {""}, nil},
		Protein: {{"MKV*", "acg-t"}, {"ACGT", "X"}},
		Bytes:   {{"ACGT", "a word"}, {"MKV1"}, {"é"}},
	} {
		for _, s := range all {
			assert.Equal(t, want, AlphabetOf(s), "%q", s)
		}
	}
}

func TestProgress(t *testing.T) {
	var rows atomic.Int64
	set := &Set{Alphabet: Protein, Kernels: everyKernel, Strings: randomStrings(Protein, 9, 10, 20, 1), Progress: func(n int) { rows.Add(int64(n)) }}
	_, err := set.Views(context.Background())
	require.NoError(t, err)
	assert.EqualValues(t, 9*len(everyKernel), rows.Load())
}

func BenchmarkKernels(b *testing.B) {
	x := randomStrings(Protein, 64, 170, 170, 1)
	for _, k := range []Kernel{Spectrum{}, Mismatch{}, Oligomer{}, Subsequence{}, Alignment{}, LocalAlignment{}} {
		b.Run(k.String(), func(b *testing.B) {
			set := &Set{Alphabet: Protein, Kernels: []Kernel{k}, Strings: x, Workers: 1}
			for b.Loop() {
				if _, err := set.Views(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(x)*(len(x)+1)/2*170*170), "ns/cell")
		})
	}
}
