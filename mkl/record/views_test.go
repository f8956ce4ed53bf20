package record_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/mkl/record"
)

// The parts of views are the model's. Parts of a target add up to its mean. Of two classes the second has parts, of three each.
func TestPredictRowViews(t *testing.T) {
	x, y := features()
	own := map[string]string{"mkl-command": notes}
	views := []mkl.View{{X: x, Kernel: kernel.RBF{Width: 3}}, {Input: "w", X: x.Slice(0, x.Rows, 4, 5).Clone(), Kernel: kernel.Linear{}}}
	two := `{"task":"regression","targets":["price"],"views":[` + plan + `,{"name":"w","columns":["built"],"plan":[{"name":"built","type":"date"}]}]}`
	own["mkl-command"] = two
	rows := []map[string]any{
		{"size": 3, "city": "Ulm", "built": "1970-01-04", "garden": true},
		{"size": nil, "city": "Rome", "built": "1970-01-09", "garden": false},
	}
	at := x.Slice(0, 2, 0, 6).Clone()
	copy(at.Row(0), []float64{3, 0, 0, 1, 3, 1})
	copy(at.Row(1), []float64{2, 1, 0, 0, 8, 0})

	m, err := mkl.MultiGP{Fitting: mkl.Fitting{Notes: own}}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	p, err := record.New(m)
	require.NoError(t, err)
	got, err := p.PredictRowViews(t.Context(), rows)
	require.NoError(t, err)
	want, err := m.PredictViews(t.Context(), mkl.PredictOptions{}, at, at.Slice(0, 2, 4, 5).Clone())
	require.NoError(t, err)
	predicted, err := p.PredictRows(t.Context(), rows)
	require.NoError(t, err)
	require.Len(t, got, 2)
	for i, parts := range got {
		require.Len(t, parts, 1)
		assert.Equal(t, "price", parts[0].Of)
		assert.Equal(t, want.Constant, parts[0].Constant)
		sum := parts[0].Constant
		for v, part := range parts[0].Views {
			assert.Equal(t, record.Part{View: want.Views[v], Mean: want.Mean[v][i], SD: want.SD[v][i]}, part)
			sum += part.Mean
		}
		assert.InDelta(t, predicted[i].Numbers[0].Mean, sum, 1e-9)
	}
	none, err := p.PredictRowViews(t.Context(), nil)
	assert.NoError(t, err)
	assert.Empty(t, none)
	_, err = p.PredictRowViews(t.Context(), []map[string]any{{"size": "big", "city": "Ulm", "built": "1970-01-04", "garden": true}})
	assert.EqualError(t, err, `record 1: "size" is a number, and "big" is none`)

	for _, classes := range [][]string{{"cheap", "dear"}, {"cheap", "dear", "fair"}} {
		labels := make([]string, len(y))
		for i := range labels {
			labels[i] = classes[i%len(classes)]
		}
		m, err := mkl.MultiGPClassifier[string]{Fitting: mkl.Fitting{Notes: own}}.Fit(t.Context(), views, labels)
		require.NoError(t, err)
		p, err := record.New(m)
		require.NoError(t, err)
		got, err := p.PredictRowViews(t.Context(), rows)
		require.NoError(t, err)
		want, err := m.PredictViews(t.Context(), mkl.PredictOptions{}, at, at.Slice(0, 2, 4, 5).Clone())
		require.NoError(t, err)
		of := classes
		if len(classes) == 2 {
			of = classes[1:]
		}
		for i, parts := range got {
			require.Len(t, parts, len(of))
			for k, part := range parts {
				c := len(classes) - len(of) + k
				assert.Equal(t, of[k], part.Of)
				assert.Equal(t, want.Constant[c][i], part.Constant)
				for v := range part.Views {
					assert.Equal(t, record.Part{View: want.Views[v], Mean: want.Mean[c][v][i], SD: want.SD[c][v][i]}, part.Views[v])
				}
			}
		}
	}
	has := make([]bool, len(y))
	has[3], has[4] = true, true
	labels, err := mkl.MultiLabel{Fitting: mkl.Fitting{Notes: own}}.Fit(t.Context(), views, mkl.LabelsOf(has))
	require.NoError(t, err)
	p, err = record.New(labels)
	require.NoError(t, err)
	_, err = p.PredictRowViews(t.Context(), rows)
	assert.ErrorIs(t, err, mkl.ErrNoViews)
}

// plan is the plan of a view of the features.
const plan = `{"name":"v","columns":["size","city","built","garden"],"plan":[
	{"name":"size","type":"number","fill":2,"indicator":true},{"name":"city","type":"text","categories":["Bonn","Ulm"],"fill":0},
	{"name":"built","type":"date"},{"name":"garden","type":"boolean"}]}`

// Numbers of other programs have the intervals of a normal distribution.
func TestIntervalOfAnyNumber(t *testing.T) {
	for probability, z := range map[float64]float64{0.95: 1.959963984540054, 0.5: 0.6744897501960817, 0.9: 1.6448536269514722, 0: 0} {
		assert.InDelta(t, z, record.Quantile(probability), 1e-12)
		lower, upper := record.Number{Mean: 3, SD: 2}.Interval(probability)
		assert.InDelta(t, 3-2*z, lower, 1e-12)
		assert.InDelta(t, 3+2*z, upper, 1e-12)
	}
	assert.True(t, math.IsInf(record.Quantile(1), 1))
}

// An error names the target whose predictions are no sum.
func TestViewsOfAScaledTarget(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	column, plain, price := make([]float64, 60), make([]float64, 60), make([]float64, 60)
	for i := range plain {
		column[i] = rng.NormFloat64()
		plain[i] = column[i] + 0.1*rng.NormFloat64()
		price[i] = math.Exp(2 * plain[i])
	}
	x := mkl.Column(column)
	m, err := mkl.AutoTargets{}.Fit(t.Context(), []mkl.View{{X: x}}, plain, price)
	require.NoError(t, err)
	_, err = record.ViewsOf(t.Context(), m, []string{"plain", "price"}, mkl.PredictOptions{}, []mkl.Features{x})
	require.ErrorIs(t, err, mkl.ErrNoViews)
	assert.ErrorContains(t, err, `target "price": mkl: the predictions are no sum over views: the members learn the target's logarithm`)
}
