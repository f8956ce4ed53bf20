package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// unnamed creates a file without a name in the folder of path, which the system removes with the last process
// that has it open. It is nil where the file system has none, or no /proc to name it by. Errors call it path.
func unnamed(path string) *os.File {
	fd, err := unix.Open(filepath.Dir(path), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), path)
	if _, err := os.Stat(descriptor(f)); err != nil {
		_ = f.Close()
		return nil
	}
	return f
}

// link gives a file without a name one that nothing has.
func link(f *os.File, name string) error {
	err := unix.Linkat(unix.AT_FDCWD, descriptor(f), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return &os.LinkError{Op: "link", Old: f.Name(), New: name, Err: err}
	}
	return nil
}

func descriptor(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
