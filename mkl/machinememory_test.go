package mkl

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The memory of the machine limits fits wherever the system tells how much there is.
func TestMachineMemory(t *testing.T) {
	switch runtime.GOOS {
	case "linux", "darwin", "windows":
		assert.NotEqual(t, int64(unknownMemory), machineMemory())
		assert.Greater(t, machineMemory(), int64(1<<27), "no such machine has less than 128 MiB")
	}
}
