package archambeau2010

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/la"
)

// normMKL is multiple kernel learning with a fixed norm, on the squared loss: it
// minimises
//
//	|y − Σ_p f_p|² + λ·(Σ_p ‖f_p‖^norm)^(2/norm)
//
// over functions of the kernels' Hilbert spaces. Norm 1 selects kernels, and 2 is
// kernel ridge regression on the sum of the kernels. In between it is the same as
// weights θ on the kernels with ‖θ‖_r ≤ 1, r = norm/(2 − norm), which are found
// in turn with the functions.
//
// Source: M. Kloft, U. Brefeld, S. Sonnenburg, A. Zien, "ℓp-norm multiple kernel
// learning", JMLR 12 (2011): the analytical update of the weights.
type normMKL struct {
	norm float64
}

// Where the alternation between weights and functions ends: it need not be more
// exact than the choice of λ.
const (
	normTolerance = 1e-5 // relative fall of the objective
	normMaxSteps  = 500
)

// fit returns the kernels' weights θ and the coefficients of the samples, so that
// the function is Σ_p θ_p·k_pᵀα. theta is where the weights start from, and is
// overwritten.
func (m normMKL) fit(ws *la.Workspace, kernels []la.Matrix[float64], y []float64, lambda float64, theta []float64) (alpha []float64, err error) {
	n := len(y)
	b, alpha, product := la.NewMatrix[float64](n, n), make([]float64, n), make([]float64, n)
	square := make([]float64, len(kernels)) // ‖f_p‖²
	if m.norm == 2 {
		for p := range theta {
			theta[p] = 1
		}
	}
	last := math.Inf(1)
	for range normMaxSteps {
		b.Fill(0)
		for p, k := range kernels {
			for i := range n {
				la.Axpy(theta[p], k.Row(i)[:i+1], b.Row(i)[:i+1])
			}
		}
		for i := range n {
			b.Row(i)[i] += lambda
		}
		if err := la.Cholesky(ws, b); err != nil {
			return nil, fmt.Errorf("MKL of norm %.3g: Σ θ_p·K_p + %g·I: %w", m.norm, lambda, err)
		}
		copy(alpha, y)
		la.CholeskySolveVec(b, alpha)
		objective := la.Dot(y, alpha) // over λ
		if m.norm == 2 || last-objective <= normTolerance*objective {
			return alpha, nil
		}
		last = objective
		for p, k := range kernels {
			la.Symv(ws, 1, k, alpha, 0, product)
			square[p] = max(0, theta[p]*theta[p]*la.Dot(alpha, product))
		}
		m.weights(square, theta)
	}
	return alpha, nil
}

// weights stores in theta the best weights for functions of the given squared
// norms: θ_p = ‖f_p‖^(2−norm) / (Σ_q ‖f_q‖^norm)^(1/r).
func (m normMKL) weights(square, theta []float64) {
	var sum float64
	for _, s := range square {
		sum += math.Pow(s, m.norm/2)
	}
	if sum == 0 {
		return
	}
	scale := math.Pow(sum, -(2-m.norm)/m.norm)
	for p, s := range square {
		theta[p] = scale * math.Pow(s, 1-m.norm/2)
	}
}

// start returns equal weights on the sphere ‖θ‖_r = 1.
func (m normMKL) start(kernels int) []float64 {
	theta := make([]float64, kernels)
	for p := range theta {
		theta[p] = math.Pow(float64(kernels), -(2-m.norm)/m.norm)
	}
	return theta
}

// normFolds is the number of folds of the cross-validation.
const normFolds = 5

// normLambdas are the λ to choose from, the largest first: √10 apart, for kernels
// with a unit diagonal and targets of variance 1.
func normLambdas() (all []float64) {
	for e := 2.0; e >= -8; e-- {
		all = append(all, math.Pow(10, e/2))
	}
	return all
}

// crossValidate returns the λ with the least squared error on the folds. Sample i
// is in fold i mod normFolds.
func (m normMKL) crossValidate(ws *la.Workspace, kernels []la.Matrix[float64], y []float64) (float64, error) {
	lambdas := normLambdas()
	loss := make([]float64, len(lambdas))
	for fold := range normFolds {
		var in, out []int
		for i := range y {
			if i%normFolds == fold {
				out = append(out, i)
			} else {
				in = append(in, i)
			}
		}
		train, cross := make([]la.Matrix[float64], len(kernels)), make([]la.Matrix[float64], len(kernels))
		for p, k := range kernels {
			train[p], cross[p] = k.Take(in, in), k.Take(in, out)
		}
		target := make([]float64, len(in))
		for r, i := range in {
			target[r] = y[i]
		}
		mean := centre(target)
		theta := m.start(len(kernels))
		for l, lambda := range lambdas {
			alpha, err := m.fit(ws, train, target, lambda, theta)
			if err != nil {
				return 0, err
			}
			for c, f := range weighted(ws, cross, theta, alpha) {
				d := y[out[c]] - mean - f
				loss[l] += float64(d * d)
			}
		}
	}
	best := 0
	for l := range loss {
		if loss[l] < loss[best] {
			best = l
		}
	}
	return lambdas[best], nil
}

// learn cross-validates λ, fits to all samples and returns the prediction of the
// samples whose kernels with the training samples are the columns of cross, and
// the weights.
func (m normMKL) learn(kernels, cross []la.Matrix[float64], y []float64) (prediction, theta []float64, err error) {
	ws := &la.Workspace{Workers: 1}
	lambda, err := m.crossValidate(ws, kernels, y)
	if err != nil {
		return nil, nil, err
	}
	target := append([]float64(nil), y...)
	mean := centre(target)
	theta = m.start(len(kernels))
	alpha, err := m.fit(ws, kernels, target, lambda, theta)
	if err != nil {
		return nil, nil, err
	}
	prediction = weighted(ws, cross, theta, alpha)
	for i := range prediction {
		prediction[i] += mean
	}
	return prediction, theta, nil
}

// weighted returns Σ_p θ_p·k_pᵀα for each column of the kernels.
func weighted(ws *la.Workspace, cross []la.Matrix[float64], theta, alpha []float64) []float64 {
	f := make([]float64, cross[0].Cols)
	for p, k := range cross {
		la.Gemv(ws, la.Transpose, theta[p], k, alpha, 1, f)
	}
	return f
}

// centre gives y mean 0 and returns what it took off.
func centre(y []float64) float64 {
	mean, _ := measure.MeanSD(y)
	for i := range y {
		y[i] -= mean
	}
	return mean
}
