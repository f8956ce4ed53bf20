package mgp

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// sites is a Gaussian approximation of a likelihood that factorises over the
// samples, exp(ν_n·f_n − λ_n·f_n²/2) for sample n, and the posterior of
// f ~ N(0, K) that it makes. With S = diag(λ)
//
//	B = I + S^½·K·S^½ = LLᵀ,
//	α = S^½·B⁻¹·S^-½·ν,   E[f] = K·α,
//	Cov[f] = K − K·R·K,   R = S^½·B⁻¹·S^½.
//
// It is what expectation propagation and the Gaussian variational bound share.
type sites struct {
	ws   *la.Workspace
	N    int
	k    la.Matrix[float64] // N×N, the lower triangle is K's
	l    la.Matrix[float64] // N×N, the lower triangle is L's
	prec []float64          // λ, positive
	nu   []float64          // ν

	mean, variance []float64 // E[f_n], Var[f_n]
	alpha          []float64

	// The posterior without its own site, N(f_n | cavityMean, cavityVar).
	cavityMean, cavityVar []float64

	root, diag []float64 // scratch: √λ, the diagonal of B⁻¹
	precise    []int     // scratch: samples whose variance needs more than diag
	lost       float64   // the share of 1 below which 1 − (B⁻¹)_nn is not precise enough
}

// leastPrecision keeps √λ and 1/√λ ordinary numbers.
const leastPrecision = 1e-12

// leastVariance is the least variance of a sample: of one whose kernels are all zero, as at the
// origin of linear ones, deviations are still numbers to divide by.
const leastVariance = 1e-300

// newSites returns n sites without matrices.
func newSites(ws *la.Workspace, n int) *sites {
	v := make([]float64, 9*n)
	next := func() []float64 {
		s := v[:n:n]
		v = v[n:]
		return s
	}
	return &sites{
		ws: ws, N: n, prec: next(), nu: next(), mean: next(), variance: next(), alpha: next(),
		cavityMean: next(), cavityVar: next(), root: next(), diag: next(), lost: lostDigits,
	}
}

// lostDigits is the share of 1 below which 1 − (B⁻¹)_nn has lost too many digits for
// any use. Its rounding error is of the order of roundingOfDiagonal.
const (
	lostDigits         = 1e-5
	roundingOfDiagonal = 1e-14
)

// settle says to what relative precision the variances are wanted.
func (s *sites) settle(tol float64) { s.lost = min(lostDigits, roundingOfDiagonal/tol) }

// factorise computes the factor and α from K, which may be in the same place as the factor, and the sites.
func (s *sites) factorise() error {
	for i, p := range s.prec {
		s.root[i] = math.Sqrt(p)
	}
	for i := range s.N {
		from, to, r := s.k.Row(i), s.l.Row(i), s.root[i]
		for j, v := range s.root[:i+1] {
			to[j] = r * v * from[j]
		}
		to[i]++
	}
	if err := la.Cholesky(s.ws, s.l); err != nil {
		return fmt.Errorf("I + S½KS½: %w", err)
	}
	for i, v := range s.nu {
		s.alpha[i] = v / s.root[i]
	}
	la.CholeskySolveVec(s.l, s.alpha)
	for i, r := range s.root {
		s.alpha[i] *= r
	}
	return nil
}

// posterior computes the factor, α, the posterior moments and the cavities from
// K and the sites.
func (s *sites) posterior() error {
	if err := s.factorise(); err != nil {
		return err
	}
	la.Symv(s.ws, 1, s.k, s.alpha, 0, s.mean)

	// λ·Var[f_n] = 1 − (B⁻¹)_nn, and the cavity's precision is 1/Var[f_n] − λ.
	la.CholeskyInvDiag(s.ws, s.l, s.diag)
	s.precise = s.precise[:0]
	for i, d := range s.diag {
		if 1-d < s.lost {
			s.precise = append(s.precise, i)
			continue
		}
		s.variance[i] = (1 - d) / s.prec[i]
		s.cavityVar[i] = (1 - d) / (d * s.prec[i])
	}
	s.preciseVariances()
	for i, v := range s.cavityVar {
		// m₋/v₋ = m/v − ν
		s.cavityMean[i] = v * (s.mean[i]/s.variance[i] - s.nu[i])
	}
	return nil
}

// variancesAtOnce is the number of columns that preciseVariances solves for
// together.
const variancesAtOnce = 128

// preciseVariances computes Var[f_n] = k_nn − |L⁻¹S^½k_n|² of the listed samples.
func (s *sites) preciseVariances() {
	if len(s.precise) == 0 {
		return
	}
	columns := la.NewMatrix[float64](min(variancesAtOnce, len(s.precise)), s.N)
	for first := 0; first < len(s.precise); first += variancesAtOnce {
		part := s.precise[first:min(first+variancesAtOnce, len(s.precise))]
		c := columns.Slice(0, len(part), 0, s.N)
		for r, n := range part {
			row := c.Row(r)
			copy(row, s.k.Row(n)[:n+1])
			for j := n + 1; j < s.N; j++ {
				row[j] = s.k.At(j, n)
			}
			for j, v := range s.root {
				row[j] *= v
			}
		}
		la.Trsm(s.ws, la.Right, la.Transpose, s.l, c)
		for r, n := range part {
			v := max(s.k.At(n, n)-la.SumSq(c.Row(r)), 1e-15*s.k.At(n, n), leastVariance)
			s.variance[n] = v
			s.cavityVar[n] = v / (1 - float64(v*s.prec[n]))
		}
	}
}

// logDet returns log|B|.
func (s *sites) logDet() float64 { return la.LogDet(s.l) }

// precision overwrites the factor with the lower triangle of R.
func (s *sites) precision() la.Matrix[float64] {
	la.CholeskyInv(s.ws, s.l)
	for i := range s.N {
		row, r := s.l.Row(i)[:i+1], s.root[i]
		for j := range row {
			row[j] *= r * s.root[j]
		}
	}
	return s.l
}
