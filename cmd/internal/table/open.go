package table

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// formats names what can be read besides text.
const formats = "an Excel, NPY, NPZ, Parquet, Arrow, LIBSVM, FASTA or MATLAB file"

// maxNested bounds how often a file can be compressed.
const maxNested = 3

// New returns the source that r holds, recognised by its first bytes. The size is
// the size of a regular file, or -1. Parquet, Arrow, NPZ and MATLAB files are read by
// r's io.ReaderAt if it is one and the size is known, or else kept in memory.
func New(name string, r io.Reader, size int64, opt Options) (Source, error) {
	s, err := recognise(&file{name: name, Reader: r, size: size}, opt, 0)
	if err != nil {
		return nil, err
	}
	is := s.(interface {
		limit(int64)
		leave([]string)
	})
	is.limit(opt.memory())
	is.leave(opt.Blanks)
	return s, nil
}

// file is a file that is to be recognised.
type file struct {
	io.Reader
	name string
	size int64 // -1: not known
}

// signature is a kind of file and how its first bytes tell it.
type signature struct {
	is func(head []byte) bool

	// One of these says what to do with it.
	unpack func(io.Reader) (io.Reader, error)                                      // what is compressed
	stream func(name string, r io.Reader, size int64, opt Options) (Source, error) // from its front
	whole  func(name string, r io.ReaderAt, size int64, opt Options) (Source, error)
	not    string // what it is, and what makes a file of it that can be read
}

// zstdWindow is the largest window that a file may ask for: the one to which zstd itself holds files.
const zstdWindow = 128 << 20

// headBytes is the number of a file's first bytes that decide its format.
const headBytes = 1 << 12

// known are the formats that the first bytes identify. Every other file is text.
var known = append(large, []signature{
	{is: starts("\x1f\x8b"), unpack: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{is: starts("\x28\xb5\x2f\xfd"), unpack: func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30), zstd.WithDecoderMaxWindow(zstdWindow))
	}},
	{is: starts("BZh"), unpack: func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{is: starts(npyMagic), stream: newNPY},
	{is: starts(">"), stream: newFASTA},
	{is: starts("PK\x03\x04"), whole: newZip},
	{is: matlab5, whole: newMAT},
	{is: hdf5, not: "an HDF5 file, as MATLAB's save -v7.3 writes: save it with -v7 in MATLAB, or each array with numpy.save in Python (h5py)"},
	{is: starts("\xfd7zXZ\x00"), not: "compressed by xz: unxz unpacks it"},
	{is: starts("7z\xbc\xaf\x27\x1c"), not: "a 7z archive: 7z x unpacks it"},
	{is: starts("\xff\xfe", "\xfe\xff"), not: "text in UTF-16: iconv -f UTF-16 -t UTF-8 makes it UTF-8"},
	{is: starts("\xd0\xcf\x11\xe0"), not: "an old Excel file (.xls): save it as .xlsx or CSV"},
	{is: starts("SQLite format 3\x00"), not: `an SQLite database: sqlite3 -header -csv FILE "select * from TABLE" writes CSV`},
	{is: starts("RDX2\n", "RDX3\n", "RDA3\n", "X\n\x00\x00\x00", "A\n2\n", "A\n3\n"), not: "an R data file: write.csv in R writes CSV"},
	{is: starts("\x80\x02", "\x80\x03", "\x80\x04", "\x80\x05"), not: "a Python pickle: to_csv or numpy.save write what can be read"},
	{is: starts("<stata_dta>"), not: "a Stata file: export delimited in Stata, or pandas.read_stata, makes CSV"},
	{is: starts("$FL2", "$FL3"), not: "an SPSS file: pandas.read_spss makes CSV"},
	{is: starts("ORC"), not: "an ORC file: pandas.read_orc makes CSV or Parquet"},
	{is: starts("Obj\x01"), not: "an Avro file: fastavro in Python makes CSV"},
	{is: arff, not: "an ARFF file: scipy.io.arff in Python, or Weka, makes CSV"},
	{is: json, not: "JSON: pandas.read_json, or jq -r with @csv, makes CSV"},
	{is: starts("%PDF"), not: "a PDF document, not a table"},
	{is: starts("<!DOCTYPE", "<!doctype", "<html", "<HTML", "<?xml"), not: "a document of markup, not a table: was a page saved in place of the file?"},
}...)

func starts(magics ...string) func([]byte) bool {
	return func(head []byte) bool {
		for _, m := range magics {
			if bytes.HasPrefix(head, []byte(m)) {
				return true
			}
		}
		return false
	}
}

// hdf5 finds the signature, which may stand behind a block of the user's: MATLAB's is of 512 bytes.
func hdf5(head []byte) bool {
	const signature = "\x89HDF\r\n\x1a\n"
	for at := 0; at < len(head); at = max(512, 2*at) {
		if bytes.HasPrefix(head[at:], []byte(signature)) {
			return true
		}
	}
	return false
}

// matlab5 recognises a MAT-file of level 5 by its version and the mark of its byte order.
func matlab5(head []byte) bool {
	return len(head) >= 128 && (string(head[124:128]) == "\x00\x01IM" || string(head[124:128]) == "\x01\x00MI")
}

func arff(head []byte) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '%' {
			return bytes.HasPrefix(bytes.ToLower(line), []byte("@relation"))
		}
	}
	return false
}

func json(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("{\"")) || bytes.HasPrefix(head, []byte("[{")) || bytes.HasPrefix(head, []byte("[["))
}

// recognise opens a file.
func recognise(f *file, opt Options, nested int) (Source, error) {
	br := bufio.NewReaderSize(f.Reader, headBytes)
	head, err := br.Peek(headBytes)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	for _, k := range known {
		if !k.is(head) {
			continue
		}
		switch {
		case k.not != "":
			return nil, fmt.Errorf("%s is %s", f.name, k.not)
		case k.unpack != nil:
			if nested++; nested > maxNested {
				return nil, fmt.Errorf("%s: compressed more than %d times", f.name, maxNested)
			}
			r, err := k.unpack(br)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.name, err)
			}
			return recognise(&file{name: f.name, Reader: r, size: -1}, opt, nested)
		case k.whole != nil:
			at, size, kept, err := f.whole(br, opt.memory())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.name, err)
			}
			s, err := k.whole(f.name, at, size, opt)
			if err == nil {
				s.(interface{ keep(int64) }).keep(kept)
			}
			return s, err
		}
		return k.stream(f.name, br, f.size, opt)
	}
	if opt.Separator == 0 && libsvm(head) {
		return newLIBSVM(f.name, br, opt)
	}
	return newCSV(f.name, &lineReader{r: br, separator: opt.Separator, most: opt.columns()}, opt, true)
}

// whole returns a file's bytes by their position, how many they are, and how many of them it keeps in memory.
// It keeps at most memory bytes.
func (f *file) whole(br *bufio.Reader, memory int64) (at io.ReaderAt, size, kept int64, err error) {
	if at, ok := f.Reader.(io.ReaderAt); ok && f.size >= 0 {
		return at, f.size, 0, nil
	}
	all, err := io.ReadAll(&keptReader{room: room{most: memory}, r: br, each: 2})
	return bytes.NewReader(all), int64(len(all)), int64(cap(all)), err
}

// keptReader reads a file that is kept, as long as there is memory.
type keptReader struct {
	room
	r    io.Reader
	each int64 // what a byte of the file takes
	line int64 // what a line takes besides
}

func (k *keptReader) Read(p []byte) (int, error) {
	n, err := k.r.Read(p)
	k.taken += k.each * int64(n)
	if k.line > 0 {
		k.taken += k.line * int64(bytes.Count(p[:n], []byte{'\n'}))
	}
	if k.taken > k.most {
		return n, fmt.Errorf("it needs more memory than the %d MiB that there are", k.most>>20)
	}
	return n, err
}

// lineReader refuses lines that are longer than any row of a table: a small file that is
// compressed may hold a line that memory does not.
type lineReader struct {
	r    io.Reader
	line int64 // bytes of the line so far

	separator   rune // what stands between cells; 0: any of what may
	cells, most int  // of the line so far, and at most; 0 is no limit
}

// longestLine is the length of the longest line, some hundred million bytes.
const longestLine = 1 << 29

func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	line := p[:n]
	if at := bytes.LastIndexByte(line, '\n'); at >= 0 {
		line, l.line, l.cells = line[at+1:], 0, 0
	}
	l.line += int64(len(line))
	between := separators
	if l.separator != 0 {
		between = []rune{l.separator}
	}
	for _, separator := range between {
		l.cells += bytes.Count(line, []byte(string(separator)))
	}
	switch {
	case l.line > longestLine:
		return n, fmt.Errorf("a line of more than %d bytes", longestLine)
	case l.most > 0 && l.cells > l.most:
		return n, tooMany(l.most)
	}
	return n, err
}

// columnar is a file that is read by columns.
type columnar struct {
	room
	gaps
	name    string
	columns []string
	rows    int // -1: not known
	remarks []string

	// read reads the cells of columns in the next so many rows, or in all that are left if rows is 0;
	// the values of each are added to the column. The columns are the same ones in every call.
	read  func(columns []*columnCells, rows int) error
	whole bool   // read reads all rows, however many it is asked for
	close func() // ends reading; nil: nothing is to be done
}

// columnCells takes the cells of a column of a columnar file, each with whatever the file says that it is.
type columnCells struct {
	*room
	column int
	any    anyColumn
	wrong  string // the first mistake, with where it is
	at     int
	n      int
}

func (c *columnCells) set(at int, msg string) {
	if msg != "" && c.wrong == "" {
		c.at, c.wrong = at, msg
	}
	c.n++
}

// number, boolean, date and text add a cell; NaN and empty text say that there is nothing.
func (c *columnCells) number(x float64) { c.set(c.any.number(x, Numeric)) }
func (c *columnCells) date(x float64)   { c.set(c.any.number(x, Date)) }
func (c *columnCells) text(s string) {
	c.taken += bytesOfText(len(s)) - numberBytes
	c.set(c.any.text(strings.TrimSpace(s)))
}
func (c *columnCells) boolean(b bool) {
	x := 0.0
	if b {
		x = 1
	}
	c.set(c.any.number(x, Boolean))
}

// distinct gives each column a name of its own.
func (s *columnar) distinct() {
	names, remarks := distinct(s.columns)
	s.columns, s.remarks = names, append(s.remarks, remarks...)
}

func (s *columnar) Name() string      { return s.name }
func (s *columnar) Columns() []string { return s.columns }
func (s *columnar) Rows() int         { return s.rows }
func (s *columnar) Remarks() []string { return s.remarks }

// Blocks first reads all columns as columns of Any, as text where text is wanted.
func (s *columnar) Blocks(want []Want, rows int) iter.Seq2[Data, error] {
	all, anys := make([]*columnCells, len(want)), map[int]*anyColumn{}
	for k, w := range want {
		c := &columnCells{room: &s.room, column: w.Column, any: anyColumn{Want: w, blanks: s.blanks}}
		if w.Kind.text() {
			c.any.As = Text
		}
		all[k], anys[w.Column] = c, &c.any
	}
	if s.whole {
		return cut(rows, func() (Data, error) { return s.block(want, all, anys, 0, 0) })
	}
	return func(yield func(Data, error) bool) {
		if s.close != nil {
			defer s.close()
		}
		blocks(rows, func(first int) (Data, error) { return s.block(want, all, anys, first, rows) })(yield)
	}
}

// block reads a block of rows, all that are left if rows is 0.
func (s *columnar) block(want []Want, all []*columnCells, anys map[int]*anyColumn, first, rows int) (Data, error) {
	d := newData(s, want, first)
	d.Rows = max(s.rows-first, 0)
	if rows > 0 {
		d.Rows = min(d.Rows, rows)
	}
	s.empty()
	if err := s.take(d.Rows, len(want), numberBytes); err != nil {
		return d, fmt.Errorf("%s: %w", s.name, err)
	}
	for _, c := range all {
		c.n = 0
	}
	if err := s.read(all, rows); err != nil {
		return d, fmt.Errorf("%s: %w", s.name, err)
	}
	for k, c := range all {
		if k == 0 && s.rows < 0 {
			d.Rows = c.n
		}
		switch {
		case c.wrong != "":
			return d, d.Cell(c.at, c.column, c.wrong)
		case c.n != d.Rows:
			return d, fmt.Errorf("%s: column %q has %d rows where there are %d", s.name, s.columns[c.column], first+c.n, first+d.Rows)
		}
	}
	if err := d.finish(anys); err != nil {
		return d, err
	}
	for _, w := range want {
		if err := d.settle(w); err != nil {
			return d, err
		}
	}
	return d, nil
}

// cut yields the table that read returns in blocks of the given number of rows, or whole if rows is 0.
func cut(rows int, read func() (Data, error)) iter.Seq2[Data, error] {
	return func(yield func(Data, error) bool) {
		d, err := read()
		if err != nil || rows == 0 || d.Rows <= rows {
			yield(d, err)
			return
		}
		for first := 0; first < d.Rows; first += rows {
			of := make([]int, min(rows, d.Rows-first))
			for i := range of {
				of[i] = first + i
			}
			if !yield(d.Some(of), nil) {
				return
			}
		}
	}
}

// settle makes a column that was read as Any one of the kind that was wanted.
func (d *Data) settle(w Want) error {
	j, gap := w.Column, d.Gaps[w.Column]
	if w.Kind == Any {
		return nil
	}
	typ := d.Types[j]
	delete(d.Types, j)
	delete(d.Gaps, j)
	switch {
	case (w.Kind == Label || w.Kind == Number) && gap.First != nil:
		return gap.First
	case !w.Kind.text() && typ == Text:
		for i, cell := range d.Labels[j] {
			if cell != "" {
				return d.Cell(i, j, fmt.Sprintf("%q is not a number", short(cell)))
			}
		}
	}
	return nil
}
