//go:build !linux

package mkl

// machineMemory returns the number of bytes of memory of the machine.
func machineMemory() int64 { return unknownMemory }
