package sections

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
)

// Most columns and targets whose partial dependence is drawn.
const (
	mostDependences       = 6
	mostDependenceTargets = 3
)

// dependence draws the partial dependence on the most important columns.
func (r *reporter) dependence(columns []evaluation.Importance) (page.Section, error) {
	s := page.Section{ID: "dependence", Title: "Partial dependence"}
	probabilities := r.held.Estimator.Form.Probabilities()
	for i, c := range evaluation.DependsOn(columns, mostDependences) {
		lines, values, err := r.held.Dependence(r.env, c, r.Interval, r.rng)
		if err != nil {
			return s, err
		}
		name := "dependence-" + strconv.Itoa(i+1)
		switch {
		case lines == nil:
		case c.Type == table.Text:
			s.Tables = append(s.Tables, categoryTable(c, lines, probabilities))
		case probabilities:
			s.Pictures = append(s.Pictures, page.Dependences(name, c.Name, "mean probability", lines[:min(len(lines), 5)], values, true))
		default:
			for o, line := range lines[:min(len(lines), mostDependenceTargets)] {
				s.Pictures = append(s.Pictures, page.Dependences(name+"-"+strconv.Itoa(o+1), c.Name, line.Target, []page.Dependence{line}, values, false))
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
	switch {
	case r.held.Estimator.Form == dataset.Times:
		band = fmt.Sprintf("Of times it is the mean of the medians, and the band the mean %g %% interval.", 100*r.Interval)
	case r.held.Counts():
		band += " Counts are for the exposure 1."
	case probabilities:
		band = "The band of a single line holds the middle 80 % of the samples."
	}
	s.Paragraphs = []string{fmt.Sprintf("The mean prediction of up to %d samples, in all of which one column has the value below, or the text in the table. %s Where columns go together, some of these samples are unlike any that there are.", evaluation.DependenceRows, band)}
	return s, nil
}

// surface adds the partial dependence on the two most important columns of numbers, if there are two.
func (r *reporter) surface(s *page.Section, columns []evaluation.Importance) error {
	some := slices.DeleteFunc(evaluation.DependsOn(columns, mostDependences), func(c evaluation.Importance) bool { return c.Type == table.Text })
	if len(some) < 2 {
		return nil
	}
	a, b := some[0], some[1]
	lines, gridA, gridB, err := r.held.Surface(r.env, a, b, r.Interval, r.rng)
	for _, line := range lines[:min(len(lines), mostDependenceTargets)] {
		s.Tables = append(s.Tables, surfaceTable(a.Name, b.Name, gridA, gridB, line, r.held.Estimator.Form.Probabilities()))
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
func categoryTable(c evaluation.Importance, lines []page.Dependence, probabilities bool) page.Table {
	t := page.Table{Caption: "Partial dependence on " + c.Name, Head: []string{c.Name}}
	for _, line := range lines {
		t.Head = append(t.Head, line.Target)
		if !probabilities {
			t.Head = append(t.Head, "from", "to")
		}
	}
	for g, category := range c.Categories {
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
