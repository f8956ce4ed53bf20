package vecchia

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// even is what draws weights to each other, in units of the mean square error: among predictions that
// are as good as each other the mean of all is the safest.
const even = 0.01

// weigh returns weights of predictions, not negative and of sum 1, whose weighted mean has the least
// mean square error. It solves the problem for every set of predictions by its normal
// equations; there are few.
func weigh(predictions []la.Matrix[float64], target la.Matrix[float64]) (weights []float64) {
	k := len(predictions)
	c := la.NewMatrix[float64](k, k) // mean products of errors
	e := make([]float64, k)
	for i := range target.Rows {
		for t, y := range target.Row(i) {
			for a, p := range predictions {
				e[a] = y - p.At(i, t)
				for b := range a + 1 {
					c.Row(a)[b] += float64(e[a] * e[b])
				}
			}
		}
	}
	la.Scal(1/float64(target.Rows*target.Cols), c.Data)
	c.MirrorLower()
	small := math.Inf(1)
	for a := range k {
		small = min(small, c.At(a, a))
	}
	for a := range k {
		c.Row(a)[a] += float64(even * small)
	}
	least := math.Inf(1)
	for set := 1; set < 1<<k; set++ {
		w, value, ok := leastOf(c, set)
		if ok && value < least {
			weights, least = w, value
		}
	}
	return weights
}

// leastOf minimises wᵀCw over weights of sum 1 that are zero outside of a set. It is not ok if a
// weight is negative, for a smaller set is then better.
func leastOf(c la.Matrix[float64], set int) (w []float64, value float64, ok bool) {
	var in []int
	for i := range c.Rows {
		if set>>i&1 == 1 {
			in = append(in, i)
		}
	}
	m := c.Take(in, in)
	if la.Cholesky(nil, m) != nil {
		return nil, 0, false
	}
	part := make([]float64, len(in))
	for i := range part {
		part[i] = 1
	}
	la.CholeskySolveVec(m, part)
	sum := 0.0
	for _, v := range part {
		if v < 0 {
			return nil, 0, false
		}
		sum += v
	}
	w = make([]float64, c.Rows)
	for i, v := range part {
		w[in[i]] = v / sum
	}
	for i, u := range w {
		for j, v := range w {
			value += float64(u * v * c.At(i, j))
		}
	}
	return w, value, true
}
