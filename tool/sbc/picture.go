package main

import (
	"fmt"
	"html"
	"strings"
)

// picture draws, for each quantity, how far the share of places below z is from z, as SVG. The band holds uniform places
// with probability 0.95, for all z at once.
func (s study) picture(out []outcome) string {
	const width, height, edge = 260, 160, 24
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`,
		width*len(out), height+edge)
	fmt.Fprintf(&b, `<title>%s</title><rect width="100%%" height="100%%" fill="white"/>`, html.EscapeString(s.about))
	for i, o := range out {
		n := len(o.places)
		within, count := bandOf(n, 0.95), counts(o.places)
		most := 0.05
		off := func(c, k int) float64 { return float64(c)/float64(n) - float64(k)/grid }
		for k := range grid + 1 {
			most = max(most, off(within.high[k], k), -off(within.low[k], k), off(count[k], k), -off(count[k], k))
		}
		at := func(c, k int) string {
			x := float64(width*i+edge) + float64((width-2*edge)*k)/grid
			return fmt.Sprintf("%.1f %.1f", x, float64(height)/2-off(c, k)/most*(float64(height)/2-edge))
		}
		var line, up, down []string
		for k := range grid + 1 {
			line, up = append(line, at(count[k], k)), append(up, at(within.high[k], k))
			down = append(down, at(within.low[grid-k], grid-k))
		}
		fmt.Fprintf(&b, `<path fill="#dddddd" d="M%sL%sZ"/>`, strings.Join(up, "L"), strings.Join(down, "L"))
		fmt.Fprintf(&b, `<path fill="none" stroke="#204a87" stroke-width="1.5" d="M%s"/>`, strings.Join(line, "L"))
		fmt.Fprintf(&b, `<text x="%d" y="14">%s: at most ±%.2f, n = %d</text>`, width*i+edge, html.EscapeString(o.name), most, n)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
