package mkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
	"unsafe"
)

// Auto fits several multiple Gaussian processes to the same data, which differ in
// their kernels, and pools their predictions. It is what to use where nothing is
// known of the kernels: its defaults come from the data. The zero value is ready.
//
// Each member has one [KernelSet] for the views without a kernel: Broad, ARDRBF,
// ARDRanks or Additive. Views with a kernel are part of every member as they are.
// The prediction is the mixture of the members' that would have predicted every
// training target best from all others (see docs/choosing.md). Neither the evidence
// nor leave-one-out alone chooses well: both prefer length scales that overfit, which
// a mixture evens out.
type Auto struct {
	Fitting

	// Time is about how long the fit may take: no further member is begun once the
	// time that the last one took is no longer left. 0 means as long as it takes. Only
	// with Time does the result depend on the speed of the machine.
	Time time.Duration

	// MaxSamples is the most samples that members are fitted to; of more as many are
	// chosen at random. 0 means DefaultMaxSamples.
	MaxSamples int
}

// DefaultMaxSamples is the most samples that [Auto] and [AutoClassifier] fit their
// members to: at 5000 samples one takes minutes and 3 GB.
const DefaultMaxSamples = 5000

// Fit fits the members to the views of N samples and their targets and pools them.
// A view without a Kernel stands for the default kernels of its X. Errors are those
// of [MultiGP.Fit].
func (a Auto) Fit(ctx context.Context, views []View, y []float64) (*PoolModel, error) {
	if _, err := checkTargets([][]float64{y}, false); err != nil {
		return nil, err
	}
	plan, err := newPlan(views, len(y), nil, a.MaxSamples, a.Seed)
	if err != nil {
		return nil, err
	}
	some := make([]float64, len(plan.rows))
	for i, r := range plan.rows {
		some[i] = y[r]
	}
	m := &PoolModel{}
	var density [][]float64
	m.pool, err = plan.fit(a.Fitting, a.Time, func(views []View, f Fitting) (Model, error) {
		member, err := MultiGP{Fitting: f, hurried: true}.Fit(ctx, views, some)
		if err != nil {
			return nil, err
		}
		m.members = append(m.members, member)
		density = append(density, member.leftOutDensity(some))
		return member, nil
	})
	if err != nil {
		return nil, err
	}
	m.weights = stack(density)
	m.rule = stacked
	return m, nil
}

// EstimateMemory returns about how many bytes a fit of the given size takes, its
// Kernels being views without a kernel.
func (a Auto) EstimateMemory(s Size) int64 { return autoMemory(&a.Fitting, s, a.MaxSamples, 1) }

// autoMemory estimates what a pool takes whose members have l functions each: the
// kernels of the largest member, and the factors that all of them keep.
func autoMemory(f *Fitting, s Size, most, l int) int64 {
	if most <= 0 {
		most = DefaultMaxSamples
	}
	s.Samples = min(s.Samples, most)
	s.Kernels *= mostAlone + 2
	return f.processMemory(s, l*len(autoMembers))
}

// AutoClassifier is [Auto] for two or more classes. The probabilities are the means
// of the members': weights fitted on leave-one-out probabilities would prefer
// members with learned length scales, which leave-one-out does not see. Their
// sharpness is that of the first member, which has none.
type AutoClassifier[T comparable] struct {
	Fitting

	Time       time.Duration // as in [Auto]
	MaxSamples int           // as in [Auto]

	// Classes, if not nil, are the classes in the order that models keep, as in
	// [Classifier].
	Classes []T
}

// Fit fits the members to the views of N samples and their labels and pools them.
// A view without a Kernel stands for the default kernels of its X. Errors are those
// of [MultiGPClassifier.Fit].
func (a AutoClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (*PoolClassifierModel[T], error) {
	classes, index, err := checkLabels(a.Classes, labels)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(views, len(labels), index, a.MaxSamples, a.Seed)
	if err != nil {
		return nil, err
	}
	some := make([]T, len(plan.rows))
	for i, r := range plan.rows {
		some[i] = labels[r]
	}
	m := &PoolClassifierModel[T]{}
	m.pool, err = plan.fit(a.Fitting, a.Time, func(views []View, f Fitting) (Model, error) {
		member, err := MultiGPClassifier[T]{Fitting: f, Classes: classes, hurried: true}.Fit(ctx, views, some)
		if err != nil {
			return nil, err
		}
		if len(m.members) > 0 {
			member.sharpness = m.members[0].sharpness
		}
		m.members = append(m.members, member)
		return member, nil
	})
	if err != nil {
		return nil, err
	}
	m.rule = averaged
	for range m.members {
		m.weights = append(m.weights, 1/float64(len(m.members)))
	}
	return m, nil
}

// plan is what Auto fits: the samples, and the views of each member.
type plan struct {
	rows    []int    // the samples that are used, ascending
	of      int      // samples there are
	notes   []string // what the default kernels left out
	members []plannedMember
}

type plannedMember struct {
	name  string
	views []View
}

// newPlan chooses samples, most at the most (0: DefaultMaxSamples), and kernels for
// the views of n samples, whose classes are given unless nil.
func newPlan(views []View, n int, class []int, most int, seed uint64) (p plan, err error) {
	if most <= 0 {
		most = DefaultMaxSamples
	}
	p.of = n
	p.rows = sample(n, most, class, seed)
	open := false
	for i := range views {
		v := &views[i]
		if v.X.Rows != n {
			return p, fmt.Errorf("mkl: views[%d]: X is %d×%d where there are %d samples (samples are rows)", i, v.X.Rows, v.X.Cols, n)
		}
		if err := checkLayout(fmt.Sprintf("views[%d].X", i), v.X); err != nil {
			return p, err
		}
		if err := checkFinite(fmt.Sprintf("views[%d].X", i), v.X); err != nil {
			return p, err
		}
		open = open || v.Kernel == nil
	}
	some := views
	if len(p.rows) < n {
		if some, err = takeRows(views, p.rows); err != nil {
			return p, err
		}
	}
	if !open {
		p.members = []plannedMember{{"the kernels given", some}}
		return p, nil
	}
	for _, m := range autoMembers {
		made, notes, err := autoViews(m.set, some)
		if err != nil {
			return p, err
		}
		for _, note := range notes {
			if !slices.Contains(p.notes, note) {
				p.notes = append(p.notes, note)
			}
		}
		p.members = append(p.members, plannedMember{m.name, made})
	}
	return p, nil
}

// autoMembers are the kernels of the members. The first has no learned widths, so
// that its leave-one-out predictions are honest.
var autoMembers = []struct {
	name string
	set  KernelSet
}{
	{"broad kernels", Broad},
	{"one width a feature", ARDRBF},
	{"one width a feature's rank", ARDRanks},
	{"single features", Additive},
}

// autoViews returns the views with the kernels of a set in place of those that are
// left open. Its distinct matrices are those of the views, in their order.
func autoViews(set KernelSet, views []View) ([]View, []string, error) {
	var open, all []View
	for _, v := range views {
		if v.Kernel == nil {
			open = append(open, v)
		} else {
			all = append(all, v)
		}
	}
	made, notes, err := DefaultViews(set, open...)
	if err != nil {
		return nil, nil, err
	}
	all = append(all, made...)
	place := func(v View) int {
		return slices.IndexFunc(views, func(w View) bool { return sameMatrix(v.X, w.X) })
	}
	for i, v := range views {
		// A matrix all of whose features have one value still has its place.
		if place(v) == i && !slices.ContainsFunc(all, func(w View) bool { return sameMatrix(v.X, w.X) }) {
			all = append(all, View{Name: v.Name, X: v.X, Kernel: Constant{}})
		}
	}
	slices.SortStableFunc(all, func(a, b View) int { return place(a) - place(b) })
	return all, notes, nil
}

// sameMatrix reports whether two features are one matrix, not copies.
func sameMatrix(a, b Features) bool {
	return a.Rows == b.Rows && a.Cols == b.Cols && a.Stride == b.Stride && unsafe.SliceData(a.Data) == unsafe.SliceData(b.Data)
}

// sample returns at most so many of n samples, ascending, by chance. With classes
// each keeps its share, and at least ten of its samples.
func sample(n, most int, class []int, seed uint64) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	if n <= most {
		return all
	}
	src := rand.New(rand.NewPCG(seed, 0x6d6b6c))
	src.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	if class == nil {
		all = all[:most]
		slices.Sort(all)
		return all
	}
	size := make([]int, slices.Max(class)+1)
	for _, c := range class {
		size[c]++
	}
	left := make([]int, len(size))
	for c, s := range size {
		left[c] = min(s, max(10, int(math.Round(float64(most)*float64(s)/float64(n)))))
	}
	var some []int
	for _, i := range all {
		if left[class[i]] > 0 {
			left[class[i]]--
			some = append(some, i)
		}
	}
	slices.Sort(some)
	return some
}

// takeRows returns the views of some of the samples. Views of one X keep sharing
// theirs.
func takeRows(views []View, rows []int) ([]View, error) {
	out := slices.Clone(views)
	type identity struct {
		data   *float64
		square bool
	}
	taken := map[identity]Features{}
	for i := range out {
		v := &out[i]
		square := v.Kernel != nil && v.Kernel.statistic().kind == given
		if square && v.X.Cols != v.X.Rows {
			return nil, fmt.Errorf("mkl: %s: X is %d×%d where a square kernel is needed", v.label(i), v.X.Rows, v.X.Cols)
		}
		id := identity{&v.X.Data[0], square}
		x, ok := taken[id]
		if !ok {
			x = Features{Rows: len(rows), Cols: v.X.Cols}
			if square {
				x.Cols = len(rows)
			}
			x.Stride = x.Cols
			x.Data = make([]float64, x.Rows*x.Cols)
			for r, from := range rows {
				if !square {
					copy(x.Row(r), v.X.Row(from))
					continue
				}
				for c, col := range rows {
					x.Row(r)[c] = v.X.At(from, col)
				}
			}
			taken[id] = x
		}
		v.X = x
	}
	return out, nil
}

// fit fits the members that there is time for, each by the given function.
func (p *plan) fit(settings Fitting, limit time.Duration, fit func(views []View, f Fitting) (Model, error)) (pool, error) {
	out := pool{of: p.of, remarks: p.notes}
	begin := time.Now()
	var last time.Duration
	for i, member := range p.members {
		if limit > 0 && i > 0 && time.Since(begin)+last > limit {
			out.left = append(out.left, member.name)
			continue
		}
		f := settings
		f.Notes = nil
		if settings.Progress != nil {
			f.Progress = func(q Progress) {
				q.Member, q.Members = i+1, len(p.members)
				settings.Progress(q)
			}
		}
		from := time.Since(begin)
		m, err := fit(member.views, f)
		if err != nil {
			return out, err
		}
		last = time.Since(begin) - from
		out.names = append(out.names, member.name)
		out.add(m)
	}
	out.notes = settings.record(Trace{}).notes
	return out, nil
}
