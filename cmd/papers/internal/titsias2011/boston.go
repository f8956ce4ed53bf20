package titsias2011

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/papers/internal/boston"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/slab"
)

// Boston is Table 1 of the paper: how far paired and standard mean field are from
// the posterior means that a long Gibbs run finds, over many starts. The paper does not
// say which 456 rows it used, how columns were scaled, or how q(w̃) began: here inputs
// and targets have mean 0 and deviation 1 over the rows used, as the paper's bounds
// imply, and means begin as draws from the prior.
type Boston struct {
	Data      string  `placeholder:"FILE" help:"The data as CSV, the target in the last column; by default the data of the R package MASS, which are built in."`
	Rows      string  `default:"first" enum:"first,last,random,all" help:"Which rows: the first, last or random 456, or all (${default})."`
	Starts    int     `default:"300" help:"Starts of each kind (${default}), as in the paper."`
	Draws     int     `default:"50000" help:"Draws of each of the four Gibbs chains (${default})."`
	Tolerance float64 `default:"1e-9" help:"Relative rise of the bound that counts as none (${default})."`
	Seed      uint64  `default:"1" help:"Seed of starts and chains (${default})."`
	Workers   int     `help:"Most goroutines at work; 0 means one for each processor."`
	JSON      bool    `name:"json" help:"Print JSON."`
}

const bostonRows = 456

// The prior and the noise, which the experiment does not learn.
const (
	bostonPi       = 0.25
	bostonVariance = 1
	bostonNoise    = 0.1 // of the targets' variance
)

// interval is a mean and a central 95 % of the starts, by percentiles.
type interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func newInterval(x []float64) interval {
	x = slices.Sorted(slices.Values(x))
	percentile := func(p float64) float64 {
		at := p * float64(len(x)-1)
		i := min(int(at), max(0, len(x)-2))
		j := min(i+1, len(x)-1)
		return x[i] + (at-float64(i))*(x[j]-x[i])
	}
	mean, _ := measure.MeanSD(x)
	return interval{mean, percentile(0.025), percentile(0.975)}
}

func (v interval) print(format string) string {
	return fmt.Sprintf(format+" ["+format+", "+format+"]", v.Mean, v.Low, v.High)
}

// bostonCell is what one method did from all starts of one kind.
type bostonCell struct {
	Method       string   `json:"method"`
	Starts       string   `json:"starts"`
	Error        interval `json:"error"`
	Bound        interval `json:"bound"`
	Best         float64  `json:"best_bound"`
	BestError    float64  `json:"error_at_best_bound"`
	NotConverged int      `json:"not_converged"`
}

// bostonPaper is table 1.
var bostonPaper = []bostonCell{
	{Method: "MF", Starts: "soft", Error: interval{0.917, 0.002, 1.930}, Bound: interval{-628.9, -554.6, -793.5}},
	{Method: "MF", Starts: "extreme", Error: interval{1.880, 0.965, 2.561}, Bound: interval{-895.0, -618.9, -1483.3}},
	{Method: "PMF", Starts: "soft", Error: interval{0.208, 0.002, 0.454}, Bound: interval{-560.7, -557.8, -564.1}},
	{Method: "PMF", Starts: "extreme", Error: interval{0.204, 0.002, 0.454}, Bound: interval{-560.6, -557.8, -564.0}},
}

// bostonSampler is how a Gibbs sampler fared.
type bostonSampler struct {
	Name  string  `json:"sampler"`
	Draws int     `json:"draws"`
	ESS   float64 `json:"least_bulk_ess"`
	RHat  float64 `json:"largest_rhat"`
	MCSE  float64 `json:"sum_of_mcse"` // of the conditional means: the error that the truth adds
}

type bostonResult struct {
	Experiment string          `json:"experiment"`
	Rows       string          `json:"rows"`
	Inputs     []string        `json:"inputs"`
	Truth      []float64       `json:"posterior_mean"`
	Inclusion  []float64       `json:"inclusion"`
	Samplers   []bostonSampler `json:"samplers"`
	Cells      []bostonCell    `json:"cells"`
	Paper      []bostonCell    `json:"paper"`
}

// Run runs the experiment.
func (c *Boston) Run(e *console.Env) error {
	if c.Starts < 1 || c.Draws < 4 || c.Workers < 0 || !(c.Tolerance >= 0 && c.Tolerance < 1) {
		return console.Inputf("boston: -starts is at least 1, -draws at least 4, -workers is not negative, -tolerance is between 0 and 1")
	}
	names, x, y, err := c.read()
	if err != nil {
		return err
	}
	out := &bostonResult{Experiment: "boston", Rows: fmt.Sprintf("%s (%d)", c.Rows, x.Rows), Inputs: names, Paper: bostonPaper}
	prior := slab.Prior{Pi: bostonPi, Variance: bostonVariance}
	for _, standard := range []bool{false, true} {
		m := mcmc.SpikeSlab{Prior: prior, Noise: bostonNoise, Standard: standard, Sampling: mcmc.Sampling{
			Draws: c.Draws, BurnIn: min(c.Draws, 2000), Seed: c.Seed, Workers: c.Workers,
		}}
		d, err := m.Sample(e.Ctx, x, y)
		if err != nil {
			return err
		}
		s := bostonSampler{Name: "paired", Draws: d.Chains() * d.Len(), ESS: math.Inf(1)}
		if standard {
			s.Name = "standard"
		} else {
			out.Truth, out.Inclusion = d.Mean(), d.Inclusion()
		}
		conditional := d.Summary("mean")
		for k, w := range d.Summary("w") {
			s.ESS, s.RHat = min(s.ESS, w.BulkESS), max(s.RHat, w.RHat)
			s.MCSE += conditional[k].MCSE
		}
		out.Samplers = append(out.Samplers, s)
	}
	progress := console.NewProgress(e, c.JSON, 4*c.Starts, "fits")
	defer progress.Finish()
	for _, standard := range []bool{true, false} {
		for _, extreme := range []bool{false, true} {
			cell, err := c.cell(e, progress, x, y, out.Truth, standard, extreme)
			if err != nil {
				return err
			}
			out.Cells = append(out.Cells, cell)
		}
	}
	progress.Finish()
	if c.JSON {
		return console.PrintJSON(e.Stdout, out)
	}
	return out.print(e.Stdout)
}

// read returns the rows chosen, standardised.
func (c *Boston) read() (names []string, x la.Matrix[float64], y []float64, err error) {
	source, err := boston.Source()
	if c.Data != "" {
		file, ferr := os.Open(c.Data)
		if ferr != nil {
			return nil, x, nil, console.Input(ferr)
		}
		defer file.Close()
		source, err = table.New(c.Data, file, -1, table.Options{})
	}
	if err != nil {
		return nil, x, nil, console.Input(err)
	}
	names = source.Columns()
	M := len(names) - 1
	if M < 1 {
		return nil, x, nil, console.Inputf("%s: one column: inputs and a target are needed", source.Name())
	}
	var want []table.Want
	for j := range names {
		want = append(want, table.Want{Column: j})
	}
	d, err := table.Read(source, want)
	if err != nil {
		return nil, x, nil, console.Input(err)
	}
	rows := multiclass.Sequence(0, d.Rows)
	if c.Rows != "all" && d.Rows > bostonRows {
		switch c.Rows {
		case "last":
			rows = rows[d.Rows-bostonRows:]
		case "random":
			r := rand.New(rand.NewPCG(c.Seed, 0))
			r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			rows = slices.Sorted(slices.Values(rows[:bostonRows]))
		default:
			rows = rows[:bostonRows]
		}
	}
	x = la.NewMatrix[float64](len(rows), M)
	for j := range names {
		column := make([]float64, len(rows))
		for i, r := range rows {
			column[i] = d.Numbers[j][r]
		}
		column = measure.Standardised(column)
		if j == M {
			y = column
			break
		}
		for i, v := range column {
			if math.IsNaN(v) {
				return nil, x, nil, console.Inputf("%s: column %d %q: all values are the same", source.Name(), j+1, names[j])
			}
			x.Set(i, j, v)
		}
	}
	return names[:M], x, y, nil
}

// cell fits one method from every start of one kind. Both methods have the same
// starts.
func (c *Boston) cell(e *console.Env, p *console.Progress, x la.Matrix[float64], y, truth []float64, standard, extreme bool) (bostonCell, error) {
	cell := bostonCell{Method: "PMF", Starts: "soft"}
	kind := uint64(0)
	if standard {
		cell.Method = "MF"
	}
	if extreme {
		cell.Starts, kind = "extreme", 1
	}
	errs, bounds, reasons := make([]float64, c.Starts), make([]float64, c.Starts), make([]vi.Reason, c.Starts)
	err := console.Each(e.Ctx, c.Workers, c.Starts, func(ctx context.Context, i int) error {
		defer p.Step()
		r := rand.New(rand.NewPCG(c.Seed+uint64(i), kind))
		start := &slab.RegressionStart{}
		for range truth {
			g := r.Float64()
			if extreme {
				g = math.Round(g)
			}
			start.Inclusion = append(start.Inclusion, g)
			start.Mean = append(start.Mean, math.Sqrt(bostonVariance)*r.NormFloat64())
		}
		fit, err := slab.Regression{
			Prior: slab.Prior{Pi: bostonPi, Variance: bostonVariance}, Noise: bostonNoise,
			Held: slab.Held{Pi: true, Variance: true, Noise: true}, Standard: standard, Start: start,
			Ascent: vi.Ascent{Tolerance: c.Tolerance}, Plain: true, Workers: 1,
		}.Fit(ctx, x, y)
		if err != nil {
			return err
		}
		mean, _, _ := fit.Posterior.Weights()
		for m, w := range mean {
			errs[i] += math.Abs(w - truth[m])
		}
		bounds[i], reasons[i] = fit.Record.Bound(), fit.Record.Reason
		return nil
	})
	if err != nil {
		return cell, err
	}
	cell.Error, cell.Bound = newInterval(errs), newInterval(bounds)
	best := 0
	for i, b := range bounds {
		if b > bounds[best] {
			best = i
		}
		if reasons[i] != vi.Converged {
			cell.NotConverged++
		}
	}
	cell.Best, cell.BestError = bounds[best], errs[best]
	return cell, nil
}

func (r *bostonResult) print(out io.Writer) error {
	fmt.Fprintf(out, "Boston housing, table 1 of Titsias and Lázaro-Gredilla (2011): rows %s, standardised; σ² = %g, π = %g, σ_w² = %d\n\n",
		r.Rows, bostonNoise, bostonPi, bostonVariance)
	rows := [][]string{{"sampler", "draws", "least ESS", "largest R̂", "Σ MCSE of the means"}}
	for _, s := range r.Samplers {
		rows = append(rows, []string{s.Name, fmt.Sprint(s.Draws), fmt.Sprintf("%.0f", s.ESS), fmt.Sprintf("%.4f", s.RHat), fmt.Sprintf("%.5f", s.MCSE)})
	}
	if err := console.PrintTable(out, "lrrrr", rows); err != nil {
		return err
	}
	fmt.Fprintln(out)
	rows = [][]string{{"input", "E[w]", "P(w ≠ 0)"}}
	for m, name := range r.Inputs {
		rows = append(rows, []string{name, fmt.Sprintf("%.4f", r.Truth[m]), fmt.Sprintf("%.4f", r.Inclusion[m])})
	}
	if err := console.PrintTable(out, "lrr", rows); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nmeans over the starts, with 95 %% of them in brackets; the error is Σ |w − E[w]|\n\n")
	rows = [][]string{{"", "starts", "error", "paper", "bound", "paper", "best bound", "its error"}}
	for i, cell := range r.Cells {
		paper := r.Paper[i]
		rows = append(rows, []string{
			cell.Method, cell.Starts, cell.Error.print("%.3f"), paper.Error.print("%.3f"),
			cell.Bound.print("%.1f"), interval{paper.Bound.Mean, paper.Bound.High, paper.Bound.Low}.print("%.1f"),
			fmt.Sprintf("%.2f", cell.Best), fmt.Sprintf("%.3f", cell.BestError),
		})
	}
	if err := console.PrintTable(out, "llrrrrrr", rows); err != nil {
		return err
	}
	for _, cell := range r.Cells {
		if cell.NotConverged > 0 {
			fmt.Fprintf(out, "%s, %s starts: %s not converged\n", cell.Method, cell.Starts, console.Plural(cell.NotConverged, "fit"))
		}
	}
	return nil
}
