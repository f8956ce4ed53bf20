package sections

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// predictions shows predictions beside the truth.
func (r *reporter) predictions() (page.Section, error) {
	s := page.Section{ID: "predictions", Title: "Predictions"}
	var err error
	switch p := r.held.Prediction.(type) {
	case prediction.Numbers:
		err = r.numberPictures(&s, p)
	case prediction.Times:
		err = r.timePictures(&s, p)
	case prediction.Classes:
		err = r.classPictures(&s, p)
	case prediction.Labels:
		err = r.labelPictures(&s, p)
	}
	return s, err
}

// numberPictures draws predicted against true, and how many truths the intervals hold.
func (r *reporter) numberPictures(s *page.Section, p prediction.Numbers) error {
	s.Paragraphs = []string{fmt.Sprintf("Bars are the central %g %% intervals of the predictive distribution. Calibration compares the probability of an interval with the share of truths that it holds.", 100*r.Interval)}
	for o, j := range r.held.Truth[:min(len(r.held.Truth), mostTargets)] {
		var known []int
		for i, t := range r.held.Main.Data.Numbers[j] {
			if !math.IsNaN(t) {
				known = append(known, i)
			}
		}
		of := func(all []float64) []float64 {
			some := make([]float64, len(known))
			for k, i := range known {
				some[k] = all[i]
			}
			return some
		}
		truth := of(r.held.Main.Data.Numbers[j])
		var points []page.Reliability
		rows := [][]string{}
		for _, level := range []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99} {
			lower, upper := p.Intervals(o, level)
			inside := 0
			for k, i := range known {
				if lower[i] <= truth[k] && truth[k] <= upper[i] {
					inside++
				}
			}
			share := float64(inside) / float64(len(known))
			points = append(points, page.Reliability{Predicted: level, Observed: share, Count: len(known)})
			rows = append(rows, []string{percent(level), percent(share), strconv.Itoa(inside)})
		}
		below, upTo := evaluation.Transform(p, o, r.held.Main.Data.Numbers[j])
		if err := r.transformPicture(s, o, below, upTo); err != nil {
			return err
		}
		lower, upper := p.Intervals(o, r.Interval)
		target, suffix := r.held.Notes.Targets[o], strconv.Itoa(o+1)
		s.Pictures = append(s.Pictures, page.Predicted("predicted-"+suffix, target, truth, of(p.Mean[o]), of(lower), of(upper), r.held.Measures[o].Values["coverage"]),
			page.Calibration("calibration-"+suffix, "intervals of "+target, "probability of the interval", "truths inside", points))
		s.Tables = append(s.Tables, page.Table{Caption: "Intervals of " + target, Head: []string{"interval", "truths inside", "samples"}, Rows: rows, Folded: true})
	}
	return nil
}

// transformPicture draws the histogram of the probability integral transform of a target.
func (r *reporter) transformPicture(s *page.Section, target int, below, upTo []float64) error {
	const bars = 10
	share, err := metrics.PIT(below, upTo, bars)
	if err != nil {
		return err
	}
	var rows [][]string
	for k, v := range share {
		rows = append(rows, []string{fmt.Sprintf("%d … %d %%", 100*k/bars, 100*(k+1)/bars), percent(v)})
	}
	name := r.held.Notes.Targets[target]
	s.Pictures = append(s.Pictures, page.Transform("pit-"+strconv.Itoa(target+1), name, share, len(upTo)))
	s.Tables = append(s.Tables, page.Table{Caption: "Truths of " + name + " between predicted quantiles", Head: []string{"quantiles", "truths"}, Rows: rows, Folded: true})
	return nil
}

// classPictures draws the confusion of classes, calibration, and the curves of the most frequent classes.
func (r *reporter) classPictures(s *page.Section, p prediction.Classes) error {
	class, probability, _ := evaluation.Known(p, r.held.Main, r.held.Truth[0]) // the evaluation says which rows are left out
	if len(p.Classes) <= 30 {
		s.Tables = append(s.Tables, confusion(p.Classes, class, probability))
	}
	what := "of the most probable class"
	if len(p.Classes) == 2 {
		what = "of " + p.Classes[1]
	}
	calibration(s, "calibration", what, r.held.Calibration)
	count := make([]int, len(p.Classes))
	for _, k := range class {
		count[k]++
	}
	shown := make([]int, len(p.Classes))
	for k := range shown {
		shown[k] = k
	}
	slices.SortStableFunc(shown, func(a, b int) int { return cmp.Compare(count[b], count[a]) })
	if len(shown) == 2 {
		shown = []int{1}
	}
	var sides []side
	for _, k := range shown[:min(len(shown), 5)] {
		one := side{name: p.Classes[k]}
		for i := range class {
			one.positive, one.score = append(one.positive, class[i] == k), append(one.score, probability[i][k])
		}
		sides = append(sides, one)
	}
	return curves(s, sides)
}

// labelPictures draws the calibration of each label and the curves of all.
func (r *reporter) labelPictures(s *page.Section, p prediction.Labels) error {
	var sides []side
	for o, j := range r.held.Truth {
		has, err := dataset.HasLabel(r.held.Main, j)
		if err != nil {
			return err
		}
		one := side{name: r.held.Notes.Targets[o]}
		var class []int
		var probability [][]float64
		for i, v := range has {
			if v == mkl.LabelUnknown {
				continue
			}
			q := p.Probability[o][i]
			one.positive, one.score = append(one.positive, v == mkl.LabelPresent), append(one.score, q)
			class, probability = append(class, int(v-mkl.LabelAbsent)), append(probability, []float64{1 - q, q})
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
