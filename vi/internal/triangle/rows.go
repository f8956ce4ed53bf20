package triangle

import (
	"github.com/bmkl/bmkl/la"
)

// Rows is memory for the |Gk|² of a block of samples by one or several triangles, in float32. A triangle is read once for all samples, and their
// products with it are a product of matrices.
type Rows struct {
	sets []rowSet
	z    la.Matrix[float32]
	ws   la.Workspace
}

// rowSet holds the vectors k of a block of samples, which a triangle multiplies.
type rowSet struct {
	k             la.Matrix[float32]
	self, largest []float64
}

// NewRows returns memory for blocks of at most so many samples. There is a set of vectors of each of the orders.
func NewRows(samples int, orders ...int) *Rows {
	b := &Rows{ws: la.Workspace{Workers: 1}}
	longest := 0
	for _, n := range orders {
		b.sets = append(b.sets, rowSet{la.NewMatrix[float32](samples, n), make([]float64, samples), make([]float64, samples)})
		longest = max(longest, n+la.PanelRows)
	}
	b.z = la.NewMatrix[float32](samples, longest)
	return b
}

// Set sets the vector k of a sample in a set. self is k(x,x).
func (b *Rows) Set(set, sample int, k []float64, self float64) {
	s := &b.sets[set]
	s.self[sample], s.largest[sample] = self, round(s.k.Row(sample), k, negligible*self)
}

// Squares stores |Gk|² and the bounds on their errors for the first samples of a set, as many as square has elements. Each has the order of t.
func (t *Triangle) Squares(b *Rows, set int, square, bound []float64) {
	n, of, panels := len(square), &b.sets[set], t.panels.Padded()
	z := b.z.Slice(0, n, 0, panels)
	t.panels.MultiplyRows(&b.ws, t.begin, panels/la.PanelRows, of.k.Slice(0, n, 0, t.panels.Order), z)
	before := t.panels.Before()
	first := max(before, t.begin*la.PanelRows)
	for i := range square {
		s := Scratch{self: of.self[i], largest: of.largest[i]}
		s.square, s.aligned = squares(z.Row(i)[first:], t.rows[first-before:])
		square[i], bound[i] = s.square, t.bound(&s)
	}
}
