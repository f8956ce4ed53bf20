package amplitude

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/lbfgs"
)

// MixtureWeights returns the weights of a mixture of M members, given in density[m][n] the probability or the density that
// member m, without sample n, gives to the target of sample n. They are the mode of
//
//	Π_n Σ_m w_m·density[m][n] · Π_m w_m^pseudo
//
// found by expectation maximisation. A sample to which no member gives anything does not count.
func MixtureWeights(density [][]float64, pseudo float64) ([]float64, error) {
	M := len(density)
	if M == 0 || !(pseudo >= 0) {
		return nil, fmt.Errorf("vi: weights of %d members with %g pseudo-counts", M, pseudo)
	}
	for m, d := range density {
		if len(d) != len(density[0]) {
			return nil, fmt.Errorf("vi: density[%d]: %d samples where density[0] has %d", m, len(d), len(density[0]))
		}
	}
	w, next := make([]float64, M), make([]float64, M)
	for m := range w {
		w[m] = 1 / float64(M)
	}
	for range mostRounds {
		for m := range next {
			next[m] = pseudo
		}
		for n := range density[0] {
			var sum float64
			for m, v := range w {
				sum += float64(v * density[m][n])
			}
			if !(sum > 0) {
				continue
			}
			for m, v := range w {
				next[m] += v * density[m][n] / sum
			}
		}
		var total, moved float64
		for _, v := range next {
			total += v
		}
		if !(total > 0) {
			break
		}
		for m, v := range next {
			v /= total
			moved = max(moved, math.Abs(v-w[m]))
			w[m] = v
		}
		if moved < settled {
			break
		}
	}
	return w, nil
}

const (
	mostRounds = 500
	settled    = 1e-6
)

// MeanWeights returns the weights of a convex combination of the means of M members, given in leftOut[m] the mean that member m,
// without the sample, predicts of each sample of y. With w = softmax(u), u ~ N(0, 4·I), they minimise
//
//	½·N·Σ_n (y_n − Σ_m w_m·leftOut[m][n])² / Σ_n (y_n − ȳ)² + ½·|u|²/4.
func MeanWeights(leftOut [][]float64, y []float64) ([]float64, error) {
	M, N := len(leftOut), len(y)
	if M == 0 || N == 0 {
		return nil, fmt.Errorf("vi: weights of %d members by %d samples", M, N)
	}
	for m, l := range leftOut {
		if len(l) != N {
			return nil, fmt.Errorf("vi: leftOut[%d]: %d samples where y has %d", m, len(l), N)
		}
	}
	var mean, total float64
	for _, v := range y {
		mean += v / float64(N)
	}
	for _, v := range y {
		total += float64((v - mean) * (v - mean))
	}
	if !(total > 0) {
		return nil, fmt.Errorf("vi: y: all %d values are alike", N)
	}
	// Moments of the residuals r_m = y − leftOut[m]: the loss is wᵀMw, as the weights add up to 1.
	r := la.NewMatrix[float64](M, N)
	for m, l := range leftOut {
		row := r.Row(m)
		for n, v := range l {
			row[n] = y[n] - v
		}
	}
	moment := la.NewMatrix[float64](M, M)
	la.Syrk(nil, la.NoTrans, float64(N)/total, r, 0, moment)
	moment.MirrorLower()
	w, slope := make([]float64, M), make([]float64, M)
	found, err := lbfgs.Minimize(make([]float64, M), func(u, g []float64) (float64, error) {
		special.Softmax(u, w)
		la.Gemv(nil, la.NoTrans, 1, moment, w, 0, slope)
		square := la.Dot(w, slope)
		for m := range u {
			g[m] = float64(w[m]*float64(slope[m]-square)) + float64(u[m]/softVariance)
		}
		return float64(0.5*square) + float64(0.5*la.SumSq(u)/softVariance), nil
	}, lbfgs.Settings{Iterations: 200, Tolerance: 1e-9, Gradient: 1e-6, LongestStep: 2})
	if err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	special.Softmax(found.X, w)
	return w, nil
}

// softVariance is the prior variance of the logarithms of weights: a ratio of e⁴ is within two standard deviations.
const softVariance = 4.0
