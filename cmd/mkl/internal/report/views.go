package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// View is what a model says about a view: see [mkl.ViewShare].
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

// Group is what a model says about a group of views: see [mkl.ViewGroupShare].
type Group struct {
	Group  string         `json:"group"`
	Views  []string       `json:"views"`
	Share  float64        `json:"share"`
	SD     float64        `json:"sd"`
	In     float64        `json:"in"`
	Before float64        `json:"before"`
	Loss   console.Number `json:"loss"`
	LossSE console.Number `json:"loss_se"`
}

func groupsOf(all []mkl.ViewGroupShare) (out []Group) {
	for _, g := range all {
		out = append(out, Group{g.Name, g.Views, g.Share, g.SD, g.In, g.Before, console.Number(g.Loss), console.Number(g.LossSE)})
	}
	return out
}

// ViewHead names the columns of ViewRows.
var ViewHead = []string{"view", "share, %", "± SD", "in, %", "alone, %", "loss, nats", "± SE"}

// ViewRows returns the table of the views, the largest share first, and then of the groups of views.
func (r *Report) ViewRows() (rows [][]string) {
	views := slices.Clone(r.Views)
	slices.SortStableFunc(views, func(a, b View) int { return cmp.Compare(b.Share, a.Share) })
	for _, v := range views {
		rows = append(rows, viewRow(v.View, v.Share, v.SD, float64(v.In), v.Informative, float64(v.Loss), float64(v.LossSE)))
	}
	for _, g := range r.Groups {
		rows = append(rows, viewRow("group "+g.Group, g.Share, g.SD, g.In, math.NaN(), float64(g.Loss), float64(g.LossSE)))
	}
	return rows
}

func viewRow(name string, share, sd, in, alone, loss, lossSE float64) []string {
	row := []string{console.ColumnName(name), fmt.Sprintf("%.1f", 100*share), "", percentOf(in), percentOf(alone), "", ""}
	if sd > 0 {
		row[2] = "± " + console.Uncertainty(100*sd)
	}
	if !math.IsNaN(loss) {
		row[5], row[6] = fmt.Sprintf("%.3f", loss), fmt.Sprintf("± %.3f", lossSE)
	}
	return row
}

// percentOf returns a probability in percent, nothing of none.
func percentOf(p float64) string {
	if math.IsNaN(p) {
		return ""
	}
	return fmt.Sprintf("%.0f", 100*p)
}

// ViewLegend says what the columns of ViewRows are.
func (r *Report) ViewLegend() string {
	if r.Groups == nil {
		return viewLegend
	}
	var before []string
	for _, g := range r.Groups {
		before = append(before, fmt.Sprintf("%s %.0f", console.ColumnName(g.Group), 100*g.Before))
	}
	return viewLegend + ";\na group's in: that at least one of its views is needed, in % before any data " + strings.Join(before, ", ")
}

const viewLegend = "share: of the function's variance; in: probability that the view is needed beside the others; alone: that it says something by itself;\n" +
	"loss: how much worse training targets are predicted without the view, each from all others, in nats for a sample"

// printViews prints the table of the views.
func (r *Report) printViews(out io.Writer) error {
	for _, remark := range r.ViewRemarks {
		fmt.Fprintf(out, "note: %s\n", remark)
	}
	if r.Views == nil {
		return nil
	}
	fmt.Fprintln(out)
	rows := append([][]string{ViewHead}, r.ViewRows()...)
	if err := console.PrintTable(out, "lrlrrrl", rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, r.ViewLegend())
	return err
}
