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
//	  8          pattern: bit o is set if output o is observed
//	  8          samples
//	  16·P       Σ k_p(x, x)
//	  16·triangle  sums, the lower triangle row by row
//	32   SHA-256 of all before
//
// Every sum is a two's complement integer in units of 2⁻⁷², its lower 8 bytes first.
const (
	magic   = "bmklstat"
	version = 1
)

// Hash returns a hash of the statistic: that of its bytes. Equal samples of equal plans,
// added in equal blocks, have equal hashes, whoever summed them and in whichever order.
func (s *Statistic) Hash() [32]byte {
	h := sha256.New()
	s.write(h)
	return [32]byte(h.Sum(nil))
}

// AppendBinary appends the bytes of s. It implements [encoding.BinaryAppender].
func (s *Statistic) AppendBinary(b []byte) ([]byte, error) {
	buf, h := bytes.NewBuffer(slices.Grow(b, s.size())), sha256.New()
	s.write(io.MultiWriter(buf, h))
	return h.Sum(buf.Bytes()), nil
}

// MarshalBinary returns the bytes of s. It implements [encoding.BinaryMarshaler].
func (s *Statistic) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// WriteTo writes the bytes of s without holding them in memory. It implements [io.WriterTo].
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

// counter counts and hashes what is written, up to the first error.
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

// write writes all bytes but the hash. Errors are the writer's to keep.
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

// ErrCorrupt is wrapped by errors about bytes that are no statistic.
var ErrCorrupt = errors.New("not the bytes of a statistic")

// UnmarshalBinary sets s to the statistic of the bytes, which it does not keep. Bytes that
// are damaged or of another kind or version are an error that wraps [ErrCorrupt], and s is
// then as before. It implements [encoding.BinaryUnmarshaler].
//
// It does not know which plan the caller has: compare [Statistic.Layout], or merge.
func (s *Statistic) UnmarshalBinary(data []byte) error {
	t, err := decode(data)
	if err != nil {
		return fmt.Errorf("stat: %w: %w", ErrCorrupt, err)
	}
	*s = *t
	return nil
}

// decode reads the bytes. Nothing is allocated before their number is known to be right.
func decode(data []byte) (*Statistic, error) {
	if len(data) < headSize(0)+sha256.Size {
		return nil, fmt.Errorf("%d bytes are too few", len(data))
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if string(body[:len(magic)]) != magic {
		return nil, errors.New("they do not begin with " + magic)
	}
	next := body[len(magic):]
	number := func() int {
		v := binary.LittleEndian.Uint32(next)
		next = next[4:]
		return int(v)
	}
	if v := number(); v != version {
		return nil, fmt.Errorf("version %d where %d is known", v, version)
	}
	s := &Statistic{}
	copy(s.layout.Plan[:], next)
	next = next[32:]
	views := number()
	if views > MaxEntries || len(body) < headSize(views) {
		return nil, fmt.Errorf("%d views do not fit into %d bytes", views, len(data))
	}
	for range views {
		s.layout.Views = append(s.layout.Views, number())
	}
	s.layout.Outputs = number()
	groups := number()
	if views > 0 || s.layout.Outputs > 0 || groups > 0 { // else the zero value
		if err := s.layout.validate(); err != nil {
			return nil, err
		}
	}
	if want := headSize(views) + groups*groupSize(s.layout) + sha256.Size; groups > MaxPatterns || len(data) != want {
		return nil, fmt.Errorf("%d bytes where %d groups of %d entries need %d", len(data), groups, s.layout.Entries(), want)
	}
	if sha256.Sum256(body) != [32]byte(sum) {
		return nil, errors.New("the checksum is wrong: they are damaged")
	}
	var samples uint64
	for range groups {
		g := newGroup(s.layout, binary.LittleEndian.Uint64(next))
		g.count = binary.LittleEndian.Uint64(next[8:])
		next = next[16:]
		for _, sums := range [][]fixed{g.self, g.sums} {
			for i := range sums {
				sums[i] = fixed{binary.LittleEndian.Uint64(next), int64(binary.LittleEndian.Uint64(next[8:]))}
				next = next[16:]
			}
		}
		if err := g.check(s.layout); err != nil {
			return nil, err
		}
		if n := len(s.groups); n > 0 && s.groups[n-1].observed >= g.observed {
			return nil, errors.New("patterns are not in order")
		}
		if samples += g.count; samples > MaxSamples {
			return nil, errors.New("too many samples")
		}
		s.groups = append(s.groups, g)
	}
	return s, nil
}

// check returns an error unless a group may be one of a statistic.
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
