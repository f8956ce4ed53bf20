package choose

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Result is the result of a [Validation] or of [Compare]: the scores of each candidate
// on each fold, or on each sample.
type Result struct {
	Names  []string  // of the candidates
	Errors [][]error // by candidate and fold: why it failed, or nil

	// Targets are the results of each target if there are several. This Result then holds the scores of all together.
	Targets []*Result

	At float64 // of times: the time of the Brier score; 0 without this score

	scores   []Score
	baseline []bool
	losses   [][]map[Score]float64 // by candidate and fold; nil if it failed
	parts    []Fold                // the folds; none of a single test set
	ratio    float64               // number of test samples divided by training samples
}

func newResult(scores []Score, candidates, units int) *Result {
	r := &Result{
		Names: make([]string, candidates), Errors: make([][]error, candidates),
		scores: scores, baseline: make([]bool, candidates),
		losses: make([][]map[Score]float64, candidates), parts: make([]Fold, units),
	}
	for c := range candidates {
		r.Errors[c], r.losses[c] = make([]error, units), make([]map[Score]float64, units)
	}
	return r
}

// Compare compares predictions of the same test samples. The models that made them must not
// have seen these samples.
func Compare(t Truth, names []string, predictions []*Prediction) (*Result, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	n := t.samples()
	if len(names) != len(predictions) || len(names) == 0 {
		return nil, fmt.Errorf("choose: %d names for %d predictions", len(names), len(predictions))
	}
	switch {
	case n == 0:
		return nil, errors.New("choose: there are no samples")
	case t.Targets != nil:
		return nil, errors.New("choose: Compare takes one target after another")
	}
	t, err := t.weighted()
	if err != nil {
		return nil, err
	}
	r := newResult(Scores(t.Kind()), len(names), n)
	copy(r.Names, names)
	r.parts, r.At = nil, t.At
	for c, p := range predictions {
		if _, err := p.losses(t); err != nil {
			return nil, fmt.Errorf("%s: %w", names[c], err)
		}
		if t.Times != nil {
			if r.losses[c], err = p.ofEachTime(t); err != nil {
				return nil, fmt.Errorf("%s: %w", names[c], err)
			}
			continue
		}
		for i := range n {
			losses, err := p.Of([]int{i}).losses(t.Of([]int{i}))
			if err != nil {
				return nil, fmt.Errorf("%s: sample %d: %w", names[c], i, err)
			}
			r.losses[c][i] = losses
		}
	}
	return r, nil
}

// Fold returns the score of a candidate on a fold. It returns false if the score is not known.
func (r *Result) Fold(candidate, fold int, s Score) (float64, bool) {
	v, ok := r.losses[candidate][fold][s]
	return s.value(v), ok
}

// Scores lists the scores that at least one candidate has.
func (r *Result) Scores() []Score {
	return slices.DeleteFunc(slices.Clone(r.scores), func(s Score) bool {
		return !slices.ContainsFunc(r.losses, func(of []map[Score]float64) bool {
			return slices.ContainsFunc(of, func(l map[Score]float64) bool { _, ok := l[s]; return ok })
		})
	})
}

// Ranking holds the candidates of a result and compares each with the best.
type Ranking struct {
	By   Score // the score that ranks them
	Best int   // row of the best
	Rows []Row // in the order of the candidates

	folds bool // contributions are folds, not samples
}

// Row is a candidate.
type Row struct {
	Name     string // of the candidate
	Baseline bool   // it only serves for comparison
	Failed   int    // number of failed folds

	// Scores are the means over the folds that did not fail. The root mean squared error is the root of the
	// mean over folds of its square.
	Scores map[Score]Estimate

	// Difference is the candidate's score Ranking.By minus the score of the best, over
	// the folds that both have.
	Difference Estimate
}

// Rank ranks the candidates. The best is the candidate with the best score among those without a failed fold,
// if there are any; of equal ones the first. It returns an error if no score can rank them.
func (r *Result) Rank(by Score) (*Ranking, error) {
	if !by.Ranks() || !slices.Contains(r.Scores(), by) {
		return nil, fmt.Errorf("choose: the candidates cannot be ranked by %v", by)
	}
	k := &Ranking{By: by, Best: -1, folds: r.parts != nil}
	for c, name := range r.Names {
		row := Row{Name: name, Baseline: r.baseline[c], Scores: map[Score]Estimate{}}
		for _, err := range r.Errors[c] {
			if err != nil {
				row.Failed++
			}
		}
		for _, s := range r.Scores() {
			losses := r.of(c, s, nil)
			switch {
			case len(losses) > 0 && s == PIT:
				row.Scores[s] = pooled(r.losses[c])
			case len(losses) > 0:
				row.Scores[s] = r.score(s, losses)
			}
		}
		k.Rows = append(k.Rows, row)
	}
	for c := range k.Rows {
		own, ok := k.Rows[c].Scores[by]
		if !ok || math.IsNaN(own.Value) {
			continue
		}
		if k.Best >= 0 {
			best := k.Rows[k.Best]
			whole, bestWhole := k.Rows[c].Failed == 0, best.Failed == 0
			if bestWhole && !whole || whole == bestWhole && !by.Better(own.Value, best.Scores[by].Value) {
				continue
			}
		}
		k.Best = c
	}
	if k.Best < 0 {
		return nil, fmt.Errorf("choose: no candidate has a %v", by)
	}
	for c := range k.Rows {
		k.Rows[c].Difference = r.Difference(c, k.Best, by)
	}
	return k, nil
}

// of lists the losses of a candidate, for the folds that are in other too.
func (r *Result) of(candidate int, s Score, other []map[Score]float64) (all []float64) {
	for k, losses := range r.losses[candidate] {
		v, ok := losses[s]
		if ok && other != nil {
			_, ok = other[k][s]
		}
		if ok {
			all = append(all, v)
		}
	}
	return all
}

// score computes a score from losses, with its uncertainty.
func (r *Result) score(s Score, losses []float64) Estimate {
	m := mean(losses)
	slope := s.slope(m)
	parts := make([]float64, len(losses))
	for k, v := range losses {
		parts[k] = v * slope
	}
	return estimate(s.value(m), parts, r.ratio)
}

// Difference is the score of candidate a minus the score of b, over the folds that both have.
// Its uncertainty is computed from the differences fold by fold. For the root mean squared error it is
// right to first order.
func (r *Result) Difference(a, b int, s Score) Estimate {
	x, y := r.of(a, s, r.losses[b]), r.of(b, s, r.losses[a])
	if len(x) == 0 {
		nan := math.NaN()
		return Estimate{nan, nan, nan, nan}
	}
	if a == b {
		return Estimate{}
	}
	mx, my := mean(x), mean(y)
	sx, sy := s.slope(mx), s.slope(my)
	parts := make([]float64, len(x))
	for k := range x {
		parts[k] = float64(x[k]*sx) - float64(y[k]*sy)
	}
	return estimate(s.value(mx)-s.value(my), parts, r.ratio)
}

func mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Recommendation says in one sentence which candidate to take, and how certain the choice is.
func (k *Ranking) Recommendation() string {
	best := k.Rows[k.Best]
	score := fmt.Sprintf("%v %.4g", k.By, best.Scores[k.By].Value)
	var like, simple []string // not significantly worse than the best
	for c, row := range k.Rows {
		if _, ok := row.Scores[k.By]; ok && c != k.Best && row.Difference.Zero() {
			if row.Baseline {
				simple = append(simple, row.Name)
			} else {
				like = append(like, row.Name)
			}
		}
	}
	others := slices.ContainsFunc(k.Rows, func(r Row) bool { return !r.Baseline })
	switch {
	case best.Baseline && others:
		return fmt.Sprintf("Recommendation: take none of the models: the baseline %s is best (%s).", best.Name, score)
	case len(simple) > 0:
		return fmt.Sprintf("Recommendation: %s is best (%s), but not significantly better than the baseline %s: "+
			"more samples or better features are needed to say whether it is worth its cost.",
			best.Name, score, list(simple))
	case len(like) > 0:
		are := "are"
		if len(like) == 1 {
			are = "is"
		}
		return fmt.Sprintf("Recommendation: take %s, the best (%s); %s %s not significantly worse, "+
			"so that other reasons may decide between them.", best.Name, score, list(like), are)
	case len(k.Rows) == 1:
		return fmt.Sprintf("Recommendation: %s is the only candidate (%s).", best.Name, score)
	}
	return fmt.Sprintf("Recommendation: take %s (%s): its difference from every other is more than "+
		"chance explains.", best.Name, score)
}

// list lists names in words.
func list(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
