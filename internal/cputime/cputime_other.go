//go:build !unix

package cputime

import "math"

// User returns NaN: the system does not tell in a portable way.
func User() float64 { return math.NaN() }

// PeakMegabytes returns NaN, for the same reason.
func PeakMegabytes() float64 { return math.NaN() }
