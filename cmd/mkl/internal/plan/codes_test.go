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
