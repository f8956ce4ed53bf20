package validation

import (
	"context"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/fitting"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/choose"
)

// problem is a model with the samples that it is to learn, with its kernels and of its targets.
type problem struct {
	samples *dataset.Samples
	model   *model.Request
}

// outputs is how many functions the problem has.
func (p *problem) outputs(classes []string) int {
	return max(len(classes), len(p.samples.Targets))
}

// learner learns a problem's training rows and predicts the others.
func (l *list) learner(p *problem) func(context.Context, choose.Fold) (*choose.Prediction, error) {
	return func(ctx context.Context, f choose.Fold) (*choose.Prediction, error) {
		e := &console.Env{Ctx: ctx, Stderr: l.env.Stderr}
		opt := fitting.Options{Limits: l.Limits, Quiet: true}
		opt.Workers = l.share
		train := p.samples.HavingAny(f.Train) // a row with none of a candidate's views is predicted only
		job, err := fitting.Problem{Table: p.samples.Part(e, train), Model: p.model}.Prepare(e, opt, nil)
		if err != nil {
			return nil, err
		}
		m, err := job.Run(e, opt, nil)
		if err != nil {
			return nil, err
		}
		x := p.samples.Inputs(job.Samples, m.Inputs(), train, f.Test)
		predicting := prediction.Options{PredictOptions: mkl.PredictOptions{Workers: l.share}}
		if l.exposure != nil {
			for _, i := range f.Test {
				predicting.Exposure = append(predicting.Exposure, l.exposure[i])
			}
		}
		predicted, err := prediction.By(ctx, m, predicting, x)
		if err != nil {
			return nil, err
		}
		if len(p.samples.Targets) == 1 {
			return predicted.Of(0, l.classes)
		}
		all := &choose.Prediction{}
		for o := range p.samples.Targets {
			one, err := predicted.Of(o, nil)
			if err != nil {
				return nil, err
			}
			all.Targets = append(all.Targets, one)
		}
		return all, nil
	}
}
