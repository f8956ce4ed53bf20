package mkl

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/la"
)

// A file has the safetensors layout: the header's length as 8 bytes
// little-endian, the header as JSON, and the tensors' elements little-endian, one after
// the other. docs/theory/model-file.md describes it for other readers.

// tensor is a named array of float64, row-major, or of bytes.
type tensor struct {
	name  string
	shape []int
	data  []float64
	lower la.Matrix[float64] // in place of data, to write: the tensor is the rows of its lower triangle, diagonal included
	bytes []byte             // the prepared values of a compiled file; nil for numbers
}

// parts returns the numbers in their order. A triangle is not copied for a file: the factors of many classes would take much of the memory of a fit.
func (t *tensor) parts() iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		if !yield(t.data) {
			return
		}
		for i := range t.lower.Rows {
			if !yield(t.lower.Row(i)[:i+1]) {
				return
			}
		}
	}
}

// size is the number of bytes in the file.
func (t *tensor) size() int64 {
	if t.bytes != nil {
		return int64(len(t.bytes))
	}
	n := int64(t.lower.Rows)
	return 8 * (int64(len(t.data)) + n*(n+1)/2)
}

// tensorInfo is a tensor's entry in the header.
type tensorInfo struct {
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// The types of tensors: numbers, and the bytes of prepared values.
const floatsType, bytesType = "F64", "U8"

const (
	metadataKey = "__metadata__"
	checksumKey = "sha256"

	// maxHeader is the longest header that is written or read.
	maxHeader = 16 << 20

	// chunkWords is the number of elements converted at a time.
	chunkWords = 4096
)

// noChecksum replaces the checksum in the header while the file's
// SHA-256 is computed.
var noChecksum = strings.Repeat("0", 2*sha256.Size)

// writeTensors writes a file with the metadata, to which it adds the checksum. Bytes come before numbers,
// and begin at a multiple of [archive.Align] in the file.
func writeTensors(w io.Writer, metadata map[string]string, ts []tensor) error {
	ts = slices.Clone(ts)
	slices.SortStableFunc(ts, func(a, b tensor) int {
		switch numbers := a.bytes == nil; {
		case numbers == (b.bytes == nil):
			return 0
		case numbers:
			return 1
		}
		return -1
	})
	metadata[checksumKey] = noChecksum
	header := map[string]any{metadataKey: metadata}
	var end int64
	align := 8
	for _, t := range ts {
		begin, kind := end, floatsType
		if end += t.size(); t.bytes != nil {
			align, kind = archive.Align, bytesType
		}
		header[t.name] = tensorInfo{DType: kind, Shape: t.shape, Offsets: []int64{begin, end}}
	}
	head, err := json.Marshal(header)
	if err != nil {
		return err
	}
	for (8+len(head))%align != 0 {
		head = append(head, ' ')
	}
	if len(head) > maxHeader {
		return fmt.Errorf("the header takes %d bytes and may take %d: shorten names and notes", len(head), maxHeader)
	}
	head = append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...)

	sum := sha256.New()
	sum.Write(head)
	if err := writeElements(sum, ts); err != nil {
		return err
	}
	at, err := findChecksum(head)
	if err != nil {
		return err
	}
	hex.Encode(head[at:], sum.Sum(nil))

	b := bufio.NewWriterSize(w, 8*chunkWords)
	if _, err := b.Write(head); err != nil {
		return err
	}
	if err := writeElements(b, ts); err != nil {
		return err
	}
	return b.Flush()
}

func writeElements(w io.Writer, ts []tensor) error {
	buf := make([]byte, 0, 8*chunkWords)
	for _, t := range ts {
		if _, err := w.Write(t.bytes); err != nil {
			return err
		}
		for part := range t.parts() {
			for chunk := range slices.Chunk(part, chunkWords) {
				buf = buf[:0]
				for _, v := range chunk {
					buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
				}
				if _, err := w.Write(buf); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// findChecksum returns where the checksum's digits are in the header. Quotation
// marks inside JSON strings are escaped, so only the key itself matches.
func findChecksum(head []byte) (int, error) {
	key := []byte(`"` + checksumKey + `":"`)
	at := bytes.Index(head, key)
	if at < 0 || at+len(key)+len(noChecksum) >= len(head) || head[at+len(key)+len(noChecksum)] != '"' {
		return 0, errors.New("the header has no checksum")
	}
	if bytes.Contains(head[at+1:], key) {
		return 0, errors.New("the header has two checksums")
	}
	return at + len(key), nil
}

// readTensors reads a file to its end. It takes memory in proportion to what it
// has read, whatever lengths the file claims. It checks the layout and the
// checksum, but not which tensors there are.
func readTensors(r io.Reader) (metadata map[string]string, ts map[string]tensor, err error) {
	return readTensorsIn(r, nil)
}

// readTensorsIn is readTensors of a file that lies in memory, where the tensors of bytes stay. With nil it copies them.
func readTensorsIn(r io.Reader, memory []byte) (metadata map[string]string, ts map[string]tensor, err error) {
	sum, there := sha256.New(), bytesOf(r)
	b := bufio.NewReaderSize(r, 8*chunkWords)
	var length [8]byte
	if _, err := io.ReadFull(b, length[:]); err != nil {
		return nil, nil, fmt.Errorf("the header's length: %w", noEOF(err))
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return nil, nil, fmt.Errorf("it is not a model file: it begins with %q", length[:])
	}
	var head bytes.Buffer
	if _, err := io.CopyN(&head, b, int64(n)); err != nil {
		return nil, nil, fmt.Errorf("the header: %w", noEOF(err))
	}
	metadata, infos, err := parseHeader(head.Bytes())
	if err != nil {
		return nil, nil, fmt.Errorf("the header: %w", err)
	}
	at, err := findChecksum(head.Bytes())
	if err != nil {
		return nil, nil, err
	}
	want := string(head.Bytes()[at : at+len(noChecksum)])
	copy(head.Bytes()[at:], noChecksum)
	sum.Write(length[:])
	sum.Write(head.Bytes())

	ts = make(map[string]tensor, len(infos))
	payload, chunk := io.TeeReader(b, sum), make([]byte, 8*chunkWords)
	whole := len(infos) > 0 && infos[len(infos)-1].Offsets[1] <= there
	for _, in := range infos {
		if in.DType == bytesType {
			first := int64(len(length)) + int64(n)
			data, err := readBytes(payload, in.Offsets[1]-in.Offsets[0], memory, first+in.Offsets[0])
			if err != nil {
				return nil, nil, fmt.Errorf("tensor %q: %w", in.name, err)
			}
			ts[in.name] = tensor{name: in.name, shape: in.Shape, bytes: data}
			continue
		}
		data, err := readElements(payload, (in.Offsets[1]-in.Offsets[0])/8, whole, chunk)
		if err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", in.name, err)
		}
		ts[in.name] = tensor{name: in.name, shape: in.Shape, data: data}
	}
	if _, err := b.ReadByte(); err != io.EOF {
		if err == nil {
			err = errors.New("bytes follow the last tensor")
		}
		return nil, nil, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return nil, nil, errors.New("the checksum does not match: the file is damaged")
	}
	return metadata, ts, nil
}

// readBytes reads n bytes, which are a part of memory from first on if that is not nil.
func readBytes(r io.Reader, n int64, memory []byte, first int64) ([]byte, error) {
	if memory != nil {
		if _, err := io.CopyN(io.Discard, r, n); err != nil {
			return nil, noEOF(err)
		}
		return memory[first : first+n : first+n], nil
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, n); err != nil {
		return nil, noEOF(err)
	}
	return b.Bytes(), nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// bytesOf returns the number of bytes that r has, or 0 where that is not known.
func bytesOf(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Len() int }:
		return int64(r.Len())
	case *os.File:
		if info, err := r.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}

// readElements reads n elements through the scratch chunk. there says that the file has them; otherwise memory grows with what was read.
func readElements(r io.Reader, n int64, there bool, chunk []byte) ([]float64, error) {
	room := n
	if !there {
		room = min(n, chunkWords)
	}
	data := make([]float64, 0, room)
	for n > 0 {
		if len(data) == cap(data) {
			data = append(make([]float64, 0, min(2*int64(len(data)), int64(len(data))+n)), data...)
		}
		part := chunk[:8*min(n, chunkWords)]
		if _, err := io.ReadFull(r, part); err != nil {
			return nil, noEOF(err)
		}
		for i := 0; i < len(part); i += 8 {
			data = append(data, math.Float64frombits(binary.LittleEndian.Uint64(part[i:])))
		}
		n -= int64(len(part) / 8)
	}
	return data, nil
}

type namedInfo struct {
	name string
	tensorInfo
}

// parseHeader returns the metadata and the tensors in the order of their
// elements, which fill the rest of the file without gap or overlap.
func parseHeader(head []byte) (metadata map[string]string, infos []namedInfo, err error) {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(head, &entries); err != nil {
		return nil, nil, err
	}
	for name, raw := range entries {
		if name == metadataKey {
			if err := json.Unmarshal(raw, &metadata); err != nil {
				return nil, nil, err
			}
			continue
		}
		in := namedInfo{name: name}
		if err := json.Unmarshal(raw, &in.tensorInfo); err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		if err := in.check(strings.HasPrefix(name, preparedPrefix)); err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		infos = append(infos, in)
	}
	slices.SortFunc(infos, func(a, b namedInfo) int {
		for i := range a.Offsets {
			if a.Offsets[i] != b.Offsets[i] {
				if a.Offsets[i] < b.Offsets[i] {
					return -1
				}
				return 1
			}
		}
		return strings.Compare(a.name, b.name)
	})
	var end int64
	for _, in := range infos {
		if in.Offsets[0] != end {
			return nil, nil, fmt.Errorf("tensor %q: begins at byte %d where %d is expected", in.name, in.Offsets[0], end)
		}
		end = in.Offsets[1]
	}
	return metadata, infos, nil
}

// check checks the entry of a tensor of numbers or, if prepared, of bytes.
func (in tensorInfo) check(prepared bool) error {
	want, size := floatsType, int64(8)
	if prepared {
		want, size = bytesType, 1
	}
	if in.DType != want {
		return fmt.Errorf("dtype is %q where %s is expected", in.DType, want)
	}
	if len(in.Offsets) != 2 || in.Offsets[0] < 0 || in.Offsets[1] < in.Offsets[0] {
		return fmt.Errorf("data_offsets are %v", in.Offsets)
	}
	for _, d := range in.Shape {
		if d < 0 || d > 0 && size > math.MaxInt64/int64(d) {
			return fmt.Errorf("shape is %v", in.Shape)
		}
		size *= int64(d)
	}
	if size != in.Offsets[1]-in.Offsets[0] {
		return fmt.Errorf("shape %v takes %d bytes and data_offsets are %v", in.Shape, size, in.Offsets)
	}
	return nil
}
