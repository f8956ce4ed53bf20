package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/measure"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// pageFlags are those of mkl report and mkl plot.
type pageFlags struct {
	Model  string `arg:"" help:"Model file."`
	Data   string `required:"" placeholder:"FILE" help:"Table with samples that the fit has not seen, and their truth; - is standard input."`
	Train  string `placeholder:"FILE" help:"Table that the model was fitted to, for its training errors. Views must not be in files of their own."`
	Target string `placeholder:"COLUMNS" help:"Columns that hold the truth, if they are not called what they were in the fit."`
	Bins   int    `default:"10" help:"Points of a classifier's calibration (${default}); 0 leaves it out."`
	Seed   uint64 `default:"1" help:"Seed of the permutations and of the rows that stand for many (${default})."`

	predictFlags `embed:""`
}

// reportCmd is mkl report.
type reportCmd struct {
	Output string `short:"o" placeholder:"FILE" help:"HTML file to write; - and by default standard output."`

	pageFlags `embed:""`
}

// Run writes the page.
func (c *reportCmd) Run(e *console.Env) error {
	if err := e.CheckOutput(c.Output, true); err != nil {
		return err
	}
	p, err := c.page(e)
	if err != nil {
		return err
	}
	return e.Create(cmp.Or(c.Output, console.Standard), p.Write)
}

// plotCmd is mkl plot.
type plotCmd struct {
	Output string `short:"o" required:"" placeholder:"FOLDER" help:"Folder for the pictures; made if it is not there."`

	pageFlags `embed:""`
}

// Run writes the pictures of the page, each as a file.
func (c *plotCmd) Run(e *console.Env) error {
	p, err := c.page(e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Output, 0o777); err != nil {
		return err
	}
	for _, s := range p.Sections {
		for _, picture := range s.Pictures {
			path := filepath.Join(c.Output, picture.Name+".svg")
			if err := atomicfile.Write(e.Ctx, path, picture.Write); err != nil {
				return err
			}
			fmt.Fprintf(e.Stdout, "%s: %s\n", path, picture.Title)
		}
	}
	return nil
}

// reporter gathers what a page says.
type reporter struct {
	*pageFlags
	env   *console.Env
	held  *tested // -data
	train *tested // -train; nil without it
	told  *report
	rng   *rand.Rand
}

// page reads the model and the data and makes the page of them.
func (c *pageFlags) page(e *console.Env) (*page.Page, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	r := &reporter{pageFlags: c, env: e, rng: rand.New(rand.NewPCG(c.Seed, 0))}
	var err error
	if r.held, err = c.tested(e, c.Data); err != nil {
		return nil, err
	}
	defer r.held.files.Close()
	if err := r.held.refuseTables("a report"); err != nil {
		return nil, err
	}
	if c.Train != "" {
		if slices.ContainsFunc(r.held.notes.Views, func(v viewNote) bool { return v.File }) {
			return nil, console.Inputf("-train: the model has views from files of their own, of which there is one set only")
		}
		if r.train, err = c.tested(e, c.Train); err != nil {
			return nil, fmt.Errorf("-train: %w", err)
		}
		defer r.train.files.Close()
	}
	r.told = newReport(r.held.est, r.held.Model, r.held.notes)
	views, columns, note, err := r.importances()
	if err != nil {
		return nil, err
	}
	shares, err := r.shares(views)
	if err != nil {
		return nil, err
	}
	predictions, err := r.predictions()
	if err != nil {
		return nil, err
	}
	dependence, err := r.dependence(columns)
	if err != nil {
		return nil, err
	}
	p := &page.Page{Title: "Report on " + filepath.Base(c.Model), Lead: r.lead(columns), Warnings: r.warnings()}
	for _, s := range []page.Section{
		r.errors(), predictions, shares, importanceSection(views, columns, note), dependence, r.fitted(), r.trace(), r.active(), r.provenance(),
	} {
		if s.Paragraphs != nil || s.Pictures != nil || s.Tables != nil {
			p.Sections = append(p.Sections, s)
		}
	}
	return p, nil
}

// tested predicts and measures a file as mkl evaluate does.
func (c *pageFlags) tested(e *console.Env, path string) (*tested, error) {
	ev := evaluateCmd{Target: c.Target, Bins: c.Bins, modelInput: modelInput{Model: c.Model, Data: path, predictFlags: c.predictFlags}}
	return ev.tested(e)
}

// lead says in a few sentences what it comes to.
func (r *reporter) lead(columns []importance) (all []string) {
	text := r.told.learned(r.held.notes.Targets)
	if n := r.held.Model.Samples(); n > 0 {
		text += ", learned from " + console.Plural(n, "sample")
	}
	all = append(all, strings.ToUpper(text[:1])+text[1:]+". "+r.headline())
	if len(columns) > 0 && columns[0].rise > 2*columns[0].se {
		all = append(all, "What predictions lean on most: "+columnName(columns[0].name)+".")
	}
	return all
}

// warnings are of a fit that did not end well.
func (r *reporter) warnings() (all []string) {
	if !r.told.Converged {
		all = append(all, "the fit has "+r.warning()+".")
	}
	for _, t := range r.told.Targets {
		if t.Collapsed {
			all = append(all, t.Name+" has collapsed: all weights vanish and every prediction is the mean.")
		}
	}
	return all
}

func (r *reporter) warning() string {
	if r.told.Sampled != nil {
		return notMixed
	}
	return r.told.notConverged()
}

// headline is how well the predictions of new samples agree with the truth, on average over the targets.
func (r *reporter) headline() string {
	v := func(name string) (mean float64) {
		for _, m := range r.held.Measures {
			mean += m.Values[name] / float64(len(r.held.Measures))
		}
		return mean
	}
	where := fmt.Sprintf("On %s of %s", console.Plural(r.held.evaluation.Samples, "sample"), r.held.main.Name())
	several := len(r.held.Measures) > 1
	if several {
		where += ", on average over the targets,"
	}
	switch {
	case r.held.est.form != numbers:
		return fmt.Sprintf("%s %.1f %% of the labels are right; the log loss is %s nats.", where, 100*v("accuracy"), console.Figure(v("log loss")))
	case several:
		return fmt.Sprintf("%s the root mean squared error is %s of the standard deviation of the truth; the %g %% intervals hold %.1f %% of the truths.",
			where, console.Figure(v("RMSE/SD")), 100*r.Interval, 100*v("coverage"))
	}
	return fmt.Sprintf("%s the root mean squared error is %s, %s of the standard deviation of the truth; the %g %% intervals hold %.1f %% of the truths.",
		where, console.Figure(v("RMSE")), figureOf(r.held.Measures[0].Values, "RMSE/SD"), 100*r.Interval, 100*v("coverage"))
}

// fitted says what was fitted.
func (r *reporter) fitted() page.Section {
	m := r.held
	rows := [][]string{{"task", r.told.learned(m.notes.Targets)}, {"model", m.String()}}
	for _, v := range m.notes.Views {
		if v.Strings != nil && v.Strings.Kernel > 0 {
			continue // of the same column as the kernel before
		}
		rows = append(rows, []string{"view", v.String()})
		for _, l := range v.Left {
			rows = append(rows, []string{"left out", l.Column + " (" + l.Why + ")"})
		}
	}
	if r.told.Classes != nil {
		rows = append(rows, []string{"classes", strings.Join(r.told.Classes, ", ")})
	}
	rows = append(rows, []string{"end", r.told.ended()})
	for _, t := range r.told.Targets {
		if t.NoiseSD > 0 {
			rows = append(rows, []string{"noise of " + t.Name, "standard deviation " + console.Figure(float64(t.NoiseSD))})
		}
		if t.Prior != "" {
			rows = append(rows, []string{"prior of " + t.Name, t.Prior})
		}
	}
	s := page.Section{ID: "fitted", Title: "What was fitted", Tables: []page.Table{{Caption: "The model", Words: true, Rows: rows}}}
	for _, line := range strings.Split(strings.TrimSpace(r.told.Story), "\n") {
		if line != "" {
			s.Paragraphs = append(s.Paragraphs, line)
		}
	}
	return s
}

// mostBars are the most bars of a picture.
const mostBars = 12

// shares says what part kernels and views have in the weights, and what predictions lose without the view.
func (r *reporter) shares(importances []importance) (page.Section, error) {
	s := page.Section{ID: "shares", Title: "Shares"}
	if len(r.told.Kernels) == 0 {
		return s, nil
	}
	spreads, err := r.held.spreads(r.env, r.rng)
	if err != nil {
		return s, err
	}
	s.Paragraphs = []string{"A share is a kernel's part in the sum of all weights, each times the spread of its kernel over the samples of " + r.held.main.Name() +
		": the variance that a function with this kernel has there. So kernels of different scales compare. Whiskers are two posterior standard deviations of the weights, taken as independent."}
	if asTheyAre := !slices.ContainsFunc(spreads, func(v float64) bool { return v != 1 }); spreads != nil && asTheyAre {
		s.Paragraphs = []string{"A share is a kernel's part in the sum of all weights, which in this model compare as they are. Whiskers are two posterior standard deviations of the weights, taken as independent."}
	}
	if spreads == nil {
		s.Paragraphs = []string{"A share is a kernel's part in the sum of all weights as they are: the spread of a kernel that is given is not known. Only kernels of one scale compare."}
	}
	if !r.held.est.kernels() {
		s.Paragraphs = []string{"A share is a column's part in the sum of all weights, each times the standard deviation of its column. Whiskers are two posterior standard deviations."}
	}
	all := newShares(r.told, r.held.notes, spreads)
	for o, one := range all[:min(len(all), mostTargets)] {
		of, suffix := "", strconv.Itoa(o+1)
		if one.output != "" {
			of = " of " + one.output
		}
		if len(r.held.notes.viewNames()) > 1 {
			s.Pictures = append(s.Pictures, page.Bars("share-views-"+suffix, "Shares of the views"+of, "share ± 2 SD", shareBars(one.views, func(v share) string { return v.view })))
			rows := [][]string{}
			for _, v := range one.views {
				rows = append(rows, []string{v.view, percent(v.value), "± " + percent(v.sd), importanceText(importances, v.view)})
			}
			s.Tables = append(s.Tables, page.Table{Caption: "Views" + of, Head: []string{"view", "share", "SD", "loss if permuted"}, Rows: rows})
		}
		s.Pictures = append(s.Pictures, page.Bars("share-kernels-"+suffix, "Shares of the "+r.held.est.partName()+"s"+of, "share ± 2 SD", shareBars(merged(one.kernels), share.label)))
		s.Tables = append(s.Tables, r.kernelTable(one, of))
	}
	if more := len(all) - mostTargets; more > 0 {
		s.Paragraphs = append(s.Paragraphs, fmt.Sprintf("%s more are not shown; mkl inspect -json has them.", console.Plural(more, "output")))
	}
	return s, nil
}

// kernelTable lists all kernels of one output.
func (r *reporter) kernelTable(one shares, of string) page.Table {
	part := r.held.est.partName()
	t := page.Table{Caption: fmt.Sprintf("All %d %ss%s", len(one.kernels), part, of), Folded: len(one.kernels) > mostBars}
	pooled, several := len(r.told.Members) > 0, len(r.held.notes.viewNames()) > 1
	names := func(member, view, kernel string) (row []string) {
		if pooled {
			row = append(row, member)
		}
		if several {
			row = append(row, view)
		}
		return append(row, kernel)
	}
	t.Head = append(names("member", "view", part), "weight", "SD", "share", "SD")
	t.Names = len(t.Head) - 5
	for _, k := range one.kernels {
		t.Rows = append(t.Rows, append(names(k.member, k.view, k.kernel),
			console.Figure(k.weight), "± "+console.Figure(k.wsd), percent(k.value), "± "+percent(k.sd)))
	}
	return t
}

func shareBars(all []share, name func(share) string) (bars []page.Bar) {
	for _, v := range all[:min(len(all), mostBars)] {
		bars = append(bars, page.Bar{Name: name(v), Value: v.value, Low: max(0, v.value-2*v.sd), High: min(1, v.value+2*v.sd)})
	}
	return bars
}

func importanceText(all []importance, name string) string {
	for _, v := range all {
		if v.name == name {
			return fmt.Sprintf("%s ± %s", console.Figure(v.rise), console.Uncertainty(v.se))
		}
	}
	return ""
}

func percent(x float64) string {
	if math.IsNaN(x) {
		return "?"
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}

// figureOf is a measure as text, ? if it was not taken.
func figureOf(v console.Figures, name string) string {
	if x, ok := v[name]; ok {
		return console.Figure(x)
	}
	return "?"
}

// importances permutes views and columns, and says how.
func (r *reporter) importances() (views, columns []importance, note string, err error) {
	views, columns, rows, all, err := r.held.importances(r.env, r.rng)
	what := "how much of the variance of the truth predictions lose (the rise of the mean squared error over that variance, averaged over the targets)"
	if r.held.est.form != numbers {
		what = "by how much the Brier score rises (0 is perfect, 2 the worst)"
	}
	if rows < 2 {
		return nil, nil, "", nil
	}
	note = fmt.Sprintf("The bars say %s where a column is permuted among %s. Errors are standard errors over the samples. Columns that say the same stand in for each other, so that each alone seems to matter less.",
		what, console.Plural(rows, "sample"))
	if !all {
		note += fmt.Sprintf(" The columns are more than %d and were left out.", mostPermutedColumns)
	}
	return views, columns, note, err
}

func importanceSection(views, columns []importance, note string) page.Section {
	s := page.Section{ID: "importance", Title: "Importance"}
	for _, group := range []struct {
		name string
		all  []importance
	}{{"view", views}, {"column", columns}} {
		if len(group.all) == 0 {
			continue
		}
		var bars []page.Bar
		var rows [][]string
		for i, v := range group.all {
			if i < mostBars {
				bars = append(bars, page.Bar{Name: v.name, Value: v.rise, Low: v.rise - 2*v.se, High: v.rise + 2*v.se})
			}
			rows = append(rows, []string{v.name, console.Figure(v.rise), "± " + console.Uncertainty(v.se)})
		}
		s.Paragraphs = []string{note}
		s.Pictures = append(s.Pictures, page.Bars("importance-"+group.name+"s", "Permutation importance of "+group.name+"s", "rise of the loss ± 2 SE", bars))
		s.Tables = append(s.Tables, page.Table{
			Caption: "Importance of all " + group.name + "s", Head: []string{group.name, "rise of the loss", "SE"}, Rows: rows, Folded: len(rows) > mostBars,
		})
	}
	return s
}

// errors is the table of the measures, of new samples and of those of the fit.
func (r *reporter) errors() page.Section {
	head := []string{"target", "data", "samples"}
	var names []string
	for _, n := range measureNames {
		if slices.ContainsFunc(r.held.Measures, func(m measures) bool { _, ok := m.Values[n]; return ok }) {
			names = append(names, n)
		}
	}
	var rows [][]string
	for i, held := range r.held.Measures {
		add := func(data string, m *tested) {
			row := []string{held.Target, data, strconv.Itoa(m.evaluation.Samples)}
			for _, n := range names {
				row = append(row, figureOf(m.Measures[i].Values, n))
			}
			rows = append(rows, row)
		}
		if r.train != nil {
			add("training", r.train)
		}
		if r.held.learned {
			add("training", r.held)
		} else {
			add("held out", r.held)
		}
	}
	s := page.Section{ID: "errors", Title: "Errors", Tables: []page.Table{{Caption: "Errors", Names: 1, Head: append(head, names...), Rows: rows}}}
	if r.held.est.form == numbers {
		s.Paragraphs = []string{fmt.Sprintf("RMSE is the root mean squared error in the target's unit, RMSE/SD that over the standard deviation of the truth: 1 is what the mean would have. Log density is per sample, in nats; coverage is that of the %g %% interval.", 100*r.Interval)}
	} else {
		s.Paragraphs = []string{"Log loss is in nats; ECE is the expected calibration error; the Brier score is between 0 and 2; AUC and the equal error rate (EER) are those of each class against the others, averaged; the last column counts truths that were given a probability below 1e-6."}
	}
	switch {
	case r.held.learned:
		s.Paragraphs = append(s.Paragraphs, fmt.Sprintf("The model was fitted to %s: errors of samples that it has not seen are larger as a rule.", r.held.main.Name()))
	case r.train == nil:
		s.Paragraphs = append(s.Paragraphs, "Training errors are shown with -train FILE.")
	}
	return s
}

// predictions shows predictions beside the truth.
func (r *reporter) predictions() (page.Section, error) {
	s := page.Section{ID: "predictions", Title: "Predictions"}
	var err error
	switch p := r.held.prediction.(type) {
	case numberPrediction:
		r.numberPictures(&s, p)
	case classPrediction:
		err = r.classPictures(&s, p)
	case labelPrediction:
		err = r.labelPictures(&s, p)
	}
	return s, err
}

// numberPictures draws predicted against true, and how many truths the intervals hold.
func (r *reporter) numberPictures(s *page.Section, p numberPrediction) {
	s.Paragraphs = []string{fmt.Sprintf("Bars are the central %g %% intervals of the predictive distribution. Calibration compares the probability of an interval with the share of truths that it holds.", 100*r.Interval)}
	z := measure.Quantile(r.Interval)
	for o, j := range r.held.truth[:min(len(r.held.truth), mostTargets)] {
		var truth, mean, half, score []float64
		for i, t := range r.held.main.Data.Numbers[j] {
			if math.IsNaN(t) {
				continue
			}
			sd := math.Sqrt(p.Variance[o][i])
			truth, mean, half = append(truth, t), append(mean, p.Mean[o][i]), append(half, z*sd)
			score = append(score, math.Abs(t-p.Mean[o][i])/sd)
		}
		var points []page.Reliability
		rows := [][]string{}
		for _, level := range []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99} {
			inside := 0
			for _, v := range score {
				if v <= measure.Quantile(level) {
					inside++
				}
			}
			share := float64(inside) / float64(len(score))
			points = append(points, page.Reliability{Predicted: level, Observed: share, Count: len(score)})
			rows = append(rows, []string{percent(level), percent(share), strconv.Itoa(inside)})
		}
		target, suffix := r.held.notes.Targets[o], strconv.Itoa(o+1)
		s.Pictures = append(s.Pictures, page.Predicted("predicted-"+suffix, target, truth, mean, half, r.held.Measures[o].Values["coverage"]),
			page.Calibration("calibration-"+suffix, "intervals of "+target, "probability of the interval", "truths inside", points))
		s.Tables = append(s.Tables, page.Table{Caption: "Intervals of " + target, Head: []string{"interval", "truths inside", "samples"}, Rows: rows, Folded: true})
	}
}

// classPictures draws the confusion of classes, calibration, and the curves of the most frequent classes.
func (r *reporter) classPictures(s *page.Section, p classPrediction) error {
	class, probability, err := p.known(r.held.main, r.held.truth[0])
	if err != nil {
		return err
	}
	if len(p.classes) <= 30 {
		s.Tables = append(s.Tables, confusion(p.classes, class, probability))
	}
	what := "of the most probable class"
	if len(p.classes) == 2 {
		what = "of " + p.classes[1]
	}
	calibration(s, "calibration", what, r.held.Calibration)
	count := make([]int, len(p.classes))
	for _, k := range class {
		count[k]++
	}
	shown := make([]int, len(p.classes))
	for k := range shown {
		shown[k] = k
	}
	slices.SortStableFunc(shown, func(a, b int) int { return cmp.Compare(count[b], count[a]) })
	if len(shown) == 2 {
		shown = []int{1}
	}
	var sides []side
	for _, k := range shown[:min(len(shown), 5)] {
		one := side{name: p.classes[k]}
		for i := range class {
			one.positive, one.score = append(one.positive, class[i] == k), append(one.score, probability[i][k])
		}
		sides = append(sides, one)
	}
	return curves(s, sides)
}

// labelPictures draws the calibration of each label and the curves of all.
func (r *reporter) labelPictures(s *page.Section, p labelPrediction) error {
	var sides []side
	for o, j := range r.held.truth {
		has, err := hasLabel(r.held.main, j)
		if err != nil {
			return err
		}
		one := side{name: r.held.notes.Targets[o]}
		var class []int
		var probability [][]float64
		for i, v := range has {
			if v == mkl.Unknown {
				continue
			}
			q := p.Probability[o][i]
			one.positive, one.score = append(one.positive, v == mkl.Present), append(one.score, q)
			class, probability = append(class, int(v-mkl.Absent)), append(probability, []float64{1 - q, q})
		}
		if o < mostTargets {
			t := confusion([]string{"no", "yes"}, class, probability)
			t.Caption = one.name + ": " + t.Caption
			s.Tables = append(s.Tables, t)
		}
		if o < mostTargets && r.Bins > 0 {
			bins, err := measure.Calibration(class, probability, r.Bins)
			if err != nil {
				return err
			}
			calibration(s, "calibration-"+strconv.Itoa(o+1), "of "+one.name, bins)
		}
		sides = append(sides, one)
	}
	return curves(s, sides[:min(len(sides), 5)])
}

// confusion is the table of how often each class was taken for each.
func confusion(classes []string, class []int, probability [][]float64) page.Table {
	count := make([][]int, len(classes))
	for k := range count {
		count[k] = make([]int, len(classes))
	}
	for i, k := range class {
		count[k][slices.Index(probability[i], slices.Max(probability[i]))]++
	}
	t := page.Table{Caption: "true class (rows) and predicted class (columns)", Head: append([]string{"true"}, classes...)}
	for k, row := range count {
		cells, shades, sum := []string{classes[k]}, []float64{}, 0
		for _, n := range row {
			sum += n
		}
		for _, n := range row {
			cells, shades = append(cells, strconv.Itoa(n)), append(shades, float64(n)/float64(max(1, sum)))
		}
		t.Rows, t.Shades = append(t.Rows, cells), append(t.Shades, shades)
	}
	return t
}

// calibration adds the picture and the table of a calibration, unless it is empty.
func calibration(s *page.Section, name, what string, bins []measure.Bin) {
	if len(bins) == 0 {
		return
	}
	var points []page.Reliability
	var rows [][]string
	for _, b := range bins {
		points = append(points, page.Reliability{Predicted: b.Mean, Observed: b.Observed, Count: b.Count})
		rows = append(rows, []string{fmt.Sprintf("%.2f … %.2f", b.From, b.To), strconv.Itoa(b.Count), console.Figure(b.Mean), console.Figure(b.Observed)})
	}
	s.Pictures = append(s.Pictures, page.Calibration(name, "probabilities "+what, "predicted probability", "came true", points))
	s.Tables = append(s.Tables, page.Table{Caption: "Calibration of the probabilities " + what, Head: []string{"predicted", "samples", "mean", "came true"}, Rows: rows, Folded: true})
}

// side is a class or a label with who has it and the score of each sample.
type side struct {
	name     string
	positive []bool
	score    []float64
}

// curves draws the receiver operating characteristics and precision over recall of those that some samples
// have and some have not.
func curves(s *page.Section, sides []side) error {
	var roc, pr []page.Curve
	for _, one := range sides {
		if !slices.Contains(one.positive, true) || !slices.Contains(one.positive, false) {
			continue
		}
		x, y, err := metrics.ROC(one.positive, one.score)
		if err != nil {
			return err
		}
		area, err := metrics.AUC(one.positive, one.score)
		if err != nil {
			return err
		}
		roc = append(roc, page.Curve{Name: fmt.Sprintf("%s, area %.3f", one.name, area), X: x, Y: y})
		recall, precision := measure.PrecisionRecall(one.positive, x, y)
		pr = append(pr, page.Curve{Name: one.name, X: recall, Y: precision})
	}
	if roc == nil {
		return nil
	}
	s.Pictures = append(s.Pictures,
		page.Curves("roc", "Receiver operating characteristic", "false positives", "true positives", true, roc),
		page.Curves("precision-recall", "Precision and recall", "recall", "precision", false, pr))
	return nil
}

// Most columns and targets whose partial dependence is drawn.
const (
	mostDependences       = 6
	mostDependenceTargets = 3
)

// dependence draws the partial dependence on the most important columns.
func (r *reporter) dependence(columns []importance) (page.Section, error) {
	s := page.Section{ID: "dependence", Title: "Partial dependence"}
	probabilities := r.held.est.form != numbers
	for i, c := range dependsOn(columns, mostDependences) {
		lines, values, err := r.held.dependence(r.env, c, r.Interval, r.rng)
		if err != nil {
			return s, err
		}
		name := "dependence-" + strconv.Itoa(i+1)
		switch {
		case lines == nil:
		case c.kind == table.Text:
			s.Tables = append(s.Tables, categoryTable(c, lines, probabilities))
		case probabilities:
			s.Pictures = append(s.Pictures, page.Dependences(name, c.name, "mean probability", lines[:min(len(lines), 5)], values, true))
		default:
			for o, line := range lines[:min(len(lines), mostDependenceTargets)] {
				s.Pictures = append(s.Pictures, page.Dependences(name+"-"+strconv.Itoa(o+1), c.name, line.Target, []page.Dependence{line}, values, false))
			}
		}
	}
	if err := r.surface(&s, columns); err != nil {
		return s, err
	}
	if s.Pictures == nil && s.Tables == nil {
		return s, nil
	}
	band := fmt.Sprintf("The band is their mean %g %% interval, noise included.", 100*r.Interval)
	if probabilities {
		band = "The band of a single line holds the middle 80 % of the samples."
	}
	s.Paragraphs = []string{fmt.Sprintf("The mean prediction of up to %d samples, in all of which one column has the value below, or the text in the table. %s Where columns go together, some of these samples are unlike any that there are.", dependenceRows, band)}
	return s, nil
}

// surface adds the partial dependence on the two most important columns of numbers, if there are two.
func (r *reporter) surface(s *page.Section, columns []importance) error {
	some := slices.DeleteFunc(dependsOn(columns, mostDependences), func(c importance) bool { return c.kind == table.Text })
	if len(some) < 2 {
		return nil
	}
	a, b := some[0], some[1]
	lines, gridA, gridB, err := r.held.surface(r.env, a, b, r.Interval, r.rng)
	for _, line := range lines[:min(len(lines), mostDependenceTargets)] {
		s.Tables = append(s.Tables, surfaceTable(a.name, b.name, gridA, gridB, line, r.held.est.form != numbers))
	}
	return err
}

// surfaceTable has a column for each value of a and a row for each of b, and is shaded from the least mean to
// the largest.
func surfaceTable(a, b string, gridA, gridB []float64, line page.Dependence, probabilities bool) page.Table {
	t := page.Table{Caption: fmt.Sprintf("Partial dependence of %s on %s (columns) and %s (rows)", line.Target, a, b), Head: []string{b}}
	for _, v := range gridA {
		t.Head = append(t.Head, console.Figure(v))
	}
	least, span := slices.Min(line.Mean), slices.Max(line.Mean)-slices.Min(line.Mean)
	for j, v := range gridB {
		row, shades := []string{console.Figure(v)}, []float64{}
		for i := range gridA {
			g := i + j*len(gridA)
			cell := console.Figure(line.Mean[g])
			if !probabilities {
				cell += " ± " + console.Figure((line.High[g]-line.Low[g])/2)
			}
			shade := 0.0
			if span > 0 {
				shade = (line.Mean[g] - least) / span
			}
			row, shades = append(row, cell), append(shades, shade)
		}
		t.Rows, t.Shades = append(t.Rows, row), append(t.Shades, shades)
	}
	return t
}

// categoryTable is the partial dependence on a column of text.
func categoryTable(c importance, lines []page.Dependence, probabilities bool) page.Table {
	t := page.Table{Caption: "Partial dependence on " + c.name, Head: []string{c.name}}
	for _, line := range lines {
		t.Head = append(t.Head, line.Target)
		if !probabilities {
			t.Head = append(t.Head, "from", "to")
		}
	}
	for g, category := range c.categories {
		row := []string{category}
		for _, line := range lines {
			row = append(row, console.Figure(line.Mean[g]))
			if !probabilities {
				row = append(row, console.Figure(line.Low[g]), console.Figure(line.High[g]))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// trace draws the lower bound.
func (r *reporter) trace() page.Section {
	bounds := r.held.Trace().Bounds
	s := page.Section{ID: "trace", Title: "Trace"}
	if r.told.Members != nil { // its members' bounds do not compare
		return s
	}
	bounds = slices.DeleteFunc(bounds, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(bounds) > 1 {
		s.Paragraphs = []string{r.told.ended() + "."}
		if n := len(bounds) / 10; n > 0 {
			s.Paragraphs = append(s.Paragraphs, "The picture leaves out the first "+console.Plural(n, "sweep")+", in which the bound rises most.")
		}
		s.Pictures = []*page.Picture{page.Trace(bounds)}
	}
	return s
}

// active lists the samples with the largest weights.
func (r *reporter) active() page.Section {
	s := page.Section{ID: "samples", Title: "Active samples"}
	if r.told.Samples == 0 {
		return s
	}
	s.Paragraphs = []string{fmt.Sprintf("Samples of the fit whose weight is at least %g %% of the largest, by their row; those of the largest weights.", 100*mkl.ActiveThreshold)}
	for _, t := range r.told.Targets[:min(len(r.told.Targets), mostTargets)] {
		listed := slices.Clone(t.Active)
		slices.SortStableFunc(listed, func(a, b sampleReport) int {
			return cmp.Compare(math.Abs(float64(b.Weight)), math.Abs(float64(a.Weight)))
		})
		var rows [][]string
		for _, a := range listed[:min(len(listed), mostSamples)] {
			rows = append(rows, []string{strconv.Itoa(a.Sample + 1), console.Figure(float64(a.Weight)), "± " + console.Uncertainty(float64(a.SD))})
		}
		s.Tables = append(s.Tables, page.Table{
			Caption: fmt.Sprintf("%s: %d of %s active", t.Name, len(t.Active), console.Plural(r.told.Samples, "sample")),
			Head:    []string{"row", "weight", "SD"}, Rows: rows, Folded: true,
		})
	}
	return s
}

// provenance says where the model and the report come from.
func (r *reporter) provenance() page.Section {
	s := page.Section{ID: "provenance", Title: "Provenance"}
	if made := r.held.notes.Made; made != nil {
		s.Tables = append(s.Tables, page.Table{Caption: "The model", Words: true, Rows: made.rows()})
	} else {
		s.Paragraphs = []string{"The model does not say how it was made."}
	}
	here := &provenance{Command: commandLine(r.env.Args), Version: newVersion(buildInfo()).program(), Seed: r.Seed, Machine: machine()}
	for _, path := range []string{r.Model, r.Data, r.Train} {
		if path == "" {
			continue
		}
		if note, err := noteOf(r.env, path); err == nil && note != nil {
			here.Data = append(here.Data, *note)
		}
	}
	s.Tables = append(s.Tables, page.Table{Caption: "This report", Words: true, Rows: here.rows()})
	return s
}

// rows are the provenance as a table.
func (p *provenance) rows() [][]string {
	rows := [][]string{{"command", p.Command}, {"program", p.Version}, {"seed", strconv.FormatUint(p.Seed, 10)}}
	if p.Machine != "" {
		rows = append(rows, []string{"machine", p.Machine})
	}
	for _, d := range p.Data {
		rows = append(rows, []string{"SHA-256 of " + d.Path, d.SHA256})
	}
	return rows
}
