package table

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func pad(n int) string { return strings.Repeat(" ", n) }

func open(t testing.TB, file string) Source {
	t.Helper()
	s, err := New("x.npy", strings.NewReader(file), int64(len(file)), Options{})
	require.NoError(t, err)
	return s
}

// all reads every column as numbers, row by row.
func all(t testing.TB, s Source) [][]float64 {
	t.Helper()
	var want []Want
	for j := range s.Columns() {
		want = append(want, Want{Column: j})
	}
	d, err := Read(s, want)
	require.NoError(t, err)
	rows := make([][]float64, d.Rows)
	for i := range rows {
		for j := range want {
			rows[i] = append(rows[i], d.Numbers[j][i])
		}
	}
	return rows
}

// The files are what numpy.save (NumPy 1.24) wrote for the expression, where
// a is [[1,-2,3],[4,5.5,-6]].
func TestNPYNumbers(t *testing.T) {
	a := [][]float64{{1, -2, 3}, {4, 5.5, -6}}
	rounded := [][]float64{{1, -2, 3}, {4, 6, -6}}
	for _, c := range []struct {
		numpy string
		want  [][]float64
		file  string
	}{
		{"a", a,
			"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" + pad(58) + "\n\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x08@\x00\x00\x00\x00\x00\x00\x10@\x00\x00\x00\x00\x00\x00\x16@\x00\x00\x00\x00\x00\x00\x18\xc0"},
		{"np.asfortranarray(a)", a,
			"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }" + pad(59) + "\n\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x10@\x00\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x16@\x00\x00\x00\x00\x00\x00\x08@\x00\x00\x00\x00\x00\x00\x18\xc0"},
		{"a, version 2.0", a,
			"\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" + pad(56) + "\n\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x08@\x00\x00\x00\x00\x00\x00\x10@\x00\x00\x00\x00\x00\x00\x16@\x00\x00\x00\x00\x00\x00\x18\xc0"},
		{"a, version 3.0", a,
			"\x93NUMPY\x03\x00t\x00\x00\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" + pad(56) + "\n\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x08@\x00\x00\x00\x00\x00\x00\x10@\x00\x00\x00\x00\x00\x00\x16@\x00\x00\x00\x00\x00\x00\x18\xc0"},
		{"a.astype('>f8')", a,
			"\x93NUMPY\x01\x00v\x00{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3), }" + pad(58) + "\n?\xf0\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x00@\x08\x00\x00\x00\x00\x00\x00@\x10\x00\x00\x00\x00\x00\x00@\x16\x00\x00\x00\x00\x00\x00\xc0\x18\x00\x00\x00\x00\x00\x00"},
		{"a.astype('<f4')", a,
			"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" + pad(58) + "\n\x00\x00\x80?\x00\x00\x00\xc0\x00\x00@@\x00\x00\x80@\x00\x00\xb0@\x00\x00\xc0\xc0"},
		{"a.astype('>f4')", a,
			"\x93NUMPY\x01\x00v\x00{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }" + pad(58) + "\n?\x80\x00\x00\xc0\x00\x00\x00@@\x00\x00@\x80\x00\x00@\xb0\x00\x00\xc0\xc0\x00\x00"},
		{"a.astype('<f2')", a,
			"\x93NUMPY\x01\x00v\x00{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }" + pad(58) + "\n\x00<\x00\xc0\x00B\x00D\x80E\x00\xc6"},
		{"a.round().astype('<i8')", rounded,
			"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }" + pad(58) + "\n\x01\x00\x00\x00\x00\x00\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff\x03\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\xfa\xff\xff\xff\xff\xff\xff\xff"},
		{"a.round().astype('>i8')", rounded,
			"\x93NUMPY\x01\x00v\x00{'descr': '>i8', 'fortran_order': False, 'shape': (2, 3), }" + pad(58) + "\n\x00\x00\x00\x00\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xfe\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x06\xff\xff\xff\xff\xff\xff\xff\xfa"},
		{"a.round().astype('<i4')", rounded,
			"\x93NUMPY\x01\x00v\x00{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }" + pad(58) + "\n\x01\x00\x00\x00\xfe\xff\xff\xff\x03\x00\x00\x00\x04\x00\x00\x00\x06\x00\x00\x00\xfa\xff\xff\xff"},
		{"a.round().astype('>i2')", rounded,
			"\x93NUMPY\x01\x00v\x00{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }" + pad(58) + "\n\x00\x01\xff\xfe\x00\x03\x00\x04\x00\x06\xff\xfa"},
		{"a.round().astype('i1')", rounded,
			"\x93NUMPY\x01\x00v\x00{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }" + pad(58) + "\n\x01\xfe\x03\x04\x06\xfa"},
		{"np.array([[1,2],[250,0]]).astype('<u8')", [][]float64{{1, 2}, {250, 0}},
			"\x93NUMPY\x01\x00v\x00{'descr': '<u8', 'fortran_order': False, 'shape': (2, 2), }" + pad(58) + "\n\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\xfa\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"np.array([[1,2],[250,0]]).astype('>u4')", [][]float64{{1, 2}, {250, 0}},
			"\x93NUMPY\x01\x00v\x00{'descr': '>u4', 'fortran_order': False, 'shape': (2, 2), }" + pad(58) + "\n\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\xfa\x00\x00\x00\x00"},
		{"np.array([[1,2],[250,0]]).astype('<u2')", [][]float64{{1, 2}, {250, 0}},
			"\x93NUMPY\x01\x00v\x00{'descr': '<u2', 'fortran_order': False, 'shape': (2, 2), }" + pad(58) + "\n\x01\x00\x02\x00\xfa\x00\x00\x00"},
		{"np.array([[1,2],[250,0]]).astype('u1')", [][]float64{{1, 2}, {250, 0}},
			"\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }" + pad(58) + "\n\x01\x02\xfa\x00"},
		{"np.array([True,False,True])", [][]float64{{1}, {0}, {1}},
			"\x93NUMPY\x01\x00v\x00{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }" + pad(60) + "\n\x01\x00\x01"},
		{"np.array([1.5,-2.5])", [][]float64{{1.5}, {-2.5}},
			"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }" + pad(60) + "\n\x00\x00\x00\x00\x00\x00\xf8?\x00\x00\x00\x00\x00\x00\x04\xc0"},
	} {
		s := open(t, c.file)
		assert.Equal(t, len(c.want), s.Rows(), c.numpy)
		assert.Equal(t, c.want, all(t, s), c.numpy)
		// The same from a pipe, whose length nobody knows.
		s, err := New("-", strings.NewReader(c.file), -1, Options{})
		require.NoError(t, err)
		assert.Equal(t, c.want, all(t, s), c.numpy)
		// Every shorter file is refused.
		for n := len(npyMagic); n < len(c.file); n++ {
			for _, size := range []int64{int64(n), -1} {
				s, err := New("x.npy", strings.NewReader(c.file[:n]), size, Options{})
				if err == nil {
					_, err = Read(s, []Want{{Column: 0}})
				}
				require.Error(t, err, "%s cut to %d bytes", c.numpy, n)
			}
		}
	}
}

func TestNPYLabels(t *testing.T) {
	for _, c := range []struct {
		numpy string
		want  []string
		file  string
	}{
		{"np.array(['cat','naïve','x'])", []string{"cat", "naïve", "x"},
			"\x93NUMPY\x01\x00v\x00{'descr': '<U5', 'fortran_order': False, 'shape': (3,), }" + pad(60) + "\nc\x00\x00\x00a\x00\x00\x00t\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00n\x00\x00\x00a\x00\x00\x00\xef\x00\x00\x00v\x00\x00\x00e\x00\x00\x00x\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"np.array(['cat','naïve'],dtype='>U5')", []string{"cat", "naïve"},
			"\x93NUMPY\x01\x00v\x00{'descr': '>U5', 'fortran_order': False, 'shape': (2,), }" + pad(60) + "\n\x00\x00\x00c\x00\x00\x00a\x00\x00\x00t\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00n\x00\x00\x00a\x00\x00\x00\xef\x00\x00\x00v\x00\x00\x00e"},
		{"np.array([b'ab',b'c'])", []string{"ab", "c"},
			"\x93NUMPY\x01\x00v\x00{'descr': '|S2', 'fortran_order': False, 'shape': (2,), }" + pad(60) + "\nabc\x00"},
	} {
		d, err := Read(open(t, c.file), []Want{{Column: 0, Kind: Label}})
		require.NoError(t, err)
		assert.Equal(t, c.want, d.Labels[0], c.numpy)
		_, err = Read(open(t, c.file), []Want{{Column: 0}})
		assert.EqualError(t, err, "x.npy: row 1, column 1: the array holds text where numbers are needed")
	}
	d, err := Read(open(t, npy("'<i2'", "False", "(2,)", "\x03\x00\xff\xff")), []Want{{Column: 0, Kind: Label}})
	require.NoError(t, err)
	assert.Equal(t, []string{"3", "-1"}, d.Labels[0])

	d, err = Read(open(t, npy("'<f4'", "False", "(2,)", "\x00\x00\x80\x3f\x00\x00\xc0\x7f")), []Want{{Column: 0, Kind: OptionalLabel}})
	require.NoError(t, err)
	assert.Equal(t, []string{"1", ""}, d.Labels[0])
	_, err = Read(open(t, npy("'<f4'", "False", "(1,)", "\x00\x00\x80\x7f")), []Want{{Column: 0, Kind: OptionalLabel}})
	assert.EqualError(t, err, "x.npy: row 1, column 1: +Inf is not a label")
}

// npy is a file of version 1.0.
func npy(descr, fortran, shape, data string) string {
	h := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr, fortran, shape)
	return npyMagic + "\x01\x00" + string([]byte{byte(len(h)), byte(len(h) >> 8)}) + h + data
}

func TestNPYErrors(t *testing.T) {
	eight := strings.Repeat("\x00", 8)
	for _, c := range []struct{ file, want string }{
		{npyMagic + "\x04\x00", "NPY version 4.0 is not known"},
		{npyMagic + "\x02\x00\xff\xff\xff\xff", "the NPY header claims 4294967295 bytes"},
		{npy("'<f8'", "False", "(2, 2)", eight), "the file is cut short: shape (2, 2) of <f8 needs 32 bytes, there are 8"},
		{npy("'<f8'", "False", "(1, 1, 1)", eight), "an array of shape (1, 1, 1) where a vector or a matrix is needed"},
		{npy("'<f8'", "False", "()", eight), "an array of shape () where a vector or a matrix is needed"},
		{npy("'<f8'", "False", "(0, 4)", ""), "an array of shape (0, 4) is empty"},
		{npy("'<f8'", "False", "(1, 99999999)", eight), "an array of shape (1, 99999999): it has more than the 4194304 columns for which there is memory"},
		{npy("'<f8'", "False", "(9223372036854775807, 3)", eight), "an array of shape (9223372036854775807, 3) is too large"},
		{npy("'<f8'", "False", "(9223372036854775808, 3)", eight), "the NPY header: expected a dimension at \"9223372036854775808, 3), }\""},
		{npy("'<c16'", "False", "(1,)", eight), "an array of type \"<c16\": real numbers, integers, booleans and text can be read"},
		{npy("'O'", "False", "(1,)", eight), "an array of type \"O\": real numbers, integers, booleans and text can be read"},
		{npy("[('a', '<f8')]", "False", "(1,)", eight), "the NPY header: expected a quoted text at \"[('a', '<f8')], 'fortran_order': False, …\""},
		{npy("'<f8'", "Maybe", "(1,)", eight), "the NPY header: expected False at \"Maybe, 'shape': (1,), }\""},
		{npy("'<f8', 'x': 1", "False", "(1,)", eight), "the NPY header: unknown key \"x\""},
		{npy("'<f8', 'descr': '<f8'", "False", "(1,)", eight), "the NPY header: \"descr\" is there twice"},
		{npy("'<f8'", "False", "(1, 2)", eight+"\x00\x00\x00\x00\x00\x00\xf8\x7f"), "row 1, column 2: NaN is not a finite number"},
		{npy("'>f8'", "True", "(2, 1)", eight+"\xff\xf0\x00\x00\x00\x00\x00\x00"), "row 2, column 1: -Inf is not a finite number"},
	} {
		s, err := New("x.npy", strings.NewReader(c.file), int64(len(c.file)), Options{})
		if err == nil {
			var want []Want
			for j := range s.Columns() {
				want = append(want, Want{Column: j})
			}
			_, err = Read(s, want)
		}
		require.Error(t, err, c.want)
		assert.Equal(t, "x.npy: "+c.want, err.Error())
	}
}

func TestNPYMissing(t *testing.T) {
	file := npy("'<f8'", "False", "(1,)", "\x00\x00\x00\x00\x00\x00\xf8\x7f")
	d, err := Read(open(t, file), []Want{{Column: 0, Kind: Optional}})
	require.NoError(t, err)
	assert.True(t, math.IsNaN(d.Numbers[0][0]))
}

// TestNPYDecide decides that floats are numbers or labels after they were read.
func TestNPYDecide(t *testing.T) {
	file := npy("'<f8'", "False", "(2,)", "\x00\x00\x00\x00\x00\x00\xf0?"+"\x00\x00\x00\x00\x00\x00\xf8\x7f")
	read := func() Data {
		d, err := Read(open(t, file), []Want{{Column: 0, Kind: Undecided}})
		require.NoError(t, err)
		return d
	}
	d := read()
	require.NoError(t, d.Decide(0, Optional))
	assert.Equal(t, 1.0, d.Numbers[0][0])
	assert.True(t, math.IsNaN(d.Numbers[0][1]))
	d = read()
	assert.EqualError(t, d.Decide(0, Number), "x.npy: row 2, column 1: NaN is not a finite number")
	d = read()
	require.NoError(t, d.Decide(0, OptionalLabel))
	assert.Equal(t, []string{"1", ""}, d.Labels[0])
}

// Every finite binary16 is an exact float64, and conversion keeps their order.
func TestHalf(t *testing.T) {
	last := -1.0
	for h := range uint16(31 << 10) {
		x := half(h)
		require.Greater(t, x, last)
		require.Equal(t, math.Copysign(x, -1), half(h|1<<15))
		last = x
	}
	assert.Equal(t, 65504.0, last)
	assert.Equal(t, 0x1p-24, half(1))
	assert.Equal(t, 1.0, half(0x3c00))
	assert.Equal(t, math.Inf(-1), half(0xfc00))
	assert.True(t, math.IsNaN(half(0x7e00)))
}

func FuzzNPY(f *testing.F) {
	f.Add(npy("'<f8'", "False", "(1, 2)", strings.Repeat("\x00", 16)))
	f.Add(npy("'>u2'", "True", "(2, 2)", strings.Repeat("\x01", 8)))
	f.Add(npy("'<U2'", "False", "(1,)", strings.Repeat("\x01", 8)))
	f.Add(npy("'|S3'", "False", "(2L,)", "abcd\x00\x00"))
	f.Add(npyMagic + "\x02\x00\x01\x00\x00\x00{")
	f.Fuzz(func(t *testing.T, file string) {
		for _, size := range []int64{int64(len(file)), -1} {
			s, err := New("x", strings.NewReader(file), size, Options{})
			if err != nil {
				continue
			}
			columns := len(s.Columns())
			if size >= 0 && strings.HasPrefix(file, npyMagic) && columns > len(file) {
				t.Fatalf("%d columns in %d bytes", columns, len(file))
			}
			want := []Want{{Column: 0}}
			if columns > 2 {
				want = append(want, Want{Column: 1, Kind: Optional}, Want{Column: columns - 1, Kind: Label})
			}
			d, err := Read(s, want)
			if err != nil {
				continue
			}
			for j, x := range d.Numbers {
				if len(x) != d.Rows {
					t.Fatalf("column %d has %d of %d rows", j, len(x), d.Rows)
				}
			}
			for j, x := range d.Labels {
				if len(x) != d.Rows {
					t.Fatalf("column %d has %d of %d labels", j, len(x), d.Rows)
				}
			}
		}
	})
}

// Of a file whose size is not known, columns are not counted before there is a row.
func TestNPYOfManyColumnsOnAPipe(t *testing.T) {
	header := "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 4194304), }\n"
	file := "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header
	allocated := testing.AllocsPerRun(1, func() {
		_, err := New("in", strings.NewReader(file), -1, Options{})
		assert.EqualError(t, err, "in: the file is cut short: shape (1, 4194304) of <f8 needs 33554432 bytes, there are 0")
	})
	assert.Less(t, allocated, 1000.0)
	small := strings.Replace(file, "4194304", "      2", 1) + strings.Repeat("\x00", 16)
	s, err := New("in", strings.NewReader(small), -1, Options{})
	require.NoError(t, err)
	assert.Equal(t, [][]float64{{0, 0}}, all(t, s))
}
