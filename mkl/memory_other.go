//go:build !linux

package mkl

// machineMemory returns the bytes of memory that the machine has.
func machineMemory() int64 { return unknownMemory }
