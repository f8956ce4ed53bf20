package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// The sums hold features and targets from −mostEntry to mostEntry, and kernels of a sample with itself up to mostEntry².
// Larger units bring a target to at most mostWide, and kernels to at most mostWide².
const (
	mostEntry = 128
	mostWide  = mostEntry / 2
)

// rangeError reports a sample beyond the range of a plan's sums.
type rangeError struct {
	sample        int // counted from the builder's first
	input, column int // −1 for the target
	value         float64
	sds           float64 // distance from the mean of the landmarks, in their standard deviations
}

// Error implements error.
func (e *rangeError) Error() string {
	return "mkl: " + e.place() + ", and the range of the sums ends before: the plan's sample should have such samples"
}

// place describes where the sample is and how far out.
func (e *rangeError) place() string {
	if e.input < 0 {
		return fmt.Sprintf("y[%d] is %.4g standard deviations from the mean of the plan's sample", e.sample, e.sds)
	}
	return fmt.Sprintf("x[%d], row %d, column %d: %g is %.4g standard deviations from the mean of the landmarks",
		e.input, e.sample, e.column, e.value, e.sds)
}

// firstBeyond returns an error that names the first sample beyond the range of the sums, and the column in which it is
// farthest from the landmarks; nil if there is no such sample.
func (b *summing) firstBeyond(phi []la.Matrix[float64], self, y la.Matrix[float64]) *rangeError {
	beyond := func(m la.Matrix[float64], i int, most float64) bool {
		for r := range m.Rows {
			if !(math.Abs(m.At(r, i)) <= most) {
				return true
			}
		}
		return false
	}
	for i := range y.Cols {
		if beyond(y, i, mostEntry) {
			return &rangeError{sample: b.done + i, input: -1, column: -1, sds: math.Abs(y.At(0, i))}
		}
		if !beyond(self, i, mostEntry*mostEntry) && !slices.ContainsFunc(phi, func(m la.Matrix[float64]) bool { return beyond(m, i, mostEntry) }) {
			continue
		}
		e := &rangeError{sample: b.done + i, sds: -1}
		for in, x := range b.x {
			basis := b.plan.design.Inputs[in].Basis
			column := make([]float64, basis.Rows)
			for c, v := range x.Row(i) {
				for d := range column {
					column[d] = basis.At(d, c)
				}
				mean, sd := vec.MeanSD(column)
				if sds := math.Abs(v-mean) / sd; sds > e.sds { // false for NaN, a missing value
					e.input, e.column, e.value, e.sds = in, c, v, sds
				}
			}
		}
		return e
	}
	return nil
}

// widenedFor returns the plan, without its hash, with units of features so large that the sums hold all samples.
// Units grow by powers of two, so that the features keep their digits.
func (p *featurePlan) widenedFor(ctx context.Context, workers int, x []Features) (wide featurePlan, err error) {
	most := make([]float64, len(p.by))
	b := newPieces(p, 0, workers)
	b.self = la.NewMatrix[float64](len(p.by), pieceSamples)
	b.visit = func(_ []la.Matrix[float64], self, _ la.Matrix[float64]) error {
		for i := range most {
			most[i] = max(most[i], vec.LargestAbs(self.Row(i)))
		}
		return ctx.Err()
	}
	if err := b.add(x, "x", x[0].Rows, func(int, la.Matrix[float64], int) {}); err != nil {
		return wide, err
	}
	if err := b.flush(); err != nil {
		return wide, err
	}
	wide = featurePlan{design: p.design, notes: p.notes}
	for i, by := range p.by {
		unit := doublings(math.Sqrt(most[i]/p.scale[i]), mostWide)
		by = by.Clone()
		for d := range by.Rows {
			la.Scal(1/unit, by.Row(d))
		}
		wide.by, wide.scale = append(wide.by, by), append(wide.scale, float64(p.scale[i]*unit)*unit)
	}
	return wide, nil
}

// doublings returns the least power of two, 1 or greater, by which a value must be divided to be at most the limit.
func doublings(value, limit float64) float64 {
	unit := 1.0
	for value > float64(limit*unit) && unit < math.MaxFloat64/2 {
		unit *= 2
	}
	return unit
}
