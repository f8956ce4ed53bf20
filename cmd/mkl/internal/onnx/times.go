package onnx

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/mgp"
)

// times exports a model of times until an event.
func (e *exporter) times() error {
	m, f, err := e.observed()
	if err != nil {
		return err
	}
	p := m.Processes[0]
	f.mean = e.shift(f.mean, p.Shape[0])
	law, err := e.timeLaw(p.Likelihood, f, special.Exp(0.5*p.Shape[1]))
	if err != nil {
		return err
	}
	mean, sd := e.take("target.mean")[0], e.take("target.sd")[0]
	for _, of := range []struct {
		name string
		q    float64
	}{{"median", 0.5}, {"lower", 0.5 - float64(0.5*e.options.Interval)}, {"upper", 0.5 + float64(0.5*e.options.Interval)}} {
		e.output(of.name, e.exp(e.shift(e.scale(law.quantile(of.q), sd), mean)), e.real, 1)
	}
	e.output("risk", e.scale(f.mean, -1), e.real, 1)
	var later []value
	for _, t := range e.options.Times {
		later = append(later, law.after((special.Log(t)-mean)/sd))
	}
	if later != nil {
		e.output("p_after", e.sideBySide(later), e.real, len(later))
	}
	return nil
}

// timeLaw is the predictive distribution of y = f + σ·e, the standardised logarithm of a time.
type timeLaw struct {
	quantile func(q float64) value
	after    func(y float64) value // the probability that the logarithm is larger
}

// timeLaw returns the distribution under the law of the name, where the function f has a normal distribution.
func (e *exporter) timeLaw(name string, f moments, sigma float64) (timeLaw, error) {
	switch name {
	case mgp.LogNormal.String():
		sd := e.sqrt(e.shift(f.variance, sigma*sigma))
		return timeLaw{
			quantile: func(q float64) value { return e.add(f.mean, e.scale(sd, special.NormalQuantile(q))) },
			after:    func(y float64) value { return e.exp(e.logNormalCDF(e.div(e.shift(f.mean, -y), sd))) },
		}, nil
	case mgp.Weibull.String():
		variance := e.scale(f.variance, 1/(sigma*sigma)) // in units of σ, as what follows
		law := gumbelBumps()
		width := e.sqrt(e.shift(variance, law.width*law.width))
		sd := e.sqrt(e.shift(variance, gumbelVariance))
		return timeLaw{
			quantile: func(q float64) value {
				u := e.div(e.number(math.Sqrt(gumbelVariance)), sd)
				skew := e.chebyshev(gumbelQuantile(q), e.shift(e.scale(u, 2), -1))
				return e.add(f.mean, e.scale(e.add(e.scale(sd, special.NormalQuantile(q)), skew), sigma))
			},
			after: func(y float64) value { // Σ weight·Φ((centre + (f − y)/σ)/width)
				beyond := e.add(e.row(law.centres), e.scale(e.shift(f.mean, -y), 1/sigma))
				p := e.product(e.exp(e.logNormalCDF(e.div(beyond, width))), e.matrixOf(law.heights))
				return e.op("Max", []value{e.op("Min", []value{p, e.number(1)}), e.number(0)})
			},
		}, nil
	}
	return timeLaw{}, fmt.Errorf("times with the law %s cannot be exported", name)
}

// gumbelVariance is the variance of the logarithm of an exponential variable.
const gumbelVariance = math.Pi * math.Pi / 6

// gumbelBumps are the density of the logarithm of an exponential variable as a mixture of normal distributions, whose weights are the heights. They
// leave out e⁻³⁴ on the left and less on the right. The Fourier transform of the density falls as exp(−π·|ω|/2), so that exp(−8π²/2) is lost between centres.
func gumbelBumps() *bumps {
	b := newBumps(-34, 5, 1.0/8, func(x float64) []float64 { return []float64{special.Exp(x - special.Exp(x))} })
	for i := range b.heights.Data {
		b.heights.Data[i] *= b.width * math.Sqrt(2*math.Pi)
	}
	return b
}

// gumbelQuantile returns the coefficients of Chebyshev's polynomials for the quantile of x + e less the quantile of a normal distribution of the same
// variance, where x is normal with the mean 0 and the variance w, and e the logarithm of an exponential variable. The polynomials are of 2u − 1,
// u = √(c/(w + c)) with the variance c of e, from 1 without x to 0.
func gumbelQuantile(q float64) []float64 {
	const enough, most = 1e-10, 512
	for terms := 48; ; terms *= 2 {
		c := chebyshev(terms, func(y float64) float64 {
			u := (1 + y) / 2
			w := gumbelVariance * (1/(u*u) - 1)
			return mgp.Weibull.Quantile(0, w, 1, q) - float64(special.NormalQuantile(q)*math.Sqrt(w+gumbelVariance))
		})
		last := 0.0
		for _, v := range c[terms-4:] {
			last = max(last, math.Abs(v))
		}
		if last <= enough || 2*terms > most {
			return c
		}
	}
}
