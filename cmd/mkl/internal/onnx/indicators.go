package onnx

import "math"

// indicators exports a least-squares process of classes, T×K: the softmax of equation (A9) of docs/theory/views.md. Its tensors have names
// that begin with the prefix.
func (e *exporter) indicators(prefix string, m indicatorsJSON) (value, error) {
	k, err := e.kernels(prefix, m.designJSON, nil)
	if err != nil {
		return "", err
	}
	crosses, selves := []value{e.ones}, []value{e.ones} // of the constant
	for p, weight := range e.take(prefix + "weight") {
		if weight != 0 {
			crosses, selves = append(crosses, e.scale(k[p].cross, weight)), append(selves, e.scale(k[p].self, weight))
		}
	}
	cross, self := e.sum(crosses), e.sum(selves)

	shares := e.take(prefix + "shares")
	n := len(e.take(prefix+"alpha")) / len(shares)
	if len(shares) == 2 {
		n *= 2
	}
	alpha := e.matrix(prefix+"alpha", n)
	K := len(shares)
	var sum float64
	for _, s := range shares {
		sum += math.Sqrt(s * (1 - s))
	}
	towards, prior := make([]float64, n*K), make([]float64, K)
	for c, s := range shares {
		unit := math.Exp(m.Slope) * math.Sqrt(s*(1-s)) * float64(K) / sum
		prior[c] = m.Prior * math.Log(s)
		row := alpha.Row(min(c, alpha.Rows-1))
		if alpha.Rows == 1 && c == 0 {
			unit = -unit
		}
		for i, a := range row {
			towards[i*K+c] = unit * a
		}
	}
	known := inverseOf(e.lower(prefix+"factor", n))
	left := e.sub(self, e.sumOver(e.square(e.product(cross, e.matrixOf(known))), 1, 1))
	variance := e.shift(e.op("Max", []value{left, e.number(0)}), m.Noise)
	wide := e.sqrt(e.shift(e.scale(variance, math.Exp(m.Damping)/m.Variance), 1))
	return e.softmax(e.div(e.add(e.product(cross, e.numbers(towards, n, K)), e.row(prior)), wide)), nil
}
