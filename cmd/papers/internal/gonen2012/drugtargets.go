package gonen2012

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// DrugTargets is kernelised matrix factorisation of the drug–target interactions of
// Y. Yamanishi et al., Bioinformatics 24 (2008): drugs, targets or pairs of them are held
// out by cross-validation and predicted from the similarities of the drugs' structures and
// of the targets' sequences.
type DrugTargets struct {
	Data       string   `required:"" placeholder:"DIR" help:"Folder with the data's files."`
	Sets       []string `placeholder:"NAME" help:"Data sets, of nr, gpcr, ic and e; those whose files are there unless given."`
	HeldOut    string   `default:"drugs" enum:"drugs,targets,pairs" help:"What is held out: whole drugs, whole targets, or single pairs (${default})."`
	Folds      int      `default:"5" help:"Folds (${default})."`
	Repeats    int      `default:"5" help:"Times that all folds are drawn anew (${default})."`
	Components int      `default:"5" help:"Components of the factorisation (${default})."`
	Sweeps     int      `default:"1000" help:"Most sweeps of a fit (${default})."`
	NoBias     bool     `help:"Leave out the bias, which the paper's model has not."`
	Seed       uint64   `default:"1" help:"Seed of folds and starts (${default})."`
	Workers    int      `help:"Most fits at a time; 0 means one for each processor."`
	JSON       bool     `name:"json" help:"Print JSON."`
}

// interactionSet is a data set, by what its files begin with.
type interactionSet struct{ file, name string }

// interactionSets are the data sets, smallest first.
var interactionSets = []interactionSet{
	{"nr", "nuclear receptors"}, {"gpcr", "G-protein-coupled receptors"}, {"ic", "ion channels"}, {"e", "enzymes"},
}

// interactions is a data set: which drugs act on which targets.
type interactions struct {
	name           string
	known          mkl.DenseTable // drugs × targets, 1 where an interaction is known and 0 elsewhere
	drugs, targets la.Matrix[float64]
}

// dims returns the numbers of drugs and of targets.
func (x *interactions) dims() (drugs, targets int) { return x.drugs.Rows, x.targets.Rows }

// Run runs the experiment.
func (c *DrugTargets) Run(e *console.Env) error {
	if c.Folds < 2 || c.Repeats < 1 || c.Components < 1 || c.Sweeps < 1 || c.Workers < 0 {
		return console.Inputf("-folds is at least 2, -repeats, -components and -sweeps are at least 1, -workers is not negative")
	}
	for _, name := range c.Sets {
		if !slices.ContainsFunc(interactionSets, func(s interactionSet) bool { return s.file == name }) {
			return console.Inputf("-sets: no set is called %q: they are nr, gpcr, ic and e", name)
		}
	}
	var results []interactionResult
	for _, s := range interactionSets {
		if len(c.Sets) > 0 && !slices.Contains(c.Sets, s.file) {
			continue
		}
		_, err := os.Stat(c.path(s.file, "admat_dgc"))
		if len(c.Sets) == 0 && errors.Is(err, os.ErrNotExist) {
			continue
		}
		x, err := c.read(e, s.file, s.name)
		if err != nil {
			return err
		}
		r, err := c.validate(e, x)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		results = append(results, r)
	}
	if results == nil {
		return console.Inputf("-data %s: none of the files nr_admat_dgc.txt, gpcr_admat_dgc.txt, ic_admat_dgc.txt and e_admat_dgc.txt is there", c.Data)
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{"experiment": "drug-targets", "held out": c.HeldOut, "sets": results})
	}
	return c.print(e.Stdout, results)
}

// path returns the path of a set's file.
func (c *DrugTargets) path(set, what string) string {
	return filepath.Join(c.Data, set+"_"+what+".txt")
}

// read reads a set: a table of targets × drugs of 0 and 1, and the similarities of drugs and
// of targets, with ids in the first line and the first column of each.
func (c *DrugTargets) read(e *console.Env, set, name string) (*interactions, error) {
	known, targets, drugs, err := readNamed(e, c.path(set, "admat_dgc"))
	if err != nil {
		return nil, err
	}
	x := &interactions{name: name, known: make(mkl.DenseTable, len(drugs))}
	for i := range x.known {
		x.known[i] = make([]float64, len(targets))
		for j := range targets {
			v := known.At(j, i)
			if v != 0 && v != 1 {
				return nil, console.Inputf("%s: %s and %s have %g, which is neither 0 nor 1", c.path(set, "admat_dgc"), targets[j], drugs[i], v)
			}
			x.known[i][j] = v
		}
	}
	for _, side := range []struct {
		what string
		ids  []string
		to   *la.Matrix[float64]
	}{{"simmat_dc", drugs, &x.drugs}, {"simmat_dg", targets, &x.targets}} {
		path := c.path(set, side.what)
		s, rows, columns, err := readNamed(e, path)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(rows, side.ids) || !slices.Equal(columns, side.ids) {
			return nil, console.Inputf("%s: its ids differ from the ids of %s or their order", path, c.path(set, "admat_dgc"))
		}
		*side.to = symmetric(s)
	}
	return x, nil
}

// symmetric returns (s + sᵀ)/2: alignments in either order may score a little apart.
func symmetric(s la.Matrix[float64]) la.Matrix[float64] {
	m := la.NewMatrix[float64](s.Rows, s.Cols)
	for i := range s.Rows {
		for j := range s.Cols {
			m.Set(i, j, (s.At(i, j)+s.At(j, i))/2)
		}
	}
	return m
}

// readNamed reads a table of numbers whose rows have their ids in the first column.
func readNamed(e *console.Env, path string) (x la.Matrix[float64], rows, columns []string, err error) {
	fs := &console.Files{Env: e}
	defer fs.Close()
	f, err := fs.Open(path)
	if err != nil {
		return x, nil, nil, err
	}
	values := multiclass.Sequence(1, len(f.Columns())-1)
	f.Need(0, table.Label)
	for _, j := range values {
		f.Need(j, table.Number)
	}
	if _, err := fs.Read(); err != nil {
		return x, nil, nil, err
	}
	return f.Matrix(values), f.Data.Labels[0], f.Columns()[1:], nil
}

// interactionResult is how the model did on a set. Deviations are over the repeats, each the mean of its folds.
type interactionResult struct {
	Set          string          `json:"set"`
	Drugs        int             `json:"drugs"`
	Targets      int             `json:"targets"`
	Interactions int             `json:"interactions"`
	Mean         console.Figures `json:"mean"`
	SD           console.Figures `json:"sd"`
	Folds        int             `json:"folds"` // of those drawn, that have pairs of both kinds
	Unconverged  int             `json:"unconverged,omitempty"`
	Seconds      float64         `json:"seconds"`
}

// foldScore is how a fold did. It is nil if its pairs are all of one kind.
type foldScore struct {
	figures   map[string]float64
	converged bool
}

// validate predicts every fold of every repeat.
func (c *DrugTargets) validate(e *console.Env, x *interactions) (r interactionResult, err error) {
	begin := time.Now()
	drugs, targets := x.dims()
	r = interactionResult{Set: x.name, Drugs: drugs, Targets: targets, Mean: console.Figures{}, SD: console.Figures{}}
	for _, row := range x.known {
		for _, v := range row {
			r.Interactions += int(v)
		}
	}
	if r.Interactions == 0 || r.Interactions == drugs*targets {
		return r, console.Inputf("%d of %d pairs are known to interact: there is nothing to tell apart", r.Interactions, drugs*targets)
	}
	p := console.NewProgress(e, c.JSON, c.Folds*c.Repeats, "fits, "+x.name)
	defer p.Finish()
	scores := make([]*foldScore, c.Folds*c.Repeats)
	err = console.Each(e.Ctx, c.Workers, len(scores), func(ctx context.Context, i int) error {
		repeat, fold := i/c.Folds, i%c.Folds
		s, err := c.fold(ctx, x, c.deal(x, repeat)[fold])
		if err != nil {
			return fmt.Errorf("repeat %d, fold %d: %w", repeat+1, fold+1, err)
		}
		scores[i] = s
		p.Step()
		return nil
	})
	if err != nil {
		return r, err
	}
	all := map[string][]float64{}
	for first := 0; first < len(scores); first += c.Folds {
		own := map[string][]float64{}
		for _, s := range scores[first : first+c.Folds] {
			if s == nil {
				continue
			}
			r.Folds++
			if !s.converged {
				r.Unconverged++
			}
			for name, v := range s.figures {
				own[name] = append(own[name], v)
			}
		}
		for name, v := range own {
			mean, _ := measure.MeanSD(v)
			all[name] = append(all[name], mean)
		}
	}
	if r.Folds == 0 {
		return r, console.Inputf("no fold has pairs that are known to interact and pairs that are not")
	}
	for name, v := range all {
		r.Mean[name], r.SD[name] = measure.MeanSD(v)
	}
	r.Seconds = time.Since(begin).Seconds()
	return r, nil
}

// deal deals what is held out to the folds at random: the numbers of drugs, of targets, or of pairs, those
// of one drug after another.
func (c *DrugTargets) deal(x *interactions, repeat int) [][]int {
	drugs, targets := x.dims()
	n := map[string]int{"drugs": drugs, "targets": targets, "pairs": drugs * targets}[c.HeldOut]
	order := rand.New(rand.NewPCG(c.Seed+uint64(repeat), 3)).Perm(n)
	folds := make([][]int, c.Folds)
	for k := range folds {
		folds[k] = order[k*n/c.Folds : (k+1)*n/c.Folds]
		slices.Sort(folds[k])
	}
	return folds
}

// fold fits the model without what is held out, and predicts that.
func (c *DrugTargets) fold(ctx context.Context, x *interactions, held []int) (*foldScore, error) {
	drugs, targets := x.dims()
	isHeld := func(i int) bool { _, found := slices.BinarySearch(held, i); return found }
	learned := [2][]int{multiclass.Sequence(0, drugs), multiclass.Sequence(0, targets)}
	predicted := [2][]int{multiclass.Sequence(0, drugs), multiclass.Sequence(0, targets)}
	var sides [2]mkl.PairSide
	switch c.HeldOut {
	case "drugs":
		learned[0], predicted[0] = slices.DeleteFunc(learned[0], isHeld), held
		sides[0].X = []mkl.Features{x.drugs.Take(held, learned[0])}
	case "targets":
		learned[1], predicted[1] = slices.DeleteFunc(learned[1], isHeld), held
		sides[1].X = []mkl.Features{x.targets.Take(held, learned[1])}
	}
	hidden := func(i, j int) bool { return c.HeldOut == "pairs" && isHeld(i*targets+j) }
	y := make(mkl.DenseTable, len(learned[0]))
	for k, i := range learned[0] {
		for _, j := range learned[1] {
			v := x.known[i][j]
			if hidden(i, j) {
				v = math.NaN()
			}
			y[k] = append(y[k], v)
		}
	}
	similar := func(name string, m la.Matrix[float64], which []int) []mkl.View {
		return []mkl.View{{Name: name, X: m.Take(which, which), Kernel: kernel.Precomputed{AllowIndefinite: true}}}
	}
	model, err := mkl.PairClassifier{
		Fitting: mkl.Fitting{Workers: 1, Seed: c.Seed}, Ascent: mkl.Ascent{MaxSweeps: c.Sweeps},
		Components: c.Components, NoBias: c.NoBias,
	}.Fit(ctx, similar("structure", x.drugs, learned[0]), similar("sequence", x.targets, learned[1]), y)
	if _, ok := errors.AsType[*mkl.CollapsedError](err); err != nil && !ok {
		return nil, err
	}
	p, err := model.PredictPairs(ctx, mkl.PredictOptions{Workers: 1}, sides[0], sides[1])
	if err != nil {
		return nil, err
	}
	var positive []bool
	var class []int
	var score []float64
	var probability [][]float64
	for k, i := range predicted[0] {
		for l, j := range predicted[1] {
			if c.HeldOut == "pairs" && !hidden(i, j) {
				continue
			}
			v := p.Probability[k][l]
			positive, class = append(positive, x.known[i][j] == 1), append(class, int(x.known[i][j]))
			score, probability = append(score, v), append(probability, []float64{1 - v, v})
		}
	}
	if !slices.Contains(positive, true) || !slices.Contains(positive, false) {
		return nil, nil
	}
	figures, err := interactionFigures(positive, score)
	if err != nil {
		return nil, err
	}
	if figures["log loss"], err = metrics.LogLoss(class, probability); err != nil {
		return nil, err
	}
	return &foldScore{figures, model.Trace().Converged}, nil
}

// interactionFigures returns two areas: below the receiver operating characteristic, and below precision over recall,
// which is taken by steps and so is the mean precision at the positive pairs.
func interactionFigures(positive []bool, score []float64) (map[string]float64, error) {
	area, err := metrics.AUC(positive, score)
	if err != nil {
		return nil, err
	}
	fp, tp, err := metrics.ROC(positive, score)
	if err != nil {
		return nil, err
	}
	recall, precision := measure.PrecisionRecall(positive, fp, tp)
	var below, last float64
	for i, r := range recall {
		below += (r - last) * precision[i]
		last = r
	}
	return map[string]float64{"AUC": area, "AUPR": below}, nil
}

// print prints the table.
func (c *DrugTargets) print(w io.Writer, all []interactionResult) error {
	fmt.Fprintf(w, "Drug–target interactions: %s held out, %d folds, %d times, %s; means and deviations over the times\n",
		c.HeldOut, c.Folds, c.Repeats, console.Plural(c.Components, "component"))
	fmt.Fprint(w, "AUPR is the mean precision at the known interactions; log loss is in nats a pair.\n\n")
	rows := [][]string{{"set", "drugs", "targets", "known", "AUC", "AUPR", "log loss", "not converged", "seconds"}}
	for _, r := range all {
		figure := func(name string) string { return fmt.Sprintf("%.3f ± %.3f", r.Mean[name], r.SD[name]) }
		rows = append(rows, []string{
			r.Set, fmt.Sprint(r.Drugs), fmt.Sprint(r.Targets), fmt.Sprint(r.Interactions),
			figure("AUC"), figure("AUPR"), figure("log loss"), fmt.Sprintf("%d of %d", r.Unconverged, r.Folds), fmt.Sprintf("%.1f", r.Seconds),
		})
	}
	return console.PrintTable(w, "lrrrrrrrr", rows)
}
