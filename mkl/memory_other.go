//go:build !linux && !darwin && !windows

package mkl

// machineMemory returns the number of bytes of memory of the machine.
func machineMemory() int64 { return unknownMemory }
