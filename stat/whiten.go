package stat

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
)

// Features say which landmarks of a view are worth keeping, and how to make them orthonormal
// in the kernel's space: with W = L·Lᵀ the kernels among those kept,
//
//	φ(x) = L⁻¹·k(x),   φ(x)ᵀφ(x') = k(x)ᵀ·W⁻¹·k(x'),
//
// the Nyström features of the kernel. A prior N(0, I) of their weights is the kernel's
// Gaussian process, as far as the landmarks span it.
type Features struct {
	Landmarks []int              // those kept, in the order in which they were chosen
	By        la.Matrix[float64] // r×D, φ = By·k; its columns of landmarks that are not kept are 0
}

// DefaultWhitening is the tolerance of [Whiten] if none is given.
const DefaultWhitening = 1e-6

// Whiten returns the features of a view from the kernels among its landmarks, D×D, of which
// the lower triangle is read and which is not changed. Landmarks are taken one by one, each
// the worst represented by those before it, until none has more than tolerance of the
// largest k(x, x) left that they do not represent; 0 means [DefaultWhitening]. It is an
// error if no landmark is left, or if an entry is not finite.
//
// Source: C. K. I. Williams and M. Seeger, "Using the Nyström method to speed up kernel
// machines", NIPS 2001; the pivoted factor takes the place of an eigendecomposition.
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
		tolerance = DefaultWhitening
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
