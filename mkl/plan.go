package mkl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Plan holds what a pass over samples needs to know: kernels with their widths, units, landmarks,
// and the features that represent the kernels. [LandmarkGP.Begin] makes it from some samples.
// With one plan the samples can be summed in parts, anywhere and in any order:
//
//	b, err := plan.Builder(0)
//	err = b.Add(y, x...)           // some samples, again and again
//	part, err := b.Finish()        // *stat.Statistic: merge, subtract, save, send
//	model, err := plan.Fit(ctx, mkl.PlanFitting{}, part, other)
//
// [stat.Statistic.Merge] and [stat.Statistic.Subtract] add and remove parts, such as days,
// and [LandmarkGPModel.Refit] continues from an earlier fit. A Plan is immutable and safe for
// concurrent use.
type Plan struct {
	featurePlan
	target target // the unit of the targets in the sums
}

// PlanBuilder sums samples according to a plan, as [stat.Builder] sums features. A block ends after
// [stat.BlockSamples] samples. The sums have the same bits for every order of the blocks,
// every partition of them and any number of workers. It serves one goroutine at a time.
type PlanBuilder struct {
	summing
	target target
}

// Builder returns a builder that uses at most workers workers; 0 means
// runtime.GOMAXPROCS(0).
func (p *Plan) Builder(workers int) (*PlanBuilder, error) {
	b := &PlanBuilder{target: p.target}
	return b, b.begin(&p.featurePlan, 1, workers)
}

// Add adds samples: their targets, and a matrix with a row for each sample, in the order of
// Inputs. If the data are not valid targets and features it returns an error and adds none of the samples.
// It also returns an error for a sample beyond the range of the sums, perhaps in a
// later call, and the builder is useless then: a target more than 128 standard
// deviations from the mean of the plan's sample, or features as far away. The error names the sample,
// counted from the builder's first, and the column. [LandmarkGP.Fit], which has all samples, uses larger units instead.
func (b *PlanBuilder) Add(y []float64, x ...Features) error {
	if i := vec.FirstNonFinite(y); i >= 0 {
		return &ValueError{Arg: "y", Row: i, Col: -1, Value: y[i]}
	}
	return b.add(x, "y", len(y), func(i int, z la.Matrix[float64], at int) {
		z.Set(0, at, (y[i]-b.target.mean)/b.target.sd)
	})
}

// addAll adds many samples, unless the context ends.
func (b *PlanBuilder) addAll(ctx context.Context, x []Features, y []float64) error {
	for first := 0; first < len(y); first += pieceSamples {
		if ctx.Err() != nil {
			return fmt.Errorf("mkl: sums: stopped: %w", context.Cause(ctx))
		}
		last := min(len(y), first+pieceSamples)
		if err := b.Add(y[first:last], rowsFrom(x, first, last)...); err != nil {
			return err
		}
	}
	return b.flush()
}

// sumAll sums all samples of a fit. If samples are beyond the range of the sums it makes a plan with larger units, sums by
// it, and returns that plan and the first sample beyond.
func (p *Plan) sumAll(ctx context.Context, workers int, x []Features, y []float64) (*Plan, *stat.Statistic, *rangeError, error) {
	sums, err := p.sum(ctx, workers, x, y)
	beyond, ok := errors.AsType[*rangeError](err)
	if !ok {
		return p, sums, nil, err
	}
	wide := &Plan{target: p.target}
	if wide.featurePlan, err = p.widenedFor(ctx, workers, x); err != nil {
		return nil, nil, nil, err
	}
	var most float64
	for _, v := range y {
		most = max(most, math.Abs((v-p.target.mean)/p.target.sd))
	}
	wide.target.sd *= doublings(most, mostWide)
	if err := wide.seal(); err != nil {
		return nil, nil, nil, err
	}
	sums, err = wide.sum(ctx, workers, x, y)
	return wide, sums, beyond, err
}

// sum sums samples that are in memory.
func (p *Plan) sum(ctx context.Context, workers int, x []Features, y []float64) (*stat.Statistic, error) {
	b, err := p.Builder(workers)
	if err != nil {
		return nil, err
	}
	if err := b.addAll(ctx, x, y); err != nil {
		return nil, err
	}
	return b.Finish()
}

// TargetRows are some samples with their targets, for [Plan.Sum].
type TargetRows struct {
	Y []float64  // targets
	X []Features // a matrix for each of Inputs, a row for each sample
}

// Sum sums all samples of an iterator. It keeps only a few of them in memory, and stops at the first
// error of the iterator or of a sample.
func (p *Plan) Sum(ctx context.Context, workers int, rows iter.Seq2[TargetRows, error]) (*stat.Statistic, error) {
	if ctx == nil {
		return nil, gram.ErrNoContext
	}
	b, err := p.Builder(workers)
	if err != nil {
		return nil, err
	}
	if err := eachPart(ctx, rows, func(r TargetRows) error { return b.Add(r.Y, r.X...) }); err != nil {
		return nil, err
	}
	return b.Finish()
}

// eachPart passes the parts of the samples to do, one after another, unless the context ends.
func eachPart[R any](ctx context.Context, parts iter.Seq2[R, error], do func(R) error) error {
	if parts == nil {
		return errNoRows
	}
	for r, err := range parts {
		if err == nil && ctx.Err() != nil {
			err = fmt.Errorf("mkl: samples: stopped: %w", context.Cause(ctx))
		}
		if err == nil {
			err = do(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errNoRows = errors.New("mkl: rows is nil")

// PlanFitting holds the settings of a fit to sums. Seed and MemoryLimit have no effect. Without Notes the model
// gets the notes of the plan.
type PlanFitting struct {
	Fitting
	Climb
}

// Fit fits the model to sums of samples. It merges the sums without changing them.
func (p *Plan) Fit(ctx context.Context, f PlanFitting, sums ...*stat.Statistic) (*LandmarkGPModel, error) {
	return p.fit(ctx, &f, nil, sums)
}

// fit is Fit from the given start; nil means the default.
func (p *Plan) fit(ctx context.Context, settings *PlanFitting, start *mgp.EvidenceStart, sums []*stat.Statistic) (*LandmarkGPModel, error) {
	if ctx == nil {
		return nil, gram.ErrNoContext
	}
	f := &fitting{Fitting: settings.Fitting, Ascent: settings.Climb.ascent(), limit: "MaxSteps"}
	if err := f.check(0); err != nil {
		return nil, err
	}
	samples, moments, err := p.moments(sums)
	if err != nil {
		return nil, err
	}
	_, mean, sd := moments.Target(0)
	if !(sd > 0) {
		return nil, fmt.Errorf("mkl: every target is %g: there is nothing to learn", p.target.mean+float64(p.target.sd*mean))
	}
	m := &LandmarkGPModel{
		plan: p, observations: samples, beyond: p.beyond(moments),
		target: target{p.target.mean + float64(p.target.sd*mean), p.target.sd * sd},
	}
	standard, ws := moments.Standard(), &la.Workspace{Workers: f.Workers}
	for _, v := range standard.Views {
		m.shift = append(m.shift, v.Shift)
	}
	if moments, err = moments.Apply(ws, standard); err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	pseudo, err := moments.PseudoSamples(ws, 0)
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	e := mgp.Evidence{Start: start, Workers: f.Workers, Ascent: f.ascent(1, 1)}
	fit, err := e.FitFeatures(ctx, mgp.Features{
		Blocks: pseudo.Views, Targets: pseudo.Targets.Row(0), Samples: moments.Samples(),
	})
	if err != nil {
		err = fmt.Errorf("mkl: %w", err)
	}
	if fit == nil || fit.Posterior == nil {
		return nil, err
	}
	r := f.record(newTrace(fit.Record, nil))
	if r.notes == nil {
		r.notes = p.Notes()
	}
	m.onViews, m.posterior, m.evidence = onViews{r, p.design}, fit.Posterior, fit.LogEvidence
	return m, err
}
