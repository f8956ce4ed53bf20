package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/vi"
)

// report is what a model holds, for people and for machines.
type report struct {
	Task      string         `json:"task"`
	Samples   int            `json:"samples"`           // basis points of the training
	Classes   []string       `json:"classes,omitempty"` // of a classifier, in the order of its probabilities
	Bound     float64        `json:"bound"`
	Sweeps    int            `json:"sweeps"`
	Converged bool           `json:"converged"`
	Reason    string         `json:"reason"`
	Kernels   []kernelReport `json:"kernels"`
	Targets   []targetReport `json:"targets"`
	Trace     []float64      `json:"trace,omitempty"`
	Model     string         `json:"model,omitempty"` // file
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
	r := &report{Task: n.Task, Bound: m.Bound(), Sweeps: t.Sweeps, Converged: t.Converged, Reason: t.Reason}
	for _, w := range m.KernelWeights() {
		r.Kernels = append(r.Kernels, kernelReport{w.View, w.Kernel, w.Mean, w.SD, w.Active, nil})
	}
	names := n.Targets
	switch m := m.(type) {
	case *mkl.RegressionModel:
		_, _, r.Samples = m.Posterior().Dims()
	case *mkl.SharedRegressionModel:
		_, _, r.Samples = m.Posterior().Dims()
	case *mkl.ClassifierModel[string]:
		_, _, r.Samples = m.Posterior().Dims()
		r.Classes = m.Classes()
		if names = r.Classes; len(names) == 2 {
			names = []string{names[1] + " against " + names[0]}
		}
	case *mkl.MultiLabelModel:
		_, _, r.Samples = m.Posterior().Dims()
	}
	for o, name := range names {
		target := targetReport{Name: name}
		if m, ok := m.(regressionModel); ok {
			target.NoiseSD = m.NoiseSD()[o]
		}
		if m, ok := m.(*mkl.SharedRegressionModel); ok {
			for _, w := range m.TargetWeights(o) {
				target.Kernels = append(target.Kernels, kernelReport{w.View, w.Kernel, w.Mean, w.SD, w.Active, nil})
			}
		}
		if m, ok := m.(*mkl.MultiTaskModel); ok {
			kernels := m.KernelWeights()
			for i, w := range m.Weights(o) {
				p := w.Inclusion
				target.Kernels = append(target.Kernels, kernelReport{w.Name, kernels[i].Kernel, w.Mean, w.SD, kernels[i].Active && p >= 0.5, &p})
			}
		}
		if m, ok := m.(sampleWeights); ok {
			for _, s := range m.ActiveSamples(o) {
				target.Active = append(target.Active, sampleReport{Sample: s.Sample, Weight: s.Mean, SD: s.SD})
			}
		}
		r.Targets = append(r.Targets, target)
	}
	for _, o := range m.Collapsed() {
		r.Targets[o].Collapsed = true
	}
	return r
}

// Up to mostTargets targets have their active samples listed one by one, up to
// mostSamples of them.
const (
	mostTargets = 4
	mostSamples = 20
)

func (r *report) print(out io.Writer) error {
	state := "converged"
	if !r.Converged {
		state = "NOT converged (" + r.Reason + ")"
	}
	fmt.Fprintf(out, "%s after %s, lower bound %.2f nats\n\n", state, plural(r.Sweeps, "sweep"), r.Bound)

	own := len(r.Targets) > 0 && r.Targets[0].Kernels != nil
	if !own {
		if err := printKernels(out, r.Kernels); err != nil {
			return err
		}
	}
	for _, t := range r.Targets {
		fmt.Fprintf(out, "\n%s", t.Name)
		if t.NoiseSD > 0 {
			fmt.Fprintf(out, ": noise SD %s", figure(t.NoiseSD))
		}
		fmt.Fprintln(out)
		if own {
			if err := printKernels(out, t.Kernels); err != nil {
				return err
			}
		}
		if r.Samples > 0 {
			fmt.Fprintf(out, "%d of %s active: weight ± SD\n", len(t.Active), plural(r.Samples, "sample"))
		}
		if t.Collapsed {
			fmt.Fprintf(out, "  COLLAPSED: all weights vanish and every prediction is the mean; another -seed or -restarts may help\n")
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

// printKernels prints the active kernels.
func printKernels(out io.Writer, kernels []kernelReport) error {
	named := false // whether views have names other than their kernels
	for _, k := range kernels {
		named = named || k.View != k.Kernel
	}
	var rows [][]string
	for _, k := range kernels {
		if !k.Active {
			continue
		}
		row := []string{"", k.Kernel, figure(k.Weight), "± " + figure(k.SD)}
		if named {
			row[1] = k.View + "  " + k.Kernel
		}
		rows = append(rows, row)
	}
	fmt.Fprintf(out, "%d of %s active: weight ± SD\n", len(rows), plural(len(kernels), "kernel"))
	return printTable(out, "llrl", rows)
}

// regressionModel is a fitted regression of any kind.
type regressionModel interface {
	model
	Targets() int
	NoiseSD() []float64
	PredictTargets(ctx context.Context, opt mkl.PredictOptions, x ...mkl.Features) (*mkl.Prediction, error)
}

// sampleWeights is a model whose samples have weights.
type sampleWeights interface {
	ActiveSamples(target int) []mkl.SampleWeight
}

// model is a fitted model of a kind that the command knows.
type model interface {
	mkl.Model
	Collapsed() []int
}

// known returns a model as one that the command knows, if it does.
func known(m mkl.Model) (model, bool) {
	switch m := m.(type) {
	case *mkl.RegressionModel, *mkl.SharedRegressionModel, *mkl.MultiTaskModel, *mkl.ClassifierModel[string], *mkl.MultiLabelModel:
		return m.(model), true
	}
	return nil, false
}

// fitWithProgress fits and shows the sweeps. A collapsed fit is a result, which
// the report tells; an error is what was given to the fit, unless the bound fell.
func fitWithProgress(e *env, quiet bool, maxSweeps, restarts int, fit func(func(mkl.Progress)) (model, error)) (model, error) {
	if maxSweeps <= 0 {
		maxSweeps = vi.DefaultMaxSweeps
	}
	bar := newProgress(e, quiet, maxSweeps*(1+restarts), "sweeps at most")
	defer bar.finish()
	m, err := fit(func(p mkl.Progress) {
		bar.set((p.Start-1)*p.MaxSweeps+p.Sweep, fmt.Sprintf("bound %.4f (%+.1e)", p.Bound, p.Rise))
	})
	var collapsed *mkl.CollapsedError
	var fell *vi.BoundError
	switch {
	case err == nil:
		return m, nil
	case errors.As(err, &collapsed):
		if m, ok := collapsed.Model.(model); ok {
			return m, nil
		}
	case errors.As(err, &fell):
		return nil, err
	}
	return nil, input(err)
}
