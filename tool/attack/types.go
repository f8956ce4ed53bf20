package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/bmkl/bmkl/internal/testkit/siege"
	"github.com/bmkl/bmkl/mkl"
)

// Types of classes that a program may have.
type (
	name   string
	pair   struct{ A, B int }
	hidden struct{ a int }
	figure struct{ X float64 }
)

// anyClasses fits classifiers with classes of any type. What is saved is loaded with the same
// classes, which compare equal to those that were given, and predicts the same.
func anyClasses(r *rand.Rand) siege.Case {
	a, b := 1, 1
	now := time.Now() // the one time with a reading of the monotonic clock; no outcome depends on when it is
	long := strings.Repeat("x", 1<<16)
	switch r.IntN(13) {
	case 0:
		return typed(r, 0, 1, -1, math.MaxInt, math.MinInt)
	case 1:
		return typed(r, 0.0, 1, math.Copysign(0, -1), 1e308, 5e-324, math.NaN(), math.Inf(1))
	case 2:
		return typed(r, "", "a", "\x00", "\xff", "\xfe", "\ufffd", long, "\u202e", "a\nb", `"`)
	case 3:
		return typed[name](r, "", "a", "\xff", "\xfe", "\ufffd", name(long))
	case 4:
		return typed(r, pair{1, 2}, pair{2, 1}, pair{})
	case 5:
		return typed(r, hidden{1}, hidden{2}, hidden{})
	case 6:
		return typed[any](r, 1, 1.0, "1", nil, []int{1}, pair{}, true, map[string]int{}, math.NaN())
	case 7:
		return typed(r, &a, &b, nil)
	case 8:
		return typed(r, [2]int{1, 2}, [2]int{2, 1})
	case 9:
		return typed(r, now, now.UTC(), now.Round(0), time.Time{})
	case 10:
		return typed(r, figure{1}, figure{math.NaN()}, figure{math.Copysign(0, -1)}, figure{math.Inf(1)})
	case 11:
		return typed[fmt.Stringer](r, time.Second, now, nil, mkl.ConstantNoise)
	}
	return typed(r, true, false)
}

// typed fits a classifier to samples that have these classes.
func typed[T comparable](r *rand.Rand, all ...T) siege.Case {
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(len(all), 2+r.IntN(3))]
	ctx, p := context.Background(), harmless(2+r.IntN(8))
	views, labels := mildViews(p), make([]T, p.n)
	for i := range labels {
		labels[i] = all[i%len(all)]
	}
	var given []T
	if r.IntN(3) == 0 {
		given = all
	}
	f := fitting{Fitting: mkl.Fitting{Workers: 1}, Ascent: mkl.Ascent{MaxSweeps: 2}}
	switch r.IntN(5) {
	case 0:
		return holdClasses(with(f, mkl.Classifier[T]{Classes: given}).Fit(ctx, views, labels))
	case 1:
		return holdClasses(with(f, mkl.MultiGPClassifier[T]{Classes: given}).Fit(ctx, views, labels))
	case 2:
		return holdClasses(with(f, mkl.ProbitClassifier[T]{Classes: given}).Fit(ctx, views, labels))
	case 3:
		l := &mkl.Landmarks{Count: 3}
		return holdClasses(with(f, mkl.LandmarkClassifier[T]{Classes: given, Landmarks: l}).Fit(ctx, views, labels))
	}
	return holdClasses(with(f, mkl.AutoClassifier[T]{Classes: given}).Fit(ctx, views, labels))
}

// holdClasses judges the model of a fit.
func holdClasses[C comparable, M interface {
	*S
	mkl.ClassModel[C]
}, S any](m M, err error) siege.Case {
	if m == nil {
		return refusal(err)
	}
	c := siege.Case{Outcome: siege.Held}
	x := mildViews(harmless(3))
	points := []mkl.Features{x[0].X, x[1].X}
	want, err := m.PredictClasses(context.Background(), mkl.PredictOptions{}, points...)
	if err != nil {
		c.Wrong = append(c.Wrong, err.Error())
		return c
	}
	_, _ = m.Summary(), m.String()
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		c.Wrong = sane(err) // such classes have no JSON
		return c
	}
	loaded, err := mkl.LoadAs[M](&file)
	if err != nil {
		c.Wrong = append(c.Wrong, fmt.Sprintf("LoadAs of %v: %v", m.Classes(), err))
		return c
	}
	got, err := loaded.PredictClasses(context.Background(), mkl.PredictOptions{}, points...)
	switch {
	case err != nil:
		c.Wrong = append(c.Wrong, err.Error())
	case !slices.Equal(loaded.Classes(), m.Classes()) || !slices.Equal(got.Label, want.Label):
		c.Wrong = append(c.Wrong, fmt.Sprintf("loaded, the classes are %v, where they were %v", loaded.Classes(), m.Classes()))
	case !slices.EqualFunc(got.Probability, want.Probability, slices.Equal[[]float64]):
		c.Wrong = append(c.Wrong, "loaded it predicts differently")
	}
	return c
}
