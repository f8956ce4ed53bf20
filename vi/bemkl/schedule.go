package bemkl

import (
	"slices"

	"github.com/bmkl/bmkl/vi/internal/work"
)

// schedule is the order of the updates in a sweep.
type schedule struct {
	first   []work.Update // in the first sweeps, if there are any
	settled []work.Update
	done    int // sweeps so far
}

// firstSweeps is how many sweeps the plain order has before the accelerated one
// begins. From a random start the latter, under sparse priors, can shrink the
// kernel weights faster than G takes hold of the targets, and ends in the
// all-zero solution.
const firstSweeps = 10

// sweep makes one sweep.
func (s *schedule) sweep(done func(string)) error {
	s.done++
	if s.first != nil && s.done <= firstSweeps {
		return work.Sweep(s.first, done)
	}
	return work.Sweep(s.settled, done)
}

// schedule returns the order of a sweep: the plain one, which is that of the
// papers, or the accelerated one of docs/acceleration.md. before are the updates
// before those of a and G, inner those after them.
func (l *latent) schedule(plain bool, before []work.Update, a, g work.Update, inner []work.Update, scale func()) schedule {
	order := slices.Concat(before, []work.Update{a, g}, inner)
	if plain {
		return schedule{settled: order}
	}
	search := newSearch(l)
	joint := work.Update{Name: "(a,G)", Step: func() error {
		if err := g.Step(); err != nil {
			return err
		}
		return search.update(l)
	}}
	fast := slices.Concat(before, []work.Update{joint}, inner)
	for range innerPasses - 1 {
		fast = append(append(fast, g), inner...)
	}
	return schedule{first: order, settled: append(fast, work.Update{Name: "scale", Step: func() error { scale(); return nil }})}
}

// innerPasses is how often a sweep updates G, γ, ω, ε and (b,e). The further
// passes cost no factorisation and no pass over the kernels; docs/acceleration.md
// says what they save.
const innerPasses = 3
