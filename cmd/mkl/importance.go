package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/measure"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// Limits of what permutation importance costs: so many rows and columns, and about so many
// permutations in all, of each column mostRepeats at most.
const (
	mostPermutedRows    = 400
	mostPermutedColumns = 400
	permutations        = 200
	mostRepeats         = 5
)

// importance is how much worse predictions become where a view or a column is permuted among the
// samples: the mean rise of their loss with its standard error over the samples.
type importance struct {
	name     string
	rise, se float64

	at         []place // where the features are
	kind       table.Type
	categories []string // of a column of text
}

// place is some features of one of the model's inputs.
type place struct {
	input, first, n int
	codes           bool // of text: one feature counts the categories, in place of one for each
}

// sampleLosses are the losses of some rows, by the same row in the prediction and in the data: of numbers
// the squared error over the variance of the truth, averaged over the targets, and else the Brier score, averaged over
// the labels. It is NaN where the truth is missing.
func (m *tested) sampleLosses(p prediction, rows []int) ([]float64, error) {
	loss := make([]float64, len(rows))
	switch p := p.(type) {
	case numberPrediction:
		for o, j := range m.truth {
			truth := m.main.Data.Numbers[j]
			variance := presentVariance(truth)
			for k, i := range rows {
				d := truth[i] - p.Mean[o][k]
				loss[k] += d * d / variance / float64(len(m.truth))
			}
		}
	case classPrediction:
		for k, i := range rows {
			label := m.main.Data.Labels[m.truth[0]][i]
			if label == "" {
				loss[k] = math.NaN()
				continue
			}
			for c, q := range p.Probability[k] {
				if p.classes[c] == label {
					q--
				}
				loss[k] += q * q
			}
		}
	case labelPrediction:
		for o, j := range m.truth {
			has, err := hasLabel(m.main, j)
			if err != nil {
				return nil, err
			}
			for k, i := range rows {
				d := p.Probability[o][k] - float64(has[i]-mkl.Absent)
				if has[i] == mkl.Unknown {
					d = math.NaN()
				}
				loss[k] += 2 * d * d / float64(len(m.truth))
			}
		}
	}
	return loss, nil
}

// presentVariance is the variance of the numbers that are there, 1 if it is 0.
func presentVariance(x []float64) float64 {
	x = slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	if _, sd := measure.MeanSD(x); sd > 0 {
		return sd * sd
	}
	return 1
}

// importances permutes every view, if there are several, and every column of the views that are made of columns,
// and measures what predictions of at most mostPermutedRows rows lose. The result is in the order of the
// loss. rows are those that were used; all tells whether all columns were looked at.
func (m *tested) importances(e *console.Env, rng *rand.Rand) (views, columns []importance, rows int, all bool, err error) {
	some := someRows(rng, len(m.kept), mostPermutedRows)
	x := make([]mkl.Features, len(m.x))
	for i := range x {
		x[i] = m.x[i].TakeRows(some)
	}
	opt := m.options
	opt.MeanOnly = m.est.form == numbers
	base, err := m.losses(e, opt, x, some)
	if err != nil {
		return nil, nil, 0, false, err
	}
	if names := m.notes.viewNames(); len(names) > 1 {
		for _, name := range names {
			view := importance{name: name}
			for i, v := range m.notes.Views {
				if v.Name == name {
					view.at = append(view.at, place{input: i, n: x[i].Cols})
				}
			}
			views = append(views, view)
		}
	}
	columns = m.columns()
	if all = len(columns) <= mostPermutedColumns; !all {
		columns = nil
	}
	repeats := max(1, min(mostRepeats, permutations/max(1, len(columns))))
	bar := console.NewProgress(e, false, (len(views)+len(columns))*repeats, "permutations")
	defer bar.Finish()
	for _, group := range [][]importance{views, columns} {
		for g := range group {
			rise := make([]float64, len(some))
			for range repeats {
				loss, err := m.losses(e, opt, permuted(x, group[g].at, rng.Perm(len(some))), some)
				if err != nil {
					return nil, nil, 0, false, err
				}
				for k := range rise {
					rise[k] += (loss[k] - base[k]) / float64(repeats)
				}
				bar.Step()
			}
			group[g].rise, group[g].se = meanError(rise)
		}
		slices.SortStableFunc(group, func(a, b importance) int {
			switch {
			case a.rise > b.rise:
				return -1
			case a.rise < b.rise:
				return 1
			}
			return strings.Compare(a.name, b.name)
		})
	}
	return views, columns, len(some), all, nil
}

// losses predicts and measures rows.
func (m *tested) losses(e *console.Env, opt mkl.PredictOptions, x []mkl.Features, rows []int) ([]float64, error) {
	p, err := predict(e.Ctx, m.Model, opt, x)
	if err != nil {
		return nil, err
	}
	return m.sampleLosses(p, rows)
}

// columns lists the columns of the table that the model's features are made of, each with all the
// places where they are; not those of kernels and distances that are given.
func (m *tested) columns() (all []importance) {
	type column struct {
		file *console.File
		at   int
	}
	seen := map[column]int{}
	for i, in := range m.inputs {
		if in.strings != nil || m.given(i) {
			continue
		}
		first := 0
		for k, c := range in.plan {
			key := column{in.File, in.Columns[k]}
			g, ok := seen[key]
			if !ok {
				g = len(all)
				seen[key] = g
				all = append(all, importance{name: c.Name, kind: c.Type, categories: c.Categories})
			}
			all[g].at = append(all[g].at, place{i, first, c.Width(), c.Codes})
			first += c.Width()
		}
	}
	return all
}

// given tells whether the columns of an input are kernels or distances.
func (m *tested) given(input int) bool {
	weights := m.KernelWeights()
	for _, v := range m.Inputs()[input].Views {
		if k := weights[v].Kernel; strings.HasPrefix(k, "precomputed") || strings.HasPrefix(k, "distance(") {
			return true
		}
	}
	return false
}

// permuted is x with some features in the order perm. Rows that lack a view, or would take a
// part of it from one that does, stay as they are.
func permuted(x []mkl.Features, at []place, perm []int) []mkl.Features {
	out := slices.Clone(x)
	for _, a := range at {
		moved := out[a.input].Clone()
		for i, from := range perm {
			to, values := moved.Row(i)[a.first:a.first+a.n], x[a.input].Row(from)[a.first:a.first+a.n]
			if a.n == moved.Cols || to[0] == to[0] && values[0] == values[0] {
				copy(to, values)
			}
		}
		out[a.input] = moved
	}
	return out
}

// someRows are at most so many of n rows, by chance, in order.
func someRows(rng *rand.Rand, n, most int) []int {
	rows := rng.Perm(n)
	rows = rows[:min(n, most)]
	slices.Sort(rows)
	return rows
}

// meanError is the mean of the numbers that are there with its standard error.
func meanError(x []float64) (mean, se float64) {
	x = slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	if len(x) < 2 {
		return math.NaN(), math.NaN()
	}
	mean, sd := measure.MeanSD(x)
	return mean, sd / math.Sqrt(float64(len(x)))
}
