package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/bmkl/bmkl/internal/testkit/siege"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// asking returns an attack that fits one of all estimates to a problem, which prepare changes, and asks the model.
func asking(name string, all []estimate, prepare func(p *problem), of func(p *problem, m mkl.Model) []string) siege.Attack {
	return siege.Attack{Name: name, Run: func(r *rand.Rand) siege.Case {
		p := newProblem(r)
		prepare(p)
		m, err := all[r.IntN(len(all))].fit(context.Background(), p)
		if m == nil {
			return refusal(err)
		}
		c := siege.Case{Outcome: siege.Held}
		for _, wrong := range of(p, m) {
			c.Wrong = append(c.Wrong, m.Kind()+": "+wrong)
		}
		return c
	}}
}

// questions are attacks on models that are sound, by what is asked of them.
func questions() []siege.Attack {
	all := slices.Concat(fits, settled, known)
	ask := func(name string, of func(p *problem, m mkl.Model) []string) siege.Attack {
		return asking(name, all, func(p *problem) { p.share = pick(p.Rand, 0, 0, 0.02, 0.1) }, of)
	}
	return []siege.Attack{
		ask("samples of wrong shapes", askWrongShapes),
		ask("samples in any order", askInAnyOrder),
		ask("predictors of many goroutines", askTogether),
		ask("what models say", askEverything),
		ask("predictions with any options", askAnyOptions),
	}
}

// askWrongShapes asks for samples that no model can predict, which is an error.
func askWrongShapes(p *problem, m mkl.Model) (wrong []string) {
	in := m.Inputs()
	if _, pairs := m.(sided); pairs || len(in) == 0 {
		return nil
	}
	good := func() []mkl.Features {
		var x []mkl.Features
		for _, in := range in {
			f := la.NewMatrix[float64](2, in.Cols)
			for i := range f.Data {
				f.Data[i] = math.Abs(p.NormFloat64())
			}
			x = append(x, f)
		}
		return x
	}
	at := p.IntN(len(in))
	for _, spoil := range []func(x []mkl.Features) []mkl.Features{
		func([]mkl.Features) []mkl.Features { return nil },
		func(x []mkl.Features) []mkl.Features { return x[1:] },
		func(x []mkl.Features) []mkl.Features { return append(x, x[0]) },
		func(x []mkl.Features) []mkl.Features { x[at].Rows = 3; return x },
		func(x []mkl.Features) []mkl.Features { x[at].Rows = -1; return x },
		func(x []mkl.Features) []mkl.Features { x[at].Cols++; return x },
		func(x []mkl.Features) []mkl.Features { x[at].Cols = -1; return x },
		func(x []mkl.Features) []mkl.Features { x[at].Stride = math.MaxInt; return x },
		func(x []mkl.Features) []mkl.Features { x[at].Stride = -x[at].Stride; return x },
		func(x []mkl.Features) []mkl.Features { x[at].Rows, x[at].Stride = math.MaxInt/2+1, 4; return x },
		func(x []mkl.Features) []mkl.Features { x[at].Data = x[at].Data[:len(x[at].Data)-1]; return x },
		func(x []mkl.Features) []mkl.Features { x[at].Data = nil; return x },
		func(x []mkl.Features) []mkl.Features { x[at].Data[0] = math.Inf(-1); return x },
		func(x []mkl.Features) []mkl.Features { x[at] = la.NewMatrix[float64](2, 0); return x },
	} {
		if got, err := predict(m, spoil(good())); err == nil {
			wrong = append(wrong, fmt.Sprintf("a wrong shape is predicted: %v", got))
		}
	}
	one := single(p, m)
	if one == nil {
		return wrong
	}
	wrongRows := [][][]float64{nil, {}, make([][]float64, len(in)), make([][]float64, len(in)+1)}
	_, pruned := m.(*mkl.SpikeSlabModel) // whose predictor does not look at all features
	if !pruned && !slices.ContainsFunc(in, func(in mkl.ModelInput) bool { return in.MissingViews }) {
		wrongRows = append(wrongRows, [][]float64{{math.NaN()}})
	}
	for _, rows := range wrongRows {
		if got, err := one(rows); err == nil {
			wrong = append(wrong, fmt.Sprintf("single samples of wrong lengths are predicted: %v", got))
		}
	}
	return wrong
}

// askInAnyOrder asks for samples, among them some that hardly any number is like, all together, in
// reverse, in a matrix with gaps between its rows, and one by one: each has the same bits. With
// samples that are no numbers the rest is an error.
func askInAnyOrder(p *problem, m mkl.Model) (wrong []string) {
	if _, pairs := m.(sided); pairs || len(m.Inputs()) == 0 {
		return nil
	}
	const rows = 7
	x := p.points(m, rows)
	for _, f := range x {
		for range p.IntN(4) {
			if len(f.Data) > 0 {
				f.Data[p.IntN(len(f.Data))] = pick(p.Rand, 0, math.Copysign(0, -1), 5e-324, 1e-310, 1, 1e8)
			}
		}
	}
	all, err := predict(m, x)
	if err != nil {
		return sane(err)
	}
	order := p.Perm(rows)
	mixed, wide := make([]mkl.Features, len(x)), make([]mkl.Features, len(x))
	for k, f := range x {
		mixed[k] = la.NewMatrix[float64](rows, f.Cols)
		wide[k] = mkl.Features{Rows: rows, Cols: f.Cols, Stride: f.Cols + 3, Data: make([]float64, rows*(f.Cols+3))}
		for i := range wide[k].Data {
			wide[k].Data[i] = math.NaN()
		}
		for to, from := range order {
			copy(mixed[k].Row(to), f.Row(from))
			copy(wide[k].Row(to), f.Row(from))
		}
	}
	for name, x := range map[string][]mkl.Features{"in another order": mixed, "with gaps between rows": wide} {
		got, err := predict(m, x)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		for to, from := range order {
			if !same(sample(m, all, from), sample(m, got, to)) {
				wrong = append(wrong, fmt.Sprintf("%s: sample %d is %v, where it was %v", name, from, sample(m, got, to), sample(m, all, from)))
			}
		}
	}
	return wrong
}

// sample returns the prediction of one sample.
func sample(m mkl.Model, of prediction, i int) prediction {
	column := func(x [][]float64) (out [][]float64) {
		for _, row := range x {
			out = append(out, row[i:i+1])
		}
		return out
	}
	if _, labels := m.(mkl.LabelModel); labels {
		return prediction{probability: column(of.probability)}
	}
	if of.probability != nil {
		return prediction{probability: of.probability[i : i+1]}
	}
	return prediction{mean: column(of.mean), variance: column(of.variance)}
}

// askTogether lets several goroutines share a predictor of single samples: each sample has the same bits as
// alone.
func askTogether(p *problem, m mkl.Model) (wrong []string) {
	one := single(p, m)
	if one == nil || len(m.Inputs()) == 0 {
		return nil
	}
	const rows = 6
	x := p.points(m, rows)
	row := func(i int) (rows [][]float64) {
		for _, f := range x {
			rows = append(rows, f.Row(i))
		}
		return rows
	}
	want, failed := make([]prediction, rows), make([]bool, rows)
	for i := range rows {
		got, err := one(row(i))
		want[i], failed[i] = got, err != nil
	}
	var all sync.Mutex
	var group sync.WaitGroup
	for k := range 4 {
		group.Go(func() {
			for j := range 3 * rows {
				i := (j*(k+1) + k) % rows
				got, err := one(row(i))
				if (err != nil) != failed[i] || err == nil && !same(got, want[i]) {
					all.Lock()
					wrong = append(wrong, fmt.Sprintf("beside others sample %d is %v, alone %v (%v)", i, got, want[i], err))
					all.Unlock()
				}
			}
		})
	}
	group.Wait()
	return wrong
}

// askEverything calls each method of a model that takes nothing: the results must be numbers, but where
// NaN or an infinite value is documented.
func askEverything(_ *problem, m mkl.Model) (wrong []string) {
	v := reflect.ValueOf(m)
	for i := range v.NumMethod() {
		name := v.Type().Method(i).Name
		if v.Method(i).Type().NumIn() > 0 || name == "Bound" || name == "Trace" {
			continue
		}
		for _, out := range v.Method(i).Call(nil) {
			if at := notNumber(out, name, 0); at != "" {
				wrong = append(wrong, at)
			}
		}
	}
	return wrong
}

// notNumber looks for NaN or an infinite value in what a method returns, and says where it is.
func notNumber(v reflect.Value, at string, depth int) string {
	if depth > 6 {
		return ""
	}
	switch v.Kind() {
	case reflect.Float64:
		infinite := strings.HasSuffix(at, ".SD") && math.IsInf(v.Float(), 1) // of a posterior of heavy tails
		if f := v.Float(); f-f != 0 && !infinite {
			return fmt.Sprintf("%s is %g", at, f)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if found := notNumber(v.Index(i), fmt.Sprintf("%s[%d]", at, i), depth+1); found != "" {
				return found
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				if found := notNumber(v.Field(i), at+"."+f.Name, depth+1); found != "" {
					return found
				}
			}
		}
	case reflect.Pointer:
		if p := v.Type().Elem(); !v.IsNil() && strings.HasSuffix(p.PkgPath(), "/mkl") && !strings.Contains(p.Name(), "Plan") {
			return notNumber(v.Elem(), at, depth+1)
		}
	}
	return ""
}
