package mkl

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// refinedClasses predicts the functions of all classes of a member side by side. Each function gets rows of its triangle only while
// the probabilities need them: of an unlikely class the standard deviation hardly matters, however uncertain it is.
type refinedClasses struct {
	functions []*mgp.Refinement
	classes   []refinedClass
	sharpness float64
	unit      float64 // the score whose exponential counts as 1
	fresh     int     // the class whose score is new, or −1 if all are
}

// refinedClass is what is known of the score of a class, its log odds.
type refinedClass struct {
	score ends
	exp   ends // e^(sharpness·(score − unit))
	rest  ends // the sums of exp of all other classes
	done  bool // the score cannot come closer
}

// ends are a value and the ends of the interval that has the true one.
type ends struct{ low, at, high float64 }

func (e ends) plus(f ends) ends { return ends{e.low + f.low, e.at + f.at, e.high + f.high} }

// share returns the ends of e/(e + rest). Where a quotient is of two zeros, the end is 0 or 1.
func (e ends) share(rest ends) (least, most float64) {
	most = 1
	if sum := e.high + rest.low; sum > 0 {
		most = e.high / sum
	}
	if e.low > 0 {
		least = e.low / (e.low + rest.high)
	}
	return least, most
}

// newRefinedClasses returns memory for a number of classes with so many functions of at most n training samples.
func newRefinedClasses(classes, functions, n int) refinedClasses {
	if functions == 0 {
		return refinedClasses{}
	}
	r := refinedClasses{classes: make([]refinedClass, classes)}
	for range functions {
		r.functions = append(r.functions, mgp.NewRefinement(n))
	}
	return r
}

// set stores the score and its ends. The log odds log Φ(z) − log Φ(−z) rise with z = mean/SD, which lies between its values at the ends of
// the interval of the standard deviation. The mean must be exact.
func (c *refinedClass) set(f vi.Certified) {
	sd := math.Sqrt(f.Variance)
	at := special.LogOdds(f.Mean / sd)
	c.score = ends{at, at, at}
	if f.SDError != 0 {
		c.score.low, c.score.high = special.LogOdds(f.Mean/(sd+f.SDError)), special.LogOdds(f.Mean/f.LeastSD)
	}
	if c.score.low > c.score.high {
		c.score.low, c.score.high = c.score.high, c.score.low
	}
}

// refine stores the probabilities of the sample x in s.log, and returns a bound on their errors, which is more than allowed only
// if no function can come closer.
func (m *classMember[T]) refine(b *processBank, s *bankScratch, x [][]float64, allowed float64) (bound float64) {
	r := &s.refined
	first := len(r.classes) - len(m.functions) // of two classes the first has no function, and the odds 1
	if first == 1 {
		r.classes[0] = refinedClass{done: true}
	}
	for o := range m.functions {
		c := &r.classes[first+o]
		c.done = false
		c.set(m.functions[o].process.begin(b, s, x, r.functions[o]))
	}
	r.sharpness, r.fresh = m.sharpness, -1
	for {
		next := -1
		if bound, next = r.bound(); bound <= allowed || next < 0 {
			r.probabilities(s.log)
			return bound
		}
		c := &r.classes[next]
		var f vi.Certified
		f, c.done = m.functions[next-first].process.refine(r.functions[next-first])
		c.set(f)
		r.fresh = next
	}
}

// probabilities stores the probabilities of the classes.
func (r *refinedClasses) probabilities(p []float64) {
	for i := range r.classes {
		c := &r.classes[i]
		p[i] = c.exp.at / (c.exp.at + c.rest.at)
	}
}

// bound returns a bound on the errors of the probabilities p_c = e^(b·score_c)/Σ, and the class whose score moves its own probability
// most; it is −1 if no class can come closer. p_c rises with its own score and falls with all others.
func (r *refinedClasses) bound() (bound float64, next int) {
	if !r.exponentials() {
		bound = 1
	}
	r.rests()
	next = -1
	widest := 0.0
	for i := range r.classes {
		c := &r.classes[i]
		p := c.exp.at / (c.exp.at + c.rest.at)
		least, most := c.exp.share(c.rest)
		bound = max(bound, most-p, p-least)
		if c.done {
			continue
		}
		if width := c.exp.high/(c.exp.high+c.rest.at) - c.exp.low/(c.exp.low+c.rest.at); next < 0 || width > widest {
			next, widest = i, width
		}
	}
	return bound, next
}

// exponentials computes the exponentials of new scores. The largest score, not its end, is near the unit, so that the sum of the
// exponentials is about 1 or more. It reports whether all ends have their exponentials: those above e³⁰⁰ have not.
func (r *refinedClasses) exponentials() (all bool) {
	const far, most = 30, 300
	top := math.Inf(-1)
	for i := range r.classes {
		top = max(top, r.classes[i].score.at)
	}
	renew := r.fresh < 0 || !(math.Abs(r.sharpness*(top-r.unit)) <= far)
	if renew {
		r.unit = top
	}
	all = true
	for i := range r.classes {
		c := &r.classes[i]
		high := r.sharpness * (c.score.high - r.unit)
		if high > most {
			high, all = most, false
		}
		if renew || i == r.fresh {
			low, at := r.sharpness*(c.score.low-r.unit), r.sharpness*(c.score.at-r.unit)
			c.exp = ends{special.Exp(low), special.Exp(at), special.Exp(high)}
		}
	}
	return all
}

// rests sums the exponentials of the classes before and after each class. Differences from the sum of all would lose the small ones.
func (r *refinedClasses) rests() {
	var sum ends
	for i := range r.classes {
		c := &r.classes[i]
		c.rest, sum = sum, sum.plus(c.exp)
	}
	sum = ends{}
	for i := len(r.classes) - 1; i >= 0; i-- {
		c := &r.classes[i]
		c.rest, sum = c.rest.plus(sum), sum.plus(c.exp)
	}
}
