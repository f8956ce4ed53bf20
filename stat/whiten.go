package stat

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// Features are the Nyström features of a kernel. They belong to r of D landmarks. With W = L·Lᵀ the
// r×r kernel matrix of these landmarks,
//
//	φ(x) = L⁻¹·k(x),   φ(x)ᵀφ(x') = k(x)ᵀ·W⁻¹·k(x').
//
// With a prior N(0, I) on the weights of the features, a linear model is the projection of the
// kernel's Gaussian process to the span of the landmarks.
type Features struct {
	Landmarks []int              // r: the landmarks that are kept, in the order of choice
	By        la.Matrix[float64] // r×D, φ = By·k; columns of other landmarks are 0
}

// defaultWhitening is the tolerance of [Whiten] if none is given.
const defaultWhitening = 1e-6

// Whiten returns the features of a view from the D×D kernel matrix of its landmarks. It reads the lower
// triangle of kernel, and does not change it. A nil ws stands for a new workspace.
//
// It chooses landmarks one by one. The next one is the landmark x with the largest part of k(x, x) that
// the landmarks so far do not represent. It stops when this part is at most tolerance times the largest
// k(x, x). A tolerance of 0 means 1e-6.
//
// Whiten returns an error if the matrix is not square, if an entry is not finite, or if all k(x, x)
// are 0.
//
// Source: C. K. I. Williams and M. Seeger, "Using the Nyström method to speed up kernel machines",
// NIPS 2001. Here a pivoted Cholesky factor replaces the eigendecomposition.
func Whiten(ws *la.Workspace, kernel la.Matrix[float64], tolerance float64) (Features, error) {
	n := kernel.Rows
	if kernel.Cols != n || !kernel.Valid() {
		return Features{}, fmt.Errorf("stat: Whiten: kernels of %d×%d landmarks", kernel.Rows, kernel.Cols)
	}
	for i := range n {
		for j, v := range kernel.Row(i)[:i+1] {
			if v-v != 0 {
				return Features{}, fmt.Errorf("stat: Whiten: kernel of landmarks %d and %d is %g", i, j, v)
			}
		}
	}
	if tolerance <= 0 {
		tolerance = defaultWhitening
	}
	l, perm := kernel.Clone(), make([]int, n)
	rank, err := la.CholeskyPivoted(ws, l, tolerance, perm)
	if err != nil {
		return Features{}, fmt.Errorf("stat: Whiten: %w", err)
	}
	if rank == 0 {
		return Features{}, fmt.Errorf("stat: Whiten: the kernel of all %d landmarks is 0", n)
	}
	inverse := l.Slice(0, rank, 0, rank)
	la.TriInv(ws, inverse)
	f := Features{Landmarks: perm[:rank:rank], By: la.NewMatrix[float64](rank, n)}
	for i := range rank {
		for j, v := range inverse.Row(i)[:i+1] {
			f.By.Set(i, perm[j], v)
		}
	}
	return f, nil
}
