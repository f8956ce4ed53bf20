package mkl

import (
	"time"

	"github.com/bmkl/bmkl/vi/effects"
)

// A forecast is the processor time of a fit on one core of the machine that docs/lab/rows.md names, computed from counts
// of operations. It is the same on every machine, and so are the members that Time leaves out.
const (
	secondsCube    = 3.5e-10 // of a member on N samples, times N³, for each of its functions
	secondsMember  = 0.01    // of a member on few samples
	secondsOrder   = 1e-6    // of the place of a sample in the order of many rows
	secondsRank    = 6e-8    // of the rank of a value in its column, for this order
	secondsScale   = 0.3     // of a comparison of a scale of the target
	secondsSquare  = 4e-7    // of an exact member above DefaultExactSamples, times N², beside secondsMany
	secondsLength  = 1.9e-8  // of the same, times N², for each feature whose width is learned
	secondsMany    = 2.2e-10 // of the same, times N³
	secondsJudge   = 2.6e-11 // of a prediction by a member on N samples, times N²
	secondsFeature = 4e-10   // of a member's kernels on N samples, times N², for each feature beyond fewFeatures
	secondsProduct = 3.1e-11 // of sums of features, for each sample and each pair of features
	secondsWidths  = 1.5     // of the widths that a fit with landmarks learns

	usualFeatures   = 8       // that secondsSquare covers
	fewFeatures     = 100     // secondsCube covers the kernels of up to this many features
	labelWork       = 5       // the work of one function of labels, in functions of numbers
	secondsOfViews  = 2.6e-11 // of an operation of viewsWork
	secondsObserved = 3e-10   // of a product of effects.ObservedWork
	countMoments    = 10000   // products that the moments of a count are worth
	closedMoments   = 500     // products that other moments are worth
	passesOfClasses = 3.3     // passes of a classifier with landmarks, in units of a sum of features
)

// orderSeconds forecasts [rowOrder] of n samples with so many features.
func orderSeconds(n, features int) float64 {
	return float64(n) * (secondsOrder + float64(secondsRank*float64(features)))
}

// exactSeconds forecasts a member on n samples with the given numbers of functions and features.
func exactSeconds(n, functions, features int) float64 {
	m := float64(n)
	return secondsMember + float64(secondsCube*m*m*m*float64(functions)) + float64(secondsFeature*m*m*float64(max(0, features-fewFeatures)))
}

// exactPoolSeconds forecasts all exact members of a pool on n samples with so many features, and their predictions of held samples.
func exactPoolSeconds(n, held, features int) float64 {
	square := float64(n) * float64(n)
	lengths := max(0, min(features, fewFeatures)-usualFeatures)
	each := secondsSquare + float64(secondsLength*float64(lengths)) + float64(secondsMany*float64(n)) + float64(secondsFeature*float64(max(0, features-fewFeatures))) + float64(secondsJudge*float64(held))
	return float64(float64(len(autoMembers)+1) * (secondsMember + float64(square*each)))
}

// viewsWork forecasts the floating-point operations of the members with amplitudes that borrow strength, for n samples of several views with so
// many kernels in all and so many columns of targets: of the members, of the probabilities of the views, and of their table. judge is as in
// [judgedSamples]. The numbers of gradients were counted.
func viewsWork(judge float64, n, kernels, views, columns int) float64 {
	const (
		forMembers = 75   // gradients of both members
		forSome    = 50   // of the members of the table, if it is of some of the samples
		forView    = 24   // of the fit of a view by itself
		forLoss    = 26   // of the fits without a view
		ofSweep    = 0.7  // of the work of a sweep that includes all views
		ofHalf     = 0.5  // the same, of half of the samples
		burnIn     = 1.25 // sweeps with their burn-in
	)
	gradient := func(n, kernels int) float64 {
		x := float64(n)
		return float64(x * x * (x + float64(4*kernels)))
	}
	m := judgedSamples(judge, n, kernels, views, columns)
	sweeps, _ := sweepsOf(m, kernels, views, columns)
	work := float64(forMembers * gradient(n, kernels))
	work += float64(float64(forView*views) * gradient(m, kernels/views))
	work += float64(float64(forLoss*views) * gradient(m, kernels))
	work += float64(ofSweep * burnIn * float64(sweeps) * sweepWork(m, kernels, views, columns))
	work += float64(ofHalf * float64(2*halfSweeps*splitsOf(m)) * sweepWork(m/2, kernels, views, columns))
	if m < n {
		work += float64(forSome * gradient(m, kernels))
	}
	return work
}

// viewsSeconds forecasts what [viewsWork] counts, of views without kernels; 0 for one view.
func viewsSeconds(views []View, n, columns int) float64 {
	count := countViews(views)
	if count < 2 || !hasAmplitudes(views) {
		return 0
	}
	kernels := 0
	for _, v := range views {
		if v.Kernel == nil {
			kernels += len(viewMedians)
		}
		kernels++ // the linear kernel, or the kernel that is given
	}
	return float64(secondsOfViews * viewsWork(judgeWork, n, kernels, count, columns))
}

// featuresOf returns the number of features of the inputs of views.
func featuresOf(views []View) (n int) {
	for _, x := range distinctInputs(views) {
		n += x.Cols
	}
	return n
}

// landmarkSeconds forecasts a model with landmarks of n samples with the given number of features.
func landmarkSeconds(n, features int) float64 {
	m := float64(features)
	return secondsWidths + float64(secondsProduct*float64(n)*m*m) + float64(10*secondsProduct*m*m*m)
}

// classLandmarkSeconds forecasts a classifier with landmarks.
func classLandmarkSeconds(n, features, functions int) float64 {
	return secondsWidths + float64(passesOfClasses*float64(functions)*(landmarkSeconds(n, features)-secondsWidths))
}

// DefaultTime returns the default Time of a pool that is fitted to n samples, more than DefaultExactSamples: two and a half
// minutes, plus twelve seconds for every further 50 000 samples.
func DefaultTime(n int) time.Duration {
	return 150*time.Second + time.Duration(max(0, n-50_000))*240*time.Microsecond
}

// exactRows returns how many of n samples the exact members of a pool use, if they may take the given seconds, and the
// bytes limit for the memory that need estimates. The samples have the given number of features.
func exactRows(n, members, functions, features int, seconds float64, need func(rows int) int64, limit int64) int {
	rows := min(n, mostExactRows)
	for rows > leastExactRows && (float64(float64(members)*exactSeconds(rows, functions, features)) > seconds || need(rows) > limit) {
		rows = fewerRows(rows)
	}
	return rows
}

const (
	mostExactRows  = 2900
	leastExactRows = 300
)

// ObservationLevelSeconds forecasts the processor time of the effects of levels in a fit of [Counts], [Ordinal] or [Survival] to the views of more than
// [DefaultExactSamples] samples, under so many laws. Moments of counts take quadrature. It is 0 if no column of categories has many levels.
func ObservationLevelSeconds(views []View, laws int, counts bool) float64 {
	f := &levelFit{views: views, x: distinctInputs(views)}
	if f.find(); f.at == nil {
		return 0
	}
	n, moments := f.x[0].Rows, closedMoments
	if counts {
		moments = countMoments
	}
	f.describe(n, levelCentres, seesNumbers)
	width, levels := f.size()
	return float64(secondsObserved * effects.ObservedWork(n, len(f.columns), levels, width, laws, levelFolds, moments))
}
