package mkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
	"unsafe"

	"github.com/bmkl/bmkl/la"
)

// Auto fits several multiple Gaussian processes to the same data, which differ in
// their kernels, and pools their predictions. It is what to use where nothing is
// known of the kernels: its defaults come from the data. The zero value is ready.
//
// Each member has one [KernelSet] for the views without a kernel: [Broad], [ARDRBF],
// [ARDRanks] or [Additive]. Views with a
// kernel are part of every member as they are. The prediction is the mixture of the
// members' that would have predicted every training target best from all others
// (see docs/choosing.md). Neither the evidence nor leave-one-out alone chooses well:
// both prefer length scales that overfit, which a mixture evens out.
type Auto struct {
	Fitting

	// Time is about how long the fit may take: no further member is begun once the
	// time that the last one took is no longer left. 0 means as long as it takes. Only
	// with Time does the result depend on the speed of the machine.
	Time time.Duration

	// MaxSamples is the most samples that members are fitted to; of more as many are
	// chosen at random. 0 means DefaultMaxSamples. Views with given kernels need all
	// samples, and then all are used.
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
	plan, err := a.plan(views, len(y), nil)
	if err != nil {
		return nil, err
	}
	some := make([]float64, len(plan.rows))
	for i, r := range plan.rows {
		some[i] = y[r]
	}
	m := &PoolModel{}
	var density [][]float64
	m.pool, err = a.members(plan, a.Time, func(views []View, f Fitting) (Model, error) {
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
	plan, err := Auto{Fitting: a.Fitting, MaxSamples: a.MaxSamples}.plan(views, len(labels), index)
	if err != nil {
		return nil, err
	}
	some := make([]T, len(plan.rows))
	for i, r := range plan.rows {
		some[i] = labels[r]
	}
	m := &PoolClassifierModel[T]{}
	m.pool, err = Auto{Fitting: a.Fitting}.members(plan, a.Time, func(views []View, f Fitting) (Model, error) {
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

// plan chooses samples and kernels for n samples, whose classes are given unless
// nil.
func (a Auto) plan(views []View, n int, class []int) (p plan, err error) {
	most := a.MaxSamples
	if most <= 0 {
		most = DefaultMaxSamples
	}
	p.of = n
	open, whole := false, false
	views = slices.Clone(views)
	for i := range views {
		v := &views[i]
		v.from = i + 1
		arg := v.argument(i)
		if err := checkLayout(arg+".X", v.X); err != nil {
			return p, err
		}
		switch {
		case v.X.Rows != n:
			return p, fmt.Errorf("mkl: %s: X is %d×%d where y has %d samples (samples are rows)", v.label(i), v.X.Rows, v.X.Cols, n)
		case v.X.Cols == 0:
			return p, fmt.Errorf("mkl: %s: X has no columns", v.label(i))
		}
		if err := checkFinite(arg+".X", v.X); err != nil {
			return p, err
		}
		open = open || v.Kernel == nil
		whole = whole || isGiven(*v)
	}
	if whole {
		most = n
	}
	p.rows = sample(n, most, class, a.Seed)
	some := views
	if len(p.rows) < n {
		some = takeRows(views, p.rows)
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
	same := func(v, w View) bool { return sameMatrix(v.X, w.X) && isGiven(v) == isGiven(w) }
	place := func(v View) int {
		return slices.IndexFunc(views, func(w View) bool { return same(v, w) })
	}
	for i, v := range views {
		// A matrix all of whose features have one value still has its place.
		if place(v) == i && !slices.ContainsFunc(all, func(w View) bool { return same(v, w) }) {
			all = append(all, View{Name: v.Name, X: v.X, Kernel: Constant{}, from: v.from})
		}
	}
	slices.SortStableFunc(all, func(a, b View) int { return place(a) - place(b) })
	return all, notes, nil
}

// isGiven reports whether the view's X holds kernels or distances, not features.
func isGiven(v View) bool { return v.Kernel != nil && v.Kernel.statistic().kind == given }

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
func takeRows(views []View, rows []int) []View {
	out := slices.Clone(views)
	for i := range out {
		if first := slices.IndexFunc(views[:i], func(w View) bool { return sameMatrix(w.X, views[i].X) }); first >= 0 {
			out[i].X = out[first].X
			continue
		}
		x := la.NewMatrix[float64](len(rows), out[i].X.Cols)
		for r, from := range rows {
			copy(x.Row(r), out[i].X.Row(from))
		}
		out[i].X = x
	}
	return out
}

// members fits the members that there is time for.
func (a Auto) members(p plan, limit time.Duration, fit func(views []View, f Fitting) (Model, error)) (pool, error) {
	out := pool{of: p.of, remarks: p.notes}
	begin := time.Now()
	var last time.Duration
	for i, member := range p.members {
		if limit > 0 && i > 0 && time.Since(begin)+last > limit {
			out.left = append(out.left, member.name)
			continue
		}
		f := a.Fitting
		f.Notes = nil
		if a.Progress != nil {
			f.Progress = func(q Progress) {
				q.Member, q.Members = i+1, len(p.members)
				a.Progress(q)
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
	out.notes = a.Fitting.record(Trace{}).notes
	return out, nil
}
