package onnx

import (
	"math"
	"sync"

	"github.com/bmkl/bmkl/internal/special"
)

// tailTerms is the number of terms of tail: with fewer it is less exact, with more no better.
const tailTerms = 30

// tail returns the coefficients of Chebyshev's polynomials. Their sum at 2t − 1, t = 2/(2 + x), is
//
//	log Φ(−√2·x) − log ½ − log t + x²,   x from 0 to infinity.
var tail = sync.OnceValue(func() []float64 {
	return chebyshev(tailTerms, func(y float64) float64 {
		t := (1 + y) / 2
		x := 2/t - 2
		lambda, _ := special.Mills(-math.Sqrt2 * x) // φ/Φ: log Φ + x² = −½·log 2π − log λ
		return -float64(0.5*math.Log(2*math.Pi)) - math.Log(lambda) + math.Ln2 - math.Log(t)
	})
})

// chebyshev returns the coefficients of as many of Chebyshev's polynomials as there are terms, whose sum meets a function between −1 and 1 in the
// points where the polynomial of the next order is 0.
func chebyshev(terms int, f func(y float64) float64) []float64 {
	values, c := make([]float64, terms), make([]float64, terms)
	angle := func(i int) float64 { return math.Pi * (float64(i) + 0.5) / float64(terms) }
	for i := range values {
		values[i] = f(math.Cos(angle(i)))
	}
	for k := range c {
		for i, v := range values {
			c[k] += float64(2 / float64(terms) * v * math.Cos(float64(k)*angle(i)))
		}
	}
	c[0] /= 2
	return c
}
