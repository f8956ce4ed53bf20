package mcmc

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"

	"github.com/bmkl/bmkl/la"
)

// Checkpoint is everything that a run needs in order to be resumed: the state, the
// random stream and the draws of every chain. [Checkpoint.MarshalBinary] and
// [Checkpoint.UnmarshalBinary] turn it into bytes and back. It does not change once it
// is made.
type Checkpoint struct {
	sampler string
	data    digest
	seed    uint64
	thin    int
	burnIn  int
	width   int // how many numbers a draw consists of
	chains  []chainState
}

type chainState struct {
	sweeps int
	stream []byte
	state  []float64
	kept   []float64
}

func newCheckpoint(s Sampling, t target, chains []*chain) *Checkpoint {
	p := &Checkpoint{sampler: t.name, data: t.data, seed: s.Seed, thin: s.Thin, burnIn: s.BurnIn}
	for _, v := range t.variables {
		p.width += v.size()
	}
	for _, c := range chains {
		stream, err := c.source.MarshalBinary()
		if err != nil {
			panic(err) // it never fails
		}
		p.chains = append(p.chains, chainState{
			sweeps: c.sweeps,
			stream: stream,
			state:  c.sampler.save(nil),
			// Shared with the chain, which only appends beyond this length.
			kept: c.kept[:len(c.kept):len(c.kept)],
		})
	}
	return p
}

// Sweeps returns how many sweeps every chain has made at least.
func (p *Checkpoint) Sweeps() int {
	least := math.MaxInt
	for _, c := range p.chains {
		least = min(least, c.sweeps)
	}
	return least
}

// restore puts chains into the state of the checkpoint. The error names the first
// thing in which the run that was interrupted differs from this one.
func (p *Checkpoint) restore(s Sampling, t target, chains []*chain) error {
	differs := func(what string, is, was any) error {
		return fmt.Errorf("mcmc: Sampling.Resume: the checkpoint is of %s %v, not %v", what, was, is)
	}
	switch {
	case p.sampler != t.name:
		return differs("the sampler", t.name, p.sampler)
	case p.data != t.data:
		return fmt.Errorf("mcmc: Sampling.Resume: the checkpoint is of other data or hyperparameters")
	case len(p.chains) != len(chains):
		return differs("Chains", len(chains), len(p.chains))
	case p.seed != s.Seed:
		return differs("Seed", s.Seed, p.seed)
	case p.thin != s.Thin:
		return differs("Thin", s.Thin, p.thin)
	case p.burnIn != s.BurnIn:
		return differs("BurnIn", s.BurnIn, p.burnIn)
	}
	for i, from := range p.chains {
		c := chains[i]
		if past := max(from.sweeps-s.BurnIn, 0); len(from.kept) != past/s.Thin*p.width {
			return fmt.Errorf("mcmc: Sampling.Resume: chain %d has %d numbers of draws after %d sweeps", i, len(from.kept), from.sweeps)
		}
		if over := from.sweeps - s.BurnIn - s.Draws*s.Thin; over > 0 {
			return fmt.Errorf("mcmc: Sampling.Resume: chain %d has made %d sweeps more than Draws allows", i, over)
		}
		if err := c.source.UnmarshalBinary(from.stream); err != nil {
			return fmt.Errorf("mcmc: Sampling.Resume: chain %d: random stream: %w", i, err)
		}
		if err := c.sampler.restore(from.state); err != nil {
			return fmt.Errorf("mcmc: Sampling.Resume: chain %d: %w", i, err)
		}
		c.sweeps, c.kept = from.sweeps, from.kept
	}
	return nil
}

// A checkpoint in bytes is checkpointMagic, then the fields in their order, then the
// SHA-256 digest of everything before it. Numbers take eight bytes, little endian;
// lists follow their length.
const checkpointMagic = "bmkl mcmc checkpoint 1\n"

// MarshalBinary implements [encoding.BinaryMarshaler]. Its error is always nil.
func (p *Checkpoint) MarshalBinary() ([]byte, error) {
	b := []byte(checkpointMagic)
	list := func(x []byte) {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(x)))
		b = append(b, x...)
	}
	numbers := func(x []float64) {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(x)))
		for _, v := range x {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	list([]byte(p.sampler))
	b = append(b, p.data[:]...)
	for _, v := range []int{int(p.seed), p.thin, p.burnIn, p.width, len(p.chains)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	for _, c := range p.chains {
		b = binary.LittleEndian.AppendUint64(b, uint64(c.sweeps))
		list(c.stream)
		numbers(c.state)
		numbers(c.kept)
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. Bytes that are no
// checkpoint, are cut off or damaged are an error and leave p as it was. It allocates
// no more than a small multiple of the length of data.
func (p *Checkpoint) UnmarshalBinary(data []byte) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("mcmc: checkpoint: "+format, args...)
	}
	body, ok := bytes.CutPrefix(data, []byte(checkpointMagic))
	if !ok {
		return fail("it does not begin as one")
	}
	if len(body) < sha256.Size {
		return fail("it is cut off")
	}
	cut := len(body) - sha256.Size
	if sum := sha256.Sum256(data[:len(data)-sha256.Size]); !bytes.Equal(sum[:], body[cut:]) {
		return fail("its checksum is wrong")
	}
	r := reader{body[:cut], true}
	var q Checkpoint
	q.sampler = string(r.bytes(r.count(1)))
	copy(q.data[:], r.bytes(len(q.data)))
	q.seed = r.word()
	q.thin, q.burnIn, q.width = int(r.word()), int(r.word()), int(r.word())
	for range r.count(1) {
		if !r.ok {
			break
		}
		q.chains = append(q.chains, chainState{
			sweeps: int(r.word()),
			stream: bytes.Clone(r.bytes(r.count(1))),
			state:  r.numbers(),
			kept:   r.numbers(),
		})
	}
	if !r.ok || len(r.rest) > 0 || q.thin < 1 || q.burnIn < 0 || q.width < 1 || len(q.chains) == 0 {
		return fail("it is damaged")
	}
	*p = q
	return nil
}

// reader reads fields from the front of rest. ok turns false, and stays so, at the
// first field that does not fit into what remains.
type reader struct {
	rest []byte
	ok   bool
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.ok = false
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) word() uint64 {
	b := r.bytes(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// count reads the length of a list whose items take size bytes each at least.
func (r *reader) count(size int) int {
	n := r.word()
	if n > uint64(len(r.rest)/size) {
		r.ok = false
		return 0
	}
	return int(n)
}

func (r *reader) numbers() []float64 {
	x := make([]float64, r.count(8))
	for i := range x {
		x[i] = math.Float64frombits(r.word())
	}
	return x
}

// digest identifies data and hyperparameters: the SHA-256 of all their numbers.
type digest [sha256.Size]byte

// digester computes a digest from numbers given list by list.
type digester struct {
	hash hash.Hash
	buf  []byte
}

func newDigester() *digester { return &digester{hash: sha256.New()} }

func (d *digester) numbers(x ...float64) {
	d.buf = binary.LittleEndian.AppendUint64(d.buf[:0], uint64(len(x)))
	for _, v := range x {
		d.buf = binary.LittleEndian.AppendUint64(d.buf, math.Float64bits(v))
	}
	d.hash.Write(d.buf)
}

func (d *digester) matrix(m la.Matrix[float64]) {
	d.numbers(float64(m.Rows), float64(m.Cols))
	for i := range m.Rows {
		d.numbers(m.Row(i)...)
	}
}

func (d *digester) sum() (sum digest) {
	d.hash.Sum(sum[:0])
	return sum
}
