package bemkl

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// mixing is the scratch of a joint step of the kernel weights of several outputs and the
// G that they share. The likelihood knows e_oᵀ·g_i only, so that for every invertible T
//
//	g_i → T·g_i,  e_o → T⁻ᵀ·e_o
//
// leaves it alone. Targets with little noise hold e_o for given G, and G for given e_o,
// far more tightly than the priors hold either, and updates in turn creep along T. Here
// kernel after kernel takes its best step of the form
//
//	g_j → g_j + Σ_{m≠j} τ_m·g_m,  e_{o,m} → e_{o,m} − τ_m·e_{o,j} for all m ≠ j.
//
// T then has determinant 1, entropies stay, and with υ and ω held the bound is a quadratic
// in τ. Derived in docs/theory/acceleration.md.
type mixing struct {
	// Sums over the samples with a target, from which the steps are computed.
	count           float64
	gram, cov, away la.Matrix[float64] // P×P, ΣE[g]E[g]ᵀ, the mean of Cov[g] and Σ(E[g] − h)E[g]ᵀ
	distance        float64            // Σ|E[g] − h|², which patterned computes anew

	total     la.Matrix[float64] // P×P, T
	precision la.Matrix[float64] // P×P, of τ
	tau       []float64          // P, 0 in place j
	product   la.Matrix[float64] // P×P
	mean      []float64          // P
}

func newMixing(P int) *mixing {
	square := func() la.Matrix[float64] { return la.NewMatrix[float64](P, P) }
	return &mixing{
		gram: square(), cov: square(), away: square(),
		total: square(), precision: square(), tau: make([]float64, P), product: square(), mean: make([]float64, P),
	}
}

// updateMixing takes the step of every kernel once. It is for the rounds on the plane.
func (m *shared) updateMixing() error {
	p, x, ws := m.plane, m.mixing, &m.Crew.All
	m.beginMixing()
	if err := m.mixKernels(); err != nil {
		return err
	}
	m.GDistance[0] = x.distance
	var trace float64
	for j := range m.P {
		trace += x.cov.At(j, j)
	}
	m.GTrace[0] = m.Size * trace
	x.apply(ws, m.GSum.Row(0))
	x.apply(ws, p.offset.Row(0))
	for o := range m.L {
		x.apply(ws, m.targets.Row(o))
		x.apply(ws, p.gain.Row(o))
	}
	la.Gemm(ws, la.NoTrans, la.NoTrans, 1, x.total, p.through[0], 0, x.product)
	p.through[0].CopyFrom(x.product)
	return nil
}

// beginMixing lets mixing know the sums of G, which its steps then keep up to date.
func (m *shared) beginMixing() {
	x := m.mixing
	x.count, x.gram, x.cov, x.away, x.distance = m.Size, m.GGram[0], m.GCov[0], m.plane.away[0], m.GDistance[0]
}

// mixKernels takes the step of every kernel once, of the kernel weights and of what mixing knows
// of G, and leaves T in total.
func (m *sharedLayers) mixKernels() error {
	total := m.mixing.total
	total.Fill(0)
	for j := range m.P {
		total.Set(j, j, 1)
	}
	for j := range m.P {
		if err := m.mix(j); err != nil {
			return fmt.Errorf("kernel weights with intermediate outputs, kernel %d: %w", j, err)
		}
	}
	return nil
}

// mix takes the step of kernel j. With M = Σ_i E[g_i·g_iᵀ] and X = Σ_i E[(g_i − h_i)·g_iᵀ]
// the terms that change are
//
//	−½υ·Σ_{m,n} τ_m·M_mn·τ_n − υ·Σ_m τ_m·X_jm − ½·Σ_{o,m} E[ω_{o,m}]·E[(e_{o,m} − τ_m·e_{o,j})²].
func (m *sharedLayers) mix(j int) error {
	x, upsilon := m.mixing, m.upsilonMean[0]
	gram, cov, away, tau, N := x.gram, x.cov, x.away, x.tau, x.count
	for n := range m.P {
		row := x.precision.Row(n)
		for i := range row {
			row[i] = upsilon * (gram.At(n, i) + float64(N*cov.At(n, i)))
		}
		tau[n] = -upsilon * (away.At(j, n) + float64(N*cov.At(j, n)))
		for o := range m.L {
			omega := m.omega.Mean(o*m.P + n)
			row[n] += float64(omega * m.ee[o].At(j, j))
			tau[n] += float64(omega * m.ee[o].At(j, n))
		}
	}
	for n := range m.P {
		x.precision.Set(j, n, 0)
		x.precision.Set(n, j, 0)
	}
	x.precision.Set(j, j, 1)
	tau[j] = 0
	if err := la.Cholesky(&m.Crew.All, x.precision); err != nil {
		return err
	}
	la.CholeskySolveVec(x.precision, tau)

	for n, t := range tau { // Σ(E[g] − h)² with g_j + τᵀg for g_j
		x.distance += float64(t * (float64(2*away.At(j, n)) + la.Dot(tau, gram.Row(n))))
	}
	for n, t := range tau {
		la.Axpy(t, gram.Row(n), away.Row(j))
	}
	x.addColumns(away, j)
	for _, s := range []la.Matrix[float64]{gram, cov} {
		x.addRows(s, j)
		x.addColumns(s, j)
	}
	x.addRows(x.total, j)
	for o := range m.L {
		be := &m.be[o]
		la.Axpy(-be.Mean[1+j], tau, be.Mean[1:])
		for n, t := range tau {
			la.Axpy(-t, be.Cov.Row(1+j), be.Cov.Row(1+n))
		}
		for n := range be.Mean {
			row := be.Cov.Row(n)
			la.Axpy(-row[1+j], tau, row[1:])
		}
		be.Cov.MirrorLower()
		m.updateEE(o)
	}
	return nil
}

// addRows adds Σ_m τ_m·(row m) to row j.
func (x *mixing) addRows(s la.Matrix[float64], j int) {
	for m, t := range x.tau {
		if m != j {
			la.Axpy(t, s.Row(m), s.Row(j))
		}
	}
}

// addColumns adds Σ_m τ_m·(column m) to column j.
func (x *mixing) addColumns(s la.Matrix[float64], j int) {
	for m := range s.Rows {
		row := s.Row(m)
		row[j] += la.Dot(x.tau, row)
	}
}

// apply replaces the mean of a kernel-wise sum of G by T·mean.
func (x *mixing) apply(ws *la.Workspace, mean []float64) {
	copy(x.mean, mean)
	la.Gemv(ws, la.NoTrans, 1, x.total, x.mean, 0, mean)
}
