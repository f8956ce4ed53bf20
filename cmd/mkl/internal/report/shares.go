package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Share is the part of a kernel or a view in all weights, with its standard deviation, once weights are multiplied
// by the spreads of their kernels over the samples.
type Share struct {
	View, Kernel     string
	Member           string  // of a pool
	Weight, WeightSD float64 // in the model; not of a view
	Value, SD        float64
}

// Shares are the shares of the kernels and of the views of one output, or of all outputs that have the same weights.
type Shares struct {
	Output  string  // empty if all outputs have the same weights
	Kernels []Share // the largest first
	Views   []Share // the largest first
}

// Shares are the shares of all outputs with weights of their own, or of the weights that the outputs have in common.
// Without spreads weights count unchanged.
func (r *Report) Shares(spreads []float64) (all []Shares) {
	if r.pools { // each has kernels of its own
		first := 0
		for _, t := range r.Targets {
			own := spreads
			if spreads != nil {
				own = spreads[first : first+len(t.Kernels)]
			}
			first += len(t.Kernels)
			s := t.pool.sharesOf(t.Kernels, own)
			s.Output = t.Name
			all = append(all, s)
		}
		return all
	}
	if len(r.Targets) > 0 && r.Targets[0].Kernels != nil {
		for _, t := range r.Targets {
			s := r.sharesOf(t.Kernels, spreads)
			s.Output = t.Name
			all = append(all, s)
		}
		return all
	}
	return []Shares{r.sharesOf(r.Kernels, spreads)}
}

// sharesOf normalises weights. Their errors are taken to be independent and small:
// a share s = w/(w + o) with the others' sum o varies by (1−s)·dw − s·do, over the sum.
func (r *Report) sharesOf(kernels []Kernel, spreads []float64) Shares {
	var s Shares
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
		view = r.notes.ViewOf(view, k.Kernel)
		v, ok := at[view]
		if !ok {
			v = len(s.Views)
			at[view] = v
			s.Views, own = append(s.Views, Share{View: view}), append(own, 0)
		}
		s.Views[v].Value += size[i]
		own[v] += sd[i] * sd[i]
		one := Share{View: view, Kernel: rounded(k.Kernel), Member: member, Weight: float64(k.Weight), WeightSD: float64(k.SD)}
		if !r.est.Kernels() {
			one.Kernel = k.View
		}
		one.Value, one.SD = part(size[i], sd[i]*sd[i])
		s.Kernels = append(s.Kernels, one)
	}
	for v := range s.Views {
		s.Views[v].Value, s.Views[v].SD = part(s.Views[v].Value, own[v])
	}
	slices.SortStableFunc(s.Views, largestFirst)
	slices.SortStableFunc(s.Kernels, largestFirst)
	return s
}

// Merged adds up the shares of kernels of one label, which differ in their member of a pool.
func Merged(all []Share) (some []Share) {
	at := map[string]int{}
	for _, s := range all {
		i, ok := at[s.Label()]
		if !ok {
			at[s.Label()] = len(some)
			some = append(some, s)
			continue
		}
		some[i].Value += s.Value
		some[i].SD = math.Hypot(some[i].SD, s.SD)
	}
	slices.SortStableFunc(some, largestFirst)
	return some
}

func largestFirst(a, b Share) int { return cmp.Compare(b.Value, a.Value) }

// Label is what a picture calls a kernel.
func (s Share) Label() string {
	kernel := shortened(s.Kernel)
	if s.View == "" || s.View == s.Kernel || strings.HasPrefix(s.Kernel, s.View) {
		return kernel
	}
	return s.View + " " + kernel
}
