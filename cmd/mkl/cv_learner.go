package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/choose"
)

// learner learns a problem's training rows and predicts the others.
func (v *crossValidation) learner(q *problem) func(context.Context, choose.Fold) (*choose.Prediction, error) {
	return func(ctx context.Context, f choose.Fold) (*choose.Prediction, error) {
		part, files := q.part(f.Train)
		part.bar = &sweepBar{env: &console.Env{Ctx: ctx, Stderr: v.env.Stderr}, quiet: true}
		d, _, err := part.learn(files)
		if err != nil {
			return nil, err
		}
		model, err := part.bar.finish(part.fitInTime(ctx, d))
		if err != nil {
			return nil, err
		}
		var x []mkl.Features
		inputs := model.Inputs()
		for k := range part.views {
			some := q.inputs(k, &part.views[k], inputs[len(x):], f)
			x = append(x, some...)
		}
		p, err := predict(ctx, model, mkl.PredictOptions{Workers: part.fitCmd.Workers}, x)
		if err != nil {
			return nil, err
		}
		if len(q.targets) == 1 {
			return asPrediction(p, 0, v.classes)
		}
		all := &choose.Prediction{}
		for o := range q.targets {
			one, err := asPrediction(p, o, nil)
			if err != nil {
				return nil, err
			}
			all.Targets = append(all.Targets, one)
		}
		return all, nil
	}
}

// asPrediction is what a model predicts of a target or of the classes.
func asPrediction(p prediction, target int, classes []string) (*choose.Prediction, error) {
	switch p := p.(type) {
	case numberPrediction:
		return &choose.Prediction{Mean: p.Mean[target], Variance: p.Variance[target]}, nil
	case classPrediction:
		return choose.OfClasses(p.Probability, p.classes, classes)
	case labelPrediction:
		out := &choose.Prediction{}
		for _, has := range p.Probability[target] {
			out.Probability = append(out.Probability, []float64{1 - has, has})
		}
		return out, nil
	}
	return nil, fmt.Errorf("predictions of this kind cannot be compared")
}

// part is the problem of some of the rows, which were read, with files of its own. Of kernels
// that are given it has these rows and columns.
func (p *problem) part(rows []int) (*problem, *console.Files) {
	q := *p
	files := &console.Files{Env: p.bar.env}
	own := map[*console.File]*console.File{}
	some := func(f *console.File) *console.File {
		if own[f] == nil {
			part := *f
			part.Data = f.Data.Some(rows)
			own[f] = &part
			files.All = append(files.All, &part)
		}
		return own[f]
	}
	q.main, q.guessed, q.resumed = some(p.main), "", nil
	q.views = slices.Clone(p.views)
	for i := range q.views {
		v := &q.views[i]
		if v.square() {
			v.source = v.source.At(rows)
		}
		v.source.File = some(v.source.File)
		v.plan, v.left, v.x = nil, nil, mkl.Features{}
		if v.strings != nil {
			v.strings = v.strings.some(rows)
		}
	}
	return &q, files
}

// inputs is the features of a fold's test rows for a view of the fit to its training rows, of
// which the model's next inputs are. A kernel that is given may need a column more than the fit: that of
// each row with itself.
func (p *problem) inputs(k int, fitted *view, next []mkl.Input, f choose.Fold) []mkl.Features {
	if s := p.views[k].strings; s != nil {
		var columns []int
		for _, in := range next[:len(s.views)] {
			columns = append(columns, in.Cols)
		}
		return s.inputs(f.Train, f.Test, columns)
	}
	own := &p.views[k].source
	some := own.File.Data.Some(f.Test)
	x := plan.Encode(fitted.plan, fitted.source.Columns, &some).X
	return []mkl.Features{withSelf(x, next[0].Cols, func(n int) float64 {
		i := f.Test[n]
		return own.File.Data.Numbers[own.Columns[i]][i]
	})}
}
