package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/measure"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// Partial dependence takes so many values of a column, over so many rows.
const (
	dependenceValues = 24
	dependenceRows   = 100
)

// dependence is the partial dependence of the predictions on a column: the mean prediction of some rows, in all of
// which the column has a value, for values between the 2 % and 98 % points of the column, or for
// each category of a column of text, which values then count. For targets that are
// numbers the band is the mean predictive interval, for probabilities the middle 80 % of the rows. It returns one line for each
// target, or class or label, and the column's own values; none if the column has one value only.
func (m *tested) dependence(e *console.Env, c importance, interval float64, rng *rand.Rand) (lines []page.Dependence, values []float64, err error) {
	feature := c.at[0]
	for i := range m.x[feature.input].Rows {
		if v := m.x[feature.input].At(i, feature.first); v == v { // else the row lacks the view
			values = append(values, v)
		}
	}
	grid := valueGrid(values)
	if c.kind == table.Text {
		grid = make([]float64, len(c.categories))
		for g := range grid {
			grid[g] = float64(g)
		}
	}
	if len(grid) < 2 {
		return nil, nil, nil
	}
	rows := someRows(rng, len(m.kept), dependenceRows)
	x := make([]mkl.Features, len(m.x))
	for i := range x {
		repeated := make([]int, 0, len(rows)*len(grid))
		for range grid {
			repeated = append(repeated, rows...)
		}
		x[i] = pickRows(m.x[i], repeated)
	}
	for _, a := range c.at {
		for i := range x[a.input].Rows {
			row := x[a.input].Row(i)[a.first : a.first+a.n]
			if row[0] != row[0] {
				continue // it lacks the view
			}
			clear(row) // also the indicator of missing values
			if g := i / len(rows); c.kind == table.Text {
				row[g] = 1
			} else {
				row[0] = grid[g]
			}
		}
	}
	p, err := predict(e.Ctx, m.Model, m.options, x)
	if err != nil {
		return nil, nil, err
	}
	n := len(rows)
	switch p := p.(type) {
	case numberPrediction:
		z := measure.Quantile(interval)
		for o, target := range m.notes.Targets {
			d := page.Dependence{Target: target, At: grid}
			for g := range grid {
				mean, _ := measure.MeanSD(p.Mean[o][g*n : (g+1)*n])
				half := 0.0
				for _, v := range p.Variance[o][g*n : (g+1)*n] {
					half += z * math.Sqrt(v) / float64(n)
				}
				d.Mean, d.Low, d.High = append(d.Mean, mean), append(d.Low, mean-half), append(d.High, mean+half)
			}
			lines = append(lines, d)
		}
	case classPrediction:
		for k, class := range p.classes {
			if len(p.classes) == 2 && k == 0 {
				continue
			}
			q := make([]float64, len(p.Probability))
			for i := range q {
				q[i] = p.Probability[i][k]
			}
			lines = append(lines, probabilityLine(class, grid, q))
		}
	case labelPrediction:
		for o, target := range m.notes.Targets {
			lines = append(lines, probabilityLine(target, grid, p.Probability[o]))
		}
	}
	return lines, values, nil
}

// probabilityLine is the dependence of a probability, which is given for all rows with the first value, then with
// the second, and so on.
func probabilityLine(name string, grid, probability []float64) page.Dependence {
	d := page.Dependence{Target: name, At: grid}
	n := len(probability) / len(grid)
	for g := range grid {
		some := slices.Clone(probability[g*n : (g+1)*n])
		slices.Sort(some)
		mean, _ := measure.MeanSD(some)
		d.Mean = append(d.Mean, mean)
		d.Low, d.High = append(d.Low, some[n/10]), append(d.High, some[n-1-n/10])
	}
	return d
}

// valueGrid are the distinct values if they are few, or else even steps between the 2 % and
// the 98 % point.
func valueGrid(values []float64) []float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	if few := slices.Compact(slices.Clone(sorted)); len(few) <= dependenceValues {
		return few
	}
	low, high := sorted[len(sorted)/50], sorted[len(sorted)-1-len(sorted)/50]
	if low == high {
		low, high = sorted[0], sorted[len(sorted)-1]
	}
	grid := make([]float64, dependenceValues)
	for g := range grid {
		grid[g] = low + (high-low)*float64(g)/float64(dependenceValues-1)
	}
	return grid
}

// mostCategories are the most of a column of text for which there is a partial dependence.
const mostCategories = 20

// dependsOn lists the columns whose importance is more than twice its error, the most important first.
func dependsOn(columns []importance, most int) (some []importance) {
	for _, c := range columns {
		if len(c.categories) <= mostCategories && c.rise > 2*c.se && len(some) < most {
			some = append(some, c)
		}
	}
	return some
}
