package main

import (
	"fmt"
	"math"
	"os"
	"time"

	"github.com/bmkl/bmkl/internal/cputime"
)

// An answer is what a fit of so many sweeps comes to.
type answer struct {
	Learner string  `json:"learner"`
	Sweeps  int     `json:"sweeps"`  // 0 if the fit has none
	Seconds float64 `json:"seconds"` // user time of the whole fit
	Loss    float64 `json:"loss"`    // of the test samples
	Bound   float64 `json:"bound"`   // lower bound on the log evidence in nats

	done bool // the fit has stopped by its own rule
}

// A learner fits a set by one program.
type learner struct {
	name string

	// course returns the answers of fits of more and more sweeps, up to that which the learner
	// stops at.
	course func() ([]answer, error)

	// again, if not nil, fits once more, for its time.
	again func(sweeps int) answer
}

// fits returns the learner that makes a fit for each answer. Sweeps are added in steps of a
// fifth, until a fit has stopped, or the fits have taken so long.
func fits(name string, patience time.Duration, fit func(sweeps int) answer) learner {
	return learner{name: name, again: fit, course: func() (course []answer, err error) {
		var spent float64
		for sweeps := 1; ; sweeps = more(sweeps) {
			a := fit(sweeps)
			a.Learner, a.Sweeps = name, sweeps
			course = append(course, a)
			if spent += a.Seconds; a.done || spent > patience.Seconds() {
				return course, nil
			}
		}
	}}
}

// more returns the number of sweeps that comes after the given one in a course.
func more(sweeps int) int { return max(sweeps+1, int(1.2*float64(sweeps))) }

// seconds returns the user time of this process, or where the system does not tell it the time
// of day.
func seconds() float64 {
	if s := cputime.User(); !math.IsNaN(s) {
		return s
	}
	return time.Since(begin).Seconds()
}

var begin = time.Now()

// A measure is what learners are compared by: the time to get below a value of it.
type measure struct {
	name string
	unit string
	of   func(answer) float64 // the less the better

	// slack is how far above the value to reach counts as there.
	slack float64
}

func loss(a answer) float64 { return a.Loss }

var (
	byRMSE  = measure{"test RMSE", "SD", loss, 1e-3}
	byLoss  = measure{"test log loss", "nats", loss, 1e-3}
	byBound = measure{"bound", "nats below 0", func(a answer) float64 { return -a.Bound }, 0.1}
)

// reached returns the first answer of a course from which on all are at most target.
func (m measure) reached(course []answer, target float64) (answer, bool) {
	at := len(course)
	for at > 0 && m.of(course[at-1]) <= target {
		at--
	}
	if at == len(course) {
		return answer{}, false
	}
	return course[at], true
}

// A race is a row of the times that learners take to a value that they all come to. For
// each peer it is the worse of the two values at which ours and the peer end.
type race struct {
	name  string
	by    measure
	ours  learner
	peers []learner
}

// measure runs the learners. Peers that fail are left out, and standard error says why.
func (r race) measure(rounds int, _ time.Duration) (out []result) {
	ours, err := r.ours.course()
	must(err)
	for _, p := range r.peers {
		theirs, err := p.course()
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %s left out: %v\n", r.name, p.name, err)
			continue
		}
		end := func(course []answer) float64 { return r.by.of(course[len(course)-1]) }
		target := max(end(ours), end(theirs)) + r.by.slack
		a, okA := r.by.reached(ours, target)
		b, okB := r.by.reached(theirs, target)
		if !okA || !okB { // an end that is no number
			fmt.Fprintf(os.Stderr, "bench: %s: %s left out: it ends at %g, ours at %g\n",
				r.name, p.name, end(theirs), end(ours))
			continue
		}
		value, peer := r.ours.time(a, rounds), p.time(b, rounds)
		out = append(out, result{
			Name: r.name, Unit: "s", Value: value, Peer: fmt.Sprintf("%s, to %.4g %s", p.name, target, r.by.unit),
			PeerValue: peer, Ratio: peer / value,
		})
	}
	return out
}

// enough is the time in seconds after which a fit is not timed once more.
const enough = 2

// time returns the median of the times of fits that come to an answer.
func (l learner) time(a answer, rounds int) float64 {
	times, spent := []float64{a.Seconds}, a.Seconds
	for l.again != nil && len(times) < rounds && spent < enough {
		t := l.again(a.Sweeps).Seconds
		times, spent = append(times, t), spent+t
	}
	return quartiles(times).median
}
