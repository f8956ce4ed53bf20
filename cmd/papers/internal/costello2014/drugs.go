package costello2014

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// Drugs simulates a screen of the challenge's shape, from cell lines seen through several
// profiles, and compares models of the response to the drugs. Some profiles bear on the response. The
// truth is known; no figure of the paper, which is of measured responses, is comparable.
type Drugs struct {
	Sets    int     `default:"10" help:"Data sets to draw (${default})."`
	Lines   int     `default:"53" help:"Cell lines (${default})."`
	Train   int     `default:"35" help:"Lines to learn from; the others are predicted (${default})."`
	Drugs   int     `default:"35" help:"Drugs (${default})."`
	Missing float64 `default:"0.1" help:"Share of the responses that were not measured (${default})."`
	Noise   float64 `default:"0.6" help:"Standard deviation of a measurement's error; the true responses of a drug have 1 (${default})."`
	Sweeps  int     `default:"500" help:"Most sweeps of a fit (${default})."`
	Seed    uint64  `default:"1" help:"Seed of the first data set; the next ones count up."`
	Workers int     `help:"Most data sets at a time; 0 means one for each processor."`
	JSON    bool    `name:"json" help:"Print JSON."`
}

// source cites the paper.
const source = "Costello et al. (2014)"

// The profiles of a line: how many features each has, and whether the drugs depend on what
// it shows. The challenge had six: two are expression, and one of these repeats the other.
var profiles = []struct {
	name     string
	features int
	shows    bool
}{
	{"expression", 200, true}, {"sequencing", 200, true}, {"protein", 60, true},
	{"methylation", 200, false}, {"copies", 200, false}, {"mutations", 100, false},
}

// factors is how many hidden factors of a line each profile shows; expression and sequencing
// show the same.
const factors = 4

// screen is a simulated screen.
type screen struct {
	views    []mkl.Features
	truth    [][]float64 // drug, line: without error
	measured [][]float64 // with it
	given    [][]float64 // with it, of the lines to learn from; NaN where it is missing
}

// draw draws a screen. A drug's response is a sum over the factors that it depends on and
// over products of two of them, scaled to deviation 1 over the lines.
func (c *Drugs) draw(seed uint64) screen {
	src := rand.New(rand.NewPCG(seed, 0xd7))
	normal := func(rows, cols int) [][]float64 {
		x := make([][]float64, rows)
		for i := range x {
			x[i] = make([]float64, cols)
			for j := range x[i] {
				x[i][j] = src.NormFloat64()
			}
		}
		return x
	}
	var s screen
	hidden := map[string][][]float64{}
	for _, p := range profiles {
		z := normal(c.Lines, factors)
		if p.name == "sequencing" {
			z = hidden["expression"]
		}
		hidden[p.name] = z
		x, loading := la.NewMatrix[float64](c.Lines, p.features), normal(factors, p.features)
		for i := range c.Lines {
			for j := range p.features {
				v := src.NormFloat64() // a feature is half error
				for f := range factors {
					v += z[i][f] * loading[f][j] / math.Sqrt(factors)
				}
				x.Set(i, j, v)
			}
		}
		s.views = append(s.views, x)
	}
	for range c.Drugs {
		weights, pair := normal(2, factors), src.IntN(factors-1)
		truth := make([]float64, c.Lines)
		for i := range truth {
			e, p := hidden["expression"][i], hidden["protein"][i]
			for f := range factors {
				truth[i] += weights[0][f]*e[f] + 0.5*weights[1][f]*p[f]
			}
			truth[i] += e[pair] * e[pair+1]
		}
		truth = measure.Standardised(truth)
		measured, given := make([]float64, c.Lines), make([]float64, c.Lines)
		for i, v := range truth {
			measured[i] = v + c.Noise*src.NormFloat64()
			given[i] = math.NaN()
			missing := src.Float64() < c.Missing
			if i < c.Train && !(missing && i > 2) { // three at least are there
				given[i] = measured[i]
			}
		}
		s.truth, s.measured, s.given = append(s.truth, truth), append(s.measured, measured), append(s.given, given)
	}
	return s
}

// result is how a model did on one or several sets.
type result struct {
	Model       string          `json:"model"`
	Measures    console.Figures `json:"measures"`
	Unconverged int             `json:"unconverged,omitempty"` // fits
	Collapsed   int             `json:"collapsed,omitempty"`   // drugs whose predictions are their mean
	Seconds     float64         `json:"seconds"`
}

// Run runs the experiment.
func (c *Drugs) Run(e *console.Env) error {
	if c.Sets < 1 || c.Drugs < 1 || c.Train < 4 || c.Lines < c.Train+2 || c.Sweeps < 1 || c.Workers < 0 ||
		!(c.Missing >= 0 && c.Missing < 1) || !(c.Noise >= 0 && c.Noise < math.Inf(1)) {
		return console.Inputf("drugs: -sets, -drugs and -sweeps are at least 1, -train at least 4 and -lines two more, -missing is a share and -noise not negative")
	}
	p := console.NewProgress(e, c.JSON, c.Sets*len(learners), "fits")
	defer p.Finish()
	sets := make([][]result, c.Sets)
	err := console.Each(e.Ctx, c.Workers, len(sets), func(_ context.Context, i int) error {
		s := c.draw(c.Seed + uint64(i))
		for _, l := range learners {
			r, err := c.score(e, s, l)
			if err != nil {
				return fmt.Errorf("set %d: %s: %w", i+1, l.name, err)
			}
			sets[i] = append(sets[i], r)
			p.Step()
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.Finish()
	all := c.average(sets)
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{"experiment": "drugs", "simulated": true, "sets": c.Sets, "models": all, "shape of": source})
	}
	return c.print(e.Stdout, all)
}

// score learns from a screen by one model and measures what it predicts of the lines that it
// has not seen.
func (c *Drugs) score(e *console.Env, s screen, l learner) (result, error) {
	start := time.Now()
	told, err := l.learn(e.Ctx, c, s)
	if err != nil {
		return result{}, err
	}
	r := result{Model: l.name, Measures: console.Figures{}, Unconverged: told.unconverged, Collapsed: told.collapsed, Seconds: time.Since(start).Seconds()}
	var truth, predicted [][]float64
	var sd []float64
	for t := range c.Drugs {
		truth, predicted, sd = append(truth, s.measured[t][c.Train:]), append(predicted, told.mean[t][c.Train:]), append(sd, c.Noise)
		rmse, err := metrics.RMSE(s.truth[t][c.Train:], predicted[t])
		if err != nil {
			return r, err
		}
		r.Measures["RMSE"] += rmse / float64(c.Drugs)
		if told.variance != nil {
			covered, err := measure.Target(truth[t], predicted[t], told.variance[t][c.Train:], 0.95)
			if err != nil {
				return r, err
			}
			r.Measures["coverage"] += covered["coverage"] / float64(c.Drugs)
		}
	}
	if r.Measures["wpc"], err = metrics.WeightedConcordance(truth, predicted, sd); err != nil {
		return r, err
	}
	if told.weights != nil {
		var shows, sum float64
		for i, w := range told.weights {
			if profiles[i].shows {
				shows += math.Abs(w)
			}
			sum += math.Abs(w)
		}
		r.Measures["weight"] = shows / sum
	}
	return r, nil
}

// average returns the mean over the sets and, of the index, the standard error of its
// difference from the first model's.
func (c *Drugs) average(sets [][]result) []result {
	all := make([]result, len(learners))
	for l := range all {
		all[l] = result{Model: learners[l].name, Measures: console.Figures{}}
		var apart []float64
		for _, set := range sets {
			for name, v := range set[l].Measures {
				all[l].Measures[name] += v / float64(len(sets))
			}
			all[l].Unconverged += set[l].Unconverged
			all[l].Collapsed += set[l].Collapsed
			all[l].Seconds += set[l].Seconds / float64(len(sets))
			apart = append(apart, set[l].Measures["wpc"]-set[0].Measures["wpc"])
		}
		if len(sets) > 1 && l > 0 {
			_, sd := measure.MeanSD(apart)
			all[l].Measures["error"] = sd / math.Sqrt(float64(len(sets)))
		}
	}
	return all
}

// print prints the table.
func (c *Drugs) print(w io.Writer, all []result) error {
	fmt.Fprintf(w, "SIMULATED drug response in the shape of %s: %d lines, %d to learn from, %d drugs, %.0f %% of the responses missing, %d sets\n",
		source, c.Lines, c.Train, c.Drugs, 100*c.Missing, c.Sets)
	fmt.Fprint(w, "wpc is the weighted probabilistic concordance index, ± the standard error of its difference from the first row.\n")
	fmt.Fprint(w, "RMSE is from the responses without error, whose deviation is 1; coverage is of 95 % intervals; weight the share of the\n")
	fmt.Fprint(w, "kernel weights on the profiles that bear on the drugs.\n\n")
	rows := [][]string{{"", "wpc", "±", "RMSE", "coverage %", "weight %", "unconverged", "collapsed", "s a set"}}
	for _, r := range all {
		row := []string{r.Model}
		for _, f := range []struct {
			name, format string
			times        float64
		}{{"wpc", "%.4f", 1}, {"error", "%.4f", 1}, {"RMSE", "%.3f", 1}, {"coverage", "%.1f", 100}, {"weight", "%.0f", 100}} {
			if v, ok := r.Measures[f.name]; ok {
				row = append(row, fmt.Sprintf(f.format, f.times*v))
			} else {
				row = append(row, "")
			}
		}
		rows = append(rows, append(row, fmt.Sprint(r.Unconverged), fmt.Sprint(r.Collapsed), fmt.Sprintf("%.1f", r.Seconds)))
	}
	return console.PrintTable(w, "lrrrrrrrr", rows)
}
