package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// formats are the files that are changed, and how if not as any bytes.
var formats = []struct {
	name   string
	files  func() [][]byte
	change func(r *rand.Rand, file []byte) []byte
}{
	{"CSV", func() [][]byte {
		return [][]byte{
			[]byte("size,city,price\n1.5,Ulm,3\n-2e3,\"Bonn, am Rhein\",4\n,Ulm,5.25\n"),
			[]byte("1;2;x\n3;4;y\n5;6;\"z\"\"\"\n"),
			[]byte("\ufeffa\tb\nNA\t2024-01-01\n1\t2024-01-02\n"),
		}
	}, changeText},
	{"LIBSVM", func() [][]byte {
		return [][]byte{[]byte("1 1:2 3:4.5\n-1 2:1e3\n1\n"), []byte("# c\n0.5 qid:1 1:1 7:2 # d\n2 qid:2 2:3\n")}
	}, changeText},
	{"FASTA", func() [][]byte { return [][]byte{[]byte(">a first of two\nACGT\nTT\n>b\nGG\n")} }, changeText},
	{"NPY", func() [][]byte {
		return [][]byte{
			npy("'<f8'", "False", "(3, 2)", []float64{1, 2, 3, 4, 5, 6}), npy("'>i4'", "True", "(2, 2)", []uint32{1, 2, 3, 4}),
			npy("'<U2'", "False", "(2,)", []uint32{'a', 0, 'b', 'c'}), npy("'|b1'", "False", "(4,)", []byte{1, 0, 1, 1}),
		}
	}, changeNPY},
	{"NPZ", func() [][]byte { return npzParts }, func(r *rand.Rand, file []byte) []byte {
		return changeZip(r, []string{"X.npy", "y.npy", "K.npy"}, npzParts, changeNPY)
	}},
	{"XLSX", func() [][]byte { return xlsxParts }, func(r *rand.Rand, file []byte) []byte {
		return changeZip(r, xlsxNames, xlsxParts, changeText)
	}},
	{"gzip", func() [][]byte {
		return [][]byte{packed("a,b\n1,2\n3,4\n5,6\n", gzipped), packed("1 1:2\n2 2:3\n", gzipped)}
	}, changePacked},
	{"zstd", func() [][]byte { return [][]byte{packed("a,b\n1,2\n3,4\n5,6\n", zstandard)} }, nil},
	{"MATLAB", func() [][]byte {
		plain := mat(binary.LittleEndian, false)
		return [][]byte{plain, mat(binary.BigEndian, false), mat(binary.LittleEndian, true)}
	}, changeMAT},
	{"Parquet", parquetFiles, nil},
	{"Arrow", arrowFiles, nil},
	{"packed Parquet", packedParquet, nil},
}

// npy returns an NPY file.
func npy(descr, fortran, shape string, data any) []byte {
	h := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr, fortran, shape)
	b := bytes.NewBufferString("\x93NUMPY\x01\x00" + string([]byte{byte(len(h)), byte(len(h) >> 8)}) + h)
	write(b, binary.LittleEndian, data)
	return b.Bytes()
}

// changeNPY changes the text of an NPY file's header, whose length stays right, or any bytes.
func changeNPY(r *rand.Rand, file []byte) []byte {
	const head = 10
	if r.IntN(2) == 0 || len(file) < head {
		return changeBytes(r, file)
	}
	end := min(len(file), head+int(binary.LittleEndian.Uint16(file[8:])))
	text := changeText(r, bytes.Clone(file[head:end]))
	out := append(bytes.Clone(file[:head]), text...)
	binary.LittleEndian.PutUint16(out[8:], uint16(len(text)))
	return append(out, file[end:]...)
}

var npzParts = [][]byte{
	npy("'<f8'", "False", "(2, 2)", []float64{1, 2, 3, 4}), npy("'<i2'", "False", "(2,)", []uint16{1, 2}),
	npy("'<f4'", "True", "(1, 2, 2)", []float32{1, 2, 3, 4}),
}

// A workbook of one sheet.
var (
	xlsxNames = []string{"[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"}
	xlsxParts = [][]byte{
		[]byte(`<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`),
		[]byte(`<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`),
		[]byte(`<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`),
		[]byte(`<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>`),
		[]byte(`<?xml version="1.0"?><sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" count="2" uniqueCount="2"><si><t>a</t></si><si><t>b</t></si></sst>`),
		[]byte(`<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2"><c r="A2"><v>1.5</v></c><c r="B2"><v>2</v></c></row><row r="3"><c r="A3"><v>-3</v></c><c r="B3" t="inlineStr"><is><t>x</t></is></c></row></sheetData></worksheet>`),
	}
)

// changeZip returns an archive of parts. One part is changed, and has a checksum that is
// right, or whose own bytes are changed.
func changeZip(r *rand.Rand, names []string, parts [][]byte, change func(*rand.Rand, []byte) []byte) []byte {
	if r.IntN(4) == 0 {
		return changeBytes(r, archive(names, parts))
	}
	parts = slices.Clone(parts)
	one := r.IntN(len(parts))
	parts[one] = change(r, bytes.Clone(parts[one]))
	return archive(names, parts)
}

// archive returns an archive of parts.
func archive(names []string, parts [][]byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, part := range parts {
		w, err := z.CreateHeader(&zip.FileHeader{Name: names[i], Method: zip.Store})
		check(err)
		_, err = w.Write(part)
		check(err)
	}
	check(z.Close())
	return b.Bytes()
}

// packed returns a compressed text.
func packed(text string, by func(io.Writer) io.WriteCloser) []byte {
	var b bytes.Buffer
	w := by(&b)
	_, err := io.WriteString(w, text)
	check(err)
	check(w.Close())
	return b.Bytes()
}

func gzipped(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }

func zstandard(w io.Writer) io.WriteCloser {
	z, err := zstd.NewWriter(w)
	check(err)
	return z
}

// changePacked changes the bytes of a file, and at times compresses it once more.
func changePacked(r *rand.Rand, file []byte) []byte {
	file = changeBytes(r, file)
	for range pick(r, 0, 0, 0, 1, 5) {
		file = packed(string(file), gzipped)
	}
	return file
}

// mat returns a MAT-file of level 5 with a matrix X and a vector y, compressed or not.
func mat(order binary.ByteOrder, compressed bool) []byte {
	array := func(name string, rows, cols int32, x []float64) []byte {
		var b bytes.Buffer
		var padded [8]byte
		copy(padded[:], name)
		for _, v := range []any{
			[]uint32{6, 8, 6, 0, 5, 8}, []int32{rows, cols}, []uint32{1, uint32(len(name))}, padded[:], []uint32{9, uint32(8 * len(x))}, x,
		} {
			write(&b, order, v)
		}
		return b.Bytes()
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-124s", "MATLAB 5.0 MAT-file")
	write(&b, order, []uint16{0x100, 'M'<<8 | 'I'})
	for _, a := range [][]byte{array("X", 2, 2, []float64{1, 2, 3, 4}), array("y", 2, 1, []float64{5, 6})} {
		var element bytes.Buffer
		write(&element, order, []uint32{14, uint32(len(a))})
		element.Write(a)
		if compressed {
			var z bytes.Buffer
			w := zlib.NewWriter(&z)
			_, err := w.Write(element.Bytes())
			check(err)
			check(w.Close())
			write(&b, order, []uint32{15, uint32(z.Len())})
			b.Write(z.Bytes())
			continue
		}
		b.Write(element.Bytes())
	}
	return b.Bytes()
}

// changeMAT changes bytes behind the text of the header, mostly.
func changeMAT(r *rand.Rand, file []byte) []byte {
	const head = 124
	if r.IntN(10) == 0 {
		return changeBytes(r, file)
	}
	return append(bytes.Clone(file[:head]), changeBytes(r, bytes.Clone(file[head:]))...)
}

type parquetRow struct {
	X    float64  `parquet:"x"`
	N    *int32   `parquet:"n,optional"`
	OK   bool     `parquet:"ok"`
	City string   `parquet:"city,dict,zstd"`
	Day  int32    `parquet:"day,date"`
	When int64    `parquet:"when,timestamp(microsecond)"`
	Tags []string `parquet:"tags,list"`
}

type parquetPair struct {
	X float64 `parquet:"x"`
	Y string  `parquet:"y"`
}

func parquetFiles() [][]byte {
	n := int32(-3)
	var wide, narrow bytes.Buffer
	w := parquet.NewGenericWriter[parquetRow](&wide)
	for _, row := range []parquetRow{{X: 1.5, N: &n, OK: true, City: "Ulm", Day: 1, When: 43_200_000_000, Tags: []string{"a", "b"}}, {X: 2.5, City: "Bonn", Day: -1}} {
		_, err := w.Write([]parquetRow{row})
		check(err)
		check(w.Flush()) // a group of rows
	}
	check(w.Close())
	p := parquet.NewGenericWriter[parquetPair](&narrow)
	_, err := p.Write([]parquetPair{{1, "a"}, {2, "b"}, {3, "a"}})
	check(err)
	check(p.Close())
	return [][]byte{wide.Bytes(), narrow.Bytes()}
}

// packedParquet returns a file by each way of packing pages.
func packedParquet() [][]byte {
	var all [][]byte
	for _, codec := range []compress.Codec{&parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[parquetPair](&b, parquet.Compression(codec))
		_, err := w.Write([]parquetPair{{1, "a"}, {2, "b"}, {3, "a"}})
		check(err)
		check(w.Close())
		all = append(all, b.Bytes())
	}
	return all
}

func arrowFiles() [][]byte {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "kind", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	defer b.Release()
	b.Field(0).(*array.Float32Builder).AppendValues([]float32{1.5, 0}, []bool{true, false})
	b.Field(1).(*array.StringBuilder).AppendValues([]string{"Ulm", ""}, []bool{true, false})
	check(b.Field(2).(*array.BinaryDictionaryBuilder).AppendString("p"))
	check(b.Field(2).(*array.BinaryDictionaryBuilder).AppendString("q"))
	b.Field(3).(*array.Date32Builder).AppendValues([]arrow.Date32{0, 2}, nil)
	b.Field(4).AppendNull()
	b.Field(4).AppendNull()
	batch := b.NewRecordBatch()
	defer batch.Release()
	var file, packed, stream bytes.Buffer
	for _, to := range []struct {
		b   *bytes.Buffer
		opt []ipc.Option
	}{{&file, nil}, {&packed, []ipc.Option{ipc.WithZstd()}}} {
		w, err := ipc.NewFileWriter(to.b, append(to.opt, ipc.WithSchema(schema))...)
		check(err)
		check(w.Write(batch))
		check(w.Close())
	}
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	check(w.Write(batch))
	check(w.Close())
	return [][]byte{file.Bytes(), packed.Bytes(), stream.Bytes()}
}

func write(b *bytes.Buffer, order binary.ByteOrder, v any) { check(binary.Write(b, order, v)) }

// check panics: what it is asked of does not fail in memory.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
