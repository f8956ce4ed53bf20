package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// colour is what things of a kind are drawn in, on light and on dark paper, as #rrggbb.
type colour struct{ name, light, dark string }

// palette are the colours by the name that style sheets call them: var(--ink).
var palette = []colour{
	{"paper", "#ffffff", "#16181c"},
	{"panel", "#f4f5f7", "#20242a"},
	{"ink", "#1b1f24", "#e8eaed"},
	{"quiet", "#52585f", "#a9b0b9"},
	{"line", "#8a9099", "#757d88"},
	{"grid", "#e3e5e8", "#30353c"},
	{"link", "#1a56a0", "#8ab8f5"},
	{"main", "#1f5fa8", "#7db1ee"},
	{"band", "#cfe0f3", "#26405e"},
	{"second", "#a8400f", "#f2a36b"},
	{"third", "#22703f", "#7fcf9a"},
	{"fourth", "#7a3b94", "#cf9ce4"},
	{"warn", "#97231b", "#ff9d93"},
}

// pairs are the colours of text and of marks with what lies behind them, and the least contrast that
// they need: 4.5 of text and 3 of marks, as WCAG 2.2 has it.
var pairs = []struct {
	front, back string
	least       float64
}{
	{"ink", "paper", 4.5}, {"ink", "panel", 4.5}, {"quiet", "paper", 4.5}, {"quiet", "panel", 4.5},
	{"link", "paper", 4.5}, {"link", "panel", 4.5}, {"warn", "paper", 4.5}, {"warn", "panel", 4.5}, {"ink", "band", 4.5},
	{"main", "paper", 4.5}, {"second", "paper", 4.5}, {"third", "paper", 4.5}, {"fourth", "paper", 4.5},
	{"line", "paper", 3}, {"main", "band", 3},
}

// series are the colours of the lines of one picture, in turn.
var series = []string{"main", "second", "third", "fourth", "quiet"}

// variables are the palette as a style sheet.
func variables() string {
	var light, dark strings.Builder
	for _, c := range palette {
		fmt.Fprintf(&light, "--%s:%s;", c.name, c.light)
		fmt.Fprintf(&dark, "--%s:%s;", c.name, c.dark)
	}
	return ":root{color-scheme:light dark;" + light.String() + "}\n@media (prefers-color-scheme:dark){:root{" + dark.String() + "}}\n" +
		"@media print{:root{color-scheme:light;" + light.String() + "}}\n"
}

// contrast is the ratio of the luminances of two colours, between 1 and 21, as WCAG 2.2 defines it.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance is how bright a colour is, between 0 and 1.
func luminance(hex string) float64 {
	sum := 0.0
	for i, share := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			panic(err) // the palette is ours
		}
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += share * c
	}
	return sum
}
