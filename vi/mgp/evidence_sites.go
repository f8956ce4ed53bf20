package mgp

import "github.com/bmkl/bmkl/la"

// Tolerances of expectation propagation and of the variational bound, in posterior
// deviations of a sample: the largest while the scales are climbed, and the smallest.
// The evidence is stationary in the sites, so that its error falls with the square of the
// residual r. It would be about ½N·r², and r = √(½·Ascent.Tolerance) precise enough for an
// ascent, if each site were r from its end. Where sites move each other slowly they are
// further away: from a weak push the samples of TestSitesByFew end at errors of 15·N·r² for r = 1e-3,
// and of 25 to 50·N·r², .2 to .4 nats, for searchTolerance.
const (
	searchTolerance = 5e-3
	finalTolerance  = 1e-9
)

// keep notes the sites, for the next search to begin at.
func (m *evidence) keep() {
	m.bestPrec = append(m.bestPrec[:0], m.sites.prec...)
	m.bestNu = append(m.bestNu[:0], m.sites.nu...)
}

// findSites finds the sites by search. It starts from the kept sites or, if none are kept or they
// lie too far away, from the sites that begin sets. It returns what search does.
func (m *evidence) findSites(begin func(), search func() (float64, error)) (float64, error) {
	if m.bestPrec == nil {
		begin()
	}
	copy(m.sites.prec, m.bestPrec)
	copy(m.sites.nu, m.bestNu)
	value, err := search()
	if err != nil {
		m.part = nil
		begin()
		value, err = search()
	}
	copy(m.alpha, m.sites.alpha)
	return value, err
}

// begin sets the sites of a likelihood. Samples of part take its sites, the others the sites that its
// predictions ask for. Without a part they are the sites that the likelihood begins with. It needs K.
func (m *evidence) begin() {
	if m.part == nil {
		m.sites.start(m.like, m.sum)
		return
	}
	cross := la.NewMatrix[float64](m.N, len(m.rows))
	for n := range m.N {
		m.gather(n, m.rows, cross.Row(n))
		m.sites.variance[n] = m.sum.At(n, n)
	}
	m.beginAtPart(cross)
}

// gather stores the elements of row n of K in the given columns.
func (m *evidence) gather(n int, columns []int, dst []float64) {
	for i, c := range columns {
		dst[i] = m.sum.At(max(n, c), min(n, c))
	}
}

// beginAtPart sets the sites of part's samples to its sites, the other sites to what its predictions ask for,
// and the moments to what it predicts. It is given K in the columns of part's samples, which it overwrites, and
// its diagonal in the place of the variances.
func (m *evidence) beginAtPart(cross la.Matrix[float64]) {
	s, variance := &m.part.s, m.sites.variance
	la.Gemv(&m.ws, la.NoTrans, 1, cross, s.Alpha, 0, m.sites.mean)
	m.part.takeKnown(&m.ws, cross, variance)
	for n := range m.N {
		u := m.like.tilt(n, m.sites.mean[n], variance[n])
		m.sites.prec[n], m.sites.nu[n] = max(u.precision, leastPrecision), u.shift
	}
	for i, r := range m.rows {
		m.sites.prec[r] = s.Sites[i]
		m.sites.nu[r] = s.Alpha[i] + float64(s.Sites[i]*m.sites.mean[r])
	}
}

// approximate finds the sites of a likelihood. Only labels take [SitesBound].
func (m *evidence) approximate() (float64, error) {
	if m.how == SitesBound {
		return m.sites.climb(m.tol, m.like.Likelihood.(bounded))
	}
	return m.sites.propagate(m.like, m.tol)
}
