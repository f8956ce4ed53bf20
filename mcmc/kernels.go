package mcmc

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// ExponentialKernels are the kernels exp(−Σ_j θ_pj·d_pj), p = 1 … P, of distances
// d_pj ≥ 0 with a parameter θ_pj > 0 for each distance. With the squared Euclidean
// distance they are Gaussian kernels; with a squared distance for each feature they
// are Gaussian kernels with a relevance for each feature.
type ExponentialKernels struct {
	d    [][]la.Matrix[float64] // d[p][j], D×N
	rows int                    // D
	cols int                    // N
}

// NewExponentialKernels returns the kernels whose distances between D basis points
// and N samples are the D×N matrices d[p][j]. It keeps the matrices and does not copy
// them. The error names the kernel and the distance that is missing, of another shape
// than the first, negative or not finite.
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

// Dims implements [vi.ParametricKernels].
func (k *ExponentialKernels) Dims() (P, D, N int) { return len(k.d), k.rows, k.cols }

// Parameters implements [vi.ParametricKernels].
func (k *ExponentialKernels) Parameters(p int) int { return len(k.d[p]) }

// Kernel implements [vi.ParametricKernels].
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

// fixedKernels are kernels without parameters, as vi.ParametricKernels.
type fixedKernels struct{ vi.Kernels }

func (fixedKernels) Parameters(int) int { return 0 }

// Kernel stores kernel p in out, as the sum of all kernels with weight 1 for p and 0
// for the others.
func (k fixedKernels) Kernel(w *la.Workspace, p int, _ []float64, out la.Matrix[float64]) {
	P, _, _ := k.Dims()
	one := make([]float64, P)
	one[p] = 1
	k.Sum(w, one, out)
}
