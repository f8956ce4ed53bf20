package kernel

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Periodic is the kernel of functions that repeat after Period in every feature,
//
//	exp(−2·Σ_j sin²(π·(x_j−y_j)/Period)/Width²).
//
// Its view should have few columns, such as the time. A Period of 0 means 1, in the units of the feature: do not set
// Standardize. A Width of 0 means 1; the smaller it is, the more the function may vary within a period.
type Periodic struct {
	Period float64 `json:"period,omitempty"`
	Width  float64 `json:"width,omitempty"`
}

func (k Periodic) filled() Periodic {
	return Periodic{Period: cmp.Or(k.Period, 1), Width: cmp.Or(k.Width, 1)}
}

// String implements [Kernel].
func (k Periodic) String() string {
	k = k.filled()
	return "periodic(period=" + number(k.Period) + ",width=" + number(k.Width) + ")"
}

// Check implements [Kernel].
func (k Periodic) Check(int) error {
	if k.Width != 0 && !(k.Width >= 1e-6 && k.Width <= 1e6) {
		return fmt.Errorf("Width is %g, not a number between 1e-6 and 1e6", k.Width)
	}
	return checkLength("Period", k.Period)
}

// Statistic implements [Kernel].
func (k Periodic) Statistic() Statistic {
	period := cmp.Or(k.Period, 1)
	return Statistic{Kind: CustomStatistic, Func: func(x, y []float64) (sum float64) {
		for j, v := range x {
			// The remainder of a division is exact, so that the phase keeps its digits after many periods.
			sin, _ := special.Sincos(math.Pi * (math.Mod(v-y[j], period) / period))
			sum += float64(sin * sin)
		}
		return sum
	}}
}

// Apply implements [Kernel].
func (k Periodic) Apply(s []float64) {
	c := -2 / (k.filled().Width * k.filled().Width)
	for i, v := range s {
		s[i] = special.Exp(c * v)
	}
}

// Properties implements [Kernel].
func (Periodic) Properties() Properties {
	return Properties{Bounded: true, Definite: true, Divisible: true}
}

// Missing implements [Kernel].
func (Periodic) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k Periodic) Resolve(float64) Kernel { return k.filled() }
