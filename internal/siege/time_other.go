//go:build !unix

package siege

import "time"

var began = time.Now()

// processorTime returns the time since the program began: the system does not tell better.
func processorTime() time.Duration { return time.Since(began) }
