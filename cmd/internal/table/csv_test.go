package table

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func text(s string, opt Options) (Source, error) {
	return New("d.csv", strings.NewReader(s), int64(len(s)), opt)
}

func TestCSV(t *testing.T) {
	for _, c := range []struct {
		name, in string
		opt      Options
		columns  []string
		want     [][]float64
	}{
		{"header", "a,b\n1,2\n3,4\n", Options{}, []string{"a", "b"}, [][]float64{{1, 2}, {3, 4}}},
		{"no header", "1,2\n3,4", Options{}, []string{"1", "2"}, [][]float64{{1, 2}, {3, 4}}},
		{"header of numbers", "1,2\n3,4", Options{Header: HeaderYes}, []string{"1", "2"}, [][]float64{{3, 4}}},
		{"semicolons", "a;b\n1;2\n", Options{}, []string{"a", "b"}, [][]float64{{1, 2}}},
		{"tabs", "a\tb\n1\t2\n", Options{}, []string{"a", "b"}, [][]float64{{1, 2}}},
		{"names with another separator", "id\td;p;x\td;p;y\n1\t2\t3\n", Options{}, []string{"id", "d;p;x", "d;p;y"}, [][]float64{{1, 2, 3}}},
		{"quoted names with another separator", "id;\"a,b,c\"\n1;2\n", Options{}, []string{"id", "a,b,c"}, [][]float64{{1, 2}}},
		{"byte order mark, CRLF, quotes, spaces", "\xef\xbb\xbf\"a,b\", c \r\n 1 ,\"2e1\"\r\n", Options{}, []string{"a,b", "c"}, [][]float64{{1, 20}}},
		{"chosen separator", "a|b,c\n1|2\n", Options{Separator: '|'}, []string{"a", "b,c"}, [][]float64{{1, 2}}},
		{"spaces", "a  b\n1   2\n", Options{Separator: ' '}, []string{"a", "b"}, [][]float64{{1, 2}}},
		{"empty lines", "a\n\n1\n\n2\n", Options{}, []string{"a"}, [][]float64{{1}, {2}}},
		{"header alone", "a,b\n", Options{}, []string{"a", "b"}, [][]float64{}},
		{"denormal", "a\n5e-324\n", Options{}, []string{"a"}, [][]float64{{5e-324}}},
	} {
		s, err := text(c.in, c.opt)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.columns, s.Columns(), c.name)
		assert.Equal(t, c.want, all(t, s), c.name)
	}
}

func TestCSVKinds(t *testing.T) {
	s, err := text("id,x,y,z\na,1,NA,oops\n b ,2,,\nc,3,4.5,nan\n", Options{})
	require.NoError(t, err)
	d, err := Read(s, []Want{{Column: 2, Kind: Optional}, {Column: 0, Kind: Label}, {Column: 1, Kind: Number}})
	require.NoError(t, err)
	assert.Equal(t, 3, d.Rows)
	assert.Equal(t, []string{"a", "b", "c"}, d.Labels[0])
	assert.Equal(t, []float64{1, 2, 3}, d.Numbers[1])
	assert.True(t, math.IsNaN(d.Numbers[2][0]) && math.IsNaN(d.Numbers[2][1]))
	assert.Equal(t, 4.5, d.Numbers[2][2])

	s, err = text("y\nyes\n\"\"\nNA\nnan\nno\n", Options{})
	require.NoError(t, err)
	d, err = Read(s, []Want{{Column: 0, Kind: OptionalLabel}})
	require.NoError(t, err)
	assert.Equal(t, []string{"yes", "", "", "", "no"}, d.Labels[0])
}

// TestDecide decides what a column is after it was read.
func TestDecide(t *testing.T) {
	read := func(cells string) Data {
		s, err := text("x,y\n1,"+strings.ReplaceAll(cells, ";", "\n\n1,")+"\n", Options{})
		require.NoError(t, err)
		d, err := Read(s, []Want{{Column: 1, Kind: Undecided}, {Column: 0, Kind: Number}})
		require.NoError(t, err)
		return d
	}
	d := read("2.5;-1;1e3")
	assert.Equal(t, []string{"2.5", "-1", "1e3"}, d.Labels[1])
	require.NoError(t, d.Decide(1, Number))
	assert.Equal(t, []float64{2.5, -1, 1000}, d.Numbers[1])
	assert.NotContains(t, d.Labels, 1)

	d = read("2.5;NA;")
	require.NoError(t, d.Decide(1, Optional))
	assert.Equal(t, 2.5, d.Numbers[1][0])
	assert.True(t, math.IsNaN(d.Numbers[1][1]) && math.IsNaN(d.Numbers[1][2]))

	d = read("yes;NA;")
	require.NoError(t, d.Decide(1, OptionalLabel))
	assert.Equal(t, []string{"yes", "", ""}, d.Labels[1])

	for _, c := range []struct {
		cells string
		kind  Kind
		want  string
	}{
		{"2;NA", Number, `d.csv: row 2 (line 4), column 2 "y": "NA" is not a number`},
		{"2;3;", Number, `d.csv: row 3 (line 6), column 2 "y": the cell is empty`},
		{"a;;b", Label, `d.csv: row 2 (line 4), column 2 "y": the cell is empty`},
	} {
		d := read(c.cells)
		assert.EqualError(t, d.Decide(1, c.kind), c.want)
	}
}

// TestNamesOfRows reads texts whose first line has no name for the names of the rows, as R's write.table writes them. Rows with a cell that
// may be half a number, or that is empty, are refused.
func TestNamesOfRows(t *testing.T) {
	const remark = "the first line has one name fewer than the rows have cells: the first column has the names of the rows"
	for in, want := range map[string]string{
		"a\tb\nMazda RX4\t21\t6\nFiat\t22,8\t4\n":           "Mazda RX4,Fiat",
		`"a","b"` + "\n" + `"1",21,6` + "\r\n" + `"2",22,4`: "1,2",
		"# made by R\na;b\n\n" + `"7";21;6`:                 "7",
		"a\tb\n1\t21\t6\n2\t22\t4\n":                        "1,2",
	} {
		s, err := text(in, Options{Decimal: '.'})
		require.NoError(t, err, in)
		assert.Equal(t, []string{"1", "a", "b"}, s.Columns(), in)
		assert.Equal(t, []string{remark}, s.Remarks(), in)
		d, err := Read(s, []Want{{Column: 0, Kind: Label}, {Column: 2}})
		require.NoError(t, err, in)
		assert.Equal(t, want, strings.Join(d.Labels[0], ","))
		assert.Equal(t, 6.0, d.Numbers[2][0])
	}
	for _, in := range []string{"a,b\n1,5,2\n", "a,b\nx,2,\n", "a;b\n1,5;2;3\n", "a,b\n1,2\nx,2,3\n", "a,b\nx,1,2,3\n"} {
		s, err := text(in, Options{})
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, s.Columns(), in)
		_, err = Read(s, []Want{{Column: 0, Kind: Label}})
		assert.ErrorContains(t, err, " cells where there are 2 columns", in)
	}
}

// TestSpaces recognises spaces that separate cells, as R's write.table and NumPy's savetxt write them by default.
func TestSpaces(t *testing.T) {
	const remark = "spaces separate the cells (-separator , reads each line as one cell)"
	for in, want := range map[string]string{
		`"Eth" "Days"` + "\n" + `"1" "A B" 2` + "\n" + `"2" "N" 11` + "\n": "1,Eth,Days",
		"a b\n1.5e+00 2\n3 4":                       "a,b",
		"# a b\n1.0e+00 2.0e+00\n3.0e+00 4.0e+00\n": "a,b",
		"speed dist\n1 4 2\n2 4 10\n":               "1,speed,dist",
	} {
		s, err := text(in, Options{})
		require.NoError(t, err, in)
		assert.Equal(t, strings.Split(want, ","), s.Columns(), in)
		assert.Contains(t, s.Remarks(), remark, in)
		last := len(s.Columns()) - 1
		d, err := Read(s, []Want{{Column: last}})
		require.NoError(t, err, in)
		assert.Equal(t, 2, d.Rows)
		assert.Equal(t, 2.0, d.Numbers[last][0])
	}
	for _, in := range []string{"full name\nAnn Lee\nBo\n", "full name\nAnn Lee\nBo Xu\n", "a b\n", "x\n1\n2\n", "a b\n1 2 3 4\n"} {
		s, err := text(in, Options{})
		require.NoError(t, err)
		assert.Len(t, s.Columns(), 1, in)
	}
}

func TestCSVErrors(t *testing.T) {
	for _, c := range []struct {
		in   string
		opt  Options
		want string
	}{
		{"", Options{}, "d.csv: the file is empty"},
		{"a\x00b", Options{}, "d.csv: neither text nor an Excel, NPY, NPZ, Parquet, Arrow, LIBSVM, FASTA or MATLAB file: byte 2 is zero"},
		{"a,b\n1,2\n1\n", Options{}, "d.csv: row 2 (line 3): 1 cell where there are 2 columns"},
		{"a,b\n1,2,3\n", Options{}, "d.csv: row 1 (line 2): 3 cells where there are 2 columns: if the rows begin with names, the first line needs a name for them too"},
		{"1,2\n\n1,2,3\n", Options{}, "d.csv: row 2 (line 3): 3 cells where there are 2 columns"},
		{"a,b\n1,x\n", Options{}, `d.csv: row 1 (line 2), column 2 "b": "x" is not a number`},
		{"1,2\n3,4x", Options{}, `d.csv: row 2 (line 2), column 2: "4x" is not a number`},
		{"a,b\n\"1\n2\",1\n", Options{}, `d.csv: row 1 (line 2), column 1 "a": "1\n2" is not a number`},
		{"a\n1,5\n", Options{Separator: ';', Decimal: '.'}, `d.csv: row 1 (line 2), column 1 "a": "1,5" is not a number`},
		{"a,b\n1,\n", Options{}, `d.csv: row 1 (line 2), column 2 "b": the cell is empty`},
		{"a,b\n1,NA\n", Options{}, `d.csv: row 1 (line 2), column 2 "b": "NA" is not a number`},
		{"a,b\n1,Inf\n", Options{}, `d.csv: row 1 (line 2), column 2 "b": Inf is not a finite number`},
		{"a,b\n1,1e999\n", Options{}, `d.csv: row 1 (line 2), column 2 "b": 1e999 is outside the range of a float64`},
		{"a\n" + strings.Repeat("é", 99), Options{}, `d.csv: row 1 (line 2), column 1 "a": "` + strings.Repeat("é", 20) + `…" is not a number`},
		{"a,b\n1,\"2\n", Options{}, `d.csv: row 1 (line 2): extraneous or missing " in quoted-field`},
	} {
		s, err := text(c.in, c.opt)
		if err == nil {
			var want []Want
			for j := range s.Columns() {
				want = append(want, Want{Column: j})
			}
			_, err = Read(s, want)
		}
		require.Error(t, err, c.in)
		assert.Equal(t, c.want, err.Error())
	}
	s, err := text("a\n\"\"\n", Options{})
	require.NoError(t, err)
	_, err = Read(s, []Want{{Column: 0, Kind: Label}})
	assert.EqualError(t, err, `d.csv: row 1 (line 2), column 1 "a": the cell is empty`)
}

func FuzzCSV(f *testing.F) {
	f.Add("a,b\n1,2\n")
	f.Add("1;\"x\n\";3\n4;5;6\n")
	f.Add("\xef\xbb\xbfa\tb\nNA\t\n")
	f.Fuzz(func(t *testing.T, in string) {
		s, err := text(in, Options{})
		if err != nil {
			return
		}
		last := len(s.Columns()) - 1
		want := []Want{{Column: 0, Kind: Optional}}
		if last > 0 {
			want = append(want, Want{Column: last, Kind: Label})
		}
		d, err := Read(s, want)
		if err == nil && (len(d.Numbers[0]) != d.Rows || last > 0 && len(d.Labels[last]) != d.Rows) {
			t.Fatalf("%d rows, %d numbers, %d labels", d.Rows, len(d.Numbers[0]), len(d.Labels[last]))
		}
	})
}
