package gram

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// LengthSlopes returns the lengths of each view's kernel, and the slopes of a bound with respect to their logarithms.
// boundGradient must call its argument with each m and ∂L/∂K_m. Kernel m belongs to view of[m] and has the matrix
// ks[of[m]], which is empty if its lengths were learned. Lengths and slopes are empty for kernels without lengths or with
// learned ones, and for views that are centred or normalised.
func (ds *Design) LengthSlopes(ks []la.Matrix[float64], of []int, boundGradient func(func(int, la.Matrix[float64])) error) (lengths, slopes [][]float64, err error) {
	lengths, slopes = make([][]float64, len(ds.Views)), make([][]float64, len(ds.Views))
	for i := range ds.Views {
		if ks[i].Rows > 0 {
			lengths[i] = ds.heldLengths(i)
		}
		slopes[i] = make([]float64, len(lengths[i]))
	}
	ws := &la.Workspace{}
	err = boundGradient(func(m int, g la.Matrix[float64]) {
		i := of[m]
		switch k := ds.Views[i].Kernel; {
		case len(lengths[i]) == 0:
		case sloped(k):
			ds.addPairSlopes(i, g, slopes[i])
		case kernel.Widths(k) == nil:
			if of, ok := k.(kernel.Decaying); ok {
				slopes[i][0] += oneLengthSlope(of, ks[i], g)
			} else {
				slopes[i][0] += ds.radialSlope(ws, i, g)
			}
		default:
			ds.addWidthSlopes(ws, i, ks[i], g, slopes[i])
		}
	})
	if err != nil {
		return nil, nil, fmt.Errorf("mkl: Slopes: %w", err)
	}
	return lengths, slopes, nil
}

// heldLengths returns the lengths of view i's kernel if their slopes can be computed, else nil.
func (ds *Design) heldLengths(i int) []float64 {
	v := &ds.Views[i]
	_, decays := v.Kernel.(kernel.Decaying)
	_, radial := v.Kernel.(kernel.Radial)
	if v.Center || v.Normalize || !decays && !radial && !sloped(v.Kernel) {
		return nil
	}
	lengths, _ := kernel.Lengths(v.Kernel)
	return slices.Clone(lengths)
}

// sloped reports whether the slopes of a kernel are computed for one pair of samples after the other.
func sloped(k kernel.Kernel) bool {
	_, is := k.(kernel.Sloped)
	return is
}

// addPairSlopes adds <g, ∂K/∂log ℓ> for each length ℓ of view i, whose kernel is [kernel.Sloped], to dst.
func (ds *Design) addPairSlopes(i int, g la.Matrix[float64], dst []float64) {
	v := &ds.Views[i]
	in := &ds.Inputs[v.Input]
	x := in.Seen(in.Basis, v.Sight, nil)
	of, one := v.Kernel.(kernel.Sloped), make([]float64, len(dst))
	for r := range x.Rows {
		for c := range x.Rows {
			of.Slopes(x.Row(r), x.Row(c), one)
			la.Axpy(g.At(r, c), one, dst)
		}
	}
}

// oneLengthSlope returns <g, ∂K/∂log w> of a kernel of one width. For K = exp(−(d/w)^c)
// it is −c·Σ g∘K∘log K.
func oneLengthSlope(of kernel.Decaying, k, g la.Matrix[float64]) (sum float64) {
	_, power := of.Decay()
	for i := range k.Rows {
		gs := g.Row(i)
		for j, v := range k.Row(i) {
			if v > 0 { // if v has underflowed its slope is 0 too
				sum -= float64(power * gs[j] * v * special.Log(v))
			}
		}
	}
	return sum
}

// radialSlope returns <g, ∂K/∂log w> of view i, whose kernel is radial with one width.
func (ds *Design) radialSlope(ws *la.Workspace, i int, g la.Matrix[float64]) (sum float64) {
	v := &ds.Views[i]
	in := &ds.Inputs[v.Input]
	x := in.Seen(in.Basis, v.Sight, nil)
	s := la.NewMatrix[float64](x.Rows, x.Rows)
	v.Kernel.Statistic().Compute(ws, x, x, s)
	fall := make([]float64, x.Rows)
	for r := range s.Rows {
		row := s.Row(r)
		copy(fall, row)
		v.Kernel.(kernel.Radial).Fall(fall)
		for c, f := range fall {
			sum += float64(g.At(r, c) * f * row[c])
		}
	}
	return sum
}

// addWidthSlopes adds <g, ∂K/∂log w_j> of view i, which has a width w_j for each
// feature, to dst. It overwrites g.
func (ds *Design) addWidthSlopes(ws *la.Workspace, i int, k, g la.Matrix[float64], dst []float64) {
	v := &ds.Views[i]
	in := &ds.Inputs[v.Input]
	l := learner{x: in.Seen(in.Basis, v.Sight, nil)}
	widths := kernel.Widths(v.Kernel)
	if l.manhattan = v.Kernel.Statistic().Kind == kernel.ManhattanDistance; l.manhattan {
		l.z = la.NewMatrix[float64](l.x.Cols, l.x.Rows)
	} else {
		l.z = la.NewMatrix[float64](l.x.Rows, l.x.Cols)
	}
	logs := make([]float64, len(widths))
	for j, w := range widths {
		logs[j] = special.Log(w)
	}
	l.scale(logs)
	for r := range g.Rows { // only the lower triangle of a symmetric matrix is read
		row := g.Row(r)
		for c := range r {
			row[c] = 0.5 * (row[c] + g.At(c, r))
		}
	}
	if of, ok := v.Kernel.(kernel.Radial); ok {
		k = la.NewMatrix[float64](k.Rows, k.Cols)
		v.Kernel.Statistic().Compute(ws, l.z, l.z, k)
		for r := range k.Rows {
			of.Fall(k.Row(r))
		}
	}
	slopes := make([]float64, len(widths))
	l.slope(ws, 1, g, k, slopes)
	la.Axpy(1, slopes, dst)
}
