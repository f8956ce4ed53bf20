package mkl

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"maps"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Plan is what a pass over samples has to know, made by [LandmarkGP.Begin] from some of
// them: kernels with their widths, units, landmarks, and the features that the kernels
// become. With one plan the samples can be summed in parts, anywhere and in any order:
//
//	b, err := plan.Builder(0)
//	err = b.Add(y, x...)           // some samples, again and again
//	part, err := b.Finish()        // *stat.Statistic: merge, subtract, save, send
//	model, err := plan.Fit(ctx, mkl.Fitting{}, part, other)
//
// Days are added and taken away by [stat.Statistic.Merge] and [stat.Statistic.Subtract],
// and [LandmarkModel.Refit] goes on from the fit before. A Plan is immutable and safe for
// concurrent use.
type Plan struct {
	design *design              // its basis points are the landmarks
	target target               // unit of the sums
	scale  []float64            // P, the mean kernel of a landmark with itself
	by     []la.Matrix[float64] // φ_p = by_p·k_p, r_p×D
	notes  map[string]string

	hash [sha256.Size]byte
}

// Hash returns a hash of all of the plan. Sums carry it: those of other plans are refused.
func (p *Plan) Hash() [sha256.Size]byte { return p.hash }

// Landmarks returns the number of landmarks.
func (p *Plan) Landmarks() int { return p.design.d }

// Features returns the number of features that the kernel of each view becomes.
func (p *Plan) Features() (n []int) {
	for _, by := range p.by {
		n = append(n, by.Rows)
	}
	return n
}

// Inputs describes the matrices that Add and predictions take.
func (p *Plan) Inputs() []Input { return (&onViews{design: p.design}).Inputs() }

// Kernels names the kernels of the views, with the widths that they were given.
func (p *Plan) Kernels() (all []string) {
	for _, v := range p.design.views {
		all = append(all, v.kernel.String())
	}
	return all
}

// Notes returns the notes given to Begin.
func (p *Plan) Notes() map[string]string { return maps.Clone(p.notes) }

// String describes the plan in one line.
func (p *Plan) String() string {
	return fmt.Sprintf("plan of %d kernels on %d landmarks, %d features", len(p.by), p.design.d, p.width())
}

func (p *Plan) kernels() int { return len(p.by) }

func (p *Plan) width() (n int) {
	for _, by := range p.by {
		n += by.Rows
	}
	return n
}

// pieceSamples is the number of samples whose kernels are in memory at a time. Blocks of
// sums are multiples of it, so that features are computed in the same pieces however the
// samples arrive.
const pieceSamples = 1024

// PlanBuilder sums samples by a plan, as [stat.Builder] sums features: a block ends after
// [stat.BlockSamples] samples, and the sums have the same bits for every order of the blocks,
// every partition of them and any number of workers. It serves one goroutine at a time.
type PlanBuilder struct {
	plan    *Plan
	sums    *stat.Builder
	workers int
	x       []Features // pieceSamples rows each
	y       la.Matrix[float64]
	held    int // of these
	block   int // samples of the open block
	kernels []la.Matrix[float64]
	phi     []la.Matrix[float64]
	self    la.Matrix[float64]
}

// Builder returns a builder that uses at most so many workers; 0 means
// runtime.GOMAXPROCS(0).
func (p *Plan) Builder(workers int) (*PlanBuilder, error) {
	sums, err := stat.NewBuilder(stat.Layout{Plan: p.hash, Views: p.Features(), Outputs: 1}, workers)
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	b := &PlanBuilder{
		plan: p, sums: sums, workers: workers,
		y: la.NewMatrix[float64](1, pieceSamples), self: la.NewMatrix[float64](len(p.by), pieceSamples),
	}
	for _, in := range p.design.inputs {
		b.x = append(b.x, la.NewMatrix[float64](pieceSamples, in.cols))
	}
	for _, by := range p.by {
		b.kernels = append(b.kernels, la.NewMatrix[float64](p.design.d, pieceSamples))
		b.phi = append(b.phi, la.NewMatrix[float64](by.Rows, pieceSamples))
	}
	return b, nil
}

// Add adds samples: their targets, and a matrix with a row for each in the order of
// Inputs. Errors are those of data that are no features or targets: none of the samples is
// then added. A sample that is beyond the range of the sums is an error too, perhaps of a
// later call, after which the builder is of no use: a target more than 128 standard
// deviations of the plan's sample off their mean, or features as far away.
func (b *PlanBuilder) Add(y []float64, x ...Features) error {
	t, err := b.plan.design.checkInputs(x)
	if err != nil {
		return err
	}
	if len(y) != t {
		return fmt.Errorf("mkl: y: %d targets where x[0] has %d samples", len(y), t)
	}
	if i := firstNonFinite(y); i >= 0 {
		return &ValueError{Arg: "y", Row: i, Col: -1, Value: y[i]}
	}
	for first := 0; first < t; {
		n := min(t-first, pieceSamples-b.held, stat.BlockSamples-b.block)
		for i := range b.x {
			b.x[i].Slice(b.held, b.held+n, 0, x[i].Cols).CopyFrom(x[i].Slice(first, first+n, 0, x[i].Cols))
		}
		for i, v := range y[first : first+n] {
			b.y.Set(0, b.held+i, (v-b.plan.target.mean)/b.plan.target.sd)
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

// addAll adds many samples, as long as the context lasts.
func (b *PlanBuilder) addAll(ctx context.Context, x []Features, y []float64) error {
	for first := 0; first < len(y); first += pieceSamples {
		if ctx.Err() != nil {
			return fmt.Errorf("mkl: sums: stopped: %w", context.Cause(ctx))
		}
		last := min(len(y), first+pieceSamples)
		part := make([]Features, len(x))
		for i := range x {
			part[i] = x[i].Slice(first, last, 0, x[i].Cols)
		}
		if err := b.Add(y[first:last], part...); err != nil {
			return fmt.Errorf("mkl: samples from %d: %w", first, err)
		}
	}
	return b.flush()
}

// flush adds the samples held to the sums.
func (b *PlanBuilder) flush() error {
	n, p := b.held, b.plan
	if b.held = 0; n == 0 {
		return nil
	}
	some := func(all []la.Matrix[float64]) (out []la.Matrix[float64]) {
		for _, m := range all {
			out = append(out, m.Slice(0, m.Rows, 0, n))
		}
		return out
	}
	kernels, phi := some(b.kernels), some(b.phi)
	self, y := b.self.Slice(0, b.self.Rows, 0, n), b.y.Slice(0, 1, 0, n)
	if err := p.design.crossSelf(context.Background(), b.workers, b.x, 0, kernels, self); err != nil {
		return err
	}
	p.features(&la.Workspace{Workers: b.workers}, kernels, phi)
	for i, s := range p.scale {
		la.Scal(1/s, self.Row(i))
	}
	if err := b.sums.Add(stat.Samples{Kernels: phi, Self: self, Targets: y}); err != nil {
		return fmt.Errorf("mkl: %w: the sample is beyond what the plan's sample led to expect", err)
	}
	return nil
}

// features stores the features φ of kernels with the landmarks.
func (p *Plan) features(ws *la.Workspace, kernels, phi []la.Matrix[float64]) {
	for i, by := range p.by {
		la.Gemm(ws, la.NoTrans, la.NoTrans, 1, by, kernels[i], 0, phi[i])
	}
}

// EndBlock ends the open block, as at the end of a file: what is summed of it then does not
// depend on what came before. The error is that of Add.
func (b *PlanBuilder) EndBlock() error {
	err := b.flush()
	b.sums.EndBlock()
	b.block = 0
	return err
}

// Finish ends the open block and returns the sums of all samples since the builder was made,
// or since what Finish or Take returned last. The error is that of Add.
func (b *PlanBuilder) Finish() (*stat.Statistic, error) {
	err := b.EndBlock()
	return b.sums.Finish(), err
}

// Take returns the sums of the blocks that have ended since the builder was made, or since what
// Finish or Take returned last, and leaves the open block open, as [stat.Builder.Take] does.
func (b *PlanBuilder) Take() *stat.Statistic { return b.sums.Take() }

// Rows are some samples, for [Plan.Sum].
type Rows struct {
	Y []float64  // targets
	X []Features // a matrix for each of Inputs, a row for each sample
}

// Sum sums all samples of an iterator, of which it holds only a few, and ends with the first
// error of the iterator or its samples.
func (p *Plan) Sum(ctx context.Context, workers int, rows iter.Seq2[Rows, error]) (*stat.Statistic, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	b, err := p.Builder(workers)
	if err != nil {
		return nil, err
	}
	for r, err := range rows {
		if err == nil && ctx.Err() != nil {
			err = fmt.Errorf("mkl: sums: stopped: %w", context.Cause(ctx))
		}
		if err == nil {
			err = b.Add(r.Y, r.X...)
		}
		if err != nil {
			return nil, err
		}
	}
	return b.Finish()
}

// Fit fits the model to sums of samples, which are merged and not changed. Of the settings
// Tolerance, MaxSweeps, Workers, Progress and Notes count; the plan's notes stand in where
// there are none.
func (p *Plan) Fit(ctx context.Context, f Fitting, sums ...*stat.Statistic) (*LandmarkModel, error) {
	return p.fit(ctx, &f, nil, sums)
}

// fit is Fit from a start, nil for the default.
func (p *Plan) fit(ctx context.Context, f *Fitting, start *mgp.EvidenceStart, sums []*stat.Statistic) (*LandmarkModel, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if err := f.check(0); err != nil {
		return nil, err
	}
	all := &stat.Statistic{}
	if len(sums) == 1 {
		all = sums[0]
	} else {
		for _, s := range sums {
			if err := all.Merge(s); err != nil {
				return nil, fmt.Errorf("mkl: %w", err)
			}
		}
	}
	if all == nil || all.Samples() < 2 {
		return nil, errors.New("mkl: sums: fewer than 2 samples")
	}
	if h := all.Layout().Plan; h != p.hash {
		return nil, fmt.Errorf("mkl: the sums are of the plan %x…, and this is %x…", h[:4], p.hash[:4])
	}
	moments, err := all.Moments()
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	_, mean, sd := moments.Target(0)
	if !(sd > 0) {
		return nil, fmt.Errorf("mkl: every target is %g: there is nothing to learn", p.target.mean+float64(p.target.sd*mean))
	}
	m := &LandmarkModel{
		plan: p, observations: all.Samples(), beyond: p.beyond(moments),
		target: target{p.target.mean + float64(p.target.sd*mean), p.target.sd * sd},
	}
	standard, ws := moments.Standard(), &la.Workspace{Workers: f.Workers}
	for _, v := range standard.Views {
		m.shift = append(m.shift, v.Shift)
	}
	if moments, err = moments.Apply(ws, standard); err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	pseudo, err := moments.PseudoSamples(ws, 0)
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	e := mgp.Evidence{Start: start, Workers: f.Workers, Ascent: f.ascent(1, 1)}
	fit, err := e.FitFeatures(ctx, mgp.Features{
		Blocks: pseudo.Views, Targets: pseudo.Targets.Row(0), Samples: moments.Samples(),
	})
	if err != nil {
		err = fmt.Errorf("mkl: %w", err)
	}
	if fit == nil || fit.Posterior == nil {
		return nil, err
	}
	r := f.record(newTrace(fit.Record, nil))
	if r.notes == nil {
		r.notes = p.Notes()
	}
	m.onViews, m.posterior, m.evidence = onViews{r, p.design}, fit.Posterior, fit.LogEvidence
	return m, err
}

// beyond returns the share of each kernel that its landmarks cannot represent.
func (p *Plan) beyond(m *stat.Moments) (out []float64) {
	first := 0
	for i, by := range p.by {
		var within, self float64
		for _, g := range m.Groups {
			for d := first; d < first+by.Rows; d++ {
				within += g.Sums.At(d, d)
			}
			self += g.Self[i]
		}
		out = append(out, max(0, 1-within/self))
		first += by.Rows
	}
	return out
}
