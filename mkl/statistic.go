package mkl

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// statistic is the quantity of two samples that a kernel is a function of.
type statistic struct {
	kind   statisticKind
	widths []float64 // features are divided by these first; nil for none
	f      func(x, y []float64) float64
}

// isDistance reports whether the statistic of every sample with itself is 0.
func (s statistic) isDistance() bool {
	return s.kind == squaredDistance || s.kind == manhattanDistance || s.kind == disagreement
}

type statisticKind int

const (
	squaredDistance   statisticKind = iota // Σ (x_j − y_j)²
	manhattanDistance                      // Σ |x_j − y_j|
	disagreement                           // the share of features with x_j ≠ y_j
	innerProduct                           // Σ x_j·y_j
	nothing                                // 0
	given                                  // the input itself: a precomputed kernel or distance
	custom                                 // f(x, y)
)

// compute stores the statistic of row i of a and row j of b in out(i, j).
func (s statistic) compute(ws *la.Workspace, a, b Features, out la.Matrix[float64]) {
	switch s.kind {
	case squaredDistance:
		la.SqDist(ws, a, b, out)
	case innerProduct:
		la.Gemm(ws, la.NoTrans, la.Transpose, 1, a, b, 0, out)
	case nothing:
		out.Fill(0)
	default:
		for i := range a.Rows {
			row := out.Row(i)
			for j := range row {
				row[j] = s.of(a.Row(i), b.Row(j))
			}
		}
	}
}

// of returns the statistic of two samples.
func (s statistic) of(x, y []float64) (sum float64) {
	switch s.kind {
	case squaredDistance:
		for j, v := range x {
			d := v - y[j]
			sum = math.FMA(d, d, sum)
		}
	case manhattanDistance:
		for j, v := range x {
			sum += math.Abs(v - y[j])
		}
	case disagreement:
		for j, v := range x {
			if v != y[j] {
				sum++
			}
		}
		sum /= float64(len(x))
	case innerProduct:
		sum = la.Dot(x, y)
	case custom:
		sum = s.f(x, y)
	}
	return sum
}
