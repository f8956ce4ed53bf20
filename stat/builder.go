package stat

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/bmkl/bmkl/la"
)

// BlockSamples is the number of samples of a block. Blocks are what the bits of a statistic
// depend on: a data set that is shared among workers is to be cut between blocks.
const BlockSamples = 8192

// pieceSamples is the number of samples of a block that are held at a time. The products of
// la are sums of chains of la.BlockK terms, so that a multiple of that leaves no trace.
const pieceSamples = 4 * la.BlockK

// Samples are some consecutive samples, a column each.
type Samples struct {
	Kernels []la.Matrix[float64] // of view p, D_p×n: kernels with its landmarks
	Self    la.Matrix[float64]   // P×n, kernels with itself; if empty, all are 1
	Targets la.Matrix[float64]   // L×n, NaN where missing
}

// Builder sums samples. A data set is given to it in order, in pieces of any size: after
// every BlockSamples a block ends, and the next begins. Its memory is that of T three times
// (as fixed-point numbers it counts twice) and of 1024 samples, for each pattern of missing
// targets. One Builder serves one goroutine at a time; several builders sum parts of the
// samples, to be merged.
type Builder struct {
	layout Layout
	places places
	ws     la.Workspace
	total  *Statistic
	block  int     // samples of the open block
	open   []*open // one for each pattern of missing targets that has occurred
	seen   []uint64
}

// open is what the open block holds of a pattern of missing targets.
type open struct {
	observed uint64
	count    int                // samples
	held     int                // of these, columns of z that are not summed yet
	z        la.Matrix[float64] // entries × pieceSamples
	gram     la.Matrix[float64] // lower triangle of the sums of the others
	self     []fixed
}

// NewBuilder returns a builder whose sums use at most so many workers; 0 means
// runtime.GOMAXPROCS(0). Results do not depend on it.
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

// Add adds samples. Errors name what does not fit: a shape, or the first entry that is not
// finite or beyond the limits ([MaxEntry], [MaxSelf]), with its view, landmark or output and
// its column; none of the samples is then added.
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
		if err := within(k, MaxEntry, false, landmark); err != nil {
			return 0, err
		}
	}
	if err := shape("Targets", s.Targets, b.layout.Outputs, n); err != nil {
		return 0, err
	}
	output := func(o int) string { return fmt.Sprintf("output %d", o) }
	if err := within(s.Targets, MaxEntry, true, output); err != nil {
		return 0, err
	}
	if s.Self.Rows > 0 {
		if err := shape("Self", s.Self, len(b.layout.Views), n); err != nil {
			return 0, err
		}
		self := func(p int) string { return fmt.Sprintf("view %d, kernel with itself", p) }
		if err := within(s.Self, MaxSelf, false, self); err != nil {
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

// within returns an error that names the first entry of x which is not a number from −limit
// to limit, but for NaN where that is allowed.
func within(x la.Matrix[float64], limit float64, missing bool, row func(int) string) error {
	for r := range x.Rows {
		v := x.Row(r)
		if la.SumSq(v) <= limit*limit { // no entry is larger, and none is NaN
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

// patterns stores in seen which outputs each sample has. It is an error if there would be
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
		if known[observed] = true; len(known) > MaxPatterns {
			return fmt.Errorf("stat: sample %d: more than %d patterns of missing targets", i, MaxPatterns)
		}
	}
	return nil
}

// allOf returns a bit for each of n outputs.
func allOf(n int) uint64 {
	if n == 64 {
		return math.MaxUint64
	}
	return 1<<n - 1
}

// pattern returns what is open of a pattern.
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

// copy copies n samples from number i on, all of one pattern, to what is open of it.
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

// sum adds the samples held to gram.
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

// EndBlock ends the open block before it is full, as at the end of a file: where the data
// sets that are summed as one each begin with a block of their own.
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

// Finish ends the open block and returns the statistic of all samples since the builder was
// made, or since what Finish or Take returned last.
func (b *Builder) Finish() *Statistic {
	b.EndBlock()
	return b.Take()
}

// Take returns the statistic of the blocks that have ended since the builder was made, or since
// what Finish or Take returned last. The open block stays open: what is taken bit by bit merges
// to what Finish alone would have returned.
func (b *Builder) Take() *Statistic {
	s := b.total
	b.total = &Statistic{layout: b.layout.clone()}
	return s
}
