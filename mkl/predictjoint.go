package mkl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// JointPrediction is the joint posterior of a function at T samples, in the target's units. It is a mixture of
// multivariate normal distributions, whose weights add up to 1. A process at its most probable scales has one part; draws
// of the scales and the members of a pool have one each.
type JointPrediction struct {
	Parts []JointPart // of the mixture, at least one
}

// JointPart is a part of a [JointPrediction].
type JointPart struct {
	Weight     float64            // of the part in the mixture
	Mean       []float64          // of the function, T
	Covariance la.Matrix[float64] // of the function, T×T
	Noise      []float64          // variances of new targets beside the function, T
}

// Samples returns T.
func (p *JointPrediction) Samples() int { return len(p.Parts[0].Mean) }

// Moments returns the mean, T, and the covariance, T×T, of the function: of a mixture Σ w·m and
// Σ w(C + (m−m̄)(m−m̄)ᵀ). Add the noise variances to the diagonal for the covariance of new targets.
func (p *JointPrediction) Moments() (mean []float64, covariance la.Matrix[float64], noise []float64) {
	T := p.Samples()
	mean, covariance, noise = make([]float64, T), la.NewMatrix[float64](T, T), make([]float64, T)
	for _, q := range p.Parts {
		la.Axpy(q.Weight, q.Mean, mean)
		la.Axpy(q.Weight, q.Noise, noise)
	}
	for _, q := range p.Parts {
		for i := range T {
			row, di := covariance.Row(i), q.Mean[i]-mean[i]
			for j, c := range q.Covariance.Row(i) {
				row[j] += float64(q.Weight * (c + float64(di*(q.Mean[j]-mean[j]))))
			}
		}
	}
	return mean, covariance, noise
}

// Draws returns draws of the function from the joint posterior, [draw][sample], without noise. The seed decides them.
// It is an error if a covariance is not positive semidefinite by more than rounding explains.
func (p *JointPrediction) Draws(draws int, seed uint64) ([][]float64, error) {
	if draws < 0 {
		return nil, fmt.Errorf("mkl: Draws: draws is %d", draws)
	}
	factors := make([]la.Matrix[float64], len(p.Parts))
	for i, q := range p.Parts {
		var err error
		if factors[i], err = factorOf(q.Covariance); err != nil {
			return nil, fmt.Errorf("mkl: Draws: %w", err)
		}
	}
	src, T := special.NewRand(rand.NewPCG(seed, 0x6a6f696e74)), p.Samples()
	out, z := rows(draws, T), make([]float64, T)
	for _, to := range out {
		which, u := 0, src.Float64()
		for ; which < len(p.Parts)-1 && u >= p.Parts[which].Weight; which++ {
			u -= p.Parts[which].Weight
		}
		for i := range z {
			z[i] = src.NormFloat64()
		}
		for i := range to {
			to[i] = p.Parts[which].Mean[i] + la.Dot(factors[which].Row(i)[:i+1], z[:i+1])
		}
	}
	return out, nil
}

// factorOf returns the Cholesky factor of a covariance. Repeated samples make it singular: the least jitter that
// lets it be factorised is added to the diagonal.
func factorOf(covariance la.Matrix[float64]) (la.Matrix[float64], error) {
	var largest float64
	for i := range covariance.Rows {
		largest = max(largest, covariance.At(i, i))
	}
	if largest == 0 {
		return covariance, nil
	}
	for add := 0.0; ; {
		l := covariance.Clone()
		for i := range l.Rows {
			l.Set(i, i, l.At(i, i)+float64(add*largest))
		}
		err := la.Cholesky(nil, l)
		if err == nil {
			return l, nil
		}
		more, ok := jitter.More(l.Rows, add, err)
		if !ok {
			return l, err
		}
		add = more
	}
}

// PredictJoint returns the joint posterior of the function at the samples of x: PredictTargets gives the variance of
// each sample, and this the covariances too. It takes memory for N×T and T×T numbers for each kernel. Matrices and errors are as in
// [TargetModel.PredictTargets]; kernels and distances that were given have no covariances among new samples, which is
// an error, as is a sample that lacks a view.
func (m *MultiGPModel) PredictJoint(ctx context.Context, opt PredictOptions, x ...Features) (*JointPrediction, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	if t == 0 {
		return nil, errors.New("mkl: PredictJoint: no samples")
	}
	all, out := m.averaged(), &JointPrediction{}
	opt.MeanOnly = false
	for o := range all.posteriors {
		part := JointPart{1 / float64(len(all.posteriors)), make([]float64, t), la.Matrix[float64]{}, make([]float64, t)}
		one := *all
		one.designs, one.posteriors = all.designs[o:o+1], all.posteriors[o:o+1]
		err := one.predict(ctx, opt, x, t, func(_, first int, p *mgp.Prediction) {
			for i, mean := range p.Mean {
				part.Mean[first+i] = m.target.mean + float64(m.target.sd*mean)
				part.Noise[first+i] = m.target.sd * m.target.sd * max(0, p.Variance[i]-p.Function[i])
			}
		})
		if err != nil {
			return nil, err
		}
		if part.Covariance, err = jointCovariance(ctx, opt.Workers, all.designs[o], all.posteriors[o], x, t); err != nil {
			return nil, err
		}
		for i := range t {
			la.Scal(m.target.sd*m.target.sd, part.Covariance.Row(i))
		}
		out.Parts = append(out.Parts, part)
	}
	return out, nil
}

// PredictJoint returns the joint posterior of the function that separates two classes, at the samples of x: the second class of
// [MultiGPClassifierModel.Classes] has the probability Φ(f) given f, if Sharpness is 1. The noise is 0. Errors are as in
// [MultiGPModel.PredictJoint]. It is an error if there are more than two classes.
func (m *MultiGPClassifierModel[T]) PredictJoint(ctx context.Context, opt PredictOptions, x ...Features) (*JointPrediction, error) {
	t, err := checkInputs(m.design, x)
	switch {
	case err != nil:
		return nil, err
	case t == 0:
		return nil, errors.New("mkl: PredictJoint: no samples")
	case len(m.classes.names) != 2:
		return nil, fmt.Errorf("mkl: PredictJoint: %d classes have %d functions: it is for two classes", len(m.classes.names), len(m.classes.names))
	}
	part := JointPart{Weight: 1, Mean: make([]float64, t), Noise: make([]float64, t)}
	opt.MeanOnly = true
	if err := m.predict(ctx, opt, x, t, func(_, first int, p *mgp.Prediction) { copy(part.Mean[first:], p.Mean) }); err != nil {
		return nil, err
	}
	if part.Covariance, err = jointCovariance(ctx, opt.Workers, m.designs[0], m.posteriors[0], x, t); err != nil {
		return nil, err
	}
	return &JointPrediction{Parts: []JointPart{part}}, nil
}

// jointCovariance returns the covariance of the function of p at the t samples of x, of the standardised target.
func jointCovariance(ctx context.Context, workers int, ds *gram.Design, p *mgp.Posterior, x []Features, t int) (cov la.Matrix[float64], err error) {
	among, err := ds.Among(ctx, workers, x)
	if err != nil {
		return cov, err
	}
	err = ds.EachBlock(ctx, workers, math.MaxInt, false, x, t, func(k *vi.Dense, _ la.Matrix[float64], _, _ int) error {
		cov, err = p.Joint(k, among, workers)
		return err
	})
	return cov, err
}

// PredictJoint returns the joint posterior of the function at the samples of x, a mixture over the pool's members. It
// is an error if a member is on landmarks or on nearest samples, or if the members learn another scale of the target; other errors are as in
// [MultiGPModel.PredictJoint].
func (m *AutoModel) PredictJoint(ctx context.Context, opt PredictOptions, x ...Features) (*JointPrediction, error) {
	switch {
	case m.onLandmarks:
		return nil, errors.New("mkl: PredictJoint: a member on landmarks, with trees or on nearest samples has no joint posterior: fit at most 3000 samples")
	case m.scale != ownScale:
		return nil, fmt.Errorf("mkl: PredictJoint: the joint posterior is of the target's %s, which the members learn; %s", m.scale, ownScaleInstead)
	}
	out := &JointPrediction{}
	for i, w := range m.weights {
		p, err := m.models[i].(interface {
			PredictJoint(context.Context, PredictOptions, ...Features) (*JointPrediction, error)
		}).PredictJoint(ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		for _, q := range p.Parts {
			q.Weight *= w
			out.Parts = append(out.Parts, q)
		}
	}
	return out, nil
}
