package page

import "fmt"

// SurvivalGroup is a group of samples with the share whose events are later, over time: as predicted, and as estimated
// from what happened.
type SurvivalGroup struct {
	Name               string
	At, Predicted      []float64
	Times, KaplanMeier []float64 // where the estimate falls, and to what; nil without an estimate
}

// Survival draws the curves of groups: thick as predicted, and thin with steps as estimated.
func Survival(name, target string, groups []SurvivalGroup) *Picture {
	p := newPicture(name, "Survival by risk group: "+target, plotWidth, plotHeight+18*float64(len(groups)))
	span := [][]float64{{0}}
	var lines []Curve
	for _, g := range groups {
		span = append(span, g.At)
		lines = append(lines, Curve{g.Name, g.At, g.Predicted})
	}
	x, y := newAxis(leftEdge, rightEdge, 5, span...), unit(bottomEdge, topEdge)
	p.frame(&x, &y, target, "share that is later")
	for i, g := range groups {
		if g.Times == nil {
			continue
		}
		px, py, last := []float64{x.at(0)}, []float64{y.at(1)}, 1.0
		for k, t := range g.Times {
			px, py = append(px, x.at(t), x.at(t)), append(py, y.at(last), y.at(g.KaplanMeier[k]))
			last = g.KaplanMeier[k]
		}
		px, py = append(px, x.at(g.At[len(g.At)-1])), append(py, y.at(last))
		p.path(fmt.Sprintf("line%d thin", i%len(series)), px, py)
	}
	p.curves(x, y, lines)
	p.Shows = fmt.Sprintf("Over %s the share of %d groups whose events are later: %s. Thick lines are predicted, thin lines with steps estimated from what happened. The table has figures.",
		target, len(groups), names(lines))
	return p
}
