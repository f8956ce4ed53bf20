package mcmc

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Predict returns the probability of each class for each sample, T×C, given the base
// kernels with the D basis points, P matrices D×T: the mean over all draws of
// equation 1.3. It uses every step-th draw of each chain (0 means 1). A draw costs
// C·D·T multiplications and, for each sample, some 30·C^1.5 inverse Mills ratios.
func (d *ProbitDraws) Predict(ctx context.Context, k vi.Kernels, step, workers int) (la.Matrix[float64], error) {
	if d.Q() > 0 {
		return la.Matrix[float64]{}, fmt.Errorf("mcmc: kernels: they have parameters: use PredictParametric")
	}
	if k == nil {
		return la.Matrix[float64]{}, fmt.Errorf("mcmc: kernels: nil")
	}
	return d.PredictParametric(ctx, fixedKernels{k}, step, workers)
}

// Q returns the number of kernel parameters.
func (d *ProbitDraws) Q() int {
	sum := 0
	for _, n := range d.counts {
		sum += n
	}
	return sum
}

// PredictParametric is Predict for kernels with parameters, which take them from the
// draws.
func (d *ProbitDraws) PredictParametric(ctx context.Context, k ParametricKernels, step, workers int) (la.Matrix[float64], error) {
	none := la.Matrix[float64]{}
	P, D, T := k.Dims()
	w, _ := d.find("W")
	if P != len(d.counts) || D != w.Cols {
		return none, fmt.Errorf("mcmc: kernels: %d of %d basis points where %d of %d are needed", P, D, len(d.counts), w.Cols)
	}
	for p, n := range d.counts {
		if k.Parameters(p) != n {
			return none, fmt.Errorf("mcmc: kernel %d: %d parameters where %d are needed", p, k.Parameters(p), n)
		}
	}
	if step < 0 || d.Len() == 0 {
		return none, fmt.Errorf("mcmc: every %d-th of %d draws", step, d.Len())
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	c := &classProbabilities{ProbitDraws: d, k: k, step: max(1, step), sum: la.NewMatrix[float64](T, w.Rows)}
	if err := c.run(ctx, workers); err != nil {
		return none, err
	}
	return c.sum, nil
}

// classProbabilities is the sum over draws at work.
type classProbabilities struct {
	*ProbitDraws
	k    ParametricKernels
	step int
	sum  la.Matrix[float64] // T×C
}

// run goes through the draws in order, the samples of each shared among workers, so
// that every sum is made in the same order.
func (c *classProbabilities) run(ctx context.Context, workers int) error {
	P, D, T := c.k.Dims()
	C := c.sum.Cols
	ws := &la.Workspace{Workers: workers}
	kernel, f := la.NewMatrix[float64](D, T), la.NewMatrix[float64](C, T)
	var composite *vi.Composite
	if fixed, ok := c.k.(fixedKernels); ok {
		var err error
		if composite, err = vi.NewComposite(c.rule, fixed.Kernels); err != nil {
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
		for draw := 0; draw < c.Len(); draw += c.step {
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
			c.add(f, workers)
			total++
		}
	}
	for t := range T {
		la.Scal(1/float64(total), c.sum.Row(t))
	}
	return nil
}

func (c *classProbabilities) parametric(ws *la.Workspace, base []la.Matrix[float64], theta []float64) (*vi.Composite, error) {
	for p, n := range c.counts {
		c.k.Kernel(ws, p, theta[:n], base[p])
		theta = theta[n:]
	}
	k, err := vi.NewDense(base...)
	if err != nil {
		return nil, err
	}
	return vi.NewComposite(c.rule, k)
}

// add adds the probabilities of a draw, samples side by side.
func (c *classProbabilities) add(f la.Matrix[float64], workers int) {
	const chunk = 16
	T, C := c.sum.Rows, c.sum.Cols
	chunks := (T + chunk - 1) / chunk
	var next atomic.Int64
	work := func() {
		buffer := make([]float64, 3*C)
		column, p, ratio := buffer[:C], buffer[C:2*C], buffer[2*C:]
		for {
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
