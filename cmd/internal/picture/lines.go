package picture

import (
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines is a row of panels with lines in the unit square.
type Lines struct {
	XLabel, YLabel string
	Panels         []LinePanel
	Falling        bool // the names of lines stand at the left, where lines that fall leave room
}

// LinePanel is a panel of lines.
type LinePanel struct {
	Title string
	Lines []Line
}

// Line joins points.
type Line struct {
	Name string
	X, Y []float64
}

// Write draws the panels as svg or png.
func (l Lines) Write(w io.Writer, format string) error {
	if len(l.Panels) == 0 {
		return fmt.Errorf("picture: no panels")
	}
	colours := []color.Color{line, accent, ink, grey}
	plots := make([]*plot.Plot, len(l.Panels))
	for i, panel := range l.Panels {
		p := newPlot(panel.Title, l.XLabel, "")
		if i == 0 {
			p.Y.Label.Text = l.YLabel
		}
		for k, one := range panel.Lines {
			points := make(plotter.XYs, len(one.X))
			for j, x := range one.X {
				points[j] = plotter.XY{X: x, Y: one.Y[j]}
			}
			drawn, err := plotter.NewLine(points)
			if err != nil {
				return err
			}
			drawn.LineStyle = draw.LineStyle{Color: colours[k%len(colours)], Width: vg.Points(1.25)}
			if k >= len(colours) {
				drawn.Dashes = []vg.Length{vg.Points(3), vg.Points(2)}
			}
			p.Add(drawn)
			p.Legend.Add(one.Name, drawn)
		}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
		p.Legend.YOffs, p.Legend.Left = vg.Points(4), l.Falling
		plots[i] = p
	}
	return render(w, format, 9*vg.Centimeter, plots...)
}
