package mkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// weightBlocks predicts blocks of samples by a weightPredictor, for one caller, in the ways of single samples. Products with triangles in
// integers are for all samples of a block at once, with the bits of single samples.
type weightBlocks struct {
	*weightPredictor
	s    *scratch
	rows *bemkl.TrianglesRows // nil without triangles in integers

	samples []int // of the block, that pivots do not predict
	f, self la.Matrix[float64]
	weighed []weighedKernels
	inexact []float64
	forms   []bemkl.Addition
}

// blocks returns memory for the prediction of blocks.
func (p *weightPredictor) blocks() *weightBlocks {
	b := &weightBlocks{weightPredictor: p, s: p.newScratch(), samples: make([]int, 0, blockSamples)}
	if p.rounded != nil {
		b.rows = bemkl.NewTrianglesRows(p.Samples, blockSamples)
		b.f, b.self = la.NewMatrix[float64](blockSamples, p.Samples), la.NewMatrix[float64](blockSamples, len(p.e))
		b.weighed, b.inexact, b.forms = make([]weighedKernels, blockSamples), make([]float64, blockSamples), make([]bemkl.Addition, blockSamples)
	}
	return b
}

// predict predicts the samples from first to last−1, at most [blockSamples], and stores the errors of those that have one. Where beyond is
// not nil, it gets the samples that need float64, which are not predicted.
func (b *weightBlocks) predict(first, last int, at func(i int) [][]float64, out []BoundedPrediction, failures []error, beyond []bool) {
	b.samples = b.samples[:0]
	for r := range last - first {
		x := at(first + r)
		healed := b.healing.heals(len(x), func(i int) int { return len(x[i]) })
		inputs := b.inputsOf(healed)
		if failures[r] = checkPoint(inputs, x); failures[r] != nil {
			break // the samples after it are not predicted
		}
		if near, ok := b.fromPivots(x); ok {
			out[r], failures[r] = b.restored(near, x, inputs)
			continue
		}
		if b.rows == nil || healed != (b.healer != nil) {
			b.alone(r, x, healed, out, failures, beyond)
			continue
		}
		i := len(b.samples)
		b.samples = append(b.samples, r)
		b.weighed[i] = b.weightPredictor.weighed(b.s, x, b.f.Row(i))
		b.inexact[i] = b.weighed[i].inexact
		copy(b.self.Row(i), b.s.Self)
	}
	n := len(b.samples)
	if n == 0 {
		return
	}
	b.triangles.PredictRows(b.f.Slice(0, n, 0, b.f.Cols), b.self.Slice(0, n, 0, b.self.Cols), b.inexact[:n], b.rows, b.forms[:n])
	for i, r := range b.samples {
		x := at(first + r)
		healed := b.healer != nil
		if c := b.withForms(b.weighed[i], b.forms[i]); c.Within(b.tolerance) {
			out[r], failures[r] = b.restored(b.bounded(c), x, b.inputsOf(healed))
			continue
		}
		b.alone(r, x, healed, out, failures, beyond)
	}
}

// alone predicts sample r of the block by itself, in float32 or in float64.
func (b *weightBlocks) alone(r int, x [][]float64, healed bool, out []BoundedPrediction, failures []error, beyond []bool) {
	if beyond != nil && b.triangles == nil {
		beyond[r] = true
		return
	}
	one, ok := b.approximated(b.s, x, healed, false)
	switch {
	case ok:
	case beyond != nil:
		beyond[r] = true
		return
	default:
		one = b.inFloat64(b.s, healed)
	}
	out[r], failures[r] = b.restored(one, x, b.inputsOf(healed))
}
