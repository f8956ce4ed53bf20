package gram

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Group is a set of views whose kernels are functions of one statistic, which
// is computed once for all of them.
type Group struct {
	input int
	sight Sight
	stat  kernel.Statistic
	basis la.Matrix[float64] // the basis points as the kernels see them; empty if given
	Views []int
}

// Regroup finds the views that share a statistic, after views or inputs have changed.
func (ds *Design) Regroup() {
	ds.Groups = nil
	for i := range ds.Views {
		v := &ds.Views[i]
		if v.IsFunction() {
			continue // it has no kernel
		}
		stat := v.Kernel.Statistic()
		var basis la.Matrix[float64]
		found := false
		for j := range ds.Groups {
			g := &ds.Groups[j]
			if g.input != v.Input || !g.sight.Equal(v.Sight) || stat.Widths != nil || g.stat.Widths != nil || g.stat.Kind == kernel.GivenStatistic {
				continue
			}
			basis = g.basis
			if g.stat.Kind == stat.Kind && stat.OfFeatures() {
				g.Views, found = append(g.Views, i), true
				break
			}
		}
		if found {
			continue
		}
		if in := &ds.Inputs[v.Input]; stat.Kind != kernel.GivenStatistic && basis.Data == nil {
			basis = in.Seen(in.Basis, v.Sight, stat.Widths)
		}
		ds.Groups = append(ds.Groups, Group{input: v.Input, sight: v.Sight, stat: stat, basis: basis, Views: []int{i}})
	}
}

// Train computes the kernel matrices of the training samples, D×N each, fills in
// the kernels' defaults and keeps the statistics that test kernels need.
func (t *Training) Train(ctx context.Context, workers int) ([]la.Matrix[float64], error) {
	if err := t.Prepare(ctx, workers); err != nil {
		return nil, err
	}
	ks, err := t.fill(ctx, workers)
	if err != nil {
		return nil, err
	}
	for i := range ks {
		if err := t.finish(i, ks[i]); err != nil {
			return nil, err
		}
	}
	return ks, nil
}

// trainEach is Train for one view at a time. It passes the matrix to use, which must not keep it.
func (t *Training) trainEach(ctx context.Context, workers int, use func(i int, k la.Matrix[float64]) error) error {
	if err := t.Prepare(ctx, workers); err != nil {
		return err
	}
	of := make([]Group, len(t.Views))
	for _, g := range t.Groups {
		for _, i := range g.Views {
			of[i] = g
			of[i].Views = []int{i}
		}
	}
	var room la.Matrix[float64]
	for i, g := range of {
		ks := make([]la.Matrix[float64], len(t.Views))
		err := t.fillGroup(ctx, workers, g, ks, func(rows, cols int) la.Matrix[float64] {
			if room.Rows == 0 {
				room = la.NewMatrix[float64](rows, cols)
			}
			return room
		})
		if err != nil {
			return err
		}
		if err := t.finish(i, ks[i]); err != nil {
			return err
		}
		if err := use(i, ks[i]); err != nil {
			return err
		}
	}
	return nil
}

// Prepare finds the groups, and fills in the kernels' defaults and the views' names.
func (t *Training) Prepare(ctx context.Context, workers int) error {
	t.Regroup()
	if err := t.Resolve(ctx, workers); err != nil {
		return err
	}
	t.nameViews()
	return nil
}

// fill computes the kernel matrices of the training samples before
// they are centred and normalised.
func (t *Training) fill(ctx context.Context, workers int) ([]la.Matrix[float64], error) {
	ks := make([]la.Matrix[float64], len(t.Views))
	for _, g := range t.Groups {
		if err := t.fillGroup(ctx, workers, g, ks, la.NewMatrix[float64]); err != nil {
			return nil, err
		}
	}
	return ks, nil
}

// fillGroup is fill for one group, in matrices that room makes.
func (t *Training) fillGroup(ctx context.Context, workers int, g Group, ks []la.Matrix[float64], room func(rows, cols int) la.Matrix[float64]) error {
	n := t.Samples()
	if g.stat.Kind == kernel.GivenStatistic {
		i := g.Views[0]
		x := t.sources[i].X
		if k, ok := t.borrow(i, x); ok {
			ks[i] = k
			return nil
		}
		ks[i] = room(t.D, n)
		t.fillGiven(i, x, ks[i])
		return nil
	}
	for _, i := range g.Views {
		ks[i] = room(n, n)
	}
	if err := t.fillSymmetric(ctx, workers, g, ks); err != nil {
		return err
	}
	if in := &t.Inputs[g.input]; in.Gaps {
		for _, i := range g.Views {
			t.Views[i].expect(ks[i], in.Lacking)
		}
	}
	return nil
}

// borrow returns the given matrix itself if it is the kernel matrix already; otherwise it
// returns false.
func (ds *Design) borrow(i int, x la.Matrix[float64]) (la.Matrix[float64], bool) {
	v := &ds.Views[i]
	if _, ok := v.Kernel.(kernel.Precomputed); !ok || v.Center || v.Normalize || x.Rows != x.Cols {
		return x, false
	}
	for r := range x.Rows {
		for c, value := range x.Row(r)[:r] {
			if value != x.At(c, r) {
				return x, false
			}
		}
	}
	return x, true
}

// fillGiven stores the kernel of a given matrix, samples × basis points, in k,
// basis points × samples.
func (ds *Design) fillGiven(i int, x la.Matrix[float64], k la.Matrix[float64]) {
	for s := range x.Rows {
		for d, v := range x.Row(s)[:k.Rows] {
			k.Data[d*k.Stride+s] = v
		}
	}
	for d := range k.Rows {
		ds.Views[i].Kernel.Apply(k.Row(d))
	}
}

// fillSymmetric computes the kernel matrices of a group: the lower triangle in
// row blocks, mirrored.
func (ds *Design) fillSymmetric(ctx context.Context, workers int, g Group, ks []la.Matrix[float64]) error {
	b := g.basis
	return inBlocks(ctx, workers, b.Rows, func() func(int, int) {
		ws := &la.Workspace{Workers: 1}
		return func(first, last int) {
			ds.fillBlock(ws, g, b.Slice(0, last, 0, b.Cols), first, last, ks)
			for _, i := range g.Views {
				mirrorBlock(ks[i], first, last)
			}
		}
	})
}

// fillBlock computes rows first … last−1 of a group's kernel matrices between
// the basis points and the samples x. The first view's matrix holds the
// statistic until the other views have copied it.
func (ds *Design) fillBlock(ws *la.Workspace, g Group, x la.Matrix[float64], first, last int, ks []la.Matrix[float64]) {
	stat := ks[g.Views[0]].Slice(first, last, 0, x.Rows)
	g.stat.Compute(ws, g.basis.Slice(first, last, 0, x.Cols), x, stat)
	for n := len(g.Views) - 1; n >= 0; n-- {
		k := ks[g.Views[n]].Slice(first, last, 0, x.Rows)
		if n > 0 {
			k.CopyFrom(stat)
		}
		for r := range k.Rows {
			ds.Views[g.Views[n]].Kernel.Apply(k.Row(r))
		}
	}
}

// mirrorBlock copies the part of rows first … last−1 that is left of the
// diagonal to its mirror image.
func mirrorBlock(k la.Matrix[float64], first, last int) {
	for c := range last {
		above := k.Row(c)
		for r := max(first, c+1); r < last; r++ {
			above[r] = k.Data[r*k.Stride+c]
		}
	}
}

// finish centres and normalises view i's training kernel and keeps what test
// kernels need.
func (t *Training) finish(i int, k la.Matrix[float64]) error {
	v := &t.Views[i]
	for d := range k.Rows {
		if s := vec.FirstNonFinite(k.Row(d)); s >= 0 {
			return fmt.Errorf("mkl: %s: the kernel of samples %d and %d is %g", t.Label(i), s, d, k.At(d, s))
		}
	}
	if p, ok := v.Kernel.(kernel.Precomputed); ok && k.Rows == k.Cols && !p.AllowIndefinite {
		if err := checkSemidefinite(k); err != nil {
			return fmt.Errorf("mkl: %s: X is %w", t.Label(i), err)
		}
	}
	if v.Center {
		v.centerTraining(k, t.Share)
	}
	if v.Normalize {
		if err := v.normalizeTraining(k); err != nil {
			return fmt.Errorf("mkl: %s: %w", t.Label(i), err)
		}
	}
	v.measure(k)
	if v.Largest == 0 {
		return fmt.Errorf("mkl: %s: the kernel is 0 for all samples", t.Label(i))
	}
	v.Derive()
	return nil
}
