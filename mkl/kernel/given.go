package kernel

import "github.com/bmkl/bmkl/la"

// FromDistance is exp(−d/Scale) for given distances d: the view's X holds the distance of each sample (row) to each
// basis point (column). If Scale is 0, it is the mean of all entries of the training distances.
//
// Not every distance gives a positive semidefinite kernel. Gaussian processes need one; other models do not.
type FromDistance struct {
	Scale float64 `json:"scale,omitempty"` // in the units of the distances
}

// String implements [Kernel].
func (k FromDistance) String() string { return "distance(" + setting("scale", k.Scale) + ")" }

// Check implements [Kernel].
func (k FromDistance) Check(int) error { return checkLength("Scale", k.Scale) }

// Statistic implements [Kernel].
func (FromDistance) Statistic() Statistic { return Statistic{Kind: GivenStatistic} }

// Apply implements [Kernel].
func (k FromDistance) Apply(s []float64) {
	la.Scal(-1/k.Scale, s)
	la.Exp(s, s)
}

// Properties implements [Kernel].
func (FromDistance) Properties() Properties { return Properties{Bounded: true} }

// Missing implements [Kernel].
func (k FromDistance) Missing() Distance {
	if k.Scale != 0 {
		return NoDistance
	}
	return MeanDistance
}

// Resolve implements [Kernel].
func (k FromDistance) Resolve(distance float64) Kernel {
	if k.Scale == 0 {
		k.Scale = distance
	}
	return k
}

// Lengths implements [Scaled].
func (k FromDistance) Lengths() (lengths []float64, each bool) { return []float64{k.Scale}, false }

// WithLengths implements [Scaled].
func (k FromDistance) WithLengths(lengths []float64) Kernel {
	if lengths == nil {
		return FromDistance{}
	}
	return FromDistance{Scale: lengths[0]}
}

// Decay implements [Decaying]: ℓ is Scale.
func (k FromDistance) Decay() (l, power float64) { return k.Scale, 1 }

// WithDecay implements [Decaying].
func (k FromDistance) WithDecay(l float64) Kernel { return FromDistance{Scale: l} }

// Distances implements [Decaying].
func (FromDistance) Distances([]float64) {}

// Precomputed is a given kernel: the view's X holds the kernel between each sample (row) and each basis point
// (column). A prediction has the same basis points as the training.
//
// A square training matrix holds the kernels of the training samples with each other. It must be symmetric
// and positive semidefinite: a matrix that is not is most likely a mistake, such as a matrix of distances.
// The basis points of a rectangular matrix are not the training samples.
type Precomputed struct {
	// AllowIndefinite accepts a square matrix that is asymmetric or indefinite. Most models use kernels only as
	// features of a sample and stay valid. Gaussian processes still reject such a matrix.
	AllowIndefinite bool `json:"allow_indefinite,omitempty"`
}

// String implements [Kernel].
func (Precomputed) String() string { return "precomputed" }

// Check implements [Kernel].
func (Precomputed) Check(int) error { return nil }

// Statistic implements [Kernel].
func (Precomputed) Statistic() Statistic { return Statistic{Kind: GivenStatistic} }

// Apply implements [Kernel].
func (Precomputed) Apply([]float64) {}

// Properties implements [Kernel].
func (Precomputed) Properties() Properties { return Properties{} }

// Missing implements [Kernel].
func (Precomputed) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k Precomputed) Resolve(float64) Kernel { return k }
