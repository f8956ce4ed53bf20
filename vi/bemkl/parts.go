package bemkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
)

// part is some of the samples of a row of latent: those whose intermediate outputs have a
// covariance in common, where not all of the row have.
type part struct {
	members []int
	cov     la.Matrix[float64] // P×P, Cov[g_i]
	sum     []float64          // P, Σ_i E[g_i]
	gram    la.Matrix[float64] // P×P, Σ_i E[g_i]E[g_i]ᵀ
	h, g    la.Matrix[float64] // P×members, their columns of h and of E[g]
}

// newPart returns the part of these samples, the identity as the covariance.
func newPart(P int, members []int) part {
	p := part{
		members: members,
		cov:     la.NewMatrix[float64](P, P), sum: make([]float64, P), gram: la.NewMatrix[float64](P, P),
		h: la.NewMatrix[float64](P, len(members)), g: la.NewMatrix[float64](P, len(members)),
	}
	for m := range P {
		p.cov.Set(m, m, 1)
	}
	return p
}

// gather copies the members' columns of x, P×N.
func (p *part) gather(x, to la.Matrix[float64]) {
	for m := range x.Rows {
		row, own := x.Row(m), to.Row(m)
		for n, i := range p.members {
			own[n] = row[i]
		}
	}
}

// scatter copies the members' means of g to their columns of x, P×N.
func (p *part) scatter(x la.Matrix[float64]) {
	for m := range x.Rows {
		row, own := x.Row(m), p.g.Row(m)
		for n, i := range p.members {
			row[i] = own[n]
		}
	}
}

// summarise forms the sums over the members.
func (p *part) summarise(ws *la.Workspace) {
	la.Syrk(ws, la.NoTrans, 1, p.g, 0, p.gram)
	p.gram.MirrorLower()
	for m := range p.sum {
		p.sum[m] = conjugate.Sum(p.g.Row(m))
	}
}

// rescale moves g ← c·g with s = c².
func (p *part) rescale(c, s float64) {
	la.Scal(s, p.cov.Data)
	la.Scal(s, p.gram.Data)
	la.Scal(c, p.sum)
	la.Scal(c, p.g.Data)
}
