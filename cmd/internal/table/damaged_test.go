package table

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// damagedCells reads a file of any damage and returns the cells of its columns as texts, by name, or an error, which
// names the file.
func damagedCells(t *testing.T, file []byte, size int) (cells map[string]string, err error) {
	t.Helper()
	s, err := New("data.file", bytes.NewReader(file), int64(size), Options{Memory: 64 << 20})
	if err == nil {
		var want []Want
		for j := range s.Columns() {
			want = append(want, Want{Column: j, Kind: Any})
		}
		var d Data
		if d, err = Read(s, want); err == nil {
			cells = map[string]string{}
			for j, name := range s.Columns() {
				cells[name] = fmt.Sprint(d.Rows, d.Numbers[j], d.Labels[j])
			}
			return cells, nil
		}
	}
	assert.True(t, strings.HasPrefix(err.Error(), "data.file: "), "%v", err)
	return nil, err
}

// pairsParquet is a Parquet file of two columns, with pages of a version, packed or not.
func pairsParquet(t *testing.T, opt ...parquet.WriterOption) []byte {
	type pair struct {
		X float64 `parquet:"x"`
		Y string  `parquet:"y"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[pair](&b, opt...)
	_, err := w.Write([]pair{{1, "a"}, {2, "b"}, {3, "a"}})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// TestFlippedParquet flips each bit of files. Checksums cover the pages; headers and the schema have none. A column of a
// file that is read all the same has the cells of the column of its name. A column may be missing that the schema now
// calls a list, and the source says so.
func TestFlippedParquet(t *testing.T) {
	for _, version := range []int{1, 2} {
		for _, o := range []parquet.WriterOption{parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy)} {
			file := pairsParquet(t, parquet.DataPageVersion(version), o)
			want, err := damagedCells(t, file, len(file))
			require.NoError(t, err)
			require.Equal(t, map[string]string{"x": "3 [1 2 3] []", "y": "3 [] [a b a]"}, want)
			for i := range 8 * len(file) {
				changed := bytes.Clone(file)
				changed[i/8] ^= 1 << (i % 8)
				got, err := damagedCells(t, changed, len(changed))
				if err == nil {
					assert.Subset(t, want, got, "version %d, byte %d, bit %d", version, i/8, i%8)
				}
			}
		}
	}
}

// TestParquetOfOneName reads two columns of one name. Each has its own values.
func TestParquetOfOneName(t *testing.T) {
	file := pairsParquet(t, parquet.Compression(&parquet.Uncompressed))
	file = bytes.ReplaceAll(file, []byte("\x01y"), []byte("\x01x")) // names with their lengths
	got, err := damagedCells(t, file, len(file))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"x": "3 [1 2 3] []", "x.2": "3 [] [a b a]"}, got)
}

// TestTruncated reads the front of files, from a file and from a pipe: a file that is cut short is an error, unless it has
// its data and lacks a part of the index. A stream of Arrow's may end after any message.
func TestTruncated(t *testing.T) {
	file, _ := arrowFiles(t)
	for kind, whole := range map[string][]byte{"Parquet": []byte(parquetFile(t)), "Arrow": []byte(file)} {
		want, err := damagedCells(t, whole, len(whole))
		require.NoError(t, err)
		for n := len("ARROW1") + 1; n < len(whole); n++ {
			for _, size := range []int{n, -1} {
				got, err := damagedCells(t, whole[:n], size)
				if err == nil {
					assert.Equal(t, want, got, "%s, %d of %d bytes", kind, n, len(whole))
				}
			}
		}
	}
}
