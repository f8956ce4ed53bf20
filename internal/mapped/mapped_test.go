package mapped

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFloats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers")
	x := make([]float32, 5000)
	for i := range x {
		x[i] = float32(i) / 3
	}
	require.NoError(t, os.WriteFile(path, Bytes(x), 0o600))
	open := func() *os.File {
		f, err := os.Open(path)
		require.NoError(t, err)
		return f
	}
	whole, err := Open(open(), 4*5000)
	require.NoError(t, err)
	if runtime.GOOS == "linux" || runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		assert.True(t, whole.Mapped())
	}
	read := Unmapped(open())
	assert.False(t, read.Mapped())
	for _, f := range []*File{whole, read} {
		for _, s := range [][2]int{{0, 0}, {0, 1}, {17, 4000}, {4999, 1}} {
			got, err := f.Floats(4*int64(s[0]), s[1], make([]float32, 5000))
			require.NoError(t, err)
			assert.Equal(t, append([]float32(nil), x[s[0]:s[0]+s[1]]...), append([]float32(nil), got...))
		}
	}
	_, err = read.Floats(4*4999, 2, make([]float32, 2))
	assert.ErrorIs(t, err, io.EOF)
	assert.NoError(t, whole.Close())
	assert.NoError(t, read.Close())

	f := open()
	_, err = Open(f, 4*5000+1)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.ErrorContains(t, err, path)
	require.NoError(t, f.Close())
}
