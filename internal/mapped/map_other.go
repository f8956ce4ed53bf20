//go:build !unix && !windows

package mapped

import (
	"errors"
	"os"
)

// mapFile reports that this system has no mappings of files.
func mapFile(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

// unmap is never called.
func unmap([]byte) error { return nil }
