package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/mkl"
)

// Factor is a factor of a model.
type Factor struct {
	Factor int     `json:"factor"` // counted from 1
	Share  float64 `json:"share"`  // of the power of the fitted table
	Active bool    `json:"active"`
	Shapes []Shape `json:"columns"` // those whose weights are probably not zero, the largest first
}

// Shape is what a column has of a factor.
type Shape struct {
	Column    string         `json:"column"`
	Weight    console.Number `json:"weight"` // in the column's units, for a factor of standard deviation 1
	Inclusion float64        `json:"inclusion"`
}

// SampleGroup is a group of rows of a model of factors.
type SampleGroup struct {
	Group   string           `json:"group"`
	Rows    int              `json:"rows"`
	Factors []console.Number `json:"factors"` // prior variance of each factor in the group over the largest of any group; about 0 if it is silent
}

// Factors below these are not told: with less of the power, and of a column with less of a probability to have it.
const (
	leastShare     = 1e-3
	leastInclusion = 0.5
)

// describeFactors reports on a model of factors.
func (r *Report) describeFactors(m *mkl.FactorAnalysisModel) {
	weights, inclusion := m.Weights()
	scores, _ := m.Factors()
	r.Explained = m.VarianceExplained()
	r.kinds = slices.ContainsFunc(m.Views(), func(v mkl.FactorView) bool { return v.Kind != mkl.GaussianView })
	r.describeGroups(m)
	used := m.Used()
	for k, share := range m.Energy() {
		f := Factor{Factor: k + 1, Share: share, Active: share > leastShare}
		if r.Explained != nil {
			f.Active = slices.Contains(used, k)
		}
		var power float64
		for _, row := range scores {
			power += float64(row[k]*row[k]) / float64(len(scores))
		}
		for q := range weights {
			if inclusion[q][k] < leastInclusion {
				continue
			}
			_, scale := r.notes.Table.Unit(q)
			f.Shapes = append(f.Shapes, Shape{r.notes.Targets[q], console.Number(scale * weights[q][k] * math.Sqrt(power)), inclusion[q][k]})
		}
		slices.SortStableFunc(f.Shapes, func(a, b Shape) int {
			return cmp.Compare(math.Abs(float64(b.Weight)), math.Abs(float64(a.Weight)))
		})
		r.Factors = append(r.Factors, f)
	}
	if r.Explained == nil { // with views they are sorted by the variance that they explain
		slices.SortStableFunc(r.Factors, func(a, b Factor) int { return cmp.Compare(b.Share, a.Share) })
	}
	for q, sd := range m.NoiseSD() {
		_, scale := r.notes.Table.Unit(q)
		r.Targets = append(r.Targets, Target{Name: r.notes.Targets[q], NoiseSD: console.Number(scale * sd)})
	}
}

// describeGroups reports on the groups of rows.
func (r *Report) describeGroups(m *mkl.FactorAnalysisModel) {
	groups := m.Groups()
	for _, g := range groups {
		own := SampleGroup{Group: g.Name, Rows: g.Rows}
		for k, v := range g.Factors {
			most := v
			for _, other := range groups {
				most = max(most, other.Factors[k])
			}
			own.Factors = append(own.Factors, console.Number(v/most))
		}
		r.SampleGroups = append(r.SampleGroups, own)
	}
}

// mostColumns is the number of columns up to which all are listed.
const mostColumns = 12

// printFactors prints the factors that matter, and the noise of the columns.
func (r *Report) printFactors(out io.Writer) error {
	const most = 4
	if err := r.printExplained(out); err != nil {
		return err
	}
	rows := [][]string(nil)
	active := 0
	for _, f := range r.Factors {
		if !f.Active {
			continue
		}
		active++
		var on []string
		for _, s := range f.Shapes[:min(most, len(f.Shapes))] {
			on = append(on, s.Column+" "+console.Signed(float64(s.Weight)))
		}
		if more := len(f.Shapes) - len(on); more > 0 {
			on = append(on, fmt.Sprintf("… %d more", more))
		}
		rows = append(rows, []string{"", fmt.Sprintf("%.1f %%", 100*f.Share), fmt.Sprintf("factor%d", f.Factor), strings.Join(on, ", ")})
	}
	fmt.Fprintf(out, "\n%d of %s active: share of the fitted power, columns by what a standard deviation of the factor adds\n", active, console.Plural(len(r.Factors), "factor"))
	if err := console.PrintTable(out, "lrll", rows); err != nil {
		return err
	}
	var noise []float64
	var noisy []string
	for _, t := range r.Targets {
		if t.NoiseSD > 0 { // a view of 0 and 1 or of counts has no noise
			noise, noisy = append(noise, float64(t.NoiseSD)), append(noisy, t.Name)
		}
	}
	if noise == nil {
		return nil
	}
	if len(r.Targets) > mostColumns {
		slices.Sort(noise)
		fmt.Fprintf(out, "\nnoise SD %s in the median column, from %s to %s\n",
			console.Figure(noise[len(noise)/2]), console.Figure(noise[0]), console.Figure(noise[len(noise)-1]))
		return nil
	}
	rows = [][]string{{"column", "noise SD"}}
	for i, name := range noisy {
		rows = append(rows, []string{name, console.Figure(noise[i])})
	}
	fmt.Fprintln(out)
	return console.PrintTable(out, "lr", rows)
}

// printExplained prints, for the model of a table with views, how much of each view the active factors explain.
func (r *Report) printExplained(out io.Writer) error {
	if r.Explained == nil {
		return nil
	}
	percent := func(x float64) string { return fmt.Sprintf("%.1f", 100*x) }
	rows, align, least := [][]string{{"view"}}, "l", "a view"
	if r.SampleGroups != nil {
		rows[0], align, least = append(rows[0], "group"), align+"l", "a view in some group"
	}
	rows[0], align = append(rows[0], "all"), align+"r"
	for _, f := range r.Factors {
		if f.Active {
			rows[0], align = append(rows[0], fmt.Sprintf("factor%d", f.Factor)), align+"r"
		}
	}
	row := func(names []string, all float64, factors []float64) {
		names = append(names, percent(all))
		for k, f := range r.Factors {
			if f.Active {
				names = append(names, percent(factors[k]))
			}
		}
		rows = append(rows, names)
	}
	for _, v := range r.Explained {
		if v.Groups == nil {
			row([]string{v.View}, v.All, v.Factors)
			continue
		}
		for _, g := range v.Groups {
			row([]string{v.View, g.Group}, g.All, g.Factors)
		}
		row([]string{v.View, "(all rows)"}, v.All, v.Factors)
	}
	what := "variance explained"
	if r.kinds {
		what += " (deviance, of views of 0 and 1 and of counts)"
	}
	fmt.Fprintf(out, "\n%s, %%: of each view by all factors together, and by each factor that explains 1 %% of %s\n", what, least)
	return console.PrintTable(out, align, rows)
}

// OfTable says in a line what the table of a model of factors is.
func OfTable(t *notes.Table, rows int, columns []string) string {
	text := fmt.Sprintf("%s, %s, factors", console.Plural(rows, "row"), console.Plural(len(columns), "column"))
	if t.Listed() {
		return text + fmt.Sprintf(", of a list of entries (%s)", strings.Join(t.Entries, ", "))
	}
	if len(columns) <= mostColumns {
		text += ": " + strings.Join(columns, ", ")
	}
	return text
}

// OfPairs says in a line what the pairs of a model are.
func OfPairs(n *notes.Pairs, task string) string {
	return fmt.Sprintf("%s (%s), %s (%s), %s of %s", console.Plural(len(n.Rows), "row"), n.Entries[0],
		console.Plural(len(n.Columns), "column"), n.Entries[1], task, n.Entries[2])
}
