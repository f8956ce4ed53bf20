package table

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// longRow is a row of the tables of this file: x is missing in row 500 of those that can say so.
type longRow struct {
	X *float64 `parquet:"x,optional"`
	Y float64  `parquet:"y"`
}

const longRows = 1000

func longTable() []longRow {
	rows := make([]longRow, longRows)
	for i := range rows {
		x := float64(i) + 0.5
		if rows[i] = (longRow{X: &x, Y: -float64(i)}); i == 500 {
			rows[i].X = nil
		}
	}
	return rows
}

// longFiles are the table in every format. NPY files have x in column 0 and y in column 1, as all do
// but LIBSVM, where y is the label.
func longFiles(t testing.TB) map[string]string {
	files := map[string]string{}
	var text, sparse strings.Builder
	var byRows, byColumns bytes.Buffer
	put := func(b *bytes.Buffer, v float64) { require.NoError(t, binary.Write(b, binary.LittleEndian, v)) }
	text.WriteString("x,y\n")
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "y", Type: arrow.PrimitiveTypes.Float64}}, nil)
	build := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	defer build.Release()
	var stream, columns bytes.Buffer
	aw := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	pw := parquet.NewGenericWriter[longRow](&columns, parquet.PageBufferSize(512))
	rows := longTable()
	for i, r := range rows {
		x := math.NaN()
		if r.X != nil {
			x = *r.X
			fmt.Fprintf(&text, "%g,%g\n", x, r.Y)
			build.Field(0).(*array.Float64Builder).Append(x)
		} else {
			fmt.Fprintf(&text, ",%g\n", r.Y)
			build.Field(0).AppendNull()
		}
		build.Field(1).(*array.Float64Builder).Append(r.Y)
		fmt.Fprintf(&sparse, "%g 1:%g\n", r.Y, float64(i)+0.5)
		put(&byRows, x)
		put(&byRows, r.Y)
		put(&byColumns, x)
		if i%300 == 299 || i == longRows-1 {
			require.NoError(t, aw.Write(build.NewRecordBatch()))
			_, err := pw.Write(rows[i/300*300 : i+1])
			require.NoError(t, err)
			require.NoError(t, pw.Flush()) // a group of rows
		}
	}
	require.NoError(t, aw.Close())
	require.NoError(t, pw.Close())
	for _, r := range rows {
		put(&byColumns, r.Y)
	}
	files["text"], files["LIBSVM"] = text.String(), sparse.String()
	files["Arrow"], files["Parquet"] = stream.String(), columns.String()
	files["NPY"] = npy("'<f8'", "False", "(1000, 2)", byRows.String())
	files["NPY by columns"] = npy("'<f8'", "True", "(1000, 2)", byColumns.String())
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	w, err := z.Create("X.npy")
	require.NoError(t, err)
	_, err = io.WriteString(w, files["NPY"])
	require.NoError(t, err)
	require.NoError(t, z.Close())
	files["NPZ"] = archive.String()
	return files
}

// TestBlocks reads each format in blocks: together they are the table.
func TestBlocks(t *testing.T) {
	for format, file := range longFiles(t) {
		t.Run(format, func(t *testing.T) {
			xs, ys, gaps := 0, 1, 1
			if format == "LIBSVM" {
				xs, ys, gaps = 1, 0, 0
			}
			for _, rows := range []int{0, 1, 7, 250, 300, longRows - 1, longRows, longRows + 1} {
				s, err := New("f", strings.NewReader(file), int64(len(file)), Options{})
				require.NoError(t, err)
				n, gone := 0, 0
				for d, err := range s.Blocks([]Want{{Column: ys}, {Column: xs, Kind: Any}}, rows) {
					require.NoError(t, err)
					require.True(t, rows == 0 || d.Rows == min(rows, longRows-n), "%d rows", d.Rows)
					require.Len(t, d.Numbers[xs], d.Rows)
					require.Len(t, d.Numbers[ys], d.Rows)
					for i := range d.Rows {
						require.Equal(t, -float64(n+i), d.Numbers[ys][i])
						if x := d.Numbers[xs][i]; x != x {
							gone++
							require.Equal(t, 500, n+i)
							assert.True(t, d.IsRow(d.Gaps[xs].First, i) || rows == 0 && d.IsRow(d.Gaps[xs].First, 500))
							assert.Equal(t, 501, d.Gaps[xs].First.Row)
						} else {
							require.Equal(t, float64(n+i)+0.5, x)
						}
						require.Equal(t, n+i+1, d.Cell(i, xs, "").Row)
					}
					n += d.Rows
				}
				assert.Equal(t, longRows, n, "in blocks of %d", rows)
				assert.Equal(t, gaps, gone)
			}

			// What is wrong in a later block says where, and nothing follows.
			s, err := New("f", strings.NewReader(file), int64(len(file)), Options{})
			require.NoError(t, err)
			blocks, failed := 0, false
			for _, err := range s.Blocks([]Want{{Column: xs, Kind: Number}}, 200) {
				require.False(t, failed, "a block after an error")
				var cell *CellError
				if failed = errors.As(err, &cell); failed {
					assert.Equal(t, 501, cell.Row)
				}
				blocks++
			}
			assert.Equal(t, gaps == 1, failed)

			// Who stops early gets no more.
			s, err = New("f", strings.NewReader(file), int64(len(file)), Options{})
			require.NoError(t, err)
			blocks = 0
			for _, err := range s.Blocks([]Want{{Column: ys}}, 100) {
				require.NoError(t, err)
				if blocks++; blocks == 3 {
					break
				}
			}
			assert.Equal(t, 3, blocks)
		})
	}
	s, err := New("f", strings.NewReader("x,y\n"), -1, Options{})
	require.NoError(t, err)
	blocks := 0
	for d, err := range s.Blocks([]Want{{Column: 0}}, 5) {
		require.NoError(t, err)
		assert.Zero(t, d.Rows)
		blocks++
	}
	assert.Equal(t, 1, blocks, "a table without rows")
}

// counted counts the bytes that were asked for.
type counted struct {
	*strings.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(p, at)
	c.n += int64(n)
	return n, err
}

// TestBlocksReadAhead holds the formats that lie by rows to reading no more than they need.
func TestBlocksReadAhead(t *testing.T) {
	var rows strings.Builder
	for range 1 << 20 {
		rows.WriteString("1,2\n")
	}
	for name, file := range map[string]string{
		"text": rows.String(),
		"NPY":  npy("'<f8'", "False", "(262144, 2)", string(make([]byte, 1<<22))),
	} {
		c := &counted{Reader: strings.NewReader(file)}
		s, err := New("f", c, int64(len(file)), Options{})
		require.NoError(t, err)
		for _, err := range s.Blocks([]Want{{Column: 1}}, 100) {
			require.NoError(t, err)
			break
		}
		assert.Less(t, c.n, int64(maxLine+1<<17), name)
	}
}
