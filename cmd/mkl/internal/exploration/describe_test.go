package exploration

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	cells "github.com/bmkl/bmkl/cmd/internal/table"
)

func sortedOf(x []float64) []float64 {
	x = slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	slices.Sort(x)
	return x
}

// kinds are the kinds of findings.
func kinds(found []Finding) (all []Kind) {
	for _, f := range found {
		all = append(all, f.Kind)
	}
	return all
}

// TestDescribe describes columns that are odd in one way.
func TestDescribe(t *testing.T) {
	make := func(n int, of func(i int) float64) (x []float64) {
		for i := range n {
			x = append(x, of(i))
		}
		return x
	}
	sine := func(i int) float64 { return math.Sin(float64(i)) }
	for name, c := range map[string]struct {
		x    []float64
		want []Kind
		text string
	}{
		"plain":         {make(200, sine), nil, ""},
		"too few":       {make(19, func(i int) float64 { return sine(i) + 1000*float64(i/18) }), nil, ""},
		"an outlier":    {make(200, func(i int) float64 { return sine(i) + 1000*float64(i/199) }), []Kind{Outliers}, "1 value above 4.82"},
		"a long tail":   {make(2000, func(i int) float64 { return -math.Exp(3*sine(i*i)) * float64(i%7) }), []Kind{LongTail}, " % of the values below -"},
		"two groups":    {make(200, func(i int) float64 { return sine(i) + 1000*float64(i%5/4) }), nil, ""},
		"nearly always": {make(200, func(i int) float64 { return float64(i / 198) }), []Kind{NearConstant}, "0 in 99 % of the rows"},
		"counts down":   {make(200, func(i int) float64 { return 900 - float64(2*i) }), []Kind{Identifier}, "count or name the rows"},
		"shuffled":      {make(200, func(i int) float64 { return 7000 + float64(i*37%200) }), []Kind{Identifier}, "count or name the rows"},
		"−999": {make(200, func(i int) float64 {
			if i%70 == 3 {
				return -999
			}
			return sine(i)
		}), []Kind{GapCode, Outliers}, "-999 in 3 rows, far from the other values (the nearest is -0.99"},
		"empty":  {make(30, func(int) float64 { return math.NaN() }), nil, ""},
		"huge":   {make(200, func(i int) float64 { return sine(i) * math.MaxFloat64 }), nil, ""},
		"one":    {[]float64{1}, nil, ""},
		"no row": {nil, nil, ""},
	} {
		col := &column{name: "x", typ: cells.Numeric, values: c.x}
		out, found := col.describe()
		assert.Equal(t, c.want, kinds(found), "%s: %v", name, found)
		if len(found) > 0 {
			assert.Contains(t, found[0].Text, c.text, name)
		}
		assert.NotEmpty(t, out.Name)
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{
		1: "100 %", 0: "0 %", 0.5: "50 %", 0.999: "99.9 %", 0.99999: "99.9 %", 0.00001: "below 0.1 %", 0.004: "0.4 %",
	} {
		assert.Equal(t, want, percent(share))
	}
}
