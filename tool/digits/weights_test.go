package digits

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
	"github.com/bmkl/bmkl/vi/probit"
)

// weights is the posterior of sample weights a: normal, with precision Q = diag λ + υ·S,
// S = Σ_m K_m·K_mᵀ, all in 256 bits.
type weights struct {
	factor    matrix
	condition float64   // Σ_d Q_dd·(Q⁻¹)_dd: D if Q is diagonal
	root      []float64 // √Q_dd
	rounding  float64   // u·√(D + N·P), the relative rounding of an entry of S and its factor
}

func newWeights(k *vi.Dense, gram matrix, lambda []float64, upsilon float64) weights {
	P, D, N := k.Dims()
	q := zeros(D, D)
	for i := range D {
		for j := range i + 1 {
			q[i][j] = mul(num(upsilon), gram[i][j])
		}
		q[i][i] = add(q[i][i], num(lambda[i]))
	}
	w := weights{factor: q.factor(), rounding: 0x1p-53 * math.Sqrt(float64(D+N*P))}
	inverse := w.factor.inverse()
	for d := range D {
		w.condition += float(mul(q[d][d], inverse[d][d]))
		w.root = append(w.root, math.Sqrt(float(q[d][d])))
	}
	return w
}

// gramOf returns the lower triangle of S.
func gramOf(k *vi.Dense) matrix {
	P, D, _ := k.Dims()
	s := zeros(D, D)
	for m := range P {
		km := exact(k.At(m))
		for i := range D {
			for j := range i + 1 {
				s[i][j] = add(s[i][j], dot(km[i], km[j]))
			}
		}
	}
	return s
}

// covariance returns kᵀ·Cov[a]·l.
func (w weights) covariance(k, l []number) number { return dot(k, w.factor.solve(l)) }

// response returns υ·Σ_m K_m·g_m.
func response(k *vi.Dense, upsilon float64, g la.Matrix[float64]) []number {
	P, D, _ := k.Dims()
	r := make([]number, D)
	for d := range r {
		r[d] = num(0)
		for m := range P {
			r[d] = add(r[d], dot(vector(k.At(m).Row(d)), vector(g.Row(m))))
		}
		r[d] = mul(r[d], num(upsilon))
	}
	return r
}

// start returns the means from which a fit makes one sweep.
func start(p problem) *bemkl.Start {
	P, D, N := p.train.Dims()
	src := rand.New(rand.NewPCG(5, 6))
	s := &bemkl.Start{A: la.NewMatrix[float64](1, D), G: la.NewMatrix[float64](P, N)}
	for i := range s.A.Data {
		s.A.Data[i] = 0.1 * src.NormFloat64()
	}
	for m := range P {
		for i := range N {
			s.G.Set(m, i, p.y[i]+float64(0.1*src.NormFloat64()))
		}
	}
	return s
}

// variance returns the variance of a score without its noise: of g* it is the covariance
// I/υ + (k_mᵀ·Cov[a]·k_l), combined by the moments of b and e.
func (w weights) variance(p problem, sample int, upsilon float64, g []number, mean []float64, cov la.Matrix[float64]) float64 {
	P := len(mean) - 1
	sum := num(0)
	one := append([]number{num(1)}, g...)
	for i, a := range one {
		for j, b := range one {
			sum = add(sum, mul(mul(a, b), num(cov.At(i, j))))
		}
	}
	for m := range P {
		km := exact(p.test.At(m)).column(sample)
		for l := range P {
			c := w.covariance(km, exact(p.test.At(l)).column(sample))
			if l == m {
				c = add(c, div(num(1), num(upsilon)))
			}
			sum = add(sum, mul(c, add(num(cov.At(1+m, 1+l)), mul(num(mean[1+m]), num(mean[1+l])))))
		}
	}
	return float(sum)
}

// One sweep from a given state, and predictions of what comes of it, of regressions and
// classifiers.
func TestWeights(t *testing.T) {
	testkit.NotShort(t)
	var weight, mean, variance, told worst
	condition, lost := 0.0, 0
	for _, p := range problems() {
		s := start(p)
		_, D, _ := p.train.Dims()
		y := la.MatrixOf(1, len(p.y), p.y)
		regression, err := bemkl.Regression{Plain: true, Start: s, Ascent: vi.Ascent{MaxSweeps: 1}, Workers: 1}.Fit(t.Context(), p.train, y)
		require.NoError(t, err, p.name)
		classification, err := bemkl.Classification{
			Plain: true, Start: &bemkl.ClassificationStart{Start: *s, F: signs(y)}, Ascent: vi.Ascent{MaxSweeps: 1}, Workers: 1,
		}.Fit(t.Context(), p.train, signs(y))
		require.NoError(t, err, p.name)
		gram := gramOf(p.train)
		r, c := regression.Posterior.State(), classification.Posterior.State()
		scores, err := classification.Posterior.Predict(p.test, vi.PredictOptions{Workers: 1})
		require.NoError(t, err, p.name)
		targets, err := regression.Posterior.Predict(p.test, vi.PredictOptions{Workers: 1})
		require.NoError(t, err, p.name)
		for _, fit := range []struct {
			name          string
			lambda, a     la.Matrix[float64]
			upsilon, rest float64 // E[υ], and the variance that is added
			be            []float64
			beCov         la.Matrix[float64]
			shape         float64
			got           *bemkl.Prediction
			tells         func(*la.Workspace, int) ([]float64, float64, error)
		}{
			{"regression", r.Lambda, r.A, r.Upsilon[0].Mean(), 1 / r.Epsilon[0].Mean(), r.BEMean, r.BECov, r.Priors.Lambda.Shape, targets, regression.Posterior.WeightVariances},
			{"classification", c.Lambda, c.A, 1 / (c.SigmaG * c.SigmaG), 1, c.BEMean, c.BECov, c.Priors.Lambda.Shape, &scores.Prediction, classification.Posterior.WeightVariances},
		} {
			lambda := make([]float64, D)
			for d, scale := range fit.lambda.Row(0) {
				lambda[d] = (fit.shape + 0.5) * scale
			}
			w := newWeights(p.train, gram, lambda, fit.upsilon)
			_, rounding, err := fit.tells(nil, 0)
			require.NoError(t, err, p.name)
			if 4*w.rounding*w.condition > 0.1 {
				lost++ // nothing is promised, as the model says
				require.Greater(t, rounding, 0.01, "%s, %s", p.name, fit.name)
				continue
			}
			told.add(math.Abs(rounding/(4*w.rounding*w.condition)-1), p.name)
			condition = max(condition, w.condition)
			a := w.factor.solve(response(p.train, fit.upsilon, s.G))
			off, size := make([]number, D), math.Sqrt(fit.upsilon*la.SumSq(s.G.Data)) // of the response
			for d := range off {
				off[d] = sub(num(fit.a.At(0, d)), a[d])
				size = math.Hypot(size, w.root[d]*float(a[d]))
			}
			name := fmt.Sprintf("%s, %s, condition %.2g", p.name, fit.name, w.condition)
			for i := range p.self.Cols {
				g, score := make([]number, len(fit.be)-1), num(fit.be[0])
				for m := range g {
					k := exact(p.test.At(m)).column(i)
					sd := math.Sqrt(float(w.covariance(k, k)))
					weight.add(math.Abs(float(dot(k, off)))/sd/(4*w.rounding*math.Sqrt(w.condition)*size), name)
					g[m] = dot(k, vector(fit.a.Row(0)))
					score = add(score, mul(num(fit.be[1+m]), g[m]))
				}
				want := fit.rest + w.variance(p, i, fit.upsilon, g, fit.be, fit.beCov)
				mean.add(math.Abs(fit.got.Mean.At(0, i)-float(score))/math.Sqrt(want)/(4*w.rounding), name)
				variance.add(math.Abs(fit.got.Variance.At(0, i)-want)/want/(4*w.rounding*w.condition), name)
			}
		}
	}
	t.Logf("condition at most %.2g, %d fits lost", condition, lost)
	weight.below(t, "weights", 1)
	mean.below(t, "mean", 1)
	variance.below(t, "variance", 1)
	require.LessOrEqual(t, told.value, 0.1, "what models say of rounding is off: %s", told.where)
}

// signs returns a label for each target: +1 where it is positive, else −1.
func signs(y la.Matrix[float64]) la.Matrix[float64] {
	t := y.Clone()
	for i, v := range t.Data {
		t.Data[i] = math.Copysign(1, v)
	}
	return t
}

// Variances of the auxiliary variables of a probit.
func TestProbit(t *testing.T) {
	testkit.NotShort(t)
	var variance, told worst
	condition, lost := 0.0, 0
	for _, p := range problems() {
		labels := make([]int, len(p.y))
		for i, v := range p.y {
			if v > 0 {
				labels[i] = 1
			}
		}
		fit, err := probit.Model{Rule: probit.RuleFixSum, Ascent: vi.Ascent{MaxSweeps: 3}, Workers: 1}.Fit(t.Context(), p.train, labels)
		require.NoError(t, err, p.name)
		got, err := fit.Posterior.Predict(p.test, vi.PredictOptions{Workers: 1})
		require.NoError(t, err, p.name)
		s := fit.Posterior.State()
		// A fixed sum is one kernel.
		P, D, N := p.train.Dims()
		sum, tests := la.NewMatrix[float64](D, N), la.NewMatrix[float64](D, p.self.Cols)
		for m := range P {
			la.Axpy(s.Beta[m], p.train.At(m).Clone().Data, sum.Data)
			la.Axpy(s.Beta[m], p.test.At(m).Clone().Data, tests.Data)
		}
		k := testkit.Must(vi.NewDense(sum))
		gram := gramOf(k)
		for c := range s.W.Rows {
			w := newWeights(k, gram, s.Alpha.Row(c), 1)
			_, rounding, err := fit.Posterior.WeightVariances(nil, c)
			require.NoError(t, err, p.name)
			if 4*w.rounding*w.condition > 0.1 {
				lost++
				require.Greater(t, rounding, 0.01, p.name)
				continue
			}
			told.add(math.Abs(rounding/(4*w.rounding*w.condition)-1), p.name)
			condition = max(condition, w.condition)
			for i := range p.self.Cols {
				k := exact(tests).column(i)
				want := 1 + float(w.covariance(k, k))
				variance.add(math.Abs(got.Variance.At(c, i)-want)/want/(4*w.rounding*w.condition), fmt.Sprintf("%s, condition %.2g", p.name, w.condition))
			}
		}
	}
	t.Logf("condition at most %.2g, %d classes lost", condition, lost)
	variance.below(t, "variance", 1)
	require.LessOrEqual(t, told.value, 0.1, "what models say of rounding is off: %s", told.where)
}
