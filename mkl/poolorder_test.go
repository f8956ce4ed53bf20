package mkl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/mgp"
)

// told are samples and the inputs of predictions, told in one of several ways that mean the same.
type told struct {
	way   string
	views []View
	at    []Features // the samples that are predicted, one matrix for each input
	rows  []int      // the training sample in each row
}

// retold returns samples in another order of the rows, and samples with their views and columns in another order, in other units and with other
// signs, all at once: a fit for each takes minutes.
func retold(views []View, at []Features) []told {
	n := views[0].X.Rows
	order := rand.New(rand.NewPCG(3, 4)).Perm(n)
	shuffled := changed(views, func(x Features) Features { return taken(x, order, nil) })

	last := slices.Clone(views)
	slices.Reverse(last)
	var x []Features
	for _, m := range distinctInputs(last) {
		x = append(x, at[inputOf(views, m)])
	}
	other := func(x Features) Features {
		x = mirrored(x)
		for i := range x.Rows {
			for j, v := range x.Row(i) { // each column has a unit and a zero of its own
				sign := float64(1 - j%2*2)
				x.Set(i, j, float64(sign*1.8*math.Pow(7, float64(j-1))*v)+float64(32*(j+1)))
			}
		}
		return x
	}
	last = changed(last, other)
	for i, v := range last {
		last[i].Columns = nil
		for _, c := range v.Columns {
			last[i].Columns = append(last[i].Columns, v.X.Cols-1-c)
		}
	}
	return []told{{"rows", shuffled, at, order}, {otherForm, last, each(x, other), upTo(n)}}
}

// otherForm is the way of retold that keeps the order of the rows.
const otherForm = "views, columns, units and signs"

// inputOf returns the place of a matrix among the inputs of views.
func inputOf(views []View, x Features) int {
	return slices.IndexFunc(distinctInputs(views), func(m Features) bool { return &m.Data[0] == &x.Data[0] })
}

// changed returns views of changed inputs.
func changed(views []View, change func(Features) Features) (out []View) {
	inputs := each(distinctInputs(views), change)
	for _, v := range views {
		v.X = inputs[inputOf(views, v.X)]
		out = append(out, v)
	}
	return out
}

// mirrored returns the columns in reverse order.
func mirrored(x Features) Features {
	columns := upTo(x.Cols)
	slices.Reverse(columns)
	return taken(x, nil, columns)
}

func each[T any](all []T, change func(T) T) (out []T) {
	for _, v := range all {
		out = append(out, change(v))
	}
	return out
}

func picked[T any](all []T, rows []int) (out []T) {
	for _, r := range rows {
		out = append(out, all[r])
	}
	return out
}

// between are samples near and between the first ones.
func between(views []View) []Features {
	return each(distinctInputs(views), func(x Features) Features {
		x = x.Slice(0, 20, 0, x.Cols).Clone()
		la.Scal(1.1, x.Data)
		return x
	})
}

// A pool's predictions do not see the order of rows, views and columns, nor units and signs. These change the rounding of sums. The tolerance is a
// share of a prediction's SD. Measured are differences up to 1e-10: a climb or a draw ends where it did, but for rounding. An order of draws by place
// would move predictions by up to 2.4.
func TestNewMembersDoNotSeeTheOrder(t *testing.T) {
	const tolerance = 1e-8
	type set struct {
		name  string
		a     Auto
		views []View
		y     []float64
		has   func(m *AutoModel) bool
	}
	var all []set
	for seed := range uint64(2) {
		table, product, _, _ := actTogether(seed, 60)
		all = append(all, set{fmt.Sprint("one table of several views, ", seed), Auto{}, table, product, func(m *AutoModel) bool { return m.table != nil }})
		noisy, sums, _ := besideNoise(seed, 40)
		all = append(all, set{fmt.Sprint("sums that leave out views, ", seed), Auto{OwnScale: true}, noisy, sums, func(m *AutoModel) bool { return len(doubtful(m.views)) > 0 }})
	}
	x, price, _ := prices(4, 60)
	all = append(all, set{"logarithms of targets", Auto{}, []View{{X: x}}, price, func(m *AutoModel) bool { return m.scale == logScale }})
	products, bowl := dixonPrice(150)
	all = append(all, set{"products of features", Auto{}, []View{{X: products}}, bowl, func(m *AutoModel) bool { return slices.Contains(m.names, interactionsMember) }})
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.a.OwnScale {
				t.Skip("takes seconds")
			}
			at := between(c.views)
			m := fitPool(t, c.a, c.views, c.y)
			require.True(t, c.has(m), m.Story())
			mean, variance, err := m.Predict(at...)
			require.NoError(t, err)
			for _, o := range retold(c.views, at) {
				unit, y := 1.0, picked(c.y, o.rows)
				if o.way == otherForm {
					unit = 123.4
					la.Scal(unit, y)
				}
				p := fitPool(t, c.a, o.views, y)
				assert.True(t, c.has(p), o.way)
				got, v, err := p.Predict(o.at...)
				require.NoError(t, err)
				for i := range mean {
					sd := math.Sqrt(variance[i])
					assert.InDelta(t, mean[i], got[i]/unit, float64(tolerance*sd), "%s, mean of %d", o.way, i)
					assert.InDelta(t, sd, math.Sqrt(v[i])/unit, float64(tolerance*sd), "%s, SD of %d", o.way, i)
				}
				if o.way != "rows" { // functions are drawn sample by sample
					assert.Equal(t, each(m.Views(), rounded), each(byName(p.Views(), m.Views()), rounded), o.way)
				}
			}
		})
	}
}

// rounded returns a row of the table of views without digits that rounding changes.
func rounded(v ViewShare) ViewShare {
	for _, x := range []*float64{&v.Share, &v.SD, &v.In, &v.Informative, &v.Loss, &v.LossSE} {
		*x = math.Round(1e4**x) / 1e4
	}
	return v
}

// byName returns rows of the table of views in the order of others.
func byName(views, others []ViewShare) []ViewShare {
	return each(others, func(o ViewShare) ViewShare {
		return views[slices.IndexFunc(views, func(v ViewShare) bool { return v.View == o.View })]
	})
}

// Nor do pools of several targets, each known of some of the samples. Measured are differences up to 1e-12.
func TestPoolsOfTargetsDoNotSeeTheOrder(t *testing.T) {
	testkit.NotShort(t)
	const tolerance = 1e-8
	for _, n := range []int{60, 310} { // below and above the 300 samples where a fit begins with a part of them
		x, y := ripples(3, n)
		_, price, _ := prices(4, n)
		targets := [][]float64{y, someMissing(y), price}
		views := []View{{X: x}}
		at := between(views)
		fit := func(o told) *Prediction {
			all := each(targets, func(y []float64) []float64 { return picked(y, o.rows) })
			m, err := AutoTargets{Fitting: Fitting{Workers: 2}, MissingTargets: true}.Fit(t.Context(), o.views, all...)
			require.NoError(t, err)
			p, err := m.PredictTargets(t.Context(), PredictOptions{}, o.at...)
			require.NoError(t, err)
			return p
		}
		want := fit(told{"", views, at, upTo(n)})
		for _, o := range retold(views, at) {
			got := fit(o)
			for k := range targets {
				for i, v := range want.Variance[k] {
					sd := math.Sqrt(v)
					assert.InDelta(t, want.Mean[k][i], got.Mean[k][i], float64(tolerance*sd), "%d samples, %s, target %d: mean of %d", n, o.way, k, i)
					assert.InDelta(t, sd, math.Sqrt(got.Variance[k][i]), float64(tolerance*sd), "%d samples, %s, target %d: SD of %d", n, o.way, k, i)
				}
			}
		}
	}
}

// Nor do pools of classes, which do not see the names of the classes either. Tolerances are of probabilities.
func TestNewClassMembersDoNotSeeTheOrder(t *testing.T) {
	const tolerance = 1e-9
	table, together, _, _ := actTogetherClasses(1, 60, 2)
	three, of3, _, _ := actTogetherClasses(1, 60, 3)
	cross, sign := crossing(90)
	for _, c := range []struct {
		name  string
		views []View
		class []int
		has   func(m *AutoClassifierModel[int]) bool
	}{
		{"one table of several views", table, together, func(m *AutoClassifierModel[int]) bool { return m.table != nil }},
		{"one table, three classes", three, of3, func(m *AutoClassifierModel[int]) bool { return m.table != nil }},
		{"products of features", []View{{X: cross}}, sign, func(m *AutoClassifierModel[int]) bool { return slices.Contains(m.names, interactionsMember) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := between(c.views)
			m := fitClasses(t, AutoClassifier[int]{}, c.views, c.class)
			require.True(t, c.has(m), m.Story())
			_, want, err := m.Predict(at...)
			require.NoError(t, err)
			ways := append(retold(c.views, at), told{"names", c.views, at, upTo(len(c.class))})
			for _, o := range ways {
				class := picked(c.class, o.rows)
				if o.way == "names" {
					class = each(class, func(k int) int { return 7 - k })
				}
				p := fitClasses(t, AutoClassifier[int]{}, o.views, class)
				assert.True(t, c.has(p), o.way)
				_, got, err := p.Predict(o.at...)
				require.NoError(t, err)
				for k, name := range m.Classes() {
					if o.way == "names" {
						name = 7 - name
					}
					other := slices.Index(p.Classes(), name)
					for i := range want {
						assert.InDelta(t, want[i][k], got[i][other], tolerance, "%s, class %d of %d", o.way, k, i)
					}
				}
			}
		})
	}
}

// Fits of counts, times and grades on landmarks do not see the order of rows, views and columns, nor units.
func TestLandmarksDoNotSeeTheOrder(t *testing.T) {
	const n, landmarks = 200, 60
	views, y, exposure, _ := someVisits(5, n, 2)
	views = []View{{X: views[0].X, Kernel: kernel.RBF{}, Standardize: true}, {Name: "b", Input: "b", X: views[0].X.Clone(), Kernel: kernel.RBF{ARD: true}, Standardize: true}}
	at := between(views)
	grades := parts(y, 4)
	times := someLifetimes(each(y, func(v float64) float64 { return math.Log(0.5 + v) }))
	for name, like := range map[string]func(rows []int) mgp.Likelihood{
		"counts": func(rows []int) mgp.Likelihood {
			return mgp.Counts{Y: picked(y, rows), Exposure: picked(exposure, rows), Dispersed: true}
		},
		"times": func(rows []int) mgp.Likelihood {
			_, lower, upper, err := logTimes(picked(times, rows))
			require.NoError(t, err)
			return mgp.Censored{Lower: lower, Upper: upper, Law: Weibull.law()}
		},
		"grades": func(rows []int) mgp.Likelihood { return mgp.Ordinal{Y: picked(grades, rows), Grades: 4} },
	} {
		t.Run(name, func(t *testing.T) {
			fit := func(o told, landmarks int) (mean, variance []float64) {
				targets := [][]float64{picked(y, o.rows), picked(exposure, o.rows)}
				m, err := (&Counts{}).problem().fitMany(t.Context(), o.views, landmarks, targets, like(o.rows))
				require.NoError(t, err)
				p, err := (&CountModel{*m}).PredictCounts(t.Context(), PredictOptions{}, nil, o.at...)
				require.NoError(t, err)
				for _, d := range p.counts {
					mean, variance = append(mean, d.Mean), append(variance, d.Variance)
				}
				return mean, variance
			}
			plain := told{"", views, at, upTo(n)}
			mean, variance := fit(plain, landmarks)
			for _, o := range retold(views, at) {
				const tolerance = 1e-5
				got, v := fit(o, landmarks)
				for i := range mean {
					sd := math.Sqrt(variance[i])
					assert.InDelta(t, mean[i], got[i], float64(tolerance*sd), "%s, mean of %d", o.way, i)
					assert.InEpsilon(t, variance[i], v[i], tolerance, "%s, variance of %d", o.way, i)
				}
			}
		})
	}
}

// Fits on landmarks do not see the order of rows: which samples become landmarks, and which tell the widths, follows what the samples hold.
// Only the rounding of the sums within a block is another, and the passes over labels end within their tolerance. Measured are 1e-13 and 2e-9.
func TestLandmarkModelsDoNotSeeTheOrderOfRows(t *testing.T) {
	const n = 400
	x, y := waves(7, n, 0.3)
	at, _ := waves(8, 50, 0.3)
	labels := parts(y, 4)
	order := rand.New(rand.NewPCG(3, 4)).Perm(n)
	for _, choose := range []LandmarkChoice{RandomLandmarks, KMeansLandmarks, PivotedLandmarks} {
		l := &Landmarks{Count: 20, Sample: 300, Choose: choose}
		t.Run(choose.String(), func(t *testing.T) {
			var means, variances, probabilities [][]float64
			for _, rows := range [][]int{upTo(n), order} {
				views := waveViews(taken(x, rows, nil))
				m, err := LandmarkGP{Landmarks: l}.Fit(t.Context(), views, picked(y, rows))
				require.NoError(t, err)
				mean, variance, err := m.Predict(at)
				require.NoError(t, err)
				c, err := LandmarkClassifier[int]{Landmarks: l, Classes: upTo(4)}.Fit(t.Context(), views, picked(labels, rows))
				require.NoError(t, err)
				_, p, err := c.Predict(at)
				require.NoError(t, err)
				means, variances, probabilities = append(means, mean), append(variances, variance), append(probabilities, slices.Concat(p...))
			}
			assert.InDeltaSlice(t, means[0], means[1], 1e-11)
			assert.InDeltaSlice(t, variances[0], variances[1], 1e-11)
			assert.InDeltaSlice(t, probabilities[0], probabilities[1], 1e-7)
		})
	}
}
