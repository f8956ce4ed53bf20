package triangle

import "github.com/bmkl/bmkl/la"

// Batch is memory for products in integers of several vectors with triangles. A triangle is read once for all of them. Sums of integers are
// exact, so that each vector gets the bits that it gets alone.
type Batch struct {
	each      []*Scratch // by vector; their integers are parts of those below
	k         []int16
	high, low []int32
	ks, ys    int // elements from one vector to the next
}

// NewBatch returns memory for at most so many vectors of at most n elements.
func NewBatch(n, vectors int) *Batch {
	b := &Batch{}
	for range vectors {
		b.each = append(b.each, NewScratch(n))
	}
	if vectors == 0 {
		return b
	}
	b.ks, b.ys = n+2, len(b.each[0].steps.high)
	b.k, b.high, b.low = make([]int16, vectors*b.ks), make([]int32, vectors*b.ys), make([]int32, vectors*b.ys)
	for i, s := range b.each {
		s.steps.k, s.steps.high, s.steps.low = b.k[i*b.ks:][:b.ks], b.high[i*b.ys:][:b.ys], b.low[i*b.ys:][:b.ys]
	}
	return b
}

// Alone returns memory for products of vector i by itself.
func (b *Batch) Alone(i int) *Scratch { return b.each[i] }

// multiply rounds the vectors in the rows of k to integers and multiplies them by the triangle t and its probes. begun is called for each
// vector first.
func (b *Batch) multiply(t *Triangle, k la.Matrix[float64], begun func(s *Scratch, i int)) {
	d, n, end := t.steps, k.Rows, t.panels.Padded()/la.PanelRows
	for i := range n {
		s := b.each[i]
		begun(s, i)
		d.round(k.Row(i), &s.steps)
	}
	d.high.MultiplyRows(t.begin, end+1, n, b.k, b.ks, b.high, b.ys)
	if d.low.Rows > 0 {
		d.low.MultiplyRows(t.begin, end, n, b.k, b.ks, b.low, b.ys)
	}
	for i := range n {
		s := b.each[i]
		if s.steps.measured = 0; s.steps.rounded() {
			d.measure(&s.steps)
		}
		d.values(t.begin, end, k.Row(i), &s.steps, s.wide)
	}
}

// Squares stores what [Triangle.Square] returns in integers for the vectors in the rows of k, with the same bits. selves holds what stands
// for k(x,x) of each. t must be Coarse.
func (b *Batch) Squares(t *Triangle, k la.Matrix[float64], selves, square, bound []float64) {
	b.multiply(t, k, func(s *Scratch, i int) { s.begin(t, k.Row(i), selves[i], true) })
	for i := range k.Rows {
		s := b.each[i]
		t.addValues(t.panels.Padded()/la.PanelRows, s)
		square[i], bound[i] = s.square, t.bound(s)
	}
}

// Forms stores what [Form.At] returns in integers for the vectors in the rows of x, with the same bits. f must be Coarse.
func (b *Batch) Forms(f *Form, x la.Matrix[float64], value, bound []float64) {
	b.multiply(f.t, x, func(s *Scratch, _ int) { clear(s.wide[:x.Cols]) })
	for i := range x.Rows {
		sum, unit := f.ofValues(x.Row(i), b.each[i].wide[:x.Cols], b.each[i])
		value[i], bound[i] = sum, f.t.steps.factor*unit
	}
}
