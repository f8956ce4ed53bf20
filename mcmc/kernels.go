package mcmc

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// ParametricKernels are P kernel matrices, each D×N as in [vi.Kernels], that depend
// on positive parameters θ. It is safe for concurrent use with different
// workspaces.
type ParametricKernels interface {
	// Dims returns the number of kernels, of basis points and of samples.
	Dims() (P, D, N int)

	// Parameters returns the number of parameters of kernel p.
	Parameters(p int) int

	// Kernel stores kernel p at its parameters theta in the D×N matrix k.
	Kernel(w *la.Workspace, p int, theta []float64, k la.Matrix[float64])
}

// ExponentialKernels are the kernels exp(−Σ_j θ_pj·d_pj) of distances d_pj ≥ 0, a
// parameter for each. Of squared Euclidean distances they are Gaussian kernels, with
// a distance for each feature those with relevances for the features.
type ExponentialKernels struct {
	d    [][]la.Matrix[float64]
	rows int
	cols int
}

// NewExponentialKernels returns the kernels whose distances between D basis points
// and N samples are the D×N matrices d[p][j]. It refers to them and does not copy
// them.
func NewExponentialKernels(d [][]la.Matrix[float64]) (*ExponentialKernels, error) {
	if len(d) == 0 || len(d[0]) == 0 {
		return nil, fmt.Errorf("mcmc: distances: none given")
	}
	k := &ExponentialKernels{d: d, rows: d[0][0].Rows, cols: d[0][0].Cols}
	for p, all := range d {
		if len(all) == 0 {
			return nil, fmt.Errorf("mcmc: distances of kernel %d: none given", p)
		}
		for j, m := range all {
			if m.Rows != k.rows || m.Cols != k.cols || m.Rows == 0 || m.Cols == 0 {
				return nil, fmt.Errorf("mcmc: distances of kernel %d, %d: %d×%d where the first are %d×%d", p, j, m.Rows, m.Cols, k.rows, k.cols)
			}
			for i := range m.Rows {
				for n, v := range m.Row(i) {
					if !(v >= 0) || v-v != 0 {
						return nil, fmt.Errorf("mcmc: distances of kernel %d, %d: entry (%d, %d) is %g", p, j, i, n, v)
					}
				}
			}
		}
	}
	return k, nil
}

// Dims implements [ParametricKernels].
func (k *ExponentialKernels) Dims() (P, D, N int) { return len(k.d), k.rows, k.cols }

// Parameters implements [ParametricKernels].
func (k *ExponentialKernels) Parameters(p int) int { return len(k.d[p]) }

// Kernel implements [ParametricKernels].
func (k *ExponentialKernels) Kernel(_ *la.Workspace, p int, theta []float64, out la.Matrix[float64]) {
	for i := range out.Rows {
		row := out.Row(i)
		clear(row)
		for j, t := range theta {
			la.Axpy(-t, k.d[p][j].Row(i), row)
		}
		la.Exp(row, row)
	}
}

// fixedKernels are kernels without parameters.
type fixedKernels struct{ vi.Kernels }

func (fixedKernels) Parameters(int) int { return 0 }

func (k fixedKernels) Kernel(w *la.Workspace, p int, _ []float64, out la.Matrix[float64]) {
	P, _, _ := k.Dims()
	one := make([]float64, P)
	one[p] = 1
	k.Sum(w, one, out)
}
