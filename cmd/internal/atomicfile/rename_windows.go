package atomicfile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// longestPause is the last pause before rename gives up; all pauses together are twice as long.
const longestPause = time.Second

// rename is os.Rename, and tries again while another program has the file open: a server that loads it, or a virus scanner. Windows
// replaces no file that is open in this way.
func rename(from, to string) error {
	for pause := time.Millisecond; ; pause *= 2 {
		err := os.Rename(from, to)
		busy := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !busy || pause > longestPause {
			return err
		}
		time.Sleep(pause)
	}
}
