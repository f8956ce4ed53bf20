package picture

import (
	"image/color"
	"io"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plane is a plane of points of several classes, over the regions that a
// classifier assigns to them.
type Plane struct {
	Title, XLabel, YLabel string

	X, Y  []float64 // the points
	Class []int     // of each point, from 0
	Names []string  // of the classes, for the legend

	// Cells is the class of each cell of a grid over the plane, row after row from the
	// lowest Y, from Min to Max; nil draws points alone.
	Cells    [][]int
	Min, Max [2]float64

	Cross *[2]float64 // if not nil, a point to mark
	Small bool        // draws the points as dots
}

var (
	regions = []color.Color{color.NRGBA{0xd3, 0xe2, 0xf2, 0xff}, color.NRGBA{0xf6, 0xdc, 0xd6, 0xff}, color.NRGBA{0xe3, 0xef, 0xd6, 0xff}, color.NRGBA{0xf3, 0xea, 0xc8, 0xff}}
	marks   = []color.Color{line, accent, color.NRGBA{0x4c, 0x8a, 0x2b, 0xff}, color.NRGBA{0xa8, 0x86, 0x16, 0xff}}
	shapes  = []draw.GlyphDrawer{draw.RingGlyph{}, draw.CrossGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}}
)

// grid is the cells as plotter.HeatMap wants them.
type grid struct{ *Plane }

func (g grid) Dims() (c, r int)   { return len(g.Cells[0]), len(g.Cells) }
func (g grid) Z(c, r int) float64 { return float64(g.Cells[r][c]) }
func (g grid) X(c int) float64    { return g.at(0, c, len(g.Cells[0])) }
func (g grid) Y(r int) float64    { return g.at(1, r, len(g.Cells)) }

func (g grid) at(axis, i, n int) float64 {
	return g.Min[axis] + (g.Max[axis]-g.Min[axis])*(float64(i)+0.5)/float64(n)
}

type palette []color.Color

func (p palette) Colors() []color.Color { return p }

// Write draws the plane as svg or png.
func (p Plane) Write(w io.Writer, format string) error {
	fig := newPlot(p.Title, p.XLabel, p.YLabel)
	if p.Cells != nil {
		heat := plotter.NewHeatMap(grid{&p}, palette(regions))
		heat.Min, heat.Max = 0, float64(len(regions)-1)
		heat.Rasterized = true
		fig.Add(heat)
	}
	for c, name := range p.Names {
		var xys plotter.XYs
		for i, x := range p.X {
			if p.Class[i] == c {
				xys = append(xys, plotter.XY{X: x, Y: p.Y[i]})
			}
		}
		if len(xys) == 0 {
			continue
		}
		points, err := plotter.NewScatter(xys)
		if err != nil {
			return err
		}
		points.GlyphStyle = draw.GlyphStyle{Color: marks[c%len(marks)], Radius: vg.Points(2), Shape: shapes[c%len(shapes)]}
		if p.Small {
			points.GlyphStyle.Radius, points.GlyphStyle.Shape = vg.Points(0.7), draw.CircleGlyph{}
		}
		fig.Add(points)
		fig.Legend.Add(name, points)
	}
	if p.Cross != nil {
		cross, err := plotter.NewScatter(plotter.XYs{{X: p.Cross[0], Y: p.Cross[1]}})
		if err != nil {
			return err
		}
		cross.GlyphStyle = draw.GlyphStyle{Color: ink, Radius: vg.Points(7), Shape: draw.CrossGlyph{}}
		fig.Add(cross)
	}
	if p.Min != p.Max {
		fig.X.Min, fig.X.Max, fig.Y.Min, fig.Y.Max = p.Min[0], p.Max[0], p.Min[1], p.Max[1]
	}
	return render(w, format, 15*vg.Centimeter, fig)
}
