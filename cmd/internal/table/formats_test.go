package table

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/encode"
)

// readAll reads all columns of a file as what they are, once with its size and once as
// from a pipe, and checks that both are the same.
func readAll(t testing.TB, file string) (Source, Data) {
	t.Helper()
	var first Data
	for _, size := range []int64{int64(len(file)), -1} {
		s, err := New("f", strings.NewReader(file), size, Options{})
		require.NoError(t, err)
		var want []Want
		for j := range s.Columns() {
			want = append(want, Want{Column: j, Kind: Any})
		}
		d, err := Read(s, want)
		require.NoError(t, err)
		if size < 0 {
			assert.Equal(t, fmt.Sprint(first), fmt.Sprint(d)) // NaN is not equal to itself
			return s, d
		}
		first = d
	}
	panic("not reached")
}

func TestAny(t *testing.T) {
	s, d := readAll(t, "n,slip,t,b,day,dot,dm,md,both,none\n"+
		"1,2,a,yes,2026-01-02,2.1.2026,13/1/2026,1/13/2026,1/2/2026,\n"+
		"?,,NA,No,2026-01-03 12:00:00,03.01.2026,14/1/2026,1/14/2026,2/2/2026,NA\n"+
		"-3e2,4,b c,TRUE,,4.1.2026 06:00,1/2/2026,2/1/2026,3/2/2026,n/a\n")
	assert.Empty(t, s.Remarks())
	types := map[string]Type{
		"n": Numeric, "slip": Numeric, "t": Text, "b": Boolean, "day": Date, "dot": DateDots,
		"dm": DateDay, "md": DateMonth, "both": Text, "none": Numeric,
	}
	january2 := float64(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC).Unix()) / 86400
	for j, name := range s.Columns() {
		assert.Equal(t, types[name], d.Types[j], name)
	}
	assert.Equal(t, "[1 NaN -300]", fmt.Sprint(d.Numbers[0]))
	assert.Equal(t, []string{"a", "", "b c"}, d.Labels[2])
	assert.Equal(t, []float64{1, 0, 1}, d.Numbers[3])
	assert.Equal(t, []float64{january2, january2 + 1.5}, d.Numbers[4][:2])
	assert.Equal(t, []float64{january2, january2 + 1, january2 + 2.25}, d.Numbers[5])
	assert.Equal(t, []float64{january2 + 11, january2 + 12, january2 + 30}, d.Numbers[6])
	assert.Equal(t, d.Numbers[6], d.Numbers[7])
	assert.Equal(t, 1, d.Gaps[0].Count)
	assert.EqualError(t, d.Gaps[0].First, `f: row 2 (line 3), column 1 "n": the cell is empty`)
	assert.Equal(t, 3, d.Gaps[9].Count)
	assert.Zero(t, d.Gaps[3])

	// Of a type that is known, and of one that most cells have.
	for _, c := range []struct {
		cells   string
		as      Type
		lenient bool
		numbers string
		err     string
	}{
		{"1;x;2", "", false, "", `d.csv: row 2 (line 3), column 1 "a": "x" is not a number`},
		{"1;x;2", Numeric, true, "[1 NaN 2]", `d.csv: row 2 (line 3), column 1 "a": "x" is not a number`},
		{"Inf;1", "", false, "", `d.csv: row 1 (line 2), column 1 "a": Inf is not a finite number`},
		{"1;0;yes", Boolean, false, "[1 0 1]", ""},
		{"1;2", Boolean, false, "", `d.csv: row 2 (line 3), column 1 "a": "2" is neither true, yes or 1 nor false, no or 0`},
		{"2026-01-02", DateDots, false, "", `d.csv: row 1 (line 2), column 1 "a": "2026-01-02" is not a date(d.m.y)`},
		{"1/2/2026", DateDay, false, fmt.Sprint([]float64{january2 + 30}), ""},
		{"1;2", Text, false, "[]", ""},
	} {
		s, err := text("a\n"+strings.ReplaceAll(c.cells, ";", "\n")+"\n", Options{})
		require.NoError(t, err)
		d, err := Read(s, []Want{{Kind: Any, As: c.as, Lenient: c.lenient}})
		switch {
		case c.err == "":
			require.NoError(t, err)
		case !c.lenient:
			assert.EqualError(t, err, c.err)
			continue
		default:
			assert.EqualError(t, d.Gaps[0].First, c.err)
		}
		assert.Equal(t, c.numbers, fmt.Sprint(d.Numbers[0]))
	}
}

// A source leaves empty the cells that the options name, in columns of every kind and in files of numbers and of text.
func TestBlanks(t *testing.T) {
	opt := Options{Blanks: []string{"-9", "none"}}
	bits := func(elements any) string {
		b, err := binary.Append(nil, binary.LittleEndian, elements)
		require.NoError(t, err)
		return string(b)
	}
	files := map[string]string{
		"text": "1,2\n1,-9.0\n-9,3\n",
		"npy":  npy("'<f8'", "False", "(3, 2)", bits([]float64{1, 2, 1, -9, -9, 3})),
		"ints": npy("'<i4'", "False", "(3, 2)", bits([]int32{1, 2, 1, -9, -9, 3})),
	}
	for name, file := range files {
		read := func(want ...Want) (Data, error) {
			s, err := New("f", strings.NewReader(file), int64(len(file)), opt)
			require.NoError(t, err, name)
			return Read(s, want)
		}
		d, err := read(Want{Kind: Any}, Want{Column: 1, Kind: Optional})
		require.NoError(t, err, name)
		assert.Equal(t, "[1 1 NaN] [2 NaN 3]", fmt.Sprint(d.Numbers[0], d.Numbers[1]), name)
		assert.Equal(t, 1, d.Gaps[0].Count, name)
		d, err = read(Want{Kind: OptionalLabel})
		require.NoError(t, err, name)
		assert.Equal(t, []string{"1", "1", ""}, d.Labels[0], name)
		d, err = read(Want{Kind: Undecided})
		require.NoError(t, err, name)
		assert.True(t, Missing(d.Labels[0][2]), name)
		for _, kind := range []Kind{Number, Label} {
			_, err = read(Want{Kind: kind})
			assert.ErrorContains(t, err, "row 3", name)
		}
	}
	days := anyColumn{Want: Want{As: Date}, blanks: encode.NewBlanks(opt.Blanks)}
	days.number(-9, Date) // 1969-12-23
	assert.Equal(t, []float64{-9}, days.numbers)
	s, err := text("a,b\nnone,x\n2,none\nNA,y\n", opt)
	require.NoError(t, err)
	d, err := Read(s, []Want{{Kind: Any}, {Column: 1, Kind: Any}})
	require.NoError(t, err)
	assert.Equal(t, "[NaN 2 NaN] [x  y]", fmt.Sprint(d.Numbers[0], d.Labels[1]))
	assert.Zero(t, d.Gaps[0].Wrong)
}

// The first cells decide the type of a column, and later cells must have this type.
func TestAnyOfManyRows(t *testing.T) {
	rows := strings.Repeat("1\n", told)
	s, err := text("a\n"+rows+"x\n", Options{})
	require.NoError(t, err)
	_, err = Read(s, []Want{{Kind: Any}})
	assert.EqualError(t, err, `d.csv: row 1025 (line 1026), column 1 "a": "x" is not a number`)
	s, err = text("a\n"+strings.Repeat("u\nv\n\"\"\n", told)+"1\n", Options{})
	require.NoError(t, err)
	d, err := Read(s, []Want{{Kind: Any}})
	require.NoError(t, err)
	assert.Len(t, d.Labels[0], 3*told+1)
	assert.Equal(t, told, d.Gaps[0].Count)
	assert.Equal(t, "1", d.Labels[0][3*told])
}

func TestPick(t *testing.T) {
	s, err := text("a,b\n1,x\n2,y\n\n3,z\n", Options{})
	require.NoError(t, err)
	d, err := Read(s, []Want{{Kind: Any}, {Column: 1, Kind: Any}})
	require.NoError(t, err)
	d.Pick([]int{2, 1})
	d.Pick([]int{0})
	assert.Equal(t, []float64{3}, d.Numbers[0])
	assert.Equal(t, []string{"z"}, d.Labels[1])
	e := d.Cell(0, 1, "odd")
	assert.EqualError(t, e, `d.csv: row 3 (line 5), column 2 "b": odd`)
	assert.True(t, d.IsRow(e, 0))
}

func TestColumnsOfOneName(t *testing.T) {
	for in, want := range map[string]string{
		"a,b,a":       "[a b a.2] [several columns of one name: the second a is called a.2]",
		"a,a,a.2,a":   "[a a.3 a.2 a.4] [several columns of one name: the second a is called a.3, the 3. a is called a.4]",
		",x,":         "[1 x 3] []",
		"b,,2":        "", // a line with a number is no header
		"x,x,x,x,x,x": "[x x.2 x.3 x.4 x.5 x.6] [several columns of one name: the second x is called x.2, the 3. x is called x.3, the 4. x is called x.4, the 5. x is called x.5, the 6. x is called x.6]",
	} {
		s, err := text(in+"\n"+strings.Repeat("1,", strings.Count(in, ","))+"1\n", Options{})
		require.NoError(t, err)
		if want != "" {
			assert.Equal(t, want, fmt.Sprint(s.Columns(), s.Remarks()), in)
		}
	}
	names, _ := distinct([]string{"", "1", "1.2", ""})
	assert.Equal(t, []string{"1.3", "1", "1.2", "4"}, names)
}

// Lines that start with # are comments in a file that begins with one.
func TestComments(t *testing.T) {
	for _, c := range []struct{ in, columns, want string }{
		{"# made by x\n# on a day\na,b\n1,2\n# more\n3,4\n", "[a b]", "[[1 2] [3 4]]"},
		{"# a,b\n1,2\n3,4\n", "[a b]", "[[1 2] [3 4]]"}, // as numpy.savetxt writes names
		{"# 7,8\n1,2\n", "[1 2]", "[[1 2]]"},
		{"# only\n1\n", "[1]", "[[1]]"},
	} {
		s, err := text(c.in, Options{})
		require.NoError(t, err)
		assert.Equal(t, c.columns, fmt.Sprint(s.Columns()))
		assert.Equal(t, c.want, fmt.Sprint(all(t, s)))
	}
	s, err := text("#\n#\na,b\n1,2\n#\n1,x\n2,2\n", Options{})
	require.NoError(t, err)
	_, err = Read(s, []Want{{Column: 1}})
	assert.EqualError(t, err, `d.csv: row 2 (line 6), column 2 "b": "x" is not a number`)
	// Elsewhere # is text.
	s, err = text("c,x\n#ff0000,1\n", Options{})
	require.NoError(t, err)
	d, err := Read(s, []Want{{Column: 0, Kind: Label}})
	require.NoError(t, err)
	assert.Equal(t, []string{"#ff0000"}, d.Labels[0])
}

func TestCompressed(t *testing.T) {
	const table = "a,b\n1,x\n2,y\n"
	pack := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return b.String()
	}
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	for _, file := range []string{pack(table), string(z.EncodeAll([]byte(table), nil)), pack(pack(table)), pack(string(npzFile(t)))} {
		_, d := readAll(t, file)
		assert.Equal(t, 2, d.Rows)
	}
	_, err = New("f", strings.NewReader(pack(pack(pack(pack(table))))), -1, Options{})
	assert.EqualError(t, err, "f: compressed more than 3 times")
	_, err = New("f", strings.NewReader(pack(table)[:9]), -1, Options{})
	assert.ErrorContains(t, err, "f: ")
	s, err := New("f", strings.NewReader(pack(table)[:len(pack(table))-1]), -1, Options{})
	if err == nil {
		_, err = Read(s, []Want{{Kind: Any}})
	}
	assert.ErrorContains(t, err, "unexpected EOF")
}

// A line of a size that no table has ends the reading, however small it was compressed.
func TestEndlessLine(t *testing.T) {
	l := &lineReader{r: strings.NewReader(strings.Repeat("x", 100)), line: longestLine - 50}
	_, err := l.Read(make([]byte, 200))
	assert.EqualError(t, err, "a line of more than 536870912 bytes")
	l = &lineReader{r: strings.NewReader(strings.Repeat("x", 100) + "\nyz"), line: longestLine - 50}
	_, err = l.Read(make([]byte, 200))
	require.NoError(t, err)
	assert.EqualValues(t, 2, l.line)
}

// npzFile is what numpy.savez makes of X, y, and an array of another length.
func npzFile(t testing.TB) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range []struct{ name, file string }{
		{"X.npy", npy("'<i2'", "True", "(2, 2)", "\x01\x00\x02\x00\x03\x00\x04\x00")},
		{"y.npy", npy("'<U3'", "False", "(2,)", "y\x00\x00\x00e\x00\x00\x00s\x00\x00\x00n\x00\x00\x00o\x00\x00\x00\x00\x00\x00\x00")},
		{"other.npy", npy("'|b1'", "False", "(3,)", "\x01\x00\x01")},
	} {
		w, err := z.Create(f.name)
		require.NoError(t, err)
		_, err = w.Write([]byte(f.file))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestNPZ(t *testing.T) {
	s, d := readAll(t, string(npzFile(t)))
	assert.Equal(t, []string{"X.1", "X.2", "y"}, s.Columns())
	assert.Equal(t, []string{"arrays without 2 rows are left out: other (3)"}, s.Remarks())
	assert.Equal(t, 2, s.Rows())
	assert.Equal(t, []float64{1, 2}, d.Numbers[0])
	assert.Equal(t, []float64{3, 4}, d.Numbers[1])
	assert.Equal(t, []float64{1, 0}, d.Numbers[2])
	assert.Equal(t, Boolean, d.Types[2])

	s, err := New("f", bytes.NewReader(npzFile(t)), -1, Options{})
	require.NoError(t, err)
	d, err = Read(s, []Want{{Column: 2, Kind: Label}, {Column: 1}})
	require.NoError(t, err)
	assert.Equal(t, []string{"yes", "no"}, d.Labels[2])
	assert.Equal(t, []float64{3, 4}, d.Numbers[1])
}

// One flipped bit of what an archive's directory lists is an error, or changes nothing.
func TestNPZIsDamaged(t *testing.T) {
	whole := npzFile(t)
	directory := bytes.Index(whole, []byte("PK\x01\x02"))
	require.Positive(t, directory)
	read := func(file []byte) (columns []string, d Data, err error) {
		s, err := New("f", bytes.NewReader(file), int64(len(file)), Options{})
		if err != nil {
			return nil, d, err
		}
		var want []Want
		for j := range s.Columns() {
			want = append(want, Want{Column: j, Kind: Any})
		}
		d, err = Read(s, want)
		return s.Columns(), d, err
	}
	columns, d, err := read(whole)
	require.NoError(t, err)
	refused := 0
	for i := range directory {
		for bit := range 8 {
			file := bytes.Clone(whole)
			file[i] ^= 1 << bit
			got, e, err := read(file)
			if err != nil {
				refused++
				continue
			}
			require.Equal(t, columns, got, "byte %d, bit %d", i, bit)
			require.Equal(t, d.Numbers, e.Numbers, "byte %d, bit %d", i, bit)
			require.Equal(t, d.Labels, e.Labels, "byte %d, bit %d", i, bit)
		}
	}
	assert.Greater(t, refused, 2*directory)
}

// What follows an array in its archive is no part of it.
func TestNPZWithMoreThanAnArray(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("y.npy")
	require.NoError(t, err)
	_, err = io.WriteString(w, npy("'<i2'", "False", "(2,)", "\x01\x00\x02\x00\x03"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	s, err := New("f", bytes.NewReader(b.Bytes()), int64(b.Len()), Options{})
	require.NoError(t, err)
	_, err = Read(s, []Want{{}})
	assert.ErrorContains(t, err, "y.npy: bytes follow the last element")
}

func TestLIBSVM(t *testing.T) {
	s, d := readAll(t, "# from a benchmark\n+1 1:0.5 4:-2 # a note\n\n-1 qid:7 2:1e1\n")
	assert.Equal(t, []string{"label", "1", "2", "3", "4"}, s.Columns())
	assert.Equal(t, [][]float64{{1, -1}, {0.5, 0}, {0, 10}, {0, 0}, {-2, 0}},
		[][]float64{d.Numbers[0], d.Numbers[1], d.Numbers[2], d.Numbers[3], d.Numbers[4]})

	// Columns that a model has and this file does not list are 0; indices may begin with 0.
	s, err := New("f", strings.NewReader("2 0:1\n3 1:1\n"), -1, Options{Sparse: []string{"label", "3"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"label", "0", "1", "2", "3"}, s.Columns())
	d, err = Read(s, []Want{{Column: 0, Kind: Label}, {Column: 4}})
	require.NoError(t, err)
	assert.Equal(t, []string{"2", "3"}, d.Labels[0])
	assert.Equal(t, []float64{0, 0}, d.Numbers[4])

	for in, want := range map[string]string{
		"1 1:2\n1 x:2\n":            `f: row 2 (line 2): "x:2" is not an index with a value, such as 3:0.5`,
		"1 1:2 1:3\n":               "f: row 1 (line 1): index 1 is there twice",
		"1 1:2\n1 2:NaN\n":          `f: row 2 (line 2): "2:NaN": NaN is not a finite number`,
		"1 1:2\n1 99999999999:2\n":  `f: row 2 (line 2): "99999999999:2" is not an index with a value, such as 3:0.5`,
		"1 1:2\n1 2:3 -1:3 " + "\n": `f: row 2 (line 2): "-1:3" is not an index with a value, such as 3:0.5`,
	} {
		_, err := New("f", strings.NewReader(in), -1, Options{})
		assert.EqualError(t, err, want)
	}
	// So few bytes do not take the memory of a table that hardly anything is in.
	s, err = New("f", strings.NewReader(strings.Repeat("1 400000:1\n", 3000)), -1, Options{})
	require.NoError(t, err)
	want := make([]Want, len(s.Columns()))
	for j := range want {
		want[j].Column = j
	}
	_, err = Read(s, want)
	assert.EqualError(t, err, "f: the columns wanted need more memory than the 20480 MiB that there are")
}

type parquetRow struct {
	X     float64  `parquet:"x"`
	N     *int32   `parquet:"n,optional"`
	Big   uint64   `parquet:"big"`
	OK    bool     `parquet:"ok"`
	City  string   `parquet:"city,dict,zstd"`
	Day   int32    `parquet:"day,date"`
	When  int64    `parquet:"when,timestamp(microsecond)"`
	Price int64    `parquet:"price,decimal(2:10)"`
	Tags  []string `parquet:"tags,list"`
	Inner struct {
		F float32 `parquet:"f"`
	} `parquet:"inner"`
}

func parquetFile(t testing.TB) string {
	three := int32(-3)
	rows := []parquetRow{
		{X: 1.5, N: &three, Big: 1 << 40, OK: true, City: "Ulm", Day: 1, When: 43_200_000_000, Price: -250, Tags: []string{"a", "b"}},
		{X: 2.5, City: "Bonn", Day: -1},
	}
	rows[1].Inner.F = 0.25
	var b bytes.Buffer
	w := parquet.NewGenericWriter[parquetRow](&b)
	_, err := w.Write(rows[:1])
	require.NoError(t, err)
	require.NoError(t, w.Flush()) // two groups of rows
	_, err = w.Write(rows[1:])
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func TestParquet(t *testing.T) {
	s, d := readAll(t, parquetFile(t))
	at := map[string]int{}
	for j, name := range s.Columns() {
		at[name] = j
	}
	assert.Equal(t, 2, s.Rows())
	assert.Equal(t, []string{"columns of lists are left out: tags"}, s.Remarks())
	assert.Equal(t, []float64{1.5, 2.5}, d.Numbers[at["x"]])
	assert.Equal(t, "[-3 NaN]", fmt.Sprint(d.Numbers[at["n"]]))
	assert.Equal(t, []float64{1 << 40, 0}, d.Numbers[at["big"]])
	assert.Equal(t, []float64{1, 0}, d.Numbers[at["ok"]])
	assert.Equal(t, []string{"Ulm", "Bonn"}, d.Labels[at["city"]])
	assert.Equal(t, []float64{1, -1}, d.Numbers[at["day"]])
	assert.Equal(t, []float64{0.5, 0}, d.Numbers[at["when"]])
	assert.Equal(t, []float64{-2.5, 0}, d.Numbers[at["price"]])
	assert.Equal(t, []float64{0, 0.25}, d.Numbers[at["inner.f"]])
	assert.Equal(t, []Type{Numeric, Boolean, Text, Date, Date}, []Type{
		d.Types[at["x"]], d.Types[at["ok"]], d.Types[at["city"]], d.Types[at["day"]], d.Types[at["when"]]})

	// As labels and as numbers that have to be there.
	s, err := New("f", strings.NewReader(parquetFile(t)), -1, Options{})
	require.NoError(t, err)
	_, err = Read(s, []Want{{Column: at["n"]}})
	assert.EqualError(t, err, fmt.Sprintf(`f: row 2, column %d "n": the cell is empty`, at["n"]+1))
	s, err = New("f", strings.NewReader(parquetFile(t)), -1, Options{})
	require.NoError(t, err)
	d, err = Read(s, []Want{{Column: at["big"], Kind: Label}, {Column: at["n"], Kind: Optional}, {Column: at["city"], Kind: Undecided}})
	require.NoError(t, err)
	assert.Equal(t, []string{"1099511627776", "0"}, d.Labels[at["big"]])
	assert.Equal(t, []string{"Ulm", "Bonn"}, d.Labels[at["city"]])
	assert.Empty(t, d.Types)
}

// arrowFiles are a file and a stream with the same table.
func arrowFiles(t testing.TB) (file, stream string) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "i", Type: arrow.PrimitiveTypes.Int64},
		{Name: "ok", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "kind", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "when", Type: &arrow.TimestampType{Unit: arrow.Millisecond}},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	defer b.Release()
	b.Field(0).(*array.Float32Builder).AppendValues([]float32{1.5, 0}, []bool{true, false})
	b.Field(1).(*array.Int64Builder).AppendValues([]int64{-7, 8}, nil)
	b.Field(2).(*array.BooleanBuilder).AppendValues([]bool{false, true}, nil)
	b.Field(3).(*array.StringBuilder).AppendValues([]string{"Ulm", ""}, []bool{true, false})
	require.NoError(t, b.Field(4).(*array.BinaryDictionaryBuilder).AppendString("p"))
	require.NoError(t, b.Field(4).(*array.BinaryDictionaryBuilder).AppendString("q"))
	b.Field(5).(*array.Date32Builder).AppendValues([]arrow.Date32{0, 2}, nil)
	b.Field(6).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{43_200_000, 0}, nil)
	b.Field(7).AppendNull()
	b.Field(7).AppendNull()
	batch := b.NewRecordBatch()
	defer batch.Release()
	var f, s bytes.Buffer
	fw, err := ipc.NewFileWriter(&f, ipc.WithSchema(schema), ipc.WithZstd())
	require.NoError(t, err)
	sw := ipc.NewWriter(&s, ipc.WithSchema(schema))
	for range 2 {
		require.NoError(t, fw.Write(batch))
		require.NoError(t, sw.Write(batch))
	}
	require.NoError(t, fw.Close())
	require.NoError(t, sw.Close())
	return f.String(), s.String()
}

func TestArrow(t *testing.T) {
	file, stream := arrowFiles(t)
	for _, in := range []string{file, stream} {
		s, d := readAll(t, in)
		assert.Equal(t, []string{"x", "i", "ok", "city", "kind", "day", "when"}, s.Columns())
		assert.Equal(t, []string{"columns of lists and records are left out: list"}, s.Remarks())
		assert.Equal(t, 4, d.Rows)
		assert.Equal(t, "[1.5 NaN 1.5 NaN]", fmt.Sprint(d.Numbers[0]))
		assert.Equal(t, []float64{-7, 8, -7, 8}, d.Numbers[1])
		assert.Equal(t, []float64{0, 1, 0, 1}, d.Numbers[2])
		assert.Equal(t, []string{"Ulm", "", "Ulm", ""}, d.Labels[3])
		assert.Equal(t, []string{"p", "q", "p", "q"}, d.Labels[4])
		assert.Equal(t, []float64{0, 2, 0, 2}, d.Numbers[5])
		assert.Equal(t, []float64{0.5, 0, 0.5, 0}, d.Numbers[6])
		assert.Equal(t, Boolean, d.Types[2])
		assert.Equal(t, Date, d.Types[5])
		assert.Equal(t, 2, d.Gaps[3].Count)
	}
}

// packed is a file of testdata that is written in base64.
func packed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".base64"))
	require.NoError(t, err)
	file, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r", "").Replace(string(text)))
	require.NoError(t, err)
	return string(file)
}

// TestParquetOfImpala reads a file that Apache Impala wrote, with the values that its source states.
func TestParquetOfImpala(t *testing.T) {
	s, d := readAll(t, packed(t, "alltypes_plain.parquet"))
	assert.Equal(t, []string{"id", "bool_col", "tinyint_col", "smallint_col", "int_col", "bigint_col", "float_col", "double_col",
		"date_string_col", "string_col", "timestamp_col"}, s.Columns())
	assert.Equal(t, []float64{4, 5, 6, 7, 2, 3, 0, 1}, d.Numbers[0])
	assert.Equal(t, []float64{1, 0, 1, 0, 1, 0, 1, 0}, d.Numbers[1])
	assert.Equal(t, []float64{0, 10, 0, 10, 0, 10, 0, 10}, d.Numbers[5])
	assert.Equal(t, []float64{0, float64(float32(1.1))}, d.Numbers[6][:2])
	assert.Equal(t, []float64{0, 10.1}, d.Numbers[7][:2])
	assert.Equal(t, []string{"03/01/09", "03/01/09", "04/01/09", "04/01/09", "02/01/09", "02/01/09", "01/01/09", "01/01/09"}, d.Labels[8])
	for i, month := range []time.Month{3, 3, 4, 4, 2, 2, 1, 1} {
		assert.InDelta(t, encode.Days(time.Date(2009, month, 1, 0, i%2, 0, 0, time.UTC)), d.Numbers[10][i], 1e-9)
	}
}

// TestArrowOfOthers reads a file and a stream of Arrow's own tests between its implementations.
func TestArrowOfOthers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "zstd.csv"))
	require.NoError(t, err)
	_, want := readAll(t, string(text))
	require.Equal(t, 60, want.Rows)
	for _, name := range []string{"zstd.stream", "zstd.arrow_file"} {
		_, d := readAll(t, packed(t, name))
		assert.Equal(t, fmt.Sprint(want.Numbers, want.Labels), fmt.Sprint(d.Numbers, d.Labels), name)
	}
}

// TestMAT reads a file that Octave's or MATLAB's save -v7 could have written.
func TestMAT(t *testing.T) {
	matrix := func(name string, dims []int, x ...float64) string {
		word := func(v ...int) string {
			var b strings.Builder
			for _, w := range v {
				b.WriteString(string([]byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w >> 24)}))
			}
			return b.String()
		}
		padded := func(s string) string { return s + strings.Repeat("\x00", (8-len(s)%8)%8) }
		var data strings.Builder
		for _, v := range x {
			bits := math.Float64bits(v)
			data.WriteString(word(int(uint32(bits)), int(uint32(bits>>32))))
		}
		body := word(6, 8, 6, 0) + word(5, 4*len(dims)) + padded(word(dims...)) +
			word(1, len(name)) + padded(name) + word(9, data.Len()) + data.String()
		return word(14, len(body)) + body
	}
	header := "MATLAB 5.0 MAT-file" + strings.Repeat(" ", 124-19) + "\x00\x01IM"
	s, d := readAll(t, header+
		matrix("K", []int{2, 2, 2}, 1, 2, 3, 4, 5, 6, 7, 8)+
		matrix("y", []int{1, 2}, -1, 1)+
		matrix("n", []int{1, 1}, 9))
	assert.Equal(t, []string{"K.1.1", "K.1.2", "K.2.1", "K.2.2", "y"}, s.Columns())
	assert.Equal(t, []string{"arrays without 2 rows are left out: n (1)"}, s.Remarks())
	assert.Equal(t, []float64{3, 4}, d.Numbers[1])
	assert.Equal(t, []float64{5, 6}, d.Numbers[2])
	assert.Equal(t, []float64{-1, 1}, d.Numbers[4])
}

// What cannot be read is called by its name, with what makes a table of it.
func TestOtherFormats(t *testing.T) {
	var book bytes.Buffer
	z := zip.NewWriter(&book)
	_, err := z.Create("xl/workbook.xml")
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for file, want := range map[string]string{
		book.String(): "f: the Excel file has no sheet with cells",
		"\x89HDF\r\n\x1a\n" + strings.Repeat("\x00", 99):                          "f is an HDF5 file, as MATLAB's save -v7.3 writes: save it with -v7 in MATLAB",
		"MATLAB 7.3 MAT-file" + strings.Repeat(" ", 512-19) + "\x89HDF\r\n\x1a\n": "f is an HDF5 file, ",
		"SQLite format 3\x00":  "f is an SQLite database: ",
		"\xd0\xcf\x11\xe0\x00": "f is an old Excel file (.xls): ",
		"\xff\xfea\x00":        "f is text in UTF-16: ",
		"\xfd7zXZ\x00":         "f is compressed by xz: ",
		"RDX3\nX\n":            "f is an R data file: ",
		"\x80\x04\x95":         "f is a Python pickle: ",
		"% c\n@RELATION iris":  "f is an ARFF file: ",
		` [{"a": 1}]`:          "f is JSON: ",
		"<!DOCTYPE html>":      "f is a document of markup",
		"PK\x03\x04":           "f: zip: not a valid zip file",
		"PAR1":                 "f: ",
		"ARROW1\x00\x00":       "f: ",
		"\xff\xff\xff\xff":     "f: neither text nor ",
		"a\x00":                "f: neither text nor an Excel, NPY, NPZ, Parquet, Arrow, LIBSVM, FASTA or MATLAB file: byte 2 is zero",
	} {
		_, err := New("f", strings.NewReader(file), -1, Options{})
		assert.ErrorContains(t, err, want)
		assert.True(t, strings.HasPrefix(fmt.Sprint(err), want[:min(len(want), 3)]), "%v", err)
	}
}

// FuzzFormats reads what is nearly a file of the binary formats: damaged files are
// errors, and take no memory that they have no bytes for.
func FuzzFormats(f *testing.F) {
	file, stream := arrowFiles(f)
	f.Add([]byte(file))
	f.Add([]byte(stream))
	f.Add([]byte(parquetFile(f)))
	f.Add(npzFile(f))
	f.Add([]byte("1 1:2 3:4\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := New("f", bytes.NewReader(in), int64(len(in)), Options{})
		if err != nil {
			return
		}
		d, err := Read(s, []Want{{Kind: Any, Lenient: true}})
		if err == nil && len(d.Numbers[0])+len(d.Labels[0]) != d.Rows {
			t.Fatalf("%d rows, %d numbers, %d labels", d.Rows, len(d.Numbers[0]), len(d.Labels[0]))
		}
	})
}

// TestDamaged cuts and changes files of the binary formats.
func TestDamaged(t *testing.T) {
	file, stream := arrowFiles(t)
	for _, whole := range []string{file, stream, parquetFile(t), string(npzFile(t))} {
		for at := 0; at < len(whole); at += 29 {
			changed := []byte(whole)
			changed[at] ^= 0x55
			for _, in := range []string{whole[:at], string(changed)} {
				s, err := New("f", strings.NewReader(in), int64(len(in)), Options{})
				if err != nil {
					continue
				}
				var want []Want
				for j := range s.Columns()[:min(10, len(s.Columns()))] {
					want = append(want, Want{Column: j, Kind: Any})
				}
				_, _ = Read(s, want) // must not panic
			}
		}
	}
}

func TestFASTA(t *testing.T) {
	s, d := readAll(t, ">a first of two\nACG\nT\n>b\nGG\n")
	assert.Equal(t, []string{"id", "description", "sequence"}, s.Columns())
	assert.Equal(t, map[int][]string{0: {"a", "b"}, 1: {"first of two", ""}, 2: {"ACGT", "GG"}}, d.Labels)
	_, err := New("f", strings.NewReader(">\nACG\n"), -1, Options{})
	assert.EqualError(t, err, "f: FASTA line 1: the entry has no name")
}

// A page that LZ4 cannot unpack is an error, and takes no memory without end.
func TestParquetOfDamagedLZ4(t *testing.T) {
	type row struct {
		X float64 `parquet:"x,lz4"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	_, err := w.Write([]row{{1}, {1}, {2}})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, d := readAll(t, b.String())
	assert.Equal(t, []float64{1, 1, 2}, d.Numbers[0])
	wrong := 0
	for at := 4; at < 100; at++ {
		file := bytes.Clone(b.Bytes())
		file[at] ^= 0x0f
		s, err := New("f", bytes.NewReader(file), int64(len(file)), Options{})
		if err == nil {
			_, err = Read(s, []Want{{Kind: Any, Lenient: true}})
		}
		if err != nil {
			wrong++
		}
	}
	assert.Positive(t, wrong)
}
