package kernel

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
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
	near, far, share := k.Rates()
	return Statistic{Kind: CustomStatistic, Func: func(x, y []float64) float64 {
		// e[o] is the sum, over all sets of o of the features so far, of the products of their kernels.
		e := [mostInteracting + 1]float64{1}
		sets := 1.0 // of Order features
		for j, v := range x {
			w := y[j]
			d := v - w
			one := special.Exp(-float64(near*float64(d*d))) - float64(share*special.Exp(-float64(far*(float64(v*v)+float64(w*w)))))
			for o := k.Order; o > 0; o-- {
				e[o] += float64(one * e[o-1])
			}
			if j < k.Order {
				sets *= float64(len(x)-j) / float64(j+1)
			}
		}
		return e[k.Order] / sets
	}}
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
