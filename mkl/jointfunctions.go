package mkl

import (
	"reflect"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi/mgp"
)

// jointFunctions are members of a mixture with one composite kernel and one target. They differ in their noise. The variance of
// the mixture depends on the mean of their variances alone, which one triangle computes; each of them gets this mean for its own.
type jointFunctions struct {
	members   []int // in the predictor
	functions []*processFunction
	triangle  *mgp.JointTriangle
}

// join finds members whose variances can be computed together. Where rounding in float32 is not small they stay apart.
func (p *mixturePredictor) join(opt PredictorOptions) {
	taken := make([]bool, len(p.designs))
	for i, ds := range p.designs {
		first := &p.members[i]
		if taken[i] || first.process.shared == nil || !first.process.usesTriangle(opt) {
			continue
		}
		var members []int
		for j := i; j < len(p.designs); j++ {
			m := &p.members[j]
			if !taken[j] && m.target == first.target && m.process.usesTriangle(opt) && reflect.DeepEqual(m.process.shared, first.process.shared) {
				members = append(members, j)
			}
		}
		if len(members) > 1 {
			for _, j := range members {
				taken[j] = true
			}
			p.joinMembers(members, ds, opt)
		}
	}
}

// joinMembers computes the variances of members together, whose first one has the design ds.
func (p *mixturePredictor) joinMembers(members []int, ds *gram.Design, opt PredictorOptions) {
	j := &jointFunctions{members: members}
	var posts []*mgp.Posterior
	var shares []float64
	total := 0.0
	for _, i := range members {
		total += p.members[i].weight
	}
	for _, i := range members {
		f := p.members[i].process
		j.functions, posts, shares = append(j.functions, f), append(posts, f.posterior), append(shares, p.members[i].weight/total)
	}
	first := j.functions[0]
	if j.triangle = mgp.NewJointTriangle(opt.archive, posts, shares, newComposite(ds, &first.all), first.tolerance); j.triangle == nil {
		return
	}
	if j.triangle.Fine() < leastTried {
		for _, f := range j.functions {
			f.exact = true
		}
		return
	}
	for _, f := range j.functions {
		f.joint = j
	}
	p.joint = append(p.joint, j)
}

// predict stores the predictions of x in s.certified: in integers, in float32 or in float64, whichever comes first that has all
// functions within their tolerances.
func (j *jointFunctions) predict(b *processBank, s *bankScratch, x [][]float64) {
	if j.within(b, s, x, true) || j.within(b, s, x, false) {
		return
	}
	for n, f := range j.functions {
		s.certified[j.members[n]] = f.predict(b, s, x, closely) // without a triangle of its own, in float64
	}
}

// within stores predictions in s.certified, in integers if coarse, and reports whether all are within their tolerances.
func (j *jointFunctions) within(b *processBank, s *bankScratch, x [][]float64, coarse bool) bool {
	first := j.functions[0]
	if coarse && !j.triangle.Coarse() {
		return false
	}
	k := s.phi[:first.dim()]
	self := b.weigh(s.BankScratch, first.shared, x, k)
	variance, bound := j.triangle.Variance(k, self, coarse, s.triangle)
	for n, f := range j.functions {
		c := &s.certified[j.members[n]]
		switch {
		case f.noise == nil:
			*c = j.triangle.Predict(n, k, variance, bound)
		case f.noiseTriangle == nil:
			return false
		default:
			noiseK := s.noisePhi[:f.dim()]
			noiseSelf := b.weigh(s.BankScratch, f.noiseShared, x, noiseK)
			*c = j.triangle.PredictVarying(n, k, variance, bound, f.noise, f.noiseTriangle, noiseK, noiseSelf, coarse, s.triangle)
		}
		if !c.Within(f.tolerance) {
			return false
		}
	}
	return true
}
