//go:build !lean

package table

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// frame is a frame of zstd without a checksum: its window, the size that it claims, unless that is
// negative, and its blocks, each a byte that is repeated so many times.
func frame(window byte, size int64, blocks ...int) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, window}
	if size >= 0 {
		b[4] = 3 << 6
		b = binary.LittleEndian.AppendUint64(b, uint64(size))
	}
	for i, n := range blocks {
		v := n<<3 | 1<<1
		if i == len(blocks)-1 {
			v |= 1
		}
		b = append(b, byte(v), byte(v>>8), byte(v>>16), 'a')
	}
	return b
}

func TestZstdFrames(t *testing.T) {
	const skip = "\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
	in := append(append(frame(0, -1, 100, 7), skip...), frame(80, 5, 5)...)
	got, err := zstd.NewReader(nil)
	require.NoError(t, err)
	defer got.Close()
	out, err := got.DecodeAll(in, nil)
	require.NoError(t, err)
	assert.Len(t, out, 112, "these are frames")

	type found struct {
		window, size uint64
		said         bool
	}
	var all []found
	visit := func(window, size uint64, said bool) error {
		all = append(all, found{window, size, said})
		return nil
	}
	require.NoError(t, zstdFrames(in, visit))
	assert.Equal(t, []found{{1 << 10, 107, false}, {1 << 20, 5, true}}, all)
	for n := range in {
		assert.NoError(t, zstdFrames(in[:n], visit), "cut off at %d", n)
	}
	assert.Error(t, zstdFrames(in, func(uint64, uint64, bool) error { return assert.AnError }))
}

func TestCheckUnpacked(t *testing.T) {
	text := bytes.Repeat([]byte("abcdefgh"), 1000)
	var packed, small bytes.Buffer
	w := brotli.NewWriter(&packed)
	_, err := w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	z, err := zstd.NewWriter(&small)
	require.NoError(t, err)
	for range 2 * mostOfPage / zstdBlock { // blocks that are far from full
		_, err := z.Write([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"))
		require.NoError(t, err)
		require.NoError(t, z.Flush())
	}
	require.NoError(t, z.Close())
	all, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	blocks := make([]int, 1+mostOfPage/zstdBlock)
	for i := range blocks {
		blocks[i] = zstdBlock
	}
	var bomb bytes.Buffer
	w = brotli.NewWriterLevel(&bomb, brotli.BestSpeed)
	_, err = w.Write(make([]byte, mostOfPage+1))
	require.NoError(t, err)
	require.NoError(t, w.Close())

	check := func(codec format.CompressionCodec, page []byte, full int) error {
		in := append([]byte("before"), page...)
		return checkUnpacked(codec, bytes.NewReader(in), 6, int64(len(page)), int64(full))
	}
	assert.NoError(t, check(format.Snappy, snappy.Encode(nil, text), len(text)))
	assert.NoError(t, check(format.Brotli, packed.Bytes(), len(text)))
	assert.NoError(t, check(format.Zstd, all.EncodeAll(text, nil), len(text)))
	assert.NoError(t, check(format.Zstd, small.Bytes(), 1), "of blocks that are not full")
	assert.NoError(t, check(format.Uncompressed, text, 1))

	const longer = "becomes more than the"
	assert.ErrorContains(t, check(format.Snappy, []byte("\xff\xff\xff\xff\x0f"), 8), longer)
	assert.ErrorContains(t, check(format.Brotli, bomb.Bytes(), 8), longer)
	assert.ErrorContains(t, check(format.Zstd, frame(0, 1<<35, 1), 8), longer, "a size that it claims")
	assert.ErrorContains(t, check(format.Zstd, bytes.Repeat(frame(0, 1<<62, 1), 8), 8), longer, "sizes whose sum is beyond 64 bits")
	assert.ErrorContains(t, check(format.Zstd, frame(80, -1, blocks...), 8), longer, "blocks of a repeated byte")
}
