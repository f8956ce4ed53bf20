// Package lbfgs minimises smooth functions of a few dozen variables by the
// limited-memory BFGS method with a line search that ends in the strong Wolfe
// conditions.
//
// Source: J. Nocedal and S. J. Wright, "Numerical Optimization", 2nd edition,
// 2006, algorithms 7.4 and 7.5 (the two-loop recursion), 3.5 and 3.6 (the line
// search).
package lbfgs

import "math"

// Settings say when to stop. The zero value is ready.
type Settings struct {
	Iterations  int // at most so many steps; 0 means 100
	Evaluations int // no new step begins after so many evaluations; 0 means 2·Iterations

	// Tolerance ends the minimisation when the next step is to lower f by less than
	// Tolerance·max(Scale, |f|), and the last has by less than four times that; 0 means 1e-9.
	Tolerance float64

	Scale    float64 // the least that Tolerance is relative to; 0 means 1
	Gradient float64 // stop when no derivative exceeds this; 0 means 1e-6

	// LongestStep bounds the largest change of a variable in one step; 0 means no
	// bound.
	LongestStep float64

	// Precondition, if not nil, multiplies d by a positive definite approximation of the inverse of
	// the second derivatives near the point that was evaluated last. The steps taken correct this
	// approximation; with NoMemory they do not.
	Precondition func(d []float64)
	NoMemory     bool

	// Step, if not nil, is called after every step with the new value of f.
	Step func(f float64)

	// Resume, if not nil, is called before anything else with what names the state of the
	// minimisation. It may put one back, and reports whether it has.
	Resume func(state func(State)) (bool, error)

	// Note, if not nil, is called after every step, and at the end, with what names the state. An error
	// ends the minimisation as one of f does.
	Note func(state func(State)) error
}

// State takes the numbers of a state, or puts them back, as they are named to it.
type State interface {
	Floats(x ...[]float64)
	Float(x *float64)
	Int(x *int, most int)
	Bool(x *bool)
}

// Result is where a minimisation ended.
type Result struct {
	X           []float64 // the lowest point seen
	F           float64   // its value
	Gradient    []float64 // its gradient
	Iterations  int
	Evaluations int
	Converged   bool // within Tolerance or Gradient; otherwise a limit was reached
}

// memory is the number of steps that approximate the curvature.
const memory = 10

// sufficient and curvature are the constants c₁ and c₂ of the Wolfe conditions.
const (
	sufficient = 1e-4
	curvature  = 0.9
)

// Minimize returns a local minimum of f near x, which it leaves alone. f stores
// its gradient at x in g and returns its value; a value that is not finite says
// that x lies outside of f's domain, and the step is shortened. An error of f
// ends the minimisation and is returned with the lowest point so far, whose value is +Inf
// if it is the first, and so is one of Resume.
func Minimize(x []float64, f func(x, g []float64) (float64, error), s Settings) (Result, error) {
	if s.Iterations == 0 {
		s.Iterations = 100
	}
	if s.Evaluations == 0 {
		s.Evaluations = 2 * s.Iterations
	}
	if s.Tolerance == 0 {
		s.Tolerance = 1e-9
	}
	if s.Scale == 0 {
		s.Scale = 1
	}
	if s.Gradient == 0 {
		s.Gradient = 1e-6
	}
	n := len(x)
	m := minimizer{
		f: f, precondition: s.Precondition, noMemory: s.NoMemory,
		here: newPoint(n), history: make([]pair, 0, memory), direction: make([]float64, n),
	}
	copy(m.here.x, x)
	resumed := false
	if s.Resume != nil {
		var err error
		if resumed, err = s.Resume(m.snapshot); err != nil {
			m.here.f = math.Inf(1) // whatever has been put back
			return m.result(false), err
		}
	}
	if resumed {
		m.here.check()
	} else if err := m.evaluate(m.here); err != nil {
		return m.result(false), err
	}
	err := m.climb(s)
	if err == nil && s.Note != nil {
		err = s.Note(m.snapshot)
	}
	return m.result(m.converged && err == nil), err
}

// climb makes the steps.
func (m *minimizer) climb(s Settings) error {
	for !m.converged && m.iterations < s.Iterations && m.evaluations < s.Evaluations {
		if largest(m.here.g) <= s.Gradient {
			m.converged = true
			break
		}
		m.descent()
		limit := s.Tolerance * max(s.Scale, math.Abs(m.here.f))
		if m.small && -0.5*dot(m.here.g, m.direction) <= limit {
			m.converged = true
			break
		}
		step := 1.0
		if len(m.history) == 0 && m.precondition == nil {
			step = min(1, 1/math.Sqrt(dot(m.here.g, m.here.g)))
		}
		most := math.Inf(1)
		if s.LongestStep > 0 {
			most = s.LongestStep / largest(m.direction)
		}
		next, err := m.search(min(step, most), most, limit)
		if err != nil {
			return err
		}
		if next == nil {
			if len(m.history) == 0 {
				// Not even the steepest descent lowers f: the differences are rounding.
				m.converged = true
				break
			}
			m.history = m.history[:0]
			continue
		}
		m.iterations++
		fall := m.here.f - next.f
		m.remember(next)
		m.here = next
		m.small = fall <= lastFall*s.Tolerance*max(s.Scale, math.Abs(next.f))
		if s.Step != nil {
			s.Step(next.f)
		}
		if s.Note != nil {
			if err := s.Note(m.snapshot); err != nil {
				return err
			}
		}
	}
	return nil
}

// snapshot names what further steps depend on.
func (m *minimizer) snapshot(s State) {
	s.Floats(m.here.x, m.here.g)
	s.Float(&m.here.f)
	s.Int(&m.iterations, math.MaxInt32)
	s.Int(&m.evaluations, math.MaxInt32)
	s.Bool(&m.small)
	s.Bool(&m.converged)
	n := len(m.history)
	s.Int(&n, memory)
	for len(m.history) < n {
		m.history = append(m.history, pair{s: make([]float64, len(m.here.x)), y: make([]float64, len(m.here.x))})
	}
	for i := range m.history {
		p := &m.history[i]
		s.Floats(p.s, p.y)
		s.Float(&p.rho)
	}
}

// point is an evaluated point.
type point struct {
	x, g []float64
	f    float64
}

func newPoint(n int) *point { return &point{x: make([]float64, n), g: make([]float64, n)} }

// pair is a step s and the change y of the gradient along it, rho = 1/sᵀy.
type pair struct {
	s, y []float64
	rho  float64
}

type minimizer struct {
	f            func(x, g []float64) (float64, error)
	precondition func(d []float64)
	noMemory     bool
	here         *point
	history      []pair // oldest first
	direction    []float64
	iterations   int
	evaluations  int
	small        bool // the last step lowered f by little
	converged    bool
}

func (m *minimizer) result(converged bool) Result {
	return Result{
		X: m.here.x, F: m.here.f, Gradient: m.here.g,
		Iterations: m.iterations, Evaluations: m.evaluations, Converged: converged,
	}
}

// evaluate computes f at p.
func (m *minimizer) evaluate(p *point) error {
	m.evaluations++
	var err error
	p.f, err = m.f(p.x, p.g)
	if err != nil {
		p.f = math.Inf(1)
		return err
	}
	p.check()
	return nil
}

// check makes the value +Inf unless it and the gradient are finite.
func (p *point) check() {
	finite := p.f-p.f == 0
	for _, v := range p.g {
		finite = finite && v-v == 0
	}
	if !finite {
		p.f = math.Inf(1)
	}
}

// descent sets direction to −H·g by the two-loop recursion, which begins with the
// preconditioner, or with the identity scaled by the last pair.
func (m *minimizer) descent() {
	d := m.direction
	for i, v := range m.here.g {
		d[i] = -v
	}
	var alpha [memory]float64
	for i := len(m.history) - 1; i >= 0; i-- {
		p := &m.history[i]
		alpha[i] = p.rho * dot(p.s, d)
		axpy(-alpha[i], p.y, d)
	}
	if m.precondition != nil {
		m.precondition(d)
	} else if k := len(m.history); k > 0 {
		last := &m.history[k-1]
		scale := 1 / (last.rho * dot(last.y, last.y))
		for i := range d {
			d[i] *= scale
		}
	}
	for i := range m.history {
		p := &m.history[i]
		axpy(alpha[i]-float64(p.rho*dot(p.y, d)), p.s, d)
	}
}

// remember adds the step from here to next to the history, unless rounding has
// left no positive curvature along it.
func (m *minimizer) remember(next *point) {
	if m.noMemory {
		return
	}
	var p pair
	if len(m.history) == memory {
		p = m.history[0]
		copy(m.history, m.history[1:])
		m.history = m.history[:memory-1]
	} else {
		p = pair{s: make([]float64, len(next.x)), y: make([]float64, len(next.x))}
	}
	for i := range p.s {
		p.s[i] = next.x[i] - m.here.x[i]
		p.y[i] = next.g[i] - m.here.g[i]
	}
	sy := dot(p.s, p.y)
	if !(sy > 1e-12*math.Sqrt(dot(p.s, p.s)*dot(p.y, p.y))) {
		return
	}
	p.rho = 1 / sy
	m.history = append(m.history, p)
}

// searches is the most evaluations of one line search.
const searches = 20

// lastFall is how many times the fall that counts as none the last step may have had: where
// steps converge, the next ones fall by a small share of that.
const lastFall = 4

// flat is the share of what counts as no fall that ends a line search, where no point
// between its ends promises more: the values there differ by the error of f.
const flat = 0.1

// search returns a point along the direction that satisfies the strong Wolfe
// conditions, beginning at the given step and going no further than most. Where
// the evaluations run out, or what is left to search promises a fall of less than a
// tenth of small, it returns the lowest point found, nil if none is below here.
func (m *minimizer) search(step, most, small float64) (*point, error) {
	slope := dot(m.here.g, m.direction)
	if !(slope < 0) {
		return nil, nil
	}
	type trial struct {
		*point
		t, slope float64
	}
	start := trial{m.here, 0, slope}
	try := func(t float64) (trial, error) {
		p := newPoint(len(m.here.x))
		for i, v := range m.direction {
			p.x[i] = m.here.x[i] + float64(t*v)
		}
		err := m.evaluate(p)
		return trial{p, t, dot(p.g, m.direction)}, err
	}
	enough := func(a trial) bool { return a.f <= m.here.f+float64(sufficient*a.t*slope) }

	// Widen until a minimum lies between low and high. low always has the lowest
	// value of those with a sufficient decrease.
	low, high := start, trial{}
	bracketed := false
	for range searches {
		var t float64
		switch {
		case !bracketed:
			t = step
		case math.IsInf(high.f, 1):
			t = low.t + float64(0.1*(high.t-low.t))
		default:
			t = cubic(low.t, low.f, low.slope, high.t, high.f, high.slope)
		}
		a, err := try(t)
		if err != nil {
			return nil, err
		}
		switch {
		case !enough(a) || a.f >= low.f && low.t > 0:
			high, bracketed = a, true
		case math.Abs(a.slope) <= -curvature*slope:
			return a.point, nil
		case bracketed:
			if a.slope*(high.t-low.t) >= 0 {
				high = low
			}
			low = a
		case a.slope >= 0:
			low, high, bracketed = a, low, true
		default:
			low = a
			if a.t >= most {
				return a.point, nil
			}
			step = min(3*a.t, most)
		}
		if !bracketed {
			continue
		}
		width := math.Abs(high.t - low.t)
		if width <= 1e-12*math.Max(high.t, low.t) || math.Abs(low.slope)*width <= flat*small {
			break
		}
	}
	if low.t > 0 {
		return low.point, nil
	}
	return nil, nil
}

// cubic returns the minimum of the cubic that has these values and slopes at a
// and b, kept away from both ends by a tenth of the interval.
func cubic(a, fa, ga, b, fb, gb float64) float64 {
	d1 := ga + gb - 3*(fa-fb)/(a-b)
	d2 := math.Copysign(math.Sqrt(max(0, float64(d1*d1)-float64(ga*gb))), b-a)
	t := b - (b-a)*(gb+d2-d1)/(gb-ga+2*d2)
	lo, hi := a+float64(0.1*(b-a)), b-float64(0.1*(b-a))
	if math.IsNaN(t) {
		return (a + b) / 2
	}
	return min(max(t, min(lo, hi)), max(lo, hi))
}

func dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

func axpy(a float64, x, y []float64) {
	for i, v := range x {
		y[i] += float64(a * v)
	}
}

func largest(x []float64) (most float64) {
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}
