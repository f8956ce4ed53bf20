package mkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// centerTraining centres the training kernel k and keeps the means; share is that of the design.
func (v *boundView) centerTraining(k la.Matrix[float64], share []float64) {
	v.rowMean = make([]float64, k.Rows)
	for d := range v.rowMean {
		v.rowMean[d] = sharedMean(k.Row(d), share)
	}
	v.totalMean = sharedMean(v.rowMean, share)
	for d, rd := range v.rowMean {
		row := k.Row(d)
		for s, rs := range v.rowMean {
			row[s] = row[s] - (rd + rs) + v.totalMean
		}
	}
}

// atMean is the share of the largest self-similarity below which that of a
// centred sample is round-off: the sample lies at the mean.
const atMean = 1e-12

// normalizeTraining gives the training kernel k unit diagonal and keeps the scales. It is an error if a
// sample has no length.
func (v *boundView) normalizeTraining(k la.Matrix[float64]) error {
	v.unit = make([]float64, k.Rows)
	var largest float64
	for d := range v.unit {
		largest = max(largest, k.At(d, d))
	}
	for d := range v.unit {
		self := k.At(d, d)
		if !(self > 0) || v.center && self <= 2*atMean*largest {
			return fmt.Errorf("Normalize: the kernel of sample %d with itself is %g", d, self)
		}
		v.unit[d] = 1 / math.Sqrt(self)
	}
	for d, ud := range v.unit {
		row := k.Row(d)
		for s, us := range v.unit {
			row[s] *= ud * us
		}
		row[d] = 1
	}
	return nil
}

// measure notes how large the kernel's values are.
func (v *boundView) measure(k la.Matrix[float64]) {
	for d := range k.Rows {
		for _, x := range k.Row(d) {
			v.largest = max(v.largest, math.Abs(x))
		}
	}
}

// derive sets what follows from the other fields: how large the kernel can be,
// and how small the kernel of a centred sample with itself.
func (v *boundView) derive() {
	kind := v.kernel.statistic().kind
	switch {
	case v.normalize && kind < given: // the Cauchy-Schwarz inequality
		v.largest, v.certain = 1, true
	case v.kernel.bounded() && !v.normalize && v.center: // each of four terms is in [0, 1]
		v.largest, v.certain = 2, true
	case v.kernel.bounded() && !v.normalize:
		v.largest, v.certain = 1, true
	}
	if v.center {
		for _, u := range v.unit {
			v.floor = max(v.floor, atMean/(u*u))
		}
	}
}

// adjust centres and normalises, as the training kernel was, the kernels k
// between a sample and the basis points. Before that their mean over the training
// samples was mean, and the kernel of the sample with itself self; that is
// returned adjusted.
func (v *boundView) adjust(k []float64, mean, self float64) float64 {
	if v.center {
		self = self - 2*mean + v.totalMean
		for d, r := range v.rowMean {
			k[d] = k[d] - (r + mean) + v.totalMean
		}
	}
	if v.normalize {
		// A sample without length in the kernel's feature space has no
		// direction: its kernels are 0.
		scale := 0.0
		if self > v.floor {
			scale = 1 / math.Sqrt(self)
		}
		for d, u := range v.unit {
			k[d] *= u * scale
		}
		self *= scale * scale
	}
	return self
}
