package mkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/mkl/internal/gram"
)

// Landmarks says which points represent the samples in kernels. The
// zero value is the default. [LandmarkGP] and [LandmarkClassifier] always use landmarks;
// [Regression], [SharedRegression], [Classifier] and [MultiLabel] do if their field is not nil. The
// random choice depends on Seed: a fit that continues From a model needs the Seed of that model's fit, or
// the same landmarks Given.
type Landmarks struct {
	// Count is the number of landmarks. 0 means 500, or fewer if there are more
	// than six kernels: 3000 features in all. More landmarks represent the kernels better and cost more. A pass over
	// the samples takes a time proportional to the square of the number of features of all kernels, at most Count for each
	// kernel; a step of the fit is proportional to their cube.
	Count int

	// Choose says how the landmarks are chosen.
	Choose LandmarkChoice

	// Given holds the landmarks for [GivenLandmarks]: one matrix for each
	// distinct X of the views, in the order of their first view, with a row for each landmark.
	Given []Features

	// Sample is the most samples that determine landmarks, widths and units. If there are more, Sample of
	// them are chosen at random. LandmarkGP and LandmarkClassifier choose by what the samples hold; the other models
	// depend on the order of the samples. 0 means DefaultPlanSamples.
	Sample int
}

// DefaultPlanSamples is the default of Sample of [Landmarks].
const DefaultPlanSamples = 5000

// The default number of landmarks, the least default, and the most features of all kernels that the default may make.
const (
	defaultLandmarks = 500
	leastLandmarks   = 50
	mostFeatures     = 3000
)

// orDefault returns the landmarks, or the default ones if l is nil.
func (l *Landmarks) orDefault() Landmarks {
	if l == nil {
		return Landmarks{}
	}
	return *l
}

// size returns the size of a fit with landmarks; it returns s if l is nil.
func (l *Landmarks) size(s FitSize) FitSize {
	if l != nil && s.Basis == 0 {
		s.Basis = min(l.count(s.Kernels), s.Samples)
	}
	return s
}

// count returns the number of landmarks for a fit with the given number of kernels.
func (l Landmarks) count(kernels int) int {
	if l.Count > 0 {
		return l.Count
	}
	return min(defaultLandmarks, max(leastLandmarks, mostFeatures/max(1, kernels)))
}

// LandmarkChoice is a way to choose landmarks.
type LandmarkChoice int

// Ways to choose landmarks.
const (
	RandomLandmarks  LandmarkChoice = iota // samples, drawn at random
	KMeansLandmarks                        // centres of clusters of the standardised features
	PivotedLandmarks                       // samples; each next one is the sample that the ones so far represent worst
	GivenLandmarks                         // the landmarks of Landmarks.Given
)

// String returns the name of the choice.
func (c LandmarkChoice) String() string {
	switch c {
	case RandomLandmarks:
		return "random"
	case KMeansLandmarks:
		return "k-means"
	case PivotedLandmarks:
		return "pivoted Cholesky"
	case GivenLandmarks:
		return "given"
	}
	return fmt.Sprintf("LandmarkChoice(%d)", int(c))
}

// memory estimates the bytes that a fit takes besides its data, with posteriors of the given number of functions of
// labels.
func (l Landmarks) memory(f *fitting, s FitSize, functions int) int64 {
	s.Kernels = max(s.Kernels, 2+len(narrower)) // at least as many as an open view gets
	return inBytes(l.planWords(f, s) + sumWords(s.Kernels*min(l.count(s.Kernels), s.Samples, l.sampleSize()), functions))
}

// sampleSize returns the largest number of samples from which a plan is made.
func (l Landmarks) sampleSize() int {
	if l.Sample == 0 {
		return DefaultPlanSamples
	}
	return l.Sample
}

// sumWords estimates how many numbers the sums of features and functions hold, together with a fit to them.
func sumWords(features, functions int) float64 {
	M := float64(features) + 2 + float64(functions)
	words := float64((10 + float64(functions)) * M * M) // sums, twice as long; maps of them; pseudo-samples; gram and factors
	return words + float64(2*pieceSamples*M)            // kernels and features of a piece
}

// planMemory estimates how many bytes are needed to make a plan for the given number of kernels from n samples. It does
// not include the features, whose number is not known yet.
func (g *planning) planMemory(n, kernels int) int64 {
	return inBytes(g.planWords(g.fitting, FitSize{Samples: n, Kernels: kernels}))
}

// planWords estimates how many numbers must be held to make a plan.
func (l Landmarks) planWords(f *fitting, s FitSize) float64 {
	some := float64(min(s.Samples, l.sampleSize()))
	count := min(float64(l.count(s.Kernels)), some)
	P := float64(s.Kernels)
	words := float64(P * count * count)                     // whitening
	words += float64(some * count)                          // choice of landmarks
	words += float64((P + 3) * widthSamples * widthSamples) // learning widths
	return words + float64(float64(f.workers())*(1<<18))
}

// choose returns the landmarks: a matrix for each input of the design of the sample.
func (l Landmarks) choose(ctx context.Context, ds *gram.Design, seed uint64, workers int) ([]Features, error) {
	count := min(l.count(len(ds.Views)), ds.D)
	switch l.Choose {
	case RandomLandmarks:
		return ds.RowsOf(sample(ds.D, count, nil, seed+1)), nil
	case PivotedLandmarks:
		rows, err := ds.ChoosePivots(ctx, count, workers)
		return ds.RowsOf(rows), err
	case KMeansLandmarks:
		return ds.Centres(ctx, count, seed, workers)
	case GivenLandmarks:
		return checkLandmarks(ds, l.Given)
	}
	return nil, fmt.Errorf("mkl: Landmarks: Choose: %v is not known", l.Choose)
}

// checkLandmarks checks given landmarks and copies them.
func checkLandmarks(ds *gram.Design, given []Features) (out []Features, err error) {
	if len(given) != len(ds.Inputs) {
		return nil, fmt.Errorf("mkl: Landmarks.Given: %d matrices where the views have %d distinct X", len(given), len(ds.Inputs))
	}
	for i, x := range given {
		arg := fmt.Sprintf("Landmarks.Given[%d]", i)
		if err := gram.CheckLayout(arg, x); err != nil {
			return nil, err
		}
		if x.Rows == 0 || x.Rows != given[0].Rows || x.Cols != ds.Inputs[i].Cols {
			return nil, fmt.Errorf("mkl: %s is %d×%d where %d landmarks of %d features are needed", arg, x.Rows, x.Cols, max(1, given[0].Rows), ds.Inputs[i].Cols)
		}
		if err := checkFinite(arg, x); err != nil {
			return nil, err
		}
		out = append(out, x.Clone())
	}
	return out, nil
}
