package amplitude

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/internal/random"
)

// Sampling says how draws are made. The zero value is ready.
type Sampling struct {
	Sweeps int    // 0 means 300, or 150 for [Problem.Select]
	BurnIn int    // sweeps before the first that counts; 0 means a quarter of Sweeps
	Draws  int    // how many draws are kept, evenly spaced; 0 means 30
	Seed   uint64 // of the random numbers
}

func (s *Sampling) fill(sweeps int) error {
	if s.Sweeps < 0 || s.BurnIn < 0 || s.Draws < 0 {
		return fmt.Errorf("vi: sampling: %d sweeps, %d of burn-in, %d draws: none may be negative", s.Sweeps, s.BurnIn, s.Draws)
	}
	if s.Sweeps == 0 {
		s.Sweeps = sweeps
	}
	if s.BurnIn == 0 {
		s.BurnIn = s.Sweeps / 4
	}
	if s.Draws == 0 {
		s.Draws = 30
	}
	s.Draws = min(s.Draws, s.Sweeps)
	return nil
}

// kept reports whether the draw after sweep t, counted from the end of the burn-in, is kept.
func (s *Sampling) kept(t int) bool {
	return t >= 0 && (t+1)*s.Draws/s.Sweeps > t*s.Draws/s.Sweeps
}

// Draw is amplitudes drawn from their posterior.
type Draw struct {
	Z           []float64 // standard normal a priori
	Amplitudes  []float64 // of the kernels, 0 in views that are off
	Noise       float64   // σ²
	LogEvidence float64   // E at these amplitudes
}

// Draws draws z from its posterior exp(E(θ(z)))·N(z | 0, I) by elliptical slices, from the fit on. Successive draws
// are correlated; see [Sampling].
//
// Source: I. Murray, R. P. Adams and D. J. C. MacKay, "Elliptical slice sampling", AISTATS 2010.
func (p Problem) Draws(ctx context.Context, f *Fit, how Sampling) ([]Draw, error) {
	if ctx == nil || f == nil {
		return nil, errors.New("vi: ctx or fit is nil")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if err := how.fill(300); err != nil {
		return nil, err
	}
	pr := newPrior(f.Structure, p.Layout)
	pr.include(p.Layout, f.Include)
	if len(f.Z) != pr.dims() {
		return nil, fmt.Errorf("vi: a fit with %d variables where the layout has %d", len(f.Z), pr.dims())
	}
	c := p.newClimb(&pr)
	s := slicer{src: random.Source(how.Seed), value: c.value, z: append([]float64(nil), f.Z...)}
	s.now = c.value(s.z)
	theta := make([]float64, len(pr.mean))
	var out []Draw
	for t := -how.BurnIn; t < how.Sweeps; t++ {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("vi: %w", err)
		}
		s.step()
		if how.kept(t) {
			pr.theta(s.z, theta, nil)
			J := len(theta) - 1
			out = append(out, newDraw(s.z, theta[:J], c.e.noise(theta[J]), s.now))
		}
	}
	return out, nil
}

// newDraw returns the draw at z, given the logarithms of the amplitudes there, the noise and the log evidence.
func newDraw(z, logAmplitudes []float64, noise, value float64) Draw {
	d := Draw{Z: append([]float64(nil), z...), Noise: noise, LogEvidence: value}
	for _, t := range logAmplitudes {
		d.Amplitudes = append(d.Amplitudes, special.Exp(t))
	}
	return d
}

// slicer draws from the density N(z | 0, I)·exp(value(z)).
type slicer struct {
	src   special.Rand
	value func(z []float64) float64
	z     []float64
	now   float64 // value at z
	u, at []float64
}

// step replaces z by a point on an ellipse through z and a draw from the prior, with at least the density at a uniform
// share of the present. It reports whether z has moved: the last point whose value was asked is then z.
func (s *slicer) step() (moved bool) {
	if s.u == nil {
		s.u, s.at = make([]float64, len(s.z)), make([]float64, len(s.z))
	}
	for i := range s.u {
		s.u[i] = s.src.NormFloat64()
	}
	level := s.now + special.Log(1-float64(s.src.Float64()))
	angle := float64(2 * math.Pi * s.src.Float64())
	low, high := angle-2*math.Pi, angle
	for range mostShrinks {
		sin, cos := special.Sincos(angle)
		for i, z := range s.z {
			s.at[i] = float64(z*cos) + float64(s.u[i]*sin)
		}
		if v := s.value(s.at); v >= level {
			copy(s.z, s.at)
			s.now = v
			return true
		}
		if angle < 0 {
			low = angle
		} else {
			high = angle
		}
		angle = low + float64((high-low)*s.src.Float64())
	}
	return false
}

// mostShrinks bounds the evaluations of a step, which then stays where it is. The interval is halved in the mean.
const mostShrinks = 60
