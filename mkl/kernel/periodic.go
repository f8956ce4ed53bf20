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
// With Decay it is locally periodic: the kernel is multiplied by exp(−‖x−y‖²/(2·Decay²)), so that the repeated shape may
// change over distances of Decay.
//
// Its view should have few columns, such as the time. A Period of 0 means 1, in the units of the feature: do not set
// Standardize. A Width of 0 means 1; the smaller it is, the more the function may vary within a period. A Decay of 0
// means that the shape never changes.
type Periodic struct {
	Period float64 `json:"period,omitempty"`
	Width  float64 `json:"width,omitempty"`
	Decay  float64 `json:"decay,omitempty"` // in the units of the feature
}

func (k Periodic) filled() Periodic {
	k.Period, k.Width = cmp.Or(k.Period, 1), cmp.Or(k.Width, 1)
	return k
}

// String implements [Kernel].
func (k Periodic) String() string {
	k = k.filled()
	s := "periodic(period=" + number(k.Period) + ",width=" + number(k.Width)
	if k.Decay != 0 {
		s += ",decay=" + number(k.Decay)
	}
	return s + ")"
}

// Check implements [Kernel].
func (k Periodic) Check(int) error {
	if k.Width != 0 && !(k.Width >= 1e-6 && k.Width <= 1e6) {
		return fmt.Errorf("Width is %g, not a number between 1e-6 and 1e6", k.Width)
	}
	return cmp.Or(checkLength("Period", k.Period), checkLength("Decay", k.Decay))
}

// turn returns the angle π·(x−y)/period. The remainder of a division is exact, so that the angle keeps its digits after
// many periods.
func turn(x, y, period float64) float64 { return float64(math.Pi * (math.Mod(x-y, period) / period)) }

// Statistic implements [Kernel].
func (k Periodic) Statistic() Statistic {
	k = k.filled()
	return Statistic{Kind: CustomStatistic, Func: func(x, y []float64) (sum float64) {
		for j, v := range x {
			sin, _ := special.Sincos(turn(v, y[j], k.Period))
			sum += float64(sin * sin)
			if k.Decay != 0 {
				d := 0.5 * k.Width / k.Decay * (v - y[j]) // Apply multiplies by −2/Width²
				sum += float64(d * d)
			}
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

// Lengths implements [Scaled]: Period, Width, and Decay if it is set.
func (k Periodic) Lengths() (lengths []float64, each bool) {
	lengths = []float64{k.filled().Period, k.filled().Width}
	if k.Decay != 0 {
		lengths = append(lengths, k.Decay)
	}
	return lengths, false
}

// WithLengths implements [Scaled].
func (k Periodic) WithLengths(lengths []float64) Kernel {
	if lengths == nil {
		return k
	}
	k.Period, k.Width = lengths[0], lengths[1]
	if k.Decay != 0 {
		k.Decay = lengths[2]
	}
	return k
}

// Slopes implements [Sloped].
func (k Periodic) Slopes(x, y, dst []float64) {
	k = k.filled()
	var squares, turned, far float64
	for j, v := range x {
		angle := turn(v, y[j], k.Period)
		sin, cos := special.Sincos(angle)
		squares += float64(sin * sin)
		// The slope of an angle is minus the whole angle, without the remainder.
		turned += float64(2 * sin * cos * (math.Pi * (v - y[j]) / k.Period))
		far += float64((v - y[j]) * (v - y[j]))
	}
	c := 2 / (k.Width * k.Width)
	exponent := float64(c * squares)
	if k.Decay != 0 {
		exponent += float64(0.5 * far / (k.Decay * k.Decay))
	}
	value := special.Exp(-exponent)
	dst[0], dst[1] = value*c*turned, value*2*c*squares
	if k.Decay != 0 {
		dst[2] = value * far / (k.Decay * k.Decay)
	}
}
