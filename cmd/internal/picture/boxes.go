package picture

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Boxes is a row of panels with box-and-whisker plots, on one scale.
type Boxes struct {
	XLabel, YLabel string
	Panels         []BoxPanel
	Top            float64 // where the scale ends at least; it begins at 0 or below
}

// BoxPanel is a panel of boxes, numbered from 1 unless they have names.
type BoxPanel struct {
	Title  string
	Names  []string    // of the boxes, or nil
	Values [][]float64 // of each box
	Marked int         // the first boxes, drawn in another colour
}

// Write draws the panels as svg or png. A box spans the quartiles with a line at
// the median; whiskers reach the farthest values within 1.5 times its height, and
// rings are values beyond.
func (b Boxes) Write(w io.Writer, format string) error {
	if len(b.Panels) == 0 {
		return fmt.Errorf("picture: no panels")
	}
	plots := make([]*plot.Plot, len(b.Panels))
	lo, hi := 0.0, b.Top
	for i, panel := range b.Panels {
		p := newPlot(panel.Title, b.XLabel, "")
		if i == 0 {
			p.Y.Label.Text = b.YLabel
		}
		var names []plot.Tick
		for k, values := range panel.Values {
			box, err := plotter.NewBoxPlot(vg.Points(7), float64(k+1), plotter.Values(values))
			if err != nil {
				return err
			}
			colour, fill := grey, pale
			if k < panel.Marked {
				colour, fill = line, band
			}
			box.FillColor = fill
			box.BoxStyle = draw.LineStyle{Color: colour, Width: vg.Points(0.75)}
			box.MedianStyle = draw.LineStyle{Color: accent, Width: vg.Points(1.25)}
			box.WhiskerStyle = draw.LineStyle{Color: colour, Width: vg.Points(0.75)}
			box.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: 1.2, Shape: draw.RingGlyph{}}
			p.Add(box)
			label := fmt.Sprint(k + 1)
			if panel.Names != nil {
				label = panel.Names[k]
			}
			names = append(names, plot.Tick{Value: float64(k + 1), Label: label})
			lo, hi = min(lo, box.Min), max(hi, box.Max)
		}
		p.X.Tick.Marker = plot.ConstantTicks(names)
		p.X.Min, p.X.Max = 0.4, float64(len(panel.Values))+0.6
		plots[i] = p
	}
	for _, p := range plots {
		p.Y.Min, p.Y.Max = lo, hi
	}
	return render(w, format, 9*vg.Centimeter, plots...)
}
