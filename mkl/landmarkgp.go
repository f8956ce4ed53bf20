package mkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/mgp"
)

// LandmarkGP is [MultiGP] for any number of samples: the target is a sum of Gaussian
// processes, each on its kernel's features at a few landmarks instead of at all
// samples. One pass over the samples sums what the fit needs; the time of the fit itself does not depend on
// their number. Fit does all of that in memory; Begin makes the [Plan] for samples that come
// in parts, on several machines, or day by day. The zero value is ready.
//
// A view without a Kernel stands for default kernels of its X. A MultiGP of a few hundred samples learns the
// widths of ARD kernels.
// Every kernel is centred on the samples, as with Center, because the model has a bias.
// LandmarkGP rejects given kernels and distances, and Center with Normalize.
// docs/theory/statistics.md has the mathematics, docs/lab/scale.md times and errors.
type LandmarkGP struct {
	Fitting
	Climb

	// Landmarks says how the landmarks are chosen; nil means the zero value of [Landmarks].
	Landmarks *Landmarks

	ordered bool // the order of the samples follows what they hold
}

// Fit fits the model to the views of N samples and their targets. It returns the errors that
// [MultiGP.Fit] returns.
func (g LandmarkGP) Fit(ctx context.Context, views []View, y []float64) (*LandmarkGPModel, error) {
	p, err := g.Begin(ctx, views, y)
	if err != nil {
		return nil, err
	}
	p, sums, _, err := p.sumAll(ctx, g.Workers, distinctInputs(views), y)
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, PlanFitting{g.Fitting, g.Climb}, sums)
}

// Begin makes the plan of a fit from a sample: kernels and their widths, units of features and
// target, landmarks, and the features that represent the kernels. The sample should be typical of the
// samples to come: some thousands of them drawn at random. It takes no part in the fit
// unless it is added. Notes are kept with the plan and with the models fitted by it.
func (g LandmarkGP) Begin(ctx context.Context, views []View, y []float64) (*Plan, error) {
	if ctx == nil {
		return nil, gram.ErrNoContext
	}
	n, err := checkTargets([][]float64{y}, false)
	if err != nil {
		return nil, err
	}
	p := planning{fitting: &fitting{Fitting: g.Fitting}, Landmarks: g.Landmarks.orDefault(), ordered: g.ordered}
	if err := p.checkViews(views, n, p.planMemory(n, len(views))); err != nil {
		return nil, err
	}
	order := p.order(views, y, false)
	rows := p.sampled(order, rareClasses(vec.Picked(y, order), p.sampleSize(), g.Seed))
	some := vec.Picked(y, rows)
	p.learn = func(views []View) ([]kernel.Kernel, error) {
		rows := sample(len(some), widthSamples, rareClasses(some, widthSamples, g.Seed), g.Seed)
		m, err := MultiGP{Fitting: p.hurry(), Climb: g.Climb, PointScales: true, hurried: true}.Fit(ctx, takeRows(views, rows), vec.Picked(some, rows))
		if err != nil {
			return nil, fmt.Errorf("mkl: widths learned of %d samples: %w", len(rows), err)
		}
		return kernelsOf(m.design), nil
	}
	plan := &Plan{}
	if plan.featurePlan, err = p.plan(ctx, views, rows, n); err != nil {
		return nil, err
	}
	targets, _ := standardizeTargets([][]float64{some}, false)
	plan.target = targets[0]
	return plan, plan.seal()
}

// EstimateMemory returns about how many bytes a fit of the given size takes besides its
// data. Above a fixed number of samples it does not depend on their number.
func (g LandmarkGP) EstimateMemory(s FitSize) int64 {
	return g.Landmarks.orDefault().memory(&fitting{Fitting: g.Fitting}, s, 0)
}

// startOf returns the start of a fit that continues from a posterior of features.
func startOf(p *mgp.FeaturePosterior) *mgp.EvidenceStart {
	s := p.State()
	return &mgp.EvidenceStart{Gamma: s.Gamma, Noise: s.Noise}
}
