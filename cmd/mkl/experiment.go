package main

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// experiment is a problem of many classes with a split into training and test
// samples.
type experiment struct {
	name        string
	classes     int
	trainClass  []int
	testClass   []int
	train, test []la.Matrix[float64] // kernels: N×N, and N×T between training and test samples
}

// learner is one way to learn classes.
type learner struct {
	name string
	// fit returns the scores of the test samples, classes × samples, and the
	// sweeps of its longest fit. It counts fits of at most c.Sweeps sweeps each.
	fit func(e *env, c *classesFlags, x *experiment, p *progress) (scores [][]float64, sweeps int, converged bool, err error)
	// fits is the number of fits that fit makes.
	fits func(x *experiment) int
}

var learners = map[string]learner{
	"single": {
		"regression, one output at a time",
		fitSingle,
		func(x *experiment) int { return x.classes },
	},
	"multiple": {
		"regression, all outputs at once",
		fitMultiple,
		func(*experiment) int { return 1 },
	},
	"multiclass": {
		"multiclass classification",
		fitMulticlass,
		func(*experiment) int { return 1 },
	},
}

// classesFlags are the flags of the experiments with classes.
type classesFlags struct {
	Data      string      `required:"" placeholder:"DIR" help:"Folder with the data set's files."`
	Models    []string    `default:"single,multiple,multiclass" enum:"single,multiple,multiclass" help:"Models to fit: single and multiple (BMKLR on ±1), multiclass (BEMKL)."`
	Sweeps    int         `default:"200" help:"Most sweeps of a fit (${default}); the papers do not say how many they used."`
	Tolerance float64     `help:"Relative rise of the bound that counts as none; 0 means 1e-5."`
	Margin    float64     `default:"0" help:"Half the width of the gap between classes, on the scale of the scores (${default})."`
	Plain     bool        `help:"Do exactly the published updates."`
	Seed      uint64      `default:"1" help:"Seed of the random starts (${default})."`
	Workers   int         `help:"Most goroutines at work; 0 means one for each processor."`
	Memory    memory.Size `placeholder:"SIZE" help:"Refuse an experiment that needs more than this; by default what the machine has available."`
	JSON      bool        `name:"json" help:"Print JSON."`
}

func (c *classesFlags) check() error {
	if c.Sweeps < 1 || c.Workers < 0 || !(c.Tolerance >= 0 && c.Tolerance < 1) || !(c.Margin >= 0) {
		return inputf("-sweeps is at least 1, -workers and -margin are not negative, -tolerance is between 0 and 1")
	}
	return nil
}

func (c *classesFlags) ascent(p *progress) vi.Ascent {
	return vi.Ascent{MaxSweeps: c.Sweeps, Tolerance: c.Tolerance, Progress: func(vi.Progress) { p.step() }}
}

// checkMemory refuses an experiment of so many kernels, training samples, test
// samples and classes that needs more memory than it may take.
func (c *classesFlags) checkMemory(kernels, train, test, classes int) error {
	limit := c.Memory
	if limit == 0 {
		limit = memory.Available()
	}
	need := float64(mkl.Regression{Fitting: mkl.Fitting{Workers: c.Workers}}.EstimateMemory(mkl.Size{Samples: train, Kernels: kernels, Outputs: classes}))
	need += 8 * float64(kernels) * float64(train) * float64(test)
	need += 8 * float64(train) * float64(train+test) // a distance matrix
	if limit > 0 && need > float64(limit) {
		return inputf("the experiment needs about %v of memory, more than %v", memory.Size(need), limit)
	}
	return nil
}

// labels is +1 for the samples of a class and −1 for the others, a row for each
// class.
func (x *experiment) labels() la.Matrix[float64] {
	y := la.NewMatrix[float64](x.classes, len(x.trainClass))
	y.Fill(-1)
	for i, c := range x.trainClass {
		y.Set(c, i, 1)
	}
	return y
}

func (x *experiment) kernels() (train, test *vi.Dense, err error) {
	if train, err = vi.NewDense(x.train...); err != nil {
		return nil, nil, err
	}
	test, err = vi.NewDense(x.test...)
	return train, test, err
}

func rowsOf(m la.Matrix[float64]) [][]float64 {
	var out [][]float64
	for i := range m.Rows {
		out = append(out, m.Row(i))
	}
	return out
}

func fitSingle(e *env, c *classesFlags, x *experiment, p *progress) ([][]float64, int, bool, error) {
	train, test, err := x.kernels()
	if err != nil {
		return nil, 0, false, err
	}
	y := x.labels()
	scores := make([][]float64, x.classes)
	var mu sync.Mutex
	most, converged := 0, true
	group, ctx := errgroup.WithContext(e.ctx)
	group.SetLimit(processors(c.Workers))
	for o := range x.classes {
		group.Go(func() error {
			r := bemkl.Regression{Ascent: c.ascent(p), Plain: c.Plain, Seed: c.Seed, Workers: 1}
			fit, err := r.Fit(ctx, train, y.Slice(o, o+1, 0, y.Cols))
			if err != nil {
				return fmt.Errorf("class %d: %w", o+1, err)
			}
			mean, err := fit.Posterior.Predict(test, vi.PredictOptions{MeanOnly: true, Workers: 1})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			scores[o] = mean.Mean.Row(0)
			most = max(most, len(fit.Record.Trace))
			converged = converged && fit.Record.Reason == vi.Converged
			p.add(c.Sweeps - len(fit.Record.Trace))
			return nil
		})
	}
	return scores, most, converged, group.Wait()
}

func fitMultiple(e *env, c *classesFlags, x *experiment, p *progress) ([][]float64, int, bool, error) {
	train, test, err := x.kernels()
	if err != nil {
		return nil, 0, false, err
	}
	r := bemkl.Regression{Ascent: c.ascent(p), Plain: c.Plain, Seed: c.Seed, Workers: c.Workers}
	fit, err := r.Fit(e.ctx, train, x.labels())
	if err != nil {
		return nil, 0, false, err
	}
	p.add(c.Sweeps - len(fit.Record.Trace))
	mean, err := fit.Posterior.Predict(test, vi.PredictOptions{MeanOnly: true, Workers: c.Workers})
	if err != nil {
		return nil, 0, false, err
	}
	return rowsOf(mean.Mean), len(fit.Record.Trace), fit.Record.Reason == vi.Converged, nil
}

func fitMulticlass(e *env, c *classesFlags, x *experiment, p *progress) ([][]float64, int, bool, error) {
	train, test, err := x.kernels()
	if err != nil {
		return nil, 0, false, err
	}
	r := bemkl.Classification{Margin: c.Margin, Ascent: c.ascent(p), Plain: c.Plain, Seed: c.Seed, Workers: c.Workers}
	fit, err := r.Fit(e.ctx, train, x.labels())
	if err != nil {
		return nil, 0, false, err
	}
	p.add(c.Sweeps - len(fit.Record.Trace))
	prediction, err := fit.Posterior.Predict(test, vi.PredictOptions{Workers: c.Workers})
	if err != nil {
		return nil, 0, false, err
	}
	return rowsOf(prediction.Normalise()), len(fit.Record.Trace), fit.Record.Reason == vi.Converged, nil
}

// outcome is how a learner did on a split.
type outcome struct {
	Model     string  `json:"model"`
	Split     string  `json:"split"`
	Accuracy  float64 `json:"accuracy"`
	AUC       float64 `json:"auc"` // mean over the classes
	EER       float64 `json:"eer"` // mean over the classes
	Sweeps    int     `json:"sweeps"`
	Converged bool    `json:"converged"`
	Seconds   float64 `json:"seconds"`
}

// score measures the scores of the test samples, classes × samples: the share of
// samples whose highest score is that of their class, and the means over the
// classes that have test samples of the area and the equal error rate.
func (o *outcome) score(x *experiment, scores [][]float64) (err error) {
	best := make([]int, len(x.testClass))
	for i := range best {
		for class := range scores {
			if scores[class][i] > scores[best[i]][i] {
				best[i] = class
			}
		}
	}
	if o.Accuracy, err = metrics.Accuracy(x.testClass, best); err != nil {
		return err
	}
	present := 0.0
	for class := range x.classes {
		positive := make([]bool, len(x.testClass))
		for i, t := range x.testClass {
			positive[i] = t == class
		}
		if !slices.Contains(positive, true) {
			continue // a class without test samples has no curve
		}
		area, err := metrics.AUC(positive, scores[class])
		if err != nil {
			return err
		}
		rate, err := metrics.EqualErrorRate(positive, scores[class])
		if err != nil {
			return err
		}
		present++
		o.AUC, o.EER = o.AUC+area, o.EER+rate
	}
	o.AUC, o.EER = o.AUC/present, o.EER/present
	return nil
}

// meanSD returns the mean of x and its standard deviation with n−1, 0 for a
// single value.
func meanSD(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	if len(x) < 2 {
		return mean, 0
	}
	for _, v := range x {
		sd += float64((v-mean)*(v-mean)) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}

// paperFigure is what a paper states, beside which outcomes are printed.
type paperFigure struct {
	Model    string `json:"model"`
	Accuracy string `json:"accuracy,omitempty"`
	AUC      string `json:"auc,omitempty"`
	EER      string `json:"eer,omitempty"`
	Source   string `json:"source"`
}

// runExperiments fits every model to every split, made one after the other by
// next, and prints the table.
func (c *classesFlags) runExperiments(e *env, title string, splits int, next func(split int) (*experiment, error), paper []paperFigure, remarks ...string) error {
	var all []outcome
	for s := range splits {
		x, err := next(s)
		if err != nil {
			return err
		}
		for _, name := range c.Models {
			l := learners[name]
			p := newProgress(e, c.JSON, l.fits(x)*c.Sweeps, "sweeps at most, "+x.name+", "+l.name)
			begin := time.Now()
			scores, sweeps, converged, err := l.fit(e, c, x, p)
			p.finish()
			if err != nil {
				return fmt.Errorf("%s: %s: %w", x.name, l.name, err)
			}
			o := outcome{Model: name, Split: x.name, Sweeps: sweeps, Converged: converged, Seconds: time.Since(begin).Seconds()}
			if err := o.score(x, scores); err != nil {
				return err
			}
			all = append(all, o)
		}
	}
	if c.JSON {
		return printJSON(e.stdout, map[string]any{"experiment": title, "remarks": remarks, "outcomes": all, "papers": paper})
	}
	fmt.Fprintln(e.stdout, title)
	for _, r := range remarks {
		fmt.Fprintln(e.stdout, r)
	}
	fmt.Fprintln(e.stdout)
	return printTable(e.stdout, "llrrrlr", outcomeRows(all, paper))
}

// outcomeRows is the table of outcomes: splits, their mean and deviation, and
// what papers state.
func outcomeRows(all []outcome, paper []paperFigure) [][]string {
	rows := [][]string{{"model", "split", "accuracy %", "AUC", "EER", "sweeps", "seconds"}}
	byModel := map[string][]outcome{}
	var order []string
	for _, o := range all {
		if byModel[o.Model] == nil {
			order = append(order, o.Model)
		}
		byModel[o.Model] = append(byModel[o.Model], o)
	}
	for _, name := range order {
		os := byModel[name]
		var acc, auc, eer []float64
		for _, o := range os {
			sweeps := fmt.Sprint(o.Sweeps)
			if !o.Converged {
				sweeps += ", not converged"
			}
			rows = append(rows, []string{
				learners[name].name, o.Split, fmt.Sprintf("%.1f", 100*o.Accuracy),
				fmt.Sprintf("%.3f", o.AUC), fmt.Sprintf("%.3f", o.EER), sweeps, fmt.Sprintf("%.1f", o.Seconds),
			})
			acc, auc, eer = append(acc, 100*o.Accuracy), append(auc, o.AUC), append(eer, o.EER)
		}
		if len(os) > 1 {
			m, sd := meanSD(acc)
			a, _ := meanSD(auc)
			r, _ := meanSD(eer)
			rows = append(rows, []string{"", "mean ± SD", fmt.Sprintf("%.1f ± %.1f", m, sd), fmt.Sprintf("%.3f", a), fmt.Sprintf("%.3f", r)})
		}
	}
	for _, p := range paper {
		name := p.Model
		if l, ok := learners[name]; ok {
			name = l.name
		}
		rows = append(rows, []string{name, "stated: " + p.Source, p.Accuracy, p.AUC, p.EER})
	}
	return rows
}

// distanceKernels turns the distances between samples into the kernels
// exp(−d/s), s the mean distance over all pairs of training samples. Column j of
// d holds the distances of every sample to training sample j.
func distanceKernels(d la.Matrix[float64], train, test []int) (k, cross la.Matrix[float64], err error) {
	k, cross, err = scaledDistances(d, train, test)
	for _, m := range []la.Matrix[float64]{k, cross} {
		la.Scal(-1, m.Data)
		la.Exp(m.Data, m.Data)
	}
	return k, cross, err
}

// scaledDistances returns d/s between training samples, and between them and the
// test samples.
func scaledDistances(d la.Matrix[float64], train, test []int) (within, cross la.Matrix[float64], err error) {
	n := len(train)
	var sum float64
	for _, i := range train {
		var row float64
		for _, v := range d.Row(i) {
			row += v
		}
		sum += row / float64(n)
	}
	s := sum / float64(n)
	if !(s > 0) {
		return within, cross, fmt.Errorf("the mean distance is %g", s)
	}
	fill := func(samples []int) la.Matrix[float64] {
		m := la.NewMatrix[float64](n, len(samples))
		for j := range n {
			row := m.Row(j)
			for t, i := range samples {
				row[t] = d.At(i, j) / s
			}
		}
		return m
	}
	return fill(train), fill(test), nil
}
