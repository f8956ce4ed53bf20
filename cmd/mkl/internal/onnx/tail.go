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
//	log Φ(−√2·x) − log ½ − log t + x²,   x from 0 to infinity,
//
// found from its values in the points where the polynomial of the next order is 0.
var tail = sync.OnceValue(func() []float64 {
	values := make([]float64, tailTerms)
	for i := range values {
		t := (1 + math.Cos(math.Pi*(float64(i)+0.5)/tailTerms)) / 2
		x := 2/t - 2
		lambda, _ := special.Mills(-math.Sqrt2 * x) // φ/Φ: log Φ + x² = −½·log 2π − log λ
		values[i] = -0.5*math.Log(2*math.Pi) - math.Log(lambda) + math.Ln2 - math.Log(t)
	}
	c := make([]float64, tailTerms)
	for k := range c {
		for i, v := range values {
			c[k] += 2.0 / tailTerms * v * math.Cos(math.Pi*float64(k)*(float64(i)+0.5)/tailTerms)
		}
	}
	c[0] /= 2
	return c
})
