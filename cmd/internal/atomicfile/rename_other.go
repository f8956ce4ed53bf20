//go:build !windows

package atomicfile

import "os"

// rename is os.Rename: the system replaces a file that others have open.
func rename(from, to string) error { return os.Rename(from, to) }
