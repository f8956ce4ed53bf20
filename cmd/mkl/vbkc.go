package main

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// Protein folds by the multinomial probit kernel machine: Tables 1.7 to 1.9.

type reproduceVBKCCmd struct {
	probitFlags `embed:""`
	Sweeps      int    `default:"100" help:"Most sweeps of a fit (${default}, the paper's)."`
	Starts      int    `default:"20" help:"Random starts (${default}, the paper's)."`
	Sizes       []int  `placeholder:"N" help:"Only the sets of so many sources; all sets unless given."`
	Kernel      string `default:"unit" enum:"unit,unit-mean,mean" help:"Polynomials of global characteristics: (1 + x·y)² to unit diagonal (unit), (1 + x·y/D)² of D features to unit diagonal (unit-mean), or that as it is, and then x·y/D of alignment scores (mean)."`
}

// vbkcCase is a set of sources, by their positions in proteinSources.
type vbkcCase struct {
	name, paper, best string
	sources           []int
}

var vbkcCases = func() []vbkcCase {
	short := []string{"C", "S", "H", "P", "V", "Z", "λ1", "λ4", "λ14", "λ30", "SW1", "SW2"}
	single := []string{
		"51.2 ± 0.5", "38.1 ± 0.3", "32.5 ± 0.4", "32.2 ± 0.3", "32.8 ± 0.3", "33.2 ± 0.4",
		"41.5 ± 0.5", "41.5 ± 0.4", "38.0 ± 0.2", "32.0 ± 0.2", "59.8 ± 1.9", "49.0 ± 0.7",
	}
	growing := []string{
		"", "55.7 ± 0.5", "57.7 ± 0.6", "57.9 ± 0.9", "58.1 ± 0.8", "58.6 ± 1.1",
		"60.0 ± 0.8", "60.8 ± 1.1", "61.5 ± 1.2", "62.2 ± 1.3", "66.4 ± 0.8", "68.1 ± 1.2",
	}
	bests := map[int]string{6: "60.5", 10: "63.9", 12: "70"}
	var cases []vbkcCase
	for i, name := range short {
		cases = append(cases, vbkcCase{name, single[i], "", []int{i}})
	}
	name := short[0]
	for n := 2; n <= len(short); n++ {
		name += " " + short[n-1]
		cases = append(cases, vbkcCase{name, growing[n-1], bests[n], sequence(0, n)})
	}
	return append(cases, vbkcCase{"S H P V Z λ1 λ4 λ14 λ30", "61.0 ± 1.4", "63.5", sequence(1, 9)})
}()

// kernel returns a polynomial kernel between the rows of x and y.
func (c *reproduceVBKCCmd) kernel(x, y la.Matrix[float64], degree int) la.Matrix[float64] {
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
	return unitPolynomial(x, y, degree)
}

func (c *reproduceVBKCCmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Sweeps < 1 || c.Starts < 1 {
		return inputf("-sweeps and -starts are at least 1")
	}
	cases := vbkcCases
	if len(c.Sizes) > 0 {
		cases = nil
		for _, k := range vbkcCases {
			if slices.Contains(c.Sizes, len(k.sources)) {
				cases = append(cases, k)
			}
		}
		if len(cases) == 0 {
			return inputf("-sizes: there is no set of %v sources", c.Sizes)
		}
	}
	x, err := readProteins(e, c.Data, c.kernel)
	if err != nil {
		return err
	}
	rules := []probit.Rule{probit.FixSum, probit.WSum}
	var all []map[string]any
	rows := [][]string{{"sources", "rule", "accuracy %", "best", "stated", "best", "sweeps"}}
	var last []float64
	fits := 0
	for _, k := range cases {
		fits += min(len(rules), len(k.sources))
	}
	p := newProgress(e, c.JSON, fits*c.Starts, "fits")
	defer p.finish()
	for _, k := range cases {
		var train, test []la.Matrix[float64]
		for _, s := range k.sources {
			train, test = append(train, x.train[s]), append(test, x.test[s])
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
			var mu sync.Mutex
			group, ctx := errgroup.WithContext(e.ctx)
			group.SetLimit(processors(c.Workers))
			for s := range c.Starts {
				group.Go(func() error {
					fit, probability, err := c.fit(ctx, c.machine(rule, c.Sweeps, c.Seed+uint64(s)), dense, later, x.trainClass)
					if err != nil {
						return err
					}
					right[s], sweeps[s] = 100-errorRate(probability, x.testClass), float64(len(fit.Record.Trace))
					mu.Lock()
					defer mu.Unlock()
					if len(k.sources) == len(proteinSources) && rule == probit.WSum && s == 0 {
						last = fit.Posterior.State().Beta
					}
					p.step()
					return nil
				})
			}
			if err := group.Wait(); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			f := newFigures(k.name, right, k.paper)
			f.Best = slices.Max(right)
			f.Sweeps, _ = meanSD(sweeps)
			all = append(all, map[string]any{"rule": rule.String(), "accuracy": f})
			rows = append(rows, []string{k.name, rule.String(), f.String(), fmt.Sprintf("%.1f", f.Best), k.paper, k.best, fmt.Sprintf("%.0f", f.Sweeps)})
		}
	}
	p.finish()
	if c.JSON {
		return printJSON(e.stdout, map[string]any{"experiment": "proteinfold-vbkc", "accuracy": all, "weights": last})
	}
	fmt.Fprintf(e.stdout, "Protein folds (Tables 1.7 to 1.9), %s: accuracy %% ± deviation\n\n", plural(c.Starts, "start"))
	if err := printTable(e.stdout, "llrrrrr", rows); err != nil {
		return err
	}
	if last == nil {
		return nil
	}
	fmt.Fprint(e.stdout, "\nweights of all sources, first start:")
	for s, b := range last {
		fmt.Fprintf(e.stdout, " %s %.3f", proteinSources[s].name, b)
	}
	fmt.Fprintln(e.stdout)
	return nil
}
