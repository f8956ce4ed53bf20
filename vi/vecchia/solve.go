package vecchia

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

const (
	checkedEvery = 10 // iterations from one true residual to the next

	// mostIterations is the largest number of iterations of a solve.
	mostIterations = 200
)

// system is the covariance of the targets of samples, as products with it.
type system struct {
	*samples
	cov *Covariance
	w   la.Workspace

	// double says that values of the covariance are computed in float64: rounded to float32 they
	// have misled the iterations.
	double bool

	low      *values[float32]
	high     *values[float64]
	lowCrew  *work.Crew[*tiler[float32]]
	highCrew *work.Crew[*tiler[float64]]
	sums     []la.Matrix[float64]
	slopes   la.Matrix[float64]
}

// newSystem returns the system of all samples.
func newSystem(s *samples, cov *Covariance, workers int, stop *work.Stop) *system {
	t := s.y.Cols
	k := &system{samples: s, cov: cov, w: la.Workspace{Workers: workers}}
	k.low, k.high = newValues[float32](cov, s.x), newValues[float64](cov, s.x)
	k.lowCrew = work.NewCrew(workers, partials(t), func(int) *tiler[float32] { return newTiler[float32](t) })
	k.highCrew = work.NewCrew(workers, partials(t), func(int) *tiler[float64] { return newTiler[float64](t) })
	k.lowCrew.Stop, k.highCrew.Stop = stop, stop
	for range partials(t) {
		k.sums = append(k.sums, la.NewMatrix[float64](s.x.Rows, t))
	}
	k.slopes = la.NewMatrix[float64](s.x.Cols, t)
	return k
}

// multiply stores the product of the covariance of the first samples, as many as P has rows, with P
// in Y.
func (k *system) multiply(p, y la.Matrix[float64], double bool) (err error) {
	if double {
		err = k.high.multiply(k.highCrew, p, y, k.sums)
	} else {
		err = k.low.multiply(k.lowCrew, p, y, k.sums)
	}
	k.addLinear(k.x.Slice(0, p.Rows, 0, k.x.Cols), p, y)
	k.addNoise(p, y)
	return err
}

// addNoise adds to Y, the first rows of a product with P, the part of the noise.
func (k *system) addNoise(p, y la.Matrix[float64]) {
	for i := range y.Rows {
		to, s := y.Row(i), k.cov.Noise*k.relative(i)
		for t, v := range p.Row(i) {
			to[t] += float64(s * v)
		}
	}
}

// addLinear adds to Y the product with P of the linear part of the covariances of the rows of z and
// the first samples.
func (k *system) addLinear(z, p, y la.Matrix[float64]) {
	x := k.x.Slice(0, p.Rows, 0, k.x.Cols)
	la.Gemm(&k.w, la.Transpose, la.NoTrans, 1, x, p, 0, k.slopes)
	la.Gemm(&k.w, la.NoTrans, la.NoTrans, k.cov.Linear, z, k.slopes, 1, y)
	sum := make([]float64, p.Cols)
	for i := range p.Rows {
		la.Axpy(k.cov.Linear, p.Row(i), sum)
	}
	for i := range y.Rows {
		la.Axpy(1, sum, y.Row(i))
	}
}

// solver improves solutions of a system by conjugate gradients, a column of targets each on its own.
type solver struct {
	k           *system
	v           *vif
	n           int
	x           la.Matrix[float64]
	r, z, p, kp la.Matrix[float64]
	known       bool // r is the residual of x
	rz          []float64
	tolerance   []float64 // of each column, the root of the mean square of the residual
	best        la.Matrix[float64]
	least       float64
	most        int // iterations
	iterations  int
	largest     float64 // residual, in units of the tolerance
}

// newSolver returns a solver for the first n samples that begins from x and changes it.
func newSolver(k *system, v *vif, x la.Matrix[float64], tolerance []float64) *solver {
	n, t := x.Rows, x.Cols
	s := &solver{k: k, v: v, n: n, x: x, tolerance: tolerance, rz: make([]float64, t), least: math.Inf(1), most: mostIterations}
	s.r, s.z, s.p, s.kp = la.NewMatrix[float64](n, t), la.NewMatrix[float64](n, t), la.NewMatrix[float64](n, t), la.NewMatrix[float64](n, t)
	s.best = la.NewMatrix[float64](n, t)
	return s
}

// extended returns a solver for the samples that x has rows for. The first rows of x are the solution of s, and the others 0. mean holds the
// means at the other samples by that solution: with them the residual of x is known without a product.
func (s *solver) extended(x, mean la.Matrix[float64]) *solver {
	e := newSolver(s.k, s.v, x, s.tolerance)
	if !s.known {
		return e
	}
	e.known = true
	e.r.Slice(0, s.n, 0, x.Cols).CopyFrom(s.r)
	for i := s.n; i < e.n; i++ {
		y, m := s.k.y.Row(i), mean.Row(i-s.n)
		for t := range m {
			e.r.Set(i, t, y[t]-m[t])
		}
	}
	return e
}

// size returns the largest of the columns' residuals in units of the tolerance.
func (s *solver) size(r la.Matrix[float64]) (most float64) {
	for t, v := range dots(r, r) {
		most = max(most, math.Sqrt(v/float64(r.Rows))/s.tolerance[t])
	}
	return most
}

// dots returns the inner products of the columns of a and b.
func dots(a, b la.Matrix[float64]) []float64 {
	d := make([]float64, a.Cols)
	if a.Cols == 1 {
		d[0] = la.Dot(a.Data[:a.Rows], b.Data[:b.Rows])
		return d
	}
	for i := range a.Rows {
		y := b.Row(i)
		for t, v := range a.Row(i) {
			d[t] += float64(v * y[t])
		}
	}
	return d
}

// checkedRows is the number of rows, from the first on, whose true residual is compared with the residual that the iterations suppose. A
// product of all rows in float64 would take as long as several iterations. The rows fill a tile for each of the fewest tasks of a crew.
const checkedRows = 2048

// truth returns the size of the true residual of the first rows, with the covariance in float64.
func (s *solver) truth() (float64, error) {
	x := s.k.x.Slice(0, min(s.n, checkedRows), 0, s.k.x.Cols)
	r := s.kp.Slice(0, x.Rows, 0, s.x.Cols)
	r.Fill(0)
	err := s.k.high.rowsOf(s.k.highCrew, x.Rows, s.x, r)
	s.k.addLinear(x, s.x, r)
	s.k.addNoise(s.x, r)
	s.subtractFromTargets(r)
	return s.size(r), err
}

// restart stores the true residual of all rows in r.
func (s *solver) restart() error {
	s.known = true
	if slices.ContainsFunc(s.x.Data[:s.n*s.x.Cols], func(v float64) bool { return v != 0 }) {
		if err := s.k.multiply(s.x, s.r, true); err != nil {
			return err
		}
		s.subtractFromTargets(s.r)
		return nil
	}
	s.r.CopyFrom(s.k.y.Slice(0, s.n, 0, s.x.Cols))
	return nil
}

// subtractFromTargets replaces the first rows r of a product by what they leave of the targets.
func (s *solver) subtractFromTargets(r la.Matrix[float64]) {
	for i := range r.Rows {
		to := r.Row(i)
		for t, v := range s.k.y.Row(i) {
			to[t] = v - to[t]
		}
	}
}

// run iterates until the residual of every column is within the tolerance.
func (s *solver) run() error {
	if !s.known {
		if err := s.restart(); err != nil {
			return err
		}
	}
	fresh := true
	for s.iterations < s.most {
		if fresh {
			s.begin()
			fresh = false
		}
		ok, err := s.step()
		if err != nil {
			return err
		}
		s.iterations++
		supposed := s.size(s.r)
		if ok && s.iterations%checkedEvery != 0 && supposed > 1 && s.iterations < s.most {
			s.turn()
			continue
		}
		if s.largest, err = s.truth(); err != nil {
			return err
		}
		s.largest = max(s.largest, supposed) // the first rows may be solved better than the others
		if s.largest < s.least {
			s.least = s.largest
			s.best.CopyFrom(s.x)
		}
		switch {
		case !ok || !(s.largest < 100*s.least):
			// The iterations broke down, or went astray.
			if s.k.double {
				s.x.CopyFrom(s.best)
				s.largest, s.known = s.least, false
				return nil
			}
			s.k.double = true
			if s.least < math.Inf(1) {
				s.x.CopyFrom(s.best)
			} else {
				s.x.Fill(0)
			}
			if err := s.restart(); err != nil {
				return err
			}
			fresh = true
		case s.largest <= 1:
			return nil
		case s.largest > 2*supposed:
			// The residual is not what the iterations suppose: begin anew from the true one.
			s.k.double = true
			if err := s.restart(); err != nil {
				return err
			}
			fresh = true
		default:
			s.turn()
		}
	}
	return nil
}

// begin takes the preconditioned residual for the direction.
func (s *solver) begin() {
	s.v.solve(s.r, s.z)
	copy(s.rz, dots(s.r, s.z))
	s.p.CopyFrom(s.z)
}

// step moves along the direction. It reports whether the curvature of the columns that still move was
// positive.
func (s *solver) step() (ok bool, err error) {
	if err := s.k.multiply(s.p, s.kp, s.k.double); err != nil {
		return false, err
	}
	curvature := dots(s.p, s.kp)
	ok = true
	for t, c := range curvature {
		if s.rz[t] == 0 {
			curvature[t] = 1
		} else if !(c > 0) || !(s.rz[t] > 0) {
			ok = false
		}
	}
	if !ok {
		return false, nil
	}
	for i := range s.n {
		x, r, kp := s.x.Row(i), s.r.Row(i), s.kp.Row(i)
		for t, v := range s.p.Row(i) {
			a := s.rz[t] / curvature[t]
			x[t] += float64(a * v)
			r[t] -= float64(a * kp[t])
		}
	}
	return true, nil
}

// turn takes the next direction.
func (s *solver) turn() {
	s.v.solve(s.r, s.z)
	next := dots(s.r, s.z)
	for i := range s.n {
		p := s.p.Row(i)
		for t, v := range s.z.Row(i) {
			b := 0.0
			if s.rz[t] != 0 {
				b = next[t] / s.rz[t]
			}
			p[t] = v + float64(b*p[t])
		}
	}
	copy(s.rz, next)
}
