package la

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScratchOfSmallTrianglesIsNotRead factorises and inverts triangles of
// changing order in one workspace, as a caller's loop does.
func TestScratchOfSmallTrianglesIsNotRead(t *testing.T) {
	w := &Workspace{Workers: 1}
	src := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{22, 5, 22, 6, 5, 7, 8, 3, 11, 5, 1, 2} {
		s := NewMatrix[float64](n, n)
		for i := range n {
			for j := range i + 1 {
				s.Set(i, j, src.NormFloat64())
			}
			s.Set(i, i, 10)
		}
		l, fresh := s.Clone(), s.Clone()
		require.NoError(t, Cholesky(w, l))
		require.NoError(t, Cholesky(nil, fresh))
		require.Equal(t, fresh, l, "Cholesky, n = %d", n)
		d, want := make([]float64, n), make([]float64, n)
		CholeskyInvDiag(w, l, d)
		CholeskyInvDiag(nil, l, want)
		require.Equal(t, want, d, "CholeskyInvDiag, n = %d", n)
		CholeskyInv(w, l)
		CholeskyInv(nil, fresh)
		require.Equal(t, fresh, l, "CholeskyInv, n = %d", n)
	}
}
