package matfile

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What scipy.io.savemat (SciPy 1.10) wrote, without and with do_compression, for
//
//	a = np.array([[1,-2,3],[4,5.5,-6]])
//	{'a': a, 'half': a.astype('f4'), 'i8': np.array([[1,-2]],'i1'), 'u16': np.array([[65535],[2]],'u2'),
//	 'i64': np.array([[-(2**40)]]), 'text': 'hello', 'cell': np.array([1,'x'],dtype=object),
//	 'z': np.array([[1+2j]]), 'cube': np.arange(24.).reshape(2,3,4), 'flag': np.array([[True,False]]),
//	 'empty': np.zeros((0,3)), 's': {'f': 1.0}}
const plain = "TUFUTEFCIDUuMCBNQVQtZmlsZSBQbGF0Zm9ybTogcG9zaXgsIENyZWF0ZWQgb246IFNhdCBOb3YgMjEgMTA6MzI6MTAgMjAyNgAAAAAAAAAAAA" +
	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABSU0OAAAAYAAAAAYAAAAIAAAABgAAAAAAAAAFAAAACAAAAAIAAAAD" +
	"AAAAAQABAGEAAAAJAAAAMAAAAAAAAAAAAPA/AAAAAAAAEEAAAAAAAAAAwAAAAAAAABZAAAAAAAAACEAAAAAAAAAYwA4AAABIAAAABgAAAAgAAA" +
	"AHAAAAAAAAAAUAAAAIAAAAAgAAAAMAAAABAAQAaGFsZgcAAAAYAAAAAACAPwAAgEAAAADAAACwQAAAQEAAAMDADgAAADAAAAAGAAAACAAAAAgA" +
	"AAAAAAAABQAAAAgAAAABAAAAAgAAAAEAAgBpOAAAAQACAAH+AAAOAAAAMAAAAAYAAAAIAAAACwAAAAAAAAAFAAAACAAAAAIAAAABAAAAAQADAH" +
	"UxNgAEAAQA//8CAA4AAAA4AAAABgAAAAgAAAAOAAAAAAAAAAUAAAAIAAAAAQAAAAEAAAABAAMAaTY0AAwAAAAIAAAAAAAAAAD///8OAAAAOAAA" +
	"AAYAAAAIAAAABAAAAAAAAAAFAAAACAAAAAEAAAAFAAAAAQAEAHRleHQQAAAABQAAAGhlbGxvAAAADgAAAKAAAAAGAAAACAAAAAEAAAAAAAAABQ" +
	"AAAAgAAAABAAAAAgAAAAEABABjZWxsDgAAADgAAAAGAAAACAAAAA4AAAAAAAAABQAAAAgAAAABAAAAAQAAAAEAAAAAAAAADAAAAAgAAAABAAAA" +
	"AAAAAA4AAAAwAAAABgAAAAgAAAAEAAAAAAAAAAUAAAAIAAAAAQAAAAEAAAABAAAAAAAAABAAAQB4AAAADgAAAEgAAAAGAAAACAAAAAYIAAAAAA" +
	"AABQAAAAgAAAABAAAAAQAAAAEAAQB6AAAACQAAAAgAAAAAAAAAAADwPwkAAAAIAAAAAAAAAAAAAEAOAAAA+AAAAAYAAAAIAAAABgAAAAAAAAAF" +
	"AAAADAAAAAIAAAADAAAABAAAAAAAAAABAAQAY3ViZQkAAADAAAAAAAAAAAAAAAAAAAAAAAAoQAAAAAAAABBAAAAAAAAAMEAAAAAAAAAgQAAAAA" +
	"AAADRAAAAAAAAA8D8AAAAAAAAqQAAAAAAAABRAAAAAAAAAMUAAAAAAAAAiQAAAAAAAADVAAAAAAAAAAEAAAAAAAAAsQAAAAAAAABhAAAAAAAAA" +
	"MkAAAAAAAAAkQAAAAAAAADZAAAAAAAAACEAAAAAAAAAuQAAAAAAAABxAAAAAAAAAM0AAAAAAAAAmQAAAAAAAADdADgAAADAAAAAGAAAACAAAAA" +
	"kCAAAAAAAABQAAAAgAAAABAAAAAgAAAAEABABmbGFnAgACAAEAAAAOAAAAOAAAAAYAAAAIAAAABgAAAAAAAAAFAAAACAAAAAAAAAADAAAAAQAA" +
	"AAUAAABlbXB0eQAAAAkAAAAAAAAADgAAAHgAAAAGAAAACAAAAAIAAAAAAAAABQAAAAgAAAABAAAAAQAAAAEAAQBzAAAABQAEAAIAAAABAAIAZg" +
	"AAAA4AAAA4AAAABgAAAAgAAAAGAAAAAAAAAAUAAAAIAAAAAQAAAAEAAAABAAAAAAAAAAkAAAAIAAAAAAAAAAAA8D8="

const compressed = "TUFUTEFCIDUuMCBNQVQtZmlsZSBQbGF0Zm9ybTogcG9zaXgsIENyZWF0ZWQgb246IFNhdCBOb3YgMjEgMTA6MzI6MTAgMjAyNgAAAAAAAAAAAA" +
	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABSU0PAAAAOgAAAHic42NgYEgAYjYg5oDSIMAK5TMBMTMQMwJhIpDm" +
	"BGIDBhj4YA+hBRygAgcglBiUzwGlJQ4AALLpBOYPAAAAPAAAAHic42NgYPAAYjYg5gBidgYIYIXymYCYGYgZGVgYMhJz0kDyEmAVDfZA7ABkHG" +
	"Bg2ACkHYD4wAEAlCgHbA8AAAAmAAAAeJzjY2BgMABiNiDmgGIQYIWyGYGYCUwzMWRaQGjGfwwMAB0aAgsPAAAAKwAAAHic42NgYDAAYjYg5gBi" +
	"bgYIYIXymYCYEYyZGUoNzRhYgPD/fyYGACQmA1APAAAAKgAAAHic42NgYLAAYjYg5gBiPgYIYIXyGeGYmSHTzISBByoOBv///wcAL+YEWg8AAA" +
	"AsAAAAeJzjY2BgsABiNiDmAGIWBghghfIZoWxGoExJakWJAJSfkZqTkw+kAUXmBF8PAAAAQAAAAHic42NgYFgAxGxAzAHEjAwQwIrEZwLTLAzJ" +
	"qTk5fEC2BZJ6PizqGZHM4UEzF6TeAEk/CwH9AkBWBZAGAJcEA+MPAAAAKwAAAHic42NgYPAAYjYg5gDRIAIIWKF8RjhmZKgC0pxQcQj4YI/KZ3" +
	"AAAE4hAo8PAAAAbAAAAHicXcg9CoNQEEbRUZOgEIKFhUUKEREJEjTmp/StJeIS3F+WZGmZT7yVA5czMxczW9RJhbjOUZ2VrwJ14O9pG6bvGGn/" +
	"2X4qtxljgxk+ce43b9wJtpjjCw1rTPGBBb4xxDtescMSP+4PpZENhQ8AAAAqAAAAeJzjY2BgMABiNiDmAGJOJgYwYIXyGYGYCUyzMKTlJKYzAX" +
	"kgMQAkOwIMDwAAACgAAAB4nONjYGCwAGI2IOaA0iDACuWDADMQM0LFUnMLSiqBNCdUDgA2UwKpDwAAADoAAAB4nONjYGCoAGI2IOYAYiYGCGCF" +
	"8hnhmJGhGCzOAlbDCCTTgDQfEFsg6WfDqR8COKHiEPDBHgCuhQM5"

func decode(t testing.TB, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	require.NoError(t, err)
	return b
}

// readAll collects every array, elements included, up to a number of elements.
func readAll(file []byte, most int) (map[string]Array, map[string][]float64, error) {
	arrays, elements := map[string]Array{}, map[string][]float64{}
	err := Read(bytes.NewReader(file), func(a Array) (Sink, error) {
		if a.Len() > most {
			return nil, nil
		}
		arrays[a.Name] = a
		elements[a.Name] = []float64{}
		return func(first int, x []float64) error {
			if first != len(elements[a.Name]) {
				return fmt.Errorf("%d elements after %d", first, len(elements[a.Name]))
			}
			elements[a.Name] = append(elements[a.Name], x...)
			return nil
		}, nil
	})
	return arrays, elements, err
}

func TestRead(t *testing.T) {
	for _, text := range []string{plain, compressed} {
		arrays, elements, err := readAll(decode(t, text), math.MaxInt)
		require.NoError(t, err)
		cube := make([]float64, 24)
		for i := range 2 {
			for j := range 3 {
				for k := range 4 {
					cube[i+2*(j+3*k)] = float64(4*(3*i+j) + k)
				}
			}
		}
		assert.Equal(t, map[string][]float64{
			"a": {1, 4, -2, 5.5, 3, -6}, "half": {1, 4, -2, 5.5, 3, -6}, "i8": {1, -2}, "u16": {65535, 2},
			"i64": {-(1 << 40)}, "z": {1}, "cube": cube, "flag": {1, 0}, "empty": {},
		}, elements)
		assert.Equal(t, []int{2, 3}, arrays["a"].Dims)
		assert.Equal(t, []int{2, 3, 4}, arrays["cube"].Dims)
		assert.Equal(t, []int{0, 3}, arrays["empty"].Dims)
		assert.True(t, arrays["z"].Complex)
	}
}

// Every shorter file is an error where an array is missing, and the checksum
// detects every changed byte of the compressed elements.
func TestDamage(t *testing.T) {
	for _, text := range []string{plain, compressed} {
		file := decode(t, text)
		_, whole, err := readAll(file, math.MaxInt)
		require.NoError(t, err)
		for n := range len(file) {
			_, part, err := readAll(file[:n], math.MaxInt)
			if err == nil {
				assert.Less(t, len(part), len(whole)+1, "cut to %d bytes", n)
				for name, x := range part {
					assert.Equal(t, whole[name], x, "cut to %d bytes", n)
				}
			}
		}
	}
	file := decode(t, compressed)
	_, whole, err := readAll(file, math.MaxInt)
	require.NoError(t, err)
	for i := 128; i < len(file); i++ {
		file[i] ^= 0x20
		if _, got, err := readAll(file, math.MaxInt); err == nil {
			for name, x := range got {
				if want, ok := whole[name]; ok {
					require.Equal(t, want, x, "byte %d", i)
				}
			}
		}
		file[i] ^= 0x20
	}
}

func TestSkip(t *testing.T) {
	stop := errors.New("enough")
	for _, text := range []string{plain, compressed} {
		var names []string
		err := Read(bytes.NewReader(decode(t, text)), func(a Array) (Sink, error) {
			names = append(names, a.Name)
			return nil, nil
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "half", "i8", "u16", "i64", "z", "cube", "flag", "empty"}, names)

		assert.ErrorIs(t, Read(bytes.NewReader(decode(t, text)), func(Array) (Sink, error) { return nil, stop }), stop)
		assert.ErrorIs(t, Read(bytes.NewReader(decode(t, text)), func(Array) (Sink, error) {
			return func(int, []float64) error { return stop }, nil
		}), stop)
	}
}

// bigEndian is a file of one double array from a machine of the other byte order.
func bigEndian(dims []int32, claimed uint32, x ...float64) []byte {
	var b, body bytes.Buffer
	put := func(v any) { _ = binary.Write(&body, binary.BigEndian, v) }
	put([]uint32{miUint32, 8, mxDouble, 0, miInt32, uint32(4 * len(dims))})
	put(dims)
	if len(dims)%2 == 1 {
		put(uint32(0))
	}
	put([]uint16{1, miInt8}) // a small element: one byte
	put([]byte("x\x00\x00\x00"))
	put([]uint32{miDouble, claimed})
	put(x)
	b.WriteString(fmt.Sprintf("%-124s", "MATLAB 5.0 MAT-file"))
	b.Write([]byte{1, 0, 'M', 'I'})
	_ = binary.Write(&b, binary.BigEndian, []uint32{miMatrix, uint32(body.Len())})
	b.Write(body.Bytes())
	return b.Bytes()
}

func TestBigEndian(t *testing.T) {
	arrays, elements, err := readAll(bigEndian([]int32{1, 2, 1}, 16, 1.5, -2), 99)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2, 1}, arrays["x"].Dims)
	assert.Equal(t, []float64{1.5, -2}, elements["x"])
}

func TestErrors(t *testing.T) {
	header := func(version, order string) []byte { return []byte(fmt.Sprintf("%-124s%s%s", "", version, order)) }
	for _, c := range []struct {
		file []byte
		want string
	}{
		{nil, "not a MAT-file: its header is cut short"},
		{header("\x00\x01", "xx"), "not a level 5 MAT-file"},
		{header("\x00\x02", "IM"), "a MAT-file of version 7.3, which is HDF5: save it with -v7"},
		{header("\x00\x03", "IM"), "a MAT-file of unknown version 0x300"},
		{append(header("\x00\x01", "IM"), 9, 0, 0, 0, 0, 0, 0, 0), "an element of type 9 where an array is expected"},
		{append(header("\x00\x01", "IM"), 15, 0, 0, 0, 1, 0, 0, 0, 0), "a compressed element: unexpected EOF"},
		{bigEndian([]int32{2, -1}, 8, 1), "an array with more than 2147483647 elements, or a negative dimension"},
		{bigEndian([]int32{65536, 65536}, 8, 1), "an array with more than 2147483647 elements, or a negative dimension"},
		{bigEndian([]int32{2, 1}, 8, 1), "x: 8 bytes where 2 elements of 8 bytes are expected"},
		{bigEndian([]int32{2, 1}, 16, 1), "x: element 1 of 2: the file is cut short"},
	} {
		_, _, err := readAll(c.file, math.MaxInt)
		require.Error(t, err, c.want)
		assert.Equal(t, c.want, err.Error())
	}
}

func FuzzMAT(f *testing.F) {
	f.Add(decode(f, plain))
	f.Add(decode(f, compressed))
	f.Add(bigEndian([]int32{1, 2}, 16, 1, 2))
	f.Fuzz(func(t *testing.T, file []byte) {
		arrays, elements, err := readAll(file, 1<<16)
		if err != nil {
			return
		}
		for name, a := range arrays {
			if a.Len() != len(elements[name]) {
				t.Fatalf("%q: %d of %d elements", name, len(elements[name]), a.Len())
			}
		}
		_ = Read(io.LimitReader(bytes.NewReader(file), int64(len(file)/2)), func(Array) (Sink, error) { return nil, nil })
	})
}
