package amplitude

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// Redrawn variables give the same amplitudes and noise. The mean of many is E[z | θ], which elimination computes here.
func TestRedrawnVariables(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 8))
	k, l := simulated(t, src, 3, 12, false)
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 12), Workers: 1}
	s := p.newSelector(Sparse, make([]float64, 3), 5)
	s.viewOn[1] = false
	for i := range s.z {
		s.z[i] = src.NormFloat64()
	}
	s.refresh(s.z)
	variables, places := s.included(s.on)
	require.Len(t, places, 1+2*2, "the noise and two kernels of two views")
	want := append([]float64(nil), s.theta...)
	was := append([]float64(nil), s.z...)

	// E[z | θ] = Lᵀx with LLᵀx = θ − mean.
	m := len(places)
	system := make([][]float64, m)
	for r, j := range places {
		for _, i := range places {
			var sum float64
			for _, k := range variables {
				sum += s.prior.linear.At(j, k) * s.prior.linear.At(i, k)
			}
			system[r] = append(system[r], sum)
		}
		system[r] = append(system[r], want[j]-s.prior.mean[j])
	}
	for r := range m {
		for o := range m {
			if o == r {
				continue
			}
			f := system[o][r] / system[r][r]
			for c := range system[o] {
				system[o][c] -= f * system[r][c]
			}
		}
	}
	const draws = 20000
	mean := make([]float64, len(s.z))
	for range draws {
		s.redraw()
		la.Axpy(1.0/draws, s.z, mean)
	}
	s.prior.theta(s.z, s.theta, nil)
	for _, j := range places {
		assert.InDelta(t, want[j], s.theta[j], 1e-9)
	}
	for _, k := range variables {
		var expected float64
		for r, j := range places {
			expected += s.prior.linear.At(j, k) * system[r][m] / system[r][r]
		}
		assert.InDelta(t, expected, mean[k], 5/math.Sqrt(draws), "variable %d", k)
	}
	for i := s.block[1][0]; i < s.block[1][1]; i++ {
		assert.Equal(t, was[i], s.z[i], "variables of a view that is off stay")
	}
}
