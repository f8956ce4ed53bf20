//go:build !linux

package atomicfile

import (
	"errors"
	"os"
)

// unnamed would create a file without a name; only Linux has them.
func unnamed(string) *os.File { return nil }

// link gives a file without a name one.
func link(*os.File, string) error { return errors.ErrUnsupported }
