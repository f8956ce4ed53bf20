package amplitude

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/random"
)

// Shares are the views' shares of the variance of the predicted function over the training samples,
//
//	share_v = Σ_c Σ_n f_vc(x_n)² / Σ_u Σ_c Σ_n f_uc(x_n)²,
//
// where f_vc is centred, as its kernels are. A row has one entry for each view, and adds up to 1 unless no view has a function.
type Shares struct {
	// Mean has a row for each draw of the amplitudes: the shares of the posterior means of the functions.
	Mean la.Matrix[float64]

	// Function has a row for each draw of the amplitudes: the shares of one draw of all functions from their joint posterior.
	// The mean of its rows is the posterior mean of the shares, and their spread has the amplitudes and the functions in it.
	Function la.Matrix[float64]
}

// functionJitter is added to the diagonal of a view's covariance, as a share of its mean diagonal, before a function is drawn: centred
// kernels are singular. Where the kernels' rounding to float32 is larger, the jitter becomes ten times as large until a factor
// exists. Rounding moves an eigenvalue by at most 2⁻²⁴ of the sum of a row, so that mostJitter suffices for 10⁵ samples.
const (
	functionJitter = 1e-6
	mostJitter     = 1e-2
)

// factorOf stores in square the Cholesky factor of a view's covariance, packed, whose mean diagonal is a.
func factorOf(ws *la.Workspace, packed []float64, a float64, square la.Matrix[float64]) error {
	for jitter := functionJitter; ; jitter *= 10 {
		unpack(packed, 0, jitter*a, square)
		if err := la.Cholesky(ws, square); err == nil || jitter > mostJitter {
			return err
		}
	}
}

// Shares returns the shares of the views in draws of the amplitudes.
//
// With F_v = K_vK⁻¹Y the posterior means, a draw is F_v + G_v − K_vK⁻¹(Σ_u G_u + ε + b), where G, ε and the constants b are drawn from the
// prior.
//
// Source of the draws: A. G. Journel and C. J. Huijbregts, "Mining geostatistics", 1978 (conditioning by kriging).
func (p Problem) Shares(ctx context.Context, draws []Draw, seed uint64) (*Shares, error) {
	if ctx == nil {
		return nil, errors.New("vi: ctx is nil")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	J, N := p.Kernels.Dims()
	V, C := p.Layout.Views(), p.Y.Rows
	out := &Shares{Mean: la.NewMatrix[float64](len(draws), V), Function: la.NewMatrix[float64](len(draws), V)}
	sel := p.newSelector(Sparse, make([]float64, V), seed)
	src := random.Source(seed)
	e := sel.e
	square := la.NewMatrix[float64](N, N)
	prior, noisy := make([]la.Matrix[float64], V), la.NewMatrix[float64](C, N)
	z := la.NewMatrix[float64](C, N)
	posterior := la.NewMatrix[float64](C, N)
	for d, draw := range draws {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("vi: %w", err)
		}
		if len(draw.Amplitudes) != J {
			return nil, fmt.Errorf("vi: draw %d: %d amplitudes of %d kernels", d, len(draw.Amplitudes), J)
		}
		// K and A.
		copy(e.amplitude, draw.Amplitudes)
		p.Kernels.sum(&e.ws, e.amplitude, e.packed)
		if math.IsInf(e.valueOf(e.packed, draw.Noise), -1) {
			return nil, fmt.Errorf("vi: draw %d: K is not positive definite in double precision", d)
		}
		la.Trsm(&e.ws, la.Right, la.NoTrans, e.factor, e.solved)
		// Functions from the prior, and what is observed of them.
		fill := func(m la.Matrix[float64], sd float64) {
			for c := range C {
				row := m.Row(c)
				for i := range row {
					row[i] = sd * src.NormFloat64()
				}
			}
		}
		fill(noisy, math.Sqrt(draw.Noise))
		for c := range C {
			b := src.NormFloat64()
			row := noisy.Row(c)
			for i := range row {
				row[i] = float64(row[i]*math.Sqrt(e.share[i])) + b
			}
		}
		for v := range V {
			fill(z, 1)
			prior[v] = la.Matrix[float64]{}
			var a float64
			for j := sel.first[v]; j < sel.first[v+1]; j++ {
				a += draw.Amplitudes[j]
			}
			if a == 0 {
				continue
			}
			sel.parts[v].sum(&e.ws, draw.Amplitudes[sel.first[v]:sel.first[v+1]], sel.part[v])
			if err := factorOf(&e.ws, sel.part[v], a, square); err != nil {
				return nil, fmt.Errorf("vi: draw %d: view %d: %w", d, v, err)
			}
			for i := range N {
				clear(square.Row(i)[i+1:])
			}
			prior[v] = la.NewMatrix[float64](C, N)
			la.Gemm(&e.ws, la.NoTrans, la.Transpose, 1, z, square, 0, prior[v])
			for c := range C {
				la.Axpy(1, prior[v].Row(c), noisy.Row(c))
			}
		}
		la.Trsm(&e.ws, la.Right, la.Transpose, e.factor, noisy)
		la.Trsm(&e.ws, la.Right, la.NoTrans, e.factor, noisy)
		mean, function := out.Mean.Row(d), out.Function.Row(d)
		for v := range V {
			if prior[v].Rows == 0 {
				continue
			}
			unpack(sel.part[v], 0, 0, square)
			square.MirrorLower()
			la.Gemm(&e.ws, la.NoTrans, la.NoTrans, 1, e.solved, square, 0, posterior)
			for c := range C {
				mean[v] += la.SumSq(posterior.Row(c))
			}
			la.Gemm(&e.ws, la.NoTrans, la.NoTrans, -1, noisy, square, 1, posterior)
			for c := range C {
				la.Axpy(1, prior[v].Row(c), posterior.Row(c))
				function[v] += la.SumSq(posterior.Row(c))
			}
		}
		share(mean)
		share(function)
	}
	return out, nil
}

// share divides x by its sum.
func share(x []float64) {
	var sum float64
	for _, v := range x {
		sum += v
	}
	if sum > 0 {
		la.Scal(1/sum, x)
	}
}

// FitWith returns the fit of the structure of f in which the given views have the multiplier q, and the other views the multipliers of f.
// A q of 0 leaves the given views out. The search begins at f.
func (p Problem) FitWith(ctx context.Context, f *Fit, views []int, q float64, how Search) (*Fit, error) {
	if f == nil {
		return nil, errors.New("vi: there is no fit to begin at")
	}
	how.Include = make([]float64, p.Layout.Views())
	for u := range how.Include {
		how.Include[u] = 1
	}
	copy(how.Include, f.Include)
	for _, v := range views {
		if v < 0 || v >= len(how.Include) {
			return nil, fmt.Errorf("vi: view %d of %d", v, len(how.Include))
		}
		how.Include[v] = q
	}
	how.Start = f.Z
	return p.Fit(ctx, f.Structure, how)
}
