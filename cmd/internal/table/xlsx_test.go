package table

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// houses is a workbook that the library excelize wrote: an empty row, names, an empty row, and three rows of numbers,
// text, dates, booleans, numbers in formats other than dates, and dates with times; and a second sheet.
func houses(t *testing.T) string {
	t.Helper()
	return packed(t, "houses.xlsx")
}

func TestXLSX(t *testing.T) {
	s, err := New("h.xlsx", strings.NewReader(houses(t)), -1, Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"area", "city", "built", "garden", "price", "share", "seen"}, s.Columns())
	assert.Equal(t, []string{"the sheet Houses is read (-sheet names another: there are Houses, Notes)"}, s.Remarks())
	var want []Want
	for j := range s.Columns() {
		want = append(want, Want{Column: j, Kind: Any})
	}
	d, err := Read(s, want)
	require.NoError(t, err)
	assert.Equal(t, map[int]Type{0: Numeric, 1: Text, 2: Date, 3: Boolean, 4: Numeric, 5: Numeric, 6: Date}, d.Types)
	assert.Equal(t, []string{`Ulm, "old" town`, "Köln Süd", ""}, d.Labels[1])
	assert.Equal(t, 1.5, d.Numbers[0][0])
	assert.True(t, d.Numbers[0][1] != d.Numbers[0][1])
	assert.Equal(t, -3.0, d.Numbers[0][2])
	assert.Equal(t, []float64{20455, 0, -25509}, d.Numbers[2]) // days since 1970
	assert.Equal(t, []float64{1, 0, 1}, d.Numbers[3])
	assert.Equal(t, []float64{250000, 1e-7, 12345678.25}, d.Numbers[4])
	assert.Equal(t, []float64{0.125, 1, -0.5}, d.Numbers[5])
	assert.InDeltaSlice(t, []float64{20516 + 15.5/24, 10957 - 1.0/86400}, d.Numbers[6][:2], 1e-9)

	s, err = New("h.xlsx", strings.NewReader(houses(t)), -1, Options{Sheet: "Notes"})
	require.NoError(t, err)
	assert.Empty(t, s.Remarks())
	d, err = Read(s, []Want{{Column: 0, Kind: Number}})
	require.NoError(t, err)
	assert.Equal(t, []float64{7}, d.Numbers[0])
	_, err = New("h.xlsx", strings.NewReader(houses(t)), -1, Options{Sheet: "Nots"})
	assert.EqualError(t, err, `h.xlsx: no sheet "Nots": there are Houses, Notes`)
}

// book is a workbook of one sheet; some of its documents are given.
func book(t *testing.T, parts map[string]string) string {
	t.Helper()
	all := map[string]string{
		"xl/workbook.xml":            `<workbook><sheets><sheet name="S" id="a"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" Type="x/worksheet" Target="/xl/s.xml"/></Relationships>`,
		"xl/sharedStrings.xml":       `<sst><si><t>a</t><rPh><t>no</t></rPh></si><si><r><t>b</t></r><r><t>c</t></r></si></sst>`,
		"xl/styles.xml":              `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="[h]:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs></styleSheet>`,
	}
	for name, text := range parts {
		all[name] = text
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range all {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return "PK\x03\x04" + b.String()[4:]
}

// sheetOf is a workbook with rows of cells.
func sheetOf(t *testing.T, rows string) string {
	t.Helper()
	return book(t, map[string]string{"xl/s.xml": "<worksheet><sheetData>" + rows + "</sheetData></worksheet>"})
}

// lines are what a sheet becomes.
func lines(t *testing.T, file string) (names []string, columns [][]string, err error) {
	t.Helper()
	s, err := New("f", strings.NewReader(file), -1, Options{Header: HeaderYes})
	if err != nil {
		return nil, nil, err
	}
	var want []Want
	for j := range s.Columns() {
		want = append(want, Want{Column: j, Kind: OptionalLabel})
	}
	d, err := Read(s, want)
	for j := range s.Columns() {
		columns = append(columns, d.Labels[j])
	}
	return s.Columns(), columns, err
}

// TestSheet reads what a sheet may have: shared texts of several runs, cells without names, gaps, errors and formulas.
func TestSheet(t *testing.T) {
	names, columns, err := lines(t, sheetOf(t, `<row r="3"><c r="A3" t="s"><v>0</v></c><c r="C3" t="s"><v>1</v></c></row>`+
		`<row><c t="b"><v>1</v></c><c t="str"><f>A1</f><v>x, y</v></c><c t="e"><v>#N/A</v></c></row>`+
		`<row r="9"><c r="B9" s="1"><v>60.5</v></c><c r="C9" s="2"><v>1.25</v></c><c r="D9" s="1"/></row>`))
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "2", "bc"}, names)
	assert.Equal(t, [][]string{{"true", ""}, {"x, y", "1900-03-01 12:00:00"}, {"", "1.25"}}, columns)
	names, columns, err = lines(t, book(t, map[string]string{
		"xl/workbook.xml": `<workbook><workbookPr date1904="1"/><sheets><sheet name="S" id="a"/></sheets></workbook>`,
		"xl/s.xml":        `<worksheet><sheetData><row><c t="inlineStr"><is><t>n</t></is></c></row><row><c s="1"><v>1</v></c></row></sheetData></worksheet>`,
	}))
	require.NoError(t, err)
	assert.Equal(t, []string{"n"}, names)
	assert.Equal(t, [][]string{{"1904-01-02"}}, columns)
}

// TestDamagedXLSX reports what is wrong with a workbook, and where.
func TestDamagedXLSX(t *testing.T) {
	const a = `<row r="1"><c r="A1" t="s"><v>0</v></c></row>`
	for rows, want := range map[string]string{
		a + `<row r="2"><c t="s"><v>-1</v></c></row>`:              `f: sheet S: row 2: column 1: no text has the number "-1": there are 2`,
		a + `<row r="2"><c t="s"><v>2</v></c></row>`:               `no text has the number "2"`,
		a + `<row r="2"><c><v>x</v></c></row>`:                     `"x" is no value of the type ""`,
		a + `<row r="2"><c t="b"><v>2</v></c></row>`:               `"2" is no value of the type "b"`,
		a + `<row r="2"><c s="1"><v>-1</v></c></row>`:              `"-1" is not the number of a day`,
		a + `<row r="1"/>`:                                         `a row is called "1" after row 1`,
		a + `<row r="99999999"/>`:                                  `a row is called "99999999" after row 1`,
		a + `<row r="2"><c r="B2"><v>1</v></c><c r="A2"/></row>`:   `a cell is called "A2" after 2 columns`,
		a + `<row r="2"><c r="AAAA2"><v>1</v></c></row>`:           `a cell is called "AAAA2" after 0 columns`,
		a + `<row r="2"><c r="12"><v>1</v></c></row>`:              `a cell is called "12" after 0 columns`,
		a + `</` + strings.Repeat("x", 9999) + `>`:                 "XML syntax error on line 1: element <sheetData> closed by </xxxxxxxx…",
		a + `<row r="2"><c>`:                                       `XML syntax error`,
		a + `<row r="2"><c r="B2"><v>1</v></c></row>`:              `f: row 1 (line 2): 2 cells where there are 1 columns`,
		a + `<row r="2"><c>` + strings.Repeat("1", 3<<20) + `</c>`: `an element of more than`,
	} {
		s, err := New("f", strings.NewReader(sheetOf(t, rows)), -1, Options{Header: HeaderYes, Memory: 1 << 26})
		if err == nil {
			_, err = Read(s, []Want{{Column: 0, Kind: OptionalLabel}})
		}
		assert.ErrorContains(t, err, want)
	}
	for part, want := range map[string]string{
		"xl/workbook.xml":      "f: xl/workbook.xml: XML syntax error",
		"xl/styles.xml":        "f: xl/styles.xml: XML syntax error",
		"xl/sharedStrings.xml": "f: xl/sharedStrings.xml: XML syntax error",
	} {
		_, err := New("f", strings.NewReader(book(t, map[string]string{part: "<a>", "xl/s.xml": "<worksheet/>"})), -1, Options{})
		assert.ErrorContains(t, err, want)
	}
	version := `<?xml version="` + strings.Repeat("1", 5000) + `"?><workbook/>`
	_, err := New("f", strings.NewReader(book(t, map[string]string{"xl/workbook.xml": version})), -1, Options{})
	require.ErrorContains(t, err, "f: xl/workbook.xml: xml: unsupported version")
	assert.Less(t, len(err.Error()), 100)
	_, err = New("f", strings.NewReader(book(t, nil)), -1, Options{})
	assert.EqualError(t, err, "f: the Excel file has no sheet with cells")
	_, err = New("f", strings.NewReader(sheetOf(t, "")), -1, Options{})
	assert.EqualError(t, err, "f: the file is empty")
}

// TestShowsDate distinguishes formats of dates from others.
func TestShowsDate(t *testing.T) {
	for format, want := range map[string]bool{
		"yyyy-mm-dd": true, "d.m.yy hh:mm": true, "mmm": true, "[$-407]mmmm": true, "h:mm": false, "[h]:mm:ss": false, "[hh]:mm": false, "mm:ss": false,
		"General": false, "0.00": false, `0 "days"`: false, `0\d`: false, "#,##0_d": false, "[Red]0;[Yellow]-0": false, "0.00E+00": false, "": false,
	} {
		assert.Equal(t, want, showsDate(format), format)
	}
}
