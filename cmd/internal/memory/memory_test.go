package memory

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{"8GiB": 8 << 30, "500 MB": 500e6, "1024": 1024, "1.5KiB": 1536} {
		var s Size
		require.NoError(t, s.UnmarshalText([]byte(text)))
		assert.Equal(t, want, s, text)
	}
	var s Size
	assert.EqualError(t, s.UnmarshalText([]byte("lots")), `"lots" is not a size such as 8GiB or 500MB`)
	assert.Error(t, s.UnmarshalText([]byte("-1GB")))
	assert.Equal(t, "1.5 GiB", Size(3<<29).String())
}

func TestAvailable(t *testing.T) {
	assert.Greater(t, Available(), Size(1<<20))
}

func TestGroupLeft(t *testing.T) {
	root := t.TempDir()
	put := func(file, text string) {
		p := filepath.Join(root, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o700))
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
	}
	_, ok := groupLeft(root)
	assert.False(t, ok)

	put("proc/self/cgroup", "0::/a/b\n")
	_, ok = groupLeft(root)
	assert.False(t, ok)

	put("sys/fs/cgroup/a/memory.max", "1000\n")
	put("sys/fs/cgroup/a/memory.current", "700\n")
	put("sys/fs/cgroup/a/memory.stat", "anon 500\ninactive_file 100\nfile 200\n")
	put("sys/fs/cgroup/a/b/memory.max", "max\n")
	put("sys/fs/cgroup/a/b/memory.current", "600\n")
	left, ok := groupLeft(root)
	assert.True(t, ok)
	assert.EqualValues(t, 400, left)

	put("sys/fs/cgroup/a/b/memory.max", "600\n")
	left, _ = groupLeft(root)
	assert.EqualValues(t, 0, left)
}

// The collector gets the flag's limit, unless it has a lower one, and gets its own back.
func TestKeep(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	Keep(0)
	assert.Equal(t, before, debug.SetMemoryLimit(-1))
	restore := Keep(1 << 30)
	assert.Equal(t, int64(1<<30), debug.SetMemoryLimit(-1))
	inner := Keep(2 << 30)
	assert.Equal(t, int64(1<<30), debug.SetMemoryLimit(-1))
	inner()
	restore()
	assert.Equal(t, before, debug.SetMemoryLimit(-1))
}

// The collector runs early during a fit, unless GOGC is set, and as before after it.
func TestKeepLittleGarbage(t *testing.T) {
	now := func() int {
		v := debug.SetGCPercent(100)
		debug.SetGCPercent(v)
		return v
	}
	before := now()
	t.Setenv("GOGC", "")
	restore := Keep(0)
	assert.Equal(t, collectAt, now())
	restore()
	assert.Equal(t, before, now())
	t.Setenv("GOGC", "off")
	restore = Keep(0)
	assert.Equal(t, before, now())
	restore()
	assert.Equal(t, before, now())
}
