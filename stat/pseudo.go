package stat

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// PseudoSamples are fewer samples with the sums of the true ones: with R the columns of
// their entries, T = R·Rᵀ for each pattern of missing targets. Every sum over samples that a
// regression needs is the same.
type PseudoSamples struct {
	Views   []la.Matrix[float64] // of view p, D_p×r
	Targets la.Matrix[float64]   // L×r, NaN where missing
	Ones    []float64            // r, what 1 for every sample has become; |Ones|² is the number of samples
}

// PseudoSamples factors T, entries divided by their [Group.Scale], by [la.CholeskyPivoted]:
// first that of the features and of 1, then what these leave of the targets, which get
// columns of their own. A pivot of not more than tolerance ends either; 0 means n·2⁻⁵³ for n
// entries, what rounding leaves. What is then left out of each element T_ij is at most
// tolerance·Scale_i·Scale_j.
//
// As nothing but the targets is in the last columns, no combination of features, however
// large, fits what of the targets the features of the samples do not, though there may be
// fewer pseudo-samples than features. Where those of the samples do fit a target, to within
// 2⁻²⁰ of its square or as there are fewer samples than entries, all entries are factored as
// one, which is then more accurate.
func (m *Moments) PseudoSamples(ws *la.Workspace, tolerance float64) (*PseudoSamples, error) {
	l := m.places()
	var parts []la.Matrix[float64] // of each group, n×rank
	var r int
	for _, g := range m.Groups {
		part, err := g.factor(ws, l, tolerance)
		if err != nil {
			return nil, fmt.Errorf("stat: sums of %g samples: %w", g.Count, err)
		}
		parts = append(parts, part)
		r += part.Cols
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

// fitted is the share of a target's square below which features count as having fitted it.
const fitted = 0x1p-20

// factor returns R, T = R·Rᵀ.
func (g Group) factor(ws *la.Workspace, l places, tolerance float64) (r la.Matrix[float64], err error) {
	n, features := l.entries(), l.one+1
	a, scale := g.Sums.Clone(), g.Scale
	for i := range n {
		for j := range i + 1 {
			a.Row(i)[j] /= float64(scale[i] * scale[j])
		}
	}
	if g.Count <= float64(n) {
		_, r, err = factor(ws, a, tolerance)
		return scaled(r, scale), err
	}
	first, rows, err := factor(ws, a.Slice(0, features, 0, features).Clone(), tolerance)
	if err != nil {
		return r, err
	}

	// With C the rows of the pivots, the targets' are Y = T_y·C⁻ᵀ, and T_yy − Y·Yᵀ is left.
	y, left := la.NewMatrix[float64](l.outputs, len(first)), a.Slice(features, n, features, n).Clone()
	c := la.NewMatrix[float64](len(first), len(first))
	for i, p := range first {
		copy(c.Row(i), rows.Row(p))
		for o := range l.outputs {
			y.Set(o, i, a.At(l.output(o), p))
		}
	}
	la.Trsm(ws, la.Right, la.Transpose, c, y)
	la.Syrk(ws, la.NoTrans, -1, y, 1, left)
	for o, seen := range g.Observed {
		if seen && left.At(o, o) < fitted {
			_, r, err = factor(ws, a, tolerance)
			return scaled(r, scale), err
		}
	}
	own, last, err := factor(ws, left, tolerance)
	if err != nil {
		return r, err
	}
	r = la.NewMatrix[float64](n, len(first)+len(own))
	r.Slice(0, features, 0, len(first)).CopyFrom(rows)
	r.Slice(features, n, 0, len(first)).CopyFrom(y)
	r.Slice(features, n, len(first), r.Cols).CopyFrom(last)
	return scaled(r, scale), nil
}

// scaled multiplies each row by its factor.
func scaled(r la.Matrix[float64], by []float64) la.Matrix[float64] {
	for i := range r.Rows {
		la.Scal(by[i], r.Row(i))
	}
	return r
}

// factor overwrites a with its pivoted factor, and returns the pivots and R, a = R·Rᵀ, in
// the order of a's rows.
func factor(ws *la.Workspace, a la.Matrix[float64], tolerance float64) (pivots []int, r la.Matrix[float64], err error) {
	perm := make([]int, a.Rows)
	rank, err := la.CholeskyPivoted(ws, a, tolerance, perm)
	if err != nil {
		return nil, r, err
	}
	r = la.NewMatrix[float64](a.Rows, rank)
	for i, to := range perm {
		copy(r.Row(to), a.Row(i)[:min(i+1, rank)])
	}
	return perm[:rank], r, nil
}
