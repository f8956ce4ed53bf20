//go:build !lean

package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

// Bounds that keep an Arrow stream from asking for more memory than a table needs.
const (
	arrowMetadata = 1 << 26 // bytes that describe a message
	arrowBody     = 1 << 30 // bytes of a message where the size of the file is not known
	arrowPacked   = 1 << 12 // bytes of all parts, once unpacked, for each byte that was read,
	arrowSmall    = 1 << 24 // and so many besides
	arrowRows     = 1 << 12 // rows of a message for each of its bytes: even packed it has not more
	arrowNested   = 64
)

// bounded refuses allocations that no table needs, of parts that are packed: the library makes the panic an error.
type bounded struct {
	memory.Allocator
	guard *arrowGuard
	taken int64 // by all parts so far
}

func (b *bounded) Allocate(n int) []byte { return b.Allocator.Allocate(b.check(n)) }
func (b *bounded) Reallocate(n int, p []byte) []byte {
	return b.Allocator.Reallocate(b.check(n), p)
}
func (b *bounded) check(n int) int {
	b.taken += int64(n)
	most := arrowSmall + arrowPacked*b.guard.seen
	if !b.guard.piped {
		most += b.guard.most // the message that is read next
	}
	if b.taken > most {
		panic(fmt.Errorf("parts of %d bytes", b.taken))
	}
	return n
}

// arrowGuard hands on an Arrow stream message by message, once it has checked that what describes
// the message has the lists that it claims: the library would make room for them before it
// looks. https://arrow.apache.org/docs/format/Columnar.html has the layout.
type arrowGuard struct {
	r       io.Reader
	most    int64        // bytes that a message can have
	piped   bool         // the size of the file is not known
	marked  bool         // a stream without a mark at its end is cut short
	pending bytes.Reader // the front of a message
	body    int64        // bytes of the message that follow
	seen    int64        // bytes that were read
	ended   bool
}

func (g *arrowGuard) Read(p []byte) (int, error) {
	for g.pending.Len() == 0 && g.body == 0 {
		if g.ended {
			return 0, io.EOF
		}
		if err := g.next(); err != nil {
			return 0, err
		}
	}
	if g.pending.Len() > 0 {
		return g.pending.Read(p)
	}
	n, err := g.r.Read(p[:min(int64(len(p)), g.body)])
	g.seen += int64(n)
	if g.body -= int64(n); err == io.EOF && g.body > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// next reads the front of a message.
func (g *arrowGuard) next() error {
	var front [8]byte
	if _, err := io.ReadFull(g.r, front[:]); err != nil {
		if err == io.EOF && g.marked {
			err = io.ErrUnexpectedEOF
		}
		return err // io.EOF: a stream may end without a mark
	}
	n := binary.LittleEndian.Uint32(front[4:])
	switch {
	case binary.LittleEndian.Uint32(front[:]) != 0xffffffff:
		return errors.New("a message without its mark (or an Arrow file of before 2019)")
	case n > arrowMetadata:
		return fmt.Errorf("a message that is described by %d bytes", n)
	case n == 0:
		g.ended = true
	}
	message, err := io.ReadAll(io.LimitReader(g.r, int64(n)))
	if err != nil {
		return err
	}
	if len(message) < int(n) {
		return io.ErrUnexpectedEOF
	}
	var packed []part
	if n > 0 {
		if g.body, packed, err = checkMessage(message); err != nil {
			return err
		}
		if g.body > g.most {
			return fmt.Errorf("a message of %d bytes, more than there can be", g.body)
		}
	}
	message = append(front[:], message...)
	if packed != nil || g.piped && g.body > arrowSmall { // the library would make room for it before it looks
		body, err := io.ReadAll(io.LimitReader(g.r, g.body))
		if err != nil {
			return err
		}
		if int64(len(body)) < g.body {
			return io.ErrUnexpectedEOF
		}
		for _, p := range packed {
			if err := p.check(body); err != nil {
				return err
			}
		}
		message, g.body = append(message, body...), 0
	}
	g.seen += int64(len(message))
	g.pending.Reset(message)
	return nil
}

// Fields of the tables of Arrow's metadata that are looked at, by their numbers there.
const (
	messageType, messageHeader, messageBody   = 1, 2, 3
	schemaFields, schemaMetadata              = 1, 2
	fieldType, fieldOf, fieldChildren         = 2, 3, 5
	fieldMetadata                             = 6
	batchRows, batchNodes, batchBuffers       = 0, 1, 2
	batchPacked, batchVariadic                = 3, 4
	packedBy, packedByZstd                    = 0, 1
	dictionaryBatch                           = 1
	unionIDs                                  = 1
	isSchema, isDictionary, isBatch, isUnion  = 1, 2, 3, 14
	offsetBytes, nodeBytes, bufferBytes, wide = 4, 16, 16, 8
)

// part is a place in the body of a message that is packed by zstd.
type part struct{ first, end int64 }

// check reports a part that asks for a larger window than it has use for. It begins with the length
// that it becomes, −1 if it does not change.
func (p part) check(body []byte) error {
	const front = 8
	in := body[p.first:p.end]
	if len(in) < front {
		return nil // the library says so
	}
	becomes := int64(binary.LittleEndian.Uint64(in))
	if becomes < 0 {
		return nil
	}
	return zstdFrames(in[front:], func(window, _ uint64, _ bool) error {
		if window > uint64(max(arrowWindow, becomes)) {
			return fmt.Errorf("a part of %d bytes asks for a window of %d", becomes, window)
		}
		return nil
	})
}

// checkMessage checks what describes a message and returns the length of its body, and the parts of it that
// are packed by zstd.
func checkMessage(message []byte) (body int64, packed []part, err error) {
	defer refuse("", "Arrow", &err) // flatbuffers panics where an offset leads out of the message
	m := metadata{flatbuffers.Table{Bytes: message, Pos: flatbuffers.GetUOffsetT(message)}}
	if at := m.at(messageBody); at != 0 {
		body = m.GetInt64(at)
	}
	if body < 0 {
		return 0, nil, fmt.Errorf("a message of %d bytes", body)
	}
	kind := byte(0)
	if at := m.at(messageType); at != 0 {
		kind = m.GetByte(at)
	}
	header, ok := m.table(messageHeader)
	if !ok {
		return 0, nil, errors.New("a message without a header")
	}
	switch kind {
	case isSchema:
		err = header.fields(schemaFields, schemaMetadata, 0)
	case isDictionary:
		if batch, ok := header.table(dictionaryBatch); ok {
			packed, err = batch.batch(body)
		}
	case isBatch:
		packed, err = header.batch(body)
	default:
		err = fmt.Errorf("a message of unknown type %d", kind)
	}
	return body, packed, err
}

// metadata is a table of Arrow's metadata.
type metadata struct{ flatbuffers.Table }

// at is the place of a field, 0 if the table does not have it.
func (m metadata) at(field int) flatbuffers.UOffsetT {
	offset := flatbuffers.UOffsetT(m.Offset(flatbuffers.VOffsetT(4 + 2*field)))
	if offset == 0 {
		return 0
	}
	return m.Pos + offset
}

// table is a field that is a table.
func (m metadata) table(field int) (metadata, bool) {
	at := m.at(field)
	if at == 0 {
		return m, false
	}
	return metadata{flatbuffers.Table{Bytes: m.Bytes, Pos: m.Indirect(at)}}, true
}

// list is the place and the length of a field that is a list, whose elements have so many bytes; those have to be
// there.
func (m metadata) list(field int, bytes int64) (first flatbuffers.UOffsetT, n int, err error) {
	offset := flatbuffers.UOffsetT(m.Offset(flatbuffers.VOffsetT(4 + 2*field)))
	if offset == 0 {
		return 0, 0, nil
	}
	first, n = m.Vector(offset), m.VectorLen(offset)
	if int64(n)*bytes > int64(len(m.Bytes))-int64(first) {
		return 0, 0, fmt.Errorf("a list of %d where there is no room for so many", n)
	}
	return first, n, nil
}

// fields checks the fields of a schema, or the children of a field, and what is noted beside them.
func (m metadata) fields(list, notes, depth int) error {
	if depth > arrowNested {
		return fmt.Errorf("fields within fields, more than %d deep", arrowNested)
	}
	if _, _, err := m.list(notes, offsetBytes); err != nil {
		return err
	}
	first, n, err := m.list(list, offsetBytes)
	if err != nil {
		return err
	}
	for k := range n {
		at := first + flatbuffers.UOffsetT(offsetBytes*k)
		field := metadata{flatbuffers.Table{Bytes: m.Bytes, Pos: m.Indirect(at)}}
		if at := field.at(fieldType); at != 0 && field.GetByte(at) == isUnion {
			if union, ok := field.table(fieldOf); ok {
				if _, _, err := union.list(unionIDs, offsetBytes); err != nil {
					return err
				}
			}
		}
		if err := field.fields(fieldChildren, fieldMetadata, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// batch checks a batch of rows in a body of so many bytes, and returns its parts if they are packed by zstd.
func (m metadata) batch(body int64) (packed []part, err error) {
	if at := m.at(batchRows); at != 0 {
		if rows := m.GetInt64(at); rows < 0 || rows/arrowRows > body {
			return nil, fmt.Errorf("%d rows in %d bytes", rows, body)
		}
	}
	for field, bytes := range map[int]int64{batchNodes: nodeBytes, batchVariadic: wide} {
		if _, _, err := m.list(field, bytes); err != nil {
			return nil, err
		}
	}
	first, n, err := m.list(batchBuffers, bufferBytes)
	if err != nil {
		return nil, err
	}
	by, ok := m.table(batchPacked)
	if at := by.at(packedBy); !ok || at == 0 || by.GetByte(at) != packedByZstd {
		return nil, nil
	}
	var sum int64
	for k := range n {
		at := first + flatbuffers.UOffsetT(bufferBytes*k)
		begin, length := m.GetInt64(at), m.GetInt64(at+wide)
		if begin < 0 || length < 0 || begin > body || length > body-begin || length > body-sum {
			return nil, fmt.Errorf("a part of %d bytes at %d in a body of %d", length, begin, body)
		}
		sum += length
		packed = append(packed, part{begin, begin + length})
	}
	return packed, nil
}
