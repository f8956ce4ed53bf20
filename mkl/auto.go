package mkl

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/vecchia"
)

// Auto fits several multiple Gaussian processes with different kernels to the same
// data and pools their predictions. Use it if you do not know which kernels to use:
// it chooses them from the data. The zero value is ready to fit.
//
// The prediction is a mixture of the members' predictions. The weights say how well the members would have
// predicted every training target from all others (see docs/lab/choosing.md). Choosing one member by the
// evidence or by leave-one-out predictions is worse: both prefer length scales that overfit, and a mixture evens
// this out.
//
// A pool has these members:
//
//   - One for each of the sets [KernelsBroad], [KernelsARD], [KernelsARDRanks] and [KernelsAdditive], which stand for
//     the views without a kernel. Views with a kernel keep it in every member.
//   - The best of these again with noise that varies ([VaryingNoise]), if the size of its residuals depends on the inputs,
//     and with noise that has heavy tails ([HeavyNoise]), if its residuals have heavy tails. Up to 300 samples the other noise must also
//     predict better over five folds.
//   - For one view with 2 to 20 features and more than 64 samples: a member whose kernels are products of functions of single
//     features ([kernel.Interaction]). It is left out if its weight beside the pool of all others is below one half.
//   - For several views: two members with amplitudes that borrow strength. In the first the amplitudes are alike in all views.
//     In the second a half-Cauchy factor of each view can switch the view off. The first leaves out a view that by itself
//     more probably carries no information about the target, unless the view is surely needed beside the others. The second
//     weights views by these probabilities. See docs/theory/views.md.
//   - For several views without a kernel: the default kernels leave out all views that the first of the two leaves out, if the first member's
//     leave-one-out density is then larger.
//   - For several views without a kernel, and at least two samples for each column: a pool of the columns of all views as one table. All other
//     members are sums of functions of single views. The pool learns functions of columns from several views, which belong to no view.
//     Its weight comes from leave-one-out densities; a small weight is dropped.
//   - Above DefaultExactSamples samples: members of all samples, see MaxSamples.
//
// Above DefaultExactSamples samples a column of more than 30 codes gets an effect of each code, if only views with the zero
// [kernel.Categorical] see the column and the effects predict other samples. The members then learn the target less the
// effects. See docs/theory/levels.md.
//
// The members learn the square root or the logarithm of positive targets if this makes the targets clearly more probable, each predicted
// from the others. Predictions are in the target's own units, and their distributions have no negative values. Such a pool has no
// [AutoModel.PredictViews] and no [AutoModel.PredictJoint]. A pool with OwnScale, Weights or KnownNoise learns the target itself. See
// docs/theory/vecchia.md.
type Auto struct {
	Fitting
	Climb // of every member

	// Time limits the processor time of the fit. The fit does not read a clock: it forecasts the time from the number
	// of operations on one core of the machine of docs/lab/rows.md. Time decides which members are fitted, and to how
	// many samples and steps. Forecast and result are the same on every machine. 0 means no limit up to
	// DefaultExactSamples samples, and [DefaultTime] above.
	Time time.Duration

	// MaxSamples is the largest number of samples that members are fitted to; if there are more, that many are
	// chosen at random. 0 means: above DefaultExactSamples, members of 2900 samples are pooled with three
	// members of all samples, one on landmarks, one with trees and one on the nearest samples. Held-out samples
	// decide the weights of the members, and the order of the samples does not matter. If a view has a given kernel, all
	// samples are used.
	MaxSamples int

	// Groups are views that the model also judges together, in [AutoModel.Groups]. They change no prediction.
	Groups []ViewGroup

	// Weights and KnownNoise are as in [MultiGP]. A pool with either has no members for very many samples: it is fitted to at most
	// DefaultExactSamples samples, or to MaxSamples if that is set, chosen at random. A pool with KnownNoise has no members with noise
	// that varies or has heavy tails.
	Weights    []float64
	KnownNoise float64

	// MissingViews is as in [Regression]. Members that learn widths of kernels are then left out. Such a pool has no members for very
	// many samples: it is fitted to at most DefaultExactSamples samples, or to MaxSamples if that is set, chosen at random.
	MissingViews bool

	// OwnScale keeps positive targets on their own scale.
	OwnScale bool

	part   bool         // the fit is of the exact members in a pool of very many samples
	choice *scaleChoice // of the pool of several views, if the fit is of the table of their columns
	steps  recorded     // how the targets that members learn were recorded
}

// DefaultExactSamples is the most samples that [Auto] and [AutoClassifier] fit their members to
// unless MaxSamples is set. The time grows with the third power of their number: a regression on
// 2000 samples of 8 features takes 11 s of processor time.
const DefaultExactSamples = 3000

// DefaultMaxSamples is the most samples that [AutoClassifier] fits its members to where landmarks
// cannot be used. For 5000 samples the 14 kernels of one member take 2.8 GB.
const DefaultMaxSamples = 5000

// Fit fits the members to the views of N samples and their targets and pools them.
// A view without a Kernel stands for the default kernels of its X. It returns the
// errors that [MultiGP.Fit] returns.
func (a Auto) Fit(ctx context.Context, views []View, y []float64) (*AutoModel, error) {
	if _, err := checkTargets([][]float64{y}, false); err != nil {
		return nil, err
	}
	if err := checkRowWeights(a.Weights, len(y)); err != nil {
		return nil, err
	}
	switch {
	case a.Weights != nil || a.KnownNoise != 0 || a.MissingViews:
		a.MaxSamples = exactLimit(a.MaxSamples)
	case atScale(len(y), a.MaxSamples, slices.ContainsFunc(views, isGiven)):
		return a.fitMany(ctx, views, y)
	}
	m, _, err := a.fitPool(ctx, views, y)
	return m, err
}

// fitPool fits members that learn from all samples, or from MaxSamples. It also returns the logarithms of the pool's leave-one-out densities,
// with the constant of [MultiGPModel.leftOutDensity].
func (a Auto) fitPool(ctx context.Context, views []View, y []float64) (m *AutoModel, own []float64, err error) {
	plan, err := newPoolPlan(views, y, nil, a.MaxSamples, a.Seed, a.MissingViews)
	if err != nil {
		return nil, nil, err
	}
	some := make([]float64, len(plan.rows))
	for i, r := range plan.rows {
		some[i] = y[r]
	}
	if a.Weights != nil {
		a.Weights = vec.Picked(a.Weights, plan.rows)
	}
	m = &AutoModel{}
	choice, err := plan.chooseScale(ctx, &a, some)
	if err != nil {
		return nil, nil, err
	}
	ofTable := a.choice != nil
	if !ofTable {
		a.choice = &choice
		if !a.part && a.KnownNoise == 0 { // which says more than steps do
			a.steps = recorded{choice.scale, commonStep(some)}
		}
	}
	m.scale, m.largest = choice.scale, largestTarget(choice.scale, some)
	some = choice.scale.all(some)
	m.middle, _ = vec.MeanSD(some)
	each := exactSeconds(len(plan.rows), 1, featuresOf(views))
	var amplitudes amplitudeRegressions
	early := plan.mayLeaveOut(a.Time, each)
	if early {
		if amplitudes, err = a.fitAmplitudes(ctx, plan.views, some); err != nil {
			return nil, nil, err
		}
		if choice.member, err = a.chooseViews(ctx, &plan, choice.member, doubtful(amplitudes.table.views), some); err != nil {
			return nil, nil, err
		}
	}
	density, of, err := a.fitMembers(ctx, m, &plan, some, each, choice.member)
	if err != nil {
		return nil, nil, err
	}
	if a.KnownNoise == 0 {
		for _, other := range otherNoises {
			if density, err = a.addNoise(ctx, m, of, some, density, each, other); err != nil {
				return nil, nil, err
			}
		}
	}
	if !early {
		if amplitudes, err = a.fitAmplitudes(ctx, plan.views, some); err != nil {
			return nil, nil, err
		}
	}
	density = m.addAmplitudes(amplitudes, some, density)
	if density, err = a.addInteractions(ctx, m, &plan, some, density, each); err != nil {
		return nil, nil, err
	}
	density = m.keepWorthy(a.choice, density, some)
	m.weights, m.rule = stack(density, a.Seed), stacked
	own = mixedDensity(density, m.weights)
	density = m.keepLarge(density)
	if err := a.addTable(ctx, m, &plan, some, own, density, each); err != nil {
		return nil, nil, err
	}
	if !ofTable { // the least variance of a table is its pool's
		m.step = leastStep(a.steps.step, len(some))
	}
	m.checkGroups(a.Groups)
	return m, own, nil
}

// fitMembers fits the members of a plan to the learned targets y. each is the forecast time of one member in seconds. The first member is
// already fitted unless it is nil. It returns the members' densities and views.
func (a Auto) fitMembers(
	ctx context.Context, m *AutoModel, plan *poolPlan, y []float64, each float64, first *MultiGPModel,
) (density [][]float64, of [][]View, err error) {
	m.pool, err = plan.fit(a.Fitting, a.Time, each, func(views []View, f Fitting) (model Model, useful bool, err error) {
		member := first
		if first = nil; member == nil {
			if member, err = a.process(f).Fit(ctx, views, y); err != nil {
				return nil, false, err
			}
		}
		m.members = append(m.members, member)
		density, of = append(density, member.leftOutDensity(y)), append(of, views)
		return member, true, nil
	})
	return density, of, err
}

// process returns the settings of the fit of a member.
func (a Auto) process(f Fitting) MultiGP {
	return MultiGP{Fitting: f, Climb: a.Climb, Weights: a.Weights, KnownNoise: a.KnownNoise, MissingViews: a.MissingViews, hurried: true}
}

// exactLimit returns the most samples of a pool whose members are all exact, given the limit MaxSamples.
func exactLimit(most int) int { return cmp.Or(max(most, 0), DefaultExactSamples) }

// atScale reports whether n samples are too many to fit the members to all of them. It is false if the caller set
// most, the limit MaxSamples, or if some views hold given kernels or distances.
func atScale(n, most int, given bool) bool {
	return most <= 0 && n > DefaultExactSamples && !given
}

// keepWorthy drops the members on another scale than the target's own that are worse than the target's own scale. density holds the logarithms
// of the members' leave-one-out densities of the learned targets z. It returns the densities of the others.
func (m *AutoModel) keepWorthy(c *scaleChoice, density [][]float64, z []float64) (kept [][]float64) {
	if c.scale == ownScale {
		return density
	}
	worthy := c.worthy(m.members, density, z)
	for i, d := range density {
		if worthy[i] {
			kept = append(kept, d)
		}
	}
	m.members = keepMembers(&m.pool, m.members, func(i int) bool { return worthy[i] })
	return kept
}

// keepLarge drops the members whose weight is below half of an equal share. They
// move the mean little, but their wide predictions widen the mixture, whose
// variance would then cover more than it says. It returns the densities of the others.
func (m *AutoModel) keepLarge(density [][]float64) (kept [][]float64) {
	least := smallShare(len(m.members))
	small := func(weight float64) bool { return weight < least }
	for i, d := range density {
		if !small(m.weights[i]) {
			kept = append(kept, d)
		}
	}
	m.members = keepMembers(&m.pool, m.members, func(i int) bool { return !small(m.weights[i]) })
	m.weights = slices.DeleteFunc(m.weights, small)
	sum := vec.Total(m.weights)
	for i := range m.weights {
		m.weights[i] /= sum
	}
	return kept
}

// keepMembers drops the members of p for which keep is false, and returns the others. It leaves the weights
// unchanged.
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

func (a *Auto) fitting() *fitting {
	return &fitting{Fitting: a.Fitting, Ascent: a.Climb.ascent(), limit: "MaxSteps", groups: a.Groups, missingViews: a.MissingViews}
}

// EstimateMemory returns about how many bytes a fit of the given size takes.
// s.Kernels counts the views without a kernel. If a fit to more than DefaultExactSamples samples may not
// take that much, it leaves members out or fits them to fewer samples.
func (a Auto) EstimateMemory(s FitSize) int64 {
	if a.MissingViews {
		a.MaxSamples = exactLimit(a.MaxSamples)
	}
	if atScale(s.Samples, a.MaxSamples, s.Basis > 0) {
		return LandmarkGP{Fitting: a.Fitting}.EstimateMemory(s) + max(a.exactMemory(s, mostExactRows), vecchia.Memory(min(s.Samples, mostLocalRows), s.Kernels, 1))
	}
	n := s.Samples
	if a.MaxSamples > 0 {
		n = min(n, a.MaxSamples)
	}
	need := autoMemory(a.fitting(), s, a.MaxSamples, 1+drawsOf(n), varyingFactors+1, false)
	if s.Kernels > 1 { // the table
		s.Kernels = 1
		need += autoMemory(a.fitting(), s, a.MaxSamples, 1+drawsOf(n), varyingFactors+1, false)
	}
	return need
}

// exactMemory estimates the bytes of the exact members of a pool of many samples, each fitted to rows samples.
func (a Auto) exactMemory(s FitSize, rows int) int64 {
	s.Samples = rows
	return autoMemory(a.fitting(), s, rows, 1+drawsOf(rows), varyingFactors+1, false)
}

// autoMemory estimates the bytes of a pool whose members have l functions each: the kernels of the largest
// member, the factors that all members keep, and more kernels besides.
func autoMemory(f *fitting, s FitSize, most, l, more int, labels bool) int64 {
	if most <= 0 {
		most = DefaultMaxSamples
	}
	s.Samples = min(s.Samples, most)
	if labels && s.Samples >= restingSamples {
		return f.restingMemory(s, l)
	}
	s.Kernels *= mostAlone + 2
	return f.processMemory(s, l*(len(autoMembers)+1)+more, labels)
}

// AutoClassifier is [Auto] for two or more classes. The zero value is ready to fit.
//
// Its probabilities are the means of the members' probabilities. Weights fitted to leave-one-out probabilities would prefer
// members with learned length scales, because leave-one-out does not repeat the learning. All members
// have the sharpness of the first, which learns no length scales. A member is dropped if its leave-one-out
// predictions of the training labels are clearly worse than the first member's.
//
// It has the members of [Auto] for constant noise, with these differences:
//
//   - A further member is a least-squares process of the classes' indicators, in which all classes share the amplitudes of the
//     kernels. Its weight comes from leave-one-out probabilities.
//   - For several views the two members with amplitudes that borrow strength replace the least-squares process, with equal
//     weights. For several views without kernels and more than two classes they are the only members that are sums over views.
//   - Effects of codes are on the log odds of each class. The members see them in the places of the codes, and learn the classes themselves.
//   - The weight of the columns as one table comes from leave-one-out probabilities of members that learn no widths. With more than two
//     classes, and if the processes of the table are forecast to take more than a minute, the table has the least-squares member alone.
type AutoClassifier[T comparable] struct {
	Fitting
	Climb // of every member

	Time time.Duration // as in [Auto]

	// MaxSamples is the most samples that members are fitted to; if there are more, that many are
	// chosen at random. 0 means: above DefaultExactSamples, members of a part of the samples are
	// pooled with three members of all samples, as in [Auto]. Views with given
	// kernels need all samples, and then all are used.
	MaxSamples int

	Groups       []ViewGroup // as in [Auto]
	MissingViews bool        // as in [Auto]

	// Classes, if not nil, are the classes in the order that models keep, as in
	// [Classifier].
	Classes []T

	part    bool // as in [Auto]
	ofTable bool // the fit is of the columns of several views as one table
}

// Fit fits the members to the views of N samples and their labels and pools them.
// A view without a Kernel stands for the default kernels of its X. It returns the
// errors that [MultiGPClassifier.Fit] returns.
func (a AutoClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (*AutoClassifierModel[T], error) {
	classes, index, err := checkLabels(a.Classes, labels)
	if err != nil {
		return nil, err
	}
	switch {
	case a.MissingViews:
		a.MaxSamples = exactLimit(a.MaxSamples)
	case atScale(len(labels), a.MaxSamples, slices.ContainsFunc(views, isGiven)):
		return a.fitMany(ctx, views, labels, classes, index)
	}
	a.Classes = classes
	m, _, err := a.fitPool(ctx, views, labels)
	return m, err
}

// fitPool fits members that learn from all samples, or from MaxSamples. It also returns the logarithms of the leave-one-out probabilities of the
// samples' classes, by the members that learn no widths; nil if they are not known.
func (a AutoClassifier[T]) fitPool(ctx context.Context, views []View, labels []T) (m *AutoClassifierModel[T], own []float64, err error) {
	classes, index, err := checkLabels(a.Classes, labels)
	if err != nil {
		return nil, nil, err
	}
	plan, err := newPoolPlan(views, vec.Floats(index), index, a.MaxSamples, a.Seed, a.MissingViews)
	if err != nil {
		return nil, nil, err
	}
	some, class := make([]T, len(plan.rows)), make([]int, len(plan.rows))
	for i, r := range plan.rows {
		some[i], class[i] = labels[r], index[r]
	}
	m = &AutoClassifierModel[T]{}
	l := leastSquares[T]{settings: a.fitting(), views: plan.views, classes: classes, class: class}
	each := exactSeconds(len(plan.rows), labelWork*functions(len(classes)), featuresOf(views))
	long := a.ofTable && float64(each*float64(len(plan.members))) > mostTableSeconds
	if len(classes) > 2 && (long || countViews(plan.views) > 1 && allOpen(plan.views)) {
		if err := l.fit(ctx); err != nil {
			return nil, nil, err
		}
	}
	if l.members != nil {
		plan.leftOut = l.notes
		plan.members = nil // processes with kernel weights for each class take far longer and predict worse
	}
	begun, err := a.chooseViews(ctx, &plan, &l, some, each)
	if err != nil {
		return nil, nil, err
	}
	var first []float64 // the log probabilities that the first member predicts
	m.pool, err = plan.fit(a.Fitting, a.Time, each, func(views []View, f Fitting) (model Model, useful bool, err error) {
		member := begun
		if begun = nil; member == nil {
			if member, err = a.process(&plan, f, classes).Fit(ctx, views, some); err != nil {
				return nil, false, err
			}
		}
		if len(m.members) == 0 {
			first = member.leftOutLogProbabilities(class)
		} else {
			member.sharpness = m.members[0].sharpness
			if clearlyWorse(member.leftOutLogProbabilities(class), first) {
				return member, false, nil
			}
		}
		m.members = append(m.members, member)
		return member, true, nil
	})
	if err != nil {
		return nil, nil, err
	}
	m.rule = averaged
	if l.members == nil && !l.tried {
		if a.Time > 0 && float64(each*float64(len(m.models)+1)) > a.Time.Seconds() {
			m.left = append(m.left, oneViewMember.name)
		} else if err := l.fit(ctx); err != nil {
			return nil, nil, err
		}
	}
	if l.left != "" {
		m.remarks = append(m.remarks, l.left)
	}
	product, err := a.fitInteractions(ctx, m, &plan, some, classes, each)
	if err != nil {
		return nil, nil, err
	}
	own = m.addKinds(product, l, a.Seed)
	if err := a.addTable(ctx, m, &plan, some, classes, own, each); err != nil {
		return nil, nil, err
	}
	m.checkGroups(a.Groups)
	if err := m.wake(ctx, a.Workers, plan.views); err != nil {
		return nil, nil, err
	}
	return m, own, nil
}

// process returns the settings of the fit of a member to the plan's samples of the classes.
func (a AutoClassifier[T]) process(p *poolPlan, f Fitting, classes []T) MultiGPClassifier[T] {
	return MultiGPClassifier[T]{
		Fitting: f, Climb: a.Climb, Classes: classes, MissingViews: a.MissingViews, hurried: true, resting: p.rests(a.MissingViews),
	}
}

// allOpen reports whether no view has a kernel.
func allOpen(views []View) bool {
	return !slices.ContainsFunc(views, func(v View) bool { return v.Kernel != nil })
}

// addKinds adds the member with products of features, which may be nil, and the least-squares members, and weights all members.
// Members of one kind have equal weights. The member with products of features is left out if its weight beside the pool of all
// others is below one half. own is as for [AutoClassifier.fitPool].
func (m *AutoClassifierModel[T]) addKinds(product *MultiGPClassifierModel[T], l leastSquares[T], seed uint64) (own []float64) {
	m.viewTable = l.table
	m.remarks = append(m.remarks, l.table.remark(len(l.class))...)
	w := m.weighKinds(l, seed)
	if product != nil {
		if share := weightBeside(m.leftOutOfKinds(w, l), product.leftOutLogProbabilities(l.class), seed); share < leastBeside {
			m.dropped = append(m.dropped, interactionsMember)
			product = nil
		} else {
			w = kindWeights{float64((1 - share) * w.processes), float64((1 - share) * w.leastSquares), share}
		}
	}
	if w.processes < 1 && w.leastSquares < 1 {
		m.rule = byKind
	}
	own = m.leftOutWithoutWidths(w, l, product)
	for range m.members {
		m.weights = append(m.weights, w.processes/float64(len(m.members)))
	}
	if product != nil {
		m.members, m.names = append(m.members, product), append(m.names, interactionsMember)
		m.add(product)
		m.weights = append(m.weights, w.products)
	}
	for i, member := range l.members {
		m.indicators, m.names = append(m.indicators, member), append(m.names, l.names[i])
		m.add(member)
		m.weights = append(m.weights, w.leastSquares/float64(len(l.members)))
	}
	return own
}

// leftOutWithoutWidths returns the logarithms of the leave-one-out probabilities of the samples' classes of a pool with the weights w, where the
// first member stands for all processes: it learns no widths, so that its predictions are unbiased. They are nil if its probabilities are not known.
func (m *AutoClassifierModel[T]) leftOutWithoutWidths(w kindWeights, l leastSquares[T], product *MultiGPClassifierModel[T]) []float64 {
	var log [][]float64
	var weights []float64
	if len(m.members) > 0 {
		first := m.members[0].leftOutLogProbabilities(l.class)
		if first == nil {
			return nil
		}
		log, weights = append(log, first), append(weights, w.processes)
	}
	if product != nil {
		log, weights = append(log, product.leftOutLogProbabilities(l.class)), append(weights, w.products)
	}
	if len(l.members) > 0 {
		log, weights = append(log, l.leftOut()), append(weights, w.leastSquares)
	}
	return mixedDensity(log, weights)
}

// kindWeights are the weights of the kinds of members in a pool of classes.
type kindWeights struct{ processes, leastSquares, products float64 }

// weighKinds weights the processes and the least-squares members by leave-one-out probabilities: of the processes only those that
// learn no widths count.
func (m *AutoClassifierModel[T]) weighKinds(l leastSquares[T], seed uint64) kindWeights {
	switch {
	case len(m.members) == 0:
		return kindWeights{leastSquares: 1}
	case len(l.members) == 0:
		return kindWeights{processes: 1}
	}
	first := m.members[0].leftOutLogProbabilities(l.class)
	if first == nil {
		return kindWeights{processes: 0.5, leastSquares: 0.5}
	}
	w := stack([][]float64{first, l.leftOut()}, seed)
	return kindWeights{processes: w[0], leastSquares: w[1]}
}

// leftOutOfKinds returns the logarithms of the leave-one-out probabilities of the samples' classes of the pool with the weights w. They
// are somewhat too high, because leave-one-out does not repeat the learning of widths.
func (m *AutoClassifierModel[T]) leftOutOfKinds(w kindWeights, l leastSquares[T]) []float64 {
	var log [][]float64
	var weights []float64
	for _, member := range m.members {
		log, weights = append(log, member.leftOutLogProbabilities(l.class)), append(weights, w.processes/float64(len(m.members)))
	}
	if len(l.members) > 0 {
		log, weights = append(log, l.leftOut()), append(weights, w.leastSquares)
	}
	return mixedDensity(log, weights)
}

// clearlyWorse reports whether a member's leave-one-out predictions of the training samples' classes are clearly
// worse than the first member's: by a mean difference of log probabilities of more than two standard errors. It reports false if
// the log probabilities of one of them are not known, and nil.
// Leave-one-out is too optimistic where widths were learned, so it cannot show that such a member is better.
// A member that is worse all the same only makes the mean less certain.
func clearlyWorse(log, first []float64) bool {
	return first != nil && log != nil && clearlyLess(log, first, 2)
}

// leftOutLogProbabilities returns the logarithms of the leave-one-out probabilities of the training samples'
// classes, or nil if the fit did not compute them.
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

// poolPlan holds the samples that Auto fits to, and the views of each member.
type poolPlan struct {
	rows    []int    // the samples that are used, ascending
	of      int      // samples there are
	views   []View   // of these samples
	leftOut []string // what the default kernels left out
	notes   []string // on the scale of the target, and on doubtful views
	members []plannedMember
}

type plannedMember struct {
	name  string
	views []View
}

// newPoolPlan chooses at most most samples (0: DefaultMaxSamples) and the kernels for
// the views of samples with the given targets, which may lack views if gaps is true. class holds the samples' classes, nil for targets.
// Which samples are chosen does not depend on their order.
func newPoolPlan(views []View, target []float64, class []int, most int, seed uint64, gaps bool) (p poolPlan, err error) {
	if most <= 0 {
		most = DefaultMaxSamples
	}
	n := len(target)
	p.of = n
	views, open, whole, err := checkPoolViews(views, n, gaps)
	if err != nil {
		return p, err
	}
	some := views
	p.rows = vec.UpTo(n)
	if n > most && !whole {
		p.rows = sampleByContent(views, target, class, most, seed)
		some = takeRows(views, p.rows)
	}
	p.views = some
	if !open {
		p.members = []plannedMember{{"the kernels given", some}}
		return p, nil
	}
	return p, p.plan(some, gaps)
}

// plan adds the members for views to the plan. At least one of the views has no kernel.
func (p *poolPlan) plan(some []View, gaps bool) error {
	for _, m := range autoMembers {
		if gaps && m.set&(KernelsARD|KernelsARDRanks) != 0 {
			p.leftOut = append(p.leftOut, m.name+": left out, for widths are not learned from samples that lack views")
			continue
		}
		made, notes, err := FillViews(m.set, some)
		if err != nil {
			return err
		}
		for _, note := range notes {
			if !slices.Contains(p.leftOut, note) {
				p.leftOut = append(p.leftOut, note)
			}
		}
		if need := 2 * columnsOf(some); m.set == KernelsAdditive && countViews(some) > 1 && len(p.rows) < need {
			p.leftOut = append(p.leftOut, fmt.Sprintf("%s: left out, for of several views they take two samples a feature, %d", m.name, need))
			continue
		}
		if need := samplesFor(made); len(p.rows) < need {
			p.leftOut = append(p.leftOut, fmt.Sprintf("%s: left out, for its widths are to be learned from %d samples or more", m.name, need))
			continue
		}
		p.members = append(p.members, plannedMember{m.name, made})
	}
	return nil
}

// columnsOf counts the features of the views without a kernel.
func columnsOf(views []View) (n int) {
	for _, v := range views {
		if v.Kernel == nil {
			n += gram.Sight{Columns: v.Columns}.Cols(v.X.Cols)
		}
	}
	return n
}

// checkPoolViews checks the views of n samples, which may lack views if gaps is true, and records where they come from. It also reports
// whether some views have no kernel (open), and whether some hold kernels or distances between all samples (whole).
func checkPoolViews(views []View, n int, gaps bool) (checked []View, open, whole bool, err error) {
	views = slices.Clone(views)
	for i := range views {
		v := &views[i]
		if err := checkViewNames(v, i); err != nil { // remarks name also views that the fit drops
			return nil, false, false, err
		}
		v.from = i + 1
		arg := v.argument(i)
		if err := gram.CheckLayout(arg+".X", v.X); err != nil {
			return nil, false, false, err
		}
		switch {
		case v.X.Rows != n:
			return nil, false, false, fmt.Errorf("mkl: %s: X is %d×%d where y has %d samples (samples are rows)", v.label(i), v.X.Rows, v.X.Cols, n)
		case v.X.Cols == 0:
			return nil, false, false, fmt.Errorf("mkl: %s: X has no columns", v.label(i))
		}
		if err := checkValues(arg+".X", v.X, gaps && !isGiven(*v)); err != nil {
			return nil, false, false, err
		}
		open = open || v.Kernel == nil
		whole = whole || isGiven(*v)
	}
	if err := checkShared(views); err != nil {
		return nil, false, false, err
	}
	return views, open, whole, nil
}

// samplesFor returns the fewest samples for views with learned widths, two for each amplitude and width, and 0
// for other views. With fewer samples the widths fit the noise, and leave-one-out prefers such
// widths, because all samples shaped them.
func samplesFor(views []View) int {
	parameters := 0
	for _, v := range views {
		if kernel.Learns(v.Kernel) {
			parameters += gram.Sight{Columns: v.Columns}.Cols(v.X.Cols)
		}
	}
	if parameters == 0 {
		return 0
	}
	return 2 * (parameters + len(views))
}

// autoMembers are the kernels of the members. The first learns no widths, so that its
// leave-one-out predictions are unbiased.
var autoMembers = []struct {
	name string
	set  KernelSet
}{
	{"broad kernels", KernelsBroad},
	{"one width a feature", KernelsARD},
	{"one width a feature's rank", KernelsARDRanks},
	{"single features", KernelsAdditive},
}

// fit calls the given function for each member that there is time for. each is the forecast time of one member, in seconds. A member that
// is not useful is dropped before the next one is fitted: its factors may take most of the memory. The first member is always useful.
func (p *poolPlan) fit(
	settings Fitting, limit time.Duration, each float64, fit func(views []View, f Fitting) (model Model, useful bool, err error),
) (pool, error) {
	if err := checkNotes(settings.Notes); err != nil {
		return pool{}, err
	}
	out := pool{of: p.of, remarks: slices.Concat(p.leftOut, p.notes)}
	for i, member := range p.members {
		if limit > 0 && i > 0 && float64(each*float64(i+1)) > limit.Seconds() {
			out.left = append(out.left, member.name)
			continue
		}
		m, useful, err := fit(member.views, settings.ofMember(i+1, len(p.members)))
		if err != nil {
			return out, err
		}
		if !useful {
			out.trace.follow(m.Trace(), false)
			out.dropped = append(out.dropped, member.name)
			continue
		}
		out.names = append(out.names, member.name)
		out.add(m)
	}
	out.notes = maps.Clone(settings.Notes)
	return out, nil
}

// ofMember returns the settings of the fit of a pool's member. The pool keeps the notes, and its progress says which member is fitted.
func (f Fitting) ofMember(member, members int) Fitting {
	f.Notes = nil
	if report := f.Progress; report != nil {
		f.Progress = func(q Progress) {
			q.Member, q.Members = member, members
			report(q)
		}
	}
	return f
}

func (a *AutoClassifier[T]) fitting() *fitting {
	return &fitting{Fitting: a.Fitting, Ascent: a.Climb.ascent(), limit: "MaxSteps", groups: a.Groups, missingViews: a.MissingViews}
}

// EstimateMemory returns about how many bytes a fit of the given size takes.
// s.Kernels counts the views without a kernel, s.Outputs the classes. From 1000 samples on it supposes that
// the pool keeps half of its members, and a pool that keeps more takes more.
func (a AutoClassifier[T]) EstimateMemory(s FitSize) int64 {
	if a.MissingViews {
		a.MaxSamples = exactLimit(a.MaxSamples)
	}
	if atScale(s.Samples, a.MaxSamples, s.Basis > 0) {
		landmarks := LandmarkClassifier[T]{Fitting: a.Fitting}.EstimateMemory(s)
		return max(landmarks, a.exactMemory(s, leastExactRows), vecchia.Memory(min(s.Samples, mostLocalRows), s.Kernels, functions(s.Outputs)))
	}
	need := autoMemory(a.fitting(), s, a.MaxSamples, functions(s.Outputs), 0, true)
	if s.Kernels > 1 { // the table
		s.Kernels, s.Columns = 1, 0
		need += autoMemory(a.fitting(), s, a.MaxSamples, functions(s.Outputs), 0, true)
	}
	return need
}

// exactMemory estimates the bytes of the exact members of a pool of many samples, each fitted to rows samples.
func (a AutoClassifier[T]) exactMemory(s FitSize, rows int) int64 {
	s.Samples = rows
	return autoMemory(a.fitting(), s, rows, functions(s.Outputs), 0, true)
}
