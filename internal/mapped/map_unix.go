//go:build unix

package mapped

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the first size bytes of f into memory, for reading.
func mapFile(f *os.File, size int64) ([]byte, error) {
	if size > math.MaxInt {
		return nil, unix.ENOMEM
	}
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
}

// unmap ends a mapping.
func unmap(data []byte) error { return unix.Munmap(data) }
