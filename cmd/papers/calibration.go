package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
	"github.com/bmkl/bmkl/mkl"
)

// calibration asks whether predicted probabilities of classes come
// true: a third of each data set is held out, at random within each class.
type calibration struct {
	Data    string    `required:"" placeholder:"DIR" help:"Folder with the data sets: crabs/crabs.csv, glass/glass.csv, iris/iris.csv, wine/wine.data."`
	Sets    []string  `default:"crabs,glass,iris,wine" enum:"crabs,glass,iris,wine" help:"Data sets to use (${default})."`
	Margins []float64 `default:"0,1" help:"Margins to compare (${default})."`
	SigmaG  float64   `default:"0.1" name:"sigma-g" help:"Standard deviation of the intermediate outputs (${default})."`
	Kernels string    `default:"linear,rbf(width=2^-2..2^4)" placeholder:"KERNELS" help:"Kernels (${default})."`
	Splits  int       `default:"10" help:"Random splits, whose predictions are counted together (${default})."`
	Seed    uint64    `default:"1" help:"Seed of the splits and of the random starts (${default})."`
	Workers int       `help:"Most fits at a time; 0 means one for each processor."`
	JSON    bool      `name:"json" help:"Print JSON."`
}

// labelledSet is a table with a class for each sample.
type labelledSet struct {
	file     string
	labels   []int // columns whose texts, joined, are the class
	features []int // columns; nil for all the others
}

var labelledSets = map[string]labelledSet{
	"crabs": {"crabs.csv", []int{0, 1}, []int{3, 4, 5, 6, 7}}, // species and sex; column 2 numbers the samples
	"glass": {"glass.csv", []int{9}, nil},
	"iris":  {"iris.csv", []int{4}, nil},
	"wine":  {"wine.data", []int{0}, nil},
}

// calibrationRun is what became of the predictions for a data set.
type calibrationRun struct {
	Set         string          `json:"set"`
	Samples     int             `json:"samples"` // held out, all splits together
	Classes     int             `json:"classes"`
	Margin      float64         `json:"margin"`
	Measures    console.Figures `json:"measures"`
	Confidence  float64         `json:"confidence"` // mean probability of the label predicted
	Unconverged int             `json:"unconverged,omitempty"`
	Calibration []measure.Bin   `json:"calibration"`
}

// Run runs the experiment.
func (c *calibration) Run(e *console.Env) error {
	if c.Splits < 1 || c.Workers < 0 || !(c.SigmaG > 0) {
		return console.Inputf("calibration: -splits is at least 1, -workers is not negative, -sigma-g is above 0")
	}
	for _, m := range c.Margins {
		if !(m >= 0) {
			return console.Inputf("-margins %g is not a number from 0 up", m)
		}
	}
	kernels, err := spec.Parse(c.Kernels)
	if err != nil {
		return console.Inputf("-kernels %w", err)
	}
	var all []*calibrationRun
	bar := console.NewProgress(e, c.JSON, len(c.Sets)*len(c.Margins)*c.Splits, "fits")
	defer bar.Finish()
	for _, name := range c.Sets {
		x, labels, err := c.read(e, name)
		if err != nil {
			return err
		}
		for _, margin := range c.Margins {
			r, err := c.run(e, bar, kernels, x, labels, margin)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			r.Set = name
			all = append(all, r)
		}
	}
	bar.Finish()
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{"splits": c.Splits, "kernels": c.Kernels, "sigma_g": c.SigmaG, "runs": all})
	}
	return c.print(e, all)
}

// read returns the features and the classes of a set.
func (c *calibration) read(e *console.Env, name string) (mkl.Features, []string, error) {
	s := labelledSets[name]
	fs := &console.Files{Env: e}
	defer fs.Close()
	f, err := fs.Open(filepath.Join(c.Data, name, s.file))
	if err != nil {
		return mkl.Features{}, nil, err
	}
	columns := len(f.Columns())
	if most := max(slices.Max(s.labels), slices.Max(append(s.features, 0))); columns <= most {
		return mkl.Features{}, nil, console.Inputf("%s: %s where at least %d are expected", f.Name(), console.Plural(columns, "column"), most+1)
	}
	features := s.features
	if features == nil {
		features = slices.DeleteFunc(multiclass.Sequence(0, columns), func(j int) bool { return slices.Contains(s.labels, j) })
	}
	for _, j := range s.labels {
		f.Need(j, table.Label)
	}
	for _, j := range features {
		f.Need(j, table.Number)
	}
	n, err := fs.Read()
	if err != nil {
		return mkl.Features{}, nil, err
	}
	labels := make([]string, n)
	for i := range labels {
		for _, j := range s.labels {
			labels[i] += f.Data.Labels[j][i]
		}
	}
	return f.Matrix(features), labels, nil
}

// run fits every split with one margin.
func (c *calibration) run(e *console.Env, bar *console.Progress, kernels []spec.Kernel, x mkl.Features, labels []string, margin float64) (*calibrationRun, error) {
	classes := table.Classes(labels)
	index := make([]int, len(labels))
	for i, l := range labels {
		index[i] = slices.Index(classes, l)
	}
	type part struct {
		class       []int
		probability [][]float64
		converged   bool
	}
	parts := make([]part, c.Splits)
	err := console.Each(e.Ctx, c.Workers, len(parts), func(ctx context.Context, s int) error {
		defer bar.Step()
		train, test := multiclass.Stratified(index, 2.0/3, c.Seed+uint64(s))
		xTrain := x.TakeRows(train)
		var views []mkl.View
		for _, k := range kernels {
			vk, err := spec.Build(k)
			if err != nil {
				return console.Inputf("-kernels %w", err)
			}
			views = append(views, mkl.View{X: xTrain, Kernel: vk.Kernel, Standardize: !vk.Ranks, Ranks: vk.Ranks, Center: vk.Center, Normalize: vk.Normalize})
		}
		fit := mkl.Classifier[string]{Classes: classes}
		fit.Seed, fit.SigmaG, fit.Margin, fit.Workers = c.Seed+uint64(s), c.SigmaG, margin, 1
		m, err := fit.Fit(ctx, views, multiclass.At(labels, train))
		if err != nil {
			return err
		}
		p, err := m.PredictClasses(ctx, mkl.PredictOptions{Workers: 1}, x.TakeRows(test))
		if err != nil {
			return err
		}
		parts[s] = part{multiclass.At(index, test), p.Probability, m.Trace().Converged}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r := &calibrationRun{Classes: len(classes), Margin: margin}
	var class []int
	var probability [][]float64
	for _, p := range parts {
		class, probability = append(class, p.class...), append(probability, p.probability...)
		if !p.converged {
			r.Unconverged++
		}
	}
	r.Samples = len(class)
	for _, p := range probability {
		r.Confidence += slices.Max(p) / float64(len(class))
	}
	if r.Measures, err = measure.Classes(class, probability); err != nil {
		return nil, err
	}
	r.Calibration, err = measure.Calibration(class, probability, 10)
	return r, err
}

func (c *calibration) print(e *console.Env, all []*calibrationRun) error {
	fmt.Fprintf(e.Stdout, "Calibration of BEMKL on a held-out third, %s counted together\n", console.Plural(c.Splits, "random split"))
	fmt.Fprintf(e.Stdout, "columns to mean 0 and deviation 1; kernels %s; σ_g %g\n\n", c.Kernels, c.SigmaG)
	rows := [][]string{{"set", "classes", "margin", "accuracy %", "mean confidence %", "log loss", "Brier", "AUC"}}
	for _, r := range all {
		margin := fmt.Sprint(r.Margin)
		if r.Unconverged > 0 {
			margin += fmt.Sprintf(" (%d not converged)", r.Unconverged)
		}
		rows = append(rows, []string{
			r.Set, fmt.Sprint(r.Classes), margin, fmt.Sprintf("%.1f", 100*r.Measures["accuracy"]), fmt.Sprintf("%.1f", 100*r.Confidence),
			fmt.Sprintf("%.3f", r.Measures["log loss"]), fmt.Sprintf("%.3f", r.Measures["Brier"]), fmt.Sprintf("%.3f", r.Measures["AUC"]),
		})
	}
	if err := console.PrintTable(e.Stdout, "lrlrrrrr", rows); err != nil {
		return err
	}
	fmt.Fprintln(e.Stdout, "\nof the most probable class: predictions in each range of its probability, its mean, and how often it came true")
	for set := range slices.Values(slices.Compact(setsOf(all))) {
		var runs []*calibrationRun
		for _, r := range all {
			if r.Set == set {
				runs = append(runs, r)
			}
		}
		header, align := []string{set}, "l"
		for _, r := range runs {
			header, align = append(header, "n", fmt.Sprintf("margin %g", r.Margin), "came true"), align+"rrr"
		}
		rows := [][]string{header}
		for _, from := range ranges(runs) {
			row := []string{}
			for _, r := range runs {
				i := slices.IndexFunc(r.Calibration, func(b measure.Bin) bool { return b.From == from })
				if i < 0 {
					row = append(row, "", "", "")
					continue
				}
				b := r.Calibration[i]
				row = append(row, fmt.Sprint(b.Count), fmt.Sprintf("%.3f", b.Mean), fmt.Sprintf("%.3f", b.Observed))
			}
			rows = append(rows, append([]string{fmt.Sprintf("%.1f … %.1f", from, from+0.1)}, row...))
		}
		fmt.Fprintln(e.Stdout)
		if err := console.PrintTable(e.Stdout, align, rows); err != nil {
			return err
		}
	}
	return nil
}

func setsOf(all []*calibrationRun) (sets []string) {
	for _, r := range all {
		sets = append(sets, r.Set)
	}
	return sets
}

// ranges lists where the ranges with predictions begin, in order.
func ranges(runs []*calibrationRun) (from []float64) {
	for _, r := range runs {
		for _, b := range r.Calibration {
			from = append(from, b.From)
		}
	}
	slices.SortFunc(from, cmp.Compare[float64])
	return slices.Compact(from)
}
