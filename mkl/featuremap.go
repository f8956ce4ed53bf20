package mkl

import (
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// featureMap makes the features of a kernel as the product of a lower triangle and the kernels with the pivots. Its products
// take half the time of products with the whole map, because they leave out most of the zeros.
type featureMap struct {
	by     la.Matrix[float64] // lower triangle
	pivots []int              // the landmarks of its columns
}

// mapRows is the number of features of one product. With more, products contain more zeros; with fewer, the kernels are read more often.
const mapRows = 64

// mapOf returns a map from kernels to features as a lower triangle. It returns false if the map has another form.
func mapOf(a la.Matrix[float64]) (m featureMap, ok bool) {
	first := make([]int, a.Cols) // the first feature that needs a landmark
	for j := range first {
		for first[j] < a.Rows && a.At(first[j], j) == 0 {
			first[j]++
		}
	}
	order := slices.DeleteFunc(vec.UpTo(a.Cols), func(j int) bool { return first[j] == a.Rows })
	slices.SortStableFunc(order, func(i, j int) int { return first[i] - first[j] })
	if len(order) != a.Rows {
		return m, false
	}
	for r, j := range order {
		if first[j] != r {
			return m, false
		}
	}
	return featureMap{a.Take(vec.UpTo(a.Rows), order), order}, true
}

// mapsOf returns the maps of all kernels, or nil if one has another form.
func mapsOf(by []la.Matrix[float64]) (maps []featureMap) {
	for _, a := range by {
		m, ok := mapOf(a)
		if !ok {
			return nil
		}
		maps = append(maps, m)
	}
	return maps
}

// apply stores the features in phi. k has the kernels with all landmarks; scratch is overwritten, and has as many rows as there are pivots.
func (m featureMap) apply(ws *la.Workspace, k, scratch, phi la.Matrix[float64]) {
	for r, j := range m.pivots {
		copy(scratch.Row(r), k.Row(j))
	}
	n := k.Cols
	for first := 0; first < phi.Rows; first += mapRows {
		last := min(first+mapRows, phi.Rows)
		la.Gemm(ws, la.NoTrans, la.NoTrans, 1, m.by.Slice(first, last, 0, last), scratch.Slice(0, last, 0, n), 0, phi.Slice(first, last, 0, n))
	}
}
