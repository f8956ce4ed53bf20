package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/internal/special"
)

// poolRule says how the members of a pool were weighted.
type poolRule string

const (
	stacked  poolRule = "stacked"  // by their leave-one-out densities
	averaged poolRule = "averaged" // all members have equal weights
	byKind   poolRule = "by kind"  // equal weights within each of two kinds; the kinds by their leave-one-out probabilities
	weighed  poolRule = "weighed"  // by their densities of held-out samples
)

// pool holds what pools of targets and pools of classes have in common.
type pool struct {
	record
	names   []string  // of the members
	weights []float64 // of the members, which sum to one
	rule    poolRule
	of      int      // number of samples that there were
	left    []string // members that there was no time for
	dropped []string // members whose weight was small, or that clearly fail
	remarks []string // what the default kernels left out
	viewTable

	models      []Model
	onLandmarks bool // members see different parts of very many samples
}

// add adds a member. Its trace follows the traces of the members before it.
func (p *pool) add(m Model) {
	p.trace.follow(m.Trace(), len(p.models) == 0)
	p.models = append(p.models, m)
}

// follow adds the trace of a further model, or of the first one.
func (t *Trace) follow(next Trace, first bool) {
	if first {
		*t = Trace{Converged: true, Reason: next.Reason}
	}
	t.Sweeps += next.Sweeps
	t.Bounds = append(t.Bounds, next.Bounds...)
	if !next.Converged && t.Converged {
		t.Converged, t.Reason = false, next.Reason
	}
}

// Samples returns the number of training samples that the members were fitted to.
func (p *pool) Samples() int { return p.models[0].Samples() }

// Inputs describes the matrices that a prediction takes, one for each distinct X of
// the views, in their order. The indices of the views refer to the first member's views.
func (p *pool) Inputs() []ModelInput { return p.models[0].Inputs() }

// Bound returns NaN: members with different kernels have no common bound.
func (p *pool) Bound() float64 { return math.NaN() }

// KernelWeights returns the weights of all members' kernels, member after member.
// Each weight is multiplied by the weight of the member. It is active among the weights of its member: the functions of
// two members, above all of classes, can differ in size by orders of magnitude.
func (p *pool) KernelWeights() (all []KernelWeight) {
	for i, m := range p.models {
		for _, w := range m.KernelWeights() {
			if p.names[i] != AllColumns || !strings.Contains(w.View, AllColumns) { // a kernel of the table names it
				w.View = p.names[i] + ": " + w.View
			}
			w.Mean *= p.weights[i]
			w.SD *= p.weights[i]
			w.Active = w.Active && p.weights[i] > 0
			all = append(all, w)
		}
	}
	return all
}

// Collapsed lists the outputs whose function vanishes in every member.
func (p *pool) Collapsed() []int {
	out := p.models[0].Collapsed()
	for _, m := range p.models[1:] {
		also := m.Collapsed()
		out = slices.DeleteFunc(out, func(o int) bool { return !slices.Contains(also, o) })
	}
	return out
}

// Members returns the names of the members and their weights in the pool, which add up to 1.
func (p *pool) Members() (names []string, weights []float64) {
	return slices.Clone(p.names), slices.Clone(p.weights)
}

// describe returns what String of a model returns.
func (p *pool) describe(what string) string {
	return fmt.Sprintf("pool of %d %s on %d samples", len(p.models), what, p.Samples())
}

// Story says in three sentences, one a line, which members were tried, which were kept and why.
func (p *pool) Story() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Tried: sums of Gaussian processes on %s.", listed(slices.Concat(p.names, p.dropped)))
	if !p.onLandmarks && p.Samples() < p.of {
		fmt.Fprintf(&b, " Each saw %d of the %d samples, chosen by chance.", p.Samples(), p.of)
	}
	if p.left != nil {
		fmt.Fprintf(&b, " There was no time for %s.", listed(p.left))
	}
	for _, r := range p.remarks {
		fmt.Fprintf(&b, " Note: %s.", r)
	}
	if len(p.names)+len(p.dropped) == 1 {
		b.WriteString("\n")
		return b.String()
	}
	shares := make([]string, len(p.names))
	for i, n := range p.names {
		shares[i] = fmt.Sprintf("%s %.0f %%", n, 100*p.weights[i])
	}
	fmt.Fprintf(&b, "\nKept: %s.\n", strings.Join(shares, ", "))
	switch p.rule {
	case weighed:
		fmt.Fprintf(&b, "Why: shares are what predictions of %d samples held out call for; small ones are dropped.\n", heldOut(p.of))
	case stacked:
		b.WriteString("Why: shares are what predictions of the training targets, each from all others, call for; small ones are dropped.\n")
	default:
		b.WriteString("Why: over many sets of data the mean of their probabilities predicts better than each of them, and no score of the training samples chooses between them reliably")
		if p.dropped != nil {
			b.WriteString("; dropped is what predicts the training labels, each from all others, clearly worse than the first")
		}
		if p.rule == byKind {
			b.WriteString("; the shares of least squares, of products of features and of the columns as one table are what predictions of the training labels, each from all others, call for")
		}
		b.WriteString(".\n")
	}
	return b.String()
}

// listed joins names by semicolons and "and".
func listed(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], "; ") + "; and " + names[last]
}

// AutoModel is a fitted [Auto]: a mixture of multiple Gaussian processes. It is
// immutable and safe for concurrent use.
type AutoModel struct {
	pool
	members   []*MultiGPModel
	landmarks *LandmarkGPModel // of very many samples, else nil
	trees     *treeModel       // likewise
	local     *localModel      // likewise
	table     *tableModel      // of several views, else nil; it follows the members
	poolScale                  // of the targets that members learn
	edges     edges            // of very many samples, of what members see
	levels    *levels          // likewise, nil if no column has many levels
}

// Kind returns "pool".
func (m *AutoModel) Kind() string { return "pool" }

// Targets returns 1.
func (m *AutoModel) Targets() int { return 1 }

// NoiseSD returns the root of the members' mean noise variance, in the target's
// units: a slice of one. Where the noise depends on the prediction, it is the noise at the mean of what was learned.
func (m *AutoModel) NoiseSD() []float64 {
	var variance float64
	for i, w := range m.weights {
		sd := m.models[i].(TargetModel).NoiseSD()[0]
		variance += float64(w * sd * sd)
	}
	return []float64{m.noiseSD(math.Sqrt(variance))}
}

// Outputs reports the noise that the fit learned for the target.
func (m *AutoModel) Outputs() []ModelOutput { return []ModelOutput{{NoiseSD: m.NoiseSD()[0]}} }

// Predict returns the predictive mean and variance, noise included, for each sample. The arguments and
// errors are as in [TargetModel.PredictTargets].
func (m *AutoModel) Predict(x ...Features) (mean, variance []float64, err error) {
	return predictOne(m, x)
}

// PredictTargets is Predict with options. The variance is the mixture's: the
// mean of the members' variances and the variance of their means, times a factor for the predicted mean where samples held
// out call for it. A feature of a pool of very many samples that is more than a standard deviation beyond the training samples counts as
// if it were there. Members that learn the target's logarithm or square root predict a log-normal target, or the square of a normal one.
func (m *AutoModel) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	meanOnly := opt.MeanOnly
	opt.MeanOnly = meanOnly && !m.needsVariance()
	x, shift := m.levels.matrices(x)
	x = m.edges.matrices(x)
	out, err := m.mixed(func(i int) (*Prediction, error) {
		return m.models[i].(TargetModel).PredictTargets(ctx, opt, x...)
	})
	if err != nil {
		return nil, err
	}
	shift.add(out)
	m.restore(out)
	if meanOnly {
		out.Variance = nil
	}
	return out.checked()
}

// mixed returns the mean and, if the members have variances, the variance of the mixture of
// the members' predictions.
func (m *AutoModel) mixed(predict func(member int) (*Prediction, error)) (out *Prediction, err error) {
	var before float64 // weight of the members so far
	for i, w := range m.weights {
		p, err := predict(i)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = newPrediction(1, len(p.Mean[0]), PredictOptions{MeanOnly: p.Variance == nil})
		}
		var of, variance []float64
		if p.Variance != nil {
			of, variance = out.Variance[0], p.Variance[0]
		}
		before += w
		mix(out.Mean[0], of, shareUpTo(w, before), p.Mean[0], variance)
	}
	return out, nil
}

// shareUpTo returns the share of a weight in the sum of the weights up to it. A file may have members without weight, also as the first ones.
func shareUpTo(w, sum float64) float64 {
	if w == 0 {
		return 0
	}
	return w / sum
}

// String describes the model in one line.
func (m *AutoModel) String() string {
	if m.onLandmarks {
		return fmt.Sprintf("pool of %d Gaussian processes, for %d samples", len(m.models), m.of)
	}
	return m.describe("multiple Gaussian processes")
}

// KernelSpreads returns the spreads of all members' kernels, member after member, in the order of
// KernelWeights. It takes one matrix for each of Inputs.
func (m *AutoModel) KernelSpreads(ctx context.Context, opt PredictOptions, x ...Features) (all []float64, err error) {
	x, _ = m.levels.matrices(x)
	return m.pool.KernelSpreads(ctx, opt, x...)
}

// Landmarks returns the member on landmarks, or nil if there is no such member. Where columns of categories have effects of their levels,
// it predicts the target less these effects, by features that have the effects in the places of the codes.
func (m *AutoModel) Landmarks() *LandmarkGPModel { return m.landmarks }

// Summary describes the model in words, line by line.
func (m *AutoModel) Summary() string {
	return fmt.Sprintf("%s\n%s%snoise SD %.4g\n%s", m, m.Story(), m.trace.outcome(), m.NoiseSD()[0], summarizeActive(m.KernelWeights()))
}

// leftOutDensity returns the leave-one-out log densities of the training targets, on the scale
// where they have mean 0 and standard deviation 1. In the targets' own units all members
// would have the same additional term, which would only add rounding.
func (m *MultiGPModel) leftOutDensity(y []float64) []float64 {
	out := make([]float64, len(y))
	l := m.leaveOneOut[0]
	for i, v := range y {
		if l.LogProbability != nil {
			out[i] = l.LogProbability[i]
			continue
		}
		d := (v-m.target.mean)/m.target.sd - l.Mean[i]
		out[i] = -0.5 * (d*d/l.Variance[i] + special.Log(2*math.Pi*l.Variance[i]))
	}
	return out
}

// AutoClassifierModel is a fitted [AutoClassifier]: the mean of multiple Gaussian
// process classifiers. It is immutable and safe for concurrent use.
type AutoClassifierModel[T comparable] struct {
	pool
	members    []*MultiGPClassifierModel[T]
	indicators []*indicatorModel[T]        // which follow the members
	landmarks  *LandmarkClassifierModel[T] // of very many samples, else nil
	trees      *treeClassModel[T]          // likewise
	local      *localClassModel[T]         // likewise
	table      *tableClassModel[T]         // of several views, else nil; it follows the indicators
	levels     *levelOdds                  // of very many samples, nil if no column has many levels
}

// Kind returns "pool-classifier".
func (m *AutoClassifierModel[T]) Kind() string { return "pool-classifier" }

// member returns member i.
func (m *AutoClassifierModel[T]) member(i int) ClassModel[T] { return m.models[i].(ClassModel[T]) }

// Classes returns the classes in the order of probabilities and decisions.
func (m *AutoClassifierModel[T]) Classes() []T { return m.member(0).Classes() }

// Inputs is as for [AutoModel].
func (m *AutoClassifierModel[T]) Inputs() []ModelInput { return m.levels.inputs(m.pool.Inputs()) }

// KernelSpreads is as for [AutoModel].
func (m *AutoClassifierModel[T]) KernelSpreads(ctx context.Context, opt PredictOptions, x ...Features) (all []float64, err error) {
	if x, err = m.levels.matrices(m.Inputs(), x); err != nil {
		return nil, err
	}
	return m.pool.KernelSpreads(ctx, opt, x...)
}

// Landmarks returns the member on landmarks, or nil if there is no such member. Where columns of categories have effects of their levels,
// it sees the effects in the places of the codes, and behind the columns of the inputs if there are several classes.
func (m *AutoClassifierModel[T]) Landmarks() *LandmarkClassifierModel[T] { return m.landmarks }

// Outputs reports what the fit learned for the classes. Two classes are one output.
func (m *AutoClassifierModel[T]) Outputs() []ModelOutput {
	return make([]ModelOutput, functions(len(m.Classes())))
}

// Predict returns the most probable class of each sample and the probabilities
// of all classes, [sample][class]. The arguments and errors are as in [ClassModel.PredictClasses].
func (m *AutoClassifierModel[T]) Predict(x ...Features) (labels []T, probability [][]float64, err error) {
	return mostProbable(m, x)
}

// PredictClasses is Predict with options, and with decision values. Probabilities and decisions are the weighted
// means of the members'.
func (m *AutoClassifierModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	x, err := m.levels.matrices(m.Inputs(), x)
	if err != nil {
		return nil, err
	}
	var out *ClassPrediction[T]
	for i, w := range m.weights {
		p, err := m.member(i).PredictClasses(ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = newClassPrediction[T](len(p.Label), len(m.Classes()), opt)
		}
		for t := range p.Label {
			for c := range out.Decision[t] {
				out.Decision[t][c] += float64(w * p.Decision[t][c])
				if p.Probability != nil {
					out.Probability[t][c] += float64(w * p.Probability[t][c])
				}
			}
		}
	}
	return out.labelled(m.Classes())
}

// String describes the model in one line.
func (m *AutoClassifierModel[T]) String() string {
	if m.onLandmarks {
		return fmt.Sprintf("pool of %d classifiers of %d classes, for %d samples", len(m.models), len(m.Classes()), m.of)
	}
	return m.describe(fmt.Sprintf("multiple Gaussian process classifiers of %d classes", len(m.Classes())))
}

// Summary describes the model in words, line by line.
func (m *AutoClassifierModel[T]) Summary() string {
	return fmt.Sprintf("%s\n%s%s%s", m, m.Story(), m.trace.outcome(), summarizeActive(m.KernelWeights()))
}
