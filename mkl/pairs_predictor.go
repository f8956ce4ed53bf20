package mkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/kbmf"
)

// PairFactors holds the posterior of the factors of one row, or of one column. A
// [PairPredictor] makes it and fills it in. It is not safe for concurrent use.
type PairFactors struct {
	mean, cov []float64
	of        *PairPredictor
	column    bool
	known     bool // it has been filled in
}

// PairPredictor predicts one pair at a time without allocation: it computes the factors of a row and
// of a column, which can be used for any number of pairs, and combines them. It is immutable and
// safe for concurrent use.
//
//	p, err := model.Predictor(mkl.PredictorOptions{})
//	user, film := p.Row(), p.Column()
//	err = p.New(user, features)
//	err = p.Known(film, 17)
//	mean, variance, err := p.Predict(user, film)
type PairPredictor struct {
	posterior *kbmf.Posterior
	scale     target
	meanOnly  bool
	sides     [2]pointSide
}

// pointSide computes the factors of one row, or column.
type pointSide struct {
	gram.Points
	points  *kbmf.Points
	healed  *gram.SelfDesign // nil if new factors are not healed
	bare    []gram.Input     // the inputs of factors that are not healed
	fit     *kbmf.Factors    // the factors of the fit
	scratch int
	pool    reuse.Pool[scratch]
}

// predictor makes the predictor of single pairs.
func (m *pairModel) predictor(opt PredictorOptions, scale target) (*PairPredictor, error) {
	if err := opt.check(1); err != nil {
		return nil, err
	}
	p := &PairPredictor{posterior: m.posterior, scale: scale, meanOnly: opt.MeanOnly}
	for i, ds := range [2]*gram.Design{m.rows, m.columns} {
		s := &p.sides[i]
		s.bare = ds.Inputs
		if !opt.Published && !opt.Unhealed && m.healed[i] != nil {
			s.healed, ds = m.healed[i], m.healed[i].Design
		}
		points, err := m.posterior.Points(&la.Workspace{}, i == 1, opt.MeanOnly, s.healed != nil)
		if err != nil {
			return nil, fmt.Errorf("mkl: Predictor: %w", err)
		}
		s.Points = gram.NewPoints(ds, vec.UpTo(len(ds.Views)), vec.UpTo(ds.D), s.healed != nil)
		s.points, s.fit, s.scratch = points, m.posterior.Known(i == 1, nil), points.ScratchSize()
		s.pool = reuse.NewPool(func() *scratch {
			c := &scratch{PointScratch: s.NewScratch()}
			c.g = make([]float64, s.scratch)
			return c
		})
	}
	return p, nil
}

// Predictor makes a predictor of single pairs. Tolerance and Exact have no effect;
// Published means Unhealed. For each side and component it keeps a Cholesky factor, unless MeanOnly, and a matrix,
// unless Unhealed. The order of both is the number of basis points.
//
// A row of a precomputed kernel may have one more value, the kernel of the new row, or column, with itself: then
// the factors are healed.
func (m *PairRegressionModel) Predictor(opt PredictorOptions) (*PairPredictor, error) {
	return m.predictor(opt, m.scale)
}

// Predictor makes a predictor of single pairs, as [PairRegressionModel.Predictor].
func (m *PairClassifierModel) Predictor(opt PredictorOptions) (*PairPredictor, error) {
	return m.predictor(opt, target{0, 1})
}

// Row returns memory for the factors of a row.
func (p *PairPredictor) Row() *PairFactors { return p.newFactors(false) }

// Column returns memory for the factors of a column.
func (p *PairPredictor) Column() *PairFactors { return p.newFactors(true) }

func (p *PairPredictor) newFactors(column bool) *PairFactors {
	R, _, _ := p.posterior.Dims()
	f := &PairFactors{mean: make([]float64, R), of: p, column: column}
	if !p.meanOnly {
		f.cov = make([]float64, R*R)
	}
	return f
}

// side returns the side to which the factors f belong.
func (p *PairPredictor) side(f *PairFactors) (*pointSide, error) {
	if f == nil || f.of != p {
		return nil, fmt.Errorf("mkl: the factors are of another predictor")
	}
	if f.column {
		return &p.sides[1], nil
	}
	return &p.sides[0], nil
}

// New stores the factors of a new row, or column, given as one line for each of the inputs of its
// side; see SideInputs of the model. It returns the errors that [Predictor.Predict] returns.
func (p *PairPredictor) New(f *PairFactors, x ...[]float64) error {
	s, err := p.side(f)
	if err != nil {
		return err
	}
	inputs, healed := s.bare, s.healed.Heals(len(x), func(i int) int { return len(x[i]) })
	if healed {
		inputs = s.Inputs
	}
	if err := checkPoint(inputs, x); err != nil {
		return err
	}
	c := s.pool.Take()
	s.Kernels(c.PointScratch, x)
	self := c.Self
	if !healed {
		self = nil
	}
	s.points.At(&c.WS, c.K, self, c.g, f.mean, f.cov)
	s.pool.Put(c)
	f.known = true
	return nil
}

// Known stores the factors of the row, or column, with the index at in the fit, counted from 0. Its observed
// pairs count. It returns an error if the fit has no such index.
func (p *PairPredictor) Known(f *PairFactors, at int) error {
	s, err := p.side(f)
	if err != nil {
		return err
	}
	if at < 0 || at >= s.fit.Mean.Cols {
		return fmt.Errorf("mkl: place %d where the fit has %d", at, s.fit.Mean.Cols)
	}
	for r := range f.mean {
		f.mean[r] = s.fit.Mean.At(r, at)
	}
	copy(f.cov, s.fit.Covariance.Row(at))
	f.known = true
	return nil
}

// Predict returns the predictive mean and variance (noise included; NaN with MeanOnly) of the
// value of a pair, in its units and their square; for labels, of the score. It returns an error unless New or
// Known of this predictor has filled in row and column, or if the prediction is not finite.
func (p *PairPredictor) Predict(row, column *PairFactors) (mean, variance float64, err error) {
	mean, variance, _, err = p.pair(row, column)
	return mean, variance, err
}

// Probability returns the probability that a pair has the label. It is NaN for values, and with MeanOnly.
// It returns the errors that Predict returns.
func (p *PairPredictor) Probability(row, column *PairFactors) (float64, error) {
	_, _, probability, err := p.pair(row, column)
	return probability, err
}

func (p *PairPredictor) pair(row, column *PairFactors) (mean, variance, probability float64, err error) {
	for _, f := range [2]*PairFactors{row, column} {
		if _, err := p.side(f); err != nil {
			return math.NaN(), math.NaN(), math.NaN(), err
		}
		if !f.known || f.column != (f == column) {
			return math.NaN(), math.NaN(), math.NaN(), fmt.Errorf("mkl: the factors are not a row and a column that New or Known has filled in")
		}
	}
	mean, variance, probability = p.posterior.Pair(row.mean, row.cov, column.mean, column.cov)
	mean, variance = p.scale.mean+float64(p.scale.sd*mean), p.scale.sd*p.scale.sd*variance
	if p.meanOnly {
		_, err = checkMoments(mean, 1)
	} else {
		variance, err = checkMoments(mean, variance)
	}
	if err != nil {
		return math.NaN(), math.NaN(), math.NaN(), fmt.Errorf("mkl: %w", err)
	}
	return mean, variance, probability, nil
}
