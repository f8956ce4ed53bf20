package choose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// bent is a linear function of the first of three columns with a bend, and noise of
// standard deviation 0.1.
func bent(n int) (views []mkl.View, y []float64) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := la.NewMatrix[float64](n, 3)
	for i := range n {
		for j := range 3 {
			x.Set(i, j, rng.NormFloat64())
		}
		y = append(y, 5+2*x.At(i, 0)+2*math.Abs(x.At(i, 1))+0.1*rng.NormFloat64())
	}
	return []mkl.View{{X: x, Kernel: kernel.RBF{Width: 2}, Standardize: true}, {X: x, Kernel: kernel.Linear{}, Standardize: true}}, y
}

func process(views []mkl.View, y []float64) Candidate {
	return Targets("process", views, y, mkl.MultiGP{Fitting: mkl.Fitting{Workers: 1}}.Fit)
}

func split(t *testing.T, n int, p Plan) []Fold {
	t.Helper()
	folds, err := Split(n, p)
	require.NoError(t, err)
	return folds
}

func TestValidation(t *testing.T) {
	views, y := bent(60)
	v := Validation{
		Truth: Truth{Numbers: y}, Folds: split(t, 60, Plan{Repeats: 2}), Workers: 1,
		Candidates: []Candidate{Mean(y), Ridge(views, y), process(views, y)},
	}
	r, err := v.Run(t.Context())
	require.NoError(t, err)
	k, err := r.Rank(RMSE)
	require.NoError(t, err)
	assert.Equal(t, 2, k.Best)
	assert.Contains(t, k.Recommendation(), "Recommendation: take process (RMSE ")
	assert.Less(t, k.Rows[1].Scores[RMSE].Value, k.Rows[0].Scores[RMSE].Value)
	assert.Less(t, k.Rows[2].Scores[RMSE].Value, 0.5*k.Rows[1].Scores[RMSE].Value)
	assert.Equal(t, Estimate{}, k.Rows[2].Difference)

	// The mean's score by hand.
	var total float64
	for _, f := range v.Folds {
		var m, sum float64
		for _, i := range f.Train {
			m += y[i] / float64(len(f.Train))
		}
		for _, i := range f.Test {
			sum += (y[i] - m) * (y[i] - m) / float64(len(f.Test))
		}
		total += sum / float64(len(v.Folds))
	}
	assert.InDelta(t, math.Sqrt(total), k.Rows[0].Scores[RMSE].Value, 1e-12)
	f0, ok := r.Fold(2, 0, RMSE)
	assert.True(t, ok)
	assert.Positive(t, f0)

	// Any number of workers gives the same bits.
	v.Workers = 3
	again, err := v.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, r, again)
}

// Classes by name; some training samples lack one of them.
func TestValidationOfClasses(t *testing.T) {
	views, y := bent(45)
	names := []string{"high", "low", "one"}
	truth, labels := make([]int, len(y)), make([]string, len(y))
	for i, v := range y {
		if v < 6.6 {
			truth[i] = 1
		}
		if i == 7 {
			truth[i] = 2
		}
		labels[i] = names[truth[i]]
	}
	v := Validation{
		Truth: Truth{Classes: truth}, Folds: split(t, 45, Plan{Folds: 3, Strata: truth}),
		Candidates: []Candidate{
			Frequencies(truth), LinearClasses(views, labels, names),
			Classes("process", views, labels, names, mkl.MultiGPClassifier[string]{}.Fit),
		},
	}
	r, err := v.Run(t.Context())
	require.NoError(t, err)
	k, err := r.Rank(Brier)
	require.NoError(t, err)
	assert.NotEqual(t, 0, k.Best)
	assert.Equal(t, math.Inf(1), k.Rows[2].Scores[LogLoss].Value, "the class that came true was unknown")
	assert.False(t, math.IsInf(k.Rows[0].Scores[LogLoss].Value, 0), "Laplace's rule gives it a probability")
	for _, row := range k.Rows {
		assert.Zero(t, row.Failed)
	}
	_, err = OfClasses([][]float64{{1}}, []string{"x"}, names)
	assert.Error(t, err)
}

// A kernel that is given is divided by rows and columns: it predicts what the features do.
func TestGivenKernels(t *testing.T) {
	views, y := bent(30)
	views = views[1:]
	views[0].Standardize = false
	k := la.NewMatrix[float64](30, 30)
	for i := range 30 {
		for j := range 30 {
			for c := range 3 {
				k.Set(i, j, k.At(i, j)+views[0].X.At(i, c)*views[0].X.At(j, c))
			}
		}
	}
	given := []mkl.View{{X: k, Kernel: kernel.Precomputed{}}}
	f := split(t, 30, Plan{})[0]
	want, err := process(views, y).Learn(t.Context(), f)
	require.NoError(t, err)
	got, err := process(given, y).Learn(t.Context(), f)
	require.NoError(t, err)
	for i := range want.Mean {
		assert.InDelta(t, want.Mean[i], got.Mean[i], 1e-6)
		assert.InDelta(t, want.Variance[i], got.Variance[i], 1e-6)
	}
	_, err = Ridge(given, y).Learn(t.Context(), f)
	require.NoError(t, err)
	_, err = process(given, y[:29]).Learn(t.Context(), f)
	assert.Error(t, err)
}

// The result names a fold that fails, and the candidates are compared on the others.
func TestFailedFold(t *testing.T) {
	_, y := bent(30)
	broken := errors.New("broken")
	fails := Candidate{Name: "fails", Learn: func(ctx context.Context, f Fold) (*Prediction, error) {
		if f.Test[0] == 0 {
			return nil, broken
		}
		p := &Prediction{}
		for _, i := range f.Test {
			p.Mean = append(p.Mean, y[i])
		}
		return p, nil
	}}
	short := Candidate{Name: "short", Learn: func(context.Context, Fold) (*Prediction, error) { return &Prediction{}, nil }}
	r, err := Validation{Truth: Truth{Numbers: y}, Folds: split(t, 30, Plan{}), Candidates: []Candidate{Mean(y), fails, short}}.Run(t.Context())
	require.NoError(t, err)
	k, err := r.Rank(RMSE)
	require.NoError(t, err)
	assert.Equal(t, 0, k.Best, "better on four folds only")
	assert.Equal(t, 1, k.Rows[1].Failed)
	assert.Equal(t, 5, k.Rows[2].Failed)
	assert.Empty(t, k.Rows[2].Scores)
	assert.Less(t, k.Rows[1].Difference.High, 0.0)
	assert.True(t, math.IsNaN(k.Rows[2].Difference.Value))
	failures := 0
	for _, err := range r.Errors[1] {
		if err != nil {
			assert.ErrorIs(t, err, broken)
			failures++
		}
	}
	assert.Equal(t, 1, failures)
}

// What was done before an interruption is not done again, and what comes out is the same.
func TestResume(t *testing.T) {
	_, y := bent(40)
	path := filepath.Join(t.TempDir(), "state.json")
	var fits atomic.Int32
	stopAt, stop := int32(4), context.CancelFunc(nil)
	slow := Mean(y)
	learn := slow.Learn
	slow.Name = "slow"
	slow.Learn = func(ctx context.Context, f Fold) (*Prediction, error) {
		if fits.Add(1) == stopAt {
			stop()
		}
		return learn(ctx, f)
	}
	v := Validation{
		Truth: Truth{Numbers: y}, Folds: split(t, 40, Plan{Repeats: 2}), Candidates: []Candidate{slow, Mean(y)},
		Workers: 1, File: path, Key: "mean",
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop = cancel
	_, err := v.Run(ctx)
	assert.ErrorIs(t, err, context.Canceled)
	require.EqualValues(t, 4, fits.Load())
	var last Step
	begun, ended := 0, 0
	v.Progress = func(s Step) {
		last = s
		if s.Ended {
			ended++
			assert.NoError(t, s.Err)
		} else {
			begun++
			assert.Zero(t, s.Took)
		}
	}
	got, err := v.Run(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 11, fits.Load(), "the fourth is done again")
	assert.Equal(t, []int{20, 20}, []int{last.Done, last.Of})
	assert.Equal(t, begun, ended)
	assert.Contains(t, []string{v.Candidates[0].Name, "mean"}, last.Candidate)
	assert.Less(t, last.Fold, 10)
	_, err = v.Run(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 11, fits.Load())

	v.File = ""
	stopAt = -1
	want, err := v.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want, got)

	v.File, v.Key = path, "median"
	_, err = v.Run(t.Context())
	assert.ErrorContains(t, err, "other data, folds or settings")
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	_, err = v.Run(t.Context())
	assert.ErrorContains(t, err, "is no state of a validation")
	v.File = filepath.Join(t.TempDir(), "none", "state")
	_, err = v.Run(t.Context())
	assert.Error(t, err)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// Scores that JSON has no numbers for are kept.
func TestResumeInfinities(t *testing.T) {
	v := Validation{
		Truth: Truth{Classes: []int{0, 1, 0, 1}}, Folds: split(t, 4, Plan{Folds: 2}), File: filepath.Join(t.TempDir(), "s"),
		Candidates: []Candidate{{Name: "sure", Learn: func(_ context.Context, f Fold) (*Prediction, error) {
			p := &Prediction{}
			for range f.Test {
				p.Probability = append(p.Probability, []float64{1, 0})
			}
			return p, nil
		}}},
	}
	want, err := v.Run(t.Context())
	require.NoError(t, err)
	v.Candidates[0].Learn = func(context.Context, Fold) (*Prediction, error) { return nil, errors.New("not called") }
	got, err := v.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestValidationErrors(t *testing.T) {
	_, y := bent(6)
	folds := split(t, 6, Plan{Folds: 2})
	whole := Validation{Truth: Truth{Numbers: y}, Folds: folds, Candidates: []Candidate{Mean(y)}}
	for want, change := range map[string]func(*Validation){
		"Numbers, Classes": func(v *Validation) { v.Truth = Truth{} },
		"Numbers[2] is NaN": func(v *Validation) {
			v.Truth.Numbers = []float64{1, 2, math.NaN(), 3, 4, 5}
		},
		"Folds and Candidates are needed": func(v *Validation) { v.Folds = nil },
		"Folds[0] has 0 training":         func(v *Validation) { v.Folds = []Fold{{Test: []int{1}}} },
		"choose: Folds[0].Train[1] is 6, and there are 6 samples": func(v *Validation) {
			v.Folds = []Fold{{Train: []int{0, 6}, Test: []int{1}}}
		},
		`two candidates are called "mean"`: func(v *Validation) {
			v.Candidates = []Candidate{Mean(y), Mean(y)}
		},
		"Learn is nil":  func(v *Validation) { v.Candidates = []Candidate{{}} },
		"Workers is -1": func(v *Validation) { v.Workers = -1 },
	} {
		v := whole
		change(&v)
		_, err := v.Run(t.Context())
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), want)
	}
}

// Candidates can be asked without a validation, about folds and views that nobody has checked.
func TestLearnRefuses(t *testing.T) {
	views, y := bent(8)
	classes := make([]int, 8)
	for i := range classes {
		classes[i] = i % 2
	}
	fine := Fold{Train: []int{0, 1, 2, 3, 4, 5}, Test: []int{6, 7}}
	classify := func(views []mkl.View) Candidate { return LinearClasses(views, classes, []int{0, 1}) }
	several := Truth{Targets: []Truth{{Numbers: y}}}
	all := map[string]Candidate{
		"targets": process(views, y), "classes": classify(views), "mean": Mean(y), "frequencies": Frequencies(classes),
		"each": Each("each", several, func(int) Candidate { return Mean(y) }),
	}
	for name, c := range all {
		_, err := c.Learn(t.Context(), fine)
		require.NoError(t, err, name)
		for want, f := range map[string]Fold{
			"choose: Fold.Train[2] is 8, and there are 8 samples": {Train: []int{0, 1, 8}, Test: []int{2}},
			"choose: Fold.Test[1] is -1, and there are 8 samples": {Train: []int{0, 1}, Test: []int{2, -1}},
			"choose: Fold has 2 training and 0 test samples":      {Train: []int{0, 1}},
		} {
			_, err := c.Learn(t.Context(), f)
			assert.EqualError(t, err, want, name)
		}
	}
	short := mkl.Features{Rows: 8, Cols: 3, Stride: 3, Data: make([]float64, 23)}
	broken := append(views[:1:1], mkl.View{X: short, Kernel: kernel.Linear{}})
	for _, c := range []Candidate{process(broken, y), classify(broken), Ridge(broken, y)} {
		_, err := c.Learn(t.Context(), fine)
		assert.EqualError(t, err, "choose: views[1].X: a 8×3 matrix of stride 3 needs more than its 23 elements", c.Name)
	}
	for _, class := range []int{-1, mostClasses, math.MaxInt} {
		_, err := Frequencies([]int{0, class, 1}).Learn(t.Context(), Fold{Train: []int{0, 1}, Test: []int{2}})
		assert.EqualError(t, err, fmt.Sprintf("choose: classes[1] is %d: classes count from 0 and are fewer than 16777216", class))
	}
}

// The mean of n training targets predicts a new one with their variance s²(1 + 1/n), unless all are equal.
func TestMeanOfTargets(t *testing.T) {
	c := Mean([]float64{7, 1, 2, 6, 2, 2, 9})
	p, err := c.Learn(t.Context(), Fold{Train: []int{1, 2, 3}, Test: []int{0, 6}})
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float64{3, 3}, p.Mean, 1e-15)
	variance := (4 + 1 + 9) / 2.0 * 4 / 3
	assert.InDeltaSlice(t, []float64{variance, variance}, p.Variance, 1e-14)
	for _, alike := range [][]int{{2, 4, 5}, {3}} {
		p, err = c.Learn(t.Context(), Fold{Train: alike, Test: []int{0}})
		require.NoError(t, err)
		assert.Nil(t, p.Variance)
	}
}

// The names of scores, and the text of a number without a name.
func TestNamesOfScores(t *testing.T) {
	for s, want := range map[Score]string{
		RMSE: "RMSE", RelativeRMSE: "RMSE/SD", endOfScores: "PIT in bin 1", endOfScores + pitBins - 1: "PIT in bin 20",
		endOfScores + pitBins: fmt.Sprintf("Score(%d)", int(endOfScores)+pitBins), -1: "Score(-1)",
	} {
		assert.Equal(t, want, s.String())
	}
}

// Two views may begin at the same element and be different matrices.
func TestViewsOfOneBeginning(t *testing.T) {
	data := []float64{0, 1, 2, 3, 4, 5, 6, 7}
	views := []mkl.View{{X: la.MatrixOf(2, 2, data), Input: "x1"}, {X: mkl.Features{Rows: 2, Cols: 2, Stride: 4, Data: data}, Input: "x2"}}
	got := rowsOf(views, []int{1})
	assert.Equal(t, []float64{2, 3}, got[0].X.Row(0))
	assert.Equal(t, []float64{4, 5}, got[1].X.Row(0))
}

func TestRecommendations(t *testing.T) {
	rank := func(names string, values ...float64) string {
		r := newResult(Scores(NumberTruth), len(values), 3)
		r.ratio = 0.5
		for c, name := range strings.Fields(names) {
			r.Names[c], r.baseline[c] = name, name == "mean"
			for k := range 3 {
				r.losses[c][k] = map[Score]float64{RMSE: values[c] + 0.1*math.Sin(float64(c+3*k))}
			}
		}
		k, err := r.Rank(RMSE)
		require.NoError(t, err)
		return k.Recommendation()
	}
	assert.Contains(t, rank("mean a b", 1, 2, 3), "take none of the models: the baseline mean is best (RMSE ")
	assert.Contains(t, rank("mean a b", 1.1, 1, 3), "a is best (RMSE 1.0")
	assert.Contains(t, rank("mean a b", 1.1, 1, 3), "not significantly better than the baseline mean")
	assert.Contains(t, rank("mean a b", 9, 1, 1.02), "b is not significantly worse")
	assert.Contains(t, rank("mean a b", 9, 1, 7), "its difference from every other is more than chance explains")
	assert.Contains(t, rank("a", 1), "a is the only candidate")
}

// severalTargets returns three targets of 30 samples, two of them with gaps, and folds.
func severalTargets(t *testing.T) (Truth, []Fold) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 8))
	truth := Truth{}
	for o := range 3 {
		y := make([]float64, 30)
		for i := range y {
			y[i] = float64(10*o) + float64(1+o)*rng.NormFloat64()
			if i%(2+o) == 0 && o > 0 {
				y[i] = math.NaN()
			}
		}
		truth.Targets = append(truth.Targets, Truth{Numbers: y})
	}
	folds, err := Split(30, Plan{Folds: 3})
	require.NoError(t, err)
	return truth, folds
}

// The results of several targets equal the results of each target without its gaps, and the mean
// of errors in units of the targets' standard deviations.
func TestSeveralTargets(t *testing.T) {
	truth, folds := severalTargets(t)
	mean := Each("mean", truth, func(o int) Candidate { return Mean(truth.Targets[o].Numbers) })
	zero := Candidate{Name: "zero", Learn: func(_ context.Context, f Fold) (*Prediction, error) {
		p := &Prediction{}
		for range truth.Targets {
			p.Targets = append(p.Targets, &Prediction{Mean: make([]float64, len(f.Test))})
		}
		return p, nil
	}}
	v := Validation{Truth: truth, Folds: folds, Candidates: []Candidate{mean, zero}, File: filepath.Join(t.TempDir(), "state")}
	r, err := v.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []Score{RelativeRMSE, NLPD, Coverage, PIT}, r.Scores())
	require.Len(t, r.Targets, 3)

	want := make([]float64, len(folds)) // of zero, in all
	for o, own := range truth.Targets {
		var known []float64
		for _, y := range own.Numbers {
			if !math.IsNaN(y) {
				known = append(known, y)
			}
		}
		var m, variance float64
		for _, y := range known {
			m += y / float64(len(known))
		}
		for _, y := range known {
			variance += (y - m) * (y - m) / float64(len(known))
		}
		for k, f := range folds {
			var square, n float64
			for _, i := range f.Test {
				if y := own.Numbers[i]; !math.IsNaN(y) {
					square, n = square+y*y, n+1
				}
			}
			got, ok := r.Targets[o].Fold(1, k, RMSE)
			require.True(t, ok)
			assert.InDelta(t, math.Sqrt(square/n), got, 1e-12)
			want[k] += square / n / variance / 3
		}
	}
	for k, w := range want {
		got, ok := r.Fold(1, k, RelativeRMSE)
		require.True(t, ok)
		assert.InDelta(t, math.Sqrt(w), got, 1e-12)
	}
	ranking, err := r.Rank(RelativeRMSE)
	require.NoError(t, err)
	assert.Equal(t, "mean", ranking.Rows[ranking.Best].Name)

	// What is in the file is not done again.
	v.Candidates[0].Learn = func(context.Context, Fold) (*Prediction, error) { panic("done before") }
	v.Candidates[1].Learn = v.Candidates[0].Learn
	again, err := v.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, r, again)
}

func TestSeveralTargetsRefused(t *testing.T) {
	truth, folds := severalTargets(t)
	nothing := []float64{math.NaN(), math.NaN()}
	for _, c := range []struct {
		truth Truth
		want  string
	}{
		{Truth{Numbers: []float64{1}, Targets: truth.Targets}, "one of them only"},
		{Truth{Targets: []Truth{{Numbers: []float64{1, 2}}, {Numbers: []float64{1}}}}, "Truth.Targets[1] has 1 samples, not 2"},
		{Truth{Targets: []Truth{{Numbers: []float64{1, 2}}, {Classes: []int{0, 1}}}}, "Truth.Targets[1]: Numbers are needed for all targets, or Classes for all"},
		{Truth{Targets: []Truth{{Numbers: nothing}}}, "Truth.Targets[0] is not known of any sample"},
	} {
		_, err := Validation{Truth: c.truth, Folds: folds, Candidates: []Candidate{Mean(nil)}}.Run(t.Context())
		assert.ErrorContains(t, err, c.want)
	}
	_, err := Compare(truth, []string{"a"}, []*Prediction{{}})
	assert.ErrorContains(t, err, "one target after another")

	few := Candidate{Name: "few", Learn: func(context.Context, Fold) (*Prediction, error) { return &Prediction{}, nil }}
	r, err := Validation{Truth: truth, Folds: folds, Candidates: []Candidate{few}}.Run(t.Context())
	require.NoError(t, err)
	assert.ErrorContains(t, r.Targets[1].Errors[0][2], "predictions of other than 3 targets")
}
