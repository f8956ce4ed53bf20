package amplitude

import (
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Simulate draws which views are included, the amplitudes and C rows of targets, stored in Y, from the prior of [Problem.Select] with
// probabilities of ½, and returns the views. It serves to hold the posterior to the truth. The targets are not standardised.
func (p *Problem) Simulate(src *rand.Rand, C int) (on []bool) {
	_, N := p.Kernels.Dims()
	p.Y = la.NewMatrix[float64](C, N)
	s := p.newSelector(Sparse, make([]float64, p.Layout.Views()), 0)
	for math.IsInf(s.now, -1) || on == nil { // a draw outside of the domain, which has a probability near 0
		for i := range s.z {
			s.z[i] = special.NormalQuantile(1 - float64(src.Float64()))
		}
		for v := range s.viewOn {
			s.viewOn[v] = src.Float64() < 0.5
		}
		for g := range s.groupOn {
			s.groupOn[g] = src.Float64() < 0.5
		}
		s.now = s.refresh(s.z)
		on = make([]bool, len(s.viewOn))
		for v := range on {
			on[v] = s.on(v)
		}
	}
	z := la.NewMatrix[float64](C, N)
	for c := range C {
		row := z.Row(c)
		for i := range row {
			row[i] = special.NormalQuantile(1 - float64(src.Float64()))
		}
	}
	for i := range N {
		clear(s.e.factor.Row(i)[i+1:])
	}
	la.Gemm(nil, la.NoTrans, la.Transpose, 1, z, s.e.factor, 0, p.Y)
	return on
}
