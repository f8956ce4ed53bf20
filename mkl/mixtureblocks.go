package mkl

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// mixtureBlocks predicts blocks of samples by a mixture, for one caller. Kernels are computed sample by sample. Variances are products of the
// triangles in float32 with the kernels of all samples of a block.
type mixtureBlocks struct {
	*mixturePredictor
	s    *bankScratch
	sets []triangleSet
	rows *mgp.Rows

	level     []levelRow       // by sample, where there are levels
	x         [][][]float64    // by sample, as members see it
	effects   []moments        // by sample
	certified [][]vi.Certified // by sample and member

	square, bound []float64 // by sample, of a triangle
	ws            la.Workspace
}

// triangleSet are functions whose variances one triangle computes.
type triangleSet struct {
	squares   func(b *mgp.Rows, set int, square, bound []float64) // of the triangle
	functions []blockFunction
	self      []float64 // by sample
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
}

// blocks returns memory for the prediction of blocks, or nil if no function gains from them.
func (p *mixturePredictor) blocks() *mixtureBlocks {
	b := &mixtureBlocks{mixturePredictor: p}
	for i := range p.members {
		if f := p.members[i].process; f.inBlocks() && f.joint == nil {
			b.add(f.triangle.Squares, i)
		}
	}
	for _, j := range p.joint {
		if j.inBlocks() {
			b.add(j.triangle.Squares, j.members...)
		}
	}
	if b.sets == nil {
		return nil
	}
	orders := make([]int, len(b.sets))
	for i := range b.sets {
		orders[i] = b.sets[i].functions[0].dim()
	}
	for i := range b.sets {
		for j := range b.sets[i].functions {
			if f := &b.sets[i].functions[j]; f.noise != nil {
				f.set = len(orders)
				orders = append(orders, f.dim())
			}
		}
	}
	b.s, b.rows = p.bank.pool.Create(), mgp.NewRows(blockSamples, orders...)
	b.level, b.x, b.effects = make([]levelRow, blockSamples), make([][][]float64, blockSamples), make([]moments, blockSamples)
	for range blockSamples {
		b.certified = append(b.certified, make([]vi.Certified, len(p.members)))
	}
	b.square, b.bound = make([]float64, blockSamples), make([]float64, blockSamples)
	b.ws.Workers = 1
	return b
}

// add adds a set of the functions of some members, whose variances a triangle computes.
func (b *mixtureBlocks) add(squares func(*mgp.Rows, int, []float64, []float64), members ...int) {
	set := triangleSet{squares: squares, self: make([]float64, blockSamples)}
	for _, i := range members {
		f := blockFunction{processFunction: b.members[i].process, member: i, mean: make([]float64, blockSamples)}
		if f.noise != nil {
			f.noiseK = la.NewMatrix[float64](blockSamples, f.dim())
			f.noiseSelf, f.level = make([]float64, blockSamples), make([]float64, blockSamples)
			f.logVariance, f.within = make([]float64, blockSamples), make([]float64, blockSamples)
		}
		set.functions = append(set.functions, f)
	}
	b.sets = append(b.sets, set)
}

// inBlocks reports whether the variance of the function can be computed for a block of samples. A nil function's cannot.
func (f *processFunction) inBlocks() bool {
	return f != nil && f.shared != nil && f.near == nil && (f.triangle != nil || f.joint != nil) && (f.noise == nil || f.noiseTriangle != nil)
}

// inBlocks reports whether the variances of all functions can.
func (j *jointFunctions) inBlocks() bool {
	return !slices.ContainsFunc(j.functions, func(f *processFunction) bool { return !f.inBlocks() })
}

// predict predicts the samples from first to last−1, at most [blockSamples], and stores the errors of those that have one.
func (b *mixtureBlocks) predict(first, last int, at func(i int) [][]float64, out []BoundedPrediction, failures []error) {
	n := last - first
	for r := range n {
		x := at(first + r)
		if failures[r] = checkPoint(b.inputs, x); failures[r] != nil {
			n = r // the samples after it are not predicted
			break
		}
		b.begin(r, x)
	}
	for i := range b.sets {
		b.finish(i, n)
	}
	for r := range n {
		out[r], failures[r] = b.combined(b.certified[r], b.effects[r])
	}
}

// begin computes the kernels of sample r of the block, and predicts it by the members that do not predict blocks.
func (b *mixtureBlocks) begin(r int, x [][]float64) {
	x, b.effects[r] = b.seen(&b.level[r], x)
	b.x[r] = append(b.x[r][:0], x...)
	b.s.Begin()
	for i := range b.sets {
		set := &b.sets[i]
		first := &set.functions[0]
		k := b.s.phi[:first.dim()]
		set.self[r] = b.bank.weigh(b.s.BankScratch, first.shared, x, k)
		b.rows.Set(i, r, k, set.self[r])
		for j := range set.functions {
			f := &set.functions[j]
			f.mean[r] = f.posterior.MeanOf(k)
			if f.noise != nil {
				f.noiseSelf[r] = b.bank.weigh(b.s.BankScratch, f.noiseShared, x, f.noiseK.Row(r))
				f.level[r] = f.noise.LevelOf(f.noiseK.Row(r))
			}
		}
	}
	for i := range b.members {
		if m := &b.members[i]; m.process == nil || m.process.joint == nil && !m.process.inBlocks() {
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

// finish predicts the first n samples of the block by the functions of a set: those whose bounds in float32 are above the tolerance of one of
// the functions in float64.
func (b *mixtureBlocks) finish(i, n int) {
	set := &b.sets[i]
	set.squares(b.rows, i, b.square[:n], b.bound[:n])
	beyond := make([]bool, n)
	for j := range set.functions {
		f := &set.functions[j]
		if f.noise != nil {
			b.varying(f, set.self, n)
		}
		for r := range n {
			c := &b.certified[r][f.member]
			if f.noise == nil {
				*c = f.posterior.Certified(f.mean[r], set.self[r]-b.square[r], b.bound[r])
			}
			beyond[r] = beyond[r] || !c.Within(f.tolerance)
		}
	}
	var again []int
	for r, not := range beyond {
		if not {
			again = append(again, r)
		}
	}
	if again != nil {
		for j := range set.functions {
			b.exact(&set.functions[j], again)
		}
	}
}

// varying predicts the first n samples of the block by a function whose noise varies. The variance of the logarithm of the noise lies between
// 0 and that without samples. It is computed for the samples that need it.
func (b *mixtureBlocks) varying(f *blockFunction, self []float64, n int) {
	certify := func(r int) vi.Certified {
		return f.noise.Certified(f.mean[r], self[r]-b.square[r], b.bound[r], f.level[r], f.logVariance[r], f.within[r])
	}
	var need []int
	for r := range n {
		half := 0.5 * max(0, f.noiseSelf[r]) // a given kernel of a sample with itself may be below 0
		f.logVariance[r], f.within[r] = half, half
		c := certify(r)
		if b.certified[r][f.member] = c; !c.Within(f.tolerance) {
			b.rows.Set(f.set, len(need), f.noiseK.Row(r), f.noiseSelf[r])
			need = append(need, r)
		}
	}
	square, bound := make([]float64, len(need)), make([]float64, len(need))
	f.noiseTriangle.Squares(b.rows, f.set, square, bound)
	for j, r := range need {
		f.logVariance[r], f.within[r] = max(0, f.noiseSelf[r]-square[j]), bound[j]
		b.certified[r][f.member] = certify(r)
	}
}

// exact predicts some samples of the block by a function in float64. The variance of the logarithm of the noise is as varying has it, where
// that is within the tolerance.
func (b *mixtureBlocks) exact(f *blockFunction, samples []int) {
	k, self := la.NewMatrix[float64](len(samples), f.dim()), make([]float64, len(samples))
	for j, r := range samples {
		b.s.Begin()
		self[j] = b.bank.weigh(b.s.BankScratch, f.shared, b.x[r], k.Row(j))
	}
	p, err := f.posterior.PredictComposite(&b.ws, k, self, vi.PredictOptions{})
	if err != nil {
		panic(err) // the matrix has the order of the function
	}
	var rest []int // in samples
	for j, r := range samples {
		c := &b.certified[r][f.member]
		if *c = (vi.Certified{Mean: f.mean[r], Variance: p.Variance[j], LeastSD: math.Sqrt(p.Variance[j])}); f.noise == nil {
			continue
		}
		if *c = f.noise.Certified(f.mean[r], p.Function[j], 0, f.level[r], f.logVariance[r], f.within[r]); !c.Within(f.tolerance) {
			rest = append(rest, j)
		}
	}
	if rest != nil {
		b.exactNoise(f, samples, p.Function, rest)
	}
}

// exactNoise predicts the rest of some samples, whose functions have these variances, with the noise in float64.
func (b *mixtureBlocks) exactNoise(f *blockFunction, samples []int, function []float64, rest []int) {
	k, self := la.NewMatrix[float64](len(rest), f.dim()), make([]float64, len(rest))
	p := &mgp.Prediction{Function: make([]float64, len(rest)), Variance: make([]float64, len(rest))}
	for i, j := range rest {
		copy(k.Row(i), f.noiseK.Row(samples[j]))
		self[i], p.Function[i] = f.noiseSelf[samples[j]], function[j]
	}
	if err := f.noise.WidenComposite(&b.ws, p, k, self, vi.PredictOptions{}); err != nil {
		panic(err) // the matrix has the order of the function
	}
	for i, j := range rest {
		r := samples[j]
		b.certified[r][f.member] = vi.Certified{Mean: f.mean[r], Variance: p.Variance[i], LeastSD: math.Sqrt(p.Variance[i])}
	}
}
