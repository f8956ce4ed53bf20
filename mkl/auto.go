package mkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
	"unsafe"

	"github.com/bmkl/bmkl/internal/special"
)

// Auto fits several multiple Gaussian processes to the same data, which differ in
// their kernels, and pools their predictions. It is what to use where nothing is
// known of the kernels: its defaults come from the data. The zero value is ready.
//
// Each member has one [KernelSet] for the views without a kernel: [Broad], [ARDRBF],
// [ARDRanks] or [Additive]. Views with a kernel are part of every member as they are.
// Where the size of the residuals of the best member depends on the inputs, there is one
// more, that member with noise that varies ([VaryingNoise]); where they have heavy tails,
// one with noise that has ([HeavyNoise]).
// The prediction is a mixture of the members', weighted by how well they would have
// predicted every training target from all others (see docs/choosing.md). Neither the
// evidence nor leave-one-out alone chooses well: both prefer length scales that overfit,
// which a mixture evens out.
type Auto struct {
	Fitting

	// Time is about how long the fit may take: no further member is begun once the
	// time that the last one took is no longer left. 0 means as long as it takes. Only
	// with Time does the result depend on the speed of the machine.
	Time time.Duration

	// MaxSamples is the most samples that members are fitted to; of more as many are
	// chosen at random. 0 means that above DefaultExactSamples the pool is a [LandmarkGP] of
	// all samples in place of the members. Views with given kernels need all samples, and
	// then all are used.
	MaxSamples int
}

// DefaultExactSamples is the most samples that [Auto] and [AutoClassifier] fit their members to
// unless they are told to: the time grows with the third power of their number, and of 2000
// samples of 8 features it is 11 s of a processor for numbers.
const DefaultExactSamples = 3000

// DefaultMaxSamples is the most samples that [AutoClassifier] fits its members to where landmarks
// cannot stand in: of 5000 samples the 14 kernels of one take 2.8 GB.
const DefaultMaxSamples = 5000

// Fit fits the members to the views of N samples and their targets and pools them.
// A view without a Kernel stands for the default kernels of its X. Errors are those
// of [MultiGP.Fit].
func (a Auto) Fit(ctx context.Context, views []View, y []float64) (*PoolModel, error) {
	if err := a.refuseMissingViews("Auto"); err != nil {
		return nil, err
	}
	if err := a.refuseKernelStorage("Auto"); err != nil {
		return nil, err
	}
	if _, err := checkTargets([][]float64{y}, false); err != nil {
		return nil, err
	}
	if atScale(len(y), a.MaxSamples, slices.ContainsFunc(views, isGiven)) {
		return a.fitLandmarks(ctx, views, y)
	}
	plan, err := newPoolPlan(views, len(y), nil, a.MaxSamples, a.Seed)
	if err != nil {
		return nil, err
	}
	some := make([]float64, len(plan.rows))
	for i, r := range plan.rows {
		some[i] = y[r]
	}
	m := &PoolModel{}
	var density [][]float64
	var of [][]View // those of the members
	begin := time.Now()
	m.pool, err = plan.fit(a.Fitting, a.Time, func(views []View, f Fitting) (Model, error) {
		member, err := MultiGP{Fitting: f, hurried: true}.Fit(ctx, views, some)
		if err != nil {
			return nil, err
		}
		m.members = append(m.members, member)
		density, of = append(density, member.leftOutDensity(some)), append(of, views)
		return member, nil
	})
	if err != nil {
		return nil, err
	}
	spent := time.Since(begin)
	for _, other := range otherNoises {
		if density, err = a.addNoise(ctx, m, of, some, density, spent, other); err != nil {
			return nil, err
		}
	}
	m.weights, m.rule = stack(density, a.Seed), stacked
	m.keepLarge()
	return m, nil
}

// atScale reports whether n samples are too many for the members, of at most so many unless that
// is 0; given says that some of the views hold kernels or distances.
func atScale(n, most int, given bool) bool {
	return most <= 0 && n > DefaultExactSamples && !given
}

// fitLandmarks fits one model of all samples.
func (a Auto) fitLandmarks(ctx context.Context, views []View, y []float64) (*PoolModel, error) {
	g := LandmarkGP{Fitting: a.Fitting}
	member, err := g.Fit(ctx, views, y)
	if err != nil {
		return nil, err
	}
	exact := MultiGP{Fitting: a.Fitting}.EstimateMemory(Size{Samples: len(y), Kernels: member.plan.kernels(), Outputs: 1})
	return &PoolModel{landmarks: member, pool: landmarkPool(member, &a.Fitting, stacked, len(y), exact)}, nil
}

// landmarkPool is the pool of one model on landmarks of n samples, for which the exact models
// would take so many bytes.
func landmarkPool(m Model, f *Fitting, rule poolRule, n int, exact int64) pool {
	p := pool{onLandmarks: true, of: n, rule: rule, weights: []float64{1}, names: []string{
		fmt.Sprintf("%d landmarks, for all %d samples", m.Samples(), n),
	}}
	times := float64(n) / DefaultExactSamples
	p.remarks = []string{fmt.Sprintf("above %d samples kernels are taken with landmarks; with all samples they would take %s, "+
		"and %.3g times the work of %d samples", DefaultExactSamples, formatBytes(exact),
		times*times*times, DefaultExactSamples)}
	p.add(m)
	p.notes = f.record(Trace{}).notes
	return p
}

// keepLarge drops the members whose weight is below half of an equal share. They
// move the mean little, but their wide predictions widen the mixture, whose
// variance would then cover more than it says.
func (m *PoolModel) keepLarge() {
	least := smallShare(len(m.members))
	small := func(weight float64) bool { return weight < least }
	m.members = keepMembers(&m.pool, m.members, func(i int) bool { return !small(m.weights[i]) })
	m.weights = slices.DeleteFunc(m.weights, small)
	sum := total(m.weights)
	for i := range m.weights {
		m.weights[i] /= sum
	}
}

// keepMembers drops the members of p that are not to be kept, and returns the others. Weights stay as
// they are.
func keepMembers[M Model](p *pool, members []M, keep func(i int) bool) (kept []M) {
	all := *p
	p.names, p.models = nil, nil
	for i, m := range members {
		if !keep(i) {
			p.dropped = append(p.dropped, all.names[i])
			continue
		}
		p.names, p.models = append(p.names, all.names[i]), append(p.models, all.models[i])
		kept = append(kept, m)
	}
	return kept
}

// smallShare is the weight below which one of n members is dropped.
func smallShare(n int) float64 { return 0.5 / float64(n) }

// EstimateMemory returns about how many bytes a fit of the given size takes, its
// Kernels being views without a kernel.
func (a Auto) EstimateMemory(s Size) int64 {
	if atScale(s.Samples, a.MaxSamples, s.Basis > 0) {
		return LandmarkGP{Fitting: a.Fitting}.EstimateMemory(s)
	}
	n := s.Samples
	if a.MaxSamples > 0 {
		n = min(n, a.MaxSamples)
	}
	return autoMemory(&a.Fitting, s, a.MaxSamples, 1+drawsOf(n), varyingFactors+1, false)
}

// autoMemory estimates what a pool takes whose members have l functions each: the
// kernels of the largest member, the factors that all of them keep, and so many more.
func autoMemory(f *Fitting, s Size, most, l, more int, labels bool) int64 {
	if most <= 0 {
		most = DefaultMaxSamples
	}
	s.Samples = min(s.Samples, most)
	s.Kernels *= mostAlone + 2
	return f.processMemory(s, l*len(autoMembers)+more, labels)
}

// AutoClassifier is [Auto] for two or more classes. The probabilities are the means
// of the members': weights fitted on leave-one-out probabilities would prefer
// members with learned length scales, which leave-one-out does not see. Their
// sharpness is that of the first member, which has none. A member that predicts the training labels,
// each from all others, clearly worse than the first is dropped.
type AutoClassifier[T comparable] struct {
	Fitting

	Time time.Duration // as in [Auto]

	// MaxSamples is the most samples that members are fitted to; of more as many are
	// chosen at random. 0 means that above DefaultExactSamples the pool is a
	// [LandmarkClassifier] of all samples in place of the members, and with more classes
	// than that takes, that members are fitted to DefaultMaxSamples. Views with given
	// kernels need all samples, and then all are used.
	MaxSamples int

	// Classes, if not nil, are the classes in the order that models keep, as in
	// [Classifier].
	Classes []T
}

// Fit fits the members to the views of N samples and their labels and pools them.
// A view without a Kernel stands for the default kernels of its X. Errors are those
// of [MultiGPClassifier.Fit].
func (a AutoClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (*PoolClassifierModel[T], error) {
	if err := a.refuseMissingViews("AutoClassifier"); err != nil {
		return nil, err
	}
	if err := a.refuseKernelStorage("AutoClassifier"); err != nil {
		return nil, err
	}
	classes, index, err := checkLabels(a.Classes, labels)
	if err != nil {
		return nil, err
	}
	if a.atScale(len(labels), len(classes), slices.ContainsFunc(views, isGiven)) {
		return a.fitLandmarks(ctx, views, labels, classes)
	}
	plan, err := newPoolPlan(views, len(labels), index, a.MaxSamples, a.Seed)
	if err != nil {
		return nil, err
	}
	some, class := make([]T, len(plan.rows)), make([]int, len(plan.rows))
	for i, r := range plan.rows {
		some[i], class[i] = labels[r], index[r]
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
	m.keepUseful(class)
	for range m.members {
		m.weights = append(m.weights, 1/float64(len(m.members)))
	}
	return m, nil
}

// keepUseful drops the members that predict the training samples, of the given classes, each from all
// others, worse than the first member does, by a mean difference of log probabilities of more than two
// standard errors. Leave-one-out is too good where widths were learned, and so tells nothing of how much
// better such a member is; one that is worse all the same only makes the mean less certain.
func (m *PoolClassifierModel[T]) keepUseful(class []int) {
	first := m.members[0].leftOutLogProbabilities(class)
	m.members = keepMembers(&m.pool, m.members, func(i int) bool {
		log := m.members[i].leftOutLogProbabilities(class)
		return first == nil || log == nil || !clearlyLess(log, first, 2)
	})
}

// leftOutLogProbabilities returns the logarithms of the probabilities of the training samples' classes,
// each given all others, or nil if the fit does not know them.
func (m *MultiGPClassifierModel[T]) leftOutLogProbabilities(class []int) []float64 {
	scores := m.leftOutScores(class)
	if scores == nil {
		return nil
	}
	out, each := make([]float64, len(class)), make([]float64, len(m.classes.names))
	for i, s := range scores {
		sharpen(m.sharpness, s, each)
		out[i] = each[class[i]]
	}
	return out
}

// atScale reports whether n samples are too many for the members; given says that some of the
// views hold kernels or distances.
func (a AutoClassifier[T]) atScale(n, classes int, given bool) bool {
	return atScale(n, a.MaxSamples, given) && classes <= mostLandmarkClasses
}

// fitLandmarks fits one model of all samples.
func (a AutoClassifier[T]) fitLandmarks(ctx context.Context, views []View, labels, classes []T) (*PoolClassifierModel[T], error) {
	member, err := LandmarkClassifier[T]{Fitting: a.Fitting, Classes: classes}.Fit(ctx, views, labels)
	if member == nil {
		return nil, err
	}
	exact := MultiGPClassifier[T]{Fitting: a.Fitting}.EstimateMemory(Size{Samples: len(labels), Kernels: member.plan.kernels(), Outputs: len(classes)})
	return &PoolClassifierModel[T]{landmarks: member, pool: landmarkPool(member, &a.Fitting, averaged, len(labels), exact)}, err
}

// poolPlan is what Auto fits: the samples, and the views of each member.
type poolPlan struct {
	rows    []int    // the samples that are used, ascending
	of      int      // samples there are
	notes   []string // what the default kernels left out
	members []plannedMember
}

type plannedMember struct {
	name  string
	views []View
}

// newPoolPlan chooses samples, most at the most (0: DefaultMaxSamples), and kernels for
// the views of n samples, whose classes are given unless nil.
func newPoolPlan(views []View, n int, class []int, most int, seed uint64) (p poolPlan, err error) {
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
	p.rows = sample(n, most, class, seed)
	some := views
	if len(p.rows) < n {
		some = takeRows(views, p.rows)
	}
	if !open {
		p.members = []plannedMember{{"the kernels given", some}}
		return p, nil
	}
	for _, m := range autoMembers {
		made, notes, err := FillViews(m.set, some)
		if err != nil {
			return p, err
		}
		for _, note := range notes {
			if !slices.Contains(p.notes, note) {
				p.notes = append(p.notes, note)
			}
		}
		if need := samplesFor(made); len(p.rows) < need {
			p.notes = append(p.notes, fmt.Sprintf("%s: left out, for its widths are to be learned from %d samples or more", m.name, need))
			continue
		}
		p.members = append(p.members, plannedMember{m.name, made})
	}
	return p, nil
}

// samplesFor returns how many samples views with learned widths take at least, 0 for
// others: two for each amplitude and width. With fewer the widths follow the noise, and
// leave-one-out, which sees the widths of all samples, prefers them for it.
func samplesFor(views []View) int {
	parameters := 0
	for _, v := range views {
		if learns(v.Kernel) {
			parameters += sight{columns: v.Columns}.cols(v.X.Cols)
		}
	}
	if parameters == 0 {
		return 0
	}
	return 2 * (parameters + len(views))
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

// isGiven reports whether the view's X holds kernels or distances, not features.
func isGiven(v View) bool { return v.Kernel != nil && v.Kernel.statistic().kind == given }

// sameMatrix reports whether two features are one matrix, not copies.
func sameMatrix(a, b Features) bool {
	return a.Rows == b.Rows && a.Cols == b.Cols && a.Stride == b.Stride && unsafe.SliceData(a.Data) == unsafe.SliceData(b.Data)
}

// sample returns at most so many of n samples, ascending, by chance. With classes
// each keeps its share, and at least ten of its samples.
func sample(n, most int, class []int, seed uint64) []int {
	all := upTo(n)
	if n <= most {
		return all
	}
	src := special.NewRand(rand.NewPCG(seed, 0x6d6b6c))
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
		left[c] = min(s, max(leastOfClass, int(math.Round(float64(most)*float64(s)/float64(n)))))
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
		out[i].X = out[i].X.TakeRows(rows)
	}
	return out
}

// fit fits the members that there is time for, each by the given function.
func (p *poolPlan) fit(settings Fitting, limit time.Duration, fit func(views []View, f Fitting) (Model, error)) (pool, error) {
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

// EstimateMemory returns about how many bytes a fit of the given size takes, its
// Kernels being views without a kernel and its Outputs classes.
func (a AutoClassifier[T]) EstimateMemory(s Size) int64 {
	if a.atScale(s.Samples, s.Outputs, s.Basis > 0) {
		return LandmarkClassifier[T]{Fitting: a.Fitting}.EstimateMemory(s)
	}
	return autoMemory(&a.Fitting, s, a.MaxSamples, functions(s.Outputs), 0, true)
}
