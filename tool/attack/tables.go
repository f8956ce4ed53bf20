package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/bmkl/bmkl/internal/testkit/siege"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/choose"
	"github.com/bmkl/bmkl/mkl/metrics"
	"github.com/bmkl/bmkl/mkl/sequence"
)

// otherArguments are attacks by what is no matrix of features: tables, places in them, strings, and what
// predictions are measured by.
func otherArguments() []siege.Attack {
	return []siege.Attack{
		{Name: "tables", Run: func(r *rand.Rand) siege.Case { return attackTables(mostlyMild(r)) }},
		{Name: "sides of pairs", Run: func(r *rand.Rand) siege.Case { return attackSides(mostlyMild(r)) }},
		{Name: "strings", Run: func(r *rand.Rand) siege.Case { return attackStrings(mostlyMild(r)) }},
		{Name: "measures and folds", Run: func(r *rand.Rand) siege.Case { return attackMeasures(newProblem(r)) }},
	}
}

func mostlyMild(r *rand.Rand) *problem {
	p := newProblem(r)
	p.share = pick(r, 0, 0.02, 0.1)
	return p
}

// past32 is the least index that int32 takes for 0; where an int has 32 bits no such index exists, and
// it is 0.
const past32 = 1 << 32 & math.MaxInt

// table returns a table of so many rows and columns, of any kind that there is, or an invalid
// table.
func (p *problem) table(rows, cols int) mkl.Table {
	value := func() float64 {
		if !p.mild() && p.IntN(20) == 0 {
			return p.number()
		}
		return p.NormFloat64()
	}
	at := func(n int) int {
		if !p.mild() && p.IntN(20) == 0 {
			return pick(p.Rand, -1, n, past32, past32+1, math.MaxInt, math.MinInt)
		}
		return p.IntN(max(n, 1))
	}
	count := 1 + p.IntN(2*rows*cols+1)
	switch p.IntN(5) {
	case 0:
		e := mkl.SparseTable{Rows: rows, Cols: cols}
		if !p.mild() {
			e.Rows = pick(p.Rand, rows, -1, 0, math.MaxInt32, past32, past32<<8&math.MaxInt, math.MaxInt)
			e.Cols = pick(p.Rand, cols, -1, 0, math.MaxInt32, past32, math.MaxInt)
		}
		seen := map[mkl.TableCell]bool{}
		for range count {
			c := mkl.TableCell{Row: at(e.Rows), Col: at(e.Cols)}
			if !seen[c] || p.IntN(50) == 0 {
				e.Entries = append(e.Entries, mkl.TableEntry{TableCell: c, Value: value()})
			}
			seen[c] = true
		}
		return e
	case 1:
		r := &mkl.Ratings[float64, string]{}
		seen := map[mkl.TableCell]bool{}
		for range count {
			row, col := pick(p.Rand, 0, 1, 2, math.Copysign(0, -1), math.NaN(), math.Inf(1)), pick(p.Rand, "", "a", "\x00", "\xff")
			if c := r.At(row, col); !seen[c] || p.IntN(50) == 0 {
				seen[c] = true
				r.Add(row, col, value())
			}
		}
		return r
	}
	d := make(mkl.DenseTable, rows)
	for i := range d {
		d[i] = make([]float64, cols)
		if !p.mild() && p.IntN(10) == 0 {
			d[i] = make([]float64, pick(p.Rand, 0, cols+1))
		}
		for j := range d[i] {
			if d[i][j] = value(); p.IntN(4) == 0 {
				d[i][j] = math.NaN()
			}
		}
	}
	if !p.mild() && p.IntN(10) == 0 {
		return pick[mkl.Table](p.Rand, nil, mkl.DenseTable{}, mkl.DenseTable(nil), mkl.SparseTable{}, &mkl.Ratings[int, int]{}, d[:1])
	}
	return d
}

// attackTables fits factors to a table, and asks what they make of others.
func attackTables(p *problem) siege.Case {
	cols := 1 + p.IntN(5)
	e := with(p.fitting(), mkl.FactorAnalysis{Factors: p.count(0, 1, 3), SharedNoise: p.IntN(2) == 0, NoOffsets: p.IntN(2) == 0})
	m, err := e.Fit(context.Background(), p.table(p.n, cols))
	if m == nil {
		return refusal(err)
	}
	c := siege.Case{Outcome: siege.Held, Wrong: judge(p, m)}
	complain := func(format string, args ...any) { c.Wrong = append(c.Wrong, fmt.Sprintf(format, args...)) }
	rows, cols, factors := m.Dims()
	for _, ask := range []struct {
		name string
		of   func(mkl.Table, ...string) (mean, variance [][]float64, err error)
	}{{"Transform", m.Transform}, {"CompleteRows", m.CompleteRows}, {"LeaveOneOut", m.LeaveOneOut}} {
		mean, variance, err := ask.of(p.table(1+p.IntN(4), pick(p.Rand, cols, cols, cols, cols+1, 0)))
		for i := range mean {
			for j, v := range mean[i] {
				s := variance[i][j]
				gap := ask.name == "LeaveOneOut" && v != v && s != s // of what was not observed
				if err == nil && !gap && (v-v != 0 || !(s > 0) || math.IsInf(s, 1)) {
					complain("%s: %g ± √%g", ask.name, v, s)
				}
			}
		}
	}
	for _, bad := range []mkl.TableCell{{Row: -1}, {Col: -1}, {Row: rows}, {Col: cols}, {Row: math.MaxInt}, {Col: max(past32, cols)}, {Row: math.MinInt}} {
		if _, _, err := m.Complete(bad); err == nil {
			complain("cell %v is completed", bad)
		}
	}
	for _, bad := range [][][]float64{{{}}, {nil}, {make([]float64, factors+1)}, {{math.NaN()}}, {{math.Inf(1)}}} {
		if got, err := m.InverseTransform(bad); err == nil && !(factors == 0 && len(bad[0]) == 0) {
			complain("InverseTransform of %v is %v", bad, got)
		}
	}
	return c
}

// attackSides fits pairs in a table of any kind, and asks for rows and columns, new and known, together and one
// by one.
func attackSides(p *problem) siege.Case {
	ctx, f := context.Background(), p.fitting()
	rows, columns := p.views(), p.views()
	values, verr := with(f, mkl.PairRegression{Components: p.count(0, 1, 2)}).Fit(ctx, rows, columns, p.table(p.n, p.n))
	if values == nil {
		return refusal(verr)
	}
	c := siege.Case{Outcome: siege.Held, Wrong: judge(p, values)}
	complain := func(format string, args ...any) { c.Wrong = append(c.Wrong, fmt.Sprintf(format, args...)) }
	n, _, _ := values.Dims()
	for _, bad := range []mkl.PairSide{{Known: []int{-1}}, {Known: []int{n}}, {Known: []int{math.MaxInt}}, {X: []mkl.Features{{}}}, {X: []mkl.Features{}, Known: []int{0}}} {
		if mean, _, err := values.Predict(bad, mkl.PairSide{}); err == nil && (len(mean) > 0 || bad.X == nil) {
			complain("side %+v is predicted: %v", bad, mean)
		}
	}
	mean, variance, err := values.Predict(mkl.PairSide{}, mkl.PairSide{Known: []int{0, 0, n - 1}})
	if err != nil {
		return c // samples that cannot be predicted
	}
	c.Wrong = append(c.Wrong, judgePrediction(values, prediction{mean: mean, variance: variance})...)
	one, err := values.Predictor(mkl.PredictorOptions{MeanOnly: p.IntN(3) == 0, Unhealed: p.IntN(2) == 0})
	if err != nil {
		return c
	}
	row, column := one.Row(), one.Column()
	if _, _, err := one.Predict(row, column); err == nil {
		complain("factors that are not known yet are predicted")
	}
	for _, err := range []error{one.New(row), one.New(row, nil), one.New(nil), one.Known(row, -1), one.Known(row, n), one.Known(nil, 0), one.Known(column, math.MaxInt)} {
		if err == nil {
			complain("wrong factors are taken")
		}
	}
	if one.Known(row, 0) == nil && one.Known(column, n-1) == nil {
		if v, _, err := one.Predict(row, column); err == nil && math.Abs(v-mean[0][2]) > float64(1e-6*(1+math.Abs(v)))+float64(1e-6*math.Sqrt(variance[0][2])) {
			complain("alone it is %g, together %g", v, mean[0][2])
		}
	}
	for _, err := range []error{func() error { _, _, err := one.Predict(column, row); return err }(), func() error { _, _, err := one.Predict(nil, nil); return err }()} {
		if err == nil {
			complain("factors of wrong sides are predicted")
		}
	}
	return c
}

// attackStrings makes views of strings and fits a regression to them.
func attackStrings(p *problem) siege.Case {
	ctx := context.Background()
	text := func() string {
		letters := "ACGT"
		if !p.mild() {
			letters = pick(p.Rand, "ARNDCQEGHILKMFPSTWYVX", "a", "\x00\xff\xc3é", "acgu-* \n")
		}
		var b strings.Builder
		length := pick(p.Rand, 8, 20, 60)
		if !p.mild() {
			length = pick(p.Rand, 0, 1, 2, 5)
		}
		for range length {
			b.WriteByte(letters[p.IntN(len(letters))])
		}
		return b.String()
	}
	gaps := func() (g sequence.Gaps) {
		if !p.mild() {
			g = sequence.Gaps{Open: p.count(1, 1000), Extend: p.count(0, 1)}
		}
		return g
	}
	s := &sequence.Set{Alphabet: sequence.Alphabet(p.count(0, 1, 2)), Workers: 1}
	for range p.n {
		s.Strings = append(s.Strings, text())
	}
	for range 1 + p.IntN(3) {
		s.Kernels = append(s.Kernels, pick[sequence.Kernel](p.Rand,
			sequence.Spectrum{K: p.count(0, 1, 4)}, sequence.Mismatch{K: p.count(0, 3), M: p.count(0, 1)}, sequence.Oligomer{K: p.count(0, 1), Longest: p.count(0, 5)},
			sequence.Subsequence{K: p.count(0, 2), Decay: p.size(0, 0.5, 1)}, sequence.Alignment{Gaps: gaps()}, sequence.Pairwise{Gaps: gaps()},
			sequence.LocalAlignment{Beta: p.size(0, 0.5, 20), Gaps: gaps(), Sum: p.IntN(2) == 0},
		))
	}
	views, err := s.Views(ctx)
	if err != nil {
		return siege.Case{Wrong: sane(err)}
	}
	c := siege.Case{Outcome: siege.Held}
	for k, v := range views {
		for i, x := range v.X.Data {
			if x-x != 0 {
				c.Wrong = append(c.Wrong, fmt.Sprintf("%v: entry %d of its kernel is %g", s.Kernels[k], i, x))
				return c
			}
		}
	}
	kept, err := s.MarshalJSON()
	var back sequence.Set
	if err == nil {
		err = back.UnmarshalJSON(kept)
	}
	if err != nil {
		return siege.Case{Wrong: sane(err)}
	}
	m, err := some(mkl.Regression{Ascent: mkl.Ascent{MaxSweeps: 2}, AllowDuplicates: true}.Fit(ctx, views, p.targets()))
	if m == nil {
		return refusal(err)
	}
	fresh := []string{text(), "", text(), s.Strings[0], strings.Repeat("A", 300)}
	a, aerr := s.Inputs(ctx, fresh)
	b, berr := back.Inputs(ctx, fresh)
	if aerr != nil || berr != nil {
		if (aerr == nil) != (berr == nil) {
			c.Wrong = append(c.Wrong, fmt.Sprintf("read back the set has other errors: %v, %v", aerr, berr))
		}
		return c
	}
	got, err := predict(m, a)
	if err != nil {
		c.Wrong = append(c.Wrong, sane(err)...)
		return c
	}
	again, err := predict(m, b)
	if err != nil || !same(got, again) {
		c.Wrong = append(c.Wrong, "read back the set compares differently")
	}
	c.Wrong = append(c.Wrong, judgePrediction(m, got)...)
	return c
}

// attackMeasures measures invalid predictions, and divides samples that do not exist.
func attackMeasures(p *problem) siege.Case {
	numbers := func() []float64 {
		x := make([]float64, pick(p.Rand, p.n, p.n, p.n, 0, p.n+1))
		for i := range x {
			if x[i] = p.NormFloat64(); !p.mild() {
				x[i] = p.number()
			}
		}
		return x
	}
	bools := func() []bool {
		x := make([]bool, pick(p.Rand, p.n, p.n, p.n, 0, p.n+1))
		for i := range x {
			x[i] = p.IntN(2) == 0
		}
		return x
	}
	ints := func() []int {
		x := make([]int, pick(p.Rand, p.n, p.n, p.n, 0))
		for i := range x {
			x[i] = p.count(0, 1)
		}
		return x
	}
	var shares [][]float64
	for range pick(p.Rand, p.n, p.n, 0) {
		q := p.size(0, 0.3, 1)
		shares = append(shares, pick(p.Rand, []float64{q, 1 - q}, []float64{q, 1 - q}, []float64{q, 1 - q}, nil, []float64{1}))
	}
	c := siege.Case{Outcome: siege.Held}
	number := func(name string) func(v float64, err error) {
		return func(v float64, err error) {
			if err == nil && v != v {
				c.Wrong = append(c.Wrong, name+" is NaN without an error")
			}
			if err != nil {
				c.Wrong = append(c.Wrong, sane(err)...)
			}
		}
	}
	number("RMSE")(metrics.RMSE(numbers(), numbers()))
	number("NLPD")(metrics.NLPD(numbers(), numbers(), numbers()))
	number("Coverage")(metrics.Coverage(numbers(), numbers(), numbers(), p.size(0.5, 0.9)))
	number("Concordance")(metrics.Concordance(numbers(), numbers(), p.size(0, 1)))
	number("WeightedConcordance")(metrics.WeightedConcordance([][]float64{numbers(), numbers()}, [][]float64{numbers(), numbers()}, numbers()))
	number("ConcordanceWeight")(metrics.ConcordanceWeight(numbers(), p.size(0, 1)))
	number("LogLoss")(metrics.LogLoss(ints(), shares))
	number("Brier")(metrics.Brier(ints(), shares))
	number("AUC")(metrics.AUC(bools(), numbers()))
	number("ROCn")(metrics.ROCn(bools(), numbers(), p.count(1, 50)))
	number("MedianRFP")(metrics.MedianRFP(bools(), numbers()))
	number("EqualErrorRate")(metrics.EqualErrorRate(bools(), numbers()))
	number("BreakEven")(metrics.BreakEven(bools(), numbers()))
	_, _, _ = metrics.ROC(bools(), numbers())
	_, _ = metrics.Calibration(bools(), numbers(), p.count(1, 10))

	plan := choose.Plan{Folds: p.count(0, 2, 5), Repeats: p.count(0, 1, 3), Seed: p.Uint64()}
	switch p.IntN(4) {
	case 0:
		plan.Strata = ints()
	case 1:
		plan.Groups = ints()
	case 2:
		plan.Time = numbers()
	}
	n := pick(p.Rand, p.n, p.n, 0, -1)
	folds, err := choose.Split(n, plan)
	if err != nil {
		c.Wrong = append(c.Wrong, sane(err)...)
	}
	for _, f := range folds {
		if len(f.Train) == 0 || len(f.Test) == 0 {
			c.Wrong = append(c.Wrong, fmt.Sprintf("a fold of %d and %d samples", len(f.Train), len(f.Test)))
		}
	}
	return c
}
