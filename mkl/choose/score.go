package choose

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// Truth holds the true value of each sample: one of Numbers, Classes, Counts, Times and Targets is set.
type Truth struct {
	Numbers []float64
	Classes []int          // counted from 0
	Counts  []float64      // whole numbers from 0 on
	Times   []mkl.Lifetime // what is known of the times of events

	// At is the time at which predictions of times get their Brier score; 0 means the median of all times, censored
	// times included.
	At float64

	// Targets are several truths of the same samples, all of them numbers or all of them
	// classes. NaN or -1 stands for a value that is not known.
	Targets []Truth

	brier []float64 // of times: weights of the samples in the Brier score; nil without such a score
}

// Kind is the kind of true values: numbers, classes, counts or times.
type Kind int

// Kinds of truths.
const (
	NumberTruth Kind = iota
	ClassTruth
	CountTruth
	TimeTruth
)

// Kind returns what the values are, of the first target if there are several.
func (t Truth) Kind() Kind {
	switch {
	case len(t.Targets) > 0:
		return t.Targets[0].Kind()
	case t.Classes != nil:
		return ClassTruth
	case t.Counts != nil:
		return CountTruth
	case t.Times != nil:
		return TimeTruth
	}
	return NumberTruth
}

// samples returns the number of samples.
func (t Truth) samples() int {
	if t.Targets != nil {
		return t.Targets[0].samples()
	}
	return max(len(t.Numbers), len(t.Classes), len(t.Counts), len(t.Times))
}

// numbers returns the values that are numbers or counts.
func (t Truth) numbers() []float64 {
	if t.Counts != nil {
		return t.Counts
	}
	return t.Numbers
}

// Of returns the truth of the samples rows.
func (t Truth) Of(rows []int) (some Truth) {
	switch {
	case t.Targets != nil:
		for _, own := range t.Targets {
			some.Targets = append(some.Targets, own.Of(rows))
		}
	case t.Classes != nil:
		some.Classes = pick(t.Classes, rows)
	case t.Counts != nil:
		some.Counts = pick(t.Counts, rows)
	case t.Times != nil:
		some.Times, some.At = pick(t.Times, rows), t.At
		if t.brier != nil {
			some.brier = pick(t.brier, rows)
		}
	default:
		some.Numbers = pick(t.Numbers, rows)
	}
	return some
}

// known lists the samples whose value of a target is known.
func (t Truth) known() (rows []int) {
	for i := range t.samples() {
		if t.Classes != nil && t.Classes[i] >= 0 || t.Classes == nil && !math.IsNaN(t.Numbers[i]) {
			rows = append(rows, i)
		}
	}
	return rows
}

func (t Truth) check() error {
	set := 0
	for _, is := range []bool{t.Numbers != nil, t.Classes != nil, t.Counts != nil, t.Times != nil, len(t.Targets) > 0} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return errors.New("choose: Truth needs Numbers, Classes, Counts, Times or Targets, and one of them only")
	case slices.ContainsFunc(t.Numbers, math.IsNaN):
		return fmt.Errorf("choose: Truth.Numbers[%d] is NaN", slices.IndexFunc(t.Numbers, math.IsNaN))
	}
	for i, y := range t.Counts {
		if !(y >= 0 && y == math.Trunc(y)) || math.IsInf(y, 1) {
			return fmt.Errorf("choose: Truth.Counts[%d] is %g: counts are whole numbers from 0 on", i, y)
		}
	}
	if err := t.checkTimes(); err != nil {
		return err
	}
	for o, own := range t.Targets {
		switch {
		case own.Targets != nil || (own.Numbers == nil) == (own.Classes == nil) || own.Kind() != t.Kind():
			return fmt.Errorf("choose: Truth.Targets[%d]: Numbers are needed for all targets, or Classes for all", o)
		case own.samples() != t.samples():
			return fmt.Errorf("choose: Truth.Targets[%d] has %d samples, not %d", o, own.samples(), t.samples())
		case len(own.known()) == 0:
			return fmt.Errorf("choose: Truth.Targets[%d] is not known of any sample", o)
		}
	}
	return nil
}

func pick[T any](all []T, rows []int) []T {
	some := make([]T, len(rows))
	for k, i := range rows {
		some[k] = all[i]
	}
	return some
}

// Prediction holds the predictions of samples, in their order: the Mean and Variance of
// numbers, the Probability of classes, the distributions of Counts with their Mean, or of Times, or one Prediction for each
// of several Targets.
type Prediction struct {
	Mean        []float64
	Variance    []float64   // with the noise; nil if it is not known
	Probability [][]float64 // [sample][class]

	// Distribution is the predicted distribution of numbers; nil means normal distributions with Mean and Variance. NLPD is of its method
	// LogDensity(sample int, y float64) float64, and of a normal distribution if it has none.
	Distribution Distribution

	Counts CountDistribution
	Times  TimeDistribution

	Targets []*Prediction
}

// Distribution is the predicted distribution of the numbers of samples, which count from 0.
type Distribution interface {
	CDF(sample int, y float64) float64  // probability that the number is at most y
	CRPS(sample int, y float64) float64 // continuous ranked probability score

	// Interval returns the ends of the central interval of a probability.
	Interval(sample int, probability float64) (lower, upper float64)
}

// densities is a [Distribution] with a density.
type densities interface {
	LogDensity(sample int, y float64) float64
}

// OfTargets is the prediction of one target of a model, with its own distribution.
func OfTargets(p *mkl.Prediction, target int) *Prediction {
	return &Prediction{Mean: p.Mean[target], Variance: p.Variance[target], Distribution: ofTarget{p, target}}
}

// ofTarget is the distribution of a target that a model predicted.
type ofTarget struct {
	all    *mkl.Prediction
	target int
}

func (d ofTarget) CDF(i int, y float64) float64        { return d.all.CDF(d.target, i, y) }
func (d ofTarget) CRPS(i int, y float64) float64       { return d.all.CRPS(d.target, i, y) }
func (d ofTarget) LogDensity(i int, y float64) float64 { return d.all.LogDensity(d.target, i, y) }
func (d ofTarget) Interval(i int, probability float64) (lower, upper float64) {
	return d.all.Interval(d.target, i, probability)
}

// ofRows is the distribution of some samples.
type ofRows struct {
	Distribution
	rows []int
}

func (d ofRows) CDF(k int, y float64) float64  { return d.Distribution.CDF(d.rows[k], y) }
func (d ofRows) CRPS(k int, y float64) float64 { return d.Distribution.CRPS(d.rows[k], y) }
func (d ofRows) Interval(k int, probability float64) (lower, upper float64) {
	return d.Distribution.Interval(d.rows[k], probability)
}

// denseRows is the distribution, with a density, of some samples.
type denseRows struct {
	ofRows
	all densities
}

func (d denseRows) LogDensity(k int, y float64) float64 { return d.all.LogDensity(d.rows[k], y) }

// someOf is the distribution of some samples.
func someOf(d Distribution, rows []int) Distribution {
	some := ofRows{d, rows}
	if all, ok := d.(densities); ok {
		return denseRows{some, all}
	}
	return some
}

// distribution is the predicted distribution of numbers.
func (p *Prediction) distribution() Distribution {
	switch {
	case p.Distribution != nil:
		return p.Distribution
	case p.Counts != nil:
		return countLaw{p.Counts}
	}
	return ofTarget{&mkl.Prediction{Mean: [][]float64{p.Mean}, Variance: [][]float64{p.Variance}}, 0}
}

// Of returns the prediction of the samples rows.
func (p *Prediction) Of(rows []int) *Prediction {
	some := &Prediction{}
	if p.Mean != nil {
		some.Mean = pick(p.Mean, rows)
	}
	if p.Variance != nil {
		some.Variance = pick(p.Variance, rows)
	}
	if p.Probability != nil {
		some.Probability = pick(p.Probability, rows)
	}
	if p.Distribution != nil {
		some.Distribution = someOf(p.Distribution, rows)
	}
	if p.Counts != nil {
		some.Counts = countsOfRows{p.Counts, rows}
	}
	if p.Times != nil {
		some.Times = timesOfRows{p.Times, rows}
	}
	for _, own := range p.Targets {
		some.Targets = append(some.Targets, own.Of(rows))
	}
	return some
}

// Score is a measure of predictions.
type Score int

// Scores, of numbers, of classes, of counts and of times.
const (
	RMSE        Score = iota // root mean squared error, in the targets' unit
	NLPD                     // mean negative log density of the truth, in nats; see [Prediction]
	CRPS                     // mean continuous ranked probability score, in the targets' unit
	Coverage                 // share of true values within the central 95 % interval
	PIT                      // distance of the probability integral transform from uniform; see [metrics.PITDistance]
	LogLoss                  // mean negative log probability of the true class, in nats
	Accuracy                 // share of samples whose most probable class is the true one
	Brier                    // Brier score of classes, between 0 and 2; of times at [Truth.At], see [metrics.CensoredBrier]
	LogScore                 // of counts and times: mean log probability or density of what is known of the truth, in nats
	Deviance                 // mean deviance of counts under Poisson distributions with the predicted means
	Concordance              // of times: Harrell's index of the predicted risks

	// RelativeRMSE is for several targets: the root of the mean over targets of the squared
	// error divided by the target's variance over all samples.
	RelativeRMSE
	endOfScores
)

// pitBins is the number of bins of PIT. PIT is no mean over samples, so that the folds' values have no meaningful mean. The shares of samples
// in the bins are means. Each fold keeps them under the scores endOfScores, endOfScores+1, …, and [pooled] adds them.
const pitBins = 20

var scoreNames = [...]string{"RMSE", "NLPD", "CRPS", "coverage", "PIT", "log loss", "accuracy", "Brier", "log score", "deviance", "concordance", "RMSE/SD"}

func (s Score) String() string {
	switch {
	case s >= 0 && s < endOfScores:
		return scoreNames[s]
	case s >= endOfScores && s < endOfScores+pitBins:
		return fmt.Sprintf("PIT in bin %d", s-endOfScores+1)
	}
	return fmt.Sprintf("Score(%d)", int(s))
}

// Scores lists the scores of one target with such a truth. The first ranks candidates by default.
func Scores(of Kind) []Score {
	switch of {
	case ClassTruth:
		return []Score{LogLoss, Accuracy, Brier}
	case CountTruth:
		return []Score{LogScore, Deviance, RMSE, CRPS, Coverage, PIT}
	case TimeTruth:
		return []Score{LogScore, Concordance, Brier, PIT}
	}
	return []Score{RMSE, NLPD, CRPS, Coverage, PIT}
}

// InAll is the score for several targets together that corresponds to s for one target.
func (s Score) InAll() Score {
	if s == RMSE {
		return RelativeRMSE
	}
	return s
}

// Ranks reports whether the score says which of two predictions is better. Coverage and PIT do not: a prediction that knows nothing may
// have the best of both.
func (s Score) Ranks() bool { return s != Coverage && s != PIT }

// Better reports whether a is a better score than b.
func (s Score) Better(a, b float64) bool {
	if s == Accuracy || s == LogScore || s == Concordance {
		return a > b
	}
	return a < b
}

// interval is the probability of the interval whose coverage is scored.
const interval = 0.95

// loss returns the score of predictions; for RMSE its square. The loss is a mean over samples, so that
// losses of parts can be averaged.
func (s Score) loss(t Truth, p *Prediction) (float64, error) {
	switch s {
	case RMSE:
		v, err := metrics.RMSE(t.numbers(), p.Mean)
		return v * v, err
	case LogScore:
		return logScoreOfCounts(t.Counts, p.Counts), nil
	case Deviance:
		return metrics.PoissonDeviance(t.Counts, p.Mean)
	case NLPD:
		return p.nlpd(t.Numbers)
	case CRPS, Coverage:
		return s.byDistribution(t, p.distribution())
	case LogLoss:
		return metrics.LogLoss(t.Classes, p.Probability)
	case Accuracy:
		predicted := make([]int, len(p.Probability))
		for i, row := range p.Probability {
			if len(row) > 0 {
				predicted[i] = slices.Index(row, slices.Max(row))
			}
		}
		return metrics.Accuracy(t.Classes, predicted)
	case Brier:
		return metrics.Brier(t.Classes, p.Probability)
	}
	return math.NaN(), fmt.Errorf("choose: there is no %v", s)
}

// nlpd is the mean negative log density of numbers.
func (p *Prediction) nlpd(truth []float64) (loss float64, err error) {
	normal, err := metrics.NLPD(truth, p.Mean, p.Variance)
	d, ok := p.Distribution.(densities)
	if err != nil || !ok {
		return normal, err
	}
	for i, y := range truth {
		loss -= d.LogDensity(i, y) / float64(len(truth))
	}
	return loss, nil
}

// byDistribution is the mean of CRPS or Coverage.
func (s Score) byDistribution(t Truth, d Distribution) (loss float64, err error) {
	n := float64(len(t.numbers()))
	for i, y := range t.numbers() {
		if s == CRPS {
			loss += d.CRPS(i, y) / n
		} else if lower, upper := d.Interval(i, interval); lower <= y && y <= upper {
			loss += 1 / n
		}
	}
	if math.IsNaN(loss) {
		return loss, fmt.Errorf("choose: the %v is not a number", s)
	}
	return loss, nil
}

// transform returns the probability integral transform of numbers or counts: the probabilities of less than the truth, and of no more.
func (p *Prediction) transform(t Truth) (below, upTo []float64) {
	if t.Counts != nil {
		for i, y := range t.Counts {
			b, u := p.Counts.CDF(i, y)
			below, upTo = append(below, min(b, 1)), append(upTo, min(u, 1))
		}
		return below, upTo
	}
	d := p.distribution()
	for i, y := range t.Numbers {
		upTo = append(upTo, min(d.CDF(i, y), 1))
	}
	return upTo, upTo
}

// addPIT adds the shares of the bins and their distance from uniform.
func addPIT(all map[Score]float64, below, upTo []float64) error {
	share, err := metrics.PIT(below, upTo, pitBins)
	if err != nil {
		return err
	}
	for k, v := range share {
		all[endOfScores+Score(k)] = v
	}
	all[PIT] = metrics.PITDistance(share)
	return nil
}

// pooled is the PIT of parts together.
func pooled(parts []map[Score]float64) Estimate {
	share, n := make([]float64, pitBins), 0.0
	for _, part := range parts {
		if _, ok := part[PIT]; !ok {
			continue
		}
		n++
		for k := range share {
			share[k] += part[endOfScores+Score(k)]
		}
	}
	for k := range share {
		share[k] /= n
	}
	return Estimate{metrics.PITDistance(share), math.NaN(), math.NaN(), math.NaN()}
}

// known reports whether a prediction contains the values that the score needs.
func (s Score) known(p *Prediction) bool {
	return s != NLPD && s != CRPS && s != Coverage && s != PIT || p.Variance != nil || p.Counts != nil
}

// value converts a mean loss to the score.
func (s Score) value(loss float64) float64 {
	if s == RMSE || s == RelativeRMSE {
		return math.Sqrt(loss)
	}
	return loss
}

// slope is the derivative of the score with respect to the mean loss.
func (s Score) slope(loss float64) float64 {
	switch {
	case s != RMSE && s != RelativeRMSE:
		return 1
	case loss > 0:
		return 0.5 / math.Sqrt(loss)
	}
	return 0 // a perfect prediction has no error to be uncertain about
}

// check returns an error if a prediction has another number of samples or classes than the truth.
func (p *Prediction) check(t Truth) error {
	n := t.samples()
	switch {
	case p == nil:
		return errors.New("choose: there is no prediction")
	case t.Classes != nil && len(p.Probability) != n:
		return fmt.Errorf("choose: probabilities of %d samples, not %d", len(p.Probability), n)
	case t.Counts != nil && p.Counts == nil:
		return errors.New("choose: there is no distribution of the counts")
	case t.Counts != nil && p.Counts.Samples() != n:
		return fmt.Errorf("choose: distributions of the counts of %d samples, not %d", p.Counts.Samples(), n)
	case t.Times != nil && p.Times == nil:
		return errors.New("choose: there is no distribution of the times")
	case t.Times != nil && p.Times.Samples() != n:
		return fmt.Errorf("choose: distributions of the times of %d samples, not %d", p.Times.Samples(), n)
	case t.Classes == nil && t.Times == nil && len(p.Mean) != n:
		return fmt.Errorf("choose: means of %d samples, not %d", len(p.Mean), n)
	}
	return nil
}

// losses returns the losses by score, for the scores that the prediction supports.
func (p *Prediction) losses(t Truth) (map[Score]float64, error) {
	if err := p.check(t); err != nil {
		return nil, err
	}
	if t.Times != nil {
		return p.ofTimes(t)
	}
	all := map[Score]float64{}
	for _, s := range Scores(t.Kind()) {
		if !s.known(p) {
			continue
		}
		if s == PIT {
			below, upTo := p.transform(t)
			if err := addPIT(all, below, upTo); err != nil {
				return nil, err
			}
			continue
		}
		v, err := s.loss(t, p)
		if err != nil {
			return nil, err
		}
		all[s] = v
	}
	return all, nil
}

// ofTargets returns the losses of every target over the samples whose value is known, and the losses of all targets
// together: their means, with squared errors divided by the targets' variances. A target without
// a known value has no losses.
func (p *Prediction) ofTargets(t Truth, variance []float64) (all map[Score]float64, each []map[Score]float64, err error) {
	if p == nil || len(p.Targets) != len(t.Targets) {
		return nil, nil, fmt.Errorf("choose: predictions of other than %d targets", len(t.Targets))
	}
	all = map[Score]float64{}
	count := map[Score]float64{}
	for o, truth := range t.Targets {
		own := p.Targets[o]
		if err := own.check(truth); err != nil {
			return nil, nil, fmt.Errorf("target %d: %w", o, err)
		}
		known := truth.known()
		if len(known) == 0 {
			each = append(each, nil)
			continue
		}
		losses, err := own.Of(known).losses(truth.Of(known))
		if err != nil {
			return nil, nil, fmt.Errorf("target %d: %w", o, err)
		}
		each = append(each, losses)
		for s, v := range losses {
			switch s {
			case CRPS:
				continue // targets have different units
			case RMSE:
				if !(variance[o] > 0) {
					continue // a constant target has no scale
				}
				v /= variance[o]
			}
			all[s.InAll()] += v
			count[s.InAll()]++
		}
	}
	for s, n := range count {
		all[s] /= n
	}
	if _, ok := all[PIT]; ok {
		all[PIT] = pooled([]map[Score]float64{all}).Value
	}
	return all, each, nil
}

// variances returns the variance of each target over the samples whose value is known.
func (t Truth) variances() (all []float64) {
	for _, own := range t.Targets {
		known := own.Of(own.known()).Numbers
		m := mean(known)
		var sum float64
		for _, v := range known {
			sum += float64((v - m) * (v - m))
		}
		all = append(all, sum/float64(len(known)))
	}
	return all
}
