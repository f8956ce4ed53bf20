package main

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// spreadRows are the most rows by which the spreads of kernels are measured.
const spreadRows = 300

// share is the part of a kernel or a view in all weights, with its standard deviation, once weights
// are multiplied by the spreads of their kernels over the samples.
type share struct {
	view, kernel string
	member       string  // of a pool
	weight, wsd  float64 // as the model has it; not of a view
	value, sd    float64
}

// shares are those of the kernels and of the views of one output, or of all that have the same weights.
type shares struct {
	output  string // empty if all outputs have the same weights
	kernels []share
	views   []share // the largest first
}

// spreader is a model that can tell the spreads of its kernels.
type spreader interface {
	KernelSpreads(ctx context.Context, opt mkl.PredictOptions, x ...mkl.Features) ([]float64, error)
}

// spreads returns by what weights are to be multiplied, as the rows of x tell; nil if that is not known.
func (m *tested) spreads(e *console.Env, rng *rand.Rand) ([]float64, error) {
	model, ok := m.Model.(spreader)
	if !ok {
		return nil, nil
	}
	some := someRows(rng, len(m.kept), spreadRows)
	x := make([]mkl.Features, len(m.x))
	for i := range x {
		x[i] = m.x[i].TakeRows(some)
	}
	s, err := model.KernelSpreads(e.Ctx, m.options, x...)
	if err != nil || slices.ContainsFunc(s, math.IsNaN) {
		return nil, err
	}
	return s, nil
}

// newShares are the shares of all outputs with weights of their own, or of the weights that they have in
// common. Without spreads weights count as they are.
func newShares(r *report, n *notes, spreads []float64) (all []shares) {
	if len(r.Targets) > 0 && r.Targets[0].Kernels != nil {
		for _, t := range r.Targets {
			s := sharesOf(r, n, t.Kernels, spreads)
			s.output = t.Name
			all = append(all, s)
		}
		return all
	}
	return []shares{sharesOf(r, n, r.Kernels, spreads)}
}

// sharesOf normalises weights. Their errors are taken to be independent and small:
// a share s = w/(w + o) with the others' sum o varies by (1−s)·dw − s·do, over the sum.
func sharesOf(r *report, n *notes, kernels []kernelReport, spreads []float64) shares {
	var s shares
	size, sd := make([]float64, len(kernels)), make([]float64, len(kernels))
	var total, variance float64
	for i, k := range kernels {
		scale := 1.0
		if spreads != nil {
			scale = spreads[i]
		}
		size[i], sd[i] = math.Abs(float64(k.Weight))*scale, float64(k.SD)*scale
		if math.IsInf(sd[i], 0) {
			sd[i] = math.NaN()
		}
		total += size[i]
		variance += sd[i] * sd[i]
	}
	if total == 0 {
		total = 1
	}
	part := func(sum, own float64) (float64, float64) {
		p := sum / total
		return p, math.Sqrt((1-p)*(1-p)*own+p*p*max(0, variance-own)) / total
	}
	at, own := map[string]int{}, []float64(nil)
	for i, k := range kernels {
		member, view := r.memberOf(k.View)
		view = n.viewOf(view, k.Kernel)
		v, ok := at[view]
		if !ok {
			v = len(s.views)
			at[view] = v
			s.views, own = append(s.views, share{view: view}), append(own, 0)
		}
		s.views[v].value += size[i]
		own[v] += sd[i] * sd[i]
		one := share{view: view, kernel: shortened(k.Kernel), member: member, weight: float64(k.Weight), wsd: float64(k.SD)}
		if !r.est.kernels() {
			one.kernel = k.View
		}
		one.value, one.sd = part(size[i], sd[i]*sd[i])
		s.kernels = append(s.kernels, one)
	}
	for v := range s.views {
		s.views[v].value, s.views[v].sd = part(s.views[v].value, own[v])
	}
	slices.SortStableFunc(s.views, largestFirst)
	slices.SortStableFunc(s.kernels, largestFirst)
	return s
}

// viewOf returns the name of the command's view that a model's view is of; a kernel that needs no
// columns is of none and goes by its own name.
func (n *notes) viewOf(view, kernel string) string {
	switch {
	case slices.Contains(n.viewNames(), view):
		return view
	case len(n.viewNames()) == 1:
		return n.Views[0].Name
	}
	whole := ""
	for _, name := range n.viewNames() { // some columns of a view are of the view
		if strings.HasPrefix(view, name+" of ") && len(name) > len(whole) {
			whole = name
		}
	}
	return cmp.Or(whole, view, kernel)
}

// merged adds up the shares of kernels of one label, which differ in their member of a pool.
func merged(all []share) (some []share) {
	at := map[string]int{}
	for _, s := range all {
		i, ok := at[s.label()]
		if !ok {
			at[s.label()] = len(some)
			some = append(some, s)
			continue
		}
		some[i].value += s.value
		some[i].sd = math.Hypot(some[i].sd, s.sd)
	}
	slices.SortStableFunc(some, largestFirst)
	return some
}

func largestFirst(a, b share) int { return cmp.Compare(b.value, a.value) }

// label is what a picture calls a kernel.
func (s share) label() string {
	if s.view == "" || s.view == s.kernel || strings.HasPrefix(s.kernel, s.view) {
		return s.kernel
	}
	return s.view + " " + s.kernel
}
