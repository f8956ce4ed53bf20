package mkl

import (
	"context"
	"slices"
	"sort"

	"github.com/bmkl/bmkl/vi/amplitude"
)

// viewProbabilities say which views have information about the targets.
type viewProbabilities struct {
	alone []float64 // of each view, by itself rather than none
	in    []float64 // beside the others, averaged over which of them are included

	sweeps [][]bool          // which views each sweep includes
	shares *amplitude.Shares // in each sweep
	halves *amplitude.Halves // the shares in halves of the samples
}

// Draws of the included views: the sweeps with up to sweepSamples samples, and their least number with more samples. If the shares need
// them there are more sweeps: at most mostSweeps, and with their burn-in at most as many as mostWork floating-point operations allow, which
// take about two seconds of one core with AVX-512.
const (
	viewSweeps   = 110
	leastSweeps  = 40
	sweepSamples = 150
	mostSweeps   = 2200
	mostWork     = 1e11
)

// sweepsOf returns the least and the most sweeps of a problem with n samples, of so many kernels, views and columns of targets.
func sweepsOf(n, kernels, views, columns int) (least, most int) {
	few := float64(sweepSamples) / float64(max(n, sweepSamples))
	least = max(leastSweeps, int(viewSweeps*few*few))
	// A burn-in is a quarter of the sweeps.
	return least, max(least, min(mostSweeps, int(mostWork/(1.25*sweepWork(n, kernels, views, columns)))))
}

// judgeWork is the most floating-point operations of the least sweeps, with their burn-in, about ten seconds of one core with AVX-512. With more
// samples, the probabilities and the table of the views are learned from some of them.
const judgeWork = 5e11

// judgedSamples returns from how many of n samples the table of the views is learned, with so many kernels, views and columns of targets.
// The sweeps take at most so much work.
func judgedSamples(work float64, n, kernels, views, columns int) int {
	return sort.Search(n, func(m int) bool { return 1.25*leastSweeps*sweepWork(m+1, kernels, views, columns) > work })
}

// sweepWork returns about how many floating-point operations a sweep takes that includes all views, with its draw of the functions. A
// Cholesky factor takes n³/3, and reading and adding a kernel as long as 2n². A sweep has an evaluation for each view to switch it, one more
// where the other variables move along, about five in a slice, of at most four views and of the common variables, and one for each
// function and for all targets.
func sweepWork(n, kernels, views, columns int) float64 {
	const sliced, slice = 4, 5
	evaluations := views + slice*(min(views, sliced)+1) + views + 1
	if views <= sliced {
		evaluations += views
	}
	x := float64(n)
	return float64(evaluations) * x * x * (x/3 + float64(2*kernels+columns))
}

// Fits to halves of the samples, for the standard deviations of shares: the divisions with up to sweepSamples samples, and the sweeps and
// draws of each half. With more samples there are fewer divisions, at least one. Fewer than leastHalved samples are not divided.
const (
	viewSplits  = 4
	halfSweeps  = 30
	halfBurnIn  = 8
	halfDraws   = 15
	leastHalved = 16
)

// splitsOf returns how many times n samples are divided.
func splitsOf(n int) int {
	if n < leastHalved {
		return 0
	}
	few := float64(sweepSamples) / float64(max(n, sweepSamples))
	return max(1, int(viewSplits*few*few))
}

// judgeViews computes the probabilities of the views of a problem. Views by themselves are judged in the problem alone. class, the class of each
// sample, is nil for numbers.
func judgeViews(ctx context.Context, p, alone amplitude.Problem, class []int, seed uint64) (q viewProbabilities, err error) {
	if q.alone, err = alone.Screen(ctx); err != nil {
		return q, err
	}
	kernels, n := p.Kernels.Dims()
	sweeps, most := sweepsOf(n, kernels, p.Layout.Views(), p.Y.Rows)
	s, shares, err := p.SelectShares(ctx, amplitude.Sparse, amplitude.Sampling{Sweeps: sweeps, Seed: seed}, most)
	if err != nil {
		return q, err
	}
	q.in, q.sweeps, q.shares = s.Included, s.Sweeps, shares
	q.halves, err = p.Halves(ctx, splitsOf(n), class, amplitude.Sampling{Sweeps: halfSweeps, BurnIn: halfBurnIn, Draws: halfDraws, Seed: seed})
	return q, err
}

// surelyIn is the probability beside the others from which a view is kept that by itself says nothing. With equal odds, few samples would
// bring in views of noise: the probability of a view about which nothing is known is one half.
const surelyIn = 0.9

// kept returns 1 for each view that more probably has information by itself than none, or that is surely needed beside the others, else 0;
// nil if that is so of every view, or of no view.
func (q *viewProbabilities) kept() []float64 {
	include := make([]float64, len(q.alone))
	for v, alone := range q.alone {
		if !isDoubtful(alone, q.in[v]) {
			include[v] = 1
		}
	}
	if !slices.Contains(include, 0) || !slices.Contains(include, 1) {
		return nil
	}
	return include
}

// either returns for each view the larger of both probabilities.
func (q *viewProbabilities) either() []float64 {
	out := make([]float64, len(q.alone))
	for v, alone := range q.alone {
		out[v] = max(alone, q.in[v])
	}
	return out
}

// isDoubtful reports whether a view more probably says nothing by itself, and is not surely needed beside the others.
func isDoubtful(alone, in float64) bool { return alone < 0.5 && in < surelyIn }

// doubtful returns the names of the views of a table that [viewProbabilities.kept] leaves out; nil if it leaves out none.
func doubtful(views []ViewShare) (names []string) {
	for _, v := range views {
		if isDoubtful(v.Informative, v.In) {
			names = append(names, v.View)
		}
	}
	if len(names) == len(views) {
		return nil
	}
	return names
}
