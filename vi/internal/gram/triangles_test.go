package gram

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bmkl/bmkl/internal/testkit"
	_ "github.com/bmkl/bmkl/internal/testkit/golden" // the flag -golden
	"github.com/bmkl/bmkl/la"
	"github.com/stretchr/testify/require"
)

// Each triangle keeps what is stored in it, whatever is stored in the other.
func TestTriangles(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 31, 32, 33, 64, 71} {
		x, both := testkit.Normal(src, n, n), NewTriangles(n)
		x.MirrorLower()
		ToUpper(x, both.Upper)
		for i := range n {
			for j := range i + 1 {
				both.Lower.Set(i, j, math.NaN())
			}
		}
		back := la.NewMatrix[float64](n, n)
		ToLower(both.Upper, back)
		for i := range n {
			require.Equal(t, x.Row(i)[:i+1], back.Row(i)[:i+1])
			for j := range i {
				require.Zero(t, back.At(j, i), "above the diagonal nothing is written")
			}
		}
		ToLower(both.Upper, both.Lower)
		require.Equal(t, x.At(n-1, 0), both.Lower.At(n-1, 0))
		require.Equal(t, x.At(n-1, 0), both.Upper.At(0, n-1))
	}
}
