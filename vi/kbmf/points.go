package kbmf

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/healing"
	"github.com/bmkl/bmkl/vi/internal/predictive"
	"github.com/bmkl/bmkl/vi/internal/target"
)

// Points finds the factors of new rows, or of new columns, one at a time, as
// [Posterior.New] and NewHealed do: it keeps what these make anew in every call. It is
// immutable and safe for concurrent use.
type Points struct {
	side    *scorer
	factors []predictive.WeightFactor // of each component; nil for means alone
	healers []*healing.Single         // of each component; nil if variances are not healed
}

// Points returns what finds the factors of single rows, or columns. Unless meanOnly, it makes and
// keeps R Cholesky factors of the basis points' order; a single one is the posterior's own. If
// they are to be healed it also keeps R matrices of that order.
func (p *Posterior) Points(ws *la.Workspace, columns, meanOnly, healed bool) (*Points, error) {
	q := &Points{side: p.side(columns)}
	if healed {
		for r := range q.side.L {
			h, err := healing.NewSingle(nil, ws, p.healers(columns), r)
			if err != nil {
				return nil, err
			}
			q.healers = append(q.healers, h)
		}
	}
	if meanOnly {
		return q, nil
	}
	for r := range q.side.L {
		f, err := q.side.Factor(ws, r, new(predictive.WeightFactor))
		if err != nil {
			return nil, err
		}
		q.factors = append(q.factors, f)
	}
	return q, nil
}

// ScratchSize is the length of the scratch memory of At.
func (q *Points) ScratchSize() int {
	R, P, D := q.side.L, q.side.P, q.side.D
	n := R*P + P + P*D
	if q.healers != nil {
		n = max(n, q.healers[0].ScratchSize())
	}
	return n
}

// At stores mean, R, and covariance, R×R, of the factors of a sample, whose kernels with the
// basis points are the rows of k, P×D, and those with itself self, P. Without self the factors are
// not healed. Without covariances it leaves cov alone. It does not allocate.
func (q *Points) At(ws *la.Workspace, k la.Matrix[float64], self, scratch, mean, cov []float64) {
	q.unhealed(ws, k, scratch, mean, cov)
	if self == nil {
		return
	}
	for r, h := range q.healers {
		m, v := h.Heal(ws, k, self, scratch)
		mean[r] += m
		if q.factors != nil {
			cov[r*len(mean)+r] += v
		}
	}
}

// unhealed is At without healing.
func (q *Points) unhealed(ws *la.Workspace, k la.Matrix[float64], scratch, mean, cov []float64) {
	side := q.side
	R, P, D := side.L, side.P, side.D
	g, scratch := la.MatrixOf(R, P, scratch[:R*P]), scratch[R*P:]
	turned, scratch := scratch[:P], scratch[P:]
	c := &side.Combinations[0]
	for r := range R {
		for m := range P {
			g.Set(r, m, la.Dot(side.A.Row(r), k.Row(m)))
		}
		mean[r] = la.Dot(c.Mean[1:], g.Row(r))
	}
	if q.factors == nil {
		return
	}
	side.crossCovariance(g, turned, cov)
	x := la.MatrixOf(P, D, scratch[:P*D])
	for r, f := range q.factors {
		for m := range P {
			row, from := x.Row(m), k.Row(m)
			for d, s := range f.S {
				row[d] = s * from[d]
			}
		}
		la.Trsm(ws, la.Right, la.Transpose, f.B, x)
		v := side.Noise[r]
		for m := range P {
			v += float64(g.At(r, m) * la.Dot(c.Cov.Row(1 + m)[1:], g.Row(r)))
			for n := range P {
				v += float64(c.EE.At(m, n) * la.Dot(x.Row(m), x.Row(n)))
			}
			v += c.EE.At(m, m) / side.Upsilon[r]
		}
		cov[r*R+r] = v
	}
}

// Pair returns mean and variance of the value of a pair, or of its label's score, and for labels
// the probability of +1, given mean and covariance of the factors of its row and its column, as
// [Posterior.Predict] does. Without covariances they are of the mean alone.
func (p *Posterior) Pair(hx, cx, hz, cz []float64) (mean, variance, probability float64) {
	mean = p.s.Bias + la.Dot(hx, hz)
	if len(cx) == 0 || len(cz) == 0 {
		return mean, math.NaN(), math.NaN()
	}
	R := p.x.L
	variance = p.noiseVariance() + la.Dot(cx, cz)
	for r := range R {
		variance += float64(hx[r]*la.Dot(cz[r*R:(r+1)*R], hx)) + float64(hz[r]*la.Dot(cx[r*R:(r+1)*R], hz))
	}
	if !p.s.Labels {
		return mean, variance, math.NaN()
	}
	return mean, variance, target.Probability(mean, math.Sqrt(variance), p.s.Margin)
}

// noiseVariance is the variance of a pair's value, or score, given the factors.
func (p *Posterior) noiseVariance() float64 {
	if p.s.Labels {
		return p.s.BiasVariance + 1
	}
	return p.s.BiasVariance + float64(p.s.Noise*p.s.Noise)
}
