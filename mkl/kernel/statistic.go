package kernel

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// Statistic is the quantity, computed from two samples x and y, that a kernel is a function of.
type Statistic struct {
	Kind   StatisticKind
	Widths []float64                    // the features are first divided by these; nil: not divided
	Func   func(x, y []float64) float64 // of CustomStatistic

	// Block, if not nil, is a faster Func of a CustomStatistic: it stores the statistic of row i of a and row j of b in out(i, j), with
	// the bits of Func.
	Block func(a, b, out la.Matrix[float64])
}

// StatisticKind is a kind of statistic.
type StatisticKind int

// The kinds of statistics of two samples x and y.
const (
	SquaredDistance   StatisticKind = iota // Σ_j (x_j − y_j)²
	ManhattanDistance                      // Σ_j |x_j − y_j|
	Disagreement                           // the share of features with x_j ≠ y_j
	InnerProduct                           // Σ_j x_j·y_j
	NoStatistic                            // 0
	GivenStatistic                         // an entry of the view's X, which holds kernels or distances
	CustomStatistic                        // Func(x, y)
)

// OfFeatures reports whether this package computes the statistic from features. Such kernels share a statistic
// of the same kind if they have no Widths.
func (s Statistic) OfFeatures() bool { return s.Kind < GivenStatistic }

// IsDistance reports whether the statistic of every sample with itself is 0.
func (s Statistic) IsDistance() bool {
	return s.Kind == SquaredDistance || s.Kind == ManhattanDistance || s.Kind == Disagreement
}

// Compute stores the statistic of row i of a and row j of b in out(i, j). The caller has divided the rows by Widths.
func (s Statistic) Compute(ws *la.Workspace, a, b, out la.Matrix[float64]) {
	switch s.Kind {
	case SquaredDistance:
		la.SqDist(ws, a, b, out)
	case InnerProduct:
		la.Gemm(ws, la.NoTrans, la.Transpose, 1, a, b, 0, out)
	case NoStatistic:
		out.Fill(0)
	default:
		if s.Block != nil {
			s.Block(a, b, out)
			return
		}
		for i := range a.Rows {
			row := out.Row(i)
			for j := range row {
				row[j] = s.Of(a.Row(i), b.Row(j))
			}
		}
	}
}

// Of returns the statistic of two samples, which the caller has divided by Widths. It is 0 for NoStatistic and
// GivenStatistic.
func (s Statistic) Of(x, y []float64) (sum float64) {
	switch s.Kind {
	case SquaredDistance:
		for j, v := range x {
			d := v - y[j]
			sum = math.FMA(d, d, sum)
		}
	case ManhattanDistance:
		for j, v := range x {
			sum += math.Abs(v - y[j])
		}
	case Disagreement:
		for j, v := range x {
			if v != y[j] {
				sum++
			}
		}
		sum /= float64(len(x))
	case InnerProduct:
		sum = la.Dot(x, y)
	case CustomStatistic:
		sum = s.Func(x, y)
	}
	return sum
}
