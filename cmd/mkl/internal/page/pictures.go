package page

import (
	"fmt"
	"math"
	"slices"
)

// Measures of most drawings, in the units of a view box that a page scales.
const (
	plotWidth, plotHeight         = 460, 340
	leftEdge, rightEdge           = 62, plotWidth - 12
	topEdge, bottomEdge   float64 = 10, plotHeight - 44

	nameHeight = 20 // of the name of an axis that goes upwards
	tickGap    = 6  // between an axis and its labels
)

// most is the most points of a cloud that are drawn, evenly from all.
const most = 1500

// Bar is a row of a picture of bars: a value and the ends of its whisker.
type Bar struct {
	Name             string
	Value, Low, High float64
}

// Bars draws values from 0 on, with their whiskers if they have a length. Names stand beside the bars, or above them if one is long.
func Bars(name, title, axisName string, bars []Bar) *Picture {
	row, left, above := 24.0, 16.0, 0.0
	for _, b := range bars {
		left = max(left, width(b.Name)+tickGap+4)
	}
	if left > plotWidth/2.5 {
		row, left, above = 40, 16, 16
	}
	height := float64(float64(len(bars))*row) + 58
	p := newPicture(name, title, plotWidth, height)
	low, high := make([]float64, 0, len(bars)), []float64{0}
	for _, b := range bars {
		low, high = append(low, min(0, b.Value, b.Low)), append(high, b.Value, b.High)
	}
	x := newAxis(left, 0, 4, low, high)
	ends := func(v float64) float64 { return width(x.label(v))/2 + 1 }
	x.from, x.to = max(left, ends(x.ticks[0])), plotWidth-max(12, ends(x.ticks[len(x.ticks)-1]))
	x.thin()
	for _, v := range x.ticks {
		p.line("grid", x.at(v), 6, x.at(v), height-50)
		p.text(x.at(v), height-34, "middle", "", x.label(v))
	}
	p.line("axis", x.at(0), 6, x.at(0), height-50)
	for i, b := range bars {
		y := 8 + float64(float64(i)*row)
		if above > 0 {
			p.text(2, y+above-3, "start", "name", clip(b.Name, plotWidth-4))
		} else {
			p.text(x.from-tickGap, y+row/2+3, "end", "name", b.Name)
		}
		from, to := min(x.at(0), x.at(b.Value)), max(x.at(0), x.at(b.Value))
		y += above
		p.rectangle("fill0", from, y+3, to-from, row-above-8)
		if b.High > b.Low && !math.IsInf(b.High-b.Low, 0) {
			p.line("whisker", x.at(b.Low), y+(row-above)/2-1, x.at(b.High), y+(row-above)/2-1)
		}
	}
	p.text(plotWidth/2, height-12, "middle", "name", clip(axisName, plotWidth-2))
	if len(bars) > 0 {
		what := "bars"
		if slices.ContainsFunc(bars, func(b Bar) bool { return b.High > b.Low }) {
			what = "bars with whiskers"
		}
		p.Shows = fmt.Sprintf("%d %s; the first is %s, %.3g. The table has the figures.", len(bars), what, bars[0].Name, bars[0].Value)
	}
	return p
}

// Predicted draws predictions with their intervals over the truth, and the line where both are
// the same.
func Predicted(name, target string, truth, mean, low, high []float64, inside float64) *Picture {
	p := newPicture(name, "Predicted against true: "+target, plotWidth, plotHeight)
	x := newAxis(leftEdge, rightEdge, 5, truth)
	y := newAxis(bottomEdge, topEdge, 5, low, high, truth)
	p.frame(&x, &y, "true "+target, "predicted "+target)
	step := max(1, (len(truth)+most-1)/most)
	for i := 0; i < len(truth); i += step {
		if !math.IsNaN(truth[i]) {
			p.line("bar", x.at(truth[i]), y.at(low[i]), x.at(truth[i]), y.at(high[i]))
		}
	}
	p.line("guide", x.at(x.low), y.at(max(y.low, x.low)), x.at(x.high), y.at(min(y.high, x.high)))
	for i := 0; i < len(truth); i += step {
		if !math.IsNaN(truth[i]) {
			p.dot("fill0", x.at(truth[i]), y.at(mean[i]), 2.5)
		}
	}
	p.Shows = fmt.Sprintf("Points are predictions of %d samples with their intervals; the dashed line is where they would be true. %.1f %% of the intervals hold the truth.", len(truth), 100*inside)
	return p
}

// Reliability is a point of a calibration curve: what was predicted, how often it came true, and
// of how many samples.
type Reliability struct {
	Predicted, Observed float64
	Count               int
}

// fewSamples is the number below which a point of a calibration is small and no line goes through it: its
// height is chance.
const fewSamples = 5

// Calibration draws how often came true what was predicted, with whiskers of two standard
// deviations of a share of so many samples.
func Calibration(name, what, xName, yName string, points []Reliability) *Picture {
	p := newPicture(name, "Calibration: "+what, plotWidth, plotHeight)
	x, y := unit(leftEdge, rightEdge), unit(bottomEdge, topEdge)
	p.frame(&x, &y, xName, yName)
	p.line("guide", x.at(0), y.at(0), x.at(1), y.at(1))
	var px, py []float64
	for _, r := range points {
		// Two successes and two failures more keep the whisker honest near 0 and 1.
		n := float64(r.Count) + 4
		share := (r.Observed*float64(r.Count) + 2) / n
		sd := math.Sqrt(share * (1 - share) / n)
		p.line("whisker", x.at(r.Predicted), y.at(max(0, share-2*sd)), x.at(r.Predicted), y.at(min(1, share+2*sd)))
		if r.Count >= fewSamples {
			px, py = append(px, x.at(r.Predicted)), append(py, y.at(r.Observed))
		}
	}
	if len(px) > 1 {
		p.path("line0", px, py)
	}
	for _, r := range points {
		size := 4.0
		if r.Count < fewSamples {
			size = 2.5
		}
		p.dot("fill0", x.at(r.Predicted), y.at(r.Observed), size)
	}
	p.Shows = fmt.Sprintf("%d points of how often came true what was predicted; on the dashed line both are the same. The table has the figures.", len(points))
	return p
}

// Curve is a line of a picture with its name.
type Curve struct {
	Name string
	X, Y []float64
}

// Curves draws lines in the unit square, such as receiver operating characteristics. With diagonal
// the line of chance is drawn as well.
func Curves(name, title, xName, yName string, diagonal bool, curves []Curve) *Picture {
	p := newPicture(name, title, plotWidth, plotHeight+18*float64(len(curves)))
	x, y := unit(leftEdge, rightEdge), unit(bottomEdge, topEdge)
	p.frame(&x, &y, xName, yName)
	if diagonal {
		p.line("guide", x.at(0), y.at(0), x.at(1), y.at(1))
	}
	p.curves(x, y, curves)
	p.Shows = fmt.Sprintf("%s over %s, a line for each of %d: %s.", yName, xName, len(curves), names(curves))
	return p
}

// curves draws lines and the list of their names below.
func (p *Picture) curves(x, y axis, curves []Curve) {
	for i, c := range curves {
		px, py := make([]float64, len(c.X)), make([]float64, len(c.X))
		for k := range c.X {
			px[k], py[k] = x.at(c.X[k]), y.at(c.Y[k])
		}
		class := fmt.Sprintf("line%d", i%len(series))
		p.path(class, px, py)
		at := plotHeight + 6 + 18*float64(i)
		p.line(class, 12, at-4, 42, at-4)
		p.text(50, at, "start", "name", clip(c.Name, plotWidth-52))
	}
}

func names(curves []Curve) (all string) {
	for i, c := range curves {
		if i > 0 {
			all += ", "
		}
		all += c.Name
	}
	return all
}

// Dependence is what a model predicts on average where one column has a value.
type Dependence struct {
	Target string
	At     []float64 // the values
	Mean   []float64 // of the predictions, over the samples
	Low    []float64 // the lower edge of the band
	High   []float64 // its upper edge
}

// Dependences draws the partial dependence on a column of numbers, and the column's own values as
// marks on the axis. The band is drawn of a single line.
func Dependences(name, column, yName string, all []Dependence, values []float64, probabilities bool) *Picture {
	p := newPicture(name, "Partial dependence on "+column, plotWidth, plotHeight+18*float64(len(all)))
	x := newAxis(leftEdge, rightEdge, 5, all[0].At)
	var lines []Curve
	span := [][]float64{}
	for _, d := range all {
		span = append(span, d.Mean, d.Low, d.High)
		lines = append(lines, Curve{d.Target, d.At, d.Mean})
	}
	y := newAxis(bottomEdge, topEdge, 5, span...)
	if probabilities {
		y = unit(bottomEdge, topEdge)
	}
	p.frame(&x, &y, column, yName)
	if len(all) == 1 {
		d := all[0]
		var px, py []float64
		for i := range d.At {
			px, py = append(px, x.at(d.At[i])), append(py, y.at(d.High[i]))
		}
		for i := len(d.At) - 1; i >= 0; i-- {
			px, py = append(px, x.at(d.At[i])), append(py, y.at(d.Low[i]))
		}
		p.path("band", px, py)
	}
	step := max(1, len(values)/300)
	for i := 0; i < len(values); i += step {
		if v := values[i]; v >= x.low && v <= x.high {
			p.line("axis", x.at(v), y.from, x.at(v), y.from-5)
		}
	}
	p.curves(x, y, lines)
	first := all[0]
	p.Shows = fmt.Sprintf("From %.4g to %.4g of %s the mean prediction of %s goes from %.4g to %.4g. Marks on the axis are samples.",
		first.At[0], first.At[len(first.At)-1], column, first.Target, first.Mean[0], first.Mean[len(first.Mean)-1])
	return p
}

// Trace draws the lower bound after each sweep. The first tenth of the sweeps, in which it rises by orders of
// magnitude more than in all others, is left out.
func Trace(bounds []float64) *Picture {
	p := newPicture("trace", "Lower bound after each sweep", plotWidth, plotHeight)
	first := len(bounds) / 10
	shown, sweeps := bounds[first:], make([]float64, len(bounds)-first)
	for i := range sweeps {
		sweeps[i] = float64(first + i + 1)
	}
	x := newAxis(leftEdge, rightEdge, 5, sweeps)
	y := newAxis(bottomEdge, topEdge, 5, shown)
	p.frame(&x, &y, "sweep", "lower bound (nats)")
	step := max(1, len(shown)/most)
	var px, py []float64
	for i := 0; i < len(shown); i += step {
		px, py = append(px, x.at(sweeps[i])), append(py, y.at(shown[i]))
	}
	p.path("line0", px, py)
	p.Shows = fmt.Sprintf("The bound after sweeps %d to %d, from %.6g to %.6g nats.", first+1, len(bounds), shown[0], shown[len(shown)-1])
	return p
}
