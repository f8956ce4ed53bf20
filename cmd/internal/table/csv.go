package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxLine bounds the part of a text file that is looked at before reading.
const maxLine = 1 << 20

type csvSource struct {
	room
	gaps
	name    string
	columns []string
	r       *csv.Reader
	rows    *rowReader // that r reads
	first   []string   // the first row, if it is not a header
	line    int        // of the first row
	skipped int        // lines of comments before all that r has
	comma   bool       // numbers have a decimal comma
	remarks []string
}

// newCSV returns the table of a text. With named, the rows may begin with names for which the first line has no cell. In a workbook they
// cannot: its cells have places.
func newCSV(name string, r io.Reader, opt Options, named bool) (Source, error) {
	rows := &rowReader{r: r, longest: opt.longest()}
	br := bufio.NewReaderSize(rows, maxLine)
	if bom, err := br.Peek(3); err == nil && string(bom) == "\xef\xbb\xbf" {
		_, _ = br.Discard(3)
	}
	head, err := br.Peek(maxLine)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if i := bytes.IndexByte(head, 0); i >= 0 {
		return nil, fmt.Errorf("%s: neither text nor %s: byte %d is zero", name, formats, i+1)
	}
	comment, lines, err := comments(br)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if head, err = br.Peek(maxLine); err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	sep := opt.Separator
	var remarks []string
	if sep == 0 {
		if sep = separator(head); sep == ' ' {
			remarks = []string{"spaces separate the cells (-separator , reads each line as one cell)"}
		}
	}
	comma := opt.Decimal == ',' || opt.Decimal == 0 && decimalComma(head, sep)
	cr := csv.NewReader(br)
	cr.Comma = sep
	cr.ReuseRecord = true
	cr.TrimLeadingSpace = sep != '\t'
	cr.FieldsPerRecord = -1 // ragged rows get our own message

	if lines > 0 {
		cr.Comment = '#'
	}
	s := &csvSource{name: name, r: cr, rows: rows, skipped: lines, comma: comma, remarks: remarks}
	rec, err := s.next()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the file is empty", name)
	}
	if err != nil {
		return nil, s.syntax(err, 1)
	}
	if len(rec) > opt.columns() {
		return nil, fmt.Errorf("%s: %w", name, tooMany(opt.columns()))
	}
	if s.points(rec); comma && opt.Decimal == 0 {
		s.remarks = append(s.remarks, "numbers have a decimal comma (-decimal . reads them as text)")
	}
	header := opt.Header == HeaderYes
	if titles := strings.Split(comment, string(sep)); opt.Header == HeaderAuto && len(titles) == len(rec) && len(rec) > 1 && numeric(rec) && !numeric(titles) {
		s.titles(titles) // as NumPy's savetxt writes them
		s.first = append([]string{}, rec...)
		s.line = s.lineOf()
		return s, nil
	}
	if opt.Header == HeaderAuto {
		header = !numeric(rec)
	}
	if header {
		titles := rec
		if named && namesRows(head, cr) {
			titles = slices.Concat([]string{""}, rec)
			s.remarks = append(s.remarks, "the first line has one name fewer than the rows have cells: the first column has the names of the rows")
		}
		s.titles(titles)
	} else {
		s.columns = positions(len(rec))
		s.first = append([]string{}, rec...)
		s.line = s.lineOf()
	}
	return s, nil
}

// namesRows reports whether the rows of a text begin with a name for which the first line has no cell, as R's write.table writes them. The
// name is quoted, or no number: a number may be half of one with a decimal comma. Where commas do not separate cells, the number 1 is a name
// too. The function takes the settings of a reader.
func namesRows(head []byte, like *csv.Reader) bool {
	r := csv.NewReader(bytes.NewReader(head))
	r.Comma, r.Comment, r.TrimLeadingSpace, r.FieldsPerRecord = like.Comma, like.Comment, like.TrimLeadingSpace, -1
	titles, err := r.Read()
	if err != nil {
		return false
	}
	at := r.InputOffset()
	row, err := r.Read()
	if err != nil || len(row) != len(titles)+1 || row[len(row)-1] == "" {
		return false
	}
	quoted := bytes.HasPrefix(bytes.TrimLeft(head[at:], "\r\n"), []byte(`"`))
	return quoted || like.Comma != ',' && row[0] == "1" || !numeric([]string{strings.ReplaceAll(row[0], ",", ".")})
}

// comments skips the lines at the front that start with #. It returns the last of them, and how many
// lines it skipped.
func comments(br *bufio.Reader) (last string, lines int, err error) {
	for {
		switch b, err := br.Peek(1); {
		case err == io.EOF:
			return last, lines, nil
		case err != nil:
			return "", 0, err
		case b[0] != '#':
			return last, lines, nil
		}
		line, err := br.ReadSlice('\n')
		if err != nil && err != io.EOF {
			return "", 0, err // a comment longer than the buffer
		}
		last, lines = strings.TrimSpace(strings.TrimLeft(string(line), "#")), lines+1
	}
}

// numeric reports whether one of the cells reads as a number.
func numeric(cells []string) bool {
	return slices.ContainsFunc(cells, func(cell string) bool {
		_, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
		return err == nil
	})
}

// titles takes the names of the columns.
func (s *csvSource) titles(cells []string) {
	for _, cell := range cells {
		s.columns = append(s.columns, strings.TrimSpace(strings.Clone(cell)))
	}
	names, remarks := distinct(s.columns)
	s.columns, s.remarks = names, append(s.remarks, remarks...)
}

// next reads a row.
func (s *csvSource) next() ([]string, error) {
	s.rows.next()
	return s.r.Read()
}

// lineOf is the line of the row that was read last.
func (s *csvSource) lineOf() int {
	line, _ := s.r.FieldPos(0)
	return line + s.skipped
}

// separators are what may stand between cells, unless another is given.
var separators = []rune{',', ';', '\t'}

// separator is the one of them that the first line holds most of, unless its commas are decimal. Names may hold one of them too: a separator that divides
// the second line into as many cells as the first, or into one more, goes before others.
func separator(head []byte) rune {
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	for _, sep := range separators[1:] {
		if bytes.ContainsRune(line, sep) && decimalComma(line, sep) {
			return sep
		}
	}
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	best, most, divides := ',', 0, false
	for _, sep := range separators {
		n, rows := unquoted(line, sep), unquoted(second, sep)
		both := n > 0 && (rows == n || rows == n+1)
		if both && !divides || both == divides && n > most {
			best, most, divides = sep, n, both
		}
	}
	if most == 0 && spaced(head) {
		return ' '
	}
	return best
}

// unquoted counts the separators of a line outside of quotes.
func unquoted(line []byte, sep rune) (n int) {
	quoted := false
	for _, b := range line {
		switch {
		case b == '"':
			quoted = !quoted
		case rune(b) == sep && !quoted:
			n++
		}
	}
	return n
}

// spaced reports whether spaces separate the cells of a text, as R's write.table and NumPy's savetxt write them: all rows at the front have as
// many cells as the first line, or all one more, and some column of theirs has numbers alone.
func spaced(head []byte) bool {
	const most = 20 // rows
	r := csv.NewReader(bytes.NewReader(head))
	r.Comma, r.TrimLeadingSpace = ' ', true
	titles, err := r.Read()
	if err != nil || len(titles) < 2 {
		return false
	}
	var numbers []bool
	r.FieldsPerRecord = 0 // as the first of the rows that follow
	for range most {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil || len(row) != len(titles) && len(row) != len(titles)+1 {
			return false
		}
		if numbers == nil {
			numbers = slices.Repeat([]bool{true}, len(row))
		}
		for i, cell := range row {
			numbers[i] = numbers[i] && numeric([]string{cell})
		}
	}
	return slices.Contains(numbers, true)
}

func (s *csvSource) Name() string      { return s.name }
func (s *csvSource) Columns() []string { return s.columns }
func (s *csvSource) Rows() int         { return -1 }
func (s *csvSource) Remarks() []string { return s.remarks }

func (s *csvSource) Blocks(want []Want, rows int) iter.Seq2[Data, error] {
	anys := anyColumns(want, s.blanks)
	return blocks(rows, func(first int) (Data, error) { return s.block(want, anys, first, rows) })
}

// block reads a block of rows, all that are left if rows is 0.
func (s *csvSource) block(want []Want, anys map[int]*anyColumn, first, rows int) (Data, error) {
	d := newData(s, want, first)
	s.empty()
	columns := make([]*anyColumn, len(want)) // the columns of kind Any
	for k, w := range want {
		columns[k] = anys[w.Column]
	}
	for rows == 0 || d.Rows < rows {
		rec, line := s.first, s.line
		if s.first = nil; rec == nil {
			var err error
			if rec, err = s.next(); err == io.EOF {
				break
			} else if err != nil {
				return d, s.syntax(err, first+d.Rows+1)
			}
			s.points(rec)
			line = s.lineOf()
		}
		d.Rows++
		row := first + d.Rows
		if len(rec) != len(s.columns) {
			msg := fmt.Sprintf("%s where there are %d columns", cells(len(rec)), len(s.columns))
			if row == 1 && len(rec) == len(s.columns)+1 && s.line == 0 {
				msg += ": if the rows begin with names, the first line needs a name for them too"
			}
			return d, &CellError{File: s.name, Row: row, Line: line, Column: -1, Msg: msg}
		}
		d.lines = append(d.lines, line)
		if err := s.take(1, 1+len(want), numberBytes); err != nil {
			return d, fmt.Errorf("%s: row %d: %w", s.name, row, err)
		}
		for k, w := range want {
			j := w.Column
			cell := strings.TrimSpace(rec[j])
			if c := columns[k]; w.Kind.text() || c != nil && (c.As == "" || c.As == Text) {
				s.taken += bytesOfText(len(cell)) - numberBytes
			}
			if c := columns[k]; c != nil {
				if at, msg := c.text(cell); msg != "" {
					return d, d.Cell(at, j, msg)
				}
				continue
			}
			cell = s.blanks.Text(cell)
			if w.Kind.text() {
				text, msg := label(cell, w.Kind)
				if msg != "" {
					return d, s.cell(row, line, j, msg)
				}
				d.Labels[j] = append(d.Labels[j], strings.Clone(text))
				continue
			}
			x, msg := parse(cell, w.Kind)
			if msg != "" {
				return d, s.cell(row, line, j, msg)
			}
			d.Numbers[j] = append(d.Numbers[j], x)
		}
	}
	return d, d.finish(anys)
}

func cells(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return fmt.Sprintf("%d cells", n)
}

func (s *csvSource) cell(row, line, column int, msg string) error {
	return &CellError{File: s.name, Row: row, Line: line, Column: column, Name: s.columns[column], Msg: msg}
}

// syntax describes a mistake in the quoting.
func (s *csvSource) syntax(err error, row int) error {
	var pe *csv.ParseError
	if errors.As(err, &pe) {
		return &CellError{File: s.name, Row: row, Line: pe.Line + s.skipped, Column: -1, Msg: pe.Err.Error()}
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

// parse returns a cell's number, or what is wrong with it.
func parse(cell string, kind Kind) (x float64, msg string) {
	if kind == Optional && Missing(cell) {
		return nan, ""
	}
	if cell == "" {
		return 0, "the cell is empty"
	}
	x, err := strconv.ParseFloat(cell, 64)
	switch {
	case err == nil && finite(x):
		return x, ""
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Sprintf("%s is outside the range of a float64", short(cell))
	case err == nil:
		return 0, fmt.Sprintf("%s is not a finite number", short(cell))
	}
	return 0, fmt.Sprintf("%q is not a number", short(cell))
}

// short cuts a long cell for a message that stays on one line.
func short(cell string) string {
	const most = 40
	if len(cell) <= most {
		return cell
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(cell[cut]) {
		cut--
	}
	return cell[:cut] + "…"
}
