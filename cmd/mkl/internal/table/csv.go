package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func newBytes(b []byte) io.Reader { return bytes.NewReader(b) }

// maxLine bounds the part of a text file that is looked at before reading.
const maxLine = 1 << 20

type csvSource struct {
	name    string
	columns []string
	r       *csv.Reader
	first   []string // the first row, if it is not a header
	line    int      // of the first row
}

func newCSV(name string, r io.Reader, opt Options) (Source, error) {
	br := bufio.NewReaderSize(r, maxLine)
	if bom, err := br.Peek(3); err == nil && string(bom) == "\xef\xbb\xbf" {
		_, _ = br.Discard(3)
	}
	head, err := br.Peek(maxLine)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if i := bytes.IndexByte(head, 0); i >= 0 {
		return nil, fmt.Errorf("%s: neither text nor an NPY file: byte %d is zero", name, i+1)
	}
	sep := opt.Separator
	if sep == 0 {
		sep = separator(head)
	}
	cr := csv.NewReader(br)
	cr.Comma = sep
	cr.ReuseRecord = true
	cr.TrimLeadingSpace = sep != '\t'
	cr.FieldsPerRecord = -1 // ragged rows get our own message

	s := &csvSource{name: name, r: cr}
	rec, err := cr.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the file is empty", name)
	}
	if err != nil {
		return nil, s.syntax(err, 1)
	}
	header := opt.Header == HeaderYes
	if opt.Header == HeaderAuto {
		header = true
		for _, cell := range rec {
			if _, err := strconv.ParseFloat(strings.TrimSpace(cell), 64); err == nil {
				header = false
			}
		}
	}
	if header {
		for _, cell := range rec {
			s.columns = append(s.columns, strings.TrimSpace(strings.Clone(cell)))
		}
	} else {
		s.columns = positions(len(rec))
		s.first = append([]string{}, rec...)
		s.line, _ = cr.FieldPos(0)
	}
	return s, nil
}

// separator is the one of , ; and tab that the first line holds most of.
func separator(head []byte) rune {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	best, most := ',', 0
	for _, sep := range []rune{',', ';', '\t'} {
		if n := bytes.Count(line, []byte(string(sep))); n > most {
			best, most = sep, n
		}
	}
	return best
}

func (s *csvSource) Name() string      { return s.name }
func (s *csvSource) Columns() []string { return s.columns }
func (s *csvSource) Rows() int         { return -1 }

func (s *csvSource) Read(want []Want) (Data, error) {
	d := newData(s, want)
	undecided := slices.ContainsFunc(want, func(w Want) bool { return w.Kind == Undecided })
	rec, line := s.first, s.line
	for {
		if rec == nil {
			var err error
			if rec, err = s.r.Read(); err == io.EOF {
				return d, nil
			} else if err != nil {
				return d, s.syntax(err, d.Rows+1)
			}
			line, _ = s.r.FieldPos(0)
		}
		d.Rows++
		if len(rec) != len(s.columns) {
			return d, &CellError{File: s.name, Row: d.Rows, Line: line, Column: -1,
				Msg: fmt.Sprintf("%s where there are %d columns", cells(len(rec)), len(s.columns))}
		}
		if undecided {
			d.lines = append(d.lines, line)
		}
		for _, w := range want {
			j := w.Column
			cell := strings.TrimSpace(rec[j])
			if w.Kind.text() {
				text, msg := label(cell, w.Kind)
				if msg != "" {
					return d, s.cell(d.Rows, line, j, msg)
				}
				d.Labels[j] = append(d.Labels[j], strings.Clone(text))
				continue
			}
			x, msg := parse(cell, w.Kind)
			if msg != "" {
				return d, s.cell(d.Rows, line, j, msg)
			}
			d.Numbers[j] = append(d.Numbers[j], x)
		}
		rec = nil
	}
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

// syntax tells a mistake in the quoting.
func (s *csvSource) syntax(err error, row int) error {
	var pe *csv.ParseError
	if errors.As(err, &pe) {
		return &CellError{File: s.name, Row: row, Line: pe.Line, Column: -1, Msg: pe.Err.Error()}
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
