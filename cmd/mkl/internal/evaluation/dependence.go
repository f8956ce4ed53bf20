package evaluation

import (
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/mkl"
)

// Partial dependence takes so many values of a column, over so many rows.
const (
	dependenceValues = 24
	DependenceRows   = 100
	surfaceValues    = 6 // of each of two columns
)

// Dependence is the partial dependence of the predictions on a column: the mean prediction of some rows, in all of
// which the column has a value, for values between the 2 % and 98 % points of the column, or for
// each category of a column of text, which values then count. It returns one line for each
// target, or class or label, and the column's own values; none if the column has one value only.
func (m *Samples) Dependence(e *console.Env, c Importance, interval float64, rng *rand.Rand) (lines []page.Dependence, values []float64, err error) {
	values = m.valuesOf(c)
	grid := valueGrid(values, dependenceValues)
	if c.Type == table.Text {
		grid = make([]float64, len(c.Categories))
		for g := range grid {
			grid[g] = float64(g)
		}
	}
	if len(grid) < 2 {
		return nil, nil, nil
	}
	rows := someRows(rng, len(m.Kept), DependenceRows)
	lines, err = m.averages(e, rows, len(grid), interval, func(x []mkl.Features, row, g int) { c.put(x, row, grid[g]) })
	for k := range lines {
		lines[k].At = grid
	}
	return lines, values, err
}

// Surface is the partial dependence on two columns of numbers: the value i + j·len(gridA) of a line is the value
// at gridA[i] and gridB[j]. The result is empty if one of the columns has only one value.
func (m *Samples) Surface(e *console.Env, a, b Importance, interval float64, rng *rand.Rand) (lines []page.Dependence, gridA, gridB []float64, err error) {
	gridA, gridB = valueGrid(m.valuesOf(a), surfaceValues), valueGrid(m.valuesOf(b), surfaceValues)
	if len(gridA) < 2 || len(gridB) < 2 {
		return nil, nil, nil, nil
	}
	rows := someRows(rng, len(m.Kept), DependenceRows)
	lines, err = m.averages(e, rows, len(gridA)*len(gridB), interval, func(x []mkl.Features, row, g int) {
		a.put(x, row, gridA[g%len(gridA)])
		b.put(x, row, gridB[g/len(gridA)])
	})
	return lines, gridA, gridB, err
}

// valuesOf are the values of a column in the rows that could be predicted; of text the first category's.
func (m *Samples) valuesOf(c Importance) (values []float64) {
	feature := c.at[0]
	for i := range m.X[feature.input].Rows {
		if v := m.X[feature.input].At(i, feature.first); v == v { // else the row lacks the view
			values = append(values, v)
		}
	}
	return values
}

// put gives a column a value in a row, or the category that the value counts, unless the row lacks the view.
func (c Importance) put(x []mkl.Features, row int, v float64) {
	for _, a := range c.at {
		features := x[a.input].Row(row)[a.first : a.first+a.n]
		if features[0] != features[0] {
			continue
		}
		if c.Type == table.Text && !a.column.Codes {
			clear(features) // also the indicator of missing values
			features[int(v)] = 1
		} else {
			a.column.Put(features, v)
		}
	}
}

// averages predicts some rows at a number of points, and averages over the rows. At each point, set changes the rows first. For targets that are numbers the band is the mean predictive interval, for probabilities the
// middle 80 % of the rows. There is one line for each target, or class or label.
func (m *Samples) averages(e *console.Env, rows []int, points int, interval float64, set func(x []mkl.Features, row, point int)) (lines []page.Dependence, err error) {
	n := len(rows)
	repeated := make([]int, 0, n*points)
	for range points {
		repeated = append(repeated, rows...)
	}
	x := m.take(repeated)
	for i := range repeated {
		set(x, i, i/n)
	}
	p, err := prediction.By(e.Ctx, m.model, m.options, x)
	if err != nil {
		return nil, err
	}
	switch p := p.(type) {
	case prediction.Numbers:
		for o, target := range m.Notes.Targets {
			lower, upper := p.Intervals(o, interval)
			lines = append(lines, meanLine(target, points, p.Mean[o], lower, upper))
		}
	case prediction.Times:
		lines = append(lines, meanLine(m.Notes.Targets[0], points, p.Median(), p.Quantile(0.5-float64(0.5*interval)), p.Quantile(0.5+float64(0.5*interval))))
	case prediction.Classes:
		for k, class := range p.Classes {
			if len(p.Classes) == 2 && k == 0 {
				continue
			}
			q := make([]float64, len(p.Probability))
			for i := range q {
				q[i] = p.Probability[i][k]
			}
			lines = append(lines, probabilityLine(class, points, q))
		}
	case prediction.Labels:
		for o, target := range m.Notes.Targets {
			lines = append(lines, probabilityLine(target, points, p.Probability[o]))
		}
	}
	return lines, nil
}

// meanLine is the dependence of a prediction with an interval, which are given for all rows at the first point, then at
// the second, and so on.
func meanLine(name string, points int, mean, lower, upper []float64) page.Dependence {
	d := page.Dependence{Target: name}
	n := len(mean) / points
	for g := range points {
		for _, one := range []struct {
			of   *[]float64
			from []float64
		}{{&d.Mean, mean}, {&d.Low, lower}, {&d.High, upper}} {
			average, _ := measure.MeanSD(one.from[g*n : (g+1)*n])
			*one.of = append(*one.of, average)
		}
	}
	return d
}

// probabilityLine is the dependence of a probability, which is given for all rows at the first point, then at
// the second, and so on.
func probabilityLine(name string, points int, probability []float64) page.Dependence {
	d := page.Dependence{Target: name}
	n := len(probability) / points
	for g := range points {
		some := slices.Clone(probability[g*n : (g+1)*n])
		slices.Sort(some)
		mean, _ := measure.MeanSD(some)
		d.Mean = append(d.Mean, mean)
		d.Low, d.High = append(d.Low, some[n/10]), append(d.High, some[n-1-n/10])
	}
	return d
}

// valueGrid are the distinct values if they are no more than most, or else so many even steps between the
// 2 % and the 98 % point.
func valueGrid(values []float64, most int) []float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	if few := slices.Compact(slices.Clone(sorted)); len(few) <= most {
		return few
	}
	low, high := sorted[len(sorted)/50], sorted[len(sorted)-1-len(sorted)/50]
	if low == high {
		low, high = sorted[0], sorted[len(sorted)-1]
	}
	grid := make([]float64, most)
	for g := range grid {
		at := float64(g) / float64(most-1)
		grid[g] = float64((1-at)*low) + float64(at*high) // high − low may be beyond all numbers
	}
	return grid
}

// mostCategories are the most of a column of text for which there is a partial dependence.
const mostCategories = 20

// DependsOn lists the columns whose importance is more than twice its error, the most important first.
func DependsOn(columns []Importance, most int) (some []Importance) {
	for _, c := range columns {
		prose := c.Type == table.Text && len(c.Categories) == 0
		if !prose && len(c.Categories) <= mostCategories && c.Rise > 2*c.SE && len(some) < most {
			some = append(some, c)
		}
	}
	return some
}
