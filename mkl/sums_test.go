package mkl

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/stat"
)

// sumsOf returns a plan and the sums of so many parts of it.
func sumsOf(t *testing.T, parts int) (*Plan, []*stat.Statistic) {
	t.Helper()
	rows := func(n, seed int) (Features, []float64) {
		x, y := la.NewMatrix[float64](n, 2), make([]float64, n)
		for i := range n {
			x.Set(i, 0, math.Sin(float64(7*i+seed)))
			x.Set(i, 1, math.Cos(float64(3*i*seed)))
			y[i] = x.At(i, 0) - x.At(i, 1)
		}
		return x, y
	}
	x, y := rows(60, 1)
	plan, err := LandmarkGP{Landmarks: &Landmarks{Count: 7}}.Begin(t.Context(), []View{{X: x, Kernel: kernel.RBF{Width: 1}}}, y)
	require.NoError(t, err)
	b, err := plan.Builder(1)
	require.NoError(t, err)
	var all []*stat.Statistic
	for i := range parts {
		x, y := rows(20+i, 2+i)
		require.NoError(t, b.Add(y, x))
		s, err := b.Finish()
		require.NoError(t, err)
		all = append(all, s)
	}
	return plan, all
}

func savedSums(t *testing.T, s *Sums) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, s.Save(&b))
	return b.Bytes()
}

// Every order and grouping of the parts has the same file, which is read back whole.
func TestSumsMergeInAnyOrder(t *testing.T) {
	plan, parts := sumsOf(t, 3)
	one := func(i int) *Sums {
		s := &Sums{Plan: plan}
		require.NoError(t, s.Add(SumsPart{Name: fmt.Sprint("part ", i)}, parts[i]))
		return s
	}
	var files [][]byte
	for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}} {
		flat, pair := &Sums{Plan: plan}, one(order[1])
		for _, i := range order {
			require.NoError(t, flat.Merge(one(i)))
		}
		require.NoError(t, pair.Merge(one(order[2])))
		tree := one(order[0])
		require.NoError(t, tree.Merge(pair))
		files = append(files, savedSums(t, flat), savedSums(t, tree))
	}
	for _, f := range files {
		assert.Equal(t, files[0], f)
	}
	back, err := ReadSums(bytes.NewReader(files[0]))
	require.NoError(t, err)
	assert.EqualValues(t, 63, back.Samples())
	assert.Equal(t, plan.Hash(), back.Plan.Hash())
	assert.Equal(t, files[0], savedSums(t, back))
	assert.True(t, BeginsSums(files[0][:34]))
	assert.False(t, BeginsSums(files[0][:33]))
}

// An open part is kept, and its sums cannot be merged before it has ended.
func TestSumsOfAnOpenPart(t *testing.T) {
	plan, parts := sumsOf(t, 2)
	s := &Sums{Plan: plan, Open: &OpenPart{SumsPart{Name: "half", Samples: 21}, 30, parts[1]}}
	require.NoError(t, s.Add(SumsPart{Name: "whole"}, parts[0]))
	back, err := ReadSums(bytes.NewReader(savedSums(t, s)))
	require.NoError(t, err)
	assert.Equal(t, s.Open.SumsPart, back.Open.SumsPart)
	assert.Equal(t, parts[1].Hash(), back.Open.Sums.Hash())
	assert.ErrorContains(t, (&Sums{Plan: plan}).Merge(back), `part "half" is summed up to row 30 only`)
}

func TestSumsRefuse(t *testing.T) {
	plan, parts := sumsOf(t, 2)
	other, err := LandmarkGP{Landmarks: &Landmarks{Count: 5}}.Begin(t.Context(),
		[]View{{X: la.MatrixOf(4, 1, []float64{1, 2, 3, 4}), Kernel: kernel.RBF{Width: 1}}}, []float64{1, 3, 2, 5})
	require.NoError(t, err)
	s := &Sums{Plan: plan}
	require.NoError(t, s.Add(SumsPart{Name: "a", SHA256: "1"}, parts[0]))
	before := savedSums(t, s)
	for _, c := range []struct {
		plan SamplePlan
		part SumsPart
		want string
	}{
		{plan, SumsPart{Name: "a"}, `part "a" is there, with other bytes`},
		{plan, SumsPart{Name: "a", SHA256: "1"}, `part "a" is there`},
		{plan, SumsPart{Name: "b", SHA256: "1"}, `part "b" has the bytes of part "a", which is there`},
		{other, SumsPart{Name: "b"}, "of the plan "},
	} {
		err := s.Merge(&Sums{Plan: c.plan, Parts: []SumsPart{{c.part.Name, 0, c.part.SHA256, parts[1].Samples()}}, Total: parts[1]})
		assert.ErrorContains(t, err, c.want)
	}
	assert.ErrorContains(t, (&Sums{Plan: other}).Add(SumsPart{Name: "a"}, parts[0]), "the samples were summed by another plan")
	assert.Equal(t, before, savedSums(t, s), "nothing changed")
	s.Parts[0].Samples++
	assert.ErrorContains(t, s.Save(&bytes.Buffer{}), "plan, parts and sums do not belong together")
	assert.ErrorContains(t, (&Sums{}).Save(&bytes.Buffer{}), "there is no plan")
}

// No damaged file is read as other sums: each byte is covered by a checksum or does not matter.
func TestDamagedSums(t *testing.T) {
	plan, parts := sumsOf(t, 1)
	s := &Sums{Plan: plan}
	require.NoError(t, s.Add(SumsPart{Name: "a"}, parts[0]))
	file := savedSums(t, s)
	for i := 0; i < len(file); i += 1 + i/50 {
		bad := bytes.Clone(file)
		bad[i] ^= 0x10
		if back, err := ReadSums(bytes.NewReader(bad)); err == nil {
			assert.Equal(t, file, savedSums(t, back), "byte %d", i) // such as a time of the archive
		}
		_, err := ReadSums(bytes.NewReader(file[:i]))
		assert.Error(t, err, "%d bytes", i)
	}
	at := strings.Index(string(file), "bmklstat")
	bad := bytes.Clone(file)
	bad[at+20] ^= 1
	_, err := ReadSums(bytes.NewReader(bad))
	assert.ErrorContains(t, err, "mkl: sums: statistic: ")
}

// A plan of classes of another type is read as one of strings, with the same hash, so that the sums remain its own.
func TestSumsOfNumberedClasses(t *testing.T) {
	x := la.MatrixOf(6, 1, []float64{1, 2, 3, 4, 5, 6})
	labels := []int{1, 1, 2, 2, 2, 1}
	plan, err := LandmarkClassifier[int]{Landmarks: &Landmarks{Count: 3}}.Begin(t.Context(), []View{{X: x, Kernel: kernel.RBF{Width: 1}}}, labels)
	require.NoError(t, err)
	b, err := plan.Builder(1)
	require.NoError(t, err)
	require.NoError(t, b.Add(labels, x))
	part, err := b.Finish()
	require.NoError(t, err)
	s := &Sums{Plan: plan}
	require.NoError(t, s.Add(SumsPart{Name: "a"}, part))
	back, err := ReadSums(bytes.NewReader(savedSums(t, s)))
	require.NoError(t, err)
	assert.Equal(t, []string{"1", "2"}, back.Plan.(*ClassPlan[string]).Classes())
	again, err := back.Plan.(*ClassPlan[string]).Builder(1)
	require.NoError(t, err)
	require.NoError(t, again.Add([]string{"1", "1", "2", "2", "2", "1"}, x))
	part, err = again.Finish()
	require.NoError(t, err)
	assert.Equal(t, back.Total.Hash(), part.Hash())

	var text bytes.Buffer
	require.NoError(t, plan.Save(&text))
	p, err := ReadPlan(&text)
	require.NoError(t, err)
	assert.Equal(t, plan.Hash(), p.Hash())
	_, err = ReadPlan(strings.NewReader("nothing"))
	assert.Error(t, err)
}
