package vecchia

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/random"
)

const (
	pivotsTogether = 100 // pivots chosen at a time
	candidates     = 12  // candidates for each pivot
)

// covariances stores the covariances, noise left out, of the rows of x and the rows of z in k.
func (c *Covariance) covariances(w *la.Workspace, x, z, k la.Matrix[float64]) {
	la.Gemm(w, la.NoTrans, la.Transpose, c.Linear, x, z, 0, k)
	part := la.NewMatrix[float64](k.Rows, k.Cols)
	for _, p := range c.Parts {
		la.SqDist(w, scaledRows(x, p.Scale), scaledRows(z, p.Scale), part)
		p.Shape.values(part.Data)
		la.Axpy(p.Amplitude, part.Data, k.Data[:len(part.Data)])
	}
	for i := range k.Rows {
		row := k.Row(i)
		for j := range row {
			row[j] += c.Linear
		}
	}
}

// scaledRows returns the rows of x with feature f times by[f].
func scaledRows(x la.Matrix[float64], by []float64) la.Matrix[float64] {
	s := la.NewMatrix[float64](x.Rows, x.Cols)
	for i := range x.Rows {
		row := s.Row(i)
		for f, v := range x.Row(i) {
			row[f] = v * by[f]
		}
	}
	return s
}

// variances returns the prior variances of the rows of x without noise.
func (c *Covariance) variances(x la.Matrix[float64]) []float64 {
	v := make([]float64, x.Rows)
	for i := range v {
		v[i] = c.amplitude() + float64(c.Linear*(1+la.SumSq(x.Row(i))))
	}
	return v
}

// pivots chooses m of the first rows of x as landmarks: a Cholesky factorisation of their
// covariance whose pivots are drawn with the variances that are left for weights, several at a time.
//
// Source: Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber, "Randomly pivoted Cholesky",
// Communications on Pure and Applied Mathematics 78 (2025).
func (c *Covariance) pivots(w *la.Workspace, x la.Matrix[float64], m int, seed uint64) []int {
	n := min(x.Rows, candidates*m)
	x = x.Slice(0, n, 0, x.Cols)
	m = min(m, n)
	left := c.variances(x)
	f := la.NewMatrix[float64](n, m)
	src := random.Source(seed)
	var chosen []int
	jitter := float64(1e-5 * c.amplitude())
	for len(chosen) < m {
		k := len(chosen)
		next := drawWeighted(src, left, min(pivotsTogether, m-k))
		if len(next) == 0 {
			break
		}
		b := len(next)
		g := la.NewMatrix[float64](n, b)
		c.covariances(w, x, x.TakeRows(next), g)
		if k > 0 {
			done := f.Slice(0, n, 0, k)
			la.Gemm(w, la.NoTrans, la.Transpose, -1, done, done.TakeRows(next), 1, g)
		}
		l := g.TakeRows(next)
		for i := range b {
			l.Row(i)[i] += jitter
		}
		if la.Cholesky(w, l) != nil {
			break
		}
		la.Trsm(w, la.Right, la.Transpose, l, g)
		f.Slice(0, n, k, k+b).CopyFrom(g)
		for i := range n {
			left[i] = max(0, left[i]-la.SumSq(g.Row(i)))
		}
		for _, i := range next {
			left[i] = 0
		}
		chosen = append(chosen, next...)
	}
	return chosen
}

// drawWeighted draws up to n indices without replacement, the chance of each in proportion to its
// weight.
//
// Source: P. S. Efraimidis and P. G. Spirakis, "Weighted random sampling with a reservoir",
// Information Processing Letters 97 (2006).
func drawWeighted(src special.Rand, weight []float64, n int) []int {
	type drawn struct {
		key float64
		i   int
	}
	all := make([]drawn, 0, len(weight))
	for i, w := range weight {
		u := src.Float64()
		if w > 0 {
			all = append(all, drawn{-special.Log(max(u, math.SmallestNonzeroFloat64)) / w, i})
		}
	}
	slices.SortFunc(all, func(a, b drawn) int {
		switch {
		case a.key < b.key:
			return -1
		case a.key > b.key:
			return 1
		}
		return a.i - b.i
	})
	out := make([]int, min(n, len(all)))
	for i := range out {
		out[i] = all[i].i
	}
	return out
}
