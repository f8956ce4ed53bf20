package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/mkl"
)

// sane reports an error whose text nobody can read.
func sane(err error) []string {
	const longest = 2000
	if n := len(err.Error()); n > longest {
		return []string{fmt.Sprintf("an error of %d bytes: %.100s", n, err)}
	}
	return nil
}

// judge holds a model to its promises and returns those that it broke.
func judge(p *problem, m mkl.Model) (wrong []string) {
	loaded, wrong := judgeFile(m)
	if loaded == nil {
		return wrong
	}
	for range 3 {
		wrong = append(wrong, judgePoints(p, m, loaded, 3, false)...)
	}
	return wrong
}

// judgeForged is judge for a model of a forged file. To judge many files it predicts only once. The
// tensors of such a file need not agree with each other, and so the single-sample predictor need
// not agree with the model: both say what the forger wants.
func judgeForged(p *problem, m mkl.Model) (wrong []string) {
	loaded, wrong := judgeFile(m)
	if loaded == nil {
		return wrong
	}
	return append(wrong, judgePoints(p, m, loaded, 1, true)...)
}

// judgeFile holds a model to what it says of itself, saves and loads it, and returns what
// was loaded, nil if nothing was.
func judgeFile(m mkl.Model) (loaded mkl.Model, wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for i, w := range m.KernelWeights() {
		if w.Mean-w.Mean != 0 || math.IsNaN(w.SD) || w.SD < 0 {
			complain("weight %d is %g ± %g", i, w.Mean, w.SD)
		}
	}
	for _, text := range []string{m.Summary(), m.String()} {
		if strings.Contains(text, "NaN") && !math.IsNaN(m.Bound()) || strings.Contains(text, "%!") {
			complain("text: %q", text)
		}
	}
	for i, b := range m.Trace().Bounds {
		if b-b != 0 {
			complain("bound %d is %g", i, b)
			break
		}
	}
	var file, again bytes.Buffer
	if err := m.Save(&file); err != nil {
		complain("Save: %v", err)
		return nil, wrong
	}
	loaded, err := mkl.Load(bytes.NewReader(file.Bytes()))
	if err != nil {
		complain("Load: %v", err)
		return nil, wrong
	}
	if err := loaded.Save(&again); err != nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
		complain("saved again it differs: %v", err)
	}
	return loaded, wrong
}

// judgePoints lets a model, and what it was after a file, predict samples near or far.
func judgePoints(p *problem, m, loaded mkl.Model, rows int, forged bool) (wrong []string) {
	x := p.points(m, rows)
	switch m.(type) {
	case *mkl.SurvivalModel, *mkl.CountModel:
		return judgeObserved(p, m, loaded, x)
	}
	got, err := predict(m, x)
	back, berr := predict(loaded, x)
	if (err == nil) != (berr == nil) || err == nil && !same(got, back) {
		wrong = append(wrong, fmt.Sprintf("loaded it predicts differently: %v, %v", err, berr))
	}
	if err != nil {
		return append(wrong, sane(err)...)
	}
	wrong = append(wrong, judgePrediction(m, got)...)
	if !forged || p.IntN(4) == 0 {
		wrong = append(wrong, judgePredictor(p, m, x, got, forged)...)
		wrong = append(wrong, judgeSingles(m, x)...)
	}
	return wrong
}

// prediction is of any model: means and variances of targets, or probabilities.
type prediction struct {
	mean, variance [][]float64 // target, sample
	probability    [][]float64 // sample, class; or label, sample
}

// predict predicts, and returns an error where the model does. What it returns is to be right: NaN
// or an infinite number is an error here, as it would be a finding.
func predict(m mkl.Model, x []mkl.Features) (prediction, error) {
	ctx, opt := context.Background(), mkl.PredictOptions{Workers: 1}
	switch m := m.(type) {
	case mkl.TargetModel:
		p, err := m.PredictTargets(ctx, opt, x...)
		if err != nil {
			return prediction{}, err
		}
		return prediction{mean: p.Mean, variance: p.Variance}, nil
	case mkl.ClassModel[string]:
		p, err := m.PredictClasses(ctx, opt, x...)
		if err != nil {
			return prediction{}, err
		}
		return prediction{probability: p.Probability}, nil
	case mkl.LabelModel:
		p, err := m.PredictLabels(ctx, opt, x...)
		if err != nil {
			return prediction{}, err
		}
		return prediction{probability: p.Probability}, nil
	case *mkl.PairRegressionModel:
		rows, columns := sides(m, x)
		mean, variance, err := m.Predict(rows, columns)
		if err != nil {
			return prediction{}, err
		}
		return prediction{mean: mean, variance: variance}, nil
	case *mkl.PairClassifierModel:
		rows, columns := sides(m, x)
		probability, err := m.Predict(rows, columns)
		if err != nil {
			return prediction{}, err
		}
		return prediction{probability: probability}, nil
	case *mkl.FactorAnalysisModel:
		rows, cols, _ := m.Dims()
		mean, variance, err := m.Complete(mkl.TableCell{}, mkl.TableCell{Row: rows - 1, Col: cols - 1})
		if err != nil {
			return prediction{}, err
		}
		return prediction{mean: [][]float64{mean}, variance: [][]float64{variance}}, nil
	}
	return prediction{}, fmt.Errorf("%T predicts nothing that is known here", m)
}

// same reports whether two predictions have the same bits.
func same(a, b prediction) bool {
	bits := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
	rows := func(x, y []float64) bool { return slices.EqualFunc(x, y, bits) }
	return slices.EqualFunc(a.mean, b.mean, rows) && slices.EqualFunc(a.variance, b.variance, rows) &&
		slices.EqualFunc(a.probability, b.probability, rows)
}

// judgePrediction holds a prediction to what its numbers are.
func judgePrediction(m mkl.Model, of prediction) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for o, mean := range of.mean {
		for i, v := range mean {
			if s := of.variance[o][i]; v-v != 0 || !(s > 0) || math.IsInf(s, 1) {
				complain("target %d, sample %d: mean %g, variance %g", o, i, v, s)
			}
		}
	}
	_, labels := m.(mkl.LabelModel)
	if _, ok := m.(*mkl.PairClassifierModel); ok {
		labels = true
	}
	for i, row := range of.probability {
		var sum float64
		for _, v := range row {
			if !(v >= 0 && v <= 1+1e-9) {
				complain("row %d: probability %g", i, v)
			}
			sum += v
		}
		if !labels && math.Abs(sum-1) > 1e-9 {
			complain("row %d: the probabilities sum to %g", i, sum)
		}
	}
	return wrong
}

// judgePredictor compares a prediction with the prediction of the model's predictor for single
// samples unless the model is forged.
func judgePredictor(p *problem, m mkl.Model, x []mkl.Features, of prediction, forged bool) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	var r interface {
		Predictor(mkl.PredictorOptions) (*mkl.Predictor, error)
	}
	switch m := m.(type) { // models of weighted kernels
	case *mkl.RegressionModel:
		r = m
	case *mkl.SharedRegressionModel:
		r = m
	case *mkl.TaskRegressionModel:
		r = m
	default:
		return wrong
	}
	opt := mkl.PredictorOptions{Tolerance: pick(p.Rand, 0, 0.5, 1e300, math.NaN()), Exact: p.IntN(4) == 0}
	one, err := r.Predictor(opt)
	if err != nil {
		return wrong
	}
	const share = 1e-4 // of a standard deviation, for rounding
	for i := range x[0].Rows {
		var rows [][]float64
		for _, f := range x {
			rows = append(rows, f.Row(i))
		}
		b, err := one.PredictWithBound(rows...)
		if err != nil {
			continue // the order of its sums may overflow earlier
		}
		want, sd, wantSD := of.mean[0][i], math.Sqrt(b.Variance), math.Sqrt(of.variance[0][i])
		if b.Mean-b.Mean != 0 || !(b.Variance > 0) || math.IsInf(b.Variance, 1) {
			complain("predictor, sample %d: mean %g, variance %g", i, b.Mean, b.Variance)
		}
		if b.Kind == mkl.BoundAssumed || forged {
			continue
		}
		if math.Abs(b.Mean-want) > float64(1.0001*b.MeanError)+float64(share*wantSD)+float64(1e-9*math.Abs(want)) {
			complain("predictor, sample %d: mean %g of %g ± %g, bound %g", i, b.Mean, want, wantSD, b.MeanError)
		}
		if math.Abs(sd-wantSD) > float64(1.0001*b.SDError)+float64(share*(wantSD+float64(1e-2*math.Abs(want)))) {
			complain("predictor, sample %d: SD %g of %g, bound %g", i, sd, wantSD, b.SDError)
		}
	}
	return wrong
}

// sided is a model of pairs.
type sided interface {
	SideInputs() (rows, columns []mkl.ModelInput)
}

// sides divides the points of a prediction into rows and columns.
func sides(m sided, x []mkl.Features) (rows, columns mkl.PairSide) {
	in, _ := m.SideInputs()
	return mkl.PairSide{X: x[:len(in)]}, mkl.PairSide{X: x[len(in):]}
}
