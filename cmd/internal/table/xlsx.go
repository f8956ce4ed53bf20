package table

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// workbook is an Excel file (.xlsx): an archive of documents of markup, as ECMA-376 describes them.
type workbook struct {
	parts   map[string]*zip.File
	sheets  []sheet
	strings []string // texts that cells share
	dates   []bool   // by style of cells, whether it shows a number as a date
	zero    time.Time
	longest int64 // bytes of an element of markup and of a row, at most
	room    room  // of the texts
}

// sheet is a table of a workbook.
type sheet struct{ name, part string }

// newXLSX opens a sheet: it reads as text with separators, with a line for each row.
func newXLSX(name string, z *zip.Reader, opt Options) (Source, error) {
	b := &workbook{parts: map[string]*zip.File{}, longest: opt.longest(), room: room{most: opt.memory()}}
	for _, f := range z.File {
		b.parts[f.Name] = f
	}
	fail := func(err error) (Source, error) { return nil, fmt.Errorf("%s: %w", name, err) }
	if err := b.readSheets(); err != nil {
		return fail(err)
	}
	at := 0
	if opt.Sheet != "" {
		at = slices.IndexFunc(b.sheets, func(s sheet) bool { return s.name == opt.Sheet })
		if at < 0 {
			return fail(fmt.Errorf("no sheet %q: there are %s", short(opt.Sheet), b.names()))
		}
	}
	if err := b.readStrings(); err != nil {
		return fail(err)
	}
	if err := b.readStyles(); err != nil {
		return fail(err)
	}
	rows, err := b.rows(b.sheets[at])
	if err != nil {
		return fail(err)
	}
	opt.Separator, opt.Decimal = ',', '.'
	s, err := newCSV(name, rows, opt, false)
	if err != nil {
		return nil, err
	}
	text := s.(*csvSource)
	text.keep(b.room.taken)
	if opt.Sheet == "" && len(b.sheets) > 1 {
		text.remarks = append(text.remarks, fmt.Sprintf("the sheet %s is read (-sheet names another: there are %s)", short(b.sheets[0].name), b.names()))
	}
	return s, nil
}

// names lists the sheets.
func (b *workbook) names() string {
	var all []string
	for _, s := range b.sheets {
		all = append(all, short(s.name))
	}
	return few(all)
}

// elements visits the elements of a part, in order; a part that is not there has none. inside is called where an
// element begins, and reads from the decoder what is in it if it wants.
func (b *workbook) elements(part string, inside func(d *xml.Decoder, e xml.StartElement) error) error {
	f := b.parts[part]
	if f == nil {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", short(part), err)
	}
	defer r.Close()
	d := xml.NewDecoder(&markupReader{r: r, longest: b.longest})
	for {
		token, err := next(d)
		if err == io.EOF {
			return nil
		}
		if e, ok := token.(xml.StartElement); ok && err == nil {
			err = inside(d, e)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", short(part), err)
		}
	}
}

// next reads a token. An error is short, however long a damaged name, version or encoding is.
func next(d *xml.Decoder) (xml.Token, error) {
	token, err := d.Token()
	if wrong := new(xml.SyntaxError); errors.As(err, &wrong) {
		err = fmt.Errorf("XML syntax error on line %d: %s", wrong.Line, short(wrong.Msg))
	} else if err != nil && strings.HasPrefix(err.Error(), "xml: ") { // of the decoder itself, with a text of the file
		err = errors.New(short(err.Error()))
	}
	return token, err
}

// attribute is the value of an attribute of an element; empty if it has none.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// readSheets finds the sheets and what day their dates count from.
func (b *workbook) readSheets() error {
	const folder = "xl"
	target := map[string]string{}
	err := b.elements(folder+"/_rels/workbook.xml.rels", func(_ *xml.Decoder, e xml.StartElement) error {
		if e.Name.Local == "Relationship" && strings.HasSuffix(attribute(e, "Type"), "/worksheet") {
			part := attribute(e, "Target")
			if !strings.HasPrefix(part, "/") {
				part = path.Join(folder, part)
			}
			target[attribute(e, "Id")] = strings.TrimPrefix(part, "/")
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.zero = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	err = b.elements(folder+"/workbook.xml", func(_ *xml.Decoder, e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			if since := attribute(e, "date1904"); since == "1" || since == "true" {
				b.zero = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
			}
		case "sheet":
			if part := target[attribute(e, "id")]; b.parts[part] != nil {
				b.sheets = append(b.sheets, sheet{attribute(e, "name"), part})
			}
		}
		return nil
	})
	if err == nil && b.sheets == nil {
		err = fmt.Errorf("the Excel file has no sheet with cells")
	}
	return err
}

// readStrings reads the texts that cells share.
func (b *workbook) readStrings() error {
	return b.elements("xl/sharedStrings.xml", func(d *xml.Decoder, e xml.StartElement) error {
		if e.Name.Local != "si" {
			return nil
		}
		text, err := textWithin(d)
		if err != nil {
			return err
		}
		b.strings = append(b.strings, text)
		b.room.taken += bytesOfText(len(text))
		return b.room.check()
	})
}

// textWithin reads an element to its end and returns the text of all its elements t, without how it is pronounced.
func textWithin(d *xml.Decoder) (string, error) {
	var text strings.Builder
	var open []string
	for {
		token, err := next(d)
		if err != nil {
			return "", err
		}
		switch e := token.(type) {
		case xml.StartElement:
			open = append(open, e.Name.Local)
		case xml.EndElement:
			if len(open) == 0 {
				return text.String(), nil
			}
			open = open[:len(open)-1]
		case xml.CharData:
			if n := len(open); n > 0 && open[n-1] == "t" && !slices.Contains(open, "rPh") {
				text.Write(e)
			}
		}
	}
}

// readStyles finds the styles of cells that show numbers as dates.
func (b *workbook) readStyles() error {
	own := map[string]bool{} // formats of the file
	cells := false           // within the styles of cells
	return b.elements("xl/styles.xml", func(_ *xml.Decoder, e xml.StartElement) error {
		switch e.Name.Local {
		case "numFmt":
			own[attribute(e, "numFmtId")] = showsDate(attribute(e, "formatCode"))
		case "cellXfs":
			cells = true
		case "cellStyleXfs", "cellStyles", "dxfs":
			cells = false
		case "xf":
			if cells {
				id := attribute(e, "numFmtId")
				date, ok := own[id]
				b.dates = append(b.dates, date || !ok && slices.Contains(dateFormats, id))
			}
		}
		return nil
	})
}

// dateFormats are the formats of dates that every workbook has, without formats of times alone.
var dateFormats = strings.Fields("14 15 16 17 22 27 28 29 30 31 36 50 51 52 53 54 57 58")

// elapsed is in formats of lengths of time, such as [h]:mm.
var elapsed = regexp.MustCompile(`(?i)\[(h+|m+|s+)\]`)

// showsDate reports whether a format of numbers has a year or a day, or a month without hours and seconds.
func showsDate(format string) bool {
	format, _, _ = strings.Cut(format, ";") // the format of positive numbers
	letters := map[rune]bool{'h': elapsed.MatchString(format)}
	closing, skip := rune(0), false
	for _, c := range strings.ToLower(format) {
		switch {
		case skip:
			skip = false
		case closing != 0:
			if c == closing {
				closing = 0
			}
		case c == '"':
			closing = '"'
		case c == '[':
			closing = ']'
		case c == '\\', c == '_', c == '*':
			skip = true
		default:
			letters[c] = true
		}
	}
	return letters['y'] || letters['d'] || letters['m'] && !letters['h'] && !letters['s']
}

// date writes the number of a day as a date, with its time unless that is midnight.
func (b *workbook) date(text string) (string, error) {
	const lastDay, second = 2958466, 24 * 60 * 60 // of the year 9999
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x < lastDay) {
		return "", fmt.Errorf("%q is not the number of a day", short(text))
	}
	zero := b.zero
	if x < 61 && zero.Year() == 1899 { // Excel's 1900 has a 29 February, which is day 60
		zero = zero.AddDate(0, 0, 1)
	}
	day := math.Floor(x)
	when := zero.AddDate(0, 0, int(day)).Add(time.Duration(math.Round((x-day)*second)) * time.Second)
	if when.Hour() == 0 && when.Minute() == 0 && when.Second() == 0 {
		return when.Format("2006-01-02"), nil
	}
	return when.Format("2006-01-02 15:04:05"), nil
}

// markupReader refuses elements of markup and texts that are longer than there is memory for.
type markupReader struct {
	r             io.Reader
	part, longest int64 // bytes since an element last ended, and at most
}

func (m *markupReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if at := strings.LastIndexByte(string(p[:n]), '>'); at >= 0 {
		m.part = int64(n - at)
	} else {
		m.part += int64(n)
	}
	if m.part > m.longest {
		return n, fmt.Errorf("an element of more than the %d bytes for which there is memory", m.longest)
	}
	return n, err
}
