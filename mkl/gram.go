package mkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// group is a set of views whose kernels are functions of one statistic, which
// is computed once for all of them.
type group struct {
	input int
	sight sight
	stat  statistic
	basis Features // the basis points as the kernels see them; empty if given
	views []int
}

// group finds the views that share a statistic.
func (ds *design) group() {
	ds.groups = nil
	for i := range ds.views {
		v := &ds.views[i]
		if v.isFunction() {
			continue // it has no kernel
		}
		stat := v.kernel.statistic()
		var basis Features
		found := false
		for j := range ds.groups {
			g := &ds.groups[j]
			if g.input != v.input || !g.sight.equal(v.sight) || stat.widths != nil || g.stat.widths != nil || g.stat.kind == given {
				continue
			}
			basis = g.basis
			if g.stat.kind == stat.kind && stat.kind < given {
				g.views, found = append(g.views, i), true
				break
			}
		}
		if found {
			continue
		}
		if in := &ds.inputs[v.input]; stat.kind != given && basis.Data == nil {
			basis = in.seen(in.basis, v.sight, stat.widths)
		}
		ds.groups = append(ds.groups, group{input: v.input, sight: v.sight, stat: stat, basis: basis, views: []int{i}})
	}
}

// train computes the kernel matrices of the training samples, D×N each, fills in
// the kernels' defaults and keeps the statistics that test kernels need.
func (ds *design) train(ctx context.Context, views []View, workers int) ([]la.Matrix[float64], error) {
	if err := ds.prepare(ctx, views, workers); err != nil {
		return nil, err
	}
	ks, err := ds.fill(ctx, views, workers)
	if err != nil {
		return nil, err
	}
	for i := range views {
		if err := ds.finish(i, views[i].label(i), ks[i]); err != nil {
			return nil, err
		}
	}
	return ks, nil
}

// trainEach is train for one view after the other, whose matrix use has until it returns.
func (ds *design) trainEach(ctx context.Context, views []View, workers int, use func(i int, k la.Matrix[float64]) error) error {
	if err := ds.prepare(ctx, views, workers); err != nil {
		return err
	}
	of := make([]group, len(views))
	for _, g := range ds.groups {
		for _, i := range g.views {
			of[i] = g
			of[i].views = []int{i}
		}
	}
	var room la.Matrix[float64]
	for i, g := range of {
		ks := make([]la.Matrix[float64], len(views))
		err := ds.fillGroup(ctx, workers, g, views, ks, func(rows, cols int) la.Matrix[float64] {
			if room.Rows == 0 {
				room = la.NewMatrix[float64](rows, cols)
			}
			return room
		})
		if err != nil {
			return err
		}
		if err := ds.finish(i, views[i].label(i), ks[i]); err != nil {
			return err
		}
		if err := use(i, ks[i]); err != nil {
			return err
		}
	}
	return nil
}

// prepare finds the groups, and fills in the kernels' defaults and the views' names.
func (ds *design) prepare(ctx context.Context, views []View, workers int) error {
	ds.group()
	if err := ds.resolve(ctx, views, workers); err != nil {
		return err
	}
	ds.nameViews()
	return nil
}

// fill computes the kernel matrices of the training samples as they are before
// they are centred and normalised.
func (ds *design) fill(ctx context.Context, views []View, workers int) ([]la.Matrix[float64], error) {
	ks := make([]la.Matrix[float64], len(views))
	for _, g := range ds.groups {
		if err := ds.fillGroup(ctx, workers, g, views, ks, la.NewMatrix[float64]); err != nil {
			return nil, err
		}
	}
	return ks, nil
}

// fillGroup is fill for one group, in matrices that room makes.
func (ds *design) fillGroup(ctx context.Context, workers int, g group, views []View, ks []la.Matrix[float64], room func(rows, cols int) la.Matrix[float64]) error {
	n := views[0].X.Rows
	if g.stat.kind == given {
		i := g.views[0]
		if k, ok := ds.borrow(i, views[i].X); ok {
			ks[i] = k
			return nil
		}
		ks[i] = room(ds.d, n)
		ds.fillGiven(i, views[i].X, ks[i])
		return nil
	}
	for _, i := range g.views {
		ks[i] = room(n, n)
	}
	if err := ds.fillSymmetric(ctx, workers, g, ks); err != nil {
		return err
	}
	if in := &ds.inputs[g.input]; in.gaps {
		for _, i := range g.views {
			ds.views[i].expect(ks[i], in.lacking)
		}
	}
	return nil
}

// borrow returns the given matrix itself if it is the kernel matrix already, and
// otherwise false.
func (ds *design) borrow(i int, x Features) (la.Matrix[float64], bool) {
	v := &ds.views[i]
	if _, ok := v.kernel.(Precomputed); !ok || v.center || v.normalize || x.Rows != x.Cols {
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
func (ds *design) fillGiven(i int, x Features, k la.Matrix[float64]) {
	for s := range x.Rows {
		for d, v := range x.Row(s)[:k.Rows] {
			k.Data[d*k.Stride+s] = v
		}
	}
	for d := range k.Rows {
		ds.views[i].kernel.apply(k.Row(d))
	}
}

// fillSymmetric computes the kernel matrices of a group: the lower triangle in
// row blocks, mirrored.
func (ds *design) fillSymmetric(ctx context.Context, workers int, g group, ks []la.Matrix[float64]) error {
	b := g.basis
	return inBlocks(ctx, workers, b.Rows, func() func(int, int) {
		ws := &la.Workspace{Workers: 1}
		return func(first, last int) {
			ds.fillBlock(ws, g, b.Slice(0, last, 0, b.Cols), first, last, ks)
			for _, i := range g.views {
				mirrorBlock(ks[i], first, last)
			}
		}
	})
}

// fillBlock computes rows first … last−1 of a group's kernel matrices between
// the basis points and the samples x. The first view's matrix holds the
// statistic until the other views have copied it.
func (ds *design) fillBlock(ws *la.Workspace, g group, x Features, first, last int, ks []la.Matrix[float64]) {
	stat := ks[g.views[0]].Slice(first, last, 0, x.Rows)
	g.stat.compute(ws, g.basis.Slice(first, last, 0, x.Cols), x, stat)
	for n := len(g.views) - 1; n >= 0; n-- {
		k := ks[g.views[n]].Slice(first, last, 0, x.Rows)
		if n > 0 {
			k.CopyFrom(stat)
		}
		for r := range k.Rows {
			ds.views[g.views[n]].kernel.apply(k.Row(r))
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

// finish centres and normalises view i's training kernel and keeps what its test
// kernels need.
func (ds *design) finish(i int, label string, k la.Matrix[float64]) error {
	v := &ds.views[i]
	for d := range k.Rows {
		if s := firstNonFinite(k.Row(d)); s >= 0 {
			return fmt.Errorf("mkl: %s: the kernel of samples %d and %d is %g", label, s, d, k.At(d, s))
		}
	}
	if p, ok := v.kernel.(Precomputed); ok && k.Rows == k.Cols && !p.AllowIndefinite {
		if err := checkSemidefinite(k); err != nil {
			return fmt.Errorf("mkl: %s: X is %w", label, err)
		}
	}
	if v.center {
		v.centerTraining(k, ds.share)
	}
	if v.normalize {
		if err := v.normalizeTraining(k); err != nil {
			return fmt.Errorf("mkl: %s: %w", label, err)
		}
	}
	v.measure(k)
	if v.largest == 0 {
		return fmt.Errorf("mkl: %s: the kernel is 0 for all samples", label)
	}
	v.derive()
	return nil
}
