package mgp

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
)

// Settings of moveParameters.
const (
	enoughRise    = 1e-2 // nats that a step of the level and of the parameters must promise to count
	mostDoubt     = 0.1  // of what a step promises: what it would promise by the last change of the slopes
	mostShapeStep = 0.5
	shapeNudge    = 1e-4 // of a parameter, for differences of slopes
)

// parameterStep is what a step of the level and of the parameters came to.
type parameterStep int

const (
	stepWaits parameterStep = iota // the slopes still change where the parameters stay
	stepTaken
	stepIsNone // it promises no rise
)

// slopes are the ones of the log posterior density by the level and the parameters, and its second derivatives with the other sign.
type slopes struct {
	gradient []float64
	bends    la.Matrix[float64]
}

// moveParameters takes a step of Newton's by the level and by the parameters of the likelihood, unless it promises no rise of the evidence.
// The residual is a mean over the samples, and says little about slopes that a few of them decide. A step therefore waits until the
// slopes of two sweeps with the same parameters agree (docs/theory/likelihoods.md, section 7).
func (x *extension) moveParameters() parameterStep {
	now := x.slopes()
	before := x.before
	x.before = now.gradient
	factor, ok := x.uphill(now)
	if !ok {
		return stepIsNone
	}
	if before == nil {
		return stepWaits
	}
	step, promised := newton(factor, now.gradient)
	change := slices.Clone(now.gradient)
	la.Axpy(-1, before, change)
	_, doubt := newton(factor, change)
	if promised <= enoughRise && doubt <= enoughRise {
		return stepIsNone
	}
	if doubt > mostDoubt*promised {
		return stepWaits
	}
	la.Scal(x.shorten(now, step), step)
	x.taken, x.from, x.before = step, now, nil
	la.Axpy(1, step, x.parameter)
	x.like.at(x.parameter)
	return stepTaken
}

// shorten returns the share of a step to take. Along the last step the slopes have changed by more than the bends foretold
// where these are too small, and so they will again.
func (x *extension) shorten(now slopes, step []float64) float64 {
	share, longest := 1.0, 0.0
	if x.taken != nil {
		change := slices.Clone(x.from.gradient)
		la.Axpy(-1, now.gradient, change)
		t := make([]float64, len(step))
		la.Symv(&x.ws, 1, x.from.bends, x.taken, 0, t)
		if foretold := la.Dot(t, x.taken); foretold > 0 {
			share = 1 / max(1, la.Dot(change, x.taken)/foretold)
		}
	}
	for _, s := range step[1:] {
		longest = max(longest, share*math.Abs(s))
	}
	if longest > mostShapeStep {
		share *= mostShapeStep / longest
	}
	return share
}

// slopes computes the slopes at the present sites.
func (x *extension) slopes() slopes {
	gradient, scores := x.scores()
	gradient[0] = x.levelSlope()
	bends := x.bends(scores)
	for i, sd := range x.priorSD {
		gradient[i] -= (x.parameter[i] - x.priorMean[i]) / (sd * sd)
		bends.Row(i)[i] += 1 / (sd * sd)
	}
	return slopes{gradient, bends}
}

// newton returns the step that the factor of the bends makes of a gradient, and the product of both.
func newton(factor la.Matrix[float64], gradient []float64) (step []float64, rise float64) {
	step = slices.Clone(gradient)
	la.CholeskySolveVec(factor, step)
	return step, la.Dot(step, gradient)
}

// scores returns the slopes of the log evidence by the level and the parameters, and the ones of each sample, N×(1+K). At sites that match
// they are the slopes of Σ log Z_n where the cavities stay.
func (x *extension) scores() (sum []float64, each la.Matrix[float64]) {
	N, K := len(x.mean), len(x.parameter)
	sum, each = make([]float64, K), la.NewMatrix[float64](N, K)
	for n := range N {
		x.scoresOf(n, x.like.eta, each.Row(n))
		la.Axpy(1, each.Row(n), sum)
	}
	return sum, each
}

// levelSlope returns the slope of the log evidence by the level where the sites of f + b stay: Σ_n ν̃_n − λ̃_n·E[v_nᵀw]. At sites that match it
// is the sum of the scores. At others it belongs to the curvature of the same Gaussian sites. Where a constant kernel takes the level's
// place, that curvature is a small difference, by which an error of the scores would be multiplied.
func (x *extension) levelSlope() (slope float64) {
	for n, m := range x.mean {
		slope += (x.nu[n] - float64(x.prec[n]*m)) / x.spread(n)
	}
	return slope
}

// scoresOf stores the slopes of log Z_n by the level and the parameters.
func (x *extension) scoresOf(n int, eta, dst []float64) {
	dst[0] = x.like.moments(n, x.cavityMean[n]+x.like.level, x.cavityVar[n], eta, dst[1:]).slope
}

// bends returns the second derivatives of the log evidence by the level and the parameters, with the other sign, given the scores of the
// samples. A change of a parameter moves the sites, these move the cavities, and the cavities the scores. With C the
// derivatives of the scores by the cavities' means, κ_n = 1 − λ̃_n·s_n and S = V(I + VᵀΛ̃V)⁻¹Vᵀ, of the diagonal s, they are
//
//	−∂²Σ log Z_n − (κ⁻¹C)ᵀ(S − diag s)(κ⁻¹C).
//
// What the variances of the cavities change is left out.
func (x *extension) bends(scores la.Matrix[float64]) la.Matrix[float64] {
	N, K := scores.Rows, scores.Cols
	out, c, near := la.NewMatrix[float64](K, K), la.NewMatrix[float64](N, K), make([]float64, K)
	for n := range N {
		lambda := x.prec[n] / x.spread(n)
		c.Row(n)[0] = -lambda // of the level: the bend of log Z_n is λ̃κ
		out.Row(0)[0] += float64(lambda * max(1e-10, 1-float64(lambda*x.variance[n])))
	}
	for j, v := range x.like.eta {
		eta := slices.Clone(x.like.eta)
		eta[j] = v + shapeNudge
		for n := range N {
			x.scoresOf(n, eta, near)
			for i := range K {
				d := (near[i] - scores.At(n, i)) / shapeNudge
				out.Row(1 + j)[i] -= d
				if i == 0 {
					lambda := x.prec[n] / x.spread(n)
					c.Row(n)[1+j] = d / max(1e-10, 1-float64(lambda*x.variance[n]))
				}
			}
		}
	}
	t := la.NewMatrix[float64](K, x.v.Cols)
	la.Gemm(&x.ws, la.Transpose, la.NoTrans, 1, c, x.v, 0, t)
	la.Trsm(&x.ws, la.Right, la.Transpose, x.factor, t)
	la.Syrk(&x.ws, la.NoTrans, -1, t, 1, out)
	for n, s := range x.variance {
		row := c.Row(n)
		for i := range K {
			la.Axpy(s*row[i], row[:i+1], out.Row(i)[:i+1])
		}
	}
	return out
}

// uphill returns the Cholesky factor of the bends, with as much added to their diagonal as makes them positive definite.
func (x *extension) uphill(s slopes) (factor la.Matrix[float64], ok bool) {
	most := 0.0
	for i := range s.gradient {
		most = max(most, math.Abs(s.bends.At(i, i)))
	}
	for ridge := 0.0; ridge <= 10; ridge = max(1e-3, 4*ridge) {
		factor = s.bends.Clone()
		for i := range s.gradient {
			factor.Row(i)[i] += float64(ridge * most)
		}
		if la.Cholesky(&x.ws, factor) == nil {
			return factor, true
		}
	}
	return factor, false
}
