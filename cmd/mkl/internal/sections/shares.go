package sections

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
	"github.com/bmkl/bmkl/cmd/mkl/internal/report"
)

// mostBars are the most bars of a picture.
const mostBars = 12

// shares says what part kernels and views have in the weights, and what predictions lose without the view.
func (r *reporter) shares(importances []evaluation.Importance) (page.Section, error) {
	s := page.Section{ID: "shares", Title: "Shares"}
	if len(r.told.Kernels) == 0 {
		return s, nil
	}
	spreads, err := r.held.Spreads(r.env, r.rng)
	if err != nil {
		return s, err
	}
	if r.told.Views != nil {
		s.Pictures = append(s.Pictures, page.Bars("share-views", "Shares of the views in the variance of the function", "share ± 2 SD", viewBars(r.told.Views)))
		s.Tables = append(s.Tables, page.Table{Caption: "Views", Head: report.ViewHead, Rows: r.told.ViewRows()})
		s.Paragraphs = append(s.Paragraphs, "Of a view: "+strings.ReplaceAll(r.told.ViewLegend(), "\n", " ")+".")
	}
	s.Paragraphs = append(s.Paragraphs, r.meaningOfShares(spreads))
	all := r.told.Shares(spreads)
	for o, one := range all[:min(len(all), mostTargets)] {
		of, suffix := "", strconv.Itoa(o+1)
		if one.Output != "" {
			of = " of " + one.Output
		}
		if len(r.held.Notes.ViewNames()) > 1 && r.told.Views == nil {
			s.Pictures = append(s.Pictures, page.Bars("share-views-"+suffix, "Shares of the views"+of, "share ± 2 SD", shareBars(one.Views, func(v report.Share) string { return v.View })))
			rows := [][]string{}
			for _, v := range one.Views {
				rows = append(rows, []string{v.View, percent(v.Value), plusMinus(v.SD, percent), importanceText(importances, v.View)})
			}
			s.Tables = append(s.Tables, page.Table{Caption: "Views" + of, Head: []string{"view", "share", "SD", "loss if permuted"}, Rows: rows})
		}
		s.Pictures = append(s.Pictures, page.Bars("share-kernels-"+suffix, "Shares of the "+r.held.Estimator.Part+"s"+of, "share ± 2 SD", shareBars(report.Merged(one.Kernels), report.Share.Label)))
		s.Tables = append(s.Tables, r.kernelTable(one, of))
	}
	if more := len(all) - mostTargets; more > 0 {
		s.Paragraphs = append(s.Paragraphs, fmt.Sprintf("%s more are not shown; mkl inspect -json has them.", console.Plural(more, "output")))
	}
	return s, nil
}

// meaningOfShares says what a share is, given the spreads by which weights were multiplied, if they are known.
func (r *reporter) meaningOfShares(spreads []float64) string {
	const whiskers = " Whiskers are two posterior standard deviations of the weights, taken as independent."
	switch {
	case !r.held.Estimator.Kernels():
		return "A share is a column's part in the sum of all weights, each times the standard deviation of its column. Whiskers are two posterior standard deviations."
	case spreads == nil:
		return "A share is a kernel's part in the sum of all weights as they are: the spread of a kernel that is given is not known. Only kernels of one scale compare."
	case !slices.ContainsFunc(spreads, func(v float64) bool { return v != 1 }):
		return "A share is a kernel's part in the sum of all weights, which in this model compare as they are." + whiskers
	}
	return "A share is a kernel's part in the sum of all weights, each times the spread of its kernel over the samples of " + r.held.Main.Name() +
		": the variance that a function with this kernel has there. So kernels of different scales compare." + whiskers
}

// kernelTable lists all kernels of one output.
func (r *reporter) kernelTable(one report.Shares, of string) page.Table {
	part := r.held.Estimator.Part
	t := page.Table{Caption: fmt.Sprintf("All %d %ss%s", len(one.Kernels), part, of), Folded: len(one.Kernels) > mostBars}
	pooled, several := r.told.Pooled(), len(r.held.Notes.ViewNames()) > 1
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
	for _, k := range one.Kernels {
		t.Rows = append(t.Rows, append(names(k.Member, k.View, k.Kernel),
			console.Figure(k.Weight), plusMinus(k.WeightSD, console.Figure), percent(k.Value), plusMinus(k.SD, percent)))
	}
	return t
}

// plusMinus is a standard deviation as text; a model that knows none has 0.
func plusMinus(sd float64, text func(float64) string) string {
	if sd == 0 {
		return ""
	}
	return "± " + text(sd)
}

func shareBars(all []report.Share, name func(report.Share) string) (bars []page.Bar) {
	for _, v := range all[:min(len(all), mostBars)] {
		bars = append(bars, page.Bar{Name: name(v), Value: v.Value, Low: max(0, v.Value-2*v.SD), High: min(1, v.Value+2*v.SD)})
	}
	return bars
}

func viewBars(all []report.View) (bars []page.Bar) {
	views := slices.Clone(all)
	slices.SortStableFunc(views, func(a, b report.View) int { return cmp.Compare(b.Share, a.Share) })
	for _, v := range views[:min(len(views), mostBars)] {
		bars = append(bars, page.Bar{Name: v.View, Value: v.Share, Low: max(0, v.Share-2*v.SD), High: min(1, v.Share+2*v.SD)})
	}
	return bars
}

func importanceText(all []evaluation.Importance, name string) string {
	for _, v := range all {
		if v.Name == name {
			return fmt.Sprintf("%s ± %s", console.Figure(v.Rise), console.Uncertainty(v.SE))
		}
	}
	return ""
}
