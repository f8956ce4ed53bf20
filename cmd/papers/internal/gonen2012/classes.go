package gonen2012

import (
	"fmt"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/memory"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/vi"
)

// flags are the flags of the experiments with classes.
type flags struct {
	Data      string      `required:"" placeholder:"DIR" help:"Folder with the data set's files."`
	Models    []string    `default:"single,multiple,multiclass" enum:"single,multiple,multiclass,mgp,multitask" help:"Models to fit: single and multiple (BMKLR on ±1), multiclass (BEMKL), and two of other papers on ±1: mgp (a multiple Gaussian process for each class) and multitask (spike and slab, five latent functions a kernel)."`
	Sweeps    int         `default:"200" help:"Most sweeps of a fit (${default}); the papers do not say how many they used."`
	Tolerance float64     `default:"1e-5" help:"Relative rise of the bound that counts as none (${default})."`
	Margin    float64     `default:"0" help:"Half the width of the gap between classes, on the scale of the scores (${default})."`
	Plain     bool        `help:"Do exactly the published updates."`
	Seed      uint64      `default:"1" help:"Seed of the random starts (${default})."`
	Workers   int         `help:"Most goroutines at work; 0 means one for each processor."`
	Memory    memory.Size `placeholder:"SIZE" help:"Refuse an experiment that needs more than this; by default what the machine has available."`
	JSON      bool        `name:"json" help:"Print JSON."`
}

func (c *flags) check() error {
	if c.Sweeps < 1 || c.Workers < 0 || !(c.Tolerance >= 0 && c.Tolerance < 1) || !(c.Margin >= 0) {
		return console.Inputf("-sweeps is at least 1, -workers and -margin are not negative, -tolerance is between 0 and 1")
	}
	return nil
}

func (c *flags) ascent(p *console.Progress) vi.Ascent {
	return vi.Ascent{MaxSweeps: c.Sweeps, Tolerance: c.Tolerance, Progress: func(vi.Progress) { p.Step() }}
}

// checkMemory refuses an experiment of so many kernels, training samples, test
// samples and classes that needs more memory than it may take.
func (c *flags) checkMemory(kernels, train, test, classes int) error {
	r := mkl.Regression{Fitting: mkl.Fitting{Workers: c.Workers}}
	need := float64(r.EstimateMemory(mkl.FitSize{Samples: train, Kernels: kernels, Outputs: classes}))
	need += 8 * float64(kernels) * float64(train) * float64(test)
	need += 8 * float64(train) * float64(train+test) // a distance matrix
	return multiclass.AllowMemory(c.Memory, need)
}

// source cites the paper.
const source = "Gönen (2012)"

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

// paperFigure is what a paper states of a model; it is printed beside the outcomes.
type paperFigure struct {
	Model    string `json:"model"`
	Accuracy string `json:"accuracy,omitempty"`
	AUC      string `json:"auc,omitempty"`
	EER      string `json:"eer,omitempty"`
	Source   string `json:"source"`
}

// run fits every model to every split and prints the table. next makes a split; there is
// one in memory at a time.
func (c *flags) run(e *console.Env, title string, splits int, next func(split int) (*multiclass.Problem, error), paper []paperFigure, remarks ...string) error {
	var all []outcome
	for s := range splits {
		x, err := next(s)
		if err != nil {
			return err
		}
		for _, name := range c.Models {
			l := learners[name]
			p := console.NewProgress(e, c.JSON, l.fits(x)*c.Sweeps, "sweeps at most, "+x.Name+", "+l.name)
			begin := time.Now()
			scores, sweeps, converged, err := l.fit(e, c, x, p)
			p.Finish()
			if err != nil {
				return fmt.Errorf("%s: %s: %w", x.Name, l.name, err)
			}
			seconds := time.Since(begin).Seconds()
			s, err := x.Score(scores)
			if err != nil {
				return err
			}
			all = append(all, outcome{name, x.Name, s.Accuracy, s.AUC, s.EER, sweeps, converged, seconds})
		}
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{"experiment": title, "remarks": remarks, "outcomes": all, "papers": paper})
	}
	fmt.Fprintln(e.Stdout, title)
	for _, r := range remarks {
		fmt.Fprintln(e.Stdout, r)
	}
	fmt.Fprintln(e.Stdout)
	return console.PrintTable(e.Stdout, "llrrrlr", outcomeRows(all, paper))
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
			m, sd := measure.MeanSD(acc)
			a, _ := measure.MeanSD(auc)
			r, _ := measure.MeanSD(eer)
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
