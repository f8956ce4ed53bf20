package table

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Limits of a sheet, as Excel has them.
const (
	mostSheetColumns = 1 << 14
	mostSheetRows    = 1 << 20
)

// sheetReader writes the rows of a sheet as lines of text with commas between the cells, a line for each row of the
// sheet. Texts are quoted, dates are written as year-month-day, and errors such as #N/A are empty.
type sheetReader struct {
	*workbook
	name  string
	part  io.Closer
	d     *xml.Decoder
	row   int // the last that was written
	width int // of the first row that has cells, to which others are filled up
	out   []byte
	err   error
}

// rows opens a sheet.
func (b *workbook) rows(s sheet) (io.Reader, error) {
	r, err := b.parts[s.part].Open()
	if err != nil {
		return nil, fmt.Errorf("sheet %s: %w", short(s.name), err)
	}
	return &sheetReader{workbook: b, name: s.name, part: r, d: xml.NewDecoder(&markupReader{r: r, longest: b.longest})}, nil
}

// Read writes the next lines. It closes the part at its end.
func (s *sheetReader) Read(p []byte) (int, error) {
	for len(s.out) == 0 && s.err == nil {
		if s.err = s.nextRow(); s.err != nil {
			_ = s.part.Close() // it was read only
			if s.err != io.EOF {
				s.err = fmt.Errorf("sheet %s: %w", short(s.name), s.err)
			}
		}
	}
	if len(s.out) == 0 {
		return 0, s.err
	}
	n := copy(p, s.out)
	s.out = s.out[n:]
	return n, nil
}

// nextRow reads up to the end of a row.
func (s *sheetReader) nextRow() error {
	for {
		token, err := next(s.d)
		if err != nil {
			return err
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "row" {
			continue
		}
		row := s.row + 1
		if text := attribute(e, "r"); text != "" {
			if row, err = strconv.Atoi(text); err != nil || row <= s.row || row > mostSheetRows {
				return fmt.Errorf("a row is called %q after row %d", short(text), s.row)
			}
		}
		cells, err := s.cells()
		if err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
		s.write(row, cells)
		return nil
	}
}

// write writes a row, and an empty line for each that was left out before it.
func (s *sheetReader) write(row int, cells []string) {
	out := make([]byte, 0, row-s.row)
	for ; s.row < row-1; s.row++ {
		out = append(out, '\n')
	}
	s.row = row
	if len(cells) > 0 && s.width == 0 {
		s.width = len(cells)
	}
	for j := range max(len(cells), s.width) {
		if len(cells) == 0 {
			break
		}
		if j > 0 {
			out = append(out, ',')
		}
		if j < len(cells) {
			out = append(out, cells[j]...)
		}
	}
	s.out = append(out, '\n')
}

// cells reads the cells of a row up to its end, as they stand in the line, without those that are empty at its end.
func (s *sheetReader) cells() (all []string, err error) {
	length := int64(0)
	for {
		token, err := next(s.d)
		if err != nil {
			return nil, err
		}
		switch e := token.(type) {
		case xml.EndElement:
			if e.Name.Local == "row" {
				return all, nil
			}
		case xml.StartElement:
			if e.Name.Local != "c" {
				continue
			}
			at := len(all)
			if name := attribute(e, "r"); name != "" {
				if at = columnOf(name); at < len(all) || at >= mostSheetColumns {
					return nil, fmt.Errorf("a cell is called %q after %d columns", short(name), len(all))
				}
			}
			text, err := s.cell(e)
			switch {
			case err != nil:
				return nil, fmt.Errorf("column %d: %w", at+1, err)
			case text == "":
				continue
			}
			for len(all) < at {
				all = append(all, "")
			}
			all = append(all, text)
			if length += int64(len(text)); length > s.longest {
				return nil, fmt.Errorf("it has more than the %d bytes for which there is memory", s.longest)
			}
		}
	}
}

// columnOf is the column of a cell by its name such as AB12, counted from 0; −1 if it names none.
func columnOf(name string) int {
	at := 0
	for _, c := range name {
		if c < 'A' || c > 'Z' {
			break
		}
		if at = 26*at + int(c-'A') + 1; at > mostSheetColumns {
			return mostSheetColumns
		}
	}
	return at - 1
}

// cell reads a cell to its end.
func (s *sheetReader) cell(e xml.StartElement) (string, error) {
	kind, style := attribute(e, "t"), attribute(e, "s")
	value, inline, err := s.content()
	if err != nil {
		return "", err
	}
	switch kind {
	case "inlineStr":
		return quoted(inline), nil
	case "str", "d":
		return quoted(value), nil
	case "e":
		return "", nil
	case "s":
		at, err := strconv.Atoi(value)
		switch {
		case value == "":
			return "", nil
		case err != nil || at < 0 || at >= len(s.strings):
			return "", fmt.Errorf("no text has the number %q: there are %d", short(value), len(s.strings))
		}
		return quoted(s.strings[at]), nil
	case "b":
		switch value {
		case "0":
			return "false", nil
		case "1":
			return "true", nil
		}
	case "", "n":
		if value == "" {
			return "", nil
		}
		if at, err := strconv.Atoi(style); err == nil && at >= 0 && at < len(s.dates) && s.dates[at] {
			return s.date(value)
		}
		if _, err := strconv.ParseFloat(value, 64); err == nil {
			return value, nil
		}
	}
	return "", fmt.Errorf("%q is no value of the type %q", short(value), short(kind))
}

// content reads a cell to its end: its value, and the text that stands in it.
func (s *sheetReader) content() (value, inline string, err error) {
	var v strings.Builder
	in := 0 // how many elements are open within the cell
	of := ""
	for {
		token, err := next(s.d)
		if err != nil {
			return "", "", err
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "is" && in == 0 {
				if inline, err = textWithin(s.d); err != nil {
					return "", "", err
				}
				continue
			}
			in++
			of = e.Name.Local
		case xml.EndElement:
			if in == 0 {
				return strings.TrimSpace(v.String()), inline, nil
			}
			in--
			of = ""
		case xml.CharData:
			if in == 1 && of == "v" {
				v.Write(e)
			}
		}
	}
}

// quoted is a text as a cell of a line; empty text is an empty cell.
func quoted(text string) string {
	text = strings.TrimSpace(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", `"`, `""`).Replace(text))
	if text == "" {
		return ""
	}
	return `"` + text + `"`
}
