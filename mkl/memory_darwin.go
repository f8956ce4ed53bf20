package mkl

import (
	"math"

	"golang.org/x/sys/unix"
)

// machineMemory returns the number of bytes of memory of the machine.
func machineMemory() int64 {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil || size == 0 || size > math.MaxInt64 {
		return unknownMemory
	}
	return int64(size)
}
