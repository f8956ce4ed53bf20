package stat

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// PseudoSamples are fewer samples with the sums of the true ones: with R the columns of
// their entries, T = R·Rᵀ for each pattern of missing targets. Every sum over samples
// that a regression needs is the same.
type PseudoSamples struct {
	Views   []la.Matrix[float64] // of view p, D_p×r
	Targets la.Matrix[float64]   // L×r, NaN where missing
	Ones    []float64            // r, what 1 for every sample has become; |Ones|² is the number of samples
}

// least is the mean square below which an entry is scaled as if it had that. Sums are rounded
// to units of 2⁻⁷², which of the products of smaller entries may leave too few of the 53
// digits of a float64.
const least = 0x1p-20

// PseudoSamples factors T by [la.CholeskyPivoted], entries scaled to Σ z² = 1, so that the constant
// and the targets weigh as much as kernels. A pivot of not more than tolerance ends it; 0 means
// n·2⁻⁵³ for n entries, what rounding leaves.
// What is then left out of each element of T is at most tolerance·√(T_ii·T_jj).
func (m *Moments) PseudoSamples(ws *la.Workspace, tolerance float64) (*PseudoSamples, error) {
	l := m.places()
	n := l.entries()
	var parts []la.Matrix[float64] // of each group, n×rank
	var r int
	perm, scale := make([]int, n), make([]float64, n)
	for _, g := range m.Groups {
		a := g.Sums.Clone()
		for i := range n {
			scale[i] = math.Sqrt(max(a.At(i, i), least*g.Count))
			for j := range i + 1 {
				a.Row(i)[j] /= float64(scale[i] * scale[j])
			}
		}
		rank, err := la.CholeskyPivoted(ws, a, tolerance, perm)
		if err != nil {
			return nil, fmt.Errorf("stat: sums of %g samples: %w", g.Count, err)
		}
		part := la.NewMatrix[float64](n, rank)
		for i, to := range perm {
			row := part.Row(to)
			copy(row, a.Row(i)[:min(i+1, rank)])
			la.Scal(scale[to], row)
		}
		parts = append(parts, part)
		r += rank
	}

	s := &PseudoSamples{Targets: la.NewMatrix[float64](m.Outputs, r), Ones: make([]float64, r)}
	for _, d := range m.Views {
		s.Views = append(s.Views, la.NewMatrix[float64](d, r))
	}
	r = 0
	for i, g := range m.Groups {
		part := parts[i]
		for p := range s.Views {
			first, end := l.view(p)
			s.Views[p].Slice(0, end-first, r, r+part.Cols).CopyFrom(part.Slice(first, end, 0, part.Cols))
		}
		copy(s.Ones[r:], part.Row(l.one))
		for o, seen := range g.Observed {
			to := s.Targets.Row(o)[r : r+part.Cols]
			copy(to, part.Row(l.output(o)))
			if !seen {
				for j := range to {
					to[j] = math.NaN()
				}
			}
		}
		r += part.Cols
	}
	return s, nil
}
