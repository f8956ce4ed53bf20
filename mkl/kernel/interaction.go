package kernel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/bmkl/bmkl/la"
)

// Interaction is a kernel of products of Order functions, each of one feature: the mean over all sets of Order features of
// the product of their kernels
//
//	k(x_j, y_j) = exp(−(x_j−y_j)²/(2w²)) − w·√(w²+2)/(w²+1) · exp(−(x_j²+y_j²)/(2(w²+1))),   w = Width.
//
// k is what an [RBF] kernel of one feature leaves of functions whose mean over N(0, 1) is 0. So a kernel of one Order has
// none of the functions of fewer features, if features are independent and standard normal. It is meant for standardised
// features. An Order of 0 means 2, and a Width of 0 means 1. docs/theory/interactions.md has the derivation.
//
// Source: N. Durrande, D. Ginsbourger, O. Roustant and L. Carraro, "ANOVA kernels and RKHS of zero mean functions for
// model-based sensitivity analysis", Journal of Multivariate Analysis 115 (2013); D. Duvenaud, H. Nickisch and C. E.
// Rasmussen, "Additive Gaussian processes", NIPS 2011, for the sum over sets.
type Interaction struct {
	Order int     `json:"order,omitempty"` // from 1 to 8, and at most the number of features
	Width float64 `json:"width,omitempty"` // from 0.01 to 100
}

const mostInteracting = 8

// String implements [Kernel].
func (k Interaction) String() string {
	k = k.filled()
	return fmt.Sprintf("interaction(order=%d,width=%s)", k.Order, number(k.Width))
}

// Check implements [Kernel].
func (k Interaction) Check(d int) error {
	k = k.filled()
	switch {
	case k.Order < 1 || k.Order > mostInteracting:
		return fmt.Errorf("Order is %d, not between 1 and %d", k.Order, mostInteracting)
	case k.Order > d:
		return fmt.Errorf("Order is %d where the samples have %d features", k.Order, d)
	case !(k.Width >= 0.01 && k.Width <= 100):
		return fmt.Errorf("Width is %g, not a number between 0.01 and 100", k.Width)
	}
	return nil
}

// Statistic implements [Kernel]. It is the kernel itself.
func (k Interaction) Statistic() Statistic {
	k = k.filled()
	rooms := &sync.Pool{New: func() any { return new(interactionRoom) }}
	return Statistic{
		Kind: CustomStatistic,
		Block: func(a, b, out la.Matrix[float64]) {
			room := rooms.Get().(*interactionRoom)
			k.fill(room, a, b, out)
			rooms.Put(room)
		},
		Func: func(x, y []float64) float64 {
			room := rooms.Get().(*interactionRoom)
			k.fill(room, la.MatrixOf(1, len(x), x), la.MatrixOf(1, len(y), y), la.MatrixOf(1, 1, room.value[:]))
			value := room.value[0]
			rooms.Put(room)
			return value
		},
	}
}

// interactionColumns is how many samples of b are paired with a sample of a at a time.
const interactionColumns = 128

// interactionRoom is the memory of [Interaction.fill] for a sample of a and some samples of b.
type interactionRoom struct {
	own          []float64                                        // exp(−b·x²) of the features of the sample of a
	columns, far []float64                                        // their features, feature by feature, and exp(−b·y²) of these
	one          [interactionColumns]float64                      // k(x_j, y_j) of one feature
	e            [mostInteracting + 1][interactionColumns]float64 // e[o] of the features so far
	value        [1]float64
}

// fill stores the kernel of row i of a and row j of b in out(i, j). The sum e[o], over all sets of o of the features so far, of the
// products of their kernels grows feature by feature; a feature's exponentials of several samples are computed together.
func (k Interaction) fill(r *interactionRoom, a, b, out la.Matrix[float64]) {
	near, far, share := k.Rates()
	d := a.Cols
	sets := 1.0 // of Order features
	for j := range k.Order {
		sets *= float64(d-j) / float64(j+1)
	}
	r.own = slices.Grow(r.own[:0], d)[:d]
	own := r.own
	for first := 0; first < b.Rows; first += interactionColumns {
		n := min(interactionColumns, b.Rows-first)
		r.take(b.Slice(first, first+n, 0, d), far)
		one := r.one[:n]
		for i := range a.Rows {
			x := a.Row(i)
			for j, v := range x {
				own[j] = -float64(far * float64(v*v))
			}
			la.Exp(own, own)
			for o := range k.Order + 1 {
				clear(r.e[o][:n])
			}
			e := r.e[0][:n]
			for c := range e {
				e[c] = 1
			}
			for j, v := range x {
				y, product := r.columns[j*n:][:n], r.far[j*n:][:n]
				for c, w := range y {
					u := v - w
					one[c] = -float64(near * float64(u*u))
				}
				la.Exp(one, one)
				la.Axpy(-float64(share*own[j]), product, one)
				for o := min(k.Order, j+1); o > 0; o-- {
					la.AddProducts(r.e[o-1][:n], one, r.e[o][:n])
				}
			}
			to := out.Row(i)[first : first+n]
			for c, v := range r.e[k.Order][:n] {
				to[c] = v / sets
			}
		}
	}
}

// take stores the features of the samples b, feature by feature, and exp(−rate·y²) of each.
func (r *interactionRoom) take(b la.Matrix[float64], rate float64) {
	size := b.Rows * b.Cols
	r.columns, r.far = slices.Grow(r.columns[:0], size)[:size], slices.Grow(r.far[:0], size)[:size]
	for c := range b.Rows {
		for j, v := range b.Row(c) {
			r.columns[j*b.Rows+c] = v
			r.far[j*b.Rows+c] = -float64(rate * float64(v*v))
		}
	}
	la.Exp(r.far, r.far)
}

// Rates returns a, b and c of the kernel exp(−a(x−y)²) − c·exp(−b(x²+y²)) of one feature.
func (k Interaction) Rates() (a, b, c float64) {
	k = k.filled()
	w := float64(k.Width * k.Width)
	return 1 / (2 * w), 1 / (2 * (w + 1)), float64(k.Width*math.Sqrt(w+2)) / (w + 1)
}

// Apply implements [Kernel].
func (Interaction) Apply([]float64) {}

// Properties implements [Kernel].
func (Interaction) Properties() Properties { return Properties{Definite: true} }

// Missing implements [Kernel].
func (Interaction) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k Interaction) Resolve(float64) Kernel { return k.filled() }

func (k Interaction) filled() Interaction {
	k.Order, k.Width = cmp.Or(k.Order, 2), cmp.Or(k.Width, 1)
	return k
}
