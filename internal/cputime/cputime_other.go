//go:build !unix

package cputime

import (
	"math"
	"time"
)

var began = time.Now()

// Total returns the time since the program began: the system does not tell better in a portable way.
func Total() time.Duration { return time.Since(began) }

// User returns NaN: the system does not tell in a portable way.
func User() float64 { return math.NaN() }

// PeakMegabytes returns NaN, for the same reason.
func PeakMegabytes() float64 { return math.NaN() }
