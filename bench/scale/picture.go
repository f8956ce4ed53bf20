package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// measured is an error of predictions by a fit to some samples within a limit of seconds, 0 for the default limit.
type measured struct{ samples, limit, rmse float64 }

// readMeasured reads a table with the columns samples, limit and rmse, in this order.
func readMeasured(in io.Reader) (all []measured, err error) {
	rows, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		if i == 0 {
			continue
		}
		var m measured
		for c, to := range []*float64{&m.samples, &m.limit, &m.rmse} {
			if c >= len(row) {
				return nil, fmt.Errorf("line %d: %d columns where 3 are needed", i+1, len(row))
			}
			if *to, err = strconv.ParseFloat(row[c], 64); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
		if !(m.samples > 0 && m.rmse > 0) {
			return nil, fmt.Errorf("line %d: samples and rmse must be positive", i+1)
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no rows below the head")
	}
	return all, nil
}

// Size of the picture and of the rectangle for points.
const (
	width, height            = 460, 260
	left, right, top, bottom = 50, 440, 16, 214
)

// style has the colours of a light and a dark page.
const style = `:root{--ink:#1b1f24;--quiet:#52585f;--grid:#e3e5e8;--main:#1f5fa8;--second:#a8400f}` +
	`@media (prefers-color-scheme:dark){:root{--ink:#e8eaed;--quiet:#a9b0b9;--grid:#30353c;--main:#7db1ee;--second:#f2a36b}}` +
	`text{fill:var(--quiet);font:12px system-ui,sans-serif}.grid{stroke:var(--grid)}.best{stroke:var(--quiet);stroke-dasharray:5 4}` +
	`.main{fill:none;stroke:var(--main);stroke-width:2}.main-point{fill:var(--main)}.second-point{fill:var(--second)}`

// drawMeasured draws errors against samples, on logarithmic scales, with a line at the standard deviation of the noise.
func drawMeasured(out io.Writer, all []measured, noise float64) error {
	fewest, most, worst := math.Inf(1), 0.0, 2*noise
	for _, m := range all {
		fewest, most, worst = min(fewest, m.samples), max(most, m.samples), max(worst, m.rmse)
	}
	least := 0.9 * noise
	place := func(v, lo, hi, from, to float64) float64 {
		return from + (to-from)*math.Log(v/lo)/math.Log(max(hi, 1.01*lo)/lo)
	}
	x := func(v float64) float64 { return place(v, fewest, most, left+10, right-10) }
	y := func(v float64) float64 { return place(v, least, 1.05*worst, bottom, top) }

	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" xmlns="http://www.w3.org/2000/svg"><title>Error against the number of rows</title><style>%s</style>`, width, height, style)
	for v := math.Pow(10, math.Ceil(math.Log10(fewest))); v <= most; v *= 10 {
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`, x(v), x(v), top, bottom)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, x(v), bottom+16, grouped(v))
	}
	for v := noise; v < 1.05*worst; v += noise {
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, left, right, y(v), y(v))
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%.3g</text>`, left-6, y(v)+4, v)
	}
	fmt.Fprintf(&b, `<line class="best" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, left, right, y(noise), y(noise))
	fmt.Fprintf(&b, `<text x="%d" y="%.1f">standard deviation of the noise</text>`, left+6, y(noise)+14)
	var path []string
	for _, m := range all {
		if m.limit == 0 {
			path = append(path, fmt.Sprintf("%.1f,%.1f", x(m.samples), y(m.rmse)))
		}
	}
	fmt.Fprintf(&b, `<polyline class="main" points="%s"/>`, strings.Join(path, " "))
	label := -8.0 // of the first limit above its point, of others below the noise
	for _, m := range all {
		if m.limit == 0 {
			fmt.Fprintf(&b, `<circle class="main-point" r="4" cx="%.1f" cy="%.1f"/>`, x(m.samples), y(m.rmse))
			continue
		}
		fmt.Fprintf(&b, `<circle class="second-point" r="4" cx="%.1f" cy="%.1f"/>`, x(m.samples), y(m.rmse))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="end">-time %gs</text>`, x(m.samples)-4, y(m.rmse)+label, m.limit)
		label = 22
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">rows</text><text x="%d" y="12">root mean square error</text></svg>`+"\n", (left+right)/2, height-10, left)
	_, err := io.WriteString(out, b.String())
	return err
}

// grouped writes a whole number with spaces between groups of three digits.
func grouped(v float64) string {
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// draw draws the errors in a table.
func draw(table, picture string, noise float64) (err error) {
	if !(noise > 0) {
		return fmt.Errorf("-noise %g: the scale of errors begins at the noise, which must be positive", noise)
	}
	in, err := os.Open(table)
	if err != nil {
		return err
	}
	all, err := readMeasured(in)
	in.Close() // after reading alone, an error would change nothing
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	out, err := os.Create(picture)
	if err != nil {
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	return drawMeasured(out, all, noise)
}
