package page

import (
	"fmt"
	"html"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// Picture is a drawing with its words: what it is called and what it shows, for those who do
// not see it.
type Picture struct {
	Name  string // of its file, without an extension
	Title string
	Shows string // what is to be seen, in a sentence or two

	width, height float64
	body          strings.Builder
}

// newPicture is an empty drawing.
func newPicture(name, title string, width, height float64) *Picture {
	return &Picture{Name: name, Title: title, width: width, height: height}
}

// styles are the styles of the classes that drawings use.
const styles = `.plot text{fill:var(--quiet);font:12px "Liberation Sans",Arial,Helvetica,"DejaVu Sans",sans-serif}.plot text.name{fill:var(--ink);paint-order:stroke;stroke:var(--paper);stroke-width:3px}` +
	`.plot .grid{stroke:var(--grid);stroke-width:1}.plot .axis{stroke:var(--line);stroke-width:1}` +
	`.plot .guide{stroke:var(--line);stroke-width:1.5;stroke-dasharray:5 4;fill:none}` +
	`.plot .whisker{stroke:var(--ink);stroke-width:1.5;fill:none}`

// seriesStyles are the styles that colour lines.
func seriesStyles() string {
	var b strings.Builder
	for i, c := range series {
		fmt.Fprintf(&b, ".plot .line%d{stroke:var(--%s);stroke-width:2;fill:none}.plot .fill%d{fill:var(--%s)}", i, c, i, c)
	}
	b.WriteString(".plot .line1{stroke-dasharray:8 3}.plot .line2{stroke-dasharray:2 3}.plot .line3{stroke-dasharray:10 3 2 3}")
	b.WriteString(".plot .band{fill:var(--band)}.plot .bar{stroke:var(--band);stroke-width:2}.plot .thin{stroke-width:1}")
	return b.String()
}

// SVG is the drawing as part of a page, whose style sheet it needs.
func (p *Picture) SVG() template.HTML {
	return template.HTML(p.element("", "")) //nolint:gosec // every text in it is escaped
}

// Write writes the drawing as a file of its own.
func (p *Picture) Write(w io.Writer) error {
	style := "<style>" + variables() + styles + seriesStyles() + "</style>" +
		fmt.Sprintf(`<rect width="%s" height="%s" fill="var(--paper)"/>`, short(p.width), short(p.height))
	_, err := io.WriteString(w, p.element(` xmlns="http://www.w3.org/2000/svg"`, style)+"\n")
	return err
}

func (p *Picture) element(attributes, before string) string {
	id := escaped(p.Name)
	return fmt.Sprintf(`<svg class="plot" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-title %s-desc"%s>`, short(p.width), short(p.height), id, id, attributes) +
		fmt.Sprintf(`<title id="%s-title">%s</title><desc id="%s-desc">%s</desc>`, id, escaped(p.Title), id, escaped(p.Shows)) +
		before + p.body.String() + "</svg>"
}

// escaped is text in a drawing. XML has no place for most control characters, escaped or not.
func escaped(text string) string { return html.EscapeString(console.Printable(text)) }

// short is a place in a drawing, to a tenth; what is no number is drawn at the edge.
func short(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
}

// text writes words at a place; anchor is start, middle or end.
func (p *Picture) text(x, y float64, anchor, class, words string) {
	fmt.Fprintf(&p.body, `<text x="%s" y="%s" text-anchor="%s"`, short(x), short(y), anchor)
	if class != "" {
		fmt.Fprintf(&p.body, ` class="%s"`, class)
	}
	fmt.Fprintf(&p.body, ">%s</text>", escaped(words))
}

// upwards writes words from below to above.
func (p *Picture) upwards(x, y float64, words string) {
	fmt.Fprintf(&p.body, `<text class="name" text-anchor="middle" transform="translate(%s %s) rotate(-90)">%s</text>`, short(x), short(y), escaped(words))
}

func (p *Picture) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&p.body, `<path class="%s" d="M%s %sL%s %s"/>`, class, short(x1), short(y1), short(x2), short(y2))
}

// path draws a line through points.
func (p *Picture) path(class string, x, y []float64) {
	fmt.Fprintf(&p.body, `<path class="%s" d="`, class)
	for i := range x {
		command := "L"
		if i == 0 {
			command = "M"
		}
		p.body.WriteString(command + short(x[i]) + " " + short(y[i]))
	}
	p.body.WriteString(`"/>`)
}

func (p *Picture) rectangle(class string, x, y, width, height float64) {
	fmt.Fprintf(&p.body, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, short(x), short(y), short(max(0, width)), short(max(0, height)))
}

func (p *Picture) dot(class string, x, y, radius float64) {
	fmt.Fprintf(&p.body, `<circle class="%s" cx="%s" cy="%s" r="%s"/>`, class, short(x), short(y), short(radius))
}

// frame draws two axes with their names, ticks and a grid. It moves their ends so that all labels have room.
func (p *Picture) frame(x, y *axis, xName, yName string) {
	x.from = nameHeight + y.widest() + tickGap + 1
	x.to = plotWidth - max(12, width(x.label(x.ticks[len(x.ticks)-1]))/2+1)
	x.thin()
	for _, v := range x.ticks {
		p.line("grid", x.at(v), y.from, x.at(v), y.to)
		p.text(x.at(v), y.from+16, "middle", "", x.label(v))
	}
	for _, v := range y.ticks {
		p.line("grid", x.from, y.at(v), x.to, y.at(v))
		p.text(x.from-tickGap, y.at(v)+4, "end", "", y.label(v))
	}
	p.line("axis", x.from, y.from, x.to, y.from)
	p.line("axis", x.from, y.from, x.from, y.to)
	p.text(plotWidth/2, y.from+34, "middle", "name", clip(xName, plotWidth-2))
	p.upwards(13, (y.from+y.to)/2, clip(yName, y.from-y.to))
}
