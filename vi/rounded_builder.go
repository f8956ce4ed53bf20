package vi

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"slices"

	"github.com/bmkl/bmkl/internal/mapped"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// RoundedBuilder makes [Rounded] kernels of matrices that come one after the other, so that
// never more than one of them needs to be in memory as float64. [NewRounded] and
// [CreateRounded] begin one.
type RoundedBuilder struct {
	k    *Rounded
	want int // kernels

	// Of a file.
	file   *os.File
	buffer *bufio.Writer
	sum    hash.Hash
}

// A file of kernels is a header, padded with zeros to whole pages, and the tiles of one kernel
// after the other as float32, both in the machine's own order of bytes.
const (
	roundedMagic   = "bmkl kernels\n"
	roundedVersion = 1
	roundedPage    = 4096
)

// roundedHeader is the header but for a byte for each kernel that follows it: 1 if it is
// symmetric, else 0.
type roundedHeader struct {
	Magic   [len(roundedMagic)]byte
	Version uint8
	Tile    uint16 // tileOrder
	P, D, N uint64
	Sum     [sha256.Size]byte // SHA-256 of the kernels' bytes, and then of those that follow this
}

// headerSize returns the size of the header of P kernels in bytes.
func headerSize(P int) int64 {
	n := int64(binary.Size(roundedHeader{})) + int64(P)
	return (n + roundedPage - 1) / roundedPage * roundedPage
}

// NewRounded begins P kernels D×N in memory.
func NewRounded(P, D, N int) (*RoundedBuilder, error) {
	if P < 1 || D < 1 || N < 1 {
		return nil, fmt.Errorf("vi: kernels: %d of %d×%d", P, D, N)
	}
	return &RoundedBuilder{k: &Rounded{d: D, n: N}, want: P}, nil
}

// CreateRounded begins P kernels D×N in a new file, open for reading and writing, which it
// closes with the kernels or, together with an error, removes. A fit reads the file through
// memory that the system can take back at any time: kernels that exceed the memory are read
// from the disk in every sweep.
func CreateRounded(f *os.File, P, D, N int) (*RoundedBuilder, error) {
	b, err := NewRounded(P, D, N)
	if err != nil {
		b = &RoundedBuilder{k: &Rounded{path: f.Name()}, file: f}
		b.Abandon()
		return nil, err
	}
	b.file, b.k.path, b.sum = f, f.Name(), sha256.New()
	b.buffer = bufio.NewWriterSize(io.MultiWriter(b.file, b.sum), 1<<20)
	if _, err := b.file.Seek(headerSize(P), io.SeekStart); err != nil {
		return nil, b.abandon(err)
	}
	return b, nil
}

// Add rounds the next kernel. It is an error if its shape is another, or if an entry is NaN or
// beyond the range of float32.
func (b *RoundedBuilder) Add(km la.Matrix[float64]) error {
	k, m := b.k, len(b.k.kernels)
	switch {
	case m == b.want:
		return fmt.Errorf("vi: kernel %d: there are %d", m, m)
	case km.Rows != k.d || km.Cols != k.n || !km.Valid():
		return fmt.Errorf("vi: kernel %d: %d×%d where %d×%d is needed", m, km.Rows, km.Cols, k.d, k.n)
	}
	for i := range k.d {
		row := km.Row(i)
		j := check.NonFinite(row)
		if j < 0 {
			j = slices.IndexFunc(row, func(v float64) bool { return math.IsInf(float64(float32(v)), 0) })
		}
		if j >= 0 {
			return fmt.Errorf("vi: kernel %d: entry (%d, %d) is %g, which float32 does not hold", m, i, j, row[j])
		}
	}
	next := roundedKernel{symmetric: isSymmetric(km)}
	if b.file == nil {
		next.data = make([]float32, 0, words(next.symmetric, k.d, k.n))
	} else {
		next.offset = headerSize(b.want)
		if m > 0 {
			last := k.kernels[m-1]
			next.offset = last.offset + 4*words(last.symmetric, k.d, k.n)
		}
	}
	k.kernels = append(k.kernels, next)
	to := &k.kernels[m]
	buf := make([]float32, tileOrder*tileOrder)
	for I := range tileCount(k.d) {
		i0, i1 := tileSpan(I, k.d)
		for J := range k.columnTiles(m, I) {
			j0, j1 := tileSpan(J, k.n)
			t := buf[:0]
			for i := i0; i < i1; i++ {
				for _, v := range km.Row(i)[j0:j1] {
					t = append(t, float32(v))
				}
			}
			if b.file == nil {
				to.data = append(to.data, t...)
			} else if _, err := b.buffer.Write(mapped.Bytes(t)); err != nil {
				return b.abandon(err)
			}
		}
	}
	return nil
}

// isSymmetric reports whether k is symmetric to the last bit.
func isSymmetric(k la.Matrix[float64]) bool {
	if k.Rows != k.Cols {
		return false
	}
	const block = 32
	for i0 := 0; i0 < k.Rows; i0 += block {
		for j0 := 0; j0 <= i0; j0 += block {
			for i := i0; i < min(i0+block, k.Rows); i++ {
				for j := j0; j < min(j0+block, i); j++ {
					if k.Data[i*k.Stride+j] != k.Data[j*k.Stride+i] {
						return false
					}
				}
			}
		}
	}
	return true
}

// Finish returns the kernels once all are added.
func (b *RoundedBuilder) Finish() (*Rounded, error) {
	k := b.k
	if len(k.kernels) != b.want {
		return nil, b.abandon(fmt.Errorf("%d of %d were added", len(k.kernels), b.want))
	}
	if b.file == nil {
		return k, nil
	}
	if err := b.buffer.Flush(); err != nil {
		return nil, b.abandon(err)
	}
	symmetric := k.symmetries()
	b.sum.Write(symmetric)
	h := roundedHeader{Version: roundedVersion, Tile: tileOrder, P: uint64(b.want), D: uint64(k.d), N: uint64(k.n)}
	copy(h.Magic[:], roundedMagic)
	b.sum.Sum(h.Sum[:0])
	header, err := binary.Append(nil, binary.NativeEndian, h)
	if err == nil {
		_, err = b.file.WriteAt(append(header, symmetric...), 0)
	}
	if err == nil {
		err = b.file.Sync() // what the disk does not take is an error now, and none of a later read
	}
	if err == nil {
		k.file, err = mapped.Open(b.file, k.end())
	}
	if err != nil {
		return nil, b.abandon(err)
	}
	b.file = nil // it is the kernels' now
	return k, nil
}

// Abandon closes and removes the file of kernels that will not be finished. After Finish it does
// nothing.
func (b *RoundedBuilder) Abandon() {
	if b.file != nil {
		_ = b.file.Close() // what was written is not wanted
		_ = os.Remove(b.k.path)
		b.file = nil
	}
}

// abandon is Abandon, and returns err with its context.
func (b *RoundedBuilder) abandon(err error) error {
	b.Abandon()
	return fmt.Errorf("vi: kernels: %w", err)
}

// symmetries returns a byte for each kernel: 1 if it is symmetric.
func (k *Rounded) symmetries() []byte {
	out := make([]byte, len(k.kernels))
	for m := range out {
		if k.kernels[m].symmetric {
			out[m] = 1
		}
	}
	return out
}

// end returns the size of the file.
func (k *Rounded) end() int64 {
	last := k.kernels[len(k.kernels)-1]
	return last.offset + 4*words(last.symmetric, k.d, k.n)
}

// OpenRounded opens a file that [CreateRounded] made and a fit has left, after it has read all of
// it and compared its checksum. The file is of this machine's order of bytes.
func OpenRounded(path string) (*Rounded, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("vi: kernels: %w", err)
	}
	k, err := openRounded(f)
	if err != nil {
		_ = f.Close() // the first error explains more
		return nil, fmt.Errorf("vi: kernels: %s: %w", path, err)
	}
	k.path = path
	return k, nil
}

func openRounded(f *os.File) (*Rounded, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var h roundedHeader
	in := bufio.NewReader(f)
	if err := binary.Read(in, binary.NativeEndian, &h); err != nil || string(h.Magic[:]) != roundedMagic {
		return nil, errors.New("not a file of kernels that was finished")
	}
	if h.Version != roundedVersion || h.Tile != tileOrder {
		return nil, fmt.Errorf("of version %d with tiles of %d where version %d and %d are known: or of another order of bytes",
			h.Version, h.Tile, roundedVersion, tileOrder)
	}
	// No kernel takes less than two bytes an entry: this bounds what a forged header can ask for.
	size := uint64(info.Size())
	if h.P < 1 || h.D < 1 || h.N < 1 || h.P > size || h.D > size || h.N > size/h.D || h.P > size/(h.D*h.N) {
		return nil, fmt.Errorf("%d kernels of %d×%d do not fit %d bytes", h.P, h.D, h.N, size)
	}
	k := &Rounded{d: int(h.D), n: int(h.N)}
	symmetric := make([]byte, h.P)
	if _, err := io.ReadFull(in, symmetric); err != nil {
		return nil, err
	}
	offset := headerSize(int(h.P))
	for m, s := range symmetric {
		if s > 1 || s == 1 && k.d != k.n {
			return nil, fmt.Errorf("kernel %d: a symmetry of %d", m, s)
		}
		k.kernels = append(k.kernels, roundedKernel{symmetric: s == 1, offset: offset})
		offset += 4 * words(s == 1, k.d, k.n)
	}
	if info.Size() != offset {
		return nil, fmt.Errorf("%d bytes where %d are needed", info.Size(), offset)
	}
	if _, err := f.Seek(headerSize(int(h.P)), io.SeekStart); err != nil {
		return nil, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil, err
	}
	sum.Write(symmetric)
	if string(sum.Sum(nil)) != string(h.Sum[:]) {
		return nil, errors.New("the checksum is another: the file was changed")
	}
	k.file, err = mapped.Open(f, offset)
	return k, err
}
