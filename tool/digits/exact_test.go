package digits

import (
	"math/big"

	"github.com/bmkl/bmkl/la"
)

// bits is the precision of the reference.
const bits = 256

type number = *big.Float

func num(x float64) number { return new(big.Float).SetPrec(bits).SetFloat64(x) }

func add(a, b number) number { return num(0).Add(a, b) }
func sub(a, b number) number { return num(0).Sub(a, b) }
func mul(a, b number) number { return num(0).Mul(a, b) }
func div(a, b number) number { return num(0).Quo(a, b) }

func float(a number) float64 {
	v, _ := a.Float64()
	return v
}

// matrix is a matrix by its rows.
type matrix [][]number

func zeros(rows, cols int) matrix {
	m := make(matrix, rows)
	for i := range m {
		m[i] = make([]number, cols)
		for j := range m[i] {
			m[i][j] = num(0)
		}
	}
	return m
}

// exact converts a matrix of doubles without rounding.
func exact(a la.Matrix[float64]) matrix {
	m := zeros(a.Rows, a.Cols)
	for i := range m {
		for j := range m[i] {
			m[i][j] = num(a.At(i, j))
		}
	}
	return m
}

// vector converts a slice of doubles without rounding.
func vector(x []float64) []number {
	v := make([]number, len(x))
	for i := range v {
		v[i] = num(x[i])
	}
	return v
}

func dot(a, b []number) number {
	sum, product := num(0), num(0)
	for i := range a {
		sum.Add(sum, product.Mul(a[i], b[i]))
	}
	return sum
}

// column returns a column of m.
func (m matrix) column(j int) []number {
	c := make([]number, len(m))
	for i := range c {
		c[i] = m[i][j]
	}
	return c
}

// factor returns the Cholesky factor of a symmetric matrix.
func (m matrix) factor() matrix {
	l := zeros(len(m), len(m))
	for i := range m {
		for j := range i + 1 {
			s := sub(m[i][j], dot(l[i][:j], l[j][:j]))
			if i == j {
				l[i][i] = num(0).Sqrt(s)
			} else {
				l[i][j] = div(s, l[j][j])
			}
		}
	}
	return l
}

// solve returns A⁻¹b, of whose factor l is.
func (l matrix) solve(b []number) []number {
	x, product := make([]number, len(b)), num(0)
	for i := range x {
		x[i] = div(sub(b[i], dot(l[i][:i], x[:i])), l[i][i])
	}
	for i := len(x) - 1; i >= 0; i-- {
		x[i] = div(x[i], l[i][i])
		for j := range i {
			x[j].Sub(x[j], product.Mul(l[i][j], x[i]))
		}
	}
	return x
}

// inverse returns A⁻¹, of whose factor l is: the products of the columns of L⁻¹.
func (l matrix) inverse() matrix {
	n := len(l)
	columns := make(matrix, n) // column d from row d on, above which it is zero
	for d := range columns {
		x := []number{div(num(1), l[d][d])}
		for i := d + 1; i < n; i++ {
			x = append(x, div(sub(num(0), dot(l[i][d:i], x)), l[i][i]))
		}
		columns[d] = x
	}
	a := zeros(n, n)
	for i := range a {
		for j := range i + 1 {
			a[i][j] = dot(columns[i], columns[j][i-j:])
			a[j][i] = a[i][j]
		}
	}
	return a
}
