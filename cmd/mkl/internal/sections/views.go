package sections

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/mkl/record"
)

// mostParts are the most classes in a table of what views add.
const mostParts = 5

// views says what each view adds to the predictions of chosen rows of the file, counted from 1.
func (r *reporter) views(rows []int) (page.Section, error) {
	s := page.Section{ID: "views", Title: "What views add to chosen rows"}
	if rows == nil {
		return s, nil
	}
	at := make([]int, len(rows))
	for k, row := range rows {
		if row < 1 || row > r.held.Outcome.Rows {
			return s, console.Inputf("-explain %d: %s has the rows 1 to %d", row, r.held.Main.Name(), r.held.Outcome.Rows)
		}
		if at[k] = slices.Index(r.held.Kept, row-1); at[k] < 0 {
			return s, console.Inputf("-explain %d: the row has no prediction, because a value is missing", row)
		}
	}
	x := slices.Clone(r.held.X)
	for i := range x {
		x[i] = x[i].TakeRows(at)
	}
	all, err := record.ViewsOf(r.env.Ctx, r.held.Opened.Model.Model, r.held.Notes.Predicted(), r.held.PredictOptions, x)
	if err != nil {
		return s, console.Input(err)
	}
	classes, _ := r.held.Prediction.(prediction.Classes)
	ofClasses := all[0].Scale == record.OfLogOdds
	if ofClasses {
		s.Paragraphs = []string{"Parts are log odds in nats, against the mean of the other classes, with posterior standard deviations. " +
			"The sum is the mean of the members' log odds; the probability is the mean of their probabilities."}
	} else {
		for k, i := range at {
			if known := r.held.Outcome.Offset; known != nil {
				all[0].Constant[k] += known[i]
			}
		}
		s.Paragraphs = []string{scales[all[0].Scale]}
	}
	for k, row := range rows {
		caption, of := fmt.Sprintf("Row %d", row), all
		if ofClasses {
			probability := classes.Probability[at[k]]
			best := slices.Index(probability, slices.Max(probability))
			caption += fmt.Sprintf(": %s, probability %s", classes.Classes[best], console.Figure(probability[best]))
			if len(all) > mostParts {
				of = slices.Clone(all)
				slices.SortStableFunc(of, func(a, b record.Views) int {
					return cmp.Compare(probability[slices.Index(classes.Classes, b.Of)], probability[slices.Index(classes.Classes, a.Of)])
				})
				of = of[:mostParts]
			}
		}
		s.Tables = append(s.Tables, viewsTable(caption, of, k))
	}
	return s, nil
}

// scales say what parts add up to, except for classes.
var scales = map[record.Scale]string{
	record.OfMean: "Parts are in the target's unit, with posterior standard deviations. They add up to the predicted mean.",
	record.OfLog: "Parts are natural logarithms, with posterior standard deviations: 0.69 doubles the time, or the expected count. " +
		"They add up to the mean logarithm of the time, or of the expected count for exposure 1.",
	record.OfFunction: "Parts are in units of the noise, with posterior standard deviations. They add up to the function that the cut points divide: a positive part makes higher grades more probable.",
}

// viewsTable is what each view adds to one sample: columns are targets or classes.
func viewsTable(caption string, of []record.Views, sample int) page.Table {
	t := page.Table{Caption: caption, Head: []string{"view"}, Names: 1}
	names := of[0].Names
	t.Rows = append(t.Rows, []string{"constant"})
	for _, name := range names {
		t.Rows = append(t.Rows, []string{console.ColumnName(name)})
	}
	t.Rows = append(t.Rows, []string{"sum"})
	for _, one := range of {
		t.Head = append(t.Head, one.Of, "± SD")
		sum := one.Constant[sample]
		t.Rows[0] = append(t.Rows[0], console.Figure(sum), "")
		for i, name := range names {
			v := slices.Index(one.Names, name) // pools of targets may differ in the order of their views
			sum += one.Mean[v][sample]
			t.Rows[1+i] = append(t.Rows[1+i], console.Figure(one.Mean[v][sample]), plusMinus(one.SD[v][sample], console.Uncertainty))
		}
		t.Rows[1+len(names)] = append(t.Rows[1+len(names)], console.Figure(sum), "")
	}
	return t
}
