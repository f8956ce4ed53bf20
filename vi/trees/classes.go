package trees

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Settings of the trees of classes.
const (
	seenShare  = 0.8  // of the samples, which a round's trees see
	sure       = 0.02 // a sample whose residual is smaller counts as sure
	sureShare  = 0.1  // of the sure samples that would be seen; each stands for ten
	classRate  = 0.05 // share of a height that is kept
	mostRate   = 0.3
	fullRounds = 300 // the rounds that classRate is for; fewer rounds keep more of each height

	mostRounds  = 800
	leastRounds = 20
	patience    = 20 // rounds without a better loss of the samples held out that end the fit

	leastCount   = 0.2 // samples that a class without any counts for
	wideFeatures = 256 // with more features, workers share the features of one tree and not the functions
)

// boosting is the state of a fit to classes.
type boosting struct {
	Process
	x         la.Matrix[float64]
	class     []int
	functions int // 1 for two classes: the log odds of the second
	rate      float64
	spent     float64
	all       float64
	stop      *work.Stop

	score, residual, curvature [][]float64 // [function][sample]
}

// booster is the memory of one worker.
type booster struct {
	*grower
	rows        []int32   // that a tree sees
	target      []float64 // [sample] residuals of the rows
	place       []uint8   // [sample] leaves
	score, prob []float64 // of a sample
}

// FitClasses infers the scores of classes from the samples x (n×d) and the class of each, a number from 0 to classes−1. The
// order of the samples must be random. Errors name values that are not finite. If ctx ends the error wraps its cause.
func (p Process) FitClasses(ctx context.Context, x la.Matrix[float64], class []int, classes int) (*ClassPosterior, error) {
	p, err := p.checked(x, len(class))
	if err != nil {
		return nil, err
	}
	if classes < 2 {
		return nil, fmt.Errorf("trees: %d classes where at least two are needed", classes)
	}
	for i, c := range class {
		if c < 0 || c >= classes {
			return nil, fmt.Errorf("trees: class: entry %d is %d of %d classes", i, c, classes)
		}
	}
	b := &boosting{Process: p, x: x, class: class, functions: classes, stop: new(work.Stop)}
	if classes == 2 {
		b.functions = 1
	}
	b.stop.Heed(ctx)
	n := x.Rows
	rounds := p.rounds(n, x.Cols, b.functions)
	b.rate = min(mostRate, classRate*max(1, float64(fullRounds)/float64(rounds)))
	b.all = ForecastClasses(n, x.Cols, b.functions, rounds)
	held := &heldClasses{best: math.Inf(1)}
	if _, err := b.run(n-p.Held, rounds, held); err != nil {
		return nil, err
	}
	b.all = ForecastClasses(n, x.Cols, b.functions, held.rounds)
	state, err := b.run(n, held.rounds, nil)
	if err != nil {
		return nil, err
	}
	return &ClassPosterior{HeldProbability: held.probability, HeldLoss: held.best, Spent: b.spent, state: state}, nil
}

// heldClasses are the probabilities of the samples held out, in the round where they were best.
type heldClasses struct {
	best        float64 // mean of −log of the probability of the sample's class
	rounds      int
	probability [][]float64
	next        [][]float64
}

// level returns the scores without trees: the logarithms of the classes' shares of the first samples, or for two classes their
// difference.
func (b *boosting) level(train int) []float64 {
	K := max(2, b.functions)
	count := slices.Repeat([]float64{leastCount}, K)
	for _, c := range b.class[:train] {
		count[c]++
	}
	for c, v := range count {
		count[c] = special.Log(v / (float64(train) + float64(leastCount*float64(K))))
	}
	if b.functions == 1 {
		return []float64{count[1] - count[0]}
	}
	return count
}

// probabilities stores the probabilities of sample i in w.prob.
func (b *boosting) probabilities(w *booster, i int) {
	for f, s := range b.score {
		w.score[f] = s[i]
	}
	Probabilities(w.score, w.prob)
}

// crew returns workers for at least so many tasks.
func (b *boosting) crew(train, tasks int) *work.Crew[*booster] {
	workers := b.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	bins := bin(b.x, train)
	share := 1
	if b.together() {
		share = workers
	}
	crew := work.NewCrew(workers, tasks, func(int) *booster {
		g := &grower{binned: bins, weight: make([]float64, train), least: leastRows(train), most: leavesOfTree}
		g.crew = work.NewCrew(share, b.x.Cols, func(int) struct{} { return struct{}{} })
		g.crew.Stop = b.stop
		return &booster{
			grower: g, target: make([]float64, train), place: make([]uint8, b.x.Rows),
			score: make([]float64, b.functions), prob: make([]float64, max(2, b.functions)),
		}
	})
	crew.Stop = b.stop
	return crew
}

// together reports whether workers grow one tree together.
func (b *boosting) together() bool { return b.functions == 1 || b.x.Cols > wideFeatures }

// run grows trees on the first samples, a tree for each function in each of so many rounds. If held is not nil, it stores the round in
// which the other samples have the best probabilities, and ends the fit when they become no better.
func (b *boosting) run(train, rounds int, held *heldClasses) (ClassState, error) {
	n := b.x.Rows
	s := ClassState{Level: b.level(train)}
	trees, heights := make([][]Tree, b.functions), make([][][]float64, b.functions)
	b.score, b.residual, b.curvature = nil, nil, nil
	for _, v := range s.Level {
		b.score = append(b.score, slices.Repeat([]float64{v}, n))
		b.residual, b.curvature = append(b.residual, make([]float64, train)), append(b.curvature, make([]float64, train))
	}
	tiles := (n + tileRows - 1) / tileRows
	crew := b.crew(train, max(tiles, b.functions))
	b.spend(binSeconds(train, b.x.Cols))
	src := random.Source(b.Seed)
	seen := min(seenShare, float64(mostGrown)/float64(train))
	draw := make([]float64, train)
	for round := range rounds {
		err := crew.First((train+tileRows-1)/tileRows, func(w *booster, task int) error {
			for i := task * tileRows; i < min(train, (task+1)*tileRows); i++ {
				b.differentiate(w, i)
			}
			return nil
		})
		if err != nil {
			return s, err
		}
		for i := range draw {
			draw[i] = src.Float64()
		}
		for f := range b.functions {
			trees[f], heights[f] = append(trees[f], Tree{}), append(heights[f], nil)
		}
		err = b.each(crew, func(w *booster, f int) (err error) {
			trees[f][round], heights[f][round], err = b.grow(w, f, draw, seen)
			return err
		})
		if err != nil {
			return s, err
		}
		b.spend(classSeconds(train, b.x.Cols, b.functions))
		if held != nil && b.judge(crew.Workers[0], train, round, held) {
			break
		}
	}
	for f := range trees {
		s.Trees = append(s.Trees, trees[f]...)
		s.Heights = append(s.Heights, slices.Concat(heights[f]...)...)
	}
	return s, nil
}

// each calls grow for each function.
func (b *boosting) each(crew *work.Crew[*booster], grow func(w *booster, f int) error) error {
	if !b.together() {
		return crew.First(b.functions, grow)
	}
	for f := range b.functions {
		if err := grow(crew.Workers[0], f); err != nil {
			return err
		}
	}
	return nil
}

// differentiate stores the derivative of the log probability of sample i's class by each score, and its negative curvature.
func (b *boosting) differentiate(w *booster, i int) {
	b.probabilities(w, i)
	for f := range b.functions {
		c := f
		if b.functions == 1 {
			c = 1
		}
		p, y := w.prob[c], 0.0
		if b.class[i] == c {
			y = 1
		}
		b.residual[f][i], b.curvature[f][i] = y-p, float64(p*(1-p))
	}
}

// see chooses the samples that a tree of function f sees, those whose draw is below their share, and stores their residuals and
// curvatures in w. A sure sample is seen seldom and counts for as many.
func (b *boosting) see(w *booster, f int, draw []float64, seen float64) {
	r, h := b.residual[f], b.curvature[f]
	w.rows = w.rows[:0]
	for i, v := range draw {
		by := 1.0
		if math.Abs(r[i]) < sure {
			by = sureShare
		}
		if v < seen*by {
			w.rows = append(w.rows, int32(i))
			w.target[i], w.weight[i] = r[i]/by, h[i]/by
		}
	}
}

// grow grows a tree of function f, and adds its heights to the scores of all samples.
func (b *boosting) grow(w *booster, f int, draw []float64, seen float64) (Tree, []float64, error) {
	b.see(w, f, draw, seen)
	r, h := b.residual[f], b.curvature[f]
	tree, err := w.grower.grow(w.rows, w.target)
	if err != nil {
		return tree, nil, err
	}
	height, weight := make([]float64, tree.Leaves), slices.Repeat([]float64{shrinkage}, tree.Leaves)
	for i := range b.x.Rows {
		l := tree.leaf(b.x.Row(i))
		w.place[i] = uint8(l)
		if i < len(r) {
			height[l] += r[i]
			weight[l] += h[i]
		}
	}
	for l := range height {
		height[l] = float64(b.rate * height[l] / weight[l])
	}
	score := b.score[f]
	for i, l := range w.place {
		score[i] += height[l]
	}
	return tree, height, nil
}

// judge measures the probabilities of the samples after the first ones, and keeps them if they are the best. It reports whether they
// have not become better for long.
func (b *boosting) judge(w *booster, train, round int, held *heldClasses) (end bool) {
	n := b.x.Rows
	if held.next == nil {
		held.next = make([][]float64, n-train)
		for i := range held.next {
			held.next[i] = make([]float64, len(w.prob))
		}
	}
	loss := 0.0
	for i := train; i < n; i++ {
		b.probabilities(w, i)
		copy(held.next[i-train], w.prob)
		loss -= special.Log(max(w.prob[b.class[i]], math.SmallestNonzeroFloat64)) / float64(n-train)
	}
	if loss < held.best {
		held.best, held.rounds = loss, round+1
		held.probability, held.next = held.next, held.probability
	}
	return round+1-held.rounds >= patience
}

// spend records work that was done.
func (b *boosting) spend(seconds float64) {
	b.spent += seconds
	if b.Progress != nil {
		b.Progress(b.spent, max(b.spent, b.all))
	}
}
