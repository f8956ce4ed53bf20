package mkl

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// localFeatures converts the inputs to one matrix for [vecchia.Process]: the columns that vary, with mean
// 0 and standard deviation 1. A column with heavy tails is first transformed,
//
//	v ↦ arsinh((v − median) / spread),
//
// so that most of its values do not coincide. A value that is beyond every training
// sample by more than a standard deviation is moved to that distance.
type localFeatures struct {
	columns []localColumn
}

// localColumn is one feature.
type localColumn struct {
	input, column int
	median        float64
	spread        float64 // 0 if the column is not transformed
	mean, sd      float64
	low, high     float64 // of the standardised values of the training samples
}

const (
	// heavyTails is the ratio of the standard deviation to the interquartile spread above which a
	// column is transformed.
	heavyTails = 3

	// quartiles is the distance between the quartiles of a standard normal variable.
	quartiles = 1.3489795003921634
)

// newLocalFeatures returns the features of the columns of x, nil for all.
func newLocalFeatures(x []Features, columns [][]int) *localFeatures {
	f := &localFeatures{}
	for k, m := range x {
		of := columns[k]
		if of == nil {
			of = vec.UpTo(m.Cols)
		}
		values := make([]float64, m.Rows)
		for _, j := range of {
			for i := range values {
				values[i] = m.At(i, j)
			}
			if c, varies := newLocalColumn(values); varies {
				c.input, c.column = k, j
				f.columns = append(f.columns, c)
			}
		}
	}
	return f
}

// newLocalColumn computes the constants of a feature from its values, which it overwrites.
func newLocalColumn(values []float64) (c localColumn, varies bool) {
	_, sd := vec.MeanSD(values)
	if !(sd > 0) || math.IsInf(sd, 1) {
		return c, false
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	low, high := vec.Quantile(sorted, 0.25), vec.Quantile(sorted, 0.75)
	if spread := (high - low) / quartiles; spread > 0 && sd > heavyTails*spread {
		c.median, c.spread = vec.Quantile(sorted, 0.5), spread
		for i, v := range values {
			values[i] = c.bent(v)
		}
	}
	c.mean, c.sd = vec.MeanSD(values)
	c.low, c.high = (slices.Min(values)-c.mean)/c.sd, (slices.Max(values)-c.mean)/c.sd
	return c, c.sd > 0
}

// bent returns the transformed value before standardisation.
func (c *localColumn) bent(v float64) float64 {
	if c.spread == 0 {
		return v
	}
	return special.Asinh((v - c.median) / c.spread)
}

// at stores the features of one sample in z.
func (f *localFeatures) at(x [][]float64, z []float64) {
	for j := range f.columns {
		c := &f.columns[j]
		z[j] = c.value(x[c.input][c.column])
	}
}

// value returns the feature for a value of the column.
func (c *localColumn) value(v float64) float64 {
	return min(max((c.bent(v)-c.mean)/c.sd, c.low-1), c.high+1)
}

// of returns the features of samples.
func (f *localFeatures) of(x []Features) la.Matrix[float64] {
	z := la.NewMatrix[float64](x[0].Rows, len(f.columns))
	for j := range f.columns {
		c := &f.columns[j]
		from := x[c.input]
		for i := range z.Rows {
			z.Set(i, j, c.value(from.At(i, c.column)))
		}
	}
	return z
}
