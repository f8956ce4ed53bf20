package gonen2012

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/motorcycle"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// Motorcycle is section 5.1 of the paper: Gaussian kernels of widths 2^-10 … 2^10
// on the data scaled to mean 0 and deviation 1, with sparse priors on sample and
// kernel weights. The paper does not say which observation of a tied time it kept, if
// not all, nor which Gaussian "width" means; every combination is run.
type Motorcycle struct {
	Starts    int     `default:"10" help:"Random starts of each variant."`
	Sweeps    int     `default:"200" help:"Sweeps of the run in the published order; the paper does not say how many it used."`
	Limit     int     `default:"10000" help:"Most sweeps of the run to convergence."`
	Threshold float64 `default:"0.01" help:"A weight counts from this share of the largest."`
	Seed      uint64  `default:"1" help:"Seed of the first start; the next ones count up."`
	Workers   int     `help:"Most starts at a time; 0 means one for each processor."`
	JSON      bool    `name:"json" help:"Print JSON."`
}

// What the paper found: the kernels that stay, by their widths, and how many samples.
const (
	paperKernels = "2^-2 2^-1 2^1"
	paperSamples = 3
)

func motorcycleRegression() bemkl.Regression {
	sparse := vi.Gamma{Shape: 1e-10, Scale: 1e+10}
	return bemkl.Regression{Lambda: sparse, Omega: sparse, Workers: 1}
}

// motorcycleRun is what one start of one variant found.
type motorcycleRun struct {
	Seed      uint64  `json:"seed"`
	Kernels   string  `json:"kernels"` // the widths that stay, as powers of two
	Samples   int     `json:"samples"` // samples that stay
	Times     int     `json:"times"`   // distinct times among them
	RMSE      float64 `json:"rmse"`    // on the training samples, in target deviations
	Bound     float64 `json:"bound"`
	Sweeps    int     `json:"sweeps"`
	Reason    string  `json:"reason"`
	Collapsed bool    `json:"collapsed"`
}

// motorcycleVariant is one reading of the paper's experiment.
type motorcycleVariant struct {
	Rows  int             `json:"rows"`
	Gauss string          `json:"kernel"`
	Order string          `json:"order"`
	Runs  []motorcycleRun `json:"runs"`

	halve float64 // the kernel is exp(-d²/(halve·w²))
	x, y  []float64
	plain bool
}

// Run runs the experiment.
func (c *Motorcycle) Run(e *console.Env) error {
	if c.Starts < 1 || c.Sweeps < 1 || c.Limit < 1 || !(c.Threshold > 0 && c.Threshold <= 1) || c.Workers < 0 {
		return console.Inputf("motorcycle: -starts, -sweeps and -limit are at least 1, -threshold is above 0 and at most 1, -workers is not negative")
	}
	times, accel, err := motorcycle.Data()
	if err != nil {
		return err
	}
	var firstTimes, firstAccel []float64
	for i, t := range times {
		if i == 0 || t != times[i-1] {
			firstTimes, firstAccel = append(firstTimes, t), append(firstAccel, accel[i])
		}
	}
	var all []*motorcycleVariant
	for _, d := range []struct{ x, y []float64 }{{firstTimes, firstAccel}, {times, accel}} {
		for _, g := range []struct {
			name  string
			halve float64
		}{{"exp(-d²/w²)", 1}, {"exp(-d²/2w²)", 2}} {
			for _, plain := range []bool{true, false} {
				v := &motorcycleVariant{
					Rows: len(d.x), Gauss: g.name, Order: "to convergence",
					Runs:  make([]motorcycleRun, c.Starts),
					halve: g.halve, x: measure.Standardised(d.x), y: measure.Standardised(d.y), plain: plain,
				}
				if plain {
					v.Order = console.Plural(c.Sweeps, "sweep")
				}
				all = append(all, v)
			}
		}
	}
	progress := console.NewProgress(e, c.JSON, len(all)*c.Starts, "fits")
	defer progress.Finish()
	kernels := make([]*vi.Dense, len(all))
	for i, v := range all {
		if kernels[i], err = v.kernels(); err != nil {
			return err
		}
	}
	err = console.Each(e.Ctx, c.Workers, len(all)*c.Starts, func(_ context.Context, i int) error {
		defer progress.Step()
		variant, start := i/c.Starts, i%c.Starts
		return all[variant].run(e, c, kernels[variant], start)
	})
	if err != nil {
		return err
	}
	progress.Finish()
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{
			"experiment": "motorcycle",
			"paper":      map[string]any{"kernels": paperKernels, "samples": paperSamples},
			"threshold":  c.Threshold,
			"variants":   all,
		})
	}
	return c.print(e.Stdout, all)
}

func (v *motorcycleVariant) kernels() (*vi.Dense, error) {
	n := len(v.x)
	var all []la.Matrix[float64]
	for p := motorcycle.MinExponent; p <= motorcycle.MaxExponent; p++ {
		w := math.Ldexp(1, p)
		k := la.NewMatrix[float64](n, n)
		for i := range n {
			row := k.Row(i)
			for j := range row {
				d := (v.x[i] - v.x[j]) / w
				row[j] = -d * d / v.halve
			}
			la.Exp(row, row)
		}
		all = append(all, k)
	}
	return vi.NewDense(all...)
}

func (v *motorcycleVariant) run(e *console.Env, c *Motorcycle, kernels *vi.Dense, i int) error {
	r := motorcycleRegression()
	r.Seed, r.Plain = c.Seed+uint64(i), v.plain
	r.Ascent = vi.Ascent{Tolerance: 1e-5, MaxSweeps: c.Limit}
	if v.plain {
		r.Ascent = vi.Ascent{Tolerance: -1, MaxSweeps: c.Sweeps}
	}
	fit, err := r.Fit(e.Ctx, kernels, la.MatrixOf(1, len(v.y), v.y))
	if err != nil {
		return err
	}
	p, err := fit.Posterior.Predict(kernels, vi.PredictOptions{MeanOnly: true, Workers: 1})
	if err != nil {
		return err
	}
	var square float64
	for j, y := range v.y {
		square += float64((y - p.Mean.At(0, j)) * (y - p.Mean.At(0, j)))
	}
	weights, _ := fit.Posterior.KernelWeights()
	var widths []string
	for _, m := range above(weights, c.Threshold) {
		widths = append(widths, fmt.Sprintf("2^%d", motorcycle.MinExponent+m))
	}
	samples := above(fit.Posterior.State().A.Row(0), c.Threshold)
	kept := map[float64]bool{}
	for _, j := range samples {
		kept[v.x[j]] = true
	}
	v.Runs[i] = motorcycleRun{
		Seed:      r.Seed,
		Kernels:   strings.Join(widths, " "),
		Samples:   len(samples),
		Times:     len(kept),
		RMSE:      math.Sqrt(square / float64(len(v.y))),
		Bound:     fit.Record.Bound(),
		Sweeps:    len(fit.Record.Trace),
		Reason:    fit.Record.Reason.String(),
		Collapsed: len(fit.Collapsed) > 0,
	}
	return nil
}

// above returns the indices of the weights of at least the share of the largest.
func above(weights []float64, share float64) []int {
	var most float64
	for _, w := range weights {
		most = max(most, math.Abs(w))
	}
	var out []int
	for i, w := range weights {
		if most > 0 && math.Abs(w) >= share*most {
			out = append(out, i)
		}
	}
	return out
}

func (c *Motorcycle) print(out io.Writer, all []*motorcycleVariant) error {
	fmt.Fprintf(out, "Motorcycle, section 5.1 of Gönen (2012): 21 Gaussian kernels, widths 2^-10 … 2^10, sparse priors\n")
	fmt.Fprintf(out, "%s of each variant; a weight stays from %g of the largest; (n) counts starts\n\n", console.Plural(c.Starts, "start"), c.Threshold)
	rows := [][]string{
		{"rows", "kernel", "run", "kernels that stay", "samples", "at times", "RMSE", "bound", "beside the paper"},
		{"", "", "paper", paperKernels, fmt.Sprint(paperSamples)},
	}
	for _, v := range all {
		kernels := tally(v.Runs, func(r motorcycleRun) string {
			what := r.Kernels
			if r.Collapsed {
				what = "none: collapsed"
			}
			if r.Reason == vi.MaxSweeps.String() && !v.plain {
				what += " (not converged)"
			}
			return what
		})
		samples := tally(v.Runs, func(r motorcycleRun) string { return fmt.Sprint(r.Samples) })
		times := tally(v.Runs, func(r motorcycleRun) string { return fmt.Sprint(r.Times) })
		for i := range max(len(kernels), len(samples), len(times)) {
			row := make([]string, 9)
			if i == 0 {
				row[0], row[1], row[2] = fmt.Sprint(v.Rows), v.Gauss, v.Order
				row[6] = span(v.Runs, "%.3f", func(r motorcycleRun) float64 { return r.RMSE })
				row[7] = span(v.Runs, "%.1f", func(r motorcycleRun) float64 { return r.Bound })
				row[8] = v.verdict()
			}
			for k, t := range [][]string{kernels, samples, times} {
				if i < len(t) {
					row[3+k] = t[i]
				}
			}
			rows = append(rows, row)
		}
	}
	return console.PrintTable(out, "rllllllll", rows)
}

// verdict says in how many starts the paper's statement came out.
func (v *motorcycleVariant) verdict() string {
	kernels, samples := 0, 0
	for _, r := range v.Runs {
		if r.Kernels == paperKernels {
			kernels++
		}
		if r.Samples == paperSamples {
			samples++
		}
	}
	say := func(what string, n int) string {
		switch n {
		case len(v.Runs):
			return what + " agree"
		case 0:
			return what + " differ"
		}
		return fmt.Sprintf("%s agree in %d", what, n)
	}
	return say("kernels", kernels) + ", " + say("samples", samples)
}

// tally lists the values of the runs with their counts, the most frequent first.
func tally(runs []motorcycleRun, value func(motorcycleRun) string) []string {
	count := map[string]int{}
	for _, r := range runs {
		count[value(r)]++
	}
	var keys []string
	for k := range count {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s (%d)", k, count[k])
	}
	return keys
}

// span is the range of a figure over the runs.
func span(runs []motorcycleRun, format string, value func(motorcycleRun) float64) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, r := range runs {
		lo, hi = min(lo, value(r)), max(hi, value(r))
	}
	a, b := fmt.Sprintf(format, lo), fmt.Sprintf(format, hi)
	if a == b {
		return a
	}
	return a + " … " + b
}
