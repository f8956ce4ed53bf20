package mkl

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// saved returns a model in bytes.
func saved(t *testing.T, m Model) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, m.Save(&b))
	return b.Bytes()
}

// requireGoesOn demands that a fit which goes on from what a journal saved, at any time, ends in the
// bits of one that was not cut off.
func requireGoesOn(t *testing.T, s fitting, fit func(s fitting) Model) {
	t.Helper()
	whole := saved(t, fit(s))
	var kept [][]byte
	s.Journal = &Journal{Every: 1, Save: func(data []byte) error {
		kept = append(kept, data)
		return nil
	}}
	require.Equal(t, whole, saved(t, fit(s)), "a journal changes nothing")
	require.NotEmpty(t, kept)
	last := len(kept) - 1
	for _, n := range slices.Compact([]int{0, last / 4, last / 2, 3 * last / 4, last}) {
		s.Journal = &Journal{}
		require.NoError(t, s.Journal.UnmarshalBinary(kept[n]))
		assert.Equal(t, whole, saved(t, fit(s)), "from state %d of %d", n+1, len(kept))
	}
}

func TestEstimatorsGoOnFromAJournal(t *testing.T) {
	testkit.NotShort(t)
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, _, _ := twoInputs(1, 20)
		s := fitting{Fitting: Fitting{Seed: 3}, Ascent: Ascent{Restarts: 1, MaxSweeps: e.sweeps(12)}}
		if e.staged || e.open {
			s.Restarts = 0
		}
		requireGoesOn(t, s, func(s fitting) Model { return mustFit(t, e, s, views, y) })
	})
}

// What has views of its own form, or none, goes on as well, and so do all ways to fit.
func TestOthersGoOnFromAJournal(t *testing.T) {
	testkit.NotShort(t)
	ctx := context.Background()
	views, y, _, _ := twoInputs(1, 24)
	positive := views[:2] // without centring, and with no value below 0
	second, class := slices.Clone(y), parts(y, 3)
	slices.Reverse(second)
	table, _ := films(30, 8, 0.3)
	x, z, linear := linearProblem(90)
	probit := func(s fitting, c ProbitClassifier[int]) (Model, error) {
		c.Fitting, c.Ascent = s.Fitting, s.Ascent
		return orNil(c.Fit(ctx, positive, class))
	}
	for name, fit := range map[string]func(s fitting) (Model, error){
		"tasks of common functions": func(s fitting) (Model, error) {
			return orNil(MultiTask{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, views, y, second))
		},
		"functions that are known": func(s fitting) (Model, error) {
			some := []View{{X: views[0].X, Kernel: kernel.KnownFunction{}}, views[1]}
			return orNil(MultiTask{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, some, y, second))
		},
		"linear kernels of few features": func(s fitting) (Model, error) {
			return orNil(MultiGP{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, linearViews(x, z), linear))
		},
		"spike and slab": func(s fitting) (Model, error) {
			return orNil(SpikeSlab{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, views[0].X, y))
		},
		"factors": func(s fitting) (Model, error) {
			return orNil(FactorAnalysis{Fitting: s.Fitting, Ascent: s.Ascent, Factors: 3}.Fit(ctx, table))
		},
		"factorised": func(s fitting) (Model, error) {
			return orNil(FactorisedGP{Fitting: s.Fitting, Tolerance: s.Tolerance, MaxSweeps: s.MaxSweeps}.Fit(ctx, views, y))
		},
		"published": func(s fitting) (Model, error) {
			return orNil(FactorisedGPClassifier[int]{Fitting: s.Fitting, Plain: true, Tolerance: s.Tolerance, MaxSweeps: s.MaxSweeps}.Fit(ctx, views, class))
		},
		"landmarks": func(s fitting) (Model, error) {
			return orNil(LandmarkGP{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, positive, y))
		},
		"landmarks of classes": func(s fitting) (Model, error) {
			return orNil(LandmarkClassifier[int]{Fitting: s.Fitting, MinRise: s.Tolerance, MaxPasses: s.MaxSweeps}.Fit(ctx, positive, class))
		},
		"weights sampled": func(s fitting) (Model, error) {
			return probit(s, ProbitClassifier[int]{Rule: WeightedSum{}, Search: WeightSearchSampling})
		},
		"powers sampled": func(s fitting) (Model, error) {
			return probit(s, ProbitClassifier[int]{Rule: WeightedProduct{}, Search: WeightSearchSampling, Update: WeightUpdateMeanField})
		},
		"powers": func(s fitting) (Model, error) {
			return probit(s, ProbitClassifier[int]{Rule: WeightedProduct{}, Update: WeightUpdateMeanField})
		},
		"switches": func(s fitting) (Model, error) { return probit(s, ProbitClassifier[int]{Rule: SwitchedSum{}}) },
		"weights, pruned": func(s fitting) (Model, error) {
			return probit(s, ProbitClassifier[int]{Rule: WeightedSum{}, Update: WeightUpdateMeanField, Prune: 1.5})
		},
		"relevances": func(s fitting) (Model, error) {
			ard := slices.Clone(positive[:1])
			for i := range ard {
				ard[i].Kernel = kernel.RBF{Width: 1, ARD: true}
			}
			return orNil(ProbitClassifier[int]{Fitting: s.Fitting, Ascent: s.Ascent, AllowDuplicates: s.allowDuplicates}.Fit(ctx, ard, class))
		},
	} {
		t.Run(name, func(t *testing.T) {
			requireGoesOn(t, fitting{Fitting: Fitting{Seed: 3}, Ascent: Ascent{MaxSweeps: 14}}, func(s fitting) Model {
				m, err := fit(s)
				require.NoError(t, err)
				return m
			})
		})
	}
}

func TestJournalRefused(t *testing.T) {
	views, y, _, _ := twoInputs(1, 20)
	ctx := context.Background()
	j := &Journal{}
	_, err := Regression{Fitting: Fitting{Journal: j}, Ascent: Ascent{MaxSweeps: 3}}.Fit(ctx, views, y)
	require.NoError(t, err)
	data, err := j.MarshalBinary()
	require.NoError(t, err)
	assert.Equal(t, 3, j.Sweeps())

	again := func(f fitting, y []float64) error {
		f.Journal = &Journal{}
		require.NoError(t, f.Journal.UnmarshalBinary(data))
		_, err := Regression{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates}.Fit(ctx, views, y)
		return err
	}
	assert.NoError(t, again(fitting{Ascent: Ascent{MaxSweeps: 5}}, y), "more sweeps go on")
	assert.EqualError(t, again(fitting{Fitting: Fitting{Seed: 2}}, y), "mkl: Journal: it is of a fit with Seed 0 and Tolerance 0, not 2 and 0")
	y[4] = math.Nextafter(y[4], 9)
	assert.EqualError(t, again(fitting{}, y), "mkl: vi: the state of ascent 1: it is of other data, other settings or another version")

	full := errors.New("no space left")
	_, err = Regression{Fitting: Fitting{Journal: &Journal{Save: func([]byte) error { return full }}}}.Fit(ctx, views, y)
	assert.ErrorIs(t, err, full)
	assert.EqualError(t, err, "mkl: vi: sweep 1: Journal: no space left")
	for i := range data {
		assert.Error(t, new(Journal).UnmarshalBinary(data[:i]), i)
	}
}

// A journal of other targets is refused, and what it has put into a fit until then is no model.
func TestJournalOfOtherData(t *testing.T) {
	views, y, _, _ := twoInputs(1, 20)
	refused := func(t *testing.T, sweeps int, fit func(s fitting, y []float64) (Model, error)) {
		var kept []byte
		s := fitting{Fitting: Fitting{Seed: 3}, Ascent: Ascent{MaxSweeps: sweeps}}
		s.Journal = &Journal{Every: 1, Save: func(data []byte) error {
			kept = data
			return nil
		}}
		_, err := fit(s, y)
		require.NoError(t, err)
		other := slices.Clone(y)
		slices.Reverse(other)
		s.Journal = &Journal{}
		require.NoError(t, s.Journal.UnmarshalBinary(kept))
		m, err := fit(s, other)
		assert.ErrorContains(t, err, "other data")
		assert.Nil(t, m)
	}
	ctx := context.Background()
	eachEstimator(t, func(t *testing.T, e estimator) {
		refused(t, e.sweeps(12), func(s fitting, y []float64) (Model, error) { return e.fit(ctx, s, views, y) })
	})
	refused(t, 12, func(s fitting, y []float64) (Model, error) {
		x, z, _ := linearProblem(90)
		return orNil(MultiGP{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, linearViews(x, z), slices.Concat(y, y, y, y, y[:10])))
	})
	refused(t, 12, func(s fitting, y []float64) (Model, error) {
		return orNil(LandmarkClassifier[int]{Fitting: s.Fitting, MinRise: s.Tolerance, MaxPasses: s.MaxSweeps}.Fit(ctx, views[:2], parts(y, 3)))
	})
}

// A sum of the bounds of several functions that no file holds is no model's.
func TestJournalOfBoundsBeyondNumbers(t *testing.T) {
	fit := func(bound float64) *mgp.FeatureFit {
		return &mgp.FeatureFit{Record: vi.Record{Trace: []float64{bound}}}
	}
	_, err := passesTrace([]*mgp.FeatureFit{fit(-1), fit(-2)})
	assert.NoError(t, err)
	_, err = passesTrace([]*mgp.FeatureFit{fit(1e308), fit(1e308)})
	assert.ErrorContains(t, err, `tensor "trace.bounds": element 0 is +Inf`)
}
