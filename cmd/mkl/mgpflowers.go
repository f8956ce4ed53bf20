package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/picture"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// The flowers of section 5 of Archambeau and Bach (2010): a classifier for each
// of the 102 classes against the rest, and the areas under their receiver
// operating characteristics. The paper does not say which features, kernels and
// split it used; those here are the four distance matrices, the kernels and the
// split of the experiment flowers102.

type reproduceMGPFlowersCmd struct {
	Data      string      `required:"" placeholder:"DIR" help:"Folder with the data set's files."`
	Priors    []string    `default:"student-t,gamma-variance,ard" enum:"student-t,laplace,gamma-variance,gig,ard" help:"Priors of the kernels' scales (${default})."`
	Curves    []int       `default:"102,96" help:"Classes whose curves to draw (${default}, those of the paper)."`
	Sweeps    int         `default:"200" help:"Most sweeps of a fit (${default}); the paper does not say how many it used."`
	Tolerance float64     `help:"Relative rise of the bound that counts as none; 0 means 1e-5."`
	Output    string      `short:"o" placeholder:"FILE" help:"Picture of the curves to write, .svg or .png."`
	Workers   int         `help:"Most classes at a time; 0 means one for each processor."`
	Memory    memory.Size `placeholder:"SIZE" help:"Refuse an experiment that needs more than this; by default what the machine has available."`
	JSON      bool        `name:"json" help:"Print JSON."`
}

// mgpPrior is a prior that the experiment can be run with.
type mgpPrior struct {
	name   string
	family mgp.Family
	paper  string // mean ± deviation of the areas
}

var mgpPriors = []mgpPrior{
	{"student-t", mgp.StudentT, ".948 ± .057"},
	{"laplace", mgp.Laplace, ""},
	{"gamma-variance", mgp.GammaVariance, ".957 ± .050"},
	{"gig", mgp.GeneralGIG, ""},
	{"ard", mgp.ARD, ".947 ± .058"},
}

// mgpOutcome is what one prior gave.
type mgpOutcome struct {
	Prior        string    `json:"prior"`
	AUC          []float64 `json:"auc"` // of the classes with test samples
	Sweeps       int       `json:"sweeps"`
	NotConverged int       `json:"not_converged"`
	Collapsed    int       `json:"collapsed"`
	Seconds      float64   `json:"seconds"`

	mgpPrior
	scores [][]float64 // class × test sample
}

func (c *reproduceMGPFlowersCmd) Run(e *env) error {
	if c.Sweeps < 1 || c.Workers < 0 || !(c.Tolerance >= 0 && c.Tolerance < 1) {
		return inputf("-sweeps is at least 1, -workers is not negative, -tolerance is between 0 and 1")
	}
	var format string
	if c.Output != "" {
		var err error
		if format, err = picture.Format(c.Output); err != nil {
			return input(err)
		}
		if err := atomicfile.Check(c.Output); err != nil {
			return input(err)
		}
	}
	x, err := readFlowers102(e, c.Data, c.checkMemory)
	if err != nil {
		return err
	}
	var all []mgpOutcome
	for _, p := range mgpPriors {
		if !slices.Contains(c.Priors, p.name) {
			continue
		}
		o, err := c.fit(e, x, p)
		if err != nil {
			return err
		}
		all = append(all, o)
	}
	if c.Output != "" {
		drawn, err := c.curves(x, all)
		if err != nil {
			return err
		}
		if err := atomicfile.Write(e.ctx, c.Output, func(w io.Writer) error { return drawn.Write(w, format) }); err != nil {
			return err
		}
	}
	chosen := []string{
		"four distance matrices, kernels exp(-d/s) with s the mean distance; training on the published training and validation images",
		"no bias; the score is the probability of the class; equal weights and a weak prior to start from, learned once the bound has settled",
	}
	if c.JSON {
		return printJSON(e.stdout, map[string]any{"experiment": "mgp-flowers102", "source": archambeauAndBach, "chosen": chosen, "outcomes": all})
	}
	fmt.Fprintf(e.stdout, "Flowers102, section 5 of %s: each class against the rest, area under the curve, mean ± deviation over the classes\n", archambeauAndBach)
	for _, s := range chosen {
		fmt.Fprintln(e.stdout, s)
	}
	fmt.Fprintln(e.stdout)
	rows := [][]string{{"prior", "AUC", "paper", "sweeps", "not converged", "empty", "seconds"}}
	for _, o := range all {
		mean, sd := meanSD(o.AUC)
		rows = append(rows, []string{
			o.family.String(), short(mean) + " ± " + short(sd), o.paper, fmt.Sprint(o.Sweeps),
			fmt.Sprint(o.NotConverged), fmt.Sprint(o.Collapsed), fmt.Sprintf("%.1f", o.Seconds),
		})
	}
	if err := printTable(e.stdout, "lrrrrrr", rows); err != nil {
		return err
	}
	if c.Output != "" {
		fmt.Fprintf(e.stdout, "\npicture: %s\n", c.Output)
	}
	return nil
}

// checkMemory refuses an experiment that needs more memory than it may take.
func (c *reproduceMGPFlowersCmd) checkMemory(kernels, train, test, classes int) error {
	limit := c.Memory
	if limit == 0 {
		limit = memory.Available()
	}
	side := min(processors(c.Workers), classes)
	need := float64(mkl.MultiGP{Fitting: mkl.Fitting{Workers: 1}}.EstimateMemory(mkl.Size{Samples: train, Kernels: kernels}))
	need += 8 * float64(train) * float64(2*(side-1)*train+(kernels+1)*test+train)
	if limit > 0 && need > float64(limit) {
		return inputf("the experiment needs about %v of memory, more than %v", memory.Size(need), limit)
	}
	return nil
}

// fit learns every class against the rest.
func (c *reproduceMGPFlowersCmd) fit(e *env, x *experiment, prior mgpPrior) (mgpOutcome, error) {
	begin := time.Now()
	o := mgpOutcome{Prior: prior.family.String(), mgpPrior: prior, scores: make([][]float64, x.classes)}
	train, test, err := x.kernels()
	if err != nil {
		return o, err
	}
	y := x.labels()
	self := la.NewMatrix[float64](len(x.train), len(x.testClass))
	self.Fill(1) // exp(−d/s) at distance 0
	fits := make([]*mgp.Fit, x.classes)
	p := newProgress(e, c.JSON, x.classes, "classes, "+prior.family.String())
	defer p.finish()
	group, ctx := errgroup.WithContext(e.ctx)
	group.SetLimit(processors(c.Workers))
	for class := range x.classes {
		group.Go(func() error {
			defer p.step()
			g := mgp.Model{Family: prior.family, Workers: 1, Ascent: vi.Ascent{MaxSweeps: c.Sweeps, Tolerance: c.Tolerance}}
			fit, err := g.FitLabels(ctx, train, y.Row(class))
			if err != nil {
				return fmt.Errorf("class %d: %w", class+1, err)
			}
			prediction, err := fit.Posterior.Predict(test, self, vi.PredictOptions{Workers: 1})
			if err != nil {
				return fmt.Errorf("class %d: %w", class+1, err)
			}
			fit.Posterior = nil // a factor of N×N
			fits[class], o.scores[class] = fit, prediction.Probability
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return o, err
	}
	for class, fit := range fits {
		o.Sweeps = max(o.Sweeps, len(fit.Record.Trace))
		o.NotConverged += count(fit.Record.Reason != vi.Converged)
		o.Collapsed += count(fit.Collapsed)
		if !slices.Contains(x.testClass, class) {
			continue
		}
		area, err := metrics.AUC(x.isClass(class), o.scores[class])
		if err != nil {
			return o, err
		}
		o.AUC = append(o.AUC, area)
	}
	o.Seconds = time.Since(begin).Seconds()
	return o, nil
}

// isClass tells which test samples are of a class.
func (x *experiment) isClass(class int) []bool {
	is := make([]bool, len(x.testClass))
	for i, t := range x.testClass {
		is[i] = t == class
	}
	return is
}

// curves is Figure 1: the receiver operating characteristics of some classes.
func (c *reproduceMGPFlowersCmd) curves(x *experiment, all []mgpOutcome) (picture.Lines, error) {
	l := picture.Lines{XLabel: "false positive rate", YLabel: "true positive rate"}
	for _, class := range c.Curves {
		if !slices.Contains(x.testClass, class-1) {
			return l, inputf("-curves: there are no test samples of class %d", class)
		}
		panel := picture.LinePanel{Title: fmt.Sprintf("class %d", class)}
		for _, o := range all {
			from, to, err := metrics.ROC(x.isClass(class-1), o.scores[class-1])
			if err != nil {
				return l, err
			}
			panel.Lines = append(panel.Lines, picture.Line{Name: o.family.String(), X: from, Y: to})
		}
		l.Panels = append(l.Panels, panel)
	}
	return l, nil
}
