// Package report says what a model learned, for people and for machines.
package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/mkl"
)

// Report is what a model learned.
type Report struct {
	Task      string   `json:"task"`
	Kind      string   `json:"kind"`              // what -model calls it
	Samples   int      `json:"samples"`           // training samples that the model keeps; 0 if it keeps none
	Classes   []string `json:"classes,omitempty"` // of a classifier, in the order of its probabilities
	Bound     float64  `json:"bound,omitempty"`   // not of a sampled model
	Sweeps    int      `json:"sweeps"`            // of each chain if sampled
	Converged bool     `json:"converged"`
	Reason    string   `json:"reason"`
	Sampled   *Sampled `json:"sampled,omitempty"`
	Members   []Member `json:"members,omitempty"` // of a pool
	Story     string   `json:"story,omitempty"`   // of a pool: what was tried, what was kept and why
	Views     []View   `json:"views,omitempty"`   // of a model of several views that has a table of them
	Groups    []Group  `json:"groups,omitempty"`  // of views, where a fit was given any

	ViewRemarks []string `json:"view_remarks,omitempty"` // of a model of times, counts or grades: on its table of the views

	Kernels []Kernel `json:"kernels"` // of a sparse regression its features
	Targets []Target `json:"targets"`
	Factors []Factor `json:"factors,omitempty"` // of a model of factors, by their shares

	Explained    []mkl.ViewVariance `json:"variance_explained,omitempty"` // of a model of factors of several views
	SampleGroups []SampleGroup      `json:"sample_groups,omitempty"`      // of a model of factors of several groups of rows

	Trace   []float64 `json:"trace,omitempty"`
	LeftOut *LeftOut  `json:"left_out,omitempty"` // of a fit
	Model   string    `json:"model,omitempty"`    // file

	ListSamples bool `json:"-"` // print the weights of samples
	ListKernels bool `json:"-"` // print the weights of kernels, of a pool too

	est      *model.Estimator
	notes    *notes.Notes
	kinds    bool   // some view of factors is not Gaussian
	evidence bool   // Bound is the log evidence
	weighted bool   // the model gives samples weights
	pools    bool   // every target has a pool of its own
	leftOut  string // effects of levels that could not be computed
	rows     int    // of a model of pairs: how many of the first kernels are of its rows; the others are of its columns
}

// Sampled says how well chains have mixed: R̂ is the largest and the effective draws are
// the least of all kernel weights and the classes' mean log precisions.
type Sampled struct {
	Chains int            `json:"chains"`
	Draws  int            `json:"draws"` // of all chains
	RHat   console.Number `json:"rhat"`
	ESS    console.Number `json:"ess"` // effective draws
}

// Member is a model of a pool with its share of the predictions.
type Member struct {
	Name   string  `json:"name"`
	Weight float64 `json:"weight"`
}

type Kernel struct {
	View   string         `json:"view"`
	Kernel string         `json:"kernel"`
	Weight console.Number `json:"weight"`
	SD     console.Number `json:"sd"`
	Active bool           `json:"active"`

	Inclusion *float64 `json:"inclusion,omitempty"` // probability that the weight is not zero, if the model has one
}

type Target struct {
	Name    string         `json:"name"`
	NoiseSD console.Number `json:"noise_sd,omitempty"` // of a regression

	NoiseFreedom console.Number `json:"noise_freedom,omitempty"` // of noise with heavy tails

	Law string `json:"law,omitempty"` // of times and counts: their distribution about the function, in words

	Prior     string   `json:"prior,omitempty"` // of the kernels' scales, as learned, in words
	Collapsed bool     `json:"collapsed"`
	Kernels   []Kernel `json:"kernels,omitempty"` // if each target has its own weights
	Active    []Sample `json:"active_samples"`

	Members []Member `json:"members,omitempty"`  // of a target with a pool of its own
	Story   string   `json:"story,omitempty"`    // of such a target: what was tried, what was kept and why
	Views   []View   `json:"views,omitempty"`    // of such a target with several views
	Groups  []Group  `json:"groups,omitempty"`   // likewise, of groups of views
	LeftOut *LeftOut `json:"left_out,omitempty"` // of a fit to several targets

	pool *Report // of a target with a pool of its own
}

type Sample struct {
	Sample int            `json:"sample"`       // counted from 0
	At     []string       `json:"at,omitempty"` // the sample, in words
	Weight console.Number `json:"weight"`
	SD     console.Number `json:"sd"`
}

// pool is a model that is a mixture of models.
type pool interface {
	Members() (names []string, weights []float64)
	Story() string
}

// tabled is a model that may have a table of its views.
type tabled interface {
	Views() []mkl.ViewShare
	Groups() []mkl.ViewGroupShare
}

// New reports on a model that an estimator fitted.
func New(est *model.Estimator, m mkl.Model, n *notes.Notes) *Report {
	t := m.Trace()
	r := &Report{
		Task: n.Task, Kind: est.Model, Samples: m.Samples(), Sweeps: t.Sweeps, Converged: t.Converged, Reason: t.Reason,
		est: est, notes: n,
	}
	if b := m.Bound(); !math.IsNaN(b) {
		r.Bound = b
	}
	if e, ok := m.(interface{ IsEvidence() bool }); ok {
		r.evidence = e.IsEvidence()
	}
	if x := t.Mixing; x.Chains > 0 {
		r.Sampled = &Sampled{Chains: x.Chains, Draws: x.Chains * x.Draws, RHat: console.Number(x.RHat), ESS: console.Number(x.ESS)}
	}
	if of, ok := m.(interface{ LevelsLeftOut() string }); ok {
		r.leftOut = of.LevelsLeftOut()
	}
	if pools, ok := m.(*mkl.AutoTargetsModel); ok {
		r.describePools(pools)
		return r
	}
	if pool, ok := m.(pool); ok {
		names, weights := pool.Members()
		for i, name := range names {
			r.Members = append(r.Members, Member{name, weights[i]})
		}
		r.Story = n.NameColumns(pool.Story())
	}
	if t, ok := m.(tabled); ok {
		r.Views, r.Groups = viewsOf(t.Views()), groupsOf(t.Groups())
	}
	if of, ok := m.(interface{ ViewRemarks() []string }); ok {
		r.ViewRemarks = of.ViewRemarks()
	}
	if f, ok := m.(*mkl.FactorAnalysisModel); ok {
		r.describeFactors(f)
		return r
	}
	outputs := m.Outputs()
	names := n.Targets
	if c, ok := m.(mkl.ClassModel[string]); ok {
		r.Classes = c.Classes()
		if _, grades := m.(*mkl.OrdinalModel[string]); grades { // one function for all
			names = n.Targets
		} else if names = r.Classes; len(outputs) == 1 {
			names = []string{names[1] + " against " + names[0]}
		}
	}
	shared := m.KernelWeights()
	if p, ok := m.(interface {
		SideWeights() (rows, columns []mkl.KernelWeight)
	}); ok {
		rows, _ := p.SideWeights()
		r.rows = len(rows)
	}
	r.Kernels = r.kernelsOf(shared, nil)
	for o, out := range outputs {
		target := Target{
			Name: names[o], NoiseSD: console.Number(out.NoiseSD), NoiseFreedom: console.Number(out.NoiseFreedom), Prior: out.Prior, Law: n.NameColumns(aboutFunction(m)),
		}
		if out.Weights != nil {
			target.Kernels = r.kernelsOf(out.Weights, out.Inclusion)
		} else if out.Inclusion != nil {
			r.Kernels = r.kernelsOf(shared, out.Inclusion)
		}
		r.weighted = r.weighted || out.Active != nil
		for _, s := range out.Active {
			target.Active = append(target.Active, Sample{Sample: s.Sample, Weight: console.Number(s.Mean), SD: console.Number(s.SD)})
		}
		r.Targets = append(r.Targets, target)
	}
	for _, o := range m.Collapsed() {
		r.Targets[o].Collapsed = true
	}
	return r
}

// kernelsOf reports on weights, with the probability of each to be there if the
// model has one.
func (r *Report) kernelsOf(weights []mkl.KernelWeight, inclusion []float64) (all []Kernel) {
	for i, w := range weights {
		view, kernel := r.notes.Names(w.View, w.Kernel)
		view, kernel = r.notes.NameColumns(view), r.notes.NameColumns(kernel)
		k := Kernel{View: view, Kernel: kernel, Weight: console.Number(w.Mean), SD: console.Number(w.SD), Active: w.Active}
		if inclusion != nil {
			k.Inclusion = &inclusion[i]
		}
		all = append(all, k)
	}
	return all
}

// Learned says what the fit learned of each target.
func (r *Report) Learned(names []string) string {
	task := r.Task
	if r.Kind != model.BMKL {
		task += " (" + r.Kind + ")"
	}
	if len(names) > 5 {
		return task + " of " + console.Plural(len(names), "target")
	}
	return task + " of " + strings.Join(console.ColumnNames(names), ", ")
}

// heading is the name of a target in the report. A class whose name is a number is called a class.
func (r *Report) heading(t Target) string {
	if len(r.Classes) > 2 {
		if _, err := strconv.ParseFloat(t.Name, 64); err == nil {
			return "class " + t.Name
		}
		return t.Name
	}
	return console.ColumnName(t.Name)
}

// With -samples the active samples of up to mostTargets targets are listed one by one; of a target
// with more than mostSamples, the mostSamples/2 with the largest weights.
const (
	mostTargets = 4
	mostSamples = 20
)

// Print prints how the fit ended, the weights of the kernels, and each target.
func (r *Report) Print(out io.Writer) error {
	fmt.Fprintln(out, r.Ended())
	if r.pools {
		return r.printPools(out)
	}
	if err := r.printViews(out); err != nil {
		return err
	}
	if r.Factors != nil {
		return r.printFactors(out)
	}
	if r.Story != "" {
		fmt.Fprintf(out, "\n%s", r.Story)
	}
	shared := len(r.Targets) == 0 || r.Targets[0].Kernels == nil // the targets have the same weights
	switch {
	case shared && r.est.Pairs:
		for _, side := range []struct {
			name    string
			kernels []Kernel
		}{{"rows", r.Kernels[:r.rows]}, {"columns", r.Kernels[r.rows:]}} {
			fmt.Fprintf(out, "\n%s: ", side.name)
			if err := r.printKernels(out, side.kernels); err != nil {
				return err
			}
		}
	case shared:
		fmt.Fprintln(out)
		if err := r.printKernels(out, r.Kernels); err != nil {
			return err
		}
	}
	for _, t := range r.Targets {
		if r.Members != nil && t.NoiseSD == 0 && !t.Collapsed {
			continue // a class of a pool: nothing to show
		}
		if err := r.printTarget(out, t, shared); err != nil {
			return err
		}
	}
	return nil
}

// printTarget prints what was learned of a target: its weights unless all targets have the same, and how many
// samples are active.
func (r *Report) printTarget(out io.Writer, t Target, shared bool) error {
	fmt.Fprintf(out, "\n%s", r.heading(t))
	if t.NoiseSD > 0 {
		fmt.Fprintf(out, ": noise SD %s", console.Figure(float64(t.NoiseSD)))
		if t.NoiseFreedom > 0 {
			fmt.Fprintf(out, ", heavy tails (Student-t of %s degrees of freedom)", console.Figure(float64(t.NoiseFreedom)))
		}
	}
	if t.Law != "" {
		fmt.Fprintf(out, ": %s", t.Law)
	}
	fmt.Fprintln(out)
	switch {
	case strings.HasPrefix(t.Prior, "no prior"):
		fmt.Fprintln(out, t.Prior)
	case t.Prior != "":
		fmt.Fprintf(out, "prior %s\n", t.Prior)
	}
	if r.vanished(t) {
		fmt.Fprintf(out, "no kernel active: no weight is above %s, and the function of the class is constant\n", console.Figure(t.largest()))
	} else if !shared {
		if err := r.printKernels(out, t.Kernels); err != nil {
			return err
		}
	}
	if r.weighted {
		what := ""
		if r.ListSamples {
			what = ": weight ± SD"
		}
		fmt.Fprintf(out, "%d of %s active%s\n", len(t.Active), console.Plural(r.Samples, "sample"), what)
	}
	if t.Collapsed {
		fmt.Fprint(out, "  COLLAPSED: all weights vanish and every prediction is the mean")
		if r.est.Takes("restarts") { // its start is random
			fmt.Fprint(out, "; another -seed or -restarts may help")
		}
		fmt.Fprintln(out)
	}
	if r.ListSamples && len(r.Targets) <= mostTargets {
		return t.printSamples(out)
	}
	return nil
}

// negligible is the variance below which a class's function is called constant, in the units of the noise
// of its score.
const negligible = 1e-6

// vanished reports whether a class has weights of its own and all of them are negligible: shares of such
// weights mean nothing.
func (r *Report) vanished(t Target) bool {
	return r.Classes != nil && !t.Collapsed && len(t.Kernels) > 0 && t.largest() < negligible
}

// largest is the size of the largest weight of the target's own.
func (t *Target) largest() (w float64) {
	for _, k := range t.Kernels {
		w = max(w, k.size())
	}
	return w
}

// Ended says how the fit ended, in one line or two.
func (r *Report) Ended() string {
	sweeps := console.Plural(r.Sweeps, "sweep")
	if s := r.Sampled; s != nil {
		state := "they have mixed"
		if !r.Converged {
			state = "they have " + notMixed
		}
		return fmt.Sprintf("%s of %s, %s kept\n%s; of weights and log precisions R̂ is at most %s, the effective draws are at least %.0f",
			console.Plural(s.Chains, "chain"), sweeps, console.Plural(s.Draws, "draw"), state, console.Figure(float64(s.RHat)), float64(s.ESS))
	}
	state := "converged after " + sweeps
	if !r.Converged {
		state = r.notConverged()
	}
	if r.Pooled() { // members have no common bound
		return state
	}
	what := "lower bound"
	if r.evidence {
		what = "log evidence"
	}
	return fmt.Sprintf("%s, %s %s nats", state, what, console.Figure(r.Bound))
}

const notMixed = "NOT mixed: let -draws or -thin be larger"

func (r *Report) notConverged() string {
	return "NOT converged (" + r.Reason + ") after " + console.Plural(r.Sweeps, "sweep")
}

// Unfinished says how a fit ended that did not converge.
func (r *Report) Unfinished() string {
	if r.Sampled != nil {
		return notMixed
	}
	return r.notConverged()
}

// Warn says of a fit that did not end well that it did not, and what could not be computed.
func (r *Report) Warn(out io.Writer) {
	if r.leftOut != "" {
		fmt.Fprintf(out, "mkl: warning: %s\n", r.leftOut)
	}
	switch {
	case r.Converged:
	case r.Sampled != nil:
		fmt.Fprintf(out, "mkl: warning: the chains have %s\n", r.Unfinished())
	default:
		fmt.Fprintf(out, "mkl: warning: the fit has %s\n", r.Unfinished())
	}
}

// printSamples lists the active samples, or the largest of them if they are many.
func (t *Target) printSamples(out io.Writer) error {
	listed := t.Active
	if len(listed) > mostSamples {
		listed = slices.Clone(listed)
		slices.SortStableFunc(listed, func(a, b Sample) int {
			return cmp.Compare(math.Abs(float64(b.Weight)), math.Abs(float64(a.Weight)))
		})
		listed = listed[:mostSamples/2]
	}
	var rows [][]string
	for _, s := range listed {
		row := []string{"", fmt.Sprintf("row %d", s.Sample+1), console.Figure(float64(s.Weight)), "± " + console.Uncertainty(float64(s.SD))}
		rows = append(rows, append(row, s.At...))
	}
	if err := console.PrintTable(out, "lrrlrr", rows); err != nil {
		return err
	}
	if more := len(t.Active) - len(listed); more > 0 {
		fmt.Fprintf(out, "  … and %d smaller ones (-json lists all)\n", more)
	}
	return nil
}

// printKernels prints the active kernels, or features; of a pool below the members that
// they are of. Kernels have their shares of all weights' sizes, the largest first.
func (r *Report) printKernels(out io.Writer, kernels []Kernel) error {
	some := func(is func(k Kernel) bool) bool { return slices.ContainsFunc(kernels, is) }
	named := some(func(k Kernel) bool { return k.View != k.Kernel }) // views have names other than their kernels
	deviations := some(func(k Kernel) bool { return k.SD > 0 })
	total, of, active := r.sizes(kernels)
	shares, what := r.est.Kernels(), "weight"
	if deviations {
		what = "weight ± SD"
	}
	if shares {
		what = "share, kernel, " + what
		kernels = slices.Clone(kernels)
		slices.SortStableFunc(kernels, func(a, b Kernel) int {
			return cmp.Or(cmp.Compare(r.place(a), r.place(b)), cmp.Compare(b.size(), a.size()))
		})
	}
	if some(func(k Kernel) bool { return k.Inclusion != nil }) {
		what += ", probability of being there"
	}
	if (len(r.Members) > 0 || r.Views != nil) && !r.ListKernels { // a user did not choose them, and members share views
		_, err := fmt.Fprintf(out, "%s active (-list-kernels lists them)\n", r.share(active, len(kernels)))
		return err
	}
	fmt.Fprintf(out, "%s active: %s\n", r.share(active, len(kernels)), what)

	member, small := "", 0
	var rows [][]string
	for _, k := range kernels {
		if !k.Active {
			continue
		}
		own, _ := r.memberOf(k.View)
		if shares && active > mostKernels && k.size() < smallShare*of[own] {
			small++
			continue
		}
		row := []string{"", "", r.kernelName(k, named), console.Figure(float64(k.Weight)), "", ""}
		if own != member && len(r.Members) > 1 {
			member, row[0] = own, "  "+own
		}
		if shares && total > 0 {
			row[1] = fmt.Sprintf("%.1f %%", 100*k.size()/total)
		}
		if deviations {
			row[4] = "± " + console.Uncertainty(float64(k.SD))
		}
		if k.Inclusion != nil {
			row[5] = fmt.Sprintf("%.3f", *k.Inclusion)
		}
		rows = append(rows, row)
	}
	if err := console.PrintTable(out, "lrlrll", rows); err != nil {
		return err
	}
	if small > 0 {
		what := ""
		if len(r.Members) > 1 {
			what = " of their member"
		}
		fmt.Fprintf(out, "  … and %d below %g %%%s (-json lists all)\n", small, 100*smallShare, what)
	}
	return nil
}

// sizes adds the sizes of all weights, and of each member of a pool by itself, and counts the active ones.
func (r *Report) sizes(kernels []Kernel) (total float64, of map[string]float64, active int) {
	of = map[string]float64{}
	for _, k := range kernels {
		own, _ := r.memberOf(k.View)
		total += k.size()
		of[own] += k.size()
		if k.Active {
			active++
		}
	}
	return total, of, active
}

// share says how many kernels, or features, of how many; of a pool also of how many members.
func (r *Report) share(active, all int) string {
	text := fmt.Sprintf("%d of %s", active, console.Plural(all, r.est.Part))
	if len(r.Members) > 1 {
		text += fmt.Sprintf(" of %d members", len(r.Members))
	}
	return text
}

// size is the size of the weight.
func (k Kernel) size() float64 { return math.Abs(float64(k.Weight)) }

// kernelName is how a list of weights calls a kernel, or a feature.
func (r *Report) kernelName(k Kernel, named bool) string {
	switch {
	case !r.est.Kernels():
		return k.View
	case r.Members != nil:
		_, view := r.memberOf(k.View)
		return viewAndKernel(view, k.Kernel)
	case named:
		return viewAndKernel(k.View, k.Kernel)
	}
	return shortened(k.Kernel)
}

// Where more than mostKernels are active, those with a share below smallShare, in a pool of their member, are counted and not listed.
const (
	mostKernels = 20
	smallShare  = 0.01
)

// viewAndKernel names both, unless the view's name begins with its kernel, or says no more than that the
// kernel's widths were learned.
func viewAndKernel(view, kernel string) string {
	family, _, _ := strings.Cut(view, "(")
	if settings, after, ok := strings.Cut(view, ")"); ok && strings.Contains(settings, "(ard") && strings.HasPrefix(kernel, family+"(") {
		return shortened(kernel) + after
	}
	if strings.HasPrefix(view, kernel) {
		return shortened(view)
	}
	return shortened(view) + "  " + shortened(kernel)
}

// place is the position of the member that a kernel is of, 0 without a pool.
func (r *Report) place(k Kernel) int {
	of, _ := r.memberOf(k.View)
	return slices.IndexFunc(r.Members, func(m Member) bool { return m.Name == of })
}

// memberOf splits the name of a pool's view into the member's and the view's own.
func (r *Report) memberOf(view string) (member, own string) {
	for _, m := range r.Members {
		if own, ok := strings.CutPrefix(view, m.Name+": "); ok {
			return m.Name, own
		}
	}
	return "", view
}

var (
	manyDigits = regexp.MustCompile(`\d*\.\d{4,}(e[+-]\d+)?|\d+\.\d+e[+-]\d+`)
	manyWidths = regexp.MustCompile(`\[((?:[^],]*,){4})[^]]*,[^]]*\]`)
)

// shortened is the notation of a kernel for people: numbers with four digits, and of
// more than five widths the first four.
func shortened(kernel string) string {
	return manyWidths.ReplaceAllString(rounded(kernel), "[$1…]")
}

// rounded is the notation of a kernel with numbers of four digits.
func rounded(kernel string) string {
	return manyDigits.ReplaceAllStringFunc(kernel, func(number string) string {
		x, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return number
		}
		return strconv.FormatFloat(x, 'g', 4, 64)
	})
}

// PrintTrace prints the lower bound after each sweep, if the report has it.
func (r *Report) PrintTrace(out io.Writer) error {
	if len(r.Trace) == 0 {
		return nil
	}
	fmt.Fprintln(out, "\nsweep  bound")
	for i, b := range r.Trace {
		fmt.Fprintf(out, "%5d  %.6f\n", i+1, b)
	}
	return nil
}
