package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// View is what a pool says about a view: its share of the variance of the predicted function, the standard deviation of the share, and the probability that
// the view by itself has information.
type View struct {
	View        string  `json:"view"`
	Share       float64 `json:"share"`
	SD          float64 `json:"sd"`
	Informative float64 `json:"informative"`
}

func viewsOf(all []mkl.ViewShare) (out []View) {
	for _, v := range all {
		out = append(out, View(v))
	}
	return out
}

// printViews prints the table of the views, the largest share first.
func (r *Report) printViews(out io.Writer) error {
	if r.Views == nil {
		return nil
	}
	views := slices.Clone(r.Views)
	slices.SortStableFunc(views, func(a, b View) int {
		switch {
		case a.Share > b.Share:
			return -1
		case a.Share < b.Share:
			return 1
		}
		return 0
	})
	fmt.Fprintln(out, "\nviews: share of the prediction's variance, %, and probability of information by itself, %")
	var rows [][]string
	for _, v := range views {
		row := []string{"", console.ColumnName(v.View), "left out", "", fmt.Sprintf("%.0f", 100*v.Informative)}
		if v.Share > 0 {
			row[2] = fmt.Sprintf("%.1f", 100*v.Share)
		}
		if v.SD > 0 {
			row[3] = "± " + console.Uncertainty(100*v.SD)
		}
		rows = append(rows, row)
	}
	return console.PrintTable(out, "llrlr", rows)
}
