package gram

import "github.com/bmkl/bmkl/la"

// Triangles holds two symmetric matrices of order n in little more memory than one takes: in
// (n+1)×n elements. The last n rows hold a lower triangle, on which package la works, and the first
// n rows an upper triangle.
type Triangles struct{ Lower, Upper la.Matrix[float64] }

func NewTriangles(n int) Triangles {
	all := la.NewMatrix[float64](n+1, n)
	return Triangles{Lower: all.Slice(1, n+1, 0, n), Upper: all.Slice(0, n, 0, n)}
}

// mirrorBlock is the order of the blocks in which triangles are transposed; two fit into the
// first cache.
const mirrorBlock = 32

// ToUpper stores the lower triangle of a symmetric matrix as an upper one.
func ToUpper(lower, upper la.Matrix[float64]) {
	for i0 := 0; i0 < lower.Rows; i0 += mirrorBlock {
		for j0 := 0; j0 <= i0; j0 += mirrorBlock {
			for i := i0; i < min(i0+mirrorBlock, lower.Rows); i++ {
				for j, v := range lower.Row(i)[j0:min(j0+mirrorBlock, i+1)] {
					upper.Data[(j0+j)*upper.Stride+i] = v
				}
			}
		}
	}
}

// ToLower stores the upper triangle of a symmetric matrix as a lower one.
func ToLower(upper, lower la.Matrix[float64]) {
	for j0 := 0; j0 < upper.Rows; j0 += mirrorBlock {
		for i0 := j0; i0 < upper.Rows; i0 += mirrorBlock {
			for j := j0; j < min(j0+mirrorBlock, upper.Rows); j++ {
				first := max(i0, j)
				for i, v := range upper.Row(j)[first:max(first, min(i0+mirrorBlock, upper.Rows))] {
					lower.Data[(first+i)*lower.Stride+j] = v
				}
			}
		}
	}
}
