package amplitude

import (
	"context"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/random"
)

// Selection is the posterior of the included views, under the prior that view v is included with the probability
// Prior[v], independently, and that the amplitudes of the views included are
//
//	log a_j = log(1/J) + 3·z_0 + 1.5·z_kind(j) + ½·z_j + 1.5·z_view(j).
//
// A view of a group is included if the group is, with the probability ½, and the view within it.
type Selection struct {
	// Included is the posterior probability of each view, Groups of each group. They average the conditional
	// probabilities of the sweeps.
	Included, Groups []float64

	// Error is the Monte Carlo standard error of Included, from ten batches of sweeps.
	Error []float64

	Draws []Draw   // amplitudes, 0 for the views that a draw leaves out
	On    [][]bool // which views each draw includes

	Sweeps [][]bool // which views each sweep includes, after the burn-in
}

// viewSD is the standard deviation of the logarithm of the amplitudes of a view that is included, relative to the other views.
const viewSD = 1.5

// newSelectionPrior returns the prior of the amplitudes of views that are included. Its variables are the level, the kinds, the
// noise, and then for each view its own and one for each of its kernels.
func newSelectionPrior(l Layout, s Structure) (p prior, view [][2]int) {
	J, V, kinds := len(l.View), l.Views(), l.kinds()
	common, own, kindSD := 1+kinds+1, V+J, sparseKindSD
	if s == Tied {
		own, kindSD = 0, tiedKindSD
	}
	p = prior{mean: make([]float64, J+1), linear: la.NewMatrix[float64](J+1, common+own), factors: make([][]int, J)}
	p.mean[J] = special.Log(noiseMedian)
	p.linear.Set(J, common-1, noiseSD)
	at, last := common, -1
	for j, v := range l.View {
		p.mean[j] = -special.Log(float64(J))
		p.linear.Set(j, 0, levelSD)
		p.linear.Set(j, 1+l.kind(j), kindSD)
		if v != last {
			view = append(view, [2]int{at, at})
			last = v
			if s != Tied {
				at++
			}
		}
		if s == Tied {
			continue
		}
		p.linear.Set(j, view[v][0], viewSD)
		p.linear.Set(j, at, kernelSD)
		at++
		view[v][1] = at
	}
	return p, view
}

// Select draws which views are included, and their amplitudes, by Gibbs sampling. A sweep redraws the variables given the
// amplitudes, switches every view and group given all else, and then draws by elliptical slices the variables of the views that are
// included, at most four in turn, and the common ones. The variables of views that are not included are drawn from the prior.
// With up to four views each view is switched once more, in a step in which the amplitudes of the other views and the noise move with it;
// Included then averages the probabilities of these steps. include[v] is the prior probability of view v, nil means ½ for each.
func (p Problem) Select(ctx context.Context, st Structure, include []float64, how Sampling) (*Selection, error) {
	return p.selection(ctx, st, include, how, true)
}

// selection is [Problem.Select], with or without switches that carry other variables along. These cost a fit for each set of views.
func (p *Problem) selection(ctx context.Context, st Structure, include []float64, how Sampling, carried bool) (*Selection, error) {
	c, err := p.newChain(ctx, st, include, &how, carried)
	if err != nil {
		return nil, err
	}
	if err := c.extend(ctx, how.BurnIn+how.Sweeps); err != nil {
		return nil, err
	}
	return c.from(how.BurnIn, how), nil
}

// batches is into how many the sweeps are cut for a standard error.
const batches = 10

// batchError returns the standard error of a mean over sweeps, given the sums of the batches.
func batchError(sum []float64, mean float64, sweeps int) float64 {
	var square float64
	n := 0
	for b, s := range sum {
		size := (b+1)*sweeps/batches - b*sweeps/batches
		if size == 0 {
			continue
		}
		d := s/float64(size) - mean
		square += float64(d * d)
		n++
	}
	return math.Sqrt(square / float64(max(n-1, 1)) / float64(max(n, 1)))
}

// selector is the state of the Gibbs sampler.
type selector struct {
	p     *Problem
	e     *evidence
	prior prior
	block [][2]int // the variables of each view
	parts []*Kernels
	first []int // the first kernel of each view, and J
	logit []float64
	src   special.Rand

	z, theta []float64
	viewOn   []bool // within the group
	groupOn  []bool
	tied     bool          // the structure is
	carried  bool          // switches of few views carry the other variables along
	near     map[int]*near // by the views that are on, one bit each
	mode     []float64     // the most probable z of all views
	now      float64
	sum      []float64   // packed, of the views that are on
	part     [][]float64 // packed, of each view
	trial    []float64

	turn                          int // the view whose variables are drawn next, modulo V
	probability, groupProbability []float64
}

func (p *Problem) newSelector(st Structure, logit []float64, seed uint64) *selector {
	V := p.Layout.Views()
	J, N := p.Kernels.Dims()
	s := &selector{
		p: p, e: p.evidence(p.Kernels), logit: logit, src: random.Source(seed), tied: st == Tied,
		theta: make([]float64, J+1), viewOn: make([]bool, V), groupOn: make([]bool, most(p.Layout.Group)+1),
		sum: make([]float64, size(N)), trial: make([]float64, size(N)),
		probability: make([]float64, V), groupProbability: make([]float64, most(p.Layout.Group)+1),
	}
	s.prior, s.block = newSelectionPrior(p.Layout, st)
	s.z = make([]float64, s.prior.dims())
	for j, v := range p.Layout.View {
		if v == len(s.first) {
			s.first = append(s.first, j)
		}
	}
	s.first = append(s.first, J)
	for v := range V {
		s.parts = append(s.parts, p.Kernels.some(s.first[v], s.first[v+1]))
		s.part = append(s.part, make([]float64, size(N)))
		s.viewOn[v] = true
	}
	for g := range s.groupOn {
		s.groupOn[g] = true
	}
	s.now = s.refresh(s.z)
	return s
}

func (s *selector) group(v int) int {
	if s.p.Layout.Group == nil {
		return -1
	}
	return s.p.Layout.Group[v]
}

// on reports whether view v is included.
func (s *selector) on(v int) bool {
	g := s.group(v)
	return s.viewOn[v] && (g < 0 || s.groupOn[g])
}

// partOf stores the packed sum of the kernels of view v at θ.
func (s *selector) partOf(v int) {
	for j := s.first[v]; j < s.first[v+1]; j++ {
		s.e.amplitude[j] = special.Exp(s.theta[j])
	}
	s.parts[v].sum(&s.e.ws, s.e.amplitude[s.first[v]:s.first[v+1]], s.part[v])
	s.e.count(0, s.first[v+1]-s.first[v])
}

// within reports whether θ is in the domain of the evidence.
func (s *selector) within() bool {
	for _, t := range s.theta {
		if !(t < mostLog) {
			return false
		}
	}
	return true
}

// refresh sets θ, the parts and their sum at z, and returns the log evidence.
func (s *selector) refresh(z []float64) float64 {
	s.prior.theta(z, s.theta, nil)
	if !s.within() {
		return math.Inf(-1)
	}
	clear(s.sum)
	for v := range s.parts {
		if s.on(v) {
			s.partOf(v)
			la.Axpy(1, s.part[v], s.sum)
		}
	}
	return s.e.valueOf(s.sum, s.noise())
}

// valueOn returns the log evidence at θ of some views, without the kernels of the other views. It overwrites s.trial.
func (s *selector) valueOn(theta []float64, on []bool) float64 {
	clear(s.trial)
	for v, is := range on {
		if !is {
			continue
		}
		first, end := s.first[v], s.first[v+1]
		for j, t := range theta[first:end] {
			if !(t < mostLog) {
				return math.Inf(-1)
			}
			s.e.amplitude[first+j] = special.Exp(t)
		}
		s.parts[v].add(&s.e.ws, s.e.amplitude[first:end], s.trial)
	}
	noise := theta[len(theta)-1]
	if !(noise < mostLog) {
		return math.Inf(-1)
	}
	return s.e.valueOf(s.trial, s.e.noise(noise))
}

func (s *selector) noise() float64 { return s.e.noise(s.theta[len(s.theta)-1]) }

// mostSliced is the most views whose variables a sweep draws. They take most of its time.
const mostSliced = 4

// sweep draws the variables given θ, every switch, the variables of some views, whose turn it is, and the common ones.
func (s *selector) sweep(ctx context.Context) {
	s.redraw()
	for g := range s.groupOn {
		s.switchGroup(g)
	}
	for v := range s.viewOn {
		s.switchView(v)
	}
	if s.hasNear() {
		for v := range s.viewOn {
			if g := s.group(v); g < 0 || s.groupOn[g] {
				s.carry(ctx, v)
			}
		}
	}
	V := len(s.viewOn)
	for range min(V, mostSliced) {
		v := s.turn % V
		s.turn++
		if s.on(v) && s.block[v][0] < s.block[v][1] {
			s.sliceView(v)
		}
	}
	// The common variables move all parts.
	common := s.block[0][0]
	whole := append([]float64(nil), s.z...)
	c := slicer{src: s.src, z: append([]float64(nil), s.z[:common]...), now: s.now, value: func(z []float64) float64 {
		copy(whole, z)
		return s.refresh(whole)
	}}
	moved := c.step()
	copy(s.z, c.z)
	s.now = c.now
	if !moved { // the last trial was another point
		s.now = s.refresh(s.z)
	}
}

// fresh draws the variables of a view from the prior.
func (s *selector) fresh(v int) {
	for i := s.block[v][0]; i < s.block[v][1]; i++ {
		s.z[i] = s.src.NormFloat64()
	}
	s.prior.theta(s.z, s.theta, nil)
}

// switchView draws whether view v is included given all else.
func (s *selector) switchView(v int) {
	if g := s.group(v); g >= 0 && !s.groupOn[g] {
		q := 1 / (1 + special.Exp(-s.logit[v]))
		s.viewOn[v] = s.src.Float64() < q
		s.probability[v] = 0
		s.fresh(v)
		return
	}
	was := s.viewOn[v]
	if !was {
		s.fresh(v)
	}
	s.probability[v] = s.choose([]int{v}, was, s.logit[v], func(on bool) { s.viewOn[v] = on })
}

// switchGroup draws whether group g is included given all else.
func (s *selector) switchGroup(g int) {
	var views []int
	for v := range s.viewOn {
		if s.group(v) == g && s.viewOn[v] {
			views = append(views, v)
		}
	}
	s.groupProbability[g] = s.choose(views, s.groupOn[g], 0, func(on bool) { s.groupOn[g] = on })
}

// corrected returns by how much the correction is higher with views than without them, given the other views that are on.
func (s *selector) corrected(views []int) float64 {
	if s.p.Correction == nil {
		return 0
	}
	with, without := make([]bool, len(s.viewOn)), make([]bool, len(s.viewOn))
	for v := range with {
		changed := slices.Contains(views, v)
		with[v], without[v] = s.on(v) || changed, s.on(v) && !changed
	}
	return s.p.Correction(with) - s.p.Correction(without)
}

// choose draws whether views, which all are or all are not, are included, and returns the probability.
func (s *selector) choose(views []int, was bool, logit float64, set func(on bool)) float64 {
	copy(s.trial, s.sum)
	sign := -1.0
	other := math.Inf(-1)
	if !was {
		sign = 1
	}
	if was || s.within() {
		for _, v := range views {
			if !was {
				s.partOf(v)
			}
			la.Axpy(sign, s.part[v], s.trial)
		}
		other = s.e.valueOf(s.trial, s.noise())
	}
	odds := logit + float64(sign*(other-s.now)) + s.corrected(views)
	q := 1 / (1 + special.Exp(-odds))
	on := s.src.Float64() < q
	if on != was {
		set(on)
		s.sum, s.trial = s.trial, s.sum
		s.now = other
	}
	return q
}

// sliceView draws the variables of view v, which is included.
func (s *selector) sliceView(v int) {
	first, end := s.block[v][0], s.block[v][1]
	rest := append([]float64(nil), s.sum...)
	la.Axpy(-1, s.part[v], rest)
	whole := append([]float64(nil), s.z...)
	c := slicer{src: s.src, z: append([]float64(nil), s.z[first:end]...), now: s.now, value: func(z []float64) float64 {
		copy(whole[first:end], z)
		s.prior.theta(whole, s.theta, nil)
		if !s.within() {
			return math.Inf(-1)
		}
		s.partOf(v)
		copy(s.sum, rest)
		la.Axpy(1, s.part[v], s.sum)
		return s.e.valueOf(s.sum, s.noise())
	}}
	moved := c.step()
	copy(s.z[first:end], c.z)
	s.now = c.now
	if !moved { // the last trial was another point
		s.now = c.value(c.z)
	}
}
