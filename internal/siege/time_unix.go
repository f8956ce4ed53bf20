//go:build unix

package siege

import (
	"syscall"
	"time"
)

// processorTime returns the time that the process has had from the processors so far, of
// which other programs of a busy machine take nothing.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // of an argument that is right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
