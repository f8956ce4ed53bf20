package onnx

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/mgp"
)

const (
	narrowLow  = -32  // the log μ where the functions of narrowTable begin: they are next to 0 there
	narrowEdge = 0.6  // the width of the edge where they end
	narrowStep = 0.25 // the largest step
)

// narrowTable holds, as functions of x = log μ, what the moments of a count with a double Poisson distribution of the precision ν are apart from the
// mean μ and the variance μ/ν: with the mean μ + δ and the variance μ/ν + ε the functions are δ, ε + δ² and μδ. They are steep within 1/ν, where one count
// takes the place of the next. They are next to nothing beside μ where the table ends.
func narrowTable(nu float64) *bumps {
	step := narrowStep
	for step > 0.4/nu {
		step /= 2
	}
	end := max(10, special.Log(4*nu)+4)
	return newBumps(narrowLow, math.Ceil(end+7*narrowEdge), step, func(x float64) []float64 {
		mu := special.Exp(x)
		mean, variance := mgp.CountDistribution{Mean: x, Exposure: 1, Nu: nu}.Moments()
		within := special.NormalCDF((end - x) / narrowEdge)
		delta, epsilon := (mean-mu)*within, (variance-mu/nu)*within
		return []float64{delta, epsilon + float64(delta*delta), delta * mu}
	})
}

// narrow returns the moments of a count with the exposure 1 whose distribution is double Poisson of the precision ν, where the function f, the logarithm
// of μ, has a normal distribution. With M = E[μ] they are
//
//	M + E[δ],   M/ν + E[ε] + Var[μ + δ],   Var[μ + δ] = M²·(eᵛ − 1) + 2·(E[μδ] − M·E[δ]) + E[δ²] − E[δ]².
func (e *exporter) narrow(f moments, nu float64) moments {
	x := e.expected(narrowTable(nu), f)
	delta, square, cross := e.columns(x, 0), e.columns(x, 1), e.columns(x, 2)
	whole := e.exp(e.add(f.mean, e.scale(f.variance, 0.5)))
	some := e.op("Min", []value{whole, e.number(1e9)}) // beyond, E[δ] is 0 or its product is nothing beside the square
	variance := e.sum([]value{
		e.mul(e.square(whole), e.shift(e.exp(f.variance), -1)),
		e.scale(whole, 1/nu),
		square,
		e.scale(e.sub(cross, e.mul(some, delta)), 2),
		e.scale(e.square(delta), -1),
	})
	zero := e.number(0)
	return moments{e.op("Max", []value{e.add(whole, delta), zero}), e.op("Max", []value{variance, zero})}
}
