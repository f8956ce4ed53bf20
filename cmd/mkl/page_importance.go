package main

import (
	"fmt"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
)

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
