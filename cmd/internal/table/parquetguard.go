//go:build !lean

package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The library takes the memory that the header of a page claims before it reads the page. These
// are what a page may claim, in bytes or values, whatever its true length, and how many times its
// length besides: a repeated value is short.
const (
	mostOfPage  = 64 << 20
	valuesMost  = 16 << 20
	mostRatio   = 1 << 10
	headerBytes = 1 << 12 // that hold most headers
	headerMost  = 1 << 20
)

// checkFooter reports a file whose end claims more metadata than the file has bytes.
func checkFooter(r io.ReaderAt, size int64) error {
	var end [8]byte // the length of the metadata before it, and PAR1
	if size < int64(len(end)) {
		return errors.New("is cut short")
	}
	if _, err := r.ReadAt(end[:], size-int64(len(end))); err != nil && err != io.EOF {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(end[:])); n > size-int64(len(end)) {
		return fmt.Errorf("claims %d bytes of metadata and has %d in all", n, size)
	}
	return nil
}

// checkPages walks the headers of the pages of a column in a group of so many rows, and reports
// pages that claim what is not there. No checksum covers what it looks at: a header that claims levels which the column
// has not would move all its values, and another type would make other numbers of them.
func checkPages(r io.ReaderAt, size int64, leaf *parquet.Column, column *format.ColumnMetaData, rows int64) error {
	if kind := leaf.Type().PhysicalType(); kind == nil || *kind != column.Type {
		return fmt.Errorf("its values are of the type %v, and the file's schema has another", column.Type)
	}
	if !slices.Equal(leaf.Path(), column.PathInSchema) {
		return fmt.Errorf("its values belong to %.100q", column.PathInSchema)
	}
	at := column.DataPageOffset
	if column.DictionaryPageOffset != 0 {
		at = column.DictionaryPageOffset
	}
	if at < 0 || at > size || column.TotalCompressedSize < 0 || column.TotalCompressedSize > size-at {
		return errors.New("its pages lie outside of the file")
	}
	buf := make([]byte, headerBytes)
	for end := at + column.TotalCompressedSize; at < end; {
		h, n, err := pageHeader(r, at, end, buf)
		if err != nil {
			return fmt.Errorf("the header of a page: %w", err)
		}
		at += n
		bytes, full := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
		values := int64(h.DataPageHeader.V.NumValues)
		if h.Type == format.DataPageV2 {
			values = int64(h.DataPageHeaderV2.V.NumValues)
		}
		switch {
		case bytes < 0 || bytes > end-at:
			return fmt.Errorf("a page claims %d bytes, and there are %d", bytes, end-at)
		case full < 0 || full > max(mostOfPage, mostRatio*bytes):
			return fmt.Errorf("a page of %d bytes claims %d when it is unpacked", bytes, full)
		case h.Type != format.DictionaryPage && (values < 0 || values > rows || values > max(valuesMost, mostRatio*bytes)):
			return fmt.Errorf("a page of %d bytes claims %d values in %d rows", bytes, values, rows)
		case h.Type == format.DictionaryPage && int64(h.DictionaryPageHeader.V.NumValues) > max(headerBytes, 8*full):
			return fmt.Errorf("a dictionary of %d bytes claims %d values", full, h.DictionaryPageHeader.V.NumValues)
		}
		if v2 := h.DataPageHeaderV2.V; h.Type == format.DataPageV2 &&
			(leaf.MaxRepetitionLevel() == 0 && v2.RepetitionLevelsByteLength != 0 || leaf.MaxDefinitionLevel() == 0 && v2.DefinitionLevelsByteLength != 0) {
			return fmt.Errorf("a page claims %d and %d bytes of levels that the column has not", v2.RepetitionLevelsByteLength, v2.DefinitionLevelsByteLength)
		}
		if v2 := h.DataPageHeaderV2.V; h.Type != format.DataPageV2 || v2.IsCompressed.V || !v2.IsCompressed.Valid {
			levels := int64(v2.RepetitionLevelsByteLength) + int64(v2.DefinitionLevelsByteLength) // which are not packed
			if h.Type != format.DataPageV2 {
				levels = 0
			}
			if levels < 0 || levels > bytes {
				return fmt.Errorf("a page of %d bytes claims %d for its levels", bytes, levels)
			}
			if err := checkUnpacked(column.Codec, r, at+levels, bytes-levels, full); err != nil {
				return err
			}
		}
		at += bytes
	}
	return nil
}

// pageHeader reads the header at a place before end, and returns its length too.
func pageHeader(r io.ReaderAt, at, end int64, buf []byte) (h format.PageHeader, n int64, err error) {
	protocol := &thrift.CompactProtocol{}
	for {
		have, err := r.ReadAt(buf[:min(int64(len(buf)), end-at)], at)
		if err != nil && err != io.EOF {
			return h, 0, err
		}
		// From bytes, a text is never longer than they are.
		in := protocol.NewReaderFromBytes(buf[:have])
		h = format.PageHeader{}
		if err = thrift.NewDecoder(in).Decode(&h); err == nil {
			left := in.Reader().(*bytes.Reader).Len()
			return h, int64(have - left), nil
		}
		if len(buf) >= headerMost || int64(len(buf)) >= end-at {
			return h, 0, err
		}
		buf = make([]byte, headerMost)
	}
}
