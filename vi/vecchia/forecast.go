package vecchia

import "math"

// Seconds of one core of the machine that docs/lab/rows.md names, for one of the operations that a fit
// consists of. They turn counts of operations into a forecast; nothing else depends on them.
const (
	secondsTerm    = 3.5e-6  // a term of the likelihood with its gradient
	secondsPart    = 5.7e-6  // of a term, for each part of the covariance
	secondsSlope   = 2.8e-7  // of a term, for each part and feature
	secondsSought  = 3e-6    // a search for the nearest rows
	secondsVisited = 1.1e-8  // of a search among n rows, for each √n and feature
	secondsRow     = 7e-7    // a row of an index
	secondsCell    = 4e-9    // of an index of n rows, for each n^1.5
	secondsCells   = 2e-10   // of the same, for each feature
	secondsPair    = 4.5e-9  // a pair of neighbours of a prediction
	secondsPairs   = 1e-10   // of the same, for each feature
	secondsNear    = 2.5e-5  // the regression of a row of the preconditioner, beside its products
	secondsValue   = 4.5e-10 // a value of a part of the covariance in float32, for any number of features
	secondsScaled  = 2.5e-11 // the same for each feature
	secondsFlop    = 2.5e-11 // a multiplication and addition of a product of matrices
)

const (
	unlimited   = 1e300
	learnShare  = 0.5    // of the limit, for learning
	leastSteps  = 60     // of gradient ascent
	mostLearned = 50_000 // rows whose terms are learned from
	indexes     = 8      // indexes that learning a covariance makes
)

// stepsOf returns the steps of gradient ascent of a family.
func stepsOf(fam family) int {
	if len(fam) == 1 {
		return 300
	}
	return 200
}

// indexSeconds returns the work of an index of n rows.
func (f *fitting) indexSeconds(n int) float64 {
	each := secondsCell + float64(secondsCells*float64(f.s.x.Cols))
	return float64(secondsRow*float64(n)) + float64(each*float64(n)*math.Sqrt(float64(n)))
}

// searchSeconds returns the work of a search for the nearest of n rows.
func (f *fitting) searchSeconds(n int) float64 {
	return secondsSought + float64(secondsVisited*float64(f.s.x.Cols)*math.Sqrt(float64(n)))
}

// learnSeconds returns the work of learning a covariance of so many parts in so many steps, and of its predictions of the rows held out.
func (f *fitting) learnSeconds(parts, steps int) float64 {
	learned, held := min(f.train, mostLearned), float64(f.s.x.Rows-f.train)
	var trials float64
	if parts == 1 { // of two starts
		steps += min(trialSteps, steps/2)
		trials = float64(2 * held * (f.searchSeconds(learned) + float64(0.6*f.termSeconds(parts))))
	}
	terms := float64(steps * min(learnBatch, f.train))
	each := f.searchSeconds(learned) + f.termSeconds(parts)
	return float64(terms*each) + trials + float64(indexes*f.indexSeconds(learned)) + f.judgeSeconds(neighbours[0])
}

// termSeconds returns the work of a term of the likelihood of so many parts beside the search for its neighbours. Its factor has a row for
// each target.
func (f *fitting) termSeconds(parts int) float64 {
	part := secondsPart + float64(secondsSlope*float64(f.s.x.Cols))
	return float64((secondsTerm + float64(float64(parts)*part)) * (1 + float64(0.1*float64(f.s.y.Cols-1))))
}

// judgeSeconds returns the work of predictions of the rows held out from m neighbours.
func (f *fitting) judgeSeconds(m int) float64 {
	return f.indexSeconds(f.train) + float64(float64(f.s.x.Rows-f.train)*f.localSeconds(m))
}

// moreSeconds returns the work of predictions of the rows held out from more neighbours than the first number.
func (f *fitting) moreSeconds() (s float64) {
	for _, m := range neighbours[1:] {
		s += f.judgeSeconds(m)
	}
	return s
}

// localSeconds returns the work of a prediction from m neighbours.
func (f *fitting) localSeconds(m int) float64 {
	pairs, order := float64(m*m), math.Sqrt(float64(m)/learnNear)
	each := secondsPair + float64(secondsPairs*float64(f.s.x.Cols))
	return float64(order*f.searchSeconds(f.train)) + float64(pairs*each) + float64(0.5*pairs*float64(m)*secondsFlop)
}

// productSeconds returns the work of a product of the covariance of n rows with a vector for each
// target.
func (f *fitting) productSeconds(parts, n int) float64 {
	return 0.5 * float64(n) * float64(n) * float64(parts) * f.valueSeconds()
}

// valueSeconds returns the work of a value of a part of the covariance in such a product.
func (f *fitting) valueSeconds() float64 {
	return secondsValue + float64(secondsScaled*float64(f.s.x.Cols+f.s.y.Cols))
}

// meansSeconds returns the work of the means of a prediction by the solutions whose weights are not 0.
func (f *fitting) meansSeconds(solved []Solved, weights []float64) (s float64) {
	for i, w := range weights {
		if w > 0 {
			s += float64(float64(f.s.x.Rows*len(solved[i].Covariance.Parts)) * f.valueSeconds())
		}
	}
	return s
}

// vifSeconds returns the work of a preconditioner with m landmarks.
func (f *fitting) vifSeconds(m int) float64 {
	n, p := float64(f.s.x.Rows), float64(preconditionNear+1)
	landmark, neighbours := float64(m), float64(p*p*float64(m))
	return float64(n*(float64(2.5*landmark*landmark)+neighbours)*secondsFlop) + float64(n*(secondsNear+f.searchSeconds(f.s.x.Rows))) + float64(2*f.indexSeconds(f.s.x.Rows))
}

// Memory returns about how many bytes a fit to n rows of d features and t targets takes beside its arguments.
// Sizes below one count as one. At most the half of the largest int64 is returned.
func Memory(n, d, t int) int64 {
	n, d, t = max(n, 1), max(d, 1), max(t, 1)
	row := float64(4*mostLandmarks(n)+24*preconditionNear) + float64(60*float64(d)) + float64(8*float64(t)*float64(partials(t)+16))
	return int64(min(float64(float64(n)*row)+1<<28, math.MaxInt64/2))
}

// whole returns the work of the fit if nothing limits it and every solve takes few iterations.
func (f *fitting) whole() (s float64) {
	n := f.s.x.Rows
	for _, parts := range []int{1, 1, 2, 2} {
		s += f.learnSeconds(parts, stepsOf(make(family, parts))) + f.vifSeconds(mostLandmarks(n)) + float64(10*f.productSeconds(parts, n))
	}
	return s
}
