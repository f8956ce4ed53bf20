package plan

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/cmd/internal/table"
)

// TestLooksCoded compares codes with quantities of whole numbers.
func TestLooksCoded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		want bool
		draw func(i int) float64
	}{
		{"codes", true, func(i int) float64 { return float64(1 + i%50) }},
		{"codes from 0", true, func(i int) float64 { return float64(i % 50) }},
		{"few values", false, func(i int) float64 { return float64(i % 20) }},
		{"gaps between the values", false, func(i int) float64 { return float64(3 * (i % 50)) }},
		{"years", false, func(i int) float64 { return float64(1960 + i%50) }},
		{"counts", false, func(int) float64 { return math.Floor(12 * r.ExpFloat64()) }},
		{"fractions", false, func(i int) float64 { return float64(i%50) / 2 }},
		{"missing", false, func(i int) float64 { return []float64{float64(i % 50), math.NaN()}[min(1, i/900)] }},
		{"row numbers", false, func(i int) float64 { return float64(i) }},
	} {
		x := make([]float64, 1000)
		for i := range x {
			x[i] = c.draw(i)
		}
		assert.Equal(t, c.want, looksCoded(x), c.name)
	}
}

// TestLearnMixed names the columns of text that have numbers for the most part.
func TestLearnMixed(t *testing.T) {
	cells := map[int][]string{0: {}, 1: {}}
	for i := range 40 {
		cells[0] = append(cells[0], strconv.Itoa(i%4)+[]string{"", "", "", "a"}[i%4])
		cells[1] = append(cells[1], []string{"red", "blue"}[i%2])
	}
	d := &table.Data{Rows: 40, Labels: cells, Types: map[int]table.Type{0: table.Text, 1: table.Text}}
	v := Learn(Table{Data: d, Names: []string{"room", "colour"}, Columns: []int{0, 1}, Named: []bool{true, true}}, true)
	assert.Equal(t, []Mixed{{"room", "3a"}}, v.Mixed)
}

// TestLearnCodes names the columns that look like codes, unless the command line named them.
func TestLearnCodes(t *testing.T) {
	code, size := make([]float64, 200), make([]float64, 200)
	for i := range code {
		code[i], size[i] = float64(i%40), float64(i*i%97)/7
	}
	d := &table.Data{Rows: 200, Numbers: map[int][]float64{0: code, 1: size}, Types: map[int]table.Type{0: table.Numeric, 1: table.Numeric}}
	one := Table{Data: d, Names: []string{"shop", "size"}, Columns: []int{0, 1}, Named: []bool{false, false}}
	assert.Equal(t, []string{"shop"}, Learn(one, true).Codes)
	one.Named = []bool{true, true}
	assert.Empty(t, Learn(one, true).Codes)
}

// TestOrderless compares columns on which the target depends in several ways.
func TestOrderless(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x, level := make([]float64, 400), make([]float64, 40)
	for k := range level {
		level[k] = r.NormFloat64()
	}
	of := func(f func(k int) float64) (y []float64) {
		for i := range x {
			x[i] = float64(i % 40)
			y = append(y, math.Exp(f(i%40)+0.5*r.NormFloat64())) // ranks do not see the exponential
		}
		return y
	}
	names, smooth, nothing := of(func(k int) float64 { return level[k] }), of(func(k int) float64 { return math.Sin(float64(k) / 6) }), of(func(int) float64 { return 0 })
	assert.True(t, orderless(x, nil))
	assert.True(t, orderless(x, [][]float64{names}))
	assert.False(t, orderless(x, [][]float64{smooth}))
	assert.False(t, orderless(x, [][]float64{nothing}))
	assert.True(t, orderless(x, [][]float64{nothing, smooth, names}))
	assert.False(t, orderless(x, [][]float64{make([]float64, len(x))}), "a constant")

	class := make([]float64, len(x))
	for i, v := range names {
		if class[i] = 1; v > 1 {
			class[i] = 2
		}
	}
	class[7] = math.NaN()
	outcomes := Outcomes(class)
	assert.Len(t, outcomes, 1)
	assert.True(t, orderless(x, outcomes))

	wrong := 0
	for range 1000 {
		if orderless(x, [][]float64{of(func(int) float64 { return 0 })}) {
			wrong++
		}
	}
	assert.InDelta(t, 1000*chance, wrong, 25)
}

// TestSerial standardises over all orders of six numbers, one by one.
func TestSerial(t *testing.T) {
	a := []float64{0.3, -1, 2.5, 4, 0.1, -0.7}
	mean := 0.0
	for _, v := range a {
		mean += v / 6
	}
	sum := func(a []float64) (s float64) {
		for i := range a[1:] {
			s += (a[i] - mean) * (a[i+1] - mean)
		}
		return s
	}
	var all []float64
	var permute func(a []float64, k int)
	permute = func(a []float64, k int) {
		if k == len(a) {
			all = append(all, sum(a))
			return
		}
		for i := k; i < len(a); i++ {
			a[k], a[i] = a[i], a[k]
			permute(a, k+1)
			a[k], a[i] = a[i], a[k]
		}
	}
	permute(append([]float64(nil), a...), 0)
	m, v := 0.0, 0.0
	for _, s := range all {
		m += s / float64(len(all))
	}
	for _, s := range all {
		v += (s - m) * (s - m) / float64(len(all))
	}
	assert.Len(t, all, 720)
	assert.InDelta(t, (sum(a)-m)/math.Sqrt(v), serial(a), 1e-12)
}
