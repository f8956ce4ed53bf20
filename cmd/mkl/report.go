package main

import (
	"cmp"
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
	Samples   int            `json:"samples"` // basis points of the training
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
}

type targetReport struct {
	Name      string         `json:"name"`
	NoiseSD   float64        `json:"noise_sd"`
	Collapsed bool           `json:"collapsed"`
	Active    []sampleReport `json:"active_samples"`
}

type sampleReport struct {
	Sample int      `json:"sample"`       // counted from 0
	At     []string `json:"at,omitempty"` // the sample, in words
	Weight float64  `json:"weight"`
	SD     float64  `json:"sd"`
}

func newReport(m *mkl.RegressionModel, targets []string) *report {
	t := m.Trace()
	_, _, samples := m.Posterior().Dims()
	r := &report{
		Task: "regression", Samples: samples,
		Bound: m.Bound(), Sweeps: t.Sweeps, Converged: t.Converged, Reason: t.Reason,
	}
	if len(targets) > 1 {
		r.Task = "multioutput"
	}
	for _, w := range m.KernelWeights() {
		r.Kernels = append(r.Kernels, kernelReport{w.View, w.Kernel, w.Mean, w.SD, w.Active})
	}
	noise := m.NoiseSD()
	for o, name := range targets {
		target := targetReport{Name: name, NoiseSD: noise[o]}
		for _, s := range m.ActiveSamples(o) {
			target.Active = append(target.Active, sampleReport{Sample: s.Sample, Weight: s.Mean, SD: s.SD})
		}
		r.Targets = append(r.Targets, target)
	}
	for _, o := range m.Collapsed() {
		r.Targets[o].Collapsed = true
	}
	return r
}

// mostSamples is how many active samples are listed one by one.
const mostSamples = 20

func (r *report) print(out io.Writer) error {
	state := "converged"
	if !r.Converged {
		state = "NOT converged (" + r.Reason + ")"
	}
	fmt.Fprintf(out, "%s after %s, lower bound %.2f nats\n\n", state, plural(r.Sweeps, "sweep"), r.Bound)

	named := false // whether views have names other than their kernels
	for _, k := range r.Kernels {
		named = named || k.View != k.Kernel
	}
	var rows [][]string
	for _, k := range r.Kernels {
		if !k.Active {
			continue
		}
		row := []string{"", k.Kernel, figure(k.Weight), "± " + figure(k.SD)}
		if named {
			row[1] = k.View + "  " + k.Kernel
		}
		rows = append(rows, row)
	}
	fmt.Fprintf(out, "%d of %s active: weight ± SD\n", len(rows), plural(len(r.Kernels), "kernel"))
	if err := printTable(out, "llrl", rows); err != nil {
		return err
	}
	for _, t := range r.Targets {
		fmt.Fprintf(out, "\n%s: noise SD %s\n%d of %s active: weight ± SD\n", t.Name, figure(t.NoiseSD), len(t.Active), plural(r.Samples, "sample"))
		if t.Collapsed {
			fmt.Fprintf(out, "  COLLAPSED: all weights vanish and every prediction is the mean; another -seed or -restarts may help\n")
		}
		listed := t.Active
		if len(listed) > mostSamples {
			listed = slices.Clone(listed)
			slices.SortStableFunc(listed, func(a, b sampleReport) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
			listed = listed[:mostSamples/2]
		}
		rows = nil
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

// fitWithProgress fits and shows the sweeps. A collapsed fit is a result, which
// the report tells; an error is what was given to the fit, unless the bound fell.
func fitWithProgress(e *env, quiet bool, r mkl.Regression, views []mkl.View, y ...[]float64) (*mkl.RegressionModel, error) {
	limit := r.MaxSweeps
	if limit <= 0 {
		limit = vi.DefaultMaxSweeps
	}
	bar := newProgress(e, quiet, limit*(1+r.Restarts), "sweeps at most")
	defer bar.finish()
	r.Progress = func(p mkl.Progress) {
		bar.set((p.Start-1)*p.MaxSweeps+p.Sweep, fmt.Sprintf("bound %.4f (%+.1e)", p.Bound, p.Rise))
	}
	model, err := r.Fit(e.ctx, views, y...)
	var collapsed *mkl.CollapsedError
	var fell *vi.BoundError
	switch {
	case errors.As(err, &collapsed):
		return collapsed.Model.(*mkl.RegressionModel), nil
	case errors.As(err, &fell):
		return nil, err
	}
	return model, input(err)
}
