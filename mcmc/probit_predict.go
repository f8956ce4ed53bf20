package mcmc

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// Predict returns the predictive distribution of T samples whose base kernels with the
// D basis points are the columns of k, P matrices D×T. Mean and Variance, C×T, are those
// of the auxiliary variables y = W·k + noise; Probability, T×C, has the probabilities of
// the classes, equation 1.3 of Damoulas and Girolami, averaged over the draws. With
// opt.MeanOnly there is only Mean.
//
// A draw costs C·D·T multiplications, the combination of the kernels if their weights
// were sampled and, unless opt.MeanOnly, about 23·C^1.5 inverse Mills ratios for each
// sample; [ProbitDraws.Thin] takes fewer draws. Kernels of other shapes than the draws'
// are an error, and so is the end of the context, whose cause the error wraps; the
// prediction is then not to be used.
func (d *ProbitDraws) Predict(ctx context.Context, k vi.Kernels, opt vi.PredictOptions) (*probit.Prediction, error) {
	if k == nil {
		return nil, fmt.Errorf("mcmc: kernels: nil")
	}
	return d.PredictParametric(ctx, fixedKernels{k}, opt)
}

// PredictParametric is Predict for kernels with parameters. The parameters have the values of
// each draw.
func (d *ProbitDraws) PredictParametric(ctx context.Context, k vi.ParametricKernels, opt vi.PredictOptions) (*probit.Prediction, error) {
	if ctx == nil {
		return nil, fmt.Errorf("mcmc: ctx is nil")
	}
	P, D, T := k.Dims()
	C, wantP, wantD := d.Dims()
	if P != wantP || D != wantD {
		return nil, fmt.Errorf("mcmc: kernels: %d of %d basis points where %d of %d are needed", P, D, wantP, wantD)
	}
	for p, n := range d.counts {
		if k.Parameters(p) != n {
			return nil, fmt.Errorf("mcmc: kernel %d: %d parameters where the draws have %d", p, k.Parameters(p), n)
		}
	}
	if d.Len() == 0 {
		return nil, fmt.Errorf("mcmc: no draws")
	}
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	c := &classProbabilities{ProbitDraws: d, k: k, mean: la.NewMatrix[float64](C, T)}
	out := &probit.Prediction{Mean: c.mean}
	if !opt.MeanOnly {
		c.squares, c.sum = la.NewMatrix[float64](C, T), la.NewMatrix[float64](T, C)
		out.Variance, out.Probability = c.squares, c.sum
	}
	return out, c.run(ctx, workers)
}

// classProbabilities accumulates a prediction draw by draw.
type classProbabilities struct {
	*ProbitDraws
	k       vi.ParametricKernels
	mean    la.Matrix[float64] // C×T, of f = W·K over the draws so far
	squares la.Matrix[float64] // C×T, the sum of squared deviations of f from its mean
	sum     la.Matrix[float64] // T×C, the sum of the probabilities
}

// run goes through the draws in order and shares the samples of each draw among the
// workers, so that every sum is taken in the same order for any number of them.
func (c *classProbabilities) run(ctx context.Context, workers int) error {
	P, D, T := c.k.Dims()
	C := c.mean.Rows
	ws := &la.Workspace{Workers: workers}
	kernel, f := la.NewMatrix[float64](D, T), la.NewMatrix[float64](C, T)
	var composite *probit.Composite
	if fixed, ok := c.k.(fixedKernels); ok {
		var err error
		if composite, err = probit.NewComposite(c.rule, fixed.Kernels); err != nil {
			return err
		}
		composite.Combine(ws, c.beta, kernel)
	}
	var base []la.Matrix[float64]
	if composite == nil {
		for range P {
			base = append(base, la.NewMatrix[float64](D, T))
		}
	}
	total := 0
	for chain := range c.Chains() {
		for draw := range c.Len() {
			if ctx.Err() != nil {
				return fmt.Errorf("mcmc: prediction: %w", context.Cause(ctx))
			}
			beta := c.beta
			if c.rule.Learned() {
				beta = c.Value("beta", chain, draw).Row(0)
			}
			if base != nil {
				var err error
				if composite, err = c.parametric(ws, base, c.Value("theta", chain, draw).Row(0)); err != nil {
					return err
				}
			}
			if base != nil || c.rule.Learned() {
				composite.Combine(ws, beta, kernel)
			}
			la.Gemm(ws, la.NoTrans, la.NoTrans, 1, c.Value("W", chain, draw), kernel, 0, f)
			total++
			c.moments(f, total)
			if c.sum.Rows > 0 {
				c.add(ctx, f, workers)
			}
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("mcmc: prediction: %w", context.Cause(ctx))
	}
	for t := range c.sum.Rows {
		la.Scal(1/float64(total), c.sum.Row(t))
	}
	for i, v := range c.squares.Data {
		c.squares.Data[i] = 1 + v/float64(total)
	}
	return nil
}

// moments adds the n-th draw to means and squares (Welford's recurrence).
func (c *classProbabilities) moments(f la.Matrix[float64], n int) {
	for i, v := range f.Data {
		d := v - c.mean.Data[i]
		c.mean.Data[i] += d / float64(n)
		if c.squares.Rows > 0 {
			c.squares.Data[i] += float64(d * (v - c.mean.Data[i]))
		}
	}
}

// parametric returns the composite of the base kernels at the parameters theta, which
// it computes in base.
func (c *classProbabilities) parametric(ws *la.Workspace, base []la.Matrix[float64], theta []float64) (*probit.Composite, error) {
	for p, n := range c.counts {
		c.k.Kernel(ws, p, theta[:n], base[p])
		theta = theta[n:]
	}
	k, err := vi.NewDense(base...)
	if err != nil {
		return nil, err
	}
	return probit.NewComposite(c.rule, k)
}

// add adds the probabilities of a draw, sharing the samples among the workers. The end
// of the context ends it.
func (c *classProbabilities) add(ctx context.Context, f la.Matrix[float64], workers int) {
	const chunk = 16
	T, C := c.sum.Rows, c.sum.Cols
	chunks := (T + chunk - 1) / chunk
	var next atomic.Int64
	work := func() {
		buffer := make([]float64, 3*C)
		column, p, ratio := buffer[:C], buffer[C:2*C], buffer[2*C:]
		for ctx.Err() == nil {
			first := (int(next.Add(1)) - 1) * chunk
			if first >= T {
				return
			}
			for t := first; t < min(T, first+chunk); t++ {
				for i := range C {
					column[i] = f.Data[i*f.Stride+t]
				}
				coneProbabilities(column, p, ratio)
				la.Axpy(1, p, c.sum.Row(t))
			}
		}
	}
	var wg sync.WaitGroup
	for range min(workers, chunks) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}
