package archambeau2010

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/memory"
	"github.com/bmkl/bmkl/cmd/internal/picture"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Flowers102 is Figure 1 of the paper: a classifier for each of the 102 classes
// against the rest, and the areas under their receiver operating characteristics. The
// paper does not say which features, kernels and split it used; those here are the four
// distance matrices, the kernels and the split of the experiment flowers102.
type Flowers102 struct {
	Data      string      `required:"" placeholder:"DIR" help:"Folder with the data set's files."`
	Priors    []string    `default:"student-t,gamma-variance,ard" enum:"student-t,laplace,gamma-variance,gig,ard" help:"Priors of the kernels' scales (${default})."`
	Curves    []int       `default:"102,96" help:"Classes whose curves to draw (${default}, the paper's)."`
	Sweeps    int         `default:"200" help:"Most sweeps of a fit (${default}); the paper does not say how many it used."`
	Tolerance float64     `default:"1e-5" help:"Relative rise of the bound that counts as none (${default})."`
	Output    string      `short:"o" placeholder:"FILE" help:"Picture of the curves to write, .svg or .png."`
	Workers   int         `help:"Most classes at a time; 0 means one for each processor."`
	Memory    memory.Size `placeholder:"SIZE" help:"Refuse an experiment that needs more than this; by default what the machine has available."`
	JSON      bool        `name:"json" help:"Print JSON."`
}

// scalePrior is a prior of the kernels' scales that -priors names.
type scalePrior struct {
	name   string
	family mgp.Family
	paper  string // mean ± deviation of the areas
}

var scalePriors = []scalePrior{
	{"student-t", mgp.FamilyStudentT, ".948 ± .057"},
	{"laplace", mgp.FamilyLaplace, ""},
	{"gamma-variance", mgp.FamilyGammaVariance, ".957 ± .050"},
	{"gig", mgp.FamilyGIG, ""},
	{"ard", mgp.FamilyFlat, ".947 ± .058"},
}

// outcome is what one prior gave.
type outcome struct {
	Prior        string    `json:"prior"`
	AUC          []float64 `json:"auc"` // of the classes with test samples
	Sweeps       int       `json:"sweeps"`
	NotConverged int       `json:"not_converged"`
	Collapsed    int       `json:"collapsed"`
	Seconds      float64   `json:"seconds"`

	scalePrior
	scores [][]float64 // class × test sample
}

// Run runs the experiment.
func (c *Flowers102) Run(e *console.Env) error {
	if c.Sweeps < 1 || c.Workers < 0 || !(c.Tolerance >= 0 && c.Tolerance < 1) {
		return console.Inputf("-sweeps is at least 1, -workers is not negative, -tolerance is between 0 and 1")
	}
	var format string
	if c.Output != "" {
		var err error
		if format, err = picture.Format(c.Output); err != nil {
			return console.Input(err)
		}
		if err := atomicfile.Check(c.Output); err != nil {
			return console.Input(err)
		}
	}
	x, err := multiclass.Flowers102Kernels(e, c.Data, c.checkMemory)
	if err != nil {
		return err
	}
	var all []outcome
	for _, p := range scalePriors {
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
		if err := atomicfile.Write(e.Ctx, c.Output, func(w io.Writer) error { return drawn.Write(w, format) }); err != nil {
			return err
		}
	}
	chosen := []string{
		"four distance matrices, kernels exp(-d/s) with s the mean distance; training on the published training and validation images",
		"no bias; the score is the probability of the class; equal weights and a weak prior to start from, learned once the bound has settled",
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{"experiment": "mgp-flowers102", "source": source, "chosen": chosen, "outcomes": all})
	}
	fmt.Fprintf(e.Stdout, "Flowers102, section 5 of %s: each class against the rest, area under the curve, mean ± deviation over the classes\n", source)
	for _, s := range chosen {
		fmt.Fprintln(e.Stdout, s)
	}
	fmt.Fprintln(e.Stdout)
	rows := [][]string{{"prior", "AUC", "paper", "sweeps", "not converged", "empty", "seconds"}}
	for _, o := range all {
		mean, sd := measure.MeanSD(o.AUC)
		rows = append(rows, []string{
			o.family.String(), short(mean) + " ± " + short(sd), o.paper, fmt.Sprint(o.Sweeps),
			fmt.Sprint(o.NotConverged), fmt.Sprint(o.Collapsed), fmt.Sprintf("%.1f", o.Seconds),
		})
	}
	if err := console.PrintTable(e.Stdout, "lrrrrrr", rows); err != nil {
		return err
	}
	if c.Output != "" {
		fmt.Fprintf(e.Stdout, "\npicture: %s\n", c.Output)
	}
	return nil
}

// checkMemory refuses an experiment that needs more memory than it may take.
func (c *Flowers102) checkMemory(kernels, train, test, classes int) error {
	side := min(console.Processors(c.Workers), classes)
	need := float64(mkl.MultiGP{Fitting: mkl.Fitting{Workers: 1}}.EstimateMemory(mkl.FitSize{Samples: train, Kernels: kernels, Outputs: 1}))
	need += 8 * float64(train) * float64(2*(side-1)*train+(kernels+1)*test+train)
	return multiclass.AllowMemory(c.Memory, need)
}

// fit learns every class against the rest.
func (c *Flowers102) fit(e *console.Env, x *multiclass.Problem, prior scalePrior) (outcome, error) {
	begin := time.Now()
	o := outcome{Prior: prior.family.String(), scalePrior: prior, scores: make([][]float64, x.Classes)}
	train, test, err := x.Kernels()
	if err != nil {
		return o, err
	}
	y := x.Labels()
	self := la.NewMatrix[float64](len(x.Train), len(x.TestClass))
	self.Fill(1) // exp(−d/s) at distance 0
	fits := make([]*mgp.Fit, x.Classes)
	p := console.NewProgress(e, c.JSON, x.Classes, "classes, "+prior.family.String())
	defer p.Finish()
	err = console.Each(e.Ctx, c.Workers, x.Classes, func(ctx context.Context, class int) error {
		defer p.Step()
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
	if err != nil {
		return o, err
	}
	for class, fit := range fits {
		o.Sweeps = max(o.Sweeps, len(fit.Record.Trace))
		o.NotConverged += count(fit.Record.Reason != vi.Converged)
		o.Collapsed += count(fit.Collapsed)
		if !slices.Contains(x.TestClass, class) {
			continue
		}
		area, err := metrics.AUC(x.IsClass(class), o.scores[class])
		if err != nil {
			return o, err
		}
		o.AUC = append(o.AUC, area)
	}
	o.Seconds = time.Since(begin).Seconds()
	return o, nil
}

// curves is Figure 1: the receiver operating characteristics of some classes.
func (c *Flowers102) curves(x *multiclass.Problem, all []outcome) (picture.Lines, error) {
	l := picture.Lines{XLabel: "false positive rate", YLabel: "true positive rate"}
	for _, class := range c.Curves {
		if !slices.Contains(x.TestClass, class-1) {
			return l, console.Inputf("-curves: there are no test samples of class %d", class)
		}
		panel := picture.LinePanel{Title: fmt.Sprintf("class %d", class)}
		for _, o := range all {
			from, to, err := metrics.ROC(x.IsClass(class-1), o.scores[class-1])
			if err != nil {
				return l, err
			}
			panel.Lines = append(panel.Lines, picture.Line{Name: o.family.String(), X: from, Y: to})
		}
		l.Panels = append(l.Panels, panel)
	}
	return l, nil
}
