package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
)

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
	s.Paragraphs = []string{r.meaningOfShares(spreads)}
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

// meaningOfShares says what a share is, given the spreads by which weights were multiplied, if they are known.
func (r *reporter) meaningOfShares(spreads []float64) string {
	const whiskers = " Whiskers are two posterior standard deviations of the weights, taken as independent."
	switch {
	case !r.held.est.kernels():
		return "A share is a column's part in the sum of all weights, each times the standard deviation of its column. Whiskers are two posterior standard deviations."
	case spreads == nil:
		return "A share is a kernel's part in the sum of all weights as they are: the spread of a kernel that is given is not known. Only kernels of one scale compare."
	case !slices.ContainsFunc(spreads, func(v float64) bool { return v != 1 }):
		return "A share is a kernel's part in the sum of all weights, which in this model compare as they are." + whiskers
	}
	return "A share is a kernel's part in the sum of all weights, each times the spread of its kernel over the samples of " + r.held.main.Name() +
		": the variance that a function with this kernel has there. So kernels of different scales compare." + whiskers
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
