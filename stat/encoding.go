package stat

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
)

// The bytes of a statistic, all numbers little-endian:
//
//	8    "bmklstat"
//	4    version, 1
//	32   hash of the plan
//	4    P, views
//	4·P  landmarks of each
//	4    L, outputs
//	4    groups; then for each, ascending by pattern:
//	  8          pattern: bit o is 1 if output o is observed
//	  8          samples
//	  16·P       Σ k_p(x, x)
//	  16·triangle  sums, the lower triangle row by row
//	32   SHA-256 of all bytes before
//
// Every sum is a two's complement integer in units of 2⁻⁷², its lower 8 bytes first.
const (
	magic   = "bmklstat"
	version = 1
)

// Hash returns the SHA-256 of the bytes of s without their checksum. Equal samples of the same plan,
// added in the same blocks, have equal hashes on every machine and in every order.
func (s *Statistic) Hash() [32]byte {
	h := sha256.New()
	s.write(h)
	return [32]byte(h.Sum(nil))
}

// AppendBinary appends the bytes of s to b. It never fails. It implements [encoding.BinaryAppender].
func (s *Statistic) AppendBinary(b []byte) ([]byte, error) {
	buf, h := bytes.NewBuffer(slices.Grow(b, s.size())), sha256.New()
	s.write(io.MultiWriter(buf, h))
	return h.Sum(buf.Bytes()), nil
}

// MarshalBinary returns the bytes of s. It never fails. It implements [encoding.BinaryMarshaler].
func (s *Statistic) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// WriteTo writes the bytes of s in small pieces. It returns the error of w, if any. It implements
// [io.WriterTo].
func (s *Statistic) WriteTo(w io.Writer) (int64, error) {
	c := &counter{w: w, hash: sha256.New()}
	s.write(c)
	if c.err == nil {
		c.Write(c.hash.Sum(nil))
	}
	if c.err != nil {
		return c.n, fmt.Errorf("stat: write statistic: %w", c.err)
	}
	return c.n, nil
}

// counter counts and hashes the bytes that are written, up to the first error.
type counter struct {
	w    io.Writer
	hash hash.Hash
	n    int64
	err  error
}

func (c *counter) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	c.hash.Write(p)
	n, err := c.w.Write(p)
	c.n, c.err = c.n+int64(n), err
	return n, err
}

// size returns the number of bytes of s.
func (s *Statistic) size() int {
	return headSize(len(s.layout.Views)) + len(s.groups)*groupSize(s.layout) + sha256.Size
}

func headSize(views int) int { return len(magic) + 4 + 32 + 4 + 4*views + 4 + 4 }

func groupSize(l Layout) int { return 8 + 8 + 16*len(l.Views) + 16*triangle(l.Entries()) }

// write writes all bytes except the checksum. The caller gets errors from w.
func (s *Statistic) write(w io.Writer) {
	b := make([]byte, 0, 1<<16)
	number := func(n int) { b = binary.LittleEndian.AppendUint32(b, uint32(n)) }
	b = append(b, magic...)
	number(version)
	b = append(b, s.layout.Plan[:]...)
	number(len(s.layout.Views))
	for _, d := range s.layout.Views {
		number(d)
	}
	number(s.layout.Outputs)
	number(len(s.groups))
	for _, g := range s.groups {
		b = binary.LittleEndian.AppendUint64(b, g.observed)
		b = binary.LittleEndian.AppendUint64(b, g.count)
		for _, sums := range [][]fixed{g.self, g.sums} {
			for _, v := range sums {
				b = binary.LittleEndian.AppendUint64(b, v.lo)
				b = binary.LittleEndian.AppendUint64(b, uint64(v.hi))
				if len(b)+64 > cap(b) {
					w.Write(b)
					b = b[:0]
				}
			}
		}
	}
	w.Write(b)
}

// ErrCorrupt is wrapped by errors about bytes that are not a statistic.
var ErrCorrupt = errors.New("not the bytes of a statistic")

// UnmarshalBinary sets s to the statistic in data. It does not keep data. If data is damaged, or has
// another format or version, it returns an error that wraps [ErrCorrupt] and leaves s unchanged. It
// implements [encoding.BinaryUnmarshaler].
//
// It does not check the plan. Compare [Statistic.Layout], or call [Statistic.Merge], which does.
func (s *Statistic) UnmarshalBinary(data []byte) error {
	t, err := decode(data)
	if err != nil {
		return fmt.Errorf("stat: %w: %w", ErrCorrupt, err)
	}
	*s = *t
	return nil
}

// decode reads the bytes. It checks their number before it allocates memory.
func decode(data []byte) (*Statistic, error) {
	if len(data) < headSize(0)+sha256.Size {
		return nil, fmt.Errorf("%d bytes are too few", len(data))
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	r := reader(body)
	layout, groups, err := r.head()
	if err != nil {
		return nil, err
	}
	if want := headSize(len(layout.Views)) + groups*groupSize(layout) + sha256.Size; groups > maxPatterns || len(data) != want {
		return nil, fmt.Errorf("%d bytes where %d groups of %d entries need %d", len(data), groups, layout.Entries(), want)
	}
	if sha256.Sum256(body) != [32]byte(sum) {
		return nil, errors.New("the checksum is wrong: they are damaged")
	}
	s := &Statistic{layout: layout}
	for range groups {
		g := r.group(layout)
		if err := g.check(layout); err != nil {
			return nil, err
		}
		if n := len(s.groups); n > 0 && s.groups[n-1].observed >= g.observed {
			return nil, errors.New("patterns are not in order")
		}
		s.groups = append(s.groups, g)
	}
	if s.Samples() > MaxSamples {
		return nil, errors.New("too many samples")
	}
	return s, nil
}

// reader is the bytes of a statistic that are still to be read, without the checksum.
type reader []byte

// take removes and returns the next n bytes.
func (r *reader) take(n int) []byte {
	b := (*r)[:n]
	*r = (*r)[n:]
	return b
}

func (r *reader) uint32() int    { return int(binary.LittleEndian.Uint32(r.take(4))) }
func (r *reader) uint64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

// head reads the bytes before the groups. There are at least headSize(0) bytes. It returns an error if
// the layout is not valid.
func (r *reader) head() (l Layout, groups int, err error) {
	size := len(*r)
	if string(r.take(len(magic))) != magic {
		return l, 0, errors.New("they do not begin with " + magic)
	}
	if v := r.uint32(); v != version {
		return l, 0, fmt.Errorf("version %d where %d is known", v, version)
	}
	l.Plan = [32]byte(r.take(32))
	views := r.uint32()
	if views > maxEntries || size < headSize(views) {
		return l, 0, fmt.Errorf("%d views do not fit into %d bytes", views, size+sha256.Size)
	}
	for range views {
		l.Views = append(l.Views, r.uint32())
	}
	l.Outputs = r.uint32()
	groups = r.uint32()
	if views == 0 && l.Outputs == 0 && groups == 0 {
		return l, 0, nil // the zero value
	}
	return l, groups, l.validate()
}

// group reads a group. Its bytes are there.
func (r *reader) group(l Layout) group {
	g := newGroup(l, r.uint64())
	g.count = r.uint64()
	for _, sums := range [][]fixed{g.self, g.sums} {
		for i := range sums {
			sums[i] = fixed{lo: r.uint64(), hi: int64(r.uint64())}
		}
	}
	return g
}

// check returns an error if no samples can give the group.
func (g group) check(l Layout) error {
	one := newPlaces(l.Views, l.Outputs).one
	switch {
	case g.observed&^allOf(l.Outputs) != 0:
		return fmt.Errorf("a pattern of more than %d outputs", l.Outputs)
	case g.count == 0 || g.count > MaxSamples:
		return fmt.Errorf("a pattern of %d samples", g.count)
	case !g.valid() || g.sums[triangle(one+1)-1] != (fixed{hi: int64(g.count) << (point - 64)}):
		return fmt.Errorf("sums that %d samples cannot have", g.count)
	}
	return nil
}
