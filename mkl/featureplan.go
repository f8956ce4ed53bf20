package mkl

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/vi"
)

// featurePlan is what plans of targets and of classes have in common: how features are computed
// from samples.
type featurePlan struct {
	design *gram.Design         // the landmarks are its basis points
	scale  []float64            // P, the mean kernel of a landmark with itself
	by     []la.Matrix[float64] // φ_p = by_p·k_p, r_p×D
	maps   []featureMap         // of by; empty unless all of them are triangles
	notes  map[string]string

	hash [sha256.Size]byte
}

// Hash returns a hash of the whole plan. Sums carry it: a plan refuses the sums of other plans.
func (p *featurePlan) Hash() [sha256.Size]byte { return p.hash }

// Landmarks returns the number of landmarks.
func (p *featurePlan) Landmarks() int { return p.design.D }

// Features returns the number of features that represent the kernel of each view.
func (p *featurePlan) Features() (n []int) {
	for _, by := range p.by {
		n = append(n, by.Rows)
	}
	return n
}

// Inputs describes the matrices that Add and predictions take.
func (p *featurePlan) Inputs() []ModelInput { return (&onViews{design: p.design}).Inputs() }

// Kernels names the kernels of the views, with their widths.
func (p *featurePlan) Kernels() (all []string) {
	for _, v := range p.design.Views {
		all = append(all, v.Kernel.String())
	}
	return all
}

// Notes returns the notes given to Begin.
func (p *featurePlan) Notes() map[string]string { return maps.Clone(p.notes) }

// String describes the plan in one line.
func (p *featurePlan) String() string {
	return fmt.Sprintf("plan of %d kernels on %d landmarks, %d features", len(p.by), p.design.D, p.width())
}

func (p *featurePlan) width() (n int) {
	for _, by := range p.by {
		n += by.Rows
	}
	return n
}

// features computes the features φ from kernels with the landmarks, and stores them in phi. scratch is overwritten; it has as many
// elements as the largest matrix of phi.
func (p *featurePlan) features(ws *la.Workspace, kernels, phi []la.Matrix[float64], scratch []float64) {
	for i, by := range p.by {
		if len(p.maps) == 0 {
			la.Gemm(ws, la.NoTrans, la.NoTrans, 1, by, kernels[i], 0, phi[i])
			continue
		}
		r, n := phi[i].Rows, phi[i].Cols
		p.maps[i].apply(ws, kernels[i], la.MatrixOf(r, n, scratch[:r*n]), phi[i])
	}
}

// mostFeatures returns the largest number of features of a kernel.
func (p *featurePlan) mostFeatures() int { return slices.Max(p.Features()) }

// featureMemory is memory for the features of a block of samples. The blocks of a call use it in turn, because to zero new memory takes about as
// long as to compute the features.
type featureMemory struct {
	ws           la.Workspace
	phi, scratch []float64
}

// grown returns n elements, of s if it has as many. Their values are of no meaning.
func grown(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

// centred returns the features of n samples plus shift, given their kernels with the landmarks. They are in mem until the next call.
func (p *featurePlan) centred(mem *featureMemory, k *vi.Dense, n int, shift [][]float64) (phi []la.Matrix[float64]) {
	var kernels []la.Matrix[float64]
	mem.phi, mem.scratch = grown(mem.phi, p.width()*n), grown(mem.scratch, p.mostFeatures()*n)
	left := mem.phi
	for i, by := range p.by {
		kernels, phi = append(kernels, k.At(i)), append(phi, la.MatrixOf(by.Rows, n, left[:by.Rows*n]))
		left = left[by.Rows*n:]
	}
	p.features(&mem.ws, kernels, phi, mem.scratch)
	for i, shift := range shift {
		for d, c := range shift {
			row := phi[i].Row(d)
			for j := range row {
				row[j] += c
			}
		}
	}
	return phi
}

// moments merges the sums, without changing them, and returns their moments and the number of
// samples.
func (p *featurePlan) moments(sums []*stat.Statistic) (int64, *stat.Moments, error) {
	all := &stat.Statistic{}
	if len(sums) == 1 {
		all = sums[0]
	} else {
		for _, s := range sums {
			if err := all.Merge(s); err != nil {
				return 0, nil, fmt.Errorf("mkl: %w", err)
			}
		}
	}
	if all == nil || all.Samples() < 2 {
		return 0, nil, errors.New("mkl: sums: fewer than 2 samples")
	}
	if h := all.Layout().Plan; h != p.hash {
		return 0, nil, fmt.Errorf("mkl: the sums are of the plan %x…, and this is %x…", h[:4], p.hash[:4])
	}
	m, err := all.Moments()
	if err != nil {
		return 0, nil, fmt.Errorf("mkl: %w", err)
	}
	return all.Samples(), m, nil
}

// beyond returns the share of each kernel's variance that its landmarks cannot represent.
func (p *featurePlan) beyond(m *stat.Moments) (out []float64) {
	first := 0
	for i, by := range p.by {
		var within, self float64
		for _, g := range m.Groups {
			for d := first; d < first+by.Rows; d++ {
				within += g.Sums.At(d, d)
			}
			self += g.Self[i]
		}
		share := 1 - within/self
		if !(share > 0) { // NaN for a kernel that vanishes: nothing of it is left out
			share = 0
		}
		out = append(out, share)
		first += by.Rows
	}
	return out
}

// pieceSamples is the number of samples whose kernels are in memory at a time. Blocks of
// sums are multiples of it. Kernels are therefore computed in the same pieces, however the
// samples arrive.
const pieceSamples = 1024

// pieces gathers samples until there are pieceSamples of them, or a block ends, and computes
// their kernels with the landmarks. It serves one goroutine at a time.
type pieces struct {
	plan    *featurePlan
	workers int
	x       []Features         // pieceSamples rows each
	y       la.Matrix[float64] // functions × pieceSamples
	held    int                // number of samples in x and y
	block   int                // samples of the open block
	kernels []la.Matrix[float64]
	self    la.Matrix[float64] // P×pieceSamples; empty where visit has no use for it
	visit   func(kernels []la.Matrix[float64], self, y la.Matrix[float64]) error
}

// newPieces returns pieces of samples with functions values each.
func newPieces(p *featurePlan, functions, workers int) pieces {
	b := pieces{plan: p, workers: workers, y: la.NewMatrix[float64](functions, pieceSamples)}
	for _, in := range p.design.Inputs {
		b.x = append(b.x, la.NewMatrix[float64](pieceSamples, in.Cols))
	}
	for range p.by {
		b.kernels = append(b.kernels, la.NewMatrix[float64](p.design.D, pieceSamples))
	}
	return b
}

// add adds n samples, whose values are checked but whose features are not; set stores the values of sample i in
// a column of y. label names the argument that the values came from.
func (b *pieces) add(x []Features, label string, n int, set func(i int, y la.Matrix[float64], column int)) error {
	t, err := checkInputs(b.plan.design, x)
	if err != nil {
		return err
	}
	if n != t {
		return fmt.Errorf("mkl: %s: %d values where x[0] has %d samples", label, n, t)
	}
	for first := 0; first < t; {
		n := min(t-first, pieceSamples-b.held, stat.BlockSamples-b.block)
		for i := range b.x {
			b.x[i].Slice(b.held, b.held+n, 0, x[i].Cols).CopyFrom(x[i].Slice(first, first+n, 0, x[i].Cols))
		}
		for i := range n {
			set(first+i, b.y, b.held+i)
		}
		first, b.held, b.block = first+n, b.held+n, (b.block+n)%stat.BlockSamples
		if b.held == pieceSamples {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush visits the samples that are held.
func (b *pieces) flush() error {
	n := b.held
	if b.held = 0; n == 0 {
		return nil
	}
	kernels, y, self := firstColumns(b.kernels, n), b.y.Slice(0, b.y.Rows, 0, n), b.self
	if self.Rows > 0 {
		self = self.Slice(0, self.Rows, 0, n)
	}
	if err := b.plan.design.CrossSelf(context.Background(), b.workers, b.x, 0, kernels, self); err != nil {
		return err
	}
	return b.visit(kernels, self, y)
}

// firstColumns returns the first n columns of matrices.
func firstColumns(all []la.Matrix[float64], n int) (out []la.Matrix[float64]) {
	for _, m := range all {
		out = append(out, m.Slice(0, m.Rows, 0, n))
	}
	return out
}

// rowsFrom returns the rows first … last−1 of matrices.
func rowsFrom(x []Features, first, last int) (out []Features) {
	for _, m := range x {
		out = append(out, m.Slice(first, last, 0, m.Cols))
	}
	return out
}

// summing is what builders of sums have in common.
type summing struct {
	pieces
	sums *stat.Builder
	done int // samples given to sums
	phi  []la.Matrix[float64]

	ws      la.Workspace
	scratch []float64 // of the features
}

// begin prepares sums of samples with functions values each.
func (b *summing) begin(p *featurePlan, functions, workers int) (err error) {
	b.sums, err = stat.NewBuilder(stat.Layout{Plan: p.hash, Views: p.Features(), Outputs: functions}, workers)
	if err != nil {
		return fmt.Errorf("mkl: %w", err)
	}
	b.pieces, b.ws.Workers = newPieces(p, functions, workers), workers
	b.self = la.NewMatrix[float64](len(p.by), pieceSamples)
	for _, by := range p.by {
		b.phi = append(b.phi, la.NewMatrix[float64](by.Rows, pieceSamples))
	}
	b.scratch = make([]float64, p.mostFeatures()*pieceSamples)
	b.visit = b.sum
	return nil
}

// sum adds samples to the sums.
func (b *summing) sum(kernels []la.Matrix[float64], self, y la.Matrix[float64]) error {
	phi := firstColumns(b.phi, y.Cols)
	b.plan.features(&b.ws, kernels, phi, b.scratch)
	for i, s := range b.plan.scale {
		la.Scal(1/s, self.Row(i))
	}
	if err := b.sums.Add(stat.Samples{Kernels: phi, Self: self, Targets: y}); err != nil {
		if far := b.firstBeyond(phi, self, y); far != nil {
			return far
		}
		return fmt.Errorf("mkl: %w", err)
	}
	b.done += y.Cols
	return nil
}

// EndBlock ends the open block, as at the end of a file, so that the sums of the next block do not
// depend on earlier samples. It returns the errors that Add returns.
func (b *summing) EndBlock() error {
	err := b.flush()
	b.sums.EndBlock()
	b.block = 0
	return err
}

// Finish ends the open block and returns the sums of all samples since the builder was made,
// or since the last call of Finish or Take. It returns the errors that Add returns.
func (b *summing) Finish() (*stat.Statistic, error) {
	err := b.EndBlock()
	return b.sums.Finish(), err
}

// Take returns the sums of the blocks that have ended since the builder was made, or since the last call of
// Finish or Take. It leaves the open block open, as [stat.Builder.Take] does.
func (b *summing) Take() *stat.Statistic { return b.sums.Take() }
