package mkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
)

// processClassPredictor predicts classes by the functions of one classifier of Gaussian processes, or of several, whose
// probabilities it averages.
type processClassPredictor[T comparable] struct {
	inputs  []gram.Input
	classes []T
	members []classMember[T]
	order   []int // in which the members are predicted
	bank    processBank
	levels  *levelOdds // nil without effects of levels
	rows    reuse.Pool[levelRow]

	tolerance float64 // largest error of a probability
}

// classMember is one of several classifiers whose probabilities are averaged.
type classMember[T comparable] struct {
	weight    float64
	share     float64 // of the tolerance that is left when the member's turn comes, divided by the weight
	sharpness float64
	functions []pointFunction // one function for two classes, else one for each
	refines   bool            // all functions refine; see [processFunction.refines]

	indicators *indicatorFunction     // if not nil, it predicts instead of functions
	local      *localFunction         // likewise
	trees      *treeClassFunction     // likewise
	table      *tableClassFunction[T] // likewise
}

// Predictor prepares the model for predictions of single samples. Tolerance bounds the error of each probability.
// MeanOnly is an error, because it leaves no probabilities.
func (m *MultiGPClassifierModel[T]) Predictor(opt PredictorOptions) (*ClassPredictor[T], error) {
	if err := opt.checkClasses(); err != nil {
		return nil, err
	}
	opt = m.archived(opt)
	p := newProcessClassPredictor(m.design.Inputs, m.Classes(), opt)
	if err := p.add(m, opt, 1); err != nil {
		return nil, err
	}
	return p.ready(opt)
}

// Predictor prepares the model for predictions of single samples. Variances are in float32 where their bounds are within
// opt.Tolerance. MeanOnly is an error, because it leaves no probabilities.
func (m *LandmarkClassifierModel[T]) Predictor(opt PredictorOptions) (*ClassPredictor[T], error) {
	if err := opt.checkClasses(); err != nil {
		return nil, err
	}
	opt = m.archived(opt)
	p := newProcessClassPredictor(m.design.Inputs, m.Classes(), opt)
	p.addLandmarks(m, opt, 1)
	return p.ready(opt)
}

func (p *processClassPredictor[T]) addLandmarks(m *LandmarkClassifierModel[T], opt PredictorOptions, weight float64) {
	member := classMember[T]{weight: weight, sharpness: m.sharpness}
	for _, posterior := range m.posteriors {
		f := newLandmarkFunction(&m.plan.featurePlan, m.shift, posterior, opt, 1)
		member.functions = append(member.functions, pointFunction{landmarks: f})
	}
	p.members = append(p.members, member)
}

// Predictor prepares the model, with all its members, for predictions of single
// samples. The options are as in [MultiGPClassifierModel.Predictor].
func (m *AutoClassifierModel[T]) Predictor(opt PredictorOptions) (*ClassPredictor[T], error) {
	if err := opt.checkClasses(); err != nil {
		return nil, err
	}
	opt = m.archived(opt)
	p, err := m.mixture(opt)
	if err != nil {
		return nil, err
	}
	return p.ready(opt)
}

// mixture returns the predictor with all members. It is not complete yet.
func (m *AutoClassifierModel[T]) mixture(opt PredictorOptions) (*processClassPredictor[T], error) {
	p := newProcessClassPredictor(m.levels.points(m.models[0].(interface{ inputs() []gram.Input }).inputs()), m.Classes(), opt)
	if m.levels != nil {
		p.levels, p.rows = m.levels, reuse.NewPool(func() *levelRow { return &levelRow{} })
	}
	for i, model := range m.models {
		switch member := model.(type) {
		case *MultiGPClassifierModel[T]:
			if err := p.add(member, opt, m.weights[i]); err != nil {
				return nil, err
			}
		case *indicatorModel[T]:
			p.members = append(p.members, classMember[T]{weight: m.weights[i], indicators: member.function(&p.bank, opt)})
		case *LandmarkClassifierModel[T]:
			p.addLandmarks(member, opt, m.weights[i])
		case *treeClassModel[T]:
			p.members = append(p.members, classMember[T]{weight: m.weights[i], trees: member.function()})
		case *localClassModel[T]:
			p.members = append(p.members, classMember[T]{weight: m.weights[i], local: member.function(member.head, false)})
		case *tableClassModel[T]:
			table, err := member.mixture(opt)
			if err != nil {
				return nil, err
			}
			table.complete()
			p.members = append(p.members, classMember[T]{weight: m.weights[i], table: &tableClassFunction[T]{table, newTableRows()}})
		}
	}
	return p, nil
}

// ready returns the predictor once it has all members.
func (p *processClassPredictor[T]) ready(opt PredictorOptions) (*ClassPredictor[T], error) {
	if err := opt.archiveError(); err != nil {
		return nil, err
	}
	p.complete()
	return &ClassPredictor[T]{processes: p}, nil
}

// complete prepares the memory of predictions, once there are all members. The members with the fewest triangles are the first to be
// predicted, and what they leave of the tolerance is for the others. If the rows that a triangle needs grow with the logarithm of the
// tolerance, all triangles together need the fewest where each may have the same share of the tolerance, whatever its member's weight.
func (p *processClassPredictor[T]) complete() {
	p.order = vec.UpTo(len(p.members))
	slices.SortStableFunc(p.order, func(i, j int) int { return p.members[i].triangles() - p.members[j].triangles() })
	rest := 0
	for _, i := range slices.Backward(p.order) {
		m := &p.members[i]
		rest += m.triangles()
		m.share = float64(m.triangles()) / (float64(max(1, rest)) * m.weight)
	}
	p.bank.ready()
}

// triangles returns the number of triangles from which the member may leave rows out.
func (m *classMember[T]) triangles() (n int) {
	switch {
	case m.refines:
		return len(m.functions)
	case m.indicators != nil:
		return 1
	case m.table != nil:
		for i := range m.table.processes.members {
			n += m.table.processes.members[i].triangles()
		}
	}
	return n
}

func newProcessClassPredictor[T comparable](inputs []gram.Input, classes []T, opt PredictorOptions) *processClassPredictor[T] {
	return &processClassPredictor[T]{inputs: inputs, classes: classes, tolerance: opt.process(1), bank: processBank{classes: len(classes)}}
}

func (p *processClassPredictor[T]) add(m *MultiGPClassifierModel[T], opt PredictorOptions, weight float64) error {
	member := classMember[T]{weight: weight, sharpness: m.sharpness}
	for o := range m.posteriors {
		f, err := m.newProcessFunction(o, &p.bank, opt, 1)
		if err != nil {
			return err
		}
		f.complete(m.designs[o], opt)
		member.functions = append(member.functions, pointFunction{process: f})
	}
	member.refines = !slices.ContainsFunc(member.functions, func(f pointFunction) bool { return !f.process.refines() })
	if member.refines {
		p.bank.refines = max(p.bank.refines, len(member.functions))
	}
	p.members = append(p.members, member)
	return nil
}

func (p *processClassPredictor[T]) infos() (all []PredictorInfo) {
	for _, m := range p.members {
		if m.indicators != nil {
			all = append(all, m.indicators.info())
		}
		for i := range m.functions {
			all = append(all, m.functions[i].info())
		}
		if m.local != nil {
			all = append(all, m.local.info())
		}
		if m.trees != nil {
			all = append(all, m.trees.about)
		}
		if m.table != nil {
			all = append(all, m.table.processes.infos()...)
		}
	}
	return all
}

// predictBounded predicts one sample.
func (p *processClassPredictor[T]) predictBounded(probability []float64, x [][]float64) (class T, bound float64, err error) {
	K := len(p.classes)
	if probability != nil && len(probability) != K {
		return class, math.NaN(), fmt.Errorf("mkl: probability has length %d and there are %d classes", len(probability), K)
	}
	if err := checkPoint(p.inputs, x); err != nil {
		return class, math.NaN(), err
	}
	if p.levels != nil {
		r := p.rows.Take()
		defer p.rows.Put(r)
		x = p.levels.point(r, x)
	}
	s := p.bank.take()
	for stage := hasty; ; stage++ {
		bound = p.probabilities(s, x, stage, p.tolerance)
		if stage == exactly || bound <= p.tolerance {
			break
		}
	}
	if err = checkClasses(s.sum); err == nil {
		class = p.classes[vec.ArgMax(s.sum)]
		copy(probability, s.sum)
	}
	p.bank.pool.Put(s)
	if err != nil {
		return class, math.NaN(), fmt.Errorf("mkl: %w", err)
	}
	return class, bound, nil
}

// probabilities stores the probabilities of the sample x in s.sum, and returns a bound on their errors, which is 0 if
// stage is exactly. The bound should be at most the tolerance.
func (p *processClassPredictor[T]) probabilities(s *bankScratch, x [][]float64, stage stage, tolerance float64) (bound float64) {
	clear(s.sum)
	for _, i := range p.order {
		m := &p.members[i]
		bound += float64(m.weight * m.predict(&p.bank, s, x, stage, (tolerance-bound)*m.share))
		la.Axpy(m.weight, s.log, s.sum)
	}
	return bound
}

// predict stores the probabilities of the sample x in s.log, and returns a bound on their errors. A hasty stage may stop where the bound is
// no more than allowed.
func (m *classMember[T]) predict(b *processBank, s *bankScratch, x [][]float64, stage stage, allowed float64) (bound float64) {
	switch {
	case m.indicators != nil:
		return m.indicators.predict(b, s, x, stage, allowed, s.log)
	case m.trees != nil:
		m.trees.probabilities(x, s.log)
		return 0
	case m.local != nil:
		m.local.probabilities(x, s.log)
		return 0
	case m.table != nil:
		return m.table.probabilities(x, stage, allowed, s.log)
	case m.refines && stage == hasty:
		return m.refine(b, s, x, allowed)
	}
	moved := false
	for o := range m.functions {
		moves := s.setScore(o, m.functions[o].predict(b, s, x, stage))
		moved = moved || moves
	}
	return m.decide(s, moved)
}

// setScore stores the score of function o and its ends, and reports whether the ends differ.
func (s *bankScratch) setScore(o int, c vi.Certified) (moves bool) {
	z := c.Mean / math.Sqrt(c.Variance)
	positive, negative := special.LogNormalCDF(z), special.LogNormalCDF(-z)
	scoreTable{s.score}.set(0, o, positive, negative)
	move := oddsMove(c, z)
	s.low[o], s.high[o] = positive-negative-move, positive-negative+move
	return move != 0
}

// decide stores the probabilities of the scores in s.log, and returns a bound on their errors. moved says that the ends of some score differ.
func (m *classMember[T]) decide(s *bankScratch, moved bool) (bound float64) {
	sharpen(m.sharpness, s.score, s.log)
	for c, v := range s.log {
		s.log[c] = special.Exp(v)
	}
	if !moved {
		return 0
	}
	if len(m.functions) == 1 {
		// The odds of the first class are 1, the odds of the second come from the function.
		s.low[0], s.high[0], s.low[1], s.high[1] = 0, 0, s.low[0], s.high[0]
	}
	return largestMove(m.sharpness, s.log, s.low, s.high)
}

// largestMove bounds the error of any probability p_c = q_c/Σq, given that q_c lies between e^(b·low) and e^(b·high).
// p_c rises with q_c and falls with all others. low and high are overwritten.
func largestMove(b float64, p, low, high []float64) (most float64) {
	top := slices.Max(high)
	for c := range p {
		low[c], high[c] = special.Exp(b*(low[c]-top)), special.Exp(b*(high[c]-top))
	}
	least, all := vec.Total(low), vec.Total(high)
	for c, v := range p {
		q, rest := ends{low: low[c], high: high[c]}, ends{low: others(low, c, least), high: others(high, c, all)}
		from, to := q.share(rest)
		most = max(most, to-v, v-from)
	}
	return most
}

// others returns the sum of all elements of x but x[c]. sum is the sum of all, and no element is below 0. Beside an x[c] of more than half of the
// sum, the difference would lose the small ones.
func others(x []float64, c int, sum float64) float64 {
	if x[c] > 0.5*sum {
		return vec.Total(x[:c]) + vec.Total(x[c+1:])
	}
	return sum - x[c]
}

// oddsMove bounds the error of the log odds log Φ(z) − log Φ(−z), where z is the mean of a function divided by its standard
// deviation, given the bounds on mean and standard deviation. The slope
// φ(z)/(Φ(z)·Φ(−z)) of the log odds is 1.596 at 0, and grows by less than 1 per unit of |z|.
func oddsMove(c vi.Certified, z float64) float64 {
	if c.MeanError == 0 && c.SDError == 0 {
		return 0
	}
	least := max(c.LeastSD, math.Sqrt(c.Variance)-c.SDError)
	move := (c.MeanError + float64(math.Abs(z)*c.SDError)) / least
	return move * (1.6 + math.Abs(z) + move)
}
