package gram

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// centerTraining centres the training kernel k and keeps the means; share is Design.Share.
func (v *Bound) centerTraining(k la.Matrix[float64], share []float64) {
	v.RowMean = make([]float64, k.Rows)
	for d := range v.RowMean {
		v.RowMean[d] = sharedMean(k.Row(d), share)
	}
	v.TotalMean = sharedMean(v.RowMean, share)
	for d, rd := range v.RowMean {
		row := k.Row(d)
		for s, rs := range v.RowMean {
			row[s] = row[s] - (rd + rs) + v.TotalMean
		}
	}
}

// atMean is a share of the largest self-similarity. If the self-similarity of a centred sample is below
// it, it is round-off: the sample lies at the mean.
const atMean = 1e-12

// normalizeTraining scales the training kernel k to unit diagonal and keeps the scales. It returns an error if a
// sample has length 0.
func (v *Bound) normalizeTraining(k la.Matrix[float64]) error {
	v.Unit = make([]float64, k.Rows)
	var largest float64
	for d := range v.Unit {
		largest = max(largest, k.At(d, d))
	}
	for d := range v.Unit {
		self := k.At(d, d)
		if !(self > 0) || v.Center && self <= 2*atMean*largest {
			return fmt.Errorf("Normalize: the kernel of sample %d with itself is %g", d, self)
		}
		v.Unit[d] = 1 / math.Sqrt(self)
	}
	for d, ud := range v.Unit {
		row := k.Row(d)
		for s, us := range v.Unit {
			row[s] *= ud * us
		}
		row[d] = 1
	}
	return nil
}

// measure records the largest absolute value of the kernel.
func (v *Bound) measure(k la.Matrix[float64]) {
	for d := range k.Rows {
		for _, x := range k.Row(d) {
			v.Largest = max(v.Largest, math.Abs(x))
		}
	}
}

// Derive computes fields that follow from the others: the largest value of the kernel,
// and the floor for the kernel of a centred sample with itself.
func (v *Bound) Derive() {
	bounded := v.Kernel.Properties().Bounded
	switch {
	case v.Normalize && v.Kernel.Statistic().OfFeatures(): // the Cauchy-Schwarz inequality
		v.Largest, v.Certain = 1, true
	case bounded && !v.Normalize && v.Center: // each of four terms is in [0, 1]
		v.Largest, v.Certain = 2, true
	case bounded && !v.Normalize:
		v.Largest, v.Certain = 1, true
	}
	if v.Center {
		for _, u := range v.Unit {
			v.floor = max(v.floor, atMean/(u*u))
		}
	}
}

// RoundingOf returns the size of the rounding of the kernel's values: of its largest value, and of what centring took away.
func (v *Bound) RoundingOf() float64 {
	const ulp = 0x1p-52
	away := 0.0
	if v.Center {
		away = math.Abs(v.TotalMean)
	}
	if v.Center && v.Normalize {
		scale := 0.0
		for _, u := range v.Unit {
			scale = max(scale, u*u)
		}
		away *= scale
	}
	return ulp * (v.Largest + away)
}

// adjust centres and normalises the kernels k between a sample and the basis points,
// as the training kernel was. mean is the mean of the sample's kernels with the training samples, and self
// the kernel of the sample with itself, both before centring. It
// returns the adjusted self.
func (v *Bound) adjust(k []float64, mean, self float64) float64 {
	if v.Center {
		self = self - 2*mean + v.TotalMean
		for d, r := range v.RowMean {
			k[d] = k[d] - (r + mean) + v.TotalMean
		}
	}
	if v.Normalize {
		// A sample whose length in the kernel's feature space is 0 has no
		// direction: its kernels are 0.
		scale := 0.0
		if self > v.floor {
			scale = 1 / math.Sqrt(self)
		}
		for d, u := range v.Unit {
			k[d] *= u * scale
		}
		self *= scale * scale
	}
	return self
}

// Centering centres a sum Σ_j a_j·k_j of kernels of one sample at once, as centring is linear in the kernels.
type Centering struct {
	rows  []float64 // Σ_j a_j·RowMean_j
	total float64   // Σ_j a_j·TotalMean_j
	share []float64 // of the design
}

// Centering returns what centres the sum of some of the views, with an amplitude for each. All these views are centred.
func (ds *Design) Centering(which []int, amplitude []float64) *Centering {
	c := &Centering{rows: make([]float64, ds.D), share: ds.Share}
	for n, i := range which {
		la.Axpy(amplitude[n], ds.Views[i].RowMean, c.rows)
		c.total += float64(amplitude[n] * ds.Views[i].TotalMean)
	}
	return c
}

// Apply centres the sums k of the kernels between a sample and the basis points. self is the sum of the kernels of the
// sample with itself, and is returned centred.
func (c *Centering) Apply(k []float64, self float64) float64 {
	mean := sharedMean(k, c.share)
	for d, r := range c.rows {
		k[d] = k[d] - (r + mean) + c.total
	}
	return self - 2*mean + c.total
}
