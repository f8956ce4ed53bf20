package picture

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var curve = Curve{
	Title: "Two & a half", XLabel: "x", YLabel: "y",
	X: []float64{0, 1, 2}, Y: []float64{0, 2, 1}, Filled: []bool{false, true, false},
	At: []float64{0, 1, 2}, Mean: []float64{0, 1, 1}, Lower: []float64{-1, 0, 0}, Upper: []float64{1, 2, 2},
}

func TestSVG(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, curve.Write(&out, "svg"))
	text := ""
	d := xml.NewDecoder(&out)
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if c, ok := tok.(xml.CharData); ok {
			text += strings.TrimSpace(string(c)) + "|"
		}
	}
	for _, s := range []string{"Two & a half|", "|sample|", "|sample with nonzero weight|", "|mean|"} {
		assert.Contains(t, text, s)
	}
}

func TestPNG(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, curve.Write(&out, "png"))
	im, err := png.Decode(&out)
	require.NoError(t, err)
	assert.Greater(t, im.Bounds().Dx(), 1000)
}

func TestFormat(t *testing.T) {
	for path, want := range map[string]string{"a.svg": "svg", "b/a.PNG": "png"} {
		got, err := Format(path)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := Format("a.pdf")
	assert.EqualError(t, err, "a.pdf: a picture's name ends in .svg or .png")
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 60, "0 10 20 30 40 50 60"},
		{-134, 99, "-120 -100 -80 -60 -40 -20 0 20 40 60 80"},
		{0.1, 0.13, "0.1 0.105 0.11 0.115 0.12 0.125 0.13"},
		{-0.5, 1.1, "-0.4 -0.2 0 0.2 0.4 0.6 0.8 1"},
		{-1, 1, "-1 -0.8 -0.6 -0.4 -0.2 0 0.2 0.4 0.6 0.8 1"},
	} {
		var labels []string
		for _, tick := range (ticks{}).Ticks(c.lo, c.hi) {
			labels = append(labels, tick.Label)
		}
		assert.Equal(t, c.want, strings.Join(labels, " "))
	}
}

func TestBoxes(t *testing.T) {
	b := Boxes{XLabel: "box", YLabel: "size", Panels: []BoxPanel{
		{Title: "left", Values: [][]float64{{0, 1, 2, 3, 9}, {1}}, Marked: 1},
		{Title: "right", Values: [][]float64{{0, 0, 0}, {4, 5}}},
	}}
	for _, format := range []string{"svg", "png"} {
		var out bytes.Buffer
		require.NoError(t, b.Write(&out, format))
		if format == "svg" {
			for _, s := range []string{"left", "right", "size"} {
				assert.Contains(t, out.String(), s)
			}
		}
	}
	assert.Error(t, Boxes{}.Write(io.Discard, "svg"))
	b.Panels[0].Values[1] = nil
	assert.Error(t, b.Write(io.Discard, "svg"))
}
