package kernel

import "github.com/bmkl/bmkl/la"

// InteractionPoints computes kernels [Interaction] of one Width and of every Order up to a largest one, between one sample and fixed
// samples. The kernels of all orders share the exponentials of the features. They have the bits of the statistic of Interaction.
// It is immutable and safe for concurrent use.
type InteractionPoints struct {
	near, far, share float64
	rows             int
	columns          []la.Panels[float64] // of each feature, the values of the fixed samples
	products         [][]float64          // of each feature, exp(−far·y²)
	sets             []float64            // by order: the number of sets of so many features
}

// InteractionScratch is memory for the kernels of one sample.
type InteractionScratch struct {
	own []float64   // exp(−far·x²) of each feature
	one []float64   // the kernels of one feature
	sum [][]float64 // by order, from 1 on: over all sets of so many features, the sum of the products of their kernels
}

// NewInteractionPoints prepares the kernels with the rows of b, of orders from 1 to most, which is at most the number of features.
func NewInteractionPoints(width float64, most int, b la.Matrix[float64]) *InteractionPoints {
	p := &InteractionPoints{rows: b.Rows, sets: []float64{1}}
	p.near, p.far, p.share = Interaction{Width: width}.Rates()
	for j := range b.Cols {
		column := la.PackPanels(b.Slice(0, b.Rows, j, j+1))
		product := make([]float64, column.Padded())
		for i, v := range column.Data {
			product[i] = -float64(p.far * float64(v*v))
		}
		la.Exp(product, product)
		p.columns, p.products = append(p.columns, column), append(p.products, product)
	}
	for j := range most {
		p.sets = append(p.sets, p.sets[j]*(float64(b.Cols-j)/float64(j+1)))
	}
	return p
}

// NewScratch returns memory for the kernels of a sample.
func (p *InteractionPoints) NewScratch() *InteractionScratch {
	s := &InteractionScratch{own: make([]float64, len(p.columns)), sum: make([][]float64, len(p.sets))}
	padded := 0
	if len(p.columns) > 0 {
		padded = p.columns[0].Padded()
	}
	s.one = make([]float64, padded)
	for o := 1; o < len(s.sum); o++ {
		s.sum[o] = make([]float64, padded)
	}
	return s
}

// Compute computes the kernels of the sample x with all rows. [InteractionScratch.Of] returns them.
func (p *InteractionPoints) Compute(s *InteractionScratch, x []float64) {
	for j, v := range x {
		s.own[j] = -float64(p.far * float64(v*v))
	}
	la.Exp(s.own, s.own)
	for _, sum := range s.sum {
		clear(sum)
	}
	for j := range x {
		p.columns[j].SqDistVec(x[j:j+1], s.one)
		la.Scal(-p.near, s.one)
		la.Exp(s.one, s.one)
		la.Axpy(-float64(p.share*s.own[j]), p.products[j], s.one)
		for o := min(len(s.sum)-1, j+1); o > 1; o-- {
			la.AddProducts(s.sum[o-1], s.one, s.sum[o])
		}
		la.Axpy(1, s.one, s.sum[1])
	}
	for o, sum := range s.sum {
		for i := range sum {
			sum[i] /= p.sets[o]
		}
	}
}

// Of returns the kernels of an order with all rows.
func (p *InteractionPoints) Of(s *InteractionScratch, order int) []float64 {
	return s.sum[order][:p.rows]
}
