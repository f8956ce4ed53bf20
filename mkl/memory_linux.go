package mkl

import "syscall"

// machineMemory returns the number of bytes of memory of the machine.
func machineMemory() int64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return unknownMemory
	}
	return int64(info.Totalram) * int64(max(1, info.Unit))
}
