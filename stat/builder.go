package stat

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/bmkl/bmkl/la"
)

// BlockSamples is the number of samples in a block. The bits of a statistic depend on its blocks. To
// get the same bits on several machines as on one, cut the data set between blocks.
const BlockSamples = 8192

// pieceSamples is the number of samples of a block that are in memory at a time. It is a multiple of
// la.BlockK and therefore does not enter the results.
const pieceSamples = 4 * la.BlockK

// Samples are n consecutive samples of P views and L outputs, one in each column.
type Samples struct {
	Kernels []la.Matrix[float64] // Kernels[p] is D_p×n: k_p(landmark d, sample i)
	Self    la.Matrix[float64]   // P×n: k_p(sample i, sample i); if empty, all are 1
	Targets la.Matrix[float64]   // L×n; NaN if a target is missing
}

// Builder sums samples. Give it a data set in order, in pieces of any size: after every BlockSamples
// a block ends and the next begins.
//
// For each pattern of missing targets it needs three times the memory of T (the fixed-point numbers
// count twice) and the memory of 1024 samples. A Builder serves one goroutine at a time. Several
// builders can sum parts of the samples; merge their statistics.
type Builder struct {
	layout Layout
	places places
	ws     la.Workspace
	total  *Statistic
	block  int     // samples of the open block
	open   []*open // one for each pattern of missing targets so far
	seen   []uint64
}

// open is the part of the open block with one pattern of missing targets.
type open struct {
	observed uint64
	count    int                // samples
	held     int                // samples that are in z and not yet in gram
	z        la.Matrix[float64] // entries × pieceSamples
	gram     la.Matrix[float64] // lower triangle of the sums
	self     []fixed
}

// NewBuilder returns a builder for samples with layout l that uses at most the given number of
// goroutines; 0 means runtime.GOMAXPROCS(0). Results do not depend on workers. It returns an error if
// the layout has no view or is too large; see [Layout].
func NewBuilder(l Layout, workers int) (*Builder, error) {
	s, err := New(l)
	if err != nil {
		return nil, err
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &Builder{
		layout: s.layout, places: newPlaces(l.Views, l.Outputs), ws: la.Workspace{Workers: workers}, total: s,
	}, nil
}

// Add adds samples. It returns an error, and adds none of the samples, if
//
//   - a shape does not fit the layout;
//   - a kernel or a target is not a number from −128 to 128, or a kernel of a sample with itself not
//     from −16384 to 16384 (use normalised kernels and standardised targets);
//   - there would be more than 256 patterns of missing targets, or more than [MaxSamples] samples.
//
// The error names the view, landmark or output, and the column.
func (b *Builder) Add(s Samples) error {
	n, err := b.check(s)
	if err != nil {
		return err
	}
	if err := b.patterns(s.Targets, n); err != nil {
		return err
	}
	for i := 0; i < n; {
		run := 1 // consecutive samples of one pattern
		for i+run < n && b.seen[i+run] == b.seen[i] {
			run++
		}
		o := b.pattern(b.seen[i])
		run = min(run, BlockSamples-b.block, pieceSamples-o.held)
		b.copy(o, s, i, run)
		i += run
		b.block += run
		if o.held == pieceSamples {
			o.sum(&b.ws)
		}
		if b.block == BlockSamples {
			b.EndBlock()
		}
	}
	return nil
}

// check checks shapes and entries and returns the number of samples.
func (b *Builder) check(s Samples) (n int, err error) {
	if len(s.Kernels) != len(b.layout.Views) {
		return 0, fmt.Errorf("stat: Kernels: %d views where the layout has %d", len(s.Kernels), len(b.layout.Views))
	}
	n = s.Kernels[0].Cols
	for p, k := range s.Kernels {
		if err := shape(fmt.Sprintf("Kernels[%d]", p), k, b.layout.Views[p], n); err != nil {
			return 0, err
		}
		landmark := func(d int) string { return fmt.Sprintf("view %d, landmark %d", p, d) }
		if err := within(k, maxEntry, false, landmark); err != nil {
			return 0, err
		}
	}
	if err := shape("Targets", s.Targets, b.layout.Outputs, n); err != nil {
		return 0, err
	}
	output := func(o int) string { return fmt.Sprintf("output %d", o) }
	if err := within(s.Targets, maxEntry, true, output); err != nil {
		return 0, err
	}
	if s.Self.Rows > 0 {
		if err := shape("Self", s.Self, len(b.layout.Views), n); err != nil {
			return 0, err
		}
		self := func(p int) string { return fmt.Sprintf("view %d, kernel with itself", p) }
		if err := within(s.Self, maxSelf, false, self); err != nil {
			return 0, err
		}
	}
	if b.total.Samples()+int64(b.block)+int64(n) > MaxSamples {
		return 0, fmt.Errorf("stat: more than %d samples", int64(MaxSamples))
	}
	return n, nil
}

// shape returns an error unless x is rows×cols.
func shape(name string, x la.Matrix[float64], rows, cols int) error {
	if x.Rows != rows || x.Cols != cols || !x.Valid() {
		return fmt.Errorf("stat: %s: %d×%d where %d×%d is needed", name, x.Rows, x.Cols, rows, cols)
	}
	return nil
}

// within returns an error that names the first entry of x that is not a number from −limit to limit.
// If missing, NaN is allowed.
func within(x la.Matrix[float64], limit float64, missing bool, row func(int) string) error {
	for r := range x.Rows {
		v := x.Row(r)
		if la.SumSq(v) <= limit*limit { // then no entry is larger or NaN
			continue
		}
		for i, v := range v {
			if math.IsNaN(v) && missing || math.Abs(v) <= limit {
				continue
			}
			return fmt.Errorf("stat: %s, sample %d: %g is not a number from %g to %g", row(r), i, v, -limit, limit)
		}
	}
	return nil
}

// patterns stores in seen the observed outputs of each sample. It returns an error if there would be
// too many patterns.
func (b *Builder) patterns(y la.Matrix[float64], n int) error {
	if cap(b.seen) < n {
		b.seen = make([]uint64, n)
	}
	b.seen = b.seen[:n]
	for i := range b.seen {
		b.seen[i] = allOf(y.Rows)
	}
	for o := range y.Rows {
		for i, v := range y.Row(o) {
			if math.IsNaN(v) {
				b.seen[i] &^= 1 << o
			}
		}
	}
	known := map[uint64]bool{}
	for _, g := range b.total.groups {
		known[g.observed] = true
	}
	for _, o := range b.open {
		known[o.observed] = true
	}
	for i, observed := range b.seen {
		if i > 0 && observed == b.seen[i-1] || known[observed] {
			continue
		}
		if known[observed] = true; len(known) > maxPatterns {
			return fmt.Errorf("stat: sample %d: more than %d patterns of missing targets", i, maxPatterns)
		}
	}
	return nil
}

// allOf returns n ones, a bit for each output.
func allOf(n int) uint64 {
	if n == 64 {
		return math.MaxUint64
	}
	return 1<<n - 1
}

// pattern returns the part of the open block with a pattern.
func (b *Builder) pattern(observed uint64) *open {
	for _, o := range b.open {
		if o.observed == observed {
			return o
		}
	}
	n := b.layout.Entries()
	o := &open{
		observed: observed, z: la.NewMatrix[float64](n, pieceSamples), gram: la.NewMatrix[float64](n, n),
		self: make([]fixed, len(b.layout.Views)),
	}
	b.open = append(b.open, o)
	return o
}

// copy copies n samples from number i on to o. All have its pattern.
func (b *Builder) copy(o *open, s Samples, i, n int) {
	z := o.z.Slice(0, o.z.Rows, o.held, o.held+n)
	for p, k := range s.Kernels {
		for d := range k.Rows {
			copy(z.Row(b.places.first[p]+d), k.Row(d)[i:])
		}
		for j := range n {
			self := fixed{hi: 1 << (point - 64)}
			if s.Self.Rows > 0 {
				self = toFixed(s.Self.At(p, i+j))
			}
			o.self[p].add(self)
		}
	}
	one := z.Row(b.places.one)
	for j := range one {
		one[j] = 1
	}
	for t := range b.layout.Outputs {
		row := z.Row(b.places.output(t))
		if o.observed&(1<<t) != 0 {
			copy(row, s.Targets.Row(t)[i:])
		} else {
			clear(row)
		}
	}
	o.held += n
	o.count += n
}

// sum adds the samples in z to gram.
func (o *open) sum(ws *la.Workspace) {
	if o.held == 0 {
		return
	}
	beta := 1.0
	if o.held == o.count {
		beta = 0
	}
	la.Syrk(ws, la.NoTrans, 1, o.z.Slice(0, o.z.Rows, 0, o.held), beta, o.gram)
	o.held = 0
}

// EndBlock ends the open block before it is full, for example at the end of a file. Each file then
// begins with a new block, and the sums do not depend on the order of the files.
func (b *Builder) EndBlock() {
	for _, o := range b.open {
		if o.count == 0 {
			continue
		}
		o.sum(&b.ws)
		g, err := b.total.group(o.observed)
		if err != nil { // Add has checked the number of patterns
			panic(errors.Join(errors.New("stat: EndBlock"), err))
		}
		g.count += uint64(o.count)
		for p, v := range o.self {
			g.self[p].add(v)
		}
		clear(o.self)
		o.fold(g.sums, b.ws.Workers)
		o.count = 0
	}
	b.block = 0
}

// fold adds gram to sums.
func (o *open) fold(sums []fixed, workers int) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < o.gram.Rows; i += workers {
				to := sums[triangle(i):triangle(i+1)]
				for j, v := range o.gram.Row(i)[:len(to)] {
					to[j].add(toFixed(v))
				}
			}
		})
	}
	wg.Wait()
}

// Finish ends the open block and returns the statistic of all samples since the last call of Finish or
// Take, or since NewBuilder.
func (b *Builder) Finish() *Statistic {
	b.EndBlock()
	return b.Take()
}

// Take returns the statistic of the blocks that have ended since the last call of Finish or Take, or
// since NewBuilder. The open block stays open. The statistics of several calls merge to the statistic
// that Finish alone would have returned.
func (b *Builder) Take() *Statistic {
	s := b.total
	b.total = &Statistic{layout: b.layout.clone()}
	return s
}
