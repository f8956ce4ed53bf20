package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/vi"
)

// report is what a model holds, for people and for machines.
type report struct {
	Task      string         `json:"task"`
	Kind      string         `json:"kind"`              // what -model calls it
	Samples   int            `json:"samples"`           // basis points of the training; 0 if the model keeps none
	Classes   []string       `json:"classes,omitempty"` // of a classifier, in the order of its probabilities
	Bound     float64        `json:"bound,omitempty"`   // not of a sampled model
	Sweeps    int            `json:"sweeps"`            // of each chain if sampled
	Converged bool           `json:"converged"`
	Reason    string         `json:"reason"`
	Sampled   *sampled       `json:"sampled,omitempty"`
	Kernels   []kernelReport `json:"kernels"` // of a sparse regression its features
	Targets   []targetReport `json:"targets"`
	Trace     []float64      `json:"trace,omitempty"`
	Model     string         `json:"model,omitempty"` // file
}

// sampled says how well chains have mixed, by the worst of the kernel weights and
// the classes' mean log precisions.
type sampled struct {
	Chains int     `json:"chains"`
	Draws  int     `json:"draws"` // of all chains
	RHat   float64 `json:"rhat"`
	ESS    float64 `json:"ess"` // effective draws
}

type kernelReport struct {
	View   string  `json:"view"`
	Kernel string  `json:"kernel"`
	Weight float64 `json:"weight"`
	SD     float64 `json:"sd"`
	Active bool    `json:"active"`

	Inclusion *float64 `json:"inclusion,omitempty"` // probability that the weight is not zero, if the model has one
}

type targetReport struct {
	Name      string         `json:"name"`
	NoiseSD   float64        `json:"noise_sd,omitempty"` // of a regression
	Prior     string         `json:"prior,omitempty"`    // of the kernels' scales, as learned, in words
	Collapsed bool           `json:"collapsed"`
	Kernels   []kernelReport `json:"kernels,omitempty"` // if each target has its own weights
	Active    []sampleReport `json:"active_samples"`
}

type sampleReport struct {
	Sample int      `json:"sample"`       // counted from 0
	At     []string `json:"at,omitempty"` // the sample, in words
	Weight float64  `json:"weight"`
	SD     float64  `json:"sd"`
}

func newReport(m model, n *notes) *report {
	t := m.Trace()
	r := &report{Task: n.Task, Kind: modelBMKL, Sweeps: t.Sweeps, Converged: t.Converged, Reason: t.Reason, Kernels: kernelReports(m.KernelWeights())}
	if b := m.Bound(); !math.IsNaN(b) {
		r.Bound = b
	}
	names := n.Targets
	if m, ok := m.(mkl.ClassModel[string]); ok {
		r.Classes = m.Classes()
		if names = r.Classes; len(names) == 2 {
			names = []string{names[1] + " against " + names[0]}
		}
	}
	switch m.Kind() {
	case "multigp", "multigp-classifier":
		r.Kind = modelMGP
	case "spike-slab":
		r.Kind = modelSpikeSlab
	case "probit-classifier":
		r.Kind, names = modelProbit, r.Classes
	}
	if x := t.Mixing; x.Chains > 0 {
		r.Sampled = &sampled{Chains: x.Chains, Draws: x.Chains * x.Draws, RHat: x.RHat, ESS: x.ESS}
	}
	for o, out := range m.Outputs() {
		target := targetReport{Name: names[o], NoiseSD: out.NoiseSD, Prior: out.Prior, Kernels: kernelReports(out.Weights)}
		kernels := target.Kernels
		if kernels == nil {
			kernels = r.Kernels
		}
		for i := range out.Inclusion {
			kernels[i].Inclusion = &out.Inclusion[i]
		}
		if out.Active != nil {
			r.Samples = m.Samples()
		}
		for _, s := range out.Active {
			target.Active = append(target.Active, sampleReport{Sample: s.Sample, Weight: s.Mean, SD: s.SD})
		}
		r.Targets = append(r.Targets, target)
	}
	for _, o := range m.Collapsed() {
		r.Targets[o].Collapsed = true
	}
	return r
}

func kernelReports(weights []mkl.KernelWeight) (all []kernelReport) {
	for _, w := range weights {
		all = append(all, kernelReport{w.View, w.Kernel, w.Mean, w.SD, w.Active, nil})
	}
	return all
}

// part is what the weights are of.
func (r *report) part() string {
	if r.Kind == modelSpikeSlab {
		return "feature"
	}
	return "kernel"
}

// learned says what was learned of which targets.
func (r *report) learned(names []string) string {
	task := r.Task
	if r.Kind != modelBMKL {
		task += " (" + r.Kind + ")"
	}
	if len(names) > 5 {
		return task + " of " + plural(len(names), "target")
	}
	named := slices.Clone(names)
	for i, n := range named {
		if _, err := strconv.Atoi(n); err == nil { // a file without names
			named[i] = "column " + n
		}
	}
	return task + " of " + strings.Join(named, ", ")
}

// Up to mostTargets targets have their active samples listed one by one, up to
// mostSamples of them.
const (
	mostTargets = 4
	mostSamples = 20
)

func (r *report) print(out io.Writer) error {
	state := "converged after " + plural(r.Sweeps, "sweep")
	if !r.Converged {
		state = "NOT converged (" + r.Reason + ") after " + plural(r.Sweeps, "sweep")
	}
	if s := r.Sampled; s != nil {
		fmt.Fprintf(out, "%s of %s, %s kept\n", plural(s.Chains, "chain"), plural(r.Sweeps, "sweep"), plural(s.Draws, "draw"))
		if state = "they have mixed"; !r.Converged {
			state = "they have NOT mixed: let -draws or -thin be larger"
		}
		fmt.Fprintf(out, "%s; of weights and log precisions R̂ is at most %s, the effective draws are at least %.0f\n", state, figure(s.RHat), s.ESS)
	} else {
		fmt.Fprintf(out, "%s, lower bound %.2f nats\n", state, r.Bound)
	}

	own := len(r.Targets) > 0 && r.Targets[0].Kernels != nil
	if !own {
		fmt.Fprintln(out)
		if err := r.printKernels(out, r.Kernels); err != nil {
			return err
		}
	}
	for _, t := range r.Targets {
		fmt.Fprintf(out, "\n%s", t.Name)
		if t.NoiseSD > 0 {
			fmt.Fprintf(out, ": noise SD %s", figure(t.NoiseSD))
		}
		fmt.Fprintln(out)
		if t.Prior != "" {
			fmt.Fprintf(out, "prior %s\n", t.Prior)
		}
		if own {
			if err := r.printKernels(out, t.Kernels); err != nil {
				return err
			}
		}
		if r.Samples > 0 {
			fmt.Fprintf(out, "%d of %s active: weight ± SD\n", len(t.Active), plural(r.Samples, "sample"))
		}
		if t.Collapsed {
			fmt.Fprint(out, "  COLLAPSED: all weights vanish and every prediction is the mean")
			if r.Kind != modelMGP { // which has no random start
				fmt.Fprint(out, "; another -seed or -restarts may help")
			}
			fmt.Fprintln(out)
		}
		if len(r.Targets) > mostTargets {
			continue
		}
		listed := t.Active
		if len(listed) > mostSamples {
			listed = slices.Clone(listed)
			slices.SortStableFunc(listed, func(a, b sampleReport) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
			listed = listed[:mostSamples/2]
		}
		var rows [][]string
		for _, s := range listed {
			row := []string{"", fmt.Sprintf("row %d", s.Sample+1), figure(s.Weight), "± " + figure(s.SD)}
			rows = append(rows, append(row, s.At...))
		}
		if err := printTable(out, "lrrlrr", rows); err != nil {
			return err
		}
		if more := len(t.Active) - len(listed); more > 0 {
			fmt.Fprintf(out, "  … and %d smaller ones (-json lists all)\n", more)
		}
	}
	return nil
}

// printKernels prints the active kernels, or features.
func (r *report) printKernels(out io.Writer, kernels []kernelReport) error {
	named := false // whether views have names other than their kernels
	for _, k := range kernels {
		named = named || k.View != k.Kernel
	}
	var rows [][]string
	what := "weight ± SD"
	for _, k := range kernels {
		if k.Inclusion != nil {
			what = "weight ± SD, probability of being there"
		}
		if !k.Active {
			continue
		}
		row := []string{"", k.Kernel, figure(k.Weight), "± " + figure(k.SD), ""}
		switch {
		case r.Kind == modelSpikeSlab:
			row[1] = k.View
		case named:
			row[1] = k.View + "  " + k.Kernel
		}
		if k.Inclusion != nil {
			row[4] = fmt.Sprintf("%.3f", *k.Inclusion)
		}
		rows = append(rows, row)
	}
	fmt.Fprintf(out, "%d of %s active: %s\n", len(rows), plural(len(kernels), r.part()), what)
	return printTable(out, "llrll", rows)
}

// model is a fitted model.
type model = mkl.Model

// fitWithProgress fits and shows the sweeps. A collapsed fit is a result, which
// the report tells; other errors are of what was given to the fit, unless the bound fell
// or an update failed: the model of the sweeps before then comes with the error.
func fitWithProgress(e *env, quiet bool, fit func(func(mkl.Progress)) (model, error)) (model, error) {
	var bar *progress
	m, err := fit(func(p mkl.Progress) {
		if bar == nil {
			bar = newProgress(e, quiet, p.MaxSweeps*p.Starts, "sweeps at most")
		}
		if math.IsNaN(p.Bound) { // chains side by side
			bar.step()
			return
		}
		bar.set((p.Start-1)*p.MaxSweeps+p.Sweep, fmt.Sprintf("bound %.4f (%+.1e)", p.Bound, p.Rise))
	})
	if bar != nil {
		bar.finish()
	}
	var collapsed *mkl.CollapsedError
	var fell *vi.BoundError
	switch {
	case err == nil:
		return m, nil
	case errors.As(err, &collapsed):
		return collapsed.Model, nil
	case m != nil && e.ctx.Err() == nil:
		return m, err
	case errors.As(err, &fell):
		return nil, err
	}
	return nil, input(err)
}
