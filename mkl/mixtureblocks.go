package mkl

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// mixtureBlocks predicts blocks of samples by a mixture, for one caller. Kernels are computed sample by sample. Variances are products of the
// triangles in float32 with the kernels of all samples of a block, and solutions in float64 for samples or functions for which float32 is not
// enough.
type mixtureBlocks struct {
	*mixturePredictor
	s    *bankScratch
	sets []triangleSet
	rows *mgp.Rows

	landmarks []*landmarkBlock

	level     []levelRow       // by sample, where there are levels
	effects   []moments        // by sample
	certified [][]vi.Certified // by sample and member

	square, bound []float64 // by sample, of a triangle or of a function
	all           []int     // samples
	again         la.Matrix[float64]
	ws            la.Workspace
}

// triangleSet are functions with the same composite kernel, whose variances one triangle computes.
type triangleSet struct {
	squares   func(b *mgp.Rows, set int, square, bound []float64) // of the triangle; nil for float64 at once
	set       int                                                 // of composite kernels in [mixtureBlocks].rows
	functions []blockFunction
	k         la.Matrix[float64] // the composite kernels, by sample
	self      []float64          // by sample
	beyond    []int              // samples where a function is beyond its tolerance in float32
}

// blockFunction is a function of a mixture, and what is known of it for each sample of a block.
type blockFunction struct {
	*processFunction
	member int // in the predictor
	mean   []float64

	// Of the logarithm of the noise, where it varies:
	set                 int // of composite kernels in [mixtureBlocks].rows
	noiseK              la.Matrix[float64]
	noiseSelf, level    []float64
	logVariance, within []float64 // and its error
	known               []bool    // whether its triangle has computed it
}

// blocks returns memory for the prediction of blocks, or nil if no function gains from them.
func (p *mixturePredictor) blocks() *mixtureBlocks {
	b := &mixtureBlocks{mixturePredictor: p}
	var orders []int
	for i := range p.members {
		if l := newLandmarkBlock(p.members[i].landmarks, i); l != nil {
			b.landmarks = append(b.landmarks, l)
		}
		if f := p.members[i].process; f.inBlocks() && f.joint == nil {
			if f.triangle == nil {
				b.add(nil, 0, &orders, i)
			} else {
				b.add(f.triangle.Squares, f.triangle.Fine(), &orders, i)
			}
		}
	}
	for _, j := range p.joint {
		if j.inBlocks() {
			b.add(j.triangle.Squares, j.triangle.Fine(), &orders, j.members...)
		}
	}
	if b.sets == nil && b.landmarks == nil {
		return nil
	}
	b.s, b.rows = p.bank.pool.Create(), mgp.NewRows(blockSamples, orders...)
	b.level, b.effects = make([]levelRow, blockSamples), make([]moments, blockSamples)
	for range blockSamples {
		b.certified = append(b.certified, make([]vi.Certified, len(p.members)))
	}
	b.square, b.bound = make([]float64, blockSamples), make([]float64, blockSamples)
	b.all, b.again = vec.UpTo(blockSamples), la.NewMatrix[float64](blockSamples, p.bank.most)
	b.ws.Workers = 1
	return b
}

// add adds a set of the functions of some members, whose variances a triangle computes that is enough for a share of new samples. It adds the
// orders of its kernels in [mixtureBlocks].rows.
func (b *mixtureBlocks) add(squares func(*mgp.Rows, int, []float64, []float64), fine float64, orders *[]int, members ...int) {
	n := b.members[members[0]].process.dim()
	set := triangleSet{self: make([]float64, blockSamples), k: la.NewMatrix[float64](blockSamples, n)}
	if fine >= leastTriedInBlock {
		set.squares, set.set = squares, len(*orders)
		*orders = append(*orders, n)
	}
	for _, i := range members {
		f := blockFunction{processFunction: b.members[i].process, member: i, mean: make([]float64, blockSamples)}
		if f.noise != nil {
			f.noiseK, f.known = la.NewMatrix[float64](blockSamples, n), make([]bool, blockSamples)
			f.noiseSelf, f.level = make([]float64, blockSamples), make([]float64, blockSamples)
			f.logVariance, f.within = make([]float64, blockSamples), make([]float64, blockSamples)
			if f.noiseTriangle != nil {
				f.set = len(*orders)
				*orders = append(*orders, n)
			}
		}
		set.functions = append(set.functions, f)
	}
	b.sets = append(b.sets, set)
}

// inBlocks reports whether the variance of the function can be computed for a block of samples. A nil function's cannot.
func (f *processFunction) inBlocks() bool {
	return f != nil && f.shared != nil && f.near == nil && !f.meanOnly
}

// inBlocks reports whether the variances of all functions can.
func (j *jointFunctions) inBlocks() bool {
	return !slices.ContainsFunc(j.functions, func(f *processFunction) bool { return !f.inBlocks() })
}

// predict predicts the samples from first to last−1, at most [blockSamples], and stores the errors of those that have one. Where beyond is
// not nil, it gets the samples that need float64 on landmarks, which are not predicted.
func (b *mixtureBlocks) predict(first, last int, at func(i int) [][]float64, out []BoundedPrediction, failures []error, beyond []bool) {
	n := last - first
	for r := range n {
		x := at(first + r)
		if failures[r] = checkPoint(b.inputs, x); failures[r] != nil {
			n = r // the samples after it are not predicted
			break
		}
		b.begin(r, x)
	}
	b.finish(n)
	for _, l := range b.landmarks {
		for r, c := range l.finish(n) {
			if !c.Within(l.tolerance) {
				if beyond != nil {
					beyond[r] = true
					continue
				}
				x, _ := b.seen(&b.level[r], at(first+r))
				c = l.predict(x, exactly)
			}
			b.certified[r][l.member] = c
		}
	}
	for r := range n {
		if beyond != nil && beyond[r] {
			continue
		}
		out[r], failures[r] = b.combined(b.certified[r], b.effects[r])
	}
}

// begin computes the kernels of sample r of the block, and predicts it by the members that do not predict blocks.
func (b *mixtureBlocks) begin(r int, x [][]float64) {
	x, b.effects[r] = b.seen(&b.level[r], x)
	b.s.Begin()
	for i := range b.sets {
		set := &b.sets[i]
		k := set.k.Row(r)
		set.self[r] = b.bank.weigh(b.s.BankScratch, set.functions[0].shared, x, k)
		if set.squares != nil {
			b.rows.Set(set.set, r, k, set.self[r])
		}
		for j := range set.functions {
			f := &set.functions[j]
			f.mean[r] = f.posterior.MeanOf(k)
			if f.noise != nil {
				f.noiseSelf[r] = b.bank.weigh(b.s.BankScratch, f.noiseShared, x, f.noiseK.Row(r))
				f.level[r] = f.noise.LevelOf(f.noiseK.Row(r))
				half := 0.5 * max(0, f.noiseSelf[r]) // a given kernel of a sample with itself may be below 0
				f.logVariance[r], f.within[r], f.known[r] = half, half, false
			}
		}
	}
	for _, l := range b.landmarks {
		l.begin(r, x)
	}
	for i := range b.members {
		m := &b.members[i]
		inBlock := slices.ContainsFunc(b.landmarks, func(l *landmarkBlock) bool { return l.member == i })
		if !inBlock && m.process == nil || m.process != nil && m.process.joint == nil && !m.process.inBlocks() {
			b.certified[r][i] = m.predict(&b.bank, b.s, x, closely)
		}
	}
	for _, j := range b.joint {
		if !j.inBlocks() {
			j.predict(&b.bank, b.s, x)
			for _, i := range j.members {
				b.certified[r][i] = b.s.certified[i]
			}
		}
	}
}

// finish predicts the first n samples of the block by the functions of all sets: in float32, and then in float64 by the sets whose bounds
// are above the tolerance of one of their functions, unless the mixture is within its tolerance.
func (b *mixtureBlocks) finish(n int) {
	for i := range b.sets {
		set := &b.sets[i]
		if set.beyond = set.beyond[:0]; set.squares != nil {
			b.inFloat32(set, n)
			continue
		}
		for j := range set.functions {
			b.exactly(set, &set.functions[j], b.all[:n])
		}
	}
	for i := range b.sets {
		set := &b.sets[i]
		again := slices.DeleteFunc(set.beyond, func(r int) bool { return b.within(b.certified[r]) })
		if len(again) == 0 {
			continue
		}
		for j := range set.functions {
			b.exactly(set, &set.functions[j], again)
		}
	}
}

// inFloat32 predicts the first n samples of the block by the functions of a set in float32, and finds those that are beyond the
// tolerance of one of the functions.
func (b *mixtureBlocks) inFloat32(set *triangleSet, n int) {
	set.squares(b.rows, set.set, b.square[:n], b.bound[:n])
	for r, square := range b.square[:n] {
		b.square[r] = set.self[r] - square
	}
	for j := range set.functions {
		f := &set.functions[j]
		if f.noise != nil {
			b.varying(f, b.all[:n])
			continue
		}
		for r := range n {
			b.certified[r][f.member] = f.posterior.Certified(f.mean[r], b.square[r], b.bound[r])
		}
	}
	for r := range n {
		if slices.ContainsFunc(set.functions, func(f blockFunction) bool { return !b.certified[r][f.member].Within(f.tolerance) }) {
			set.beyond = append(set.beyond, r)
		}
	}
}

// varying predicts some samples of the block by a function whose noise varies. By sample, the variance of the function is in b.square and
// the bound on its error in b.bound. The variance of the logarithm of the noise lies between
// 0 and that without samples. It is computed for the samples that need it.
func (b *mixtureBlocks) varying(f *blockFunction, samples []int) {
	certify := func(r int) bool {
		c := f.noise.Certified(f.mean[r], b.square[r], b.bound[r], f.level[r], f.logVariance[r], f.within[r])
		b.certified[r][f.member] = c
		return c.Within(f.tolerance)
	}
	var need []int
	for _, r := range samples {
		if !certify(r) && !f.known[r] && f.noiseTriangle != nil {
			b.rows.Set(f.set, len(need), f.noiseK.Row(r), f.noiseSelf[r])
			need = append(need, r)
		}
	}
	if need == nil {
		return
	}
	square, bound := make([]float64, len(need)), make([]float64, len(need))
	f.noiseTriangle.Squares(b.rows, f.set, square, bound)
	for j, r := range need {
		f.logVariance[r], f.within[r], f.known[r] = max(0, f.noiseSelf[r]-square[j]), bound[j], true
		certify(r)
	}
}

// exactly predicts some samples of the block by a function of a set in float64. The variance of the logarithm of the noise is as varying has
// it, where that is within the tolerance.
func (b *mixtureBlocks) exactly(set *triangleSet, f *blockFunction, samples []int) {
	p := b.solve(f.posterior, set.k, set.self, samples)
	for j, r := range samples {
		b.certified[r][f.member] = vi.Certified{Mean: f.mean[r], Variance: p.Variance[j], LeastSD: math.Sqrt(p.Variance[j])}
		b.square[r], b.bound[r] = p.Function[j], 0
	}
	if f.noise == nil {
		return
	}
	b.varying(f, samples)
	var rest []int
	for _, r := range samples {
		if !b.certified[r][f.member].Within(f.tolerance) {
			rest = append(rest, r)
		}
	}
	if rest != nil {
		b.exactNoise(f, rest)
	}
}

// solve returns the predictions of some samples by a posterior, in float64.
func (b *mixtureBlocks) solve(of *mgp.Posterior, k la.Matrix[float64], self []float64, samples []int) *mgp.Prediction {
	again, own := b.again.Slice(0, len(samples), 0, k.Cols), make([]float64, len(samples))
	for j, r := range samples {
		copy(again.Row(j), k.Row(r))
		own[j] = self[r]
	}
	p, err := of.PredictComposite(&b.ws, again, own, vi.PredictOptions{})
	if err != nil {
		panic(err) // the matrix has the order of the function
	}
	return p
}

// exactNoise predicts some samples, whose function has the variances in b.square, with the noise in float64.
func (b *mixtureBlocks) exactNoise(f *blockFunction, samples []int) {
	k, self := b.again.Slice(0, len(samples), 0, f.dim()), make([]float64, len(samples))
	p := &mgp.Prediction{Function: make([]float64, len(samples)), Variance: make([]float64, len(samples))}
	for j, r := range samples {
		copy(k.Row(j), f.noiseK.Row(r))
		self[j], p.Function[j] = f.noiseSelf[r], b.square[r]
	}
	if err := f.noise.WidenComposite(&b.ws, p, k, self, vi.PredictOptions{}); err != nil {
		panic(err) // the matrix has the order of the function
	}
	for j, r := range samples {
		b.certified[r][f.member] = vi.Certified{Mean: f.mean[r], Variance: p.Variance[j], LeastSD: math.Sqrt(p.Variance[j])}
	}
}
