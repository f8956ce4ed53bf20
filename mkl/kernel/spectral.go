package kernel

import (
	"cmp"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Spectral is one component of a spectral mixture: a wave that fades,
//
//	exp(−‖x−y‖²/(2·Width²))·Π_j cos(2π·(x_j−y_j)/Period).
//
// Its spectral density is a Gaussian of standard deviation 1/(2π·Width) about the frequency 1/Period. A spectral mixture
// is a sum of several such kernels: give a view for each component; the model learns their weights. Its view should have
// few columns, such as the time. A Period of 0 means 1, in the units of the feature: do not set Standardize. A Width of
// 0 means Period. Source: Wilson and Adams, Gaussian process kernels for pattern discovery and extrapolation, 2013.
type Spectral struct {
	Period float64 `json:"period,omitempty"`
	Width  float64 `json:"width,omitempty"`
}

func (k Spectral) filled() Spectral {
	k.Period = cmp.Or(k.Period, 1)
	k.Width = cmp.Or(k.Width, k.Period)
	return k
}

// String implements [Kernel].
func (k Spectral) String() string {
	k = k.filled()
	return "spectral(period=" + number(k.Period) + ",width=" + number(k.Width) + ")"
}

// Check implements [Kernel].
func (k Spectral) Check(int) error {
	return cmp.Or(checkLength("Period", k.Period), checkLength("Width", k.Width))
}

// Statistic implements [Kernel]. It is the kernel itself.
func (k Spectral) Statistic() Statistic {
	k = k.filled()
	return Statistic{Kind: CustomStatistic, Func: func(x, y []float64) float64 {
		wave, far := 1.0, 0.0
		for j, v := range x {
			_, cos := special.Sincos(2 * turn(v, y[j], k.Period))
			wave *= cos
			d := (v - y[j]) / k.Width
			far += float64(d * d)
		}
		return wave * special.Exp(-0.5*far)
	}}
}

// Apply implements [Kernel].
func (Spectral) Apply([]float64) {}

// Properties implements [Kernel].
func (Spectral) Properties() Properties { return Properties{Definite: true} }

// Missing implements [Kernel].
func (Spectral) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k Spectral) Resolve(float64) Kernel { return k.filled() }

// Lengths implements [Scaled]: Period and Width.
func (k Spectral) Lengths() (lengths []float64, each bool) {
	k = k.filled()
	return []float64{k.Period, k.Width}, false
}

// WithLengths implements [Scaled].
func (k Spectral) WithLengths(lengths []float64) Kernel {
	if lengths == nil {
		return k
	}
	return Spectral{lengths[0], lengths[1]}
}

// Slopes implements [Sloped].
func (k Spectral) Slopes(x, y, dst []float64) {
	k = k.filled()
	wave, slope, far := 1.0, 0.0, 0.0
	for j, v := range x {
		sin, cos := special.Sincos(2 * turn(v, y[j], k.Period))
		// The slope of a product, one factor after the other.
		slope = float64(slope*cos) + float64(wave*sin*(2*math.Pi*(v-y[j])/k.Period))
		wave *= cos
		d := (v - y[j]) / k.Width
		far += float64(d * d)
	}
	fade := special.Exp(-0.5 * far)
	dst[0], dst[1] = fade*slope, fade*wave*far
}
