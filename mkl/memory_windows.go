package mkl

import (
	"math"
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX of the Windows API.
type memoryStatus struct {
	length, load     uint32
	total, available uint64    // of physical memory
	_                [5]uint64 // of the page file and of addresses
}

var globalMemoryStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// machineMemory returns the number of bytes of memory of the machine.
func machineMemory() int64 {
	s := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	ok, _, _ := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&s)))
	if ok == 0 || s.total == 0 || s.total > math.MaxInt64 {
		return unknownMemory
	}
	return int64(s.total)
}
