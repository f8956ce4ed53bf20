//go:build !unix

package main

import "math"

// userSeconds returns NaN: the system does not tell in a portable way.
func userSeconds() float64 { return math.NaN() }

// peakMegabytes returns NaN, for the same reason.
func peakMegabytes() float64 { return math.NaN() }
