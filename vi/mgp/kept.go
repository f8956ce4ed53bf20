package mgp

import (
	"cmp"
	"errors"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Where the scales are kept a fit to labels has only their sites to find. Each step of expectation propagation takes
// a factorisation of all samples and the diagonal of an inverse. But where most labels are sure, few of the samples
// have nearly all of the influence: these find their sites among themselves. The sites of the others matter next to
// nothing; each is set once, to what it asks for given the posterior of the few. One factorisation then makes the
// posterior of all.

// telling is the share of all influence that the samples have whose sites are found together, and mostTelling the
// largest share of all samples that these may be: with more, little is saved.
const (
	telling     = 0.99
	mostTelling = 0.75
)

// kept returns the fit to labels at x, where the scales stay. Its sites are as close as an ascent asks:
// each digit more takes several factorisations.
func (m *evidence) kept(x []float64) (*Fit, error) {
	if err := m.ended(); err != nil {
		return nil, err
	}
	m.final = m.tol
	m.weigh(x) // outline has set the kernels' parameters
	m.sum = la.NewMatrix[float64](m.N, m.N)
	m.passes.sum(&m.ws, m.weight, m.sum)
	m.begin()
	log, loo, err := m.sitesByFew()
	if err != nil { // or there are no few
		if log, loo, err = m.sitesOfAll(x); err != nil {
			return nil, err
		}
	}
	fit := &Fit{
		Record: vi.Record{Reason: vi.Converged}, LogEvidence: log, LeaveOneOut: &LeaveOneOut{LogProbability: loo},
		Parameters: slices.Clone(x[m.P : m.P+len(m.priors)]), Collapsed: la.SumSq(m.sites.mean) < collapsedShare*m.samples(),
	}
	s := State{
		Family: m.family, Labels: true, Prior: m.prior, Tau: 1, Alpha: slices.Clone(m.sites.alpha), Factor: m.sites.l,
		Sites: slices.Clone(m.sites.prec), Known: m.knownKernels(),
	}
	if m.family != FamilyFlat {
		s.Scales = m.scalesAtMode(x)
	}
	objective := log + m.scalePriors(x, nil) + m.parameterPriors(x, nil)
	fit.Record.Trace = []float64{objective}
	return m.complete(fit, s)
}

// logScale returns log γ_p in its unit at x.
func (m *evidence) logScale(p int, x []float64) float64 { return -x[p] - special.Log(m.unit[p]) }

// scalesAtMode returns q(γ) by the formula that holds at scales of highest density. Where the slopes (D27) and
// (D30) cancel, s_p of [evidence.scales] is a_p·(N + 2·∂log p(log γ_p)/∂log γ_p) (D40c), which needs no R.
func (m *evidence) scalesAtMode(x []float64) (q []GIG) {
	for p, a := range m.weight {
		var slope float64
		if !m.isKnown(p) {
			_, slope = m.logPrior(m.logScale(p, x))
		}
		q = append(q, m.scale(p, float64(a*max(0, m.samples()+2*slope))))
	}
	return q
}

// sitesOfAll finds the sites of all samples together, from the sites that begin has set, and returns the log
// evidence and the log probability of each label given the others.
func (m *evidence) sitesOfAll(x []float64) (log float64, loo []float64, err error) {
	m.sites.k, m.sites.l = m.sum, la.NewMatrix[float64](m.N, m.N)
	m.keep()
	log, err = m.last(x, func([]float64) (float64, error) { return m.findSites(m.begin, m.approximate) })
	if err == nil && m.how == SitesEP {
		loo = m.like.leaveOneOut(m.sites)
	}
	return log, loo, err
}

// errNotFew says that sites are not to be found by few samples: there is no part to choose them by, or too many
// tell of the function.
var errNotFew = errors.New("vi: too many samples tell of the function")

// sitesByFew finds the sites of the few samples that, by what part predicts, determine the function nearly, and sets
// each site of the other samples to what that sample asks for. The leave-one-out probability of a label is given the
// few samples, without its own. The log evidence is the log evidence of the few plus the log probabilities of the
// other labels given the few. After an error the sites are of no use, and m.sum is as before.
func (m *evidence) sitesByFew() (log float64, loo []float64, err error) {
	if m.part == nil || m.how != SitesEP {
		return 0, nil, errNotFew
	}
	few, rest := m.divide()
	if float64(len(few)) > mostTelling*float64(m.N) {
		return 0, nil, errNotFew
	}
	s, t := newSites(&m.ws, len(few)), make(probit, len(few))
	s.k, s.l = la.NewMatrix[float64](s.N, s.N), la.NewMatrix[float64](s.N, s.N)
	for i, n := range few {
		m.gather(n, few[:i+1], s.k.Row(i))
		s.prec[i], s.nu[i], t[i] = m.sites.prec[n], m.sites.nu[n], m.y[n]
	}
	of := &likelihood{Likelihood: t}
	if log, err = s.propagate(of, m.tol); err != nil {
		return 0, nil, err
	}

	loo = make([]float64, m.N)
	for i, v := range of.leaveOneOut(s) {
		n := few[i]
		loo[n], m.sites.mean[n], m.sites.prec[n], m.sites.nu[n] = v, s.mean[i], s.prec[i], s.nu[i]
	}
	posterior := Posterior{s: State{Alpha: s.alpha, Factor: s.l}, root: s.root}
	cross := la.NewMatrix[float64](len(rest), s.N)
	mean, variance := make([]float64, len(rest)), make([]float64, len(rest))
	for i, n := range rest {
		m.gather(n, few, cross.Row(i))
		variance[i] = m.sum.At(n, n)
	}
	la.Gemv(&m.ws, la.NoTrans, 1, cross, s.alpha, 0, mean)
	posterior.takeKnown(&m.ws, cross, variance)
	for i, n := range rest {
		u := m.like.tilt(n, mean[i], variance[i])
		loo[n], m.sites.mean[n], m.sites.prec[n], m.sites.nu[n] = u.logZ, mean[i], max(u.precision, leastPrecision), u.shift
		log += u.logZ
	}
	m.sites.k, m.sites.l = m.sum, m.sum
	if err := m.sites.factorise(); err != nil {
		m.passes.sum(&m.ws, m.weight, m.sum)
		return 0, nil, err
	}
	return log, loo, nil
}

// divide returns the samples of the most influence that together have the share telling of all, and the others,
// both ascending.
func (m *evidence) divide() (few, rest []int) {
	influence := m.influence()
	order, left := make([]int, m.N), 0.0
	for n, v := range influence {
		order[n] = n
		left += float64(telling * v)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(influence[b], influence[a]) })
	at := 0
	for ; at < m.N && left > 0; at++ {
		left -= influence[order[at]]
	}
	few, rest = order[:at], order[at:]
	slices.Sort(few)
	slices.Sort(rest)
	return few, rest
}
