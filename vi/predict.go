package vi

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// PredictOptions says what to predict. The zero value predicts means and full
// variances.
type PredictOptions struct {
	// Published selects the paper's predictive variance, which takes the
	// intermediate outputs at their means and is too small.
	Published bool

	// MeanOnly leaves the variances out, and with them nearly all of the cost.
	MeanOnly bool

	// Intermediate adds the intermediate outputs g*.
	Intermediate bool

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	Workers int
}

// Prediction is the predictive distribution of T samples. Matrices that were
// not asked for are empty.
type Prediction struct {
	Mean     la.Matrix[float64] // L×T
	Variance la.Matrix[float64] // L×T, of the target with its noise (a classifier's score: 1)

	GMean     la.Matrix[float64] // (L·P)×T, of the intermediate outputs
	GVariance la.Matrix[float64] // (L·P)×T
}

// predictRows is the number of kernel columns taken through a triangular solve
// at a time.
const predictRows = 256

// scorer predicts the target eᵀ·g + b of new samples under the posterior of the
// layers; the models differ in the noise that they add.
type scorer struct {
	L, P, D     int
	lambdaShape float64
	lambda      la.Matrix[float64] // L×D, scales of q(λ)
	a           la.Matrix[float64] // L×D
	upsilon     []float64          // L, E[υ_o]
	noise       []float64          // L, the variance of the target around eᵀ·g + b
	beMean      []float64
	beCov       la.Matrix[float64]
	ee          la.Matrix[float64] // P×P, E[e·eᵀ]
	gram        la.Matrix[float64] // D×D, lower triangle
}

func newScorer(lambdaShape float64, lambda, a la.Matrix[float64], upsilon, noise, beMean []float64, beCov, gram la.Matrix[float64]) scorer {
	L, D := lambda.Rows, lambda.Cols
	P := len(beMean) - L
	p := scorer{
		L: L, P: P, D: D, lambdaShape: lambdaShape, lambda: lambda, a: a, upsilon: upsilon, noise: noise,
		beMean: beMean, beCov: beCov, ee: la.NewMatrix[float64](P, P), gram: gram,
	}
	e := beMean[L:]
	for m := range P {
		copy(p.ee.Row(m), beCov.Row(L + m)[L:])
		la.Axpy(e[m], e, p.ee.Row(m))
	}
	return p
}

// Dims returns the number of outputs, kernels and basis points.
func (p *scorer) Dims() (L, P, D int) { return p.L, p.P, p.D }

// KernelWeights returns the mean and the standard deviation of each kernel
// weight e_m.
func (p *scorer) KernelWeights() (mean, sd []float64) {
	mean = append([]float64(nil), p.beMean[p.L:]...)
	sd = make([]float64, p.P)
	for m := range sd {
		sd[m] = math.Sqrt(p.beCov.At(p.L+m, p.L+m))
	}
	return mean, sd
}

// factor stores s = Λ_o^-½ and the Cholesky factor of B = I + υ_o·Λ^-½·S·Λ^-½,
// with which Cov[a_o] = s·B⁻¹·s.
func (p *scorer) factor(ws *la.Workspace, o int, b la.Matrix[float64], s []float64) error {
	for d, scale := range p.lambda.Row(o) {
		s[d] = 1 / math.Sqrt(p.lambdaShape*scale)
	}
	if _, _, err := factorB(ws, b, p.gram, p.upsilon[o], s); err != nil {
		return fmt.Errorf("vi: sample weights of output %d: %w", o, err)
	}
	return nil
}

// WeightCovariance returns the covariance of the sample weights a_{o,d} for the
// basis points d in rows, in their order. It costs a Cholesky factorisation of
// order D and a solve for each row.
func (p *scorer) WeightCovariance(ws *la.Workspace, o int, rows []int) (la.Matrix[float64], error) {
	b, s := la.NewMatrix[float64](p.D, p.D), make([]float64, p.D)
	if err := p.factor(ws, o, b, s); err != nil {
		return la.Matrix[float64]{}, err
	}
	x := la.NewMatrix[float64](len(rows), p.D) // rows L⁻¹·s_d·u_d
	for r, d := range rows {
		x.Set(r, d, s[d])
	}
	la.Trsm(ws, la.Right, la.Transpose, b, x)
	cov := la.NewMatrix[float64](len(rows), len(rows))
	la.Syrk(ws, la.NoTrans, 1, x, 0, cov)
	cov.MirrorLower()
	return cov, nil
}

// Predict returns the predictive distribution of the samples whose kernels with
// the D basis points are the columns of k: P matrices D×T.
//
// With C the covariance of g* given the posterior, I/υ + (k_mᵀ·Cov[a_o]·k_m')_{m,m'},
// the variance is
//
//	noise + [1 E[g*]]·Cov[b_o,e]·[1 E[g*]]ᵀ + E[e]ᵀ·C·E[e] + tr(Cov[e]·C),
//
// with noise 1/E[ε_o]: the exact second moment under the posterior factors with
// the precisions at their means; the paper (end of section 4) leaves out the
// terms with C. Each
// output costs a Cholesky factorisation of order D, repeated in every call, and
// D²·P·T multiplications; memory beyond the results is one D×D matrix and a
// block of rows.
func (p *scorer) Predict(k Kernels, opt PredictOptions) (*Prediction, error) {
	if k == nil {
		return nil, fmt.Errorf("vi: kernels: nil")
	}
	P, D, T := k.Dims()
	if P != p.P || D != p.D {
		return nil, fmt.Errorf("vi: kernels: %d of %d×%d where %d with %d basis points are needed", P, D, T, p.P, p.D)
	}
	ws := &la.Workspace{Workers: opt.Workers}
	L := p.L
	e := p.beMean[L:]
	out := &Prediction{Mean: la.NewMatrix[float64](L, T)}
	g := la.NewMatrix[float64](L*P, T)
	k.Project(ws, p.a, g)
	for o := range L {
		row := out.Mean.Row(o)
		for i := range row {
			row[i] = p.beMean[o]
		}
		for m := range P {
			la.Axpy(e[m], g.Row(o*P+m), row)
		}
	}
	if opt.Intermediate {
		out.GMean = g
	}
	if opt.MeanOnly {
		return out, nil
	}

	out.Variance = la.NewMatrix[float64](L, T)
	for o := range L {
		p.combinationVariance(o, g, out.Variance.Row(o))
	}
	if opt.Published && !opt.Intermediate {
		return out, nil
	}
	if opt.Intermediate {
		out.GVariance = la.NewMatrix[float64](L*P, T)
	}
	return out, p.addIntermediateVariance(ws, k, opt, out)
}

// combinationVariance stores 1/ε + [1 g]·Cov[b_o,e]·[1 g]ᵀ for every sample.
func (p *scorer) combinationVariance(o int, g la.Matrix[float64], dst []float64) {
	L, P, cov := p.L, p.P, p.beCov
	noise := p.noise[o]
	for i := range dst {
		v := noise + cov.At(o, o)
		for m := range P {
			gm, c := g.At(o*P+m, i), cov.Row(L+m)
			s := 2 * c[o]
			for n := range P {
				s += float64(c[L+n] * g.At(o*P+n, i))
			}
			v += float64(gm * s)
		}
		dst[i] = v
	}
}

// addIntermediateVariance adds E[e]ᵀCE[e] + tr(Cov[e]C) = tr(E[eeᵀ]·C) to the
// variances, and stores the diagonal of C, as opt says.
func (p *scorer) addIntermediateVariance(ws *la.Workspace, k Kernels, opt PredictOptions, out *Prediction) error {
	P, D := p.P, p.D
	_, _, T := k.Dims()
	var trace float64
	for m := range P {
		trace += p.ee.At(m, m)
	}
	factor, s := la.NewMatrix[float64](D, D), make([]float64, D)
	block := min(T, max(1, predictRows/P))
	x := la.NewMatrix[float64](P*block, D)
	for o := range p.L {
		if err := p.factor(ws, o, factor, s); err != nil {
			return err
		}
		spread := 1 / p.upsilon[o]
		for first := 0; first < T; first += block {
			n := min(block, T-first)
			// Row m·n+t becomes L⁻¹·s∘k_{m,t}; products of rows are then
			// k_mᵀ·Cov[a_o]·k_m'.
			xn := x.Slice(0, P*n, 0, D)
			for m := range P {
				k.Columns(m, first, xn.Slice(m*n, (m+1)*n, 0, D))
			}
			for r := range xn.Rows {
				row := xn.Row(r)
				for d := range row {
					row[d] *= s[d]
				}
			}
			la.Trsm(ws, la.Right, la.Transpose, factor, xn)
			for t := range n {
				v := spread * trace
				for m := range P {
					xm := xn.Row(m*n + t)
					square := la.SumSq(xm)
					if opt.Intermediate {
						out.GVariance.Set(o*P+m, first+t, spread+square)
					}
					v += float64(p.ee.At(m, m) * square)
					for j := range m {
						v += 2 * float64(p.ee.At(m, j)*la.Dot(xm, xn.Row(j*n+t)))
					}
				}
				if !opt.Published {
					out.Variance.Row(o)[first+t] += v
				}
			}
		}
	}
	return nil
}
