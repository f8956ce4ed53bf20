package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// View is what a pool says about a view: see [mkl.ViewShare].
type View struct {
	View        string         `json:"view"`
	Share       float64        `json:"share"`
	SD          float64        `json:"sd"`
	In          console.Number `json:"in"`
	Informative float64        `json:"informative"`
	Loss        console.Number `json:"loss"`
	LossSE      console.Number `json:"loss_se"`
}

func viewsOf(all []mkl.ViewShare) (out []View) {
	for _, v := range all {
		out = append(out, View{
			View: v.View, Share: v.Share, SD: v.SD, In: console.Number(v.In), Informative: v.Informative,
			Loss: console.Number(v.Loss), LossSE: console.Number(v.LossSE),
		})
	}
	return out
}

// ViewHead names the columns of ViewRows.
var ViewHead = []string{"view", "share, %", "± SD", "in, %", "alone, %", "loss, nats", "± SE"}

// ViewRows returns the table of the views, the largest share first.
func (r *Report) ViewRows() (rows [][]string) {
	views := slices.Clone(r.Views)
	slices.SortStableFunc(views, func(a, b View) int { return cmp.Compare(b.Share, a.Share) })
	for _, v := range views {
		row := []string{
			console.ColumnName(v.View), fmt.Sprintf("%.1f", 100*v.Share), "", percentOf(float64(v.In)), percentOf(v.Informative), "", "",
		}
		if v.SD > 0 {
			row[2] = "± " + console.Uncertainty(100*v.SD)
		}
		if loss := float64(v.Loss); !math.IsNaN(loss) {
			row[5], row[6] = fmt.Sprintf("%.3f", loss), fmt.Sprintf("± %.3f", float64(v.LossSE))
		}
		rows = append(rows, row)
	}
	return rows
}

// percentOf returns a probability in percent, nothing of none.
func percentOf(p float64) string {
	if math.IsNaN(p) {
		return ""
	}
	return fmt.Sprintf("%.0f", 100*p)
}

// ViewLegend says what the columns of ViewRows are.
const ViewLegend = "share: of the function's variance; in: probability that the view is needed beside the others; alone: that it says something by itself;\n" +
	"loss: how much worse training targets are predicted without the view, each from all others, in nats for a sample"

// printViews prints the table of the views.
func (r *Report) printViews(out io.Writer) error {
	if r.Views == nil {
		return nil
	}
	fmt.Fprintln(out)
	rows := append([][]string{ViewHead}, r.ViewRows()...)
	if err := console.PrintTable(out, "lrlrrrl", rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, ViewLegend)
	return err
}
