//go:build unix

package main

import (
	"math"
	"runtime"
	"syscall"
)

// userSeconds returns the processor time of this process outside of the kernel, NaN if the
// system does not tell.
func userSeconds() float64 {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return math.NaN()
	}
	return float64(r.Utime.Sec) + float64(r.Utime.Usec)/1e6
}

// peakMegabytes returns the most memory that this process had resident.
func peakMegabytes() float64 {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return math.NaN()
	}
	if runtime.GOOS == "darwin" { // bytes there, kilobytes elsewhere
		return float64(r.Maxrss) / (1 << 20)
	}
	return float64(r.Maxrss) / (1 << 10)
}
