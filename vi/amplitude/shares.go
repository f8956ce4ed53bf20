package amplitude

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
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
// With F_v = K_vK⁻¹Y the posterior means, a draw is F_v + G_v − K_vK⁻¹(Σ_u G_u + ε + b), where G, ε and the constants b are
// drawn from the prior.
//
// Source of the draws: A. G. Journel and C. J. Huijbregts, "Mining geostatistics", 1978 (conditioning by kriging).
func (p Problem) Shares(ctx context.Context, draws []Draw, seed uint64) (*Shares, error) {
	if ctx == nil {
		return nil, errors.New("vi: ctx is nil")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	f := p.newFunctions(seed)
	if err := f.shares(ctx, draws); err != nil {
		return nil, err
	}
	return f.from(0), nil
}

// functions draws the functions of all views together, given the amplitudes.
type functions struct {
	p   Problem
	sel *selector // the kernels of each view, and the evidence with the factor of K
	src special.Rand

	prior    []la.Matrix[float64] // of each view, C×N, G_v; empty where the view has no amplitude
	residual la.Matrix[float64]   // C×N, Σ_u G_u + ε + b, later times K⁻¹

	mean, function []float64 // rows of [Shares]

	square    la.Matrix[float64] // N×N
	normal    la.Matrix[float64] // C×N
	posterior la.Matrix[float64] // C×N
}

func (p Problem) newFunctions(seed uint64) *functions {
	_, N := p.Kernels.Dims()
	V, C := p.Layout.Views(), p.Y.Rows
	return &functions{
		p: p, sel: p.newSelector(Sparse, make([]float64, V), seed), src: random.Source(seed),
		prior: make([]la.Matrix[float64], V), residual: la.NewMatrix[float64](C, N),
		square: la.NewMatrix[float64](N, N), normal: la.NewMatrix[float64](C, N), posterior: la.NewMatrix[float64](C, N),
	}
}

// shares adds the shares in further draws of the amplitudes.
func (f *functions) shares(ctx context.Context, draws []Draw) error {
	V := len(f.prior)
	for d, draw := range draws {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("vi: %w", err)
		}
		if err := f.condition(draw); err != nil {
			return fmt.Errorf("vi: draw %d: %w", d, err)
		}
		if err := f.drawPrior(draw); err != nil {
			return fmt.Errorf("vi: draw %d: %w", d, err)
		}
		mean, function := make([]float64, V), make([]float64, V)
		f.addSquares(mean, function)
		share(mean)
		share(function)
		f.mean, f.function = append(f.mean, mean...), append(f.function, function...)
	}
	return nil
}

// from returns the shares from a row on.
func (f *functions) from(row int) *Shares {
	V := len(f.prior)
	rows := len(f.mean)/V - row
	return &Shares{
		Mean:     la.Matrix[float64]{Rows: rows, Cols: V, Stride: V, Data: f.mean[row*V:]},
		Function: la.Matrix[float64]{Rows: rows, Cols: V, Stride: V, Data: f.function[row*V:]},
	}
}

// condition computes the Cholesky factor of K, and YK⁻¹ in sel.e.solved.
func (f *functions) condition(draw Draw) error {
	e := f.sel.e
	if J, _ := f.p.Kernels.Dims(); len(draw.Amplitudes) != J {
		return fmt.Errorf("%d amplitudes of %d kernels", len(draw.Amplitudes), J)
	}
	copy(e.amplitude, draw.Amplitudes)
	f.p.Kernels.sum(&e.ws, e.amplitude, e.packed)
	e.count(0, len(e.amplitude))
	if math.IsInf(e.valueOf(e.packed, draw.Noise), -1) {
		return errors.New("K is not positive definite in double precision")
	}
	la.Trsm(&e.ws, la.Right, la.NoTrans, e.factor, e.solved)
	return nil
}

// drawPrior draws functions, noise and constants from the prior, and multiplies their sum by K⁻¹.
func (f *functions) drawPrior(draw Draw) error {
	e := f.sel.e
	f.fill(f.residual, math.Sqrt(draw.Noise))
	for c := range f.residual.Rows {
		b := f.src.NormFloat64()
		row := f.residual.Row(c)
		for i := range row {
			row[i] = float64(row[i]*math.Sqrt(e.share[i])) + b
		}
	}
	for v := range f.prior {
		f.fill(f.normal, 1)
		f.prior[v] = la.Matrix[float64]{}
		amplitudes := draw.Amplitudes[f.sel.first[v]:f.sel.first[v+1]]
		var total float64
		for _, a := range amplitudes {
			total += a
		}
		if total == 0 {
			continue
		}
		f.sel.parts[v].sum(&e.ws, amplitudes, f.sel.part[v])
		e.count(1, len(amplitudes))
		if err := factorOf(&e.ws, f.sel.part[v], total, f.square); err != nil {
			return fmt.Errorf("view %d: %w", v, err)
		}
		for i := range f.square.Rows {
			clear(f.square.Row(i)[i+1:])
		}
		g := la.NewMatrix[float64](f.normal.Rows, f.normal.Cols)
		la.Gemm(&e.ws, la.NoTrans, la.Transpose, 1, f.normal, f.square, 0, g)
		for c := range g.Rows {
			la.Axpy(1, g.Row(c), f.residual.Row(c))
		}
		f.prior[v] = g
	}
	la.Trsm(&e.ws, la.Right, la.Transpose, e.factor, f.residual)
	la.Trsm(&e.ws, la.Right, la.NoTrans, e.factor, f.residual)
	return nil
}

// fill draws the elements of m from N(0, sd²).
func (f *functions) fill(m la.Matrix[float64], sd float64) {
	for c := range m.Rows {
		row := m.Row(c)
		for i := range row {
			row[i] = sd * f.src.NormFloat64()
		}
	}
}

// addSquares adds to mean each view's sum of squares of F_v over the samples, and to function the sum of squares of the draw.
func (f *functions) addSquares(mean, function []float64) {
	e := f.sel.e
	for v, g := range f.prior {
		if g.Rows == 0 {
			continue
		}
		unpack(f.sel.part[v], 0, 0, f.square)
		f.square.MirrorLower()
		la.Gemm(&e.ws, la.NoTrans, la.NoTrans, 1, e.solved, f.square, 0, f.posterior)
		for c := range g.Rows {
			mean[v] += la.SumSq(f.posterior.Row(c))
		}
		la.Gemm(&e.ws, la.NoTrans, la.NoTrans, -1, f.residual, f.square, 1, f.posterior)
		for c := range g.Rows {
			la.Axpy(1, g.Row(c), f.posterior.Row(c))
			function[v] += la.SumSq(f.posterior.Row(c))
		}
	}
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
