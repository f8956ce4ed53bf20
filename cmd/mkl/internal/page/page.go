// Package page writes a report as one HTML page with everything in it, and draws its pictures as
// SVG. Colours follow the reader's light or dark scheme; tables hold the figures of the pictures.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// Page is a report.
type Page struct {
	Title    string
	Lead     []string // the summary, before all sections
	Warnings []string
	Sections []Section
}

// Section is a part of a page: sentences, then pictures, then tables.
type Section struct {
	ID         string // of its heading, for links
	Title      string
	Paragraphs []string
	Pictures   []*Picture
	Tables     []Table
}

// Table is a table whose first column names the rows.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   bool // the cells are words, not figures
	Names   int  // how many of the columns hold names, the first apart

	// Shades, if there are any, are how dark cells after the first of each row are, from 0 to 1.
	Shades [][]float64

	// Folded tables are shown when they are asked for, and in print.
	Folded bool
}

// Shade is the background of a cell as a style, which is empty if it has none.
func (t Table) Shade(row, column int) template.CSS {
	if t.Shades == nil || column == 0 {
		return ""
	}
	share := min(max(t.Shades[row][column-1], 0), 1)
	return template.CSS(fmt.Sprintf("background:color-mix(in srgb,var(--band) %.0f%%,var(--paper))", 100*share)) //nolint:gosec // a number
}

//go:embed page.html
var source string

var page = template.Must(template.New("page").Parse(source))

// Write writes the page. Control characters in names of columns and classes become escapes.
func (p Page) Write(w io.Writer) error {
	var text strings.Builder
	err := page.Execute(&text, struct {
		Page
		Style template.CSS
	}{p, template.CSS(variables() + styles + seriesStyles())}) //nolint:gosec // ours
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, console.Printable(text.String()))
	return err
}
