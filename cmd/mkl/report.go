package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

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
	Sample int     `json:"sample"` // counted from 0
	At     string  `json:"at,omitempty"`
	Weight float64 `json:"weight"`
	SD     float64 `json:"sd"`
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

	active := 0
	sameNames := true
	for _, k := range r.Kernels {
		if k.Active {
			active++
		}
		sameNames = sameNames && k.View == k.Kernel
	}
	fmt.Fprintf(out, "%d of %s active\n", active, plural(len(r.Kernels), "kernel"))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, k := range r.Kernels {
		if k.Active {
			if !sameNames {
				fmt.Fprintf(w, "  %s\t", k.View)
			}
			fmt.Fprintf(w, "  %s\t%s\t± %s\t\n", k.Kernel, figure(k.Weight), figure(k.SD))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, t := range r.Targets {
		fmt.Fprintf(out, "\n%s: noise SD %s, %d of %s active\n", t.Name, figure(t.NoiseSD), len(t.Active), plural(r.Samples, "sample"))
		if t.Collapsed {
			fmt.Fprintf(out, "  COLLAPSED: all weights vanish and every prediction is the mean; try another -seed or -restarts\n")
		}
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		for i, s := range t.Active {
			if i == mostSamples {
				break
			}
			fmt.Fprintf(w, "  sample %d\t%s\t± %s\t", s.Sample+1, figure(s.Weight), figure(s.SD))
			if s.At != "" {
				fmt.Fprintf(w, "at %s\t", s.At)
			}
			fmt.Fprintln(w)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if more := len(t.Active) - mostSamples; more > 0 {
			fmt.Fprintf(out, "  … and %d more (-json lists all)\n", more)
		}
	}
	return nil
}

// figure prints a number with four digits.
func figure(x float64) string {
	if a := math.Abs(x); a >= 1e-3 && a < 1e5 {
		digits := max(0, 3-int(math.Floor(math.Log10(a))))
		return fmt.Sprintf("%.*f", digits, x)
	}
	return fmt.Sprintf("%.3g", x)
}

// fitWithProgress fits and shows the sweeps. A collapsed fit is a result, which
// the report tells.
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
	if errors.As(err, &collapsed) {
		return collapsed.Model, nil
	}
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	return model, err
}
