//go:build unix

package cputime

import (
	"math"
	"runtime"
	"syscall"
	"time"
)

// Total returns the processor time of this process so far, in the kernel and outside of it.
func Total() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // of an argument that is right
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// User returns the processor time of this process outside of the kernel in seconds, NaN if
// the system does not tell.
func User() float64 {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return math.NaN()
	}
	return float64(r.Utime.Sec) + float64(r.Utime.Usec)/1e6
}

// PeakMegabytes returns the most memory that this process had resident, NaN if the system
// does not tell.
func PeakMegabytes() float64 {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return math.NaN()
	}
	if runtime.GOOS == "darwin" { // bytes there, kilobytes elsewhere
		return float64(r.Maxrss) / (1 << 20)
	}
	return float64(r.Maxrss) / (1 << 10)
}
