package mkl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// MultiTaskPredictor predicts all targets of one sample at a time. Like
// [Predictor] it is pruned, takes no lock, starts no goroutine, does not allocate,
// is immutable and safe for concurrent use.
//
// Pruning leaves out latent functions that contribute little. It computes the others
// from a part of the training samples, on which smooth functions depend almost
// entirely. Kernels that were given as matrices keep every sample.
type MultiTaskPredictor struct {
	gram.Points
	info    []PredictorInfo // by target
	latents []pointLatent

	// In the targets' units, targets × latent functions: E[w], E[w²] and Var[w].
	weight, square, within la.Matrix[float64]
	bias, noise            []float64 // by target; noise is a variance
	meanOnly               bool
	pool                   reuse.Pool[scratch]
}

// pointLatent is a latent function at a sample whose kernels with the function's
// own samples are k: its mean is βᵀk and its variance k(x, x) − |T·k|². It can also be a known function.
type pointLatent struct {
	known bool
	pick  []int // indices of its samples among the active ones
	beta  []float64
	t     la.Matrix[float64] // empty if variances are not needed
}

// Predictor prunes the model for predictions of single samples, of all targets.
// Published has no effect. For each latent function it
// costs about two products of N×N matrices.
func (m *MultiTaskModel) Predictor(opt PredictorOptions) (*MultiTaskPredictor, error) {
	if err := opt.check(1); err != nil {
		return nil, err
	}
	s := m.posterior.State()
	if !opt.MeanOnly && s.Factors == nil {
		return nil, errors.New("mkl: Predictor: the fit had MeanOnly: the predictor needs MeanOnly too")
	}
	pr := newLatentPruning(opt, m)
	pr.dropFunctions()
	if err := pr.dropSamples(); err != nil {
		return nil, fmt.Errorf("mkl: Predictor: %w", err)
	}
	samples := pr.samples()
	all := slices.Concat(pr.kept, pr.known)
	Q, P := len(m.targets), len(all)
	p := &MultiTaskPredictor{
		Points: gram.NewPoints(pr.design, vec.UpTo(P), samples, true),
		weight: la.NewMatrix[float64](Q, P), square: la.NewMatrix[float64](Q, P), within: la.NewMatrix[float64](Q, P),
		meanOnly: opt.MeanOnly,
	}
	for _, f := range pr.kept {
		l, err := f.point(pr, samples)
		if err != nil {
			return nil, fmt.Errorf("mkl: Predictor: latent function %d: %w", f.index, err)
		}
		p.latents = append(p.latents, l)
	}
	for range pr.known {
		p.latents = append(p.latents, pointLatent{known: true})
	}
	for q, t := range m.targets {
		for n, f := range all {
			w := m.posterior.Weight(q, f.index)
			mean, square := w.Moments()
			p.weight.Set(q, n, t.sd*mean)
			p.square.Set(q, n, t.sd*t.sd*square)
			p.within.Set(q, n, t.sd*t.sd*w.VarW())
		}
		p.bias, p.noise = append(p.bias, t.mean), append(p.noise, t.sd*t.sd*s.Noise[q])
		p.info = append(p.info, pr.info(q, samples, t.sd))
	}
	p.pool = reuse.NewPool(p.newScratch)
	return p, nil
}

func (p *MultiTaskPredictor) newScratch() *scratch {
	s := &scratch{PointScratch: p.Points.NewScratch()}
	s.g, s.spread = make([]float64, len(p.latents)), make([]float64, len(p.latents))
	s.picked, s.solved = make([]float64, p.Samples), make([]float64, p.Samples)
	return s
}

// Info says for each target what pruning kept, and bounds its effect on the mean and standard deviation. Kernels are indices
// of latent functions.
func (p *MultiTaskPredictor) Info() []PredictorInfo {
	out := make([]PredictorInfo, len(p.info))
	for q, i := range p.info {
		out[q] = i.clone()
	}
	return out
}

// Predict stores the predictive means and variances (noise included) of one sample
// in mean and variance, which have an entry for each target. The sample is
// given as one row for each of the model's Inputs. variance may be nil, and must be with MeanOnly. It returns
// an error if a row has the wrong length or contains a NaN or an infinity.
func (p *MultiTaskPredictor) Predict(mean, variance []float64, x ...[]float64) error {
	switch {
	case len(mean) != len(p.bias):
		return fmt.Errorf("mkl: mean has length %d and there are %d targets", len(mean), len(p.bias))
	case variance != nil && p.meanOnly:
		return errors.New("mkl: variance: the predictor was made with MeanOnly")
	case variance != nil && len(variance) != len(p.bias):
		return fmt.Errorf("mkl: variance has length %d and there are %d targets", len(variance), len(p.bias))
	}
	if err := checkPoint(p.Inputs, x); err != nil {
		return err
	}
	s := p.pool.Take()
	p.predict(s, mean, variance, x)
	p.pool.Put(s)
	for q, m := range mean {
		v := 1.0
		if variance != nil {
			v = variance[q]
		}
		v, err := checkMoments(m, v)
		if err != nil {
			return fmt.Errorf("mkl: target %d: %w", q, err)
		}
		if variance != nil {
			variance[q] = v
		}
	}
	return nil
}

func (p *MultiTaskPredictor) predict(s *scratch, mean, variance []float64, x [][]float64) {
	p.Kernels(s.PointScratch, x)
	for n := range p.latents {
		l := &p.latents[n]
		if v := &p.Views[n]; l.known {
			s.g[n], s.spread[n] = v.Value(&p.Inputs[v.Input], x[v.Input]), 0
			continue
		}
		k := s.picked[:len(l.pick)]
		vec.Pick(k, s.K.Row(n), l.pick)
		s.g[n] = la.Dot(l.beta, k)
		if variance != nil {
			v := s.solved[:l.t.Rows]
			la.Gemv(&s.WS, la.NoTrans, 1, l.t, k, 0, v)
			s.spread[n] = max(0, s.Self[n]-la.SumSq(v))
		}
	}
	for q, b := range p.bias {
		mean[q] = b + la.Dot(p.weight.Row(q), s.g)
		if variance != nil {
			variance[q] = p.noise[q] + la.Dot(p.square.Row(q), s.spread)
			for n, w := range p.within.Row(q) {
				variance[q] += float64(w * float64(s.g[n]*s.g[n]))
			}
		}
	}
}
