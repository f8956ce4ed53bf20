package mgp

import (
	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/triangle"
)

// JointTriangle computes the mean of the function variances of several posteriors that have one composite kernel, as [Triangle] computes
// one of them. With the shares ω of the posteriors
//
//	Σ ω_j·Var_j[f] = k(x,x) − Σ ω_j·kᵀC_jk = k(x,x) − |Gk|²,   GᵀG = Σ ω_j·C_j,   C_j = S_j^½·B_j⁻¹·S_j^½,
//
// so that one triangle takes the place of several. It is immutable and safe for concurrent use.
type JointTriangle struct {
	posts []*Posterior
	*triangle.Triangle
	tolerance float64 // of integers, in standard deviations
}

// NewJointTriangle returns the joint triangle of posteriors with the composite kernel k and positive shares, whose sum is 1, by way of an
// archive, which may be nil. The tolerance and a nil result are as for [Posterior.Triangle].
func NewJointTriangle(a *archive.Archive, posts []*Posterior, shares []float64, k Composite, tolerance float64) *JointTriangle {
	t := archive.Value(a, func() *triangle.Triangle {
		var parts []triangle.Part
		noise := 0.0
		for j, p := range posts {
			parts = append(parts, triangle.Part{Factor: p.s.Factor, Root: p.root, Share: shares[j]})
			noise += shares[j] / p.s.Tau
		}
		return triangle.Joint(parts, k, left(noise, tolerance), tolerance >= triangle.LeastCoarse)
	}, func(t *triangle.Triangle, a *archive.Archive) { t.Archive(a, posts[0].dim.N) })
	if t == nil {
		return nil
	}
	return &JointTriangle{posts, t, tolerance}
}

// Variance returns the mean variance of the functions of a sample and a bound on its error. The arguments are as for
// [Triangle.Predict]. If coarse, it is in integers where the triangle has them.
func (t *JointTriangle) Variance(k []float64, self float64, coarse bool, s *TriangleScratch) (variance, bound float64) {
	square, bound := t.Square(k, self, coarse && t.Coarse(), s)
	return max(0, self-square), bound
}

// Predict returns the prediction of posterior j from the composite kernels k, with the mean variance of the functions and the bound on its
// error in place of its own.
func (t *JointTriangle) Predict(j int, k []float64, variance, bound float64) vi.Certified {
	p := t.posts[j]
	noise := 1 / p.s.Tau
	return certified(la.Dot(k, p.s.Alpha), variance+noise, bound, noise)
}

// PredictVarying is Predict for noise that varies. The logarithm of the noise has the triangle about, the composite kernels noiseK and
// noiseSelf.
func (t *JointTriangle) PredictVarying(j int, k []float64, variance, bound float64, p *NoiseProcess, about *Triangle, noiseK []float64, noiseSelf float64, coarse bool, s *TriangleScratch) vi.Certified {
	return p.predictAround(about, la.Dot(k, t.posts[j].s.Alpha), variance, bound, noiseK, noiseSelf, t.tolerance, coarse, s)
}
