package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/bmkl/bmkl/internal/testkit/siege"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// bounded returns the attacks on predictors of single samples and on their files.
func bounded() []siege.Attack {
	all := slices.Concat(fits, settled, known, viewed)
	ask := func(name string, of func(p *problem, m mkl.Model) []string) siege.Attack {
		return asking(name, all, func(p *problem) { p.share, p.n = 0, pick(p.Rand, 8, 20, 33, 60) }, of)
	}
	compiled := sync.OnceValue(compiledFiles)
	return []siege.Attack{
		ask("bounds of predictors", askBounds),
		ask("compiled models", askCompiled),
		{Name: "forged compiled file", Run: func(r *rand.Rand) siege.Case { return forgeCompiled(r, compiled()) }},
	}
}

// certified is what a predictor says of one sample: the mean and the SD of a target, or probabilities. errors bounds each.
type certified struct {
	values, errors []float64
	assumed        bool // the bounds hold near the training samples only
}

// certifier returns the function by which a model's predictor predicts a sample with bounds, or nil.
func certifier(m mkl.Model, opt mkl.PredictorOptions) func(x [][]float64) (certified, error) {
	assumed := func(all []mkl.PredictorInfo) bool {
		return slices.ContainsFunc(all, func(i mkl.PredictorInfo) bool { return i.Kind == mkl.BoundAssumed })
	}
	switch m := m.(type) {
	case interface {
		Classes() []string
		Predictor(mkl.PredictorOptions) (*mkl.ClassPredictor[string], error)
	}:
		if one, err := m.Predictor(opt); err == nil {
			loose := assumed(one.Info())
			return func(x [][]float64) (certified, error) {
				p := make([]float64, len(m.Classes()))
				_, b, err := one.PredictWithBound(p, x...)
				return certified{p, slices.Repeat([]float64{b}, len(p)), loose}, err
			}
		}
	case interface {
		Labels() int
		Predictor(mkl.PredictorOptions) (*mkl.LabelPredictor, error)
	}:
		if one, err := m.Predictor(opt); err == nil {
			loose := assumed(one.Info())
			return func(x [][]float64) (certified, error) {
				p := make([]float64, m.Labels())
				b, err := one.PredictWithBound(p, x...)
				return certified{p, slices.Repeat([]float64{b}, len(p)), loose}, err
			}
		}
	case interface {
		Predictor(mkl.PredictorOptions) (*mkl.Predictor, error)
	}:
		if one, err := m.Predictor(opt); err == nil {
			return func(x [][]float64) (certified, error) {
				b, err := one.PredictWithBound(x...)
				return certified{[]float64{b.Mean, math.Sqrt(b.Variance)}, []float64{b.MeanError, b.SDError}, b.Kind == mkl.BoundAssumed}, err
			}
		}
	}
	return nil
}

// askBounds compares a model's predictor of single samples with the model, at training samples, beside them and far from them. It reports
// the first sample with a larger difference than the bounds.
func askBounds(p *problem, m mkl.Model) []string {
	if len(m.Inputs()) == 0 {
		return nil
	}
	opt := p.predictorOptions()
	const rows = 8
	for _, scale := range []float64{0, 0.01, 1, 5, 1000, 1e6} {
		x := p.near(m, rows, scale)
		all, err := predict(m, x)
		if err != nil {
			continue
		}
		if wrong := boundsHold(m, opt, x, all, fmt.Sprint("scale ", scale)); wrong != nil {
			return wrong
		}
	}
	return nil
}

// predictorOptions returns settings of a predictor of single samples.
func (p *problem) predictorOptions() mkl.PredictorOptions {
	return mkl.PredictorOptions{Tolerance: pick(p.Rand, 0, 0, 0.3, 1e-4, 1e-6), Exact: p.IntN(6) == 0}
}

// boundsHold compares a model's predictor of single samples with the model's predictions: they differ by no more than the bounds and
// the rounding of the model. It reports the first sample with a larger difference.
func boundsHold(m mkl.Model, opt mkl.PredictorOptions, x []mkl.Features, all prediction, at string) []string {
	rounding := 0.0
	if r, ok := m.(interface{ Rounding() float64 }); ok {
		rounding = r.Rounding()
	}
	one := certifier(m, opt)
	if one == nil || rounding > 1e-6 {
		return nil
	}
	_, labels := m.(mkl.LabelModel)
	for i := range x[0].Rows {
		var row [][]float64
		for _, f := range x {
			row = append(row, f.Row(i))
		}
		got, err := one(row)
		if err != nil || got.assumed {
			continue
		}
		want, unit := wanted(all, i, labels)
		for k, v := range got.values {
			if !(math.Abs(v-want[k]) <= float64(1.0001*got.errors[k])+float64((1e-4+10*rounding)*unit)+float64(1e-9*math.Abs(want[0]))) {
				return []string{fmt.Sprintf("%+v, %s, sample %d: %g of %g, bounds %g", opt, at, i, got.values, want, got.errors)}
			}
		}
	}
	return nil
}

// wanted returns what a model says of sample i in the order of [certified], and the unit in which errors count: a standard deviation, or 1 for
// probabilities.
func wanted(of prediction, i int, labels bool) (values []float64, unit float64) {
	switch {
	case of.mean != nil:
		sd := math.Sqrt(of.variance[0][i])
		return []float64{of.mean[0][i], sd}, sd
	case labels:
		for _, row := range of.probability {
			values = append(values, row[i])
		}
		return values, 1
	}
	return of.probability[i], 1
}

// near returns samples near those that the problem made for training, by normal numbers of the scale: matrices of as many columns are
// taken for the inputs, and others are drawn.
func (p *problem) near(m mkl.Model, rows int, scale float64) []mkl.Features {
	var all []mkl.Features
	for _, in := range m.Inputs() {
		x := la.NewMatrix[float64](rows, in.Cols)
		var from []mkl.Features
		for _, f := range p.made {
			if f.Cols == in.Cols {
				from = append(from, f)
			}
		}
		for i := range rows {
			for j := range in.Cols {
				v := float64(scale * p.NormFloat64())
				if len(from) > 0 {
					f := from[len(all)%len(from)]
					v += f.At((3*i)%f.Rows, j)
				}
				x.Set(i, j, v)
			}
		}
		all = append(all, x)
	}
	return all
}

// askCompiled compiles a model: the predictor from the file has the bits of the model's own, and so has the model.
func askCompiled(p *problem, m mkl.Model) (wrong []string) {
	opt := mkl.PredictorOptions{Tolerance: pick(p.Rand, 0, 0.3, 1e-4, 1e-7), Exact: p.IntN(4) == 0}
	var file bytes.Buffer
	if err := mkl.Compile(&file, m, opt); err != nil {
		return sane(err)
	}
	loaded, err := mkl.Load(bytes.NewReader(file.Bytes()))
	if err != nil {
		return []string{"compiled, Load: " + err.Error()}
	}
	one, two := certifier(m, opt), certifier(loaded, opt)
	if one == nil || two == nil {
		if (one == nil) != (two == nil) {
			return []string{"one of the model and its compiled file has no predictor"}
		}
		return nil
	}
	const rows = 6
	for _, scale := range []float64{0, 1, 1000} {
		x := p.near(m, rows, scale)
		a, aerr := predict(m, x)
		b, berr := predict(loaded, x)
		if (aerr == nil) != (berr == nil) || aerr == nil && !same(a, b) {
			wrong = append(wrong, fmt.Sprintf("compiled it predicts differently: %v, %v", aerr, berr))
		}
		for i := range rows {
			var row [][]float64
			for _, f := range x {
				row = append(row, f.Row(i))
			}
			c, cerr := one(row)
			d, derr := two(row)
			bits := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
			if (cerr == nil) != (derr == nil) || cerr == nil && (!slices.EqualFunc(c.values, d.values, bits) || !slices.EqualFunc(c.errors, d.errors, bits)) {
				wrong = append(wrong, fmt.Sprintf("%+v, scale %g: the predictor says %v, compiled %v (%v, %v)", opt, scale, c, d, cerr, derr))
			}
		}
	}
	return wrong
}

// compiledFiles returns compiled files of models of several kinds.
func compiledFiles() (all [][]byte) {
	for _, e := range slices.Concat(fits, viewed) {
		for seed := range uint64(3) {
			p := &problem{Rand: rand.New(rand.NewPCG(seed, 11)), n: 12}
			m, _ := e.fit(context.Background(), p)
			var file bytes.Buffer
			if m != nil && mkl.Compile(&file, m, mkl.PredictorOptions{}, mkl.PredictorOptions{Tolerance: 0.3}) == nil {
				all = append(all, file.Bytes())
				break
			}
		}
	}
	return all
}

// forgeCompiled changes bytes of a compiled file, whose checksum is right again. What is loaded makes predictors, which predict numbers or
// return errors.
func forgeCompiled(r *rand.Rand, files [][]byte) siege.Case {
	const key = `"sha256":"`
	file := bytes.Clone(files[r.IntN(len(files))])
	at := bytes.Index(file, []byte(key)) + len(key)
	copy(file[at:], bytes.Repeat([]byte("0"), 2*sha256.Size))
	for range 1 + r.IntN(3) {
		i := at + 2*sha256.Size + r.IntN(len(file)-at-2*sha256.Size)
		switch r.IntN(3) {
		case 0:
			file[i] ^= 1 << r.IntN(8)
		case 1:
			file[i] = byte(r.Uint32())
		case 2:
			copy(file[i:], pick(r, "\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff\xff\x7f", "\x00\x00\x00\x00\x00\x00\xf0\x7f", "\x01\x00\x00\x00\x00\x00\x00\x00"))
		}
	}
	sum := sha256.Sum256(file)
	hex.Encode(file[at:], sum[:])
	m, c := loadForged(file, fingerprint(file))
	if m == nil {
		return c
	}
	p := &problem{Rand: r, n: 6}
	x := p.points(m, 1)
	for _, tolerance := range []float64{0, 0.3} {
		one := certifier(m, mkl.PredictorOptions{Tolerance: tolerance})
		if one == nil {
			continue
		}
		var row [][]float64
		for _, f := range x {
			row = append(row, f.Row(0))
		}
		got, err := one(row)
		if err != nil {
			c.Wrong = append(c.Wrong, sane(err)...)
			continue
		}
		for _, v := range slices.Concat(got.values, got.errors) {
			if math.IsNaN(v) {
				c.Wrong = append(c.Wrong, fmt.Sprintf("%s: %g ± %g", m.Kind(), got.values, got.errors))
				break
			}
		}
	}
	return c
}
