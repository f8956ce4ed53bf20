package kernel

import (
	"fmt"
	"strings"
)

// Scaled is a kernel with lengths: widths or scales in the units of its distance.
type Scaled interface {
	Kernel

	// Lengths returns the kernel's lengths, and whether there is one for each feature: otherwise there is one
	// in all. They are nil if the settings leave the kernel no length. A length that is not resolved is 0.
	Lengths() (lengths []float64, each bool)

	// WithLengths returns the kernel with other lengths: as many as Lengths, or one for each feature if they are
	// to be learned. Nil leaves the lengths to the training samples.
	WithLengths(lengths []float64) Kernel
}

// Decaying is a kernel that can have the form exp(−d/ℓ) with a distance d that does not depend on ℓ.
type Decaying interface {
	Scaled

	// Decay returns ℓ and the power p of the kernel's length that ℓ is proportional to: 2 for [RBF], 1 for
	// others. It returns ℓ = 0 if the settings do not leave the kernel this form.
	Decay() (l, power float64)

	// WithDecay returns the kernel with another ℓ.
	WithDecay(l float64) Kernel

	// Distances replaces each statistic in s by the distance d.
	Distances(s []float64)
}

// Radial is a kernel K(s) of the squared distance s of two samples, divided by its Widths if it has them, whose slopes by
// its lengths follow from dK/ds. The slopes of a [Decaying] kernel follow from K alone.
type Radial interface {
	Scaled

	// Fall replaces each s by −2·dK/ds. With d_j the part of s that feature j makes, the slope by log Widths_j is
	// this times d_j, and the slope by the logarithm of the one length is this times s.
	Fall(s []float64)
}

// Learning is a kernel whose lengths a fit can learn, one for each feature.
type Learning interface {
	Decaying

	// Learns reports whether the lengths are to be learned.
	Learns() bool

	// WithLearning returns the kernel with lengths that are learned, from the kernel's one length, or with that
	// one length. Where none is set it is the median distance.
	WithLearning(learn bool) Kernel
}

// Lengths returns the lengths of a kernel, and whether there is one for each feature; nil if the kernel has none.
func Lengths(k Kernel) (lengths []float64, each bool) {
	if s, ok := k.(Scaled); ok {
		return s.Lengths()
	}
	return nil, false
}

// Widths returns the lengths of a kernel that has one for each feature, and nil for all others.
func Widths(k Kernel) []float64 {
	if lengths, each := Lengths(k); each {
		return lengths
	}
	return nil
}

// WithLengths returns the kernel with other lengths; a kernel without lengths is returned as it is.
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

// missing returns the distance that the width is still to be made of.
func (w width) missing() Distance {
	switch {
	case w.width != 0 || w.widths != nil:
		return NoDistance
	case w.medians != 0 || w.learn:
		return MedianDistance
	}
	return MeanDistance
}

// resolved returns the width that the distance makes.
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

// withLengths returns the settings of other lengths, or of none.
func (w width) withLengths(lengths []float64) (width float64, widths []float64, medians float64) {
	switch {
	case lengths == nil:
		return 0, nil, 0
	case w.widths != nil:
		return 0, lengths, 0
	}
	return lengths[0], nil, 0
}

// check reports widths that are not valid for samples of d features, or more than one of the named settings
// among these.
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
