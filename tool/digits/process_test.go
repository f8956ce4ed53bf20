package digits

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// process is a Gaussian process given its scales and noise, in 256 bits.
type process struct {
	gamma  []float64
	noise  number
	factor matrix // of B = Σ_m K_m/γ_m + noise·I
	alpha  []number
}

func newProcess(p problem, gamma []float64, noise number) process {
	n := len(p.y)
	b := zeros(n, n)
	for i := range b {
		for j := range b {
			for m, g := range gamma {
				b[i][j] = add(b[i][j], div(num(p.train.At(m).At(i, j)), num(g)))
			}
		}
		b[i][i] = add(b[i][i], noise)
	}
	l := b.factor()
	return process{gamma, noise, l, l.solve(vector(p.y))}
}

// predict returns the mean and the variance of a test sample.
func (x process) predict(p problem, sample int) (mean, variance float64) {
	k, v := make([]number, len(p.y)), x.noise
	for j := range k {
		k[j] = num(0)
		for m, g := range x.gamma {
			k[j] = add(k[j], div(num(p.test.At(m).At(j, sample)), num(g)))
		}
	}
	for m, g := range x.gamma {
		v = add(v, div(num(p.self.At(m, sample)), num(g)))
	}
	return float(dot(k, x.alpha)), float(sub(v, dot(k, x.factor.solve(k))))
}

// scales returns those that give each kernel variance 1 at the first test sample.
func scales(p problem) []float64 {
	gamma := make([]float64, p.self.Rows)
	for m := range gamma {
		gamma[m] = p.self.At(m, 0)
	}
	return gamma
}

// posterior returns the posterior of a problem in doubles.
func posterior(p problem, gamma []float64, noise float64) (*mgp.Posterior, error) {
	n := len(p.y)
	s := mgp.State{Family: mgp.FamilyFlat, Tau: 1 / noise, Gamma: gamma, Factor: la.NewMatrix[float64](n, n), Alpha: append([]float64(nil), p.y...)}
	for m, g := range gamma {
		la.Axpy(1/g, p.train.At(m).Clone().Data, s.Factor.Data)
	}
	for i := range n {
		s.Factor.Set(i, i, s.Factor.At(i, i)+1/s.Tau)
	}
	if err := la.Cholesky(&la.Workspace{Workers: 1}, s.Factor); err != nil {
		return nil, err
	}
	la.CholeskySolveVec(s.Factor, s.Alpha)
	return mgp.NewPosterior(s)
}

// Predictions of Gaussian processes at given scales and noise, down to where nothing is
// left of them.
func TestProcess(t *testing.T) {
	testkit.NotShort(t)
	var mean, variance worst
	lost := 0
	for _, p := range problems() {
		for _, noise := range []float64{1e-2, 1e-6, 1e-9, 1e-12} {
			gamma := scales(p)
			of, err := posterior(p, gamma, noise)
			require.NoError(t, err, p.name)
			got, err := of.Predict(p.test, p.self, vi.PredictOptions{Workers: 1})
			require.NoError(t, err, p.name)
			promise := of.Rounding()
			if promise > 0.1 {
				lost++ // as it says
				continue
			}
			want := newProcess(p, gamma, div(num(1), num(1/noise)))
			name := fmt.Sprintf("%s, variance %g, rounding %.2g", p.name, noise, promise)
			for i := range p.self.Cols {
				m, v := want.predict(p, i)
				mean.add(math.Abs(got.Mean[i]-m)/math.Sqrt(v)/promise, name)
				variance.add(math.Abs(got.Variance[i]-v)/v/promise, name)
			}
		}
	}
	t.Logf("%d lost", lost)
	mean.below(t, "mean", 1)
	variance.below(t, "variance", 1)
}

// Fits that have made a step know the gradient of their evidence.
func TestProcessGradient(t *testing.T) {
	testkit.NotShort(t)
	var gradient worst
	for _, p := range problems() {
		fit, err := mgp.Evidence{
			Start: &mgp.EvidenceStart{Gamma: scales(p), Noise: 1e-6}, Ascent: vi.Ascent{MaxSweeps: 1}, Workers: 1,
		}.Fit(t.Context(), p.train, p.y)
		require.NoError(t, err, p.name)
		s, promise := fit.Posterior.State(), fit.Posterior.Rounding()
		of := newProcess(p, s.Gamma, div(num(1), num(s.Tau)))
		inverse := of.factor.inverse()
		// ½(ααᵀ − B⁻¹)/γ, against its largest entry.
		require.NoError(t, fit.BoundGradient(func(m int, g la.Matrix[float64]) {
			var size, off float64
			for j := range p.y {
				for i := range p.y {
					want := float(div(sub(mul(of.alpha[i], of.alpha[j]), inverse[i][j]), num(2*s.Gamma[m])))
					size, off = max(size, math.Abs(want)), max(off, math.Abs(want-g.At(i, j)))
				}
			}
			gradient.add(off/size/promise, fmt.Sprintf("%s, rounding %.2g", p.name, promise))
		}))
	}
	gradient.below(t, "gradient", 1)
}
