package kernel

import (
	"fmt"
	"strings"
)

// Scaled is a kernel with lengths: widths, scales or other positive parameters.
type Scaled interface {
	Kernel

	// Lengths returns the kernel's lengths, and whether there is one for each feature; otherwise there is a single
	// one, or the parameters of a [Sloped] kernel. They are nil if the settings give the kernel no length. A length that
	// is not resolved is 0.
	Lengths() (lengths []float64, each bool)

	// WithLengths returns the kernel with other lengths: as many as Lengths returns, or one for each feature if they are
	// to be learned. Nil means that the lengths are taken from the training samples.
	WithLengths(lengths []float64) Kernel
}

// Decaying is a kernel that can have the form exp(−d/ℓ) with a distance d that does not depend on ℓ.
type Decaying interface {
	Scaled

	// Decay returns ℓ and a power p: ℓ is proportional to the p-th power of the kernel's length. p is 2 for [RBF] and 1
	// for others. ℓ is 0 if the kernel does not have this form with its settings.
	Decay() (l, power float64)

	// WithDecay returns the kernel with another ℓ.
	WithDecay(l float64) Kernel

	// Distances replaces each statistic in s by the distance d.
	Distances(s []float64)
}

// Radial is a kernel K(s), where s is the squared distance of two samples after division by Widths, if there are any. Its
// slopes with respect to its lengths follow from dK/ds. The slopes of a [Decaying] kernel follow from K alone.
type Radial interface {
	Scaled

	// Fall replaces each s by −2·dK/ds. Let d_j be the part of s that comes from feature j. The slope with respect to
	// log Widths_j is Fall times d_j, and the slope with respect to the logarithm of a single length is Fall times s.
	Fall(s []float64)
}

// Sloped is a kernel whose slopes with respect to its lengths are computed for one pair of samples after the other. Lengths
// returns all of its positive parameters.
type Sloped interface {
	Scaled

	// Slopes stores the slopes of the kernel of x and y with respect to the logarithm of each length in dst.
	Slopes(x, y, dst []float64)
}

// Learning is a kernel whose lengths a fit can learn, one for each feature.
type Learning interface {
	Decaying

	// Learns reports whether the lengths are to be learned.
	Learns() bool

	// WithLearning returns the kernel with one length for each feature, which are learned starting from the kernel's
	// single length, or with the single length only. If none is set it is the median distance.
	WithLearning(learn bool) Kernel
}

// Lengths returns the lengths of a kernel, and whether there is one for each feature; nil if the kernel has none.
func Lengths(k Kernel) (lengths []float64, each bool) {
	if s, ok := k.(Scaled); ok {
		return s.Lengths()
	}
	return nil, false
}

// Widths returns the lengths of a kernel that has one for each feature, and nil for any other kernel.
func Widths(k Kernel) []float64 {
	if lengths, each := Lengths(k); each {
		return lengths
	}
	return nil
}

// WithLengths returns the kernel with other lengths. It returns a kernel without lengths unchanged.
func WithLengths(k Kernel, lengths []float64) Kernel {
	if s, ok := k.(Scaled); ok {
		return s.WithLengths(lengths)
	}
	return k
}

// Learns reports whether a fit is to learn the lengths of the kernel.
func Learns(k Kernel) bool {
	l, ok := k.(Learning)
	return ok && l.Learns()
}

// width is the setting that kernels with a width have in common.
type width struct {
	width, medians float64
	widths         []float64
	learn          bool
}

// String formats the setting in the notation of the command line.
func (w width) String() string {
	var s string
	switch {
	case w.widths != nil:
		parts := make([]string, len(w.widths))
		for i, v := range w.widths {
			parts[i] = number(v)
		}
		s = "width=[" + strings.Join(parts, ",") + "]"
	case w.medians != 0:
		s = "medians=" + number(w.medians)
	case w.width != 0 || !w.learn:
		s = setting("width", w.width)
	}
	switch {
	case w.learn && s == "":
		s = "ard"
	case w.learn:
		s += ",ard"
	}
	return s
}

// missing returns the distance that is still needed to set the width.
func (w width) missing() Distance {
	switch {
	case w.width != 0 || w.widths != nil:
		return NoDistance
	case w.medians != 0 || w.learn:
		return MedianDistance
	}
	return MeanDistance
}

// resolved returns the width, given the distance that missing asked for.
func (w width) resolved(distance float64) float64 {
	if w.medians != 0 {
		return w.medians * distance
	}
	return distance
}

// lengths returns the lengths, and whether there is one for each feature.
func (w width) lengths() (lengths []float64, each bool) {
	if w.widths != nil {
		return w.widths, true
	}
	return []float64{w.width}, false
}

// withLengths returns the settings for other lengths, or for none.
func (w width) withLengths(lengths []float64) (width float64, widths []float64, medians float64) {
	switch {
	case lengths == nil:
		return 0, nil, 0
	case w.widths != nil:
		return 0, lengths, 0
	}
	return lengths[0], nil, 0
}

// check returns an error for widths that are not valid for samples of d features, and if more than one of the settings
// is set. names are the names of the settings.
func (w width) check(d int, names []string, settings ...float64) error {
	set := 0
	if w.widths != nil {
		set++
	}
	for _, v := range settings {
		if v != 0 {
			set++
		}
	}
	last := len(names) - 1
	switch {
	case set > 1:
		return fmt.Errorf("more than one of %s and %s is set", strings.Join(names[:last], ", "), names[last])
	case w.learn && w.widths != nil:
		return fmt.Errorf("ARD learns Widths, which are set")
	case w.widths != nil && len(w.widths) != d:
		return fmt.Errorf("Widths: %d widths where the samples have %d features", len(w.widths), d)
	}
	for j, v := range w.widths {
		if v == 0 {
			return fmt.Errorf("Widths[%d] is 0", j)
		}
		if err := checkLength(fmt.Sprintf("Widths[%d]", j), v); err != nil {
			return err
		}
	}
	return nil
}
