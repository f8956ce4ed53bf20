package mcmc

import "math"

// walk is the step size and the record of a random walk Metropolis step, in
// coordinates in which its density is given and its proposals are symmetric.
type walk struct {
	step     string // what it moves
	size     float64
	burnt    float64 // proposals during the burn-in
	tried    float64
	accepted float64
}

const (
	walkSize   = 0.5
	walkTarget = 0.35 // the acceptance rate that the burn-in aims at
	walkState  = 4    // numbers that save appends
)

func newWalk(step string) walk { return walk{step: step, size: walkSize} }

// length returns the length of a proposal: log-normal about the step size, so that
// a walk makes short steps and long ones whatever size it has settled on.
func (w *walk) length(r random) float64 { return w.size * math.Exp(r.NormFloat64()) }

// accept decides on a proposal whose log density exceeds the present one by rise. In
// the burn-in it then adapts the step size by ever smaller amounts (Robbins and
// Monro).
func (w *walk) accept(r random, rise float64, burnIn bool) bool {
	yes := math.Log(uniform(r)) < rise
	hit := 0.0
	if yes {
		hit = 1
	}
	if burnIn {
		w.burnt++
		w.size *= math.Exp((hit - walkTarget) / math.Pow(w.burnt, 0.6))
	} else {
		w.tried++
		w.accepted += hit
	}
	return yes
}

func (w *walk) move() Move { return Move{w.step, uint64(w.tried), uint64(w.accepted)} }

func (w *walk) save(dst []float64) []float64 {
	return append(dst, w.size, w.burnt, w.tried, w.accepted)
}

func (w *walk) restore(src []float64) {
	w.size, w.burnt, w.tried, w.accepted = src[0], src[1], src[2], src[3]
}
