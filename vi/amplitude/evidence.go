package amplitude

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// evidence computes the log evidence of the targets
//
//	E(θ) = −½·w·Σ_c y_cᵀK⁻¹y_c − ½·w·C·log|K| − ½·w·C·N·log 2π
//
// and its gradient. With A = K⁻¹Y and Q = ½·w·(AAᵀ − C·K⁻¹),
//
//	∂E/∂log a_j = a_j·⟨Q, K_j⟩,   ∂E/∂log(σ² − σ₀²) = (σ² − σ₀²)·Σ_n s_n·Q_nn,
//
// σ₀² being the least noise, and σ²·s_n + d_n the noise of sample n. A known noise has no gradient. An evaluation costs one
// factorisation and one inverse of order N for all C columns, and two passes over the kernels.
type evidence struct {
	k      *Kernels
	y      la.Matrix[float64] // C×N
	weight float64            // w
	least  float64            // σ₀²
	known  float64            // σ² if it is known, else 0
	share  []float64          // s_n
	own    []float64          // d_n; nil for 0
	ws     la.Workspace
	work   *atomic.Int64 // see [Problem].Work

	amplitude []float64
	inner     []float64
	packed    []float64
	factor    la.Matrix[float64] // L of K = LLᵀ, or the lower triangle of K⁻¹, then of Q
	solved    la.Matrix[float64] // C×N, L⁻¹Y or A, transposed
}

// evidence returns the evidence of a problem with the kernels k.
func (p *Problem) evidence(k *Kernels) *evidence {
	J, N := k.Dims()
	y, share := p.Y, p.NoiseShare
	if share == nil {
		share = slices.Repeat([]float64{1}, N)
	}
	return &evidence{
		k: k, y: y, weight: p.weight(), least: p.leastNoise(), known: p.KnownNoise, share: share, own: p.OwnNoise, ws: la.Workspace{Workers: p.Workers}, work: p.Work,
		amplitude: make([]float64, J), inner: make([]float64, J), packed: make([]float64, size(N)),
		factor: la.NewMatrix[float64](N, N), solved: la.NewMatrix[float64](y.Rows, N),
	}
}

// mostLog is the largest logarithm of an amplitude or of the noise that counts as one: the targets have variance 1.
const mostLog = 15.0

// value returns E at θ, −∞ where K is not positive definite in double precision or θ is far out. It
// leaves the factor of K and L⁻¹Y.
func (e *evidence) value(theta []float64) float64 {
	J := len(e.amplitude)
	for j, t := range theta {
		if !(t < mostLog) {
			return math.Inf(-1)
		}
		if j < J {
			e.amplitude[j] = special.Exp(t)
		}
	}
	e.k.sum(&e.ws, e.amplitude, e.packed)
	e.count(0, J)
	return e.valueOf(e.packed, e.noise(theta[J]))
}

// count counts work: so many thirds of N³, and passes over kernels.
func (e *evidence) count(thirds, passes int) {
	if e.work != nil {
		n := int64(e.y.Cols)
		e.work.Add(n * n * (n*int64(thirds)/3 + int64(2*passes)))
	}
}

// noise returns σ² of its variable.
func (e *evidence) noise(x float64) float64 {
	if e.known > 0 {
		return e.known
	}
	return special.Exp(x) + e.least
}

// noiseSlope returns ∂σ²/∂x.
func (e *evidence) noiseSlope(x float64) float64 {
	if e.known > 0 {
		return 0
	}
	return special.Exp(x)
}

// valueOf is value for the packed sum of the kernels, times their amplitudes.
func (e *evidence) valueOf(packed []float64, noise float64) float64 {
	unpack(packed, 1, 0, e.factor)
	for i, s := range e.share {
		e.factor.Row(i)[i] += float64(noise * s)
	}
	for i, d := range e.own {
		e.factor.Row(i)[i] += d
	}
	e.count(1, 0)
	if la.Cholesky(&e.ws, e.factor) != nil {
		return math.Inf(-1)
	}
	e.solved.CopyFrom(e.y)
	la.Trsm(&e.ws, la.Right, la.Transpose, e.factor, e.solved)
	var square float64
	for c := range e.solved.Rows {
		square += la.SumSq(e.solved.Row(c))
	}
	C, N := float64(e.y.Rows), float64(e.y.Cols)
	C *= e.weight
	whole := float64(e.weight*square) + float64(C*la.LogDet(e.factor)) + float64(float64(C*N)*2*logSqrt2Pi)
	return -0.5 * whole
}

// gradient returns E at θ and stores its gradient in g. It leaves Q, and A in solved.
func (e *evidence) gradient(theta, g []float64) float64 {
	v := e.value(theta)
	if math.IsInf(v, -1) {
		clear(g)
		return v
	}
	la.Trsm(&e.ws, la.Right, la.NoTrans, e.factor, e.solved)
	la.CholeskyInv(&e.ws, e.factor)
	la.Syrk(&e.ws, la.Transpose, 0.5*e.weight, e.solved, -0.5*e.weight*float64(e.y.Rows), e.factor)
	pack(e.factor, e.packed)
	e.k.inner(&e.ws, e.packed, e.inner)
	J := len(e.amplitude)
	e.count(2, J)
	for j, a := range e.amplitude {
		g[j] = a * e.inner[j]
	}
	var trace float64
	for i, s := range e.share {
		trace += float64(s * e.factor.At(i, i))
	}
	g[J] = e.noiseSlope(theta[J]) * trace
	return v
}
