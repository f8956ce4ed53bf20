package evaluation

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/cmd/mkl/internal/saved"
	"github.com/bmkl/bmkl/internal/encode"
	"github.com/bmkl/bmkl/mkl"
)

// Limits of what permutation importance costs: so many rows and columns, and about so many
// permutations in all, of each column mostRepeats at most.
const (
	mostPermutedRows    = 400
	MostPermutedColumns = 400
	permutations        = 200
	mostRepeats         = 5
)

// Samples are rows of samples that were tested.
type Samples struct {
	*Tested
	inputs  *dataset.Inputs
	options prediction.Options // without exposures
	model   mkl.Model
}

// Samples are the rows as samples. A model of a table is refused, which the named command is not for.
func (m *Tested) Samples(command string) (*Samples, error) {
	if err := m.RefuseTables(command); err != nil {
		return nil, err
	}
	s, ok := m.Opened.Rows.(*saved.Samples)
	if !ok {
		return nil, console.Inputf("%s does not know the rows of %v", command, m.Opened.Model.Model)
	}
	return &Samples{m, s.Inputs, s.Options, m.Opened.Model.Model}, nil
}

// Counts reports whether the model is of counts.
func (m *Samples) Counts() bool {
	_, counts := m.model.(*mkl.CountModel)
	return counts
}

// Importance is how much worse predictions become where a view or a column is permuted among the samples: the mean
// rise of their loss with its standard error over the samples.
type Importance struct {
	Name     string
	Rise, SE float64

	at         []place // where the features are
	Type       table.Type
	Categories []string // of a column of text
}

// place is some features of one of the model's inputs.
type place struct {
	input, first, n int
	column          encode.Column
}

// sampleLosses are the losses of some rows, by the same row in the prediction and in the data: of numbers
// the squared error over the variance of the truth, averaged over the targets, of times and counts minus the log score, and else the Brier score, averaged over
// the labels. It is NaN where the truth is missing.
func (m *Samples) sampleLosses(p prediction.Prediction, rows []int) ([]float64, error) {
	loss := make([]float64, len(rows))
	switch p := p.(type) {
	case prediction.Numbers:
		if p.Counts != nil {
			for k, i := range rows {
				loss[k] = math.NaN()
				if y := m.Main.Data.Numbers[m.Truth[0]][i]; y == y {
					loss[k] = -p.Counts.LogProbability(k, y)
				}
			}
			return loss, nil
		}
		for o, j := range m.Truth {
			truth := m.Main.Data.Numbers[j]
			variance := presentVariance(truth)
			for k, i := range rows {
				d := truth[i] - p.Mean[o][k]
				loss[k] += d * d / variance / float64(len(m.Truth))
			}
		}
	case prediction.Times:
		for k, i := range rows {
			loss[k] = math.NaN()
			if t := m.Lifetimes[i]; !math.IsNaN(t.From) {
				loss[k] = -p.LogScore(k, t)
			}
		}
	case prediction.Classes:
		for k, i := range rows {
			label := m.Main.Data.Labels[m.Truth[0]][i]
			if label == "" {
				loss[k] = math.NaN()
				continue
			}
			for c, q := range p.Probability[k] {
				if p.Classes[c] == label {
					q--
				}
				loss[k] += q * q
			}
		}
	case prediction.Labels:
		for o, j := range m.Truth {
			has, err := dataset.HasLabel(m.Main, j)
			if err != nil {
				return nil, err
			}
			for k, i := range rows {
				d := p.Probability[o][k] - float64(has[i]-mkl.LabelAbsent)
				if has[i] == mkl.LabelUnknown {
					d = math.NaN()
				}
				loss[k] += 2 * d * d / float64(len(m.Truth))
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

// Importances are how much worse predictions become without each view and each column.
type Importances struct {
	Views, Columns []Importance // by the rise of the loss, the largest first
	Rows           int          // how many rows were permuted
	Left           bool         // the columns are too many, and were left out
}

// Importances permutes every view, if there are several, and every column of the views that are made of columns, and
// measures what predictions of at most mostPermutedRows rows lose. Of a single row nothing is known.
func (m *Samples) Importances(e *console.Env, rng *rand.Rand) (*Importances, error) {
	some := someRows(rng, len(m.Kept), mostPermutedRows)
	if len(some) < 2 { // nothing to permute
		return &Importances{Rows: len(some)}, nil
	}
	x := m.take(some)
	opt := m.options
	opt.MeanOnly = m.Estimator.Form == dataset.Numbers
	base, err := m.losses(e, opt, x, some)
	if err != nil {
		return nil, err
	}
	all := &Importances{Views: m.views(x), Columns: m.columns(), Rows: len(some)}
	if all.Left = len(all.Columns) > MostPermutedColumns; all.Left {
		all.Columns = nil
	}
	repeats := max(1, min(mostRepeats, permutations/max(1, len(all.Columns))))
	bar := console.NewProgress(e, false, (len(all.Views)+len(all.Columns))*repeats, "permutations")
	defer bar.Finish()
	for _, group := range [][]Importance{all.Views, all.Columns} {
		for g := range group {
			rise := make([]float64, len(some))
			for range repeats {
				loss, err := m.losses(e, opt, permuted(x, group[g].at, rng.Perm(len(some))), some)
				if err != nil {
					return nil, err
				}
				for k := range rise {
					rise[k] += (loss[k] - base[k]) / float64(repeats)
				}
				bar.Step()
			}
			group[g].Rise, group[g].SE = meanError(rise)
		}
		slices.SortStableFunc(group, largestFirst)
	}
	return all, nil
}

// largestFirst orders by the rise of the loss. A rise that is not known has no place in the order.
func largestFirst(a, b Importance) int {
	switch {
	case a.Rise > b.Rise:
		return -1
	case a.Rise < b.Rise:
		return 1
	}
	return strings.Compare(a.Name, b.Name)
}

// views lists the views with their places in features x; none if there is one view only.
func (m *Samples) views(x []mkl.Features) (all []Importance) {
	names := m.Notes.ViewNames()
	if len(names) < 2 {
		return nil
	}
	for _, name := range names {
		view := Importance{Name: name}
		for i, v := range m.Notes.Views {
			if v.Name == name {
				view.at = append(view.at, place{input: i, n: x[i].Cols})
			}
		}
		all = append(all, view)
	}
	return all
}

// take is the features of some rows.
func (m *Samples) take(rows []int) []mkl.Features {
	x := make([]mkl.Features, len(m.X))
	for i := range x {
		x[i] = m.X[i].TakeRows(rows)
	}
	return x
}

// losses predicts and measures rows.
func (m *Samples) losses(e *console.Env, opt prediction.Options, x []mkl.Features, rows []int) ([]float64, error) {
	opt.Exposure, opt.Offset = nil, nil
	if m.Exposure != nil {
		for _, i := range rows {
			opt.Exposure = append(opt.Exposure, m.Exposure[i])
		}
	}
	if m.Offset != nil {
		for _, i := range rows {
			opt.Offset = append(opt.Offset, m.Offset[i])
		}
	}
	p, err := prediction.By(e.Ctx, m.model, opt, x)
	if err != nil {
		return nil, err
	}
	return m.sampleLosses(p, rows)
}

// columns lists the columns of the table that the model's features are made of, each with all the places where its
// features are. Columns of kernels and distances that are given, and of strings, are not among them.
func (m *Samples) columns() (all []Importance) {
	type column struct {
		file *console.File
		at   int
	}
	seen := map[column]int{}
	for i := range m.Notes.Views {
		columns, source := m.inputs.Plan(i), m.inputs.Source(i)
		if columns == nil || m.given(i) {
			continue
		}
		first := 0
		for k, c := range columns {
			key := column{source.File, source.Columns[k]}
			g, ok := seen[key]
			if !ok {
				g = len(all)
				seen[key] = g
				all = append(all, Importance{Name: c.Name, Type: c.Type, Categories: c.Categories})
			}
			all[g].at = append(all[g].at, place{i, first, c.Width(), c})
			first += c.Width()
		}
	}
	return all
}

// given reports whether the columns of an input are kernels or distances.
func (m *Samples) given(input int) bool {
	weights := m.model.KernelWeights()
	for _, v := range m.model.Inputs()[input].Views {
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
