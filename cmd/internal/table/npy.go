package table

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
)

var nan = math.NaN()

// Magic of an NPY file.
const npyMagic = "\x93NUMPY"

// npySource reads the format of NumPy's save: a magic, a version, a header that
// is a Python dictionary, and the elements in one run.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
type npySource struct {
	room
	gaps
	name       string
	r          io.Reader
	rows, cols int
	names      []string
	fortran    bool
	dtype      dtype
	at         int // elements that were read
}

// maxHeader bounds the header of an NPY file; NumPy itself trusts 10 000 bytes.
const maxHeader = 1 << 16

// Bounds that keep a header from asking for more than its file can back.
const (
	maxColumns   = 1 << 22
	maxText      = 1 << 12 // characters of a text element
	blockOfBytes = 1 << 16
	fewColumns   = 1 << 14 // that cost little
	maxFirst     = 1 << 25 // bytes of a first row that are read ahead
)

func newNPY(name string, r io.Reader, size int64, opt Options) (Source, error) {
	fail := func(format string, args ...any) (Source, error) {
		return nil, fmt.Errorf("%s: %w", name, fmt.Errorf(format, args...))
	}
	br := bufio.NewReaderSize(r, 1<<16)
	var pre [8]byte
	if _, err := io.ReadFull(br, pre[:]); err != nil {
		return fail("the NPY header is cut short")
	}
	var length [4]byte
	width := 4
	switch pre[6] {
	case 1:
		width = 2
	case 2, 3:
	default:
		return fail("NPY version %d.%d is not known", pre[6], pre[7])
	}
	if _, err := io.ReadFull(br, length[:width]); err != nil {
		return fail("the NPY header is cut short")
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > maxHeader {
		return fail("the NPY header claims %d bytes", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(br, text); err != nil {
		return fail("the NPY header is cut short")
	}
	h, err := parseHeader(string(text))
	if err != nil {
		return fail("the NPY header: %s", err)
	}
	s := &npySource{name: name, r: br, fortran: h.fortran}
	if s.dtype, err = parseDtype(h.descr); err != nil {
		return fail("%s", err)
	}
	switch len(h.shape) {
	case 1:
		s.rows, s.cols = h.shape[0], 1
	case 2:
		s.rows, s.cols = h.shape[0], h.shape[1]
	default:
		return fail("an array of shape %s where a vector or a matrix is needed", shape(h.shape))
	}
	switch {
	case s.rows == 0 || s.cols == 0:
		return fail("an array of shape %s is empty", shape(h.shape))
	case s.cols > opt.columns():
		return fail("an array of shape %s: %w", shape(h.shape), tooMany(opt.columns()))
	case s.rows > math.MaxInt/s.cols/s.dtype.size:
		return fail("an array of shape %s is too large", shape(h.shape))
	}
	need := int64(s.rows) * int64(s.cols) * int64(s.dtype.size)
	if have := size - int64(len(pre)) - int64(width) - int64(n); size >= 0 && have < need {
		return fail("the file is cut short: shape %s of %s needs %d bytes, there are %d", shape(h.shape), short(h.descr), need, have)
	}
	if size < 0 && s.cols > fewColumns {
		// Where the size is not known, as many bytes as a row has are read before
		// anything is done for each column.
		var first bytes.Buffer
		row := int64(s.cols) * int64(s.dtype.size)
		if n, err := io.CopyN(&first, br, min(row, maxFirst)); err == io.EOF {
			return fail("the file is cut short: shape %s of %s needs %d bytes, there are %d", shape(h.shape), short(h.descr), need, n)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.r = io.MultiReader(&first, br)
	}
	s.names = positions(s.cols)
	return s, nil
}

func shape(dims []int) string {
	parts := make([]string, len(dims))
	for i, d := range dims {
		parts[i] = strconv.Itoa(d)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func (s *npySource) Name() string      { return s.name }
func (s *npySource) Columns() []string { return s.names }
func (s *npySource) Rows() int         { return s.rows }
func (s *npySource) Remarks() []string { return nil }

// Blocks takes the elements in the order of the file.
func (s *npySource) Blocks(want []Want, rows int) iter.Seq2[Data, error] {
	anys := anyColumns(want, s.blanks)
	if s.fortran {
		return cut(rows, func() (Data, error) { return s.block(want, anys, 0, s.rows) })
	}
	return blocks(rows, func(first int) (Data, error) {
		n := s.rows - first
		if rows > 0 {
			n = min(n, rows)
		}
		return s.block(want, anys, first, n)
	})
}

// block reads the next n rows.
func (s *npySource) block(want []Want, anys map[int]*anyColumn, first, n int) (Data, error) {
	d := newData(s, want, first)
	d.Rows = n
	s.empty()
	if err := s.take(n, len(want), s.dtype.memory()); err != nil {
		return d, fmt.Errorf("%s: %w", s.name, err)
	}
	kinds := make([][]Want, s.cols)
	for i, w := range want {
		kinds[w.Column] = want[i : i+1]
	}
	err := s.each(n, func(j int, b []byte) error {
		for _, w := range kinds[j] {
			var at int
			var msg string
			switch {
			case w.Kind == Any:
				at, msg = s.any(anys[j], b)
			case w.Kind.text():
				var text string
				text, msg = s.text(b, w.Kind)
				at = len(d.Labels[j])
				d.Labels[j] = append(d.Labels[j], text)
			default:
				var x float64
				x, msg = s.number(b, w.Kind)
				at = len(d.Numbers[j])
				d.Numbers[j] = append(d.Numbers[j], x)
			}
			if msg != "" {
				return s.cell(first+at, j, msg)
			}
		}
		return nil
	})
	if err != nil {
		return d, err
	}
	return d, d.finish(anys)
}

// each hands on the elements of the next rows, of an array in Fortran's order all, with their
// columns in the order of the file, in pieces, so that a header cannot make it take more memory than
// the file has bytes to show for.
func (s *npySource) each(rows int, visit func(column int, b []byte) error) error {
	end, inner := s.at+rows*s.cols, s.cols
	if s.fortran {
		inner = s.rows
	}
	most := min(end-s.at, max(1, blockOfBytes/s.dtype.size))
	block := make([]byte, most*s.dtype.size)
	for s.at < end {
		n := min(end-s.at, most)
		buf := block[:n*s.dtype.size]
		if _, err := io.ReadFull(s.r, buf); err != nil {
			return fmt.Errorf("%s: the file is cut short at element %d of %d: %w", s.name, s.at+1, s.rows*s.cols, err)
		}
		for ; n > 0; n, s.at, buf = n-1, s.at+1, buf[s.dtype.size:] {
			j := s.at % inner
			if s.fortran {
				j = s.at / inner
			}
			if err := visit(j, buf); err != nil {
				return err
			}
		}
	}
	return nil
}

// end demands that the file ends after the last element. Archives compare a member's checksum where it ends.
func (s *npySource) end() error {
	switch n, err := io.CopyN(io.Discard, s.r, 1); {
	case n > 0:
		return fmt.Errorf("%s: bytes follow the last element", s.name)
	case err != io.EOF:
		return fmt.Errorf("%s: the end of the file: %w", s.name, err)
	}
	return nil
}

// text is an element as text of a kind, or what is wrong with it.
func (s *npySource) text(b []byte, kind Kind) (text, msg string) {
	text, err := s.dtype.text(b)
	text = s.blanks.Text(text)
	float := s.dtype.kind == 'f'
	switch {
	case kind == OptionalLabel && (float && math.IsNaN(s.blanks.Number(s.dtype.number(b))) || !float && Missing(text)):
		return "", ""
	case kind == Undecided && float:
		return strconv.FormatFloat(s.blanks.Number(s.dtype.number(b)), 'g', -1, 64), ""
	case err != nil:
		return "", err.Error()
	case text == "" && kind == Label: // a blank
		return "", "the cell is empty"
	}
	return text, ""
}

// number is an element as a number of a kind, or what is wrong with it.
func (s *npySource) number(b []byte, kind Kind) (x float64, msg string) {
	if s.dtype.kind == 'U' || s.dtype.kind == 'S' {
		return 0, "the array holds text where numbers are needed"
	}
	x = s.blanks.Number(s.dtype.number(b))
	if math.IsNaN(x) && kind == Optional {
		return nan, ""
	} else if !finite(x) {
		return 0, fmt.Sprintf("%v is not a finite number", x)
	}
	return x, ""
}

// any adds an element to a column and returns which of its elements is wrong, and what
// is wrong with it.
func (s *npySource) any(c *anyColumn, b []byte) (at int, msg string) {
	switch s.dtype.kind {
	case 'U', 'S':
		return c.text(s.dtype.string(b))
	case 'b':
		return c.number(s.dtype.number(b), Boolean)
	}
	return c.number(s.dtype.number(b), Numeric)
}

func (s *npySource) cell(row, column int, msg string) error {
	return &CellError{File: s.name, Row: row + 1, Column: column, Msg: msg}
}

// dtype is an element type: a kind of NumPy's and a size in bytes.
type dtype struct {
	kind  byte // f float, i integer, u unsigned, b boolean, U and S text
	size  int
	order binary.ByteOrder
}

func parseDtype(descr string) (dtype, error) {
	bad := fmt.Errorf("an array of type %q: real numbers, integers, booleans and text can be read", short(descr))
	if len(descr) < 3 {
		return dtype{}, bad
	}
	t := dtype{kind: descr[1], order: binary.LittleEndian}
	switch descr[0] {
	case '<', '|':
	case '>':
		t.order = binary.BigEndian
	default:
		return dtype{}, bad
	}
	n, err := strconv.Atoi(descr[2:])
	if err != nil || n < 1 || n > maxText {
		return dtype{}, bad
	}
	ok := false
	switch t.kind {
	case 'f':
		ok = n == 2 || n == 4 || n == 8
	case 'i', 'u':
		ok = n == 1 || n == 2 || n == 4 || n == 8
	case 'b':
		ok = n == 1
	case 'S':
		ok = true
	case 'U':
		n, ok = 4*n, true
	}
	if !ok || descr[0] == '|' && n > 1 && t.kind != 'S' {
		return dtype{}, bad
	}
	t.size = n
	return t, nil
}

func (t dtype) bits(b []byte) uint64 {
	switch t.size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(t.order.Uint16(b))
	case 4:
		return uint64(t.order.Uint32(b))
	}
	return t.order.Uint64(b)
}

// memory is what a cell of an element takes at most.
func (t dtype) memory() int64 {
	if t.kind == 'U' || t.kind == 'S' {
		return bytesOfText(t.size)
	}
	return numberBytes
}

// signed extends the sign of an integer of t's size.
func (t dtype) signed(b []byte) int64 {
	shift := 64 - 8*t.size
	return int64(t.bits(b)<<shift) >> shift
}

func (t dtype) number(b []byte) float64 {
	switch t.kind {
	case 'f':
		switch t.size {
		case 2:
			return half(uint16(t.bits(b)))
		case 4:
			return float64(math.Float32frombits(uint32(t.bits(b))))
		}
		return math.Float64frombits(t.bits(b))
	case 'i':
		return float64(t.signed(b))
	case 'b':
		if b[0] != 0 {
			return 1
		}
		return 0
	}
	return float64(t.bits(b))
}

// half is the number of an IEEE 754 binary16.
func half(h uint16) float64 {
	sign := 1.0
	if h>>15 != 0 {
		sign = -1
	}
	e, m := int(h>>10&31), float64(h&1023)
	switch e {
	case 0:
		return sign * math.Ldexp(m, -24)
	case 31:
		if m != 0 {
			return nan
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+m, e-25)
}

// text is an element as a label.
func (t dtype) text(b []byte) (string, error) {
	var s string
	switch t.kind {
	case 'i':
		s = strconv.FormatInt(t.signed(b), 10)
	case 'u':
		s = strconv.FormatUint(t.bits(b), 10)
	case 'b':
		s = strconv.FormatBool(b[0] != 0)
	case 'f':
		x := t.number(b)
		if !finite(x) {
			return "", fmt.Errorf("%v is not a label", x)
		}
		s = strconv.FormatFloat(x, 'g', -1, 64)
	case 'S', 'U':
		s = t.string(b)
	}
	if s == "" {
		return "", fmt.Errorf("the label is empty")
	}
	return s, nil
}

// string is an element of text.
func (t dtype) string(b []byte) string {
	if t.kind == 'S' {
		return strings.TrimRight(string(b[:t.size]), "\x00")
	}
	var sb strings.Builder
	for i := 0; i < t.size; i += 4 {
		sb.WriteRune(rune(t.order.Uint32(b[i:]) & 0x7fffffff))
	}
	return strings.TrimRight(sb.String(), "\x00")
}

type npyHeader struct {
	descr   string
	fortran bool
	shape   []int
}

// parseHeader reads the Python dictionary of an NPY header, which has exactly
// the keys descr (text), fortran_order (boolean) and shape (tuple of integers).
func parseHeader(s string) (h npyHeader, err error) {
	p := &literal{s: s}
	seen := map[string]bool{}
	p.expect("{")
	for p.err == nil && !p.take("}") {
		key := p.text()
		p.expect(":")
		if p.err != nil {
			break
		}
		if seen[key] {
			return h, fmt.Errorf("%q is there twice", short(key))
		}
		seen[key] = true
		switch key {
		case "descr":
			h.descr = p.text()
		case "fortran_order":
			if h.fortran = p.take("True"); !h.fortran {
				p.expect("False")
			}
		case "shape":
			h.shape = p.tuple()
		default:
			return h, fmt.Errorf("unknown key %q", short(key))
		}
		if !p.take(",") {
			p.expect("}")
			break
		}
	}
	if p.err != nil {
		return h, p.err
	}
	if strings.TrimSpace(p.s) != "" {
		return h, fmt.Errorf("%q follows the dictionary", short(strings.TrimSpace(p.s)))
	}
	if len(seen) != 3 {
		return h, fmt.Errorf("one of descr, fortran_order and shape is missing")
	}
	return h, nil
}

// literal reads Python literals from the front of s; the first mistake sticks.
type literal struct {
	s   string
	err error
}

func (p *literal) take(tok string) bool {
	p.s = strings.TrimLeft(p.s, " \t\n")
	rest, ok := strings.CutPrefix(p.s, tok)
	p.s = rest
	return ok
}

func (p *literal) expect(tok string) {
	if p.err == nil && !p.take(tok) {
		p.err = fmt.Errorf("expected %s at %q", tok, short(p.s))
	}
}

func (p *literal) text() string {
	for _, q := range []string{"'", `"`} {
		if p.err == nil && p.take(q) {
			text, rest, ok := strings.Cut(p.s, q)
			if p.s = rest; ok {
				return text
			}
		}
	}
	if p.err == nil {
		p.err = fmt.Errorf("expected a quoted text at %q", short(p.s))
	}
	return ""
}

func (p *literal) tuple() (dims []int) {
	p.expect("(")
	for p.err == nil && !p.take(")") {
		p.s = strings.TrimLeft(p.s, " \t\n")
		end := strings.IndexFunc(p.s, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(p.s)
		}
		n, err := strconv.Atoi(p.s[:end])
		if err != nil || len(dims) > 32 {
			p.err = fmt.Errorf("expected a dimension at %q", short(p.s))
			return nil
		}
		p.s = strings.TrimPrefix(p.s[end:], "L") // Python 2 wrote long integers so
		dims = append(dims, n)
		if !p.take(",") {
			p.expect(")")
			break
		}
	}
	return dims
}
