package stat

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// PseudoSamples are r samples with the same sums as many samples: T = R·Rᵀ for each pattern of missing
// targets, where the columns of R are the entries of the pseudo-samples. Every sum over samples that a
// regression needs is therefore the same.
type PseudoSamples struct {
	Views   []la.Matrix[float64] // Views[p] is D_p×r
	Targets la.Matrix[float64]   // L×r; NaN if a target is missing
	Ones    []float64            // r: the entry that is 1 for a sample; |Ones|² is the number of samples
}

// PseudoSamples returns pseudo-samples with the sums of m. It factors T with [la.CholeskyPivoted],
// after dividing each entry by its [Group.Scale]: first the features and the entry 1, then the
// remainder of the targets, which get columns of their own.
//
// Each factorisation stops at a pivot of at most tolerance. A tolerance of 0 means n·2⁻⁵³ for n
// entries, the size of the rounding errors. The product R·Rᵀ then differs from T_ij by at most
// tolerance·Scale_i·Scale_j. PseudoSamples returns an error if a sum is not finite. A nil ws stands for
// a new workspace.
//
// The columns of the targets are 0 for all features. No combination of features can therefore fit the
// residuals of the targets, even if there are fewer pseudo-samples than features. If the features fit a
// target to within 2⁻²⁰ of its square, or there are at most as many samples as entries, all entries are
// factored together, which is then more accurate.
//
// The entries of a view are 0 in a group where its sums are rounding errors, as [Moments.Vanishes] says.
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

// fitted is the share of a target's square that features must leave unless they fit the target.
const fitted = 0x1p-20

// factor returns R with T = R·Rᵀ.
func (g Group) factor(ws *la.Workspace, l places, tolerance float64) (r la.Matrix[float64], err error) {
	n, features := l.entries(), l.one+1
	a, scale := g.Sums.Clone(), g.Scale
	for i := range n {
		for j := range i + 1 {
			a.Row(i)[j] /= float64(scale[i] * scale[j])
		}
	}
	for p := range l.first {
		if g.vanishes(l, p) {
			first, end := l.view(p)
			a.Slice(first, end, 0, n).Fill(0)
			a.Slice(0, n, first, end).Fill(0)
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

	// Let C be the rows of R at the pivots, and T_y the sums of targets and pivots. The rows of
	// the targets are Y = T_y·C⁻ᵀ, and the remainder of the targets is T_yy − Y·Yᵀ.
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

// leastRounding is how many units of 2⁻⁵³ sums of squares may be off however few the entries are: up to 25 after means
// of 200 000 samples were subtracted.
const leastRounding = 64

// Vanishes reports whether the sums of a view are rounding errors in every group: the square sum of each of its entries
// is at most max(n, 64)·2⁻⁵³·Scale², for n entries of all views, targets and 1. Such sums are left where the mean of
// constant entries is subtracted. A feature of the size of rounding errors still has products with other entries, to
// which the weight of a kernel may adapt. A fit is therefore given sums in which they are 0. It panics if there is no
// such view.
func (m *Moments) Vanishes(view int) bool {
	l := m.places()
	for _, g := range m.Groups {
		if !g.vanishes(l, view) {
			return false
		}
	}
	return true
}

// vanishes is Moments.Vanishes for one group.
func (g Group) vanishes(l places, view int) bool {
	limit := float64(max(l.entries(), leastRounding)) * 0x1p-53
	first, end := l.view(view)
	for i := first; i < end; i++ {
		if !(g.Sums.At(i, i)/float64(g.Scale[i]*g.Scale[i]) <= limit) {
			return false
		}
	}
	return true
}

// scaled multiplies row i of r by by[i].
func scaled(r la.Matrix[float64], by []float64) la.Matrix[float64] {
	for i := range r.Rows {
		la.Scal(by[i], r.Row(i))
	}
	return r
}

// factor overwrites a with its pivoted factor. It returns the pivots and R, a = R·Rᵀ, with rows in the
// order of a.
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
