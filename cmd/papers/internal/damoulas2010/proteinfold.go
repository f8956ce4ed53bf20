package damoulas2010

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// Proteinfold is Tables 1.7 to 1.9 and Figure 1.10 of the paper: protein folds from single sources and
// from growing sets of them.
type Proteinfold struct {
	flags    `embed:""`
	pictured `embed:""`

	Sweeps int    `default:"100" help:"Most sweeps of a fit (${default}, the paper's)."`
	Starts int    `default:"20" help:"Random starts (${default}, the paper's)."`
	Sizes  []int  `placeholder:"N" help:"Only the sets of so many sources; all sets unless given."`
	Kernel string `default:"unit" enum:"unit,unit-mean,mean" help:"Polynomials of global characteristics: (1 + x·y)² to unit diagonal (unit), (1 + x·y/D)² of D features to unit diagonal (unit-mean), or that as it is, and then x·y/D of alignment scores (mean)."`
}

// proteinCase is a set of sources, by their positions in
// [multiclass.ProteinSources].
type proteinCase struct {
	name, paper, best string
	sources           []int
}

// proteinNames are the short names of the sources.
var proteinNames = []string{"C", "S", "H", "P", "V", "Z", "λ1", "λ4", "λ14", "λ30", "SW1", "SW2"}

var proteinCases = func() []proteinCase {
	short := proteinNames
	single := []string{
		"51.2 ± 0.5", "38.1 ± 0.3", "32.5 ± 0.4", "32.2 ± 0.3", "32.8 ± 0.3", "33.2 ± 0.4",
		"41.5 ± 0.5", "41.5 ± 0.4", "38.0 ± 0.2", "32.0 ± 0.2", "59.8 ± 1.9", "49.0 ± 0.7",
	}
	growing := []string{
		"", "55.7 ± 0.5", "57.7 ± 0.6", "57.9 ± 0.9", "58.1 ± 0.8", "58.6 ± 1.1",
		"60.0 ± 0.8", "60.8 ± 1.1", "61.5 ± 1.2", "62.2 ± 1.3", "66.4 ± 0.8", "68.1 ± 1.2",
	}
	bests := map[int]string{6: "60.5", 10: "63.9", 12: "70"}
	var cases []proteinCase
	for i, name := range short {
		cases = append(cases, proteinCase{name, single[i], "", []int{i}})
	}
	name := short[0]
	for n := 2; n <= len(short); n++ {
		name += " " + short[n-1]
		cases = append(cases, proteinCase{name, growing[n-1], bests[n], multiclass.Sequence(0, n)})
	}
	return append(cases, proteinCase{"S H P V Z λ1 λ4 λ14 λ30", "61.0 ± 1.4", "63.5", multiclass.Sequence(1, 9)})
}()

// kernel returns a polynomial kernel between the rows of x and y.
func (c *Proteinfold) kernel(x, y la.Matrix[float64], degree int) la.Matrix[float64] {
	switch c.Kernel {
	case "mean":
		_, k := powerKernels(x, y, float64(degree-1), degree)
		return k
	case "unit-mean":
		x, y = x.Clone(), y.Clone()
		for _, m := range []la.Matrix[float64]{x, y} {
			for i := range m.Rows {
				la.Scal(1/math.Sqrt(float64(m.Cols)), m.Row(i))
			}
		}
	}
	return multiclass.UnitPolynomial(x, y, degree)
}

// Run runs the experiment.
func (c *Proteinfold) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Sweeps < 1 || c.Starts < 1 {
		return console.Inputf("-sweeps and -starts are at least 1")
	}
	cases := proteinCases
	if len(c.Sizes) > 0 {
		cases = nil
		for _, k := range proteinCases {
			if slices.Contains(c.Sizes, len(k.sources)) {
				cases = append(cases, k)
			}
		}
		if len(cases) == 0 {
			return console.Inputf("-sizes: there is no set of %v sources", c.Sizes)
		}
	}
	x, err := multiclass.Proteins(e, c.Data, c.kernel)
	if err != nil {
		return err
	}
	format, err := c.format()
	if err != nil {
		return err
	}
	if every := len(proteinNames); format != "" && len(c.Sizes) > 0 && !slices.Contains(c.Sizes, every) {
		return console.Inputf("-o draws the weights of all sources: -sizes leaves out %d", every)
	}
	rules := []probit.Rule{probit.RuleFixSum, probit.RuleWSum}
	var all []map[string]any
	rows := [][]string{{"sources", "rule", "accuracy %", "best", "stated", "best", "sweeps"}}
	weights := make([][]float64, c.Starts) // of all sources, nil where they were not learned
	fits := 0
	for _, k := range cases {
		fits += min(len(rules), len(k.sources))
	}
	p := console.NewProgress(e, c.JSON, fits*c.Starts, "fits")
	defer p.Finish()
	for _, k := range cases {
		var train, test []la.Matrix[float64]
		for _, s := range k.sources {
			train, test = append(train, x.Train[s]), append(test, x.Test[s])
		}
		dense, err := vi.NewDense(train...)
		if err != nil {
			return err
		}
		later, err := vi.NewDense(test...)
		if err != nil {
			return err
		}
		for _, rule := range rules[:min(len(rules), len(k.sources))] {
			right, sweeps := make([]float64, c.Starts), make([]float64, c.Starts)
			err := console.Each(e.Ctx, c.Workers, c.Starts, func(ctx context.Context, s int) error {
				fit, probability, err := c.fit(ctx, c.machine(rule, c.Sweeps, c.Seed+uint64(s)), dense, later, x.TrainClass)
				if err != nil {
					return err
				}
				right[s], sweeps[s] = 100-errorRate(probability, x.TestClass), float64(len(fit.Record.Trace))
				if len(k.sources) == len(multiclass.ProteinSources) && rule == probit.RuleWSum {
					weights[s] = fit.Posterior.State().Beta
				}
				p.Step()
				return nil
			})
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			f := newFigures(k.name, right, k.paper)
			f.Best = slices.Max(right)
			f.Sweeps, _ = measure.MeanSD(sweeps)
			all = append(all, map[string]any{"rule": rule.String(), "accuracy": f})
			rows = append(rows, []string{k.name, rule.String(), f.String(), fmt.Sprintf("%.1f", f.Best), k.paper, k.best, fmt.Sprintf("%.0f", f.Sweeps)})
		}
	}
	p.Finish()
	last := weights[0]
	if last != nil {
		if err := c.draw(e.Ctx, format, panel("weighted sum of all sources", proteinNames, weights)); err != nil {
			return err
		}
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{"experiment": "proteinfold-vbkc", "accuracy": all, "weights": last})
	}
	fmt.Fprintf(e.Stdout, "Protein folds (Tables 1.7 to 1.9), %s: accuracy %% ± deviation\n\n", console.Plural(c.Starts, "start"))
	if err := console.PrintTable(e.Stdout, "llrrrrr", rows); err != nil {
		return err
	}
	if last == nil {
		return nil
	}
	fmt.Fprint(e.Stdout, "\nweights of all sources, first start:")
	for s, b := range last {
		fmt.Fprintf(e.Stdout, " %s %.3f", multiclass.ProteinSources[s].Name, b)
	}
	fmt.Fprintln(e.Stdout)
	return c.name(e)
}
