package sections

import (
	"fmt"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
)

// importance draws how much predictions lose without each view and each column.
func (r *reporter) importance(all *evaluation.Importances) page.Section {
	s := page.Section{ID: "importance", Title: "Importance"}
	if all.Rows < 2 {
		return s
	}
	what := "how much of the variance of the truth predictions lose (the rise of the mean squared error over that variance, averaged over the targets)"
	switch {
	case r.held.Estimator.Form == dataset.Times, r.held.Counts():
		what = "by how much the log score falls, in nats,"
	case r.held.Estimator.Form.Probabilities():
		what = "by how much the Brier score rises (0 is perfect, 2 the worst)"
	}
	note := fmt.Sprintf("The bars say %s where a column is permuted among %s. Errors are standard errors over the samples. Columns that say the same stand in for each other, so that each alone seems to matter less.",
		what, console.Plural(all.Rows, "sample"))
	if all.Left {
		note += fmt.Sprintf(" The columns are more than %d and were left out.", evaluation.MostPermutedColumns)
	}
	for _, group := range []struct {
		name string
		all  []evaluation.Importance
	}{{"view", all.Views}, {"column", all.Columns}} {
		if len(group.all) == 0 {
			continue
		}
		var bars []page.Bar
		var rows [][]string
		for i, v := range group.all {
			if i < mostBars {
				bars = append(bars, page.Bar{Name: v.Name, Value: v.Rise, Low: v.Rise - 2*v.SE, High: v.Rise + 2*v.SE})
			}
			rows = append(rows, []string{v.Name, console.Figure(v.Rise), "± " + console.Uncertainty(v.SE)})
		}
		s.Paragraphs = []string{note}
		s.Pictures = append(s.Pictures, page.Bars("importance-"+group.name+"s", "Permutation importance of "+group.name+"s", "rise of the loss ± 2 SE", bars))
		s.Tables = append(s.Tables, page.Table{
			Caption: "Importance of all " + group.name + "s", Head: []string{group.name, "rise of the loss", "SE"}, Rows: rows, Folded: len(rows) > mostBars,
		})
	}
	return s
}
