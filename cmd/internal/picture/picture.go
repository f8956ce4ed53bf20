// Package picture draws what the command finds: a fitted curve over its data,
// and distributions as boxes.
package picture

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Curve is a regression on one input.
type Curve struct {
	Title, XLabel, YLabel string

	X, Y   []float64 // the data
	Filled []bool    // of each datum: drawn as a filled point

	At                 []float64 // inputs of the curve, rising
	Mean, Lower, Upper []float64 // of the prediction at them
}

var (
	ink    = color.NRGBA{0x22, 0x22, 0x22, 0xff}
	grey   = color.NRGBA{0x88, 0x88, 0x88, 0xff}
	line   = color.NRGBA{0x1f, 0x5f, 0xa8, 0xff}
	band   = color.NRGBA{0xd3, 0xe2, 0xf2, 0xff}
	pale   = color.NRGBA{0xee, 0xee, 0xee, 0xff}
	accent = color.NRGBA{0xc2, 0x3b, 0x22, 0xff}
)

// Format is the kind of picture that a file's name asks for: svg or png.
func Format(path string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".svg", ".png":
		return ext[1:], nil
	default:
		return "", fmt.Errorf("%s: a picture's name ends in .svg or .png", path)
	}
}

// Write draws the curve as svg or png.
func (c Curve) Write(w io.Writer, format string) error {
	p := newPlot(c.Title, c.XLabel, c.YLabel)
	outline := make(plotter.XYs, 0, 2*len(c.At))
	mean := make(plotter.XYs, len(c.At))
	for i, x := range c.At {
		outline = append(outline, plotter.XY{X: x, Y: c.Upper[i]})
		mean[i] = plotter.XY{X: x, Y: c.Mean[i]}
	}
	for i := len(c.At) - 1; i >= 0; i-- {
		outline = append(outline, plotter.XY{X: c.At[i], Y: c.Lower[i]})
	}
	polygon, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	polygon.Color, polygon.LineStyle.Width = band, 0
	curve, err := plotter.NewLine(mean)
	if err != nil {
		return err
	}
	curve.LineStyle = draw.LineStyle{Color: line, Width: vg.Points(1.5)}

	var open, filled plotter.XYs
	for i, x := range c.X {
		if xy := (plotter.XY{X: x, Y: c.Y[i]}); c.Filled[i] {
			filled = append(filled, xy)
		} else {
			open = append(open, xy)
		}
	}
	p.Add(polygon, curve)
	p.Legend.Add("mean", curve)
	p.Legend.Add("95 % predictive band", polygon)
	for _, s := range []struct {
		name  string
		xys   plotter.XYs
		glyph draw.GlyphStyle
	}{
		{"sample", open, draw.GlyphStyle{Color: grey, Radius: 2, Shape: draw.RingGlyph{}}},
		{"sample with nonzero weight", filled, draw.GlyphStyle{Color: accent, Radius: 3.5, Shape: draw.CircleGlyph{}}},
	} {
		if len(s.xys) == 0 {
			continue
		}
		points, err := plotter.NewScatter(s.xys)
		if err != nil {
			return err
		}
		points.GlyphStyle = s.glyph
		p.Add(points)
		p.Legend.Add(s.name, points)
	}
	p.Legend.Padding, p.Legend.ThumbnailWidth = 2, vg.Points(16)
	p.Legend.YOffs, p.Legend.XOffs = vg.Points(4), vg.Points(-4)
	return render(w, format, 10*vg.Centimeter, p)
}

// newPlot returns an empty plot in the pictures' style.
func newPlot(title, xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, xLabel, yLabel
	p.Title.Padding = 6
	for _, s := range []*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font,
		&p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font,
	} {
		s.Variant = "Sans"
	}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Tick.Marker = ticks{}
		a.LineStyle.Color, a.Tick.LineStyle.Color, a.Tick.Label.Color = ink, ink, ink
	}
	return p
}

// render draws plots side by side, their axes aligned, as svg or png.
func render(w io.Writer, format string, height vg.Length, plots ...*plot.Plot) error {
	const width = 16 * vg.Centimeter
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch format {
	case "svg":
		canvas = vgsvg.New(width, height)
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(192))}
	default:
		return fmt.Errorf("no picture format %q", format)
	}
	tiles := draw.Tiles{Rows: 1, Cols: len(plots), PadX: 4 * vg.Millimeter}
	for i, c := range plot.Align([][]*plot.Plot{plots}, tiles, draw.New(canvas))[0] {
		plots[i].Draw(c)
	}
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return err
	}
	// Few machines have the font whose measures the layout used; Arial's are the same.
	const family = "font-family:Liberation Sans"
	_, err := w.Write(bytes.ReplaceAll(out.Bytes(), []byte(family+";"), []byte(family+",Arial,Helvetica,sans-serif;")))
	return err
}

// ticks labels the multiples of 1, 2 or 5 times a power of ten, five to ten of
// them on an axis.
type ticks struct{}

func (ticks) Ticks(lo, hi float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/5)))
	for _, m := range []float64{5, 2} {
		if (hi-lo)/(m*step) >= 5 {
			step *= m
			break
		}
	}
	var all []plot.Tick
	for k := math.Ceil(lo / step); k*step <= hi; k++ {
		x := float64(k*step) + 0 // adding 0 turns -0 into 0
		all = append(all, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'g', 10, 64)})
	}
	return all
}
