package page

import (
	"encoding/xml"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
)

// TestWidth compares widths with the widths in Liberation Sans, which are Arial's: a text never needs more room than it gets, and
// never much less.
func TestWidth(t *testing.T) {
	face := font.NewCache(liberation.Collection()).Lookup(font.Font{Variant: "Sans"}, fontSize)
	for _, text := range []string{"20000", "-1250.5", "predicted price of a house, in dollars", "rbf(width=[2.584,2.584])", "WWW", "iii", "Größe λ"} {
		narrow := float64(face.Width(text))
		assert.GreaterOrEqual(t, width(text), narrow, text)
		assert.LessOrEqual(t, width(text), 1.35*narrow, text)
	}
	for c := ' '; c <= '~'; c++ {
		assert.GreaterOrEqual(t, width(string(c)), float64(face.Width(string(c)))-0.01, string(c))
	}
	assert.Equal(t, "kernel", clip("kernel", width("kernel")))
	assert.Equal(t, "ker…", clip("kernel", width("kerne")))
	assert.Equal(t, "…", clip("kernel", 1))
}

// box is the room that a text takes.
type box struct {
	left, top, right, bottom float64
	text                     string
}

// boxes are the rooms of all texts of a drawing that stand upright or upwards.
func boxes(t *testing.T, p *Picture) (all []box) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(p.SVG())))
	var e *xml.StartElement
	for {
		token, err := d.Token()
		if err != nil {
			return all
		}
		switch at := token.(type) {
		case xml.StartElement:
			e = nil
			if at.Name.Local == "text" {
				at = at.Copy()
				e = &at
			}
		case xml.EndElement:
			e = nil
		case xml.CharData:
			if e != nil {
				all = append(all, boxOf(t, e, string(at)))
			}
		}
	}
}

func boxOf(t *testing.T, e *xml.StartElement, text string) box {
	t.Helper()
	a := map[string]string{}
	for _, one := range e.Attr {
		a[one.Name.Local] = one.Value
	}
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return x
	}
	w := width(text)
	if turned, ok := strings.CutPrefix(a["transform"], "translate("); ok {
		at := strings.Fields(strings.TrimSuffix(turned, ") rotate(-90)"))
		x, y := number(at[0]), number(at[1])
		return box{x - 0.75*fontSize, y - w/2, x + 0.25*fontSize, y + w/2, text}
	}
	x, y := number(a["x"]), number(a["y"])
	switch a["text-anchor"] {
	case "middle":
		x -= w / 2
	case "end":
		x -= w
	}
	return box{x, y - 0.75*fontSize, x + w, y + 0.25*fontSize, text}
}

// TestTextsHaveRoom draws pictures whose figures and names are long: no text leaves the picture, and none stands on another.
func TestTextsHaveRoom(t *testing.T) {
	const name = "rbf(width=[0.4332,22.61,3.14,2.72,…],distance=manhattan) of ranks of the columns of a view"
	large := []float64{-1.5e5, 20000, 1.25e5}
	line := func(scale float64) Dependence {
		return Dependence{Target: "the price of a house in the currency of the country where it stands", At: []float64{1 * scale, 2 * scale}, Mean: []float64{3 * scale, 4 * scale}, Low: []float64{2 * scale, 3 * scale}, High: []float64{4 * scale, 5 * scale}}
	}
	all := []*Picture{
		Bars("short", "t", "share ± 2 SD", []Bar{{"carat", 20000, 1e4, 3e4}, {"cut", 1e4, 0, 2e4}}),
		Bars("long", "t", "rise of the loss ± 2 SE", []Bar{{name, 0.7, 0.5, 0.9}, {"b", -0.2, -0.3, 0.1}}),
		Predicted("p", "price", large, large, []float64{-1.6e5, 1e4, 1.15e5}, []float64{-1.4e5, 3e4, 1.35e5}, 1),
		Predicted("q", name+name, []float64{1e6, 2e7}, []float64{1e6, 2e7}, []float64{999999, 2e7 - 1}, []float64{1000001, 2e7 + 1}, 1),
		Calibration("c", "t", name, name, []Reliability{{0.1, 0, 5}}),
		Curves("r", "t", "false positives", "true positives", true, []Curve{{name, []float64{0, 1}, []float64{0, 1}}}),
		Trace([]float64{-123456.75, -123456.5, -123456.25}),
	}
	for _, scale := range []float64{1e-9, 1e-4, 0.01, 1, 100, 1e5, 1e9, 1e14} {
		all = append(all, Dependences("d", "a column with a long name that says what was measured, where and in what unit", "y", []Dependence{line(scale)}, nil, false))
	}
	for _, p := range all {
		texts := boxes(t, p)
		require.NotEmpty(t, texts, p.Name)
		for i, a := range texts {
			assert.GreaterOrEqual(t, a.left, 0.0, "%s: %s", p.Name, a.text)
			assert.GreaterOrEqual(t, a.top, 0.0, "%s: %s", p.Name, a.text)
			assert.LessOrEqual(t, a.right, p.width, "%s: %s", p.Name, a.text)
			assert.LessOrEqual(t, a.bottom, p.height, "%s: %s", p.Name, a.text)
			for _, b := range texts[:i] {
				apart := a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top
				assert.True(t, apart, "%s: %q stands on %q", p.Name, a.text, b.text)
			}
		}
	}
	assert.Contains(t, string(all[0].SVG()), ">20000<")
	assert.Contains(t, string(all[1].SVG()), ">rbf(width=[0.4332,22.61,3.14,2.72,…],distance=manhattan)")
}

// TestLabelsDiffer writes ticks with as many digits as tell them apart.
func TestLabelsDiffer(t *testing.T) {
	for _, values := range [][]float64{{12345600, 12345900}, {-1e-7, 3e-7}, {1e6, 1.0001e6}, {0.99999e-5, 1.00001e-5}, {1e15, 1e15 + 64}} {
		a := newAxis(0, 1, 5, values)
		seen := map[string]bool{}
		for _, v := range a.ticks {
			assert.False(t, seen[a.label(v)], "%v: %s twice", values, a.label(v))
			seen[a.label(v)] = true
		}
	}
}
