package mkl

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// wave is a noisy wave of 60 samples with two features. Only one of them matters.
func wave() (x Features, y []float64) {
	rng := rand.New(rand.NewPCG(8, 9))
	x = la.NewMatrix[float64](60, 2)
	for i := range 60 {
		x.Set(i, 0, 3*rng.NormFloat64())
		x.Set(i, 1, rng.NormFloat64())
		y = append(y, 100+20*math.Sin(x.At(i, 0))+4*rng.NormFloat64())
	}
	return x, y
}

// without leaves one sample out.
func without[T any](all []T, i int) []T { return slices.Delete(slices.Clone(all), i, i+1) }

// The closed form agrees with fits without the sample, whose scales differ a little.
func TestLeaveOneOutAgainstRefits(t *testing.T) {
	x, y := wave()
	of := func(x Features) []View {
		return []View{{X: x, Kernel: kernel.RBF{Width: 1}}, {X: x, Kernel: kernel.Linear{}}}
	}
	m, err := MultiGP{}.Fit(t.Context(), of(x), y)
	require.NoError(t, err)
	loo := m.LeaveOneOut()
	require.Len(t, loo.Mean[0], 60)
	labels := make([]string, len(y))
	for i, v := range y {
		labels[i] = map[bool]string{false: "low", true: "high"}[v > 100]
	}
	c, err := MultiGPClassifier[string]{Classes: []string{"low", "high"}}.Fit(t.Context(), of(x), labels)
	require.NoError(t, err)
	probability, err := c.LeaveOneOut(labels)
	require.NoError(t, err)
	for i := 0; i < 60; i += 7 {
		var rest []int
		for j := range 60 {
			if j != i {
				rest = append(rest, j)
			}
		}
		some := takeRows(of(x), rest)
		m, err := MultiGP{}.Fit(t.Context(), some, without(y, i))
		require.NoError(t, err)
		mean, variance, err := m.Predict(la.MatrixOf(1, 2, x.Row(i)))
		require.NoError(t, err)
		sd := math.Sqrt(variance[0])
		assert.InDelta(t, mean[0], loo.Mean[0][i], 0.3*sd, "sample %d", i)
		assert.InEpsilon(t, sd, math.Sqrt(loo.Variance[0][i]), 0.2, "sample %d", i)

		c, err := MultiGPClassifier[string]{Classes: []string{"low", "high"}}.Fit(t.Context(), some, without(labels, i))
		require.NoError(t, err)
		_, p, err := c.Predict(la.MatrixOf(1, 2, x.Row(i)))
		require.NoError(t, err)
		assert.InDelta(t, p[0][0], probability[i][0], 0.1, "sample %d", i)
		assert.InDelta(t, 1, probability[i][0]+probability[i][1], 1e-12)
	}

	_, err = c.LeaveOneOut(labels[1:])
	assert.ErrorContains(t, err, "59 labels where the fit had 60")
	labels[3] = "middle"
	_, err = c.LeaveOneOut(labels)
	assert.ErrorContains(t, err, "labels[3] is middle")

	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	loaded, err := LoadAs[*MultiGPModel](&file)
	require.NoError(t, err)
	assert.Nil(t, loaded.LeaveOneOut())
	factorised, err := FactorisedGP{}.Fit(t.Context(), of(x), y)
	require.NoError(t, err)
	assert.Nil(t, factorised.LeaveOneOut())
}

// A pool's leave-one-out moments are the moments of a mixture; a pool of a part of the samples has no such moments.
func TestLeaveOneOutOfPool(t *testing.T) {
	x, y := wave()
	m, err := Auto{}.Fit(t.Context(), []View{{X: x}}, y)
	require.NoError(t, err)
	loo := m.LeaveOneOut()
	require.NotNil(t, loo)
	for i := range y {
		var first, second float64
		for k, w := range m.weights {
			p := m.members[k].LeaveOneOut()
			first += w * p.Mean[0][i]
			second += w * (p.Variance[0][i] + p.Mean[0][i]*p.Mean[0][i])
		}
		assert.InEpsilon(t, first, loo.Mean[0][i], 1e-12)
		assert.InEpsilon(t, second-first*first, loo.Variance[0][i], 1e-8)
	}
	part, err := Auto{MaxSamples: 40}.Fit(t.Context(), []View{{X: x}}, y)
	require.NoError(t, err)
	assert.Nil(t, part.LeaveOneOut())
	assert.Nil(t, requireFile(t, m, LoadAs[*AutoModel], 1<<30).LeaveOneOut(), "a loaded pool")
	assert.Len(t, m.members[0].LeaveOneOut().Mean, 1)
}

// The leave-one-out probabilities of a pool of classes are the mean over all members, members by least squares too. The
// probabilities sum to one for every sample.
func TestLeaveOneOutOfClassPool(t *testing.T) {
	x, y := wave()
	labels := make([]string, len(y))
	for i, v := range y {
		if labels[i] = "low"; v > 100 {
			labels[i] = "high"
		}
	}
	for name, views := range map[string][]View{
		"one view":  {{X: x}},
		"two views": {{X: x}, {Input: "noise", X: testkit.Normal(rand.New(rand.NewPCG(3, 3)), x.Rows, 2)}},
	} {
		m, err := AutoClassifier[string]{}.Fit(t.Context(), views, labels)
		require.NoError(t, err)
		require.NotEmpty(t, m.indicators)
		p, err := m.LeaveOneOut(labels)
		require.NoError(t, err)
		require.Len(t, p, len(labels), name)
		for i := range p {
			assert.InDelta(t, 1, vec.Total(p[i]), 1e-12, "%s, sample %d", name, i)
			want := 0.0
			for k, model := range m.models {
				one, err := model.(interface {
					LeaveOneOut(labels []string) ([][]float64, error)
				}).LeaveOneOut(labels)
				require.NoError(t, err)
				want += m.weights[k] * one[i][0]
			}
			assert.InDelta(t, want, p[i][0], 1e-12)
		}
		_, err = m.LeaveOneOut(labels[1:])
		require.ErrorContains(t, err, "labels where the fit had")
	}
	part, err := AutoClassifier[string]{MaxSamples: 40}.Fit(t.Context(), []View{{X: x}}, labels)
	require.NoError(t, err)
	p, err := part.LeaveOneOut(labels)
	require.NoError(t, err)
	assert.Nil(t, p, "of a part of the samples")
}
