package vecchia

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// neighbours are the numbers of neighbours that predictions are tried with.
var neighbours = []int{64, 128, 256}

// candidate is a covariance with its predictions for the rows held out.
type candidate struct {
	cov      *Covariance
	local    la.Matrix[float64] // means by neighbours
	variance []float64          // with noise
	score    float64            // mean log density of a target
	exact    la.Matrix[float64] // means by the solution for the other rows, empty without a solution
	alpha    la.Matrix[float64] // the solution for all rows
	double   bool               // it needs values in float64
}

// heldOut returns the rows held out.
func (f *fitting) heldOut() *samples { return f.s.between(f.train, f.s.x.Rows) }

// judge predicts the rows held out from m neighbours.
func (f *fitting) judge(c *candidate, m int) error {
	h := f.heldOut()
	l := newLocal(f.s.between(0, f.train), c.cov, m, f.Workers)
	c.local = la.NewMatrix[float64](h.x.Rows, h.y.Cols)
	c.variance = make([]float64, h.x.Rows)
	if err := l.predict(f.Workers, f.stop, h.x, h.noise, c.local, c.variance); err != nil {
		return err
	}
	c.score = 0
	for i, v := range c.variance {
		for t, u := range h.y.Row(i) {
			e := u - c.local.At(i, t)
			c.score -= float64(0.5 * (special.Log(2*math.Pi*v) + float64(e*e)/v))
		}
	}
	c.score /= float64(h.y.Rows * h.y.Cols)
	return nil
}

const (
	// within is the residual of a solution, in units of the error of the predictions by neighbours.
	within = 0.1

	// leastIterations is the number of iterations below which a solve is not begun.
	leastIterations = 8

	// againShare is the share of the iterations that are left for the rows held out.
	againShare = 0.3
)

// solve solves for the means of the candidates, the best first, as far as the limit allows. It leaves the time that predictions from more
// neighbours take, if that is less than the time of an iteration: a solution of few iterations may be worth less than they are.
func (f *fitting) solve() error {
	n := f.s.x.Rows
	before := mostIterations
	for _, c := range f.all {
		landmarks := landmarksFor(n, c.cov)
		each := f.productSeconds(len(c.cov.Parts), n)
		room := f.limit - f.spent - f.vifSeconds(landmarks)
		if more := f.moreSeconds(); more < each {
			room -= more
		}
		iterations := min(2*mostIterations, int(room/each))
		if room < 0 || iterations < min(leastIterations, before) {
			break
		}
		used, err := f.solveOne(c, landmarks, iterations)
		if err != nil {
			return err
		}
		before = used
		f.spend(f.vifSeconds(landmarks) + float64(float64(used)*each))
	}
	return nil
}

// solveOne computes the means of a candidate for the rows held out from the other rows, and then the
// solution for all rows. It returns the number of iterations. If rounding defeats a factorisation
// there is no solution, and predictions are by neighbours.
func (f *fitting) solveOne(c *candidate, landmarks, iterations int) (used int, err error) {
	v, err := newVif(f.s, c.cov, f.Workers, landmarks, f.train, f.Seed)
	if err != nil || v.hold(f.train) != nil {
		return 0, f.stop.Ended()
	}
	h := f.heldOut()
	k := newSystem(f.s, c.cov, f.Workers, f.stop)
	tolerance := meanSquares(h.y, c.local)
	for t := range tolerance {
		tolerance[t] = within * math.Sqrt(tolerance[t])
	}
	alpha := la.NewMatrix[float64](f.s.x.Rows, h.y.Cols)
	s := newSolver(k, v, alpha.Slice(0, f.train, 0, h.y.Cols), tolerance)
	s.most = max(1, int((1-againShare)*float64(iterations)))
	if err := s.run(); err != nil {
		return 0, err
	}
	c.exact = la.NewMatrix[float64](h.x.Rows, h.y.Cols)
	m := newMeans(f.s.between(0, f.train), c.cov, s.x, k.double)
	if err := m.add(f.Workers, f.stop, h.x, 1, c.exact); err != nil {
		return 0, err
	}
	used, judged := s.iterations, s.largest
	c.alpha, c.double = alpha.Clone(), k.double
	if v.hold(f.s.x.Rows) != nil {
		return used, f.stop.Ended()
	}
	s = s.extended(alpha, c.exact)
	s.most = max(1, iterations-used)
	if err := s.run(); err != nil {
		return 0, err
	}
	if s.largest <= max(1, judged) {
		// Else the solution without the rows held out is the better one.
		c.alpha, c.double = alpha, k.double
	}
	return used + s.iterations, nil
}

// meanSquares returns the mean squares of the columns of y − mean.
func meanSquares(y, mean la.Matrix[float64]) []float64 {
	out := make([]float64, y.Cols)
	for i := range y.Rows {
		for t, v := range y.Row(i) {
			e := v - mean.At(i, t)
			out[t] += float64(e * e)
		}
	}
	for t := range out {
		out[t] /= float64(y.Rows)
	}
	return out
}

// landmarksFor returns the number of landmarks of the preconditioner of n rows. With little noise a solution takes many iterations, and more
// landmarks are worth their time.
func landmarksFor(n int, cov *Covariance) int {
	m := mostLandmarks(n)
	if cov.Noise >= float64(littleNoise*cov.amplitude()) {
		m = min(m, fewLandmarks)
	}
	return m
}

// mostLandmarks returns the largest number of landmarks of the preconditioner of n rows.
func mostLandmarks(n int) int {
	if n >= 20_000 {
		return 2 * fewLandmarks
	}
	return min(fewLandmarks, max(1, n/4))
}

const (
	fewLandmarks = 1000
	littleNoise  = 1e-3
)
