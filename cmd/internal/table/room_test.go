package table

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// squeezed returns a text as a writer packs it.
func squeezed(t *testing.T, text string, by func(io.Writer) (io.WriteCloser, error)) string {
	t.Helper()
	var b bytes.Buffer
	w, err := by(&b)
	require.NoError(t, err)
	_, err = io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func byGzip(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }

// Small files of many cells, of every format, are errors where memory is short, and take little of it before.
func TestMemoryOfSmallFiles(t *testing.T) {
	const memory, n = 1 << 20, 1 << 18
	zstdOf := func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }
	flat := func(descr string, rows, cols int) string {
		h := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }\n", descr, rows, cols)
		return npyMagic + "\x01\x00" + string([]byte{byte(len(h)), byte(len(h) >> 8)}) + h + strings.Repeat("\x00", n)
	}
	for name, file := range map[string]string{
		"rows of a gzipped CSV":       squeezed(t, strings.Repeat("1\n", n), byGzip),
		"columns of a gzipped CSV":    squeezed(t, strings.Repeat(",", n)+"\n1\n", byGzip),
		"rows of a CSV, packed twice": squeezed(t, squeezed(t, strings.Repeat("a\n", 8*n), byGzip), byGzip),
		"texts of a CSV, by zstd":     squeezed(t, strings.Repeat(strings.Repeat("a", 1<<16)+"\n", 256), zstdOf),
		"a line of a CSV, by zstd":    squeezed(t, "a\n"+strings.Repeat(strings.Repeat(",", n), 64), zstdOf),
		"a cell of lines of a CSV":    squeezed(t, "\""+strings.Repeat("a\n", 32*n), byGzip),
		"a line of a LIBSVM file":     squeezed(t, "1 1:1\n1"+strings.Repeat(" ", 64*n), byGzip),
		"records of a FASTA file":     squeezed(t, strings.Repeat(">a\n", n), byGzip),
		"lines of a LIBSVM file":      squeezed(t, strings.Repeat("1 1:1\n", n), byGzip),
		"entries and cells, LIBSVM":   strings.Repeat("1 1:1\n", 8000), // either alone has room
		"a sparse LIBSVM file":        strings.Repeat("1 16000:1\n", 100),
		"elements of an NPY file":     squeezed(t, flat("|b1", n, 1), byGzip),
		"claims of an NPY file":       squeezed(t, flat("|b1", math.MaxInt/16+1, 1), byGzip),
		"columns of an NPY file":      squeezed(t, flat("|b1", 1, n), byGzip),
		"texts of an NPY file":        squeezed(t, flat("|S4096", 1<<10, 1), byGzip),
		"elements of an NPZ file":     zipped(t, flat("|i1", n, 1)),
		"texts of an NPZ file":        zipped(t, flat("|S4096", 1<<10, 1)+strings.Repeat("\x00", 1<<22)),
		"elements of a MAT-file":      zeros(t, n),
		"rows of a Parquet file":      repeated(t, "a", n),
		"texts of a Parquet file":     repeated(t, strings.Repeat("a", 1<<13), 1<<10),
		"columns of nulls, Arrow":     nulls(t, 64, 1<<14),
		"what a Parquet file is kept": squeezed(t, "PAR1"+strings.Repeat("\x00", 8*n), byGzip),
		"what an archive is kept in":  squeezed(t, "PK\x03\x04"+strings.Repeat("\x00", 8*n), byGzip),
		"what a MAT-file is kept in":  squeezed(t, fmt.Sprintf("%-124s\x00\x01IM", "MATLAB")+strings.Repeat("\x00", 8*n), byGzip),
	} {
		t.Run(name, func(t *testing.T) {
			require.Less(t, len(file), 1<<16)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, err := New("f", strings.NewReader(file), int64(len(file)), Options{Memory: memory})
			if err == nil {
				var want []Want
				for j := range s.Columns() {
					want = append(want, Want{Column: j, Kind: Any})
				}
				_, err = Read(s, want)
			}
			runtime.ReadMemStats(&after)
			assert.ErrorContains(t, err, "memory")
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
		})
	}
}

// The same small files are read where there is memory, and so are files block by block, however long.
func TestMemoryOfBlocks(t *testing.T) {
	rows := 0
	s, err := New("f", strings.NewReader(strings.Repeat("1\n", 1<<18)), -1, Options{Memory: 1 << 20})
	require.NoError(t, err)
	for d, err := range s.Blocks([]Want{{}}, 1<<10) {
		require.NoError(t, err)
		rows += d.Rows
	}
	assert.Equal(t, 1<<18, rows)
	for _, file := range []string{repeated(t, "a", 1<<12), nulls(t, 3, 1<<10), zeros(t, 1<<10)} {
		_, d := readAll(t, file)
		assert.NotZero(t, d.Rows)
	}
}

// zipped returns an archive of an array.
func zipped(t *testing.T, npy string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("x.npy")
	require.NoError(t, err)
	_, err = io.WriteString(w, npy)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

// zeros returns a MAT-file of a vector of n zeros of a byte each, compressed.
func zeros(t *testing.T, n int) string {
	t.Helper()
	var in bytes.Buffer
	for _, v := range []any{[]uint32{6, 8, 6, 0, 5, 8}, []int32{int32(n), 1}, []uint32{1, 1}, [8]byte{'x'}, []uint32{1, uint32(n)}} {
		require.NoError(t, binary.Write(&in, binary.LittleEndian, v))
	}
	in.Write(make([]byte, n))
	var element, file bytes.Buffer
	require.NoError(t, binary.Write(&element, binary.LittleEndian, []uint32{14, uint32(in.Len())}))
	element.Write(in.Bytes())
	z := squeezed(t, element.String(), func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil })
	fmt.Fprintf(&file, "%-124s\x00\x01IM", "MATLAB 5.0 MAT-file")
	require.NoError(t, binary.Write(&file, binary.LittleEndian, []uint32{15, uint32(len(z))}))
	file.WriteString(z)
	return file.String()
}

// repeated returns a Parquet file of n rows of one text.
func repeated(t *testing.T, text string, n int) string {
	t.Helper()
	type row struct {
		X string `parquet:"x,dict,zstd"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	rows := make([]row, n)
	for i := range rows {
		rows[i].X = text
	}
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// nulls returns an Arrow file of columns that hold nothing.
func nulls(t *testing.T, columns, rows int) string {
	t.Helper()
	var fields []arrow.Field
	var all []arrow.Array
	for j := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("n", j), Type: arrow.Null, Nullable: true})
		all = append(all, array.NewNull(rows))
	}
	fields = append(fields, arrow.Field{Name: "x", Type: arrow.FixedWidthTypes.Boolean}) // a body of some bytes
	build := array.NewBooleanBuilder(memory.NewGoAllocator())
	build.AppendValues(make([]bool, rows), nil)
	all = append(all, build.NewArray())
	schema := arrow.NewSchema(fields, nil)
	var b bytes.Buffer
	w, err := ipc.NewFileWriter(&b, ipc.WithSchema(schema))
	require.NoError(t, err)
	require.NoError(t, w.Write(array.NewRecordBatch(schema, all, int64(rows))))
	require.NoError(t, w.Close())
	return b.String()
}
