package page

import (
	"fmt"
	"math"
)

// Transform draws the histogram of the probability integral transform: the shares of truths between predicted quantiles of even levels, of
// so many truths. The dashed lines are the even share and two standard deviations of chance on either side.
func Transform(name, target string, share []float64, truths int) *Picture {
	p := newPicture(name, "Truths between predicted quantiles: "+target, plotWidth, plotHeight)
	even := 1 / float64(len(share))
	chance := 2 * math.Sqrt(even*(1-even)/float64(max(1, truths)))
	x := unit(leftEdge, rightEdge)
	y := newAxis(bottomEdge, topEdge, 5, share, []float64{0, even + chance})
	p.frame(&x, &y, "probability integral transform", "share of truths")
	for k, v := range share {
		from, to := x.at(float64(k)*even), x.at(float64(k+1)*even)
		p.rectangle("fill0", from+1, y.at(v), to-from-2, y.at(0)-y.at(v))
	}
	for _, level := range []float64{even, even + chance, max(0, even-chance)} {
		p.line("guide", x.at(0), y.at(level), x.at(1), y.at(level))
	}
	p.Shows = fmt.Sprintf("%d bars of %d truths. If the predicted distributions are right, all bars are near the middle dashed line, and most between the "+
		"outer ones. High bars at both ends: intervals are too short. A hill in the middle: they are too long. A slope: predictions are too low or too high.",
		len(share), truths)
	return p
}
