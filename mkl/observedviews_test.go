package mkl

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/mgp"
)

// filled returns the views with the default kernels of several views.
func filled(t *testing.T, views []View) []View {
	t.Helper()
	out, _, err := FillViews(0, views)
	require.NoError(t, err)
	return out
}

// noisyViews are a view that has the function, and three views of noise.
func noisyViews(n int, seed uint64) (views []View, f []float64) {
	r := rand.New(rand.NewPCG(seed, 36))
	for _, name := range []string{"signal", "noise 1", "noise 2", "noise 3"} {
		views = append(views, View{Name: name, Input: name, X: normal(r, n, 5)})
	}
	for i := range n {
		f = append(f, views[0].X.At(i, 0)+math.Sin(2*views[0].X.At(i, 1)))
	}
	return views, f
}

// Known times with normal errors have the members that [Auto] fits to their logarithms: the sites are the logarithms.
func TestObservedViewsOfKnownTimes(t *testing.T) {
	views, _, y := threeViews(60, 3)
	times := make([]Lifetime, len(y))
	for i, v := range y {
		times[i] = Lifetime{From: math.Exp(v), To: math.Exp(v)}
	}
	m, err := Survival{Law: LogNormal}.Fit(t.Context(), filled(t, views), times)
	require.NoError(t, err)
	k, err := newAmplitudeKernels(t.Context(), &fitting{}, KernelsOfView, views, [][]float64{y}, false)
	require.NoError(t, err)
	_, z := standardizeWeighted(y, nil, false)
	fits, want, err := k.fitAmplitudes(t.Context(), &fitting{}, amplitudeTargets{y: z})
	require.NoError(t, err)
	require.Len(t, m.Views(), 3)
	for i, v := range m.Views() {
		w := want.views[i]
		assert.Equal(t, w.View, v.View)
		assert.InDelta(t, w.Share, v.Share, 2e-3)
		assert.InDelta(t, w.SD, v.SD, 2e-3)
		assert.InDelta(t, w.In, v.In, 2e-3)
		assert.InDelta(t, w.Informative, v.Informative, 2e-3)
		assert.InDelta(t, w.Loss, v.Loss, 5e-3)
		assert.InDelta(t, w.LossSE, v.LossSE, 5e-3)
	}
	assert.InDelta(t, math.Sqrt((fits[0].Noise+fits[1].Noise)/2), m.sigma(), 0.02, "the noise, in units of the standardised logarithms")
	p, err := m.Predict(matricesOf(views)...)
	require.NoError(t, err)
	for i, v := range p.Median() {
		assert.InDelta(t, y[i], math.Log(v), 0.5)
	}
}

// The sites leave to each observation the function that expectation propagation leaves it.
func TestObservedViewsLeaveOneOut(t *testing.T) {
	views, f := noisyViews(70, 1)
	r := rand.New(rand.NewPCG(2, 2))
	var lower, upper, counts []float64
	grades := make([]int, len(f))
	for i, v := range f {
		y, end := v+0.3*r.NormFloat64(), 1+r.NormFloat64()
		lower, upper = append(lower, min(y, end)), append(upper, min(y, end))
		if y > end {
			upper[i] = math.Inf(1)
		}
		counts = append(counts, math.Floor(math.Exp(v+r.Float64())))
		grades[i] = max(0, min(3, int(v+2)))
	}
	for _, like := range []mgp.Likelihood{
		mgp.Censored{Lower: lower, Upper: upper}, mgp.Censored{Lower: lower, Upper: upper, Law: mgp.Weibull}, mgp.Counts{Y: counts, Dispersed: true}, mgp.Ordinal{Y: grades, Grades: 4},
	} {
		p := (&Survival{}).problem()
		k, err := newAmplitudeKernels(t.Context(), p.fitting, KernelsOfView, views, [][]float64{f}, false)
		require.NoError(t, err)
		o := &observedViews{processObservations: p, kernels: k, like: like, ones: onesOf(len(f))}
		J, _ := k.packed.Dims()
		require.NoError(t, o.climb(t.Context(), p.fitting, slices.Repeat([]float64{1 / float64(J)}, J)))
		of, unit, err := o.targets()
		require.NoError(t, err)
		s := o.fit.Posterior.State()
		amplitudes := make([]float64, J)
		for j, a := range o.amplitudes {
			amplitudes[j] = a / s.Gamma[0] / (unit.sd * unit.sd)
		}
		noise := of.knownNoise
		if noise == 0 { // of times it is to be learned
			noise = math.Exp(s.Shape[1]) / (unit.sd * unit.sd)
		}
		process, err := k.problem(p.fitting, of).At(amplitudes, noise)
		require.NoError(t, err)
		left, err := of.leftOut(process)
		require.NoError(t, err)
		var mean float64 // of the differences
		for i, want := range o.fit.LeaveOneOut.LogProbability {
			if d := math.Log(left[i]) - want; like.Name() != Weibull.String() { // whose known times have the expected precision
				assert.InDelta(t, 0, d, 0.05, "%s, sample %d: the constant has another variance", like.Name(), i)
			} else {
				mean += d / float64(len(f))
			}
		}
		assert.InDelta(t, 0, mean, 0.1, "errors of Weibull")

		// Targets of some samples have the same units.
		rows := vec.UpTo(len(f) / 2)
		few, err := k.problem(p.fitting, of).Part(rows)
		require.NoError(t, err)
		part := of.part(few.Y, rows)
		for i := range rows {
			assert.InDelta(t, unit.mean+unit.sd*of.y.At(0, i), part.observed.unit.mean+part.observed.unit.sd*few.Y.At(0, i), 1e-9)
		}
	}
}

// Views of noise get nothing, whatever the observations, and predictions are as good as without these views.
func TestObservedViewsOfNoise(t *testing.T) {
	const n = 150
	views, f := noisyViews(2*n, 4)
	r := rand.New(rand.NewPCG(5, 5))
	var times []Lifetime
	var counts []float64
	var grades []int
	for _, v := range f {
		y, end := math.Exp(v+0.5*r.NormFloat64()), math.Exp(1+r.NormFloat64())
		l := Lifetime{From: min(y, end), To: min(y, end)}
		if y > end {
			l.To = math.Inf(1)
		}
		times, counts, grades = append(times, l), append(counts, math.Floor(2*r.ExpFloat64()*math.Exp(v))), append(grades, max(0, min(3, int(v+2))))
	}
	train, test := vec.UpTo(n), make([]int, n)
	for i := range test {
		test[i] = n + i
	}
	type model interface {
		Model
		Views() []ViewShare
	}
	for name, fit := range map[string]func(views []View) (model, func(x []Features) float64){
		"times": func(views []View) (model, func(x []Features) float64) {
			m, err := Survival{}.Fit(t.Context(), filled(t, takeRows(views, train)), vec.Picked(times, train))
			require.NoError(t, err)
			return m, func(x []Features) (nats float64) {
				p, err := m.Predict(x...)
				require.NoError(t, err)
				for i, r := range test {
					nats += p.LogScore(i, times[r]) / n
				}
				return nats
			}
		},
		"counts": func(views []View) (model, func(x []Features) float64) {
			m, err := Counts{}.Fit(t.Context(), filled(t, takeRows(views, train)), vec.Picked(counts, train))
			require.NoError(t, err)
			return m, func(x []Features) (nats float64) {
				p, err := m.Predict(x...)
				require.NoError(t, err)
				for i, r := range test {
					nats += p.LogProbability(i, counts[r]) / n
				}
				return nats
			}
		},
		"grades": func(views []View) (model, func(x []Features) float64) {
			m, err := Ordinal[int]{}.Fit(t.Context(), filled(t, takeRows(views, train)), vec.Picked(grades, train))
			require.NoError(t, err)
			return m, func(x []Features) (nats float64) {
				p, err := m.PredictClasses(t.Context(), PredictOptions{}, x...)
				require.NoError(t, err)
				for i, r := range test {
					nats += math.Log(p.Probability[i][grades[r]]) / n
				}
				return nats
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, score := fit(views)
			of := takeRows(views, test)
			all := score(matricesOf(of))
			table := m.Views()
			require.Len(t, table, 4)
			assert.Equal(t, "signal", table[0].View)
			assert.Greater(t, table[0].In, 0.99)
			assert.Greater(t, table[0].Informative, 0.99)
			assert.Greater(t, table[0].Loss, 3*table[0].LossSE)
			var share float64
			for _, v := range table[1:] {
				share += v.Share
				assert.Less(t, v.Informative, 0.8, "before any data it is one half")
			}
			assert.Less(t, share, 0.15)

			// The model of the signal alone is a sum of the same kernels with free amplitudes.
			signal, _, err := FillViews(KernelsOfView, views[:1])
			require.NoError(t, err)
			_, alone := fit(signal)
			assert.Greater(t, all, alone(matricesOf(of[:1]))-0.1, "nats")
		})
	}
}

// A table is in the file, with its remarks, and groups of views are judged together.
func TestObservedViewsFiles(t *testing.T) {
	views, _, y := threeViews(40, 3)
	views = filled(t, views)
	groups := []ViewGroup{{"both", []string{"a", "b"}}}
	counts := make([]float64, len(y))
	for i, v := range y {
		counts[i] = math.Floor(math.Exp(1 + v))
	}
	m, err := Counts{Groups: groups}.Fit(t.Context(), views, counts)
	require.NoError(t, err)
	require.Len(t, m.Groups(), 1)
	assert.InDelta(t, m.Views()[0].Share+m.Views()[1].Share, m.Groups()[0].Share, 1e-9)
	assert.Empty(t, m.Outputs()[0].Prior, "one prior does not describe amplitudes that borrow strength")
	assert.Nil(t, m.ViewRemarks())
	assert.Contains(t, m.Summary(), "views (share of the variance of the function ± SD, probability that the view is needed):\n  a ")
	m.remarks = []string{"a remark"}
	again := requireFile(t, m, LoadAs[*CountModel], 1<<30)
	assert.Equal(t, m.Views(), again.Views())
	assert.Equal(t, m.Groups(), again.Groups())
	assert.Equal(t, m.ViewRemarks(), again.ViewRemarks())
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	assertRefused(t, file.Bytes(), func(md map[string]string, _ map[string]tensor) {
		md["model"] = strings.Replace(md["model"], `"share":`, `"share":7`, 1)
	}, "views[0]: share")

	_, err = Counts{Groups: []ViewGroup{{"g", []string{"c", "a"}}}}.Fit(t.Context(), views, counts)
	assert.ErrorContains(t, err, `there is no view "c"`)
	one, err := Counts{Groups: groups}.Fit(t.Context(), views[:1], counts)
	require.NoError(t, err)
	assert.Nil(t, one.Views())
	assert.Equal(t, []string{groupsRemark}, one.ViewRemarks())
	_, err = Counts{}.Fit(t.Context(), []View{{Name: "a", Input: "a", X: views[0].X}, {Name: "b", Input: "b", X: views[0].X}}, counts)
	assert.ErrorContains(t, err, "Kernel", "views without kernels stay an error")
}

// Sites that differ by rounding alone are no targets.
func TestObservedViewsOfOneValue(t *testing.T) {
	views, f := noisyViews(30, 3)
	p := (&Survival{}).problem()
	k, err := newAmplitudeKernels(t.Context(), p.fitting, KernelsOfView, views, [][]float64{f}, false)
	require.NoError(t, err)
	same := slices.Repeat([]float64{0.5}, len(f))
	o := &observedViews{processObservations: p, kernels: k, like: mgp.Censored{Lower: same, Upper: same}, ones: onesOf(len(f))}
	require.NoError(t, o.climb(t.Context(), p.fitting, nil))
	_, _, err = o.targets()
	assert.ErrorIs(t, err, errSites)
}

// A view of one value has a kernel that is a constant, and no row in the table: the fit is the fit without it.
func TestObservedViewsOfConstantFeatures(t *testing.T) {
	views, f := noisyViews(33, 5)
	x := la.NewMatrix[float64](len(f), 2)
	x.Fill(0.1)
	counts := make([]float64, len(f))
	for i, v := range f {
		counts[i] = math.Floor(math.Exp(1 + v))
		if i%5 == 0 { // and the view that some samples lack
			x.Set(i, 0, math.NaN())
			x.Set(i, 1, math.NaN())
		}
	}
	of := func(i int) View {
		return View{Name: views[i].Name, Input: views[i].Input, X: views[i].X, Kernel: kernel.RBF{}}
	}
	constant := View{Name: "constant", Input: "constant", X: x, Kernel: kernel.Constant{}}
	want, err := Counts{MissingViews: true, Law: Poisson}.Fit(t.Context(), []View{of(0), of(1), constant}, counts)
	require.NoError(t, err)
	require.Len(t, want.Views(), 2)
	for _, one := range []kernel.Kernel{kernel.Linear{}, kernel.RBF{Scale: 1}, kernel.Laplacian{Width: 2}} {
		other := constant
		other.Kernel, other.Name = one, "other"
		got, err := Counts{MissingViews: true, Law: Poisson}.Fit(t.Context(), []View{of(0), of(1), constant, other}, counts)
		require.NoError(t, err)
		assert.InDelta(t, want.Bound(), got.Bound(), 1e-9)
		require.Len(t, got.Views(), 2)
		for i, w := range want.Views() {
			v := got.Views()[i]
			assert.Equal(t, w.View, v.View)
			assert.InDelta(t, w.Informative, v.Informative, 1e-9)
			assert.InDelta(t, w.Loss, v.Loss, 1e-9)
			assert.InDelta(t, w.In, v.In, 0.02, "draws that rounding turns")
			assert.InDelta(t, w.Share, v.Share, 0.05, "draws that rounding turns")
		}
	}
}

// The order of the samples and of the views changes nothing but the last digits.
func TestObservedViewsInAnyOrder(t *testing.T) {
	views, f := noisyViews(50, 6)
	views = views[:3]
	times := make([]Lifetime, len(f))
	for i, v := range f {
		times[i] = Lifetime{From: math.Exp(v), To: math.Exp(v)}
		if i%3 == 0 {
			times[i].To = math.Inf(1)
		}
	}
	m, err := Survival{}.Fit(t.Context(), filled(t, views), times)
	require.NoError(t, err)
	rows := rand.New(rand.NewPCG(1, 1)).Perm(len(f))
	other := takeRows([]View{views[2], views[0], views[1]}, rows)
	k, err := Survival{}.Fit(t.Context(), filled(t, other), vec.Picked(times, rows))
	require.NoError(t, err)
	assert.Equal(t, m.Law(), k.Law())
	assert.InDelta(t, m.Bound(), k.Bound(), 1e-3)
	for i, v := range m.Views() {
		w := k.Views()[(i+1)%3]
		assert.Equal(t, v.View, w.View)
		assert.InDelta(t, v.Share, w.Share, 0.01)
		assert.InDelta(t, v.In, w.In, 0.02)
		assert.InDelta(t, v.Loss, w.Loss, 0.01)
	}
	p, err := m.Predict(matricesOf(views)...)
	require.NoError(t, err)
	q, err := k.Predict(matricesOf([]View{views[2], views[0], views[1]})...)
	require.NoError(t, err)
	for i, v := range p.Risk() {
		assert.InDelta(t, v, q.Risk()[i], 1e-3)
	}
}

// A fit that is interrupted returns what it has, and continues from its journal to the same model.
func TestObservedViewsStopped(t *testing.T) {
	views, _, y := threeViews(30, 3)
	x := matricesOf(views)
	views = filled(t, views)
	times := make([]Lifetime, len(y))
	for i, v := range y {
		times[i] = Lifetime{From: math.Exp(v), To: math.Exp(v)}
	}
	whole, err := Survival{}.Fit(t.Context(), views, times)
	require.NoError(t, err)
	cause := errors.New("enough")
	for _, part := range []int{1, 2, partsOfViews(2) - 1, partsOfViews(2)} {
		var saved []byte
		ctx, cancel := context.WithCancelCause(t.Context())
		s := Survival{}
		s.Journal = &Journal{Save: func(data []byte) error { saved = slices.Clone(data); return nil }}
		s.Progress = func(p Progress) {
			assert.Equal(t, partsOfViews(2), p.Starts)
			if p.Start == part && p.Sweep == 1 {
				cancel(cause)
			}
		}
		m, err := s.Fit(ctx, views, times)
		cancel(nil)
		require.ErrorIs(t, err, cause, part)
		if m != nil {
			_, err := m.Predict(x...)
			require.NoError(t, err)
		}
		require.NotNil(t, saved)
		journal := &Journal{}
		require.NoError(t, journal.UnmarshalBinary(saved))
		m, err = Survival{Fitting: Fitting{Journal: journal}}.Fit(t.Context(), views, times)
		require.NoError(t, err)
		assert.Equal(t, whole.Views(), m.Views(), part)
		assert.Equal(t, whole.KernelWeights(), m.KernelWeights(), part)
	}
}

// Times of several views with landmarks have the amplitudes and the table of the landmarks.
func TestObservedViewsOfManySamples(t *testing.T) {
	views, f := noisyViews(300, 8)
	times := make([]Lifetime, len(f))
	for i, v := range f {
		times[i] = Lifetime{From: math.Exp(v), To: math.Exp(v)}
	}
	m, err := Survival{Landmarks: 80, Law: LogNormal}.Fit(t.Context(), filled(t, views), times)
	require.NoError(t, err)
	require.Len(t, m.Views(), 4)
	assert.Greater(t, m.Views()[0].Share, 0.8)
	p, err := m.Predict(matricesOf(views)...)
	require.NoError(t, err)
	var square float64
	for i, v := range p.Median() {
		d := math.Log(v) - f[i]
		square += d * d / float64(len(f))
	}
	assert.Less(t, square, 0.3, "of a variance of about 1.5")
}
