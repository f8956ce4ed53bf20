//go:build !lean

package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// This file finds, before a library unpacks a part of a file, how much memory the library would take.

// arrowWindow is the largest window that a part of an Arrow file may ask for, unless the part is larger
// itself: the window of the strongest packing except for the levels called ultra.
const arrowWindow = 8 << 20

// zstdBlock is the most that a block of zstd can become.
const zstdBlock = 128 << 10

// zstdFrames visits the frames of a part: the window that each asks for, and the bytes that it
// says it becomes, or those that its blocks can become at most. It ends where a frame cannot be
// read, where the library ends too.
func zstdFrames(part []byte, visit func(window, size uint64, said bool) error) error {
	for len(part) > 0 {
		var h zstd.Header
		if h.Decode(part) != nil {
			return nil
		}
		part = part[h.HeaderSize:]
		if h.Skippable {
			part = part[min(uint64(h.SkippableSize), uint64(len(part))):]
			continue
		}
		size, rest := zstdBlocks(part)
		if h.HasFCS {
			size = h.FrameContentSize
		}
		window := h.WindowSize
		if h.SingleSegment {
			window = size
		}
		if err := visit(window, size, h.HasFCS); err != nil {
			return err
		}
		if h.HasCheckSum {
			rest = rest[min(4, len(rest)):]
		}
		part = rest
	}
	return nil
}

// zstdBlocks returns how many bytes the blocks of a frame can become at most, and what follows them:
// nothing if one of them cannot be read.
func zstdBlocks(part []byte) (size uint64, rest []byte) {
	const front = 3 // bytes: whether it is the last, its type, its size
	for len(part) >= front {
		v := uint32(part[0]) | uint32(part[1])<<8 | uint32(part[2])<<16
		part = part[front:]
		n := int(v >> 3)
		switch v >> 1 & 3 {
		case 0: // not packed
			size += uint64(n)
		case 1: // a byte, repeated
			size += uint64(n)
			n = 1
		case 2:
			size += zstdBlock
		default:
			return size, nil
		}
		if n > len(part) {
			return size, nil
		}
		if part = part[n:]; v&1 == 1 {
			return size, part
		}
	}
	return size, nil
}

// checkUnpacked reports a page of Parquet that becomes more than it claims, for which the library
// would take all memory, or whose packing claims more than the page. What gzip
// packs becomes at most 1032 times as long, about what a page may claim.
func checkUnpacked(codec format.CompressionCodec, r io.ReaderAt, at, packed, full int64) error {
	most := max(full, mostOfPage)
	longer := fmt.Errorf("a page of %d bytes becomes more than the %d that it claims", packed, full)
	switch codec {
	case format.Snappy: // begins with the length of what it becomes
		in := make([]byte, min(packed, binary.MaxVarintLen64))
		if _, err := r.ReadAt(in, at); err != nil && err != io.EOF {
			return err
		}
		if n, _ := binary.Uvarint(in); n > uint64(full) {
			return longer
		}
	case format.Lz4Raw:
		in, out := make([]byte, packed), make([]byte, full)
		if _, err := r.ReadAt(in, at); err != nil && err != io.EOF {
			return err
		}
		if _, err := lz4.UncompressBlock(in, out); err != nil {
			return fmt.Errorf("a page of %d bytes, %d when it is unpacked: %w", packed, full, err)
		}
	case format.Zstd:
		in := make([]byte, packed)
		if _, err := r.ReadAt(in, at); err != nil && err != io.EOF {
			return err
		}
		var said, sum uint64 // of the frames that say what they become, and at most of all
		if err := zstdFrames(in, func(_, size uint64, known bool) error {
			size = min(size, 1<<40) // a sum of such sizes does not overflow
			if known {
				said += size
			}
			if sum += size; said > uint64(most) {
				return longer
			}
			return nil
		}); err != nil || sum <= uint64(most) {
			return err
		}
		// Only unpacking shows the size, since blocks need not be full.
		z, err := zstd.NewReader(bytes.NewReader(in), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return err
		}
		defer z.Close()
		if n, _ := io.CopyN(io.Discard, z, most+1); n > most {
			return longer
		}
	case format.Brotli:
		if n, _ := io.CopyN(io.Discard, brotli.NewReader(io.NewSectionReader(r, at, packed)), most+1); n > most {
			return longer
		}
	}
	return nil
}
