package stat

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Map is an affine map of z. [Moments.Apply] applies it to sums over samples, after the pass. Views and
// outputs that are not listed are left out.
type Map struct {
	Views   []ViewMap   // the views of the result, in order
	Targets []TargetMap // the outputs of the result, in order
}

// ViewMap maps the entries k of a view to By·k + Shift.
type ViewMap struct {
	View  int                // index of the view
	By    la.Matrix[float64] // r×D_p; if empty, the identity
	Shift []float64          // r; if nil, 0
}

// TargetMap maps a target y to (y − Shift)/Scale.
type TargetMap struct {
	Output int     // index of the output
	Shift  float64 // in the target's unit
	Scale  float64 // in the target's unit; 0 means 1
}

// All returns the identity map of all views and outputs, which the caller can then change.
func (m *Moments) All() Map {
	var a Map
	for p := range m.Views {
		a.Views = append(a.Views, ViewMap{View: p})
	}
	for o := range m.Outputs {
		a.Targets = append(a.Targets, TargetMap{Output: o})
	}
	return a
}

// Standard returns the map that subtracts its mean from every entry of a view, and standardises every
// target to mean 0 and standard deviation 1. A target that does not vary, or has fewer than two
// observed values, keeps its scale.
func (m *Moments) Standard() Map {
	a := m.All()
	for p := range a.Views {
		a.Views[p].Shift = m.ViewMean(p)
		la.Scal(-1, a.Views[p].Shift)
	}
	for o := range a.Targets {
		n, mean, sd := m.Target(o)
		if n > 0 {
			a.Targets[o].Shift = mean
		}
		if sd > 0 && !math.IsInf(sd, 0) {
			a.Targets[o].Scale = sd
		}
	}
	return a
}

// Apply returns the moments of the mapped entries: with z' = A·z, T' = A·T·Aᵀ. Groups whose outputs in
// the result are missing in the same pattern are added. Apply returns an error if a view, an output or
// a shape of the map does not fit. A nil ws stands for a new workspace.
func (m *Moments) Apply(ws *la.Workspace, a Map) (*Moments, error) {
	if err := a.check(m); err != nil {
		return nil, err
	}
	to := &Moments{Outputs: len(a.Targets)}
	for _, v := range a.Views {
		to.Views = append(to.Views, v.rows(m))
	}
	index := map[uint64]int{}
	for _, g := range m.Groups {
		h := Group{Count: g.Count}
		for _, t := range a.Targets {
			h.Observed = append(h.Observed, g.Observed[t.Output])
		}
		for _, v := range a.Views {
			h.Self = append(h.Self, g.Self[v.View])
		}
		h.Sums = a.apply(ws, m.places(), to.places(), g)
		h.Scale = a.scales(m.places(), to.places(), g, h.Sums)
		if at, known := index[h.pattern()]; known {
			into := &to.Groups[at]
			into.Count += h.Count
			la.Axpy(1, h.Sums.Data, into.Sums.Data)
			for i, v := range h.Scale {
				into.Scale[i] = special.Hypot(into.Scale[i], v)
			}
			la.Axpy(1, h.Self, into.Self)
			continue
		}
		index[h.pattern()] = len(to.Groups)
		to.Groups = append(to.Groups, h)
	}
	return to, nil
}

// rows returns the number of entries of the mapped view.
func (v ViewMap) rows(m *Moments) int {
	if v.By.Rows > 0 {
		return v.By.Rows
	}
	return m.Views[v.View]
}

// check returns an error if the map does not fit.
func (a Map) check(m *Moments) error {
	if len(a.Views) == 0 {
		return fmt.Errorf("stat: Map.Views: none")
	}
	for i, v := range a.Views {
		switch {
		case v.View < 0 || v.View >= len(m.Views):
			return fmt.Errorf("stat: Map.Views[%d]: view %d of %d", i, v.View, len(m.Views))
		case v.By.Rows > 0 && (v.By.Cols != m.Views[v.View] || !v.By.Valid()):
			return fmt.Errorf("stat: Map.Views[%d].By: %d×%d where view %d has %d entries",
				i, v.By.Rows, v.By.Cols, v.View, m.Views[v.View])
		case v.Shift != nil && len(v.Shift) != v.rows(m):
			return fmt.Errorf("stat: Map.Views[%d].Shift: %d values for %d entries", i, len(v.Shift), v.rows(m))
		}
	}
	for i, t := range a.Targets {
		switch {
		case t.Output < 0 || t.Output >= m.Outputs:
			return fmt.Errorf("stat: Map.Targets[%d]: output %d of %d", i, t.Output, m.Outputs)
		case t.Shift-t.Shift != 0 || t.Scale-t.Scale != 0:
			return fmt.Errorf("stat: Map.Targets[%d]: shift %g, scale %g", i, t.Shift, t.Scale)
		}
	}
	return nil
}

// apply returns A·T·Aᵀ, computed from A·T.
func (a Map) apply(ws *la.Workspace, from, to places, g Group) la.Matrix[float64] {
	half := la.NewMatrix[float64](to.entries(), from.entries())
	ones := g.Sums.Row(from.one)
	for i, v := range a.Views {
		first, end := from.view(v.View)
		lo, hi := to.view(i)
		rows, part := half.Slice(lo, hi, 0, half.Cols), g.Sums.Slice(first, end, 0, half.Cols)
		if v.By.Rows > 0 {
			la.Gemm(ws, la.NoTrans, la.NoTrans, 1, v.By, part, 0, rows)
		} else {
			rows.CopyFrom(part)
		}
		for d, c := range v.Shift {
			la.Axpy(c, ones, rows.Row(d))
		}
	}
	copy(half.Row(to.one), ones)
	for i, t := range a.Targets {
		if g.Observed[t.Output] {
			row := half.Row(to.output(i))
			copy(row, g.Sums.Row(from.output(t.Output)))
			la.Axpy(-t.Shift, ones, row)
			la.Scal(1/t.scale(), row)
		}
	}

	sums := la.NewMatrix[float64](to.entries(), to.entries())
	for i, v := range a.Views { // column blocks, on and below the diagonal
		first, end := from.view(v.View)
		lo, hi := to.view(i)
		rows, part := sums.Slice(lo, sums.Rows, lo, hi), half.Slice(lo, half.Rows, first, end)
		if v.By.Rows > 0 {
			la.Gemm(ws, la.NoTrans, la.Transpose, 1, part, v.By, 0, rows)
		} else {
			rows.CopyFrom(part)
		}
		if v.Shift != nil {
			for r := range rows.Rows {
				la.Axpy(half.At(lo+r, from.one), v.Shift, rows.Row(r))
			}
		}
	}
	for r := to.one; r < sums.Rows; r++ {
		one := half.At(r, from.one)
		sums.Set(r, to.one, one)
		for i, t := range a.Targets {
			if g.Observed[t.Output] {
				sums.Set(r, to.output(i), (half.At(r, from.output(t.Output))-float64(t.Shift*one))/t.scale())
			}
		}
	}
	sums.MirrorLower()
	return sums
}

// scales returns the scales of the mapped entries.
func (a Map) scales(from, to places, g Group, sums la.Matrix[float64]) []float64 {
	one := g.Scale[from.one]
	out := make([]float64, to.entries())
	for i, v := range a.Views {
		first, _ := from.view(v.View)
		lo, hi := to.view(i)
		for d := range hi - lo {
			if v.By.Rows == 0 {
				out[lo+d] = g.Scale[first+d]
			} else {
				var square float64
				for j, b := range v.By.Row(d) {
					t := b * g.Scale[first+j]
					square += float64(t * t)
				}
				out[lo+d] = math.Sqrt(square)
			}
			if v.Shift != nil {
				out[lo+d] = special.Hypot(out[lo+d], v.Shift[d]*one)
			}
		}
	}
	out[to.one] = one
	for i, t := range a.Targets {
		out[to.output(i)] = special.Hypot(g.Scale[from.output(t.Output)], t.Shift*one) / math.Abs(t.scale())
	}
	for i, v := range out {
		out[i] = max(v, math.Sqrt(max(0, sums.At(i, i))))
	}
	return out
}

func (t TargetMap) scale() float64 {
	if t.Scale == 0 {
		return 1
	}
	return t.Scale
}
