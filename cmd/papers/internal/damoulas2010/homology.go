package damoulas2010

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/picture"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/metrics"
	"github.com/bmkl/bmkl/mkl/sequence"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// The files of the SCOP 1.53 benchmark of L. Liao and W. S. Noble (2003): sequences, and
// for each of them and each family what part it has there.
const (
	homologySequences  = "scop.1.53.1e-25.fasta"
	homologyMembership = "all_seq_fam_membership.txt"
)

// Homology is Table 1.10 and Figure 1.11 of the paper: remote homologues of protein families, found by a
// combination of kernels on their sequences.
type Homology struct {
	flags    `embed:""`
	Kernels  string   `default:"la; mismatch; oligomer; pairwise" help:"Kernels on the sequences, with semicolons between them (${default})."`
	Rule     string   `default:"wsum" enum:"fixsum,wsum" help:"Whether the kernels' weights are learned: fixsum or wsum (${default})."`
	Families int      `placeholder:"N" help:"Only the first N families of the file; all unless given."`
	Only     []string `placeholder:"NAME" help:"Only these families."`
	Ridge    float64  `default:"0.02" help:"What is added to the kernels' diagonal, times the share of the sample's class (${default})."`
	Constant float64  `default:"0" help:"What is added to all values of each kernel, so that there is a bias (${default}: none)."`
	Sweeps   int      `default:"100" help:"Most sweeps of a fit (${default})."`
	Keep     string   `placeholder:"DIR" help:"Keep kernels and finished families in this folder, and go on from what it has."`
	Output   string   `short:"o" placeholder:"FILE" help:"Picture of how many families reach a score to write (Figure 1.11), .svg or .png."`
}

// homologyStated are the means over 54 families that the paper states.
var homologyStated = []struct {
	name                  string
	roc, roc50, medianRFP float64
}{
	{"probit machine, stated", 0.924, 0.567, 0.0661},
	{"SVM, Smith–Waterman, stated", 0.896, 0.464, 0.0837},
	{"SVM, local alignment, stated", 0.925, 0.649, 0.0541},
	{"SVM, mismatch, stated", 0.872, 0.400, 0.0837},
	{"SVM, monomer distances, stated", 0.919, 0.508, 0.0664},
}

// family is a problem of two classes: the positions of its sequences, the family's
// class first.
type family struct {
	name                                                     string
	positiveTrain, negativeTrain, positiveTest, negativeTest []int
}

// homologyScore is what a family came to.
type homologyScore struct {
	Family    string    `json:"family"`
	Train     int       `json:"train"`
	Positive  int       `json:"positive_train"`
	Test      int       `json:"test"`
	ROC       float64   `json:"roc"`
	ROC50     float64   `json:"roc50"`
	MedianRFP float64   `json:"median_rfp"`
	Sweeps    int       `json:"sweeps"`
	Weights   []float64 `json:"weights"`
}

// Run runs the experiment.
func (c *Homology) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Sweeps < 1 || c.Families < 0 || !(c.Ridge >= 0) || !(c.Constant >= 0) || math.IsInf(c.Constant, 1) {
		return console.Inputf("-sweeps is at least 1, -families, -ridge and -constant are not negative")
	}
	format, err := pictureFormat(c.Output)
	if err != nil {
		return err
	}
	set := &sequence.Set{Alphabet: sequence.Protein, Workers: c.Workers}
	for text := range strings.SplitSeq(c.Kernels, ";") {
		k, err := sequence.Parse(text)
		if err != nil {
			return console.Inputf("-kernels: %w", err)
		}
		set.Kernels = append(set.Kernels, k)
	}
	families, data, err := c.read(e, set)
	if err != nil {
		return err
	}
	keep, err := openKept(e, c.Keep, data, c.settings(set.Kernels))
	if err != nil {
		return err
	}
	var kernels []la.Matrix[float64]
	if slices.ContainsFunc(families, func(f family) bool { _, done := keep.score(f.name); return !done }) {
		if kernels, err = c.kernels(e, keep, set); err != nil {
			return err
		}
	}
	p := console.NewProgress(e, c.JSON, len(families), "families")
	defer p.Finish()
	scores := make([]homologyScore, len(families))
	err = console.Each(e.Ctx, c.Workers, len(families), func(ctx context.Context, i int) error {
		defer p.Step()
		name, done := families[i].name, false
		if scores[i], done = keep.score(name); done {
			return nil
		}
		s, err := c.score(ctx, kernels, families[i])
		if err != nil {
			return fmt.Errorf("family %s: %w", name, err)
		}
		scores[i] = s
		return keep.add(s)
	})
	if err != nil {
		return err
	}
	p.Finish()
	if format != "" {
		drawn := reached(set.Kernels, scores)
		if err := atomicfile.Write(e.Ctx, c.Output, func(w io.Writer) error { return drawn.Write(w, format) }); err != nil {
			return err
		}
	}
	if err := c.print(e, set.Kernels, scores); err != nil || c.JSON {
		return err
	}
	return namePicture(e, c.Output)
}

// reached is Figure 1.11: the share of the families whose score is at least so high.
func reached(kernels []sequence.Kernel, scores []homologyScore) picture.Lines {
	panel := picture.LinePanel{Title: console.Plural(len(scores), "family") + ", " + console.Plural(len(kernels), "kernel")}
	for _, of := range []struct {
		name  string
		value func(homologyScore) float64
	}{
		{"ROC", func(s homologyScore) float64 { return s.ROC }},
		{"ROC50", func(s homologyScore) float64 { return s.ROC50 }},
	} {
		values := make([]float64, len(scores))
		for i, s := range scores {
			values[i] = of.value(s)
		}
		slices.Sort(values)
		line := picture.Line{Name: of.name, X: []float64{0}, Y: []float64{1}}
		for i, v := range values {
			line.X = append(line.X, v, v)
			line.Y = append(line.Y, line.Y[len(line.Y)-1], float64(len(values)-1-i)/float64(len(values)))
		}
		panel.Lines = append(panel.Lines, line)
	}
	return picture.Lines{XLabel: "score", YLabel: "share of the families that reach it", Falling: true, Panels: []picture.LinePanel{panel}}
}

// kernels returns the kernels of the set, as they were kept or as they are computed now.
func (c *Homology) kernels(e *console.Env, keep *kept, set *sequence.Set) (kernels []la.Matrix[float64], err error) {
	p := console.NewProgress(e, c.JSON, len(set.Kernels)*len(set.Strings), "rows of kernels")
	defer p.Finish()
	set.Progress = p.Add
	for _, k := range set.Kernels {
		x, err := keep.kernel(k.String(), len(set.Strings), func() (la.Matrix[float64], error) {
			one := *set
			one.Kernels = []sequence.Kernel{k}
			views, err := one.Views(e.Ctx)
			if err != nil {
				return la.Matrix[float64]{}, err
			}
			if _, ok := k.(sequence.Pairwise); ok {
				return cosines(views[0].X, c.Workers), nil
			}
			return views[0].X, nil
		})
		if err != nil {
			return nil, err
		}
		kernels = append(kernels, x)
	}
	return kernels, nil
}

// settings are what the score of a family depends on, beside the data.
func (c *Homology) settings(kernels []sequence.Kernel) any {
	var names []string
	for _, k := range kernels {
		names = append(names, k.String())
	}
	return map[string]any{
		"kernels": names, "rule": c.Rule, "ridge": c.Ridge, "constant": c.Constant, "sweeps": c.Sweeps, "rise": c.Rise, "alpha": c.Alpha, "seed": c.Seed,
	}
}

// cosines returns the inner products of the rows of x, over their lengths.
func cosines(x la.Matrix[float64], workers int) la.Matrix[float64] {
	k := la.NewMatrix[float64](x.Rows, x.Rows)
	x = x.Clone()
	for i := range x.Rows {
		la.Scal(1/math.Sqrt(la.SumSq(x.Row(i))), x.Row(i))
	}
	la.Gemm(&la.Workspace{Workers: workers}, la.NoTrans, la.Transpose, 1, x, x, 0, k)
	return k
}

// score learns a family and ranks its test sequences.
func (c *Homology) score(ctx context.Context, kernels []la.Matrix[float64], f family) (s homologyScore, err error) {
	train := slices.Concat(f.positiveTrain, f.negativeTrain)
	test := slices.Concat(f.positiveTest, f.negativeTest)
	var within, across []la.Matrix[float64]
	for _, k := range kernels {
		within, across = append(within, c.part(k, train, train)), append(across, c.part(k, train, test))
	}
	dense, err := vi.NewDense(within...)
	if err != nil {
		return s, err
	}
	later, err := vi.NewDense(across...)
	if err != nil {
		return s, err
	}
	labels := make([]int, len(train))
	for i := range f.positiveTrain {
		labels[i] = 1
	}
	rule := map[string]probit.Rule{"fixsum": probit.RuleFixSum, "wsum": probit.RuleWSum}[c.Rule]
	if len(kernels) == 1 {
		rule = probit.RuleFixSum
	}
	machine := c.machine(rule, c.Sweeps, c.Seed)
	machine.Ridge = c.Ridge
	fit, probability, err := c.fit(ctx, machine, dense, later, labels)
	if err != nil {
		return s, err
	}
	positive, score := make([]bool, len(test)), make([]float64, len(test))
	for i := range test {
		positive[i], score[i] = i < len(f.positiveTest), probability.At(i, 1)
	}
	s = homologyScore{
		Family: f.name, Train: len(train), Positive: len(f.positiveTrain), Test: len(test),
		Sweeps: len(fit.Record.Trace), Weights: fit.Posterior.State().Beta,
	}
	var errs [3]error
	s.ROC, errs[0] = metrics.AUC(positive, score)
	s.ROC50, errs[1] = metrics.ROCn(positive, score, 50)
	s.MedianRFP, errs[2] = metrics.MedianRFP(positive, score)
	return s, errors.Join(errs[:]...)
}

// part returns some rows and columns of k, with the constant. Without one, a sequence that
// is like no other has equal probabilities, and comes before those that resemble some of the many
// negative sequences.
func (c *Homology) part(k la.Matrix[float64], rows, cols []int) la.Matrix[float64] {
	p := la.NewMatrix[float64](len(rows), len(cols))
	for i, r := range rows {
		row := k.Row(r)
		for j, col := range cols {
			p.Set(i, j, row[col]+c.Constant)
		}
	}
	return p
}

// read reads the sequences into the set, and the families that are wanted. It also returns
// the text of both files.
func (c *Homology) read(e *console.Env, set *sequence.Set) (families []family, data string, err error) {
	var text [2][]byte
	for i, name := range []string{homologySequences, homologyMembership} {
		file, err := e.Open(filepath.Join(c.Data, name))
		if err != nil {
			return nil, "", console.Input(err)
		}
		text[i], err = io.ReadAll(e.Reader(file))
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, "", console.Input(err)
		}
	}
	records, err := sequence.ReadFASTA(bytes.NewReader(text[0]))
	if err != nil {
		return nil, "", console.Inputf("%s: %w", homologySequences, err)
	}
	at := make(map[string]int, len(records))
	for i, r := range records {
		set.Strings, at[r.ID] = append(set.Strings, r.Sequence), i
	}
	families, err = readFamilies(bytes.NewReader(text[1]), at)
	if err != nil {
		return nil, "", console.Inputf("%s: %w", homologyMembership, err)
	}
	for _, name := range c.Only {
		if !slices.ContainsFunc(families, func(f family) bool { return f.name == name }) {
			return nil, "", console.Inputf("-only: there is no family %q", name)
		}
	}
	if len(c.Only) > 0 {
		families = slices.DeleteFunc(families, func(f family) bool { return !slices.Contains(c.Only, f.name) })
	}
	if c.Families > 0 {
		families = families[:min(c.Families, len(families))]
	}
	return families, string(text[0]) + string(text[1]), nil
}

// readFamilies reads a table. Its first line names the families, and each other line a
// sequence and its part in each family: 1 and 2 are positive and negative sequences of the
// training, 3 and 4 of the test, and 0 is neither.
func readFamilies(r io.Reader, at map[string]int) ([]family, error) {
	lines := bufio.NewScanner(r)
	var families []family
	for number := 1; lines.Scan(); number++ {
		cells := strings.Fields(lines.Text())
		if len(cells) == 0 {
			continue
		}
		if families == nil {
			for _, name := range cells[1:] {
				families = append(families, family{name: name})
			}
			continue
		}
		i, ok := at[cells[0]]
		if !ok || len(cells) != len(families)+1 {
			return nil, fmt.Errorf("line %d: %d cells of %q, where %d of a known sequence are needed", number, len(cells), cells[0], len(families)+1)
		}
		for j, cell := range cells[1:] {
			f := &families[j]
			switch cell {
			case "0":
			case "1":
				f.positiveTrain = append(f.positiveTrain, i)
			case "2":
				f.negativeTrain = append(f.negativeTrain, i)
			case "3":
				f.positiveTest = append(f.positiveTest, i)
			case "4":
				f.negativeTest = append(f.negativeTest, i)
			default:
				return nil, fmt.Errorf("line %d: %q is none of 0 to 4", number, cell)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(families) == 0 {
		return nil, errors.New("there are no families")
	}
	return families, nil
}

// print prints what came out beside what the paper states.
func (c *Homology) print(e *console.Env, kernels []sequence.Kernel, scores []homologyScore) error {
	var roc, roc50, rfp []float64
	rows := [][]string{{"family", "training", "positive", "test", "ROC", "ROC50", "median RFP", "sweeps"}}
	for _, s := range scores {
		roc, roc50, rfp = append(roc, s.ROC), append(roc50, s.ROC50), append(rfp, s.MedianRFP)
		rows = append(rows, []string{
			s.Family, fmt.Sprint(s.Train), fmt.Sprint(s.Positive), fmt.Sprint(s.Test),
			fmt.Sprintf("%.3f", s.ROC), fmt.Sprintf("%.3f", s.ROC50), fmt.Sprintf("%.4f", s.MedianRFP), fmt.Sprint(s.Sweeps),
		})
	}
	meanROC, _ := measure.MeanSD(roc)
	meanROC50, _ := measure.MeanSD(roc50)
	meanRFP, _ := measure.MeanSD(rfp)
	names := make([]string, len(kernels))
	for i, k := range kernels {
		names[i] = k.String()
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{
			"experiment": "remote-homology", "kernels": names, "rule": c.Rule, "families": scores,
			"mean": map[string]float64{"roc": meanROC, "roc50": meanROC50, "median_rfp": meanRFP},
		})
	}
	how := names[0]
	if len(names) > 1 {
		how = c.Rule + " of " + strings.Join(names, ", ")
	}
	fmt.Fprintf(e.Stdout, "Remote homology (Table 1.10): %s\n\n", how)
	rows = append(rows, []string{"mean", "", "", "", fmt.Sprintf("%.3f", meanROC), fmt.Sprintf("%.3f", meanROC50), fmt.Sprintf("%.4f", meanRFP), ""})
	if err := console.PrintTable(e.Stdout, "lrrrrrrr", rows); err != nil {
		return err
	}
	fmt.Fprintln(e.Stdout)
	rows = [][]string{{"mean over 54 families", "ROC", "ROC50", "median RFP"}}
	for _, s := range homologyStated {
		rows = append(rows, []string{s.name, fmt.Sprintf("%.3f", s.roc), fmt.Sprintf("%.3f", s.roc50), fmt.Sprintf("%.4f", s.medianRFP)})
	}
	if err := console.PrintTable(e.Stdout, "lrrr", rows); err != nil {
		return err
	}
	if len(kernels) == 1 {
		return nil
	}
	fmt.Fprintln(e.Stdout)
	rows = [][]string{append([]string{"weights"}, names...)}
	for _, s := range scores {
		row := []string{s.Family}
		for _, b := range s.Weights {
			row = append(row, fmt.Sprintf("%.3f", b))
		}
		rows = append(rows, row)
	}
	return console.PrintTable(e.Stdout, "l"+strings.Repeat("r", len(names)), rows)
}
