package amplitude

import "github.com/bmkl/bmkl/la"

// redraw draws z given θ of the included views and the noise, on which alone the evidence depends. With L = ∂θ/∂z and z' drawn from
// the prior, z' + Lᵀ(LLᵀ)⁻¹(θ − θ(z')) is such a draw. Slices alone would hardly move the common variables: the targets know sums of
// common variables and of variables of the views, and a slice moves one side of such a sum.
func (s *selector) redraw() {
	if s.tied {
		return // LLᵀ is singular
	}
	variables, places := s.included(s.on)
	l := s.slopes(variables, places)
	fresh, gap := make([]float64, len(variables)), make([]float64, len(places))
	for k := range fresh {
		fresh[k] = s.src.NormFloat64()
	}
	for r, j := range places {
		gap[r] = s.theta[j] - s.prior.mean[j] - la.Dot(l.Row(r), fresh)
	}
	square := la.NewMatrix[float64](len(places), len(places))
	la.Syrk(nil, la.NoTrans, 1, l, 0, square)
	if la.Cholesky(nil, square) != nil {
		return
	}
	la.Trsv(la.NoTrans, square, gap)
	la.Trsv(la.Transpose, square, gap)
	la.Gemv(nil, la.Transpose, 1, l, gap, 1, fresh)
	for k, i := range variables {
		s.z[i] = fresh[k]
	}
}

// included returns the places in θ of the noise and of the kernels of the views that are on, and the places in z of the variables on which
// these depend.
func (s *selector) included(on func(v int) bool) (variables, places []int) {
	for i := range s.block[0][0] {
		variables = append(variables, i)
	}
	places = append(places, len(s.theta)-1)
	for v := range s.viewOn {
		if !on(v) {
			continue
		}
		for i := s.block[v][0]; i < s.block[v][1]; i++ {
			variables = append(variables, i)
		}
		for j := s.first[v]; j < s.first[v+1]; j++ {
			places = append(places, j)
		}
	}
	return variables, places
}

// slopes returns some columns and rows of L = ∂θ/∂z.
func (s *selector) slopes(variables, places []int) la.Matrix[float64] {
	l := la.NewMatrix[float64](len(places), len(variables))
	for r, j := range places {
		row, of := l.Row(r), s.prior.linear.Row(j)
		for k, i := range variables {
			row[k] = of[i]
		}
	}
	return l
}
