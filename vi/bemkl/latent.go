package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/predictive"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// latent holds the sample weights and the intermediate outputs, with a row for each output or a
// single row that the outputs share. In the accelerated order the plane holds G while its rounds
// last.
type latent struct {
	*intermediate.Outputs
	plane *plane // nil in the plain order
}

func newLatent(k vi.Kernels, R int, observed la.Matrix[float64], lambda vi.Gamma, workers int) *latent {
	return &latent{Outputs: intermediate.New(k, R, observed, lambda, workers)}
}

// checkResume checks that a posterior has the sizes of the present problem.
func (l *latent) checkResume(L int, from *predictive.Scorer) error {
	if from.L != L || from.P != l.P || from.D != l.D {
		return fmt.Errorf("vi: From: %d outputs, %d kernels, %d basis points where there are %d, %d and %d",
			from.L, from.P, from.D, L, l.P, l.D)
	}
	return nil
}

// rescale moves (a, g) ← c·(a, g) and λ ← λ/c², with s = c².
func (l *latent) rescale(s float64) {
	if l.plane == nil || !l.plane.staged {
		l.Outputs.Rescale(s)
		return
	}
	l.Outputs.RescaleButMeans(s)
	l.plane.rescale(math.Sqrt(s))
}

// addFit adds s·eᵀE[g_i] to every y_i, s = ±1, with the g of row r, and with e the mean of the
// kernel weights of output o.
func (l *latent) addFit(r, o int, e []float64, s float64, y []float64) {
	if l.plane != nil && l.plane.staged {
		l.plane.addFit(l.Crew.Workers[0], o, s, y)
		return
	}
	l.Outputs.AddFit(r, e, s, y)
}

// intermediateOf updates G where one output reads row r, as q says: eps is E[ε], t the
// target, 0 where it is missing. It stores Σ_i E[g_i]·t_i in gTarget.
func (l *latent) intermediateOf(w *intermediate.Worker, r int, q *readout, eps float64, t, gTarget []float64) error {
	P, be, e := l.P, q.be, q.e()
	b := be.Mean[q.bias]
	l.Pull[r].CopyFrom(q.ee)
	for m := range P {
		la.Scal(eps, l.Pull[r].Row(m))
		w.P1[m] = eps * (float64(b*e[m]) + be.Cov.At(q.bias, q.weights+m)) // ε·E[b·e]
	}
	if err := l.BeginUpdate(w, r, w.P1); err != nil {
		return err
	}
	g := l.Rows(l.GMean, r)
	for m := range P {
		row := g.Row(m)
		la.Axpy(eps*la.Dot(w.Small.Cov.Row(m), e), t, row)
		l.Subtract(w.Small.Mean[m], row)
	}
	if err := l.EndUpdate(w, r); err != nil {
		return err
	}
	la.Gemv(&w.WS, la.NoTrans, 1, g, t, 0, gTarget) // t is 0 where it is missing
	return nil
}

// residual returns Σ_i E[(t_i − eᵀg_i − b)²] over observed i, without the variance of t, for
// output o, which reads row r as q says. With x = (1, g) and w = (b, e) it is
// Σ (t − E[w]ᵀE[x])² + tr(Cov[w]·ΣE[x]E[x]ᵀ) + n·tr(Cov[g]·E[eeᵀ]),
// a sum of parts that are not negative.
func (l *latent) residual(r, o int, q *readout, t []float64) float64 {
	rest, be := l.Crew.Workers[0].N1, q.be
	copy(rest, t)
	l.addFit(r, o, q.e(), -1, rest)
	l.Subtract(be.Mean[q.bias], rest)
	l.MaskMissing(r, rest)
	var spread, within float64
	for m := range l.P {
		cov := be.Cov.Row(q.weights + m)
		spread += 2 * float64(cov[q.bias]*l.GSum.At(r, m))
		spread += la.Dot(cov[q.weights:], l.GGram[r].Row(m))
		within += la.Dot(l.GCov[r].Row(m), q.ee.Row(m))
	}
	spread += float64(l.Count[r] * be.Cov.At(q.bias, q.bias))
	return la.SumSq(rest) + spread + float64(l.Count[r]*within)
}

// ridge returns the coefficients A, B and C of the change of the bound
// −A·ln s − B(1/s − 1) − C(s − 1) under rescale, as far as they come from λ and
// the precisions ω of the kernel weights.
func (l *latent) ridge(omega *conjugate.Gammas) (a, b, c float64) {
	a, b = l.Ridge()
	less, c := intermediate.RidgeOfKernels(omega)
	return float64(a) - float64(less), b, c
}

// Snapshot names the state of the rows.
func (l *latent) Snapshot(s *work.Snapshot) {
	l.Outputs.Snapshot(s)
	if l.plane != nil {
		s.Matrices(l.plane.last, l.plane.hLast)
	}
}
