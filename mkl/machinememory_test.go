package mkl

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The memory of the machine is known on Linux, macOS and Windows.
func TestMachineMemory(t *testing.T) {
	switch runtime.GOOS {
	case "linux", "darwin", "windows":
		assert.NotEqual(t, int64(unknownMemory), machineMemory())
		assert.Greater(t, machineMemory(), int64(1<<27), "128 MiB is less than any such machine has")
	}
}
