package special_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/internal/special"
)

func TestSoftmax(t *testing.T) {
	for _, u := range [][]float64{{0}, {0, 0}, {1, -2, 0.5}, {700, 699, -700}} {
		w := make([]float64, len(u))
		special.Softmax(u, w)
		for m := range u {
			var sum float64 // Σ e^{u_l − u_m}
			for _, v := range u {
				sum += math.Exp(v - u[m])
			}
			assert.InDelta(t, 1/sum, w[m], 4e-16, "%v", u)
		}
	}
}
