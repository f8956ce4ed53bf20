package vi

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Predictions holds the predictions of a state of an ascent at training points: at all of them,
// or at so many, always the same ones, that their change can be judged.
type Predictions struct {
	Mean []float64 // predictive means, or the probabilities of the labels
	SD   []float64 // predictive standard deviations of the targets with noise, or of the scores of labels

	// Probabilities says that Mean holds probabilities.
	Probabilities bool
}

// Resize makes room for n predictions, whose values are anything.
func (p *Predictions) Resize(n int) {
	if cap(p.Mean) < n {
		p.Mean, p.SD = make([]float64, n), make([]float64, n)
	}
	p.Mean, p.SD = p.Mean[:n], p.SD[:n]
}

// Distance returns how far q is from p: the root mean square over the points of the
// difference of the means in predictive standard deviations, or of the probabilities,
// and of the difference of the logarithms of the standard deviations, together. It is
// infinite where they cannot be compared.
func (p *Predictions) Distance(q *Predictions) float64 {
	if len(p.Mean) != len(q.Mean) || len(p.Mean) == 0 {
		return math.Inf(1)
	}
	var sum float64
	for i, m := range p.Mean {
		d := q.Mean[i] - m
		if !p.Probabilities {
			d /= p.SD[i]
		}
		s := special.Log(q.SD[i] / p.SD[i])
		sum += float64(d*d) + float64(s*s)
	}
	if math.IsNaN(sum) {
		return math.Inf(1)
	}
	return math.Sqrt(sum / float64(len(p.Mean)))
}
