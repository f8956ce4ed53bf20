package mkl

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// besideNoise returns views of one matrix, of columns that say something and of noise, with targets.
func besideNoise(seed uint64, n int) (views []View, y []float64, x Features) {
	rng := rand.New(rand.NewPCG(seed, 31))
	x = normal(rng, n, 6)
	for i := range n {
		y = append(y, 7+x.At(i, 0)-x.At(i, 1)+0.7*rng.NormFloat64())
	}
	return []View{{Name: "a", X: x, Columns: []int{0}}, {Name: "b", X: x, Columns: []int{1}}, {Name: "noise", X: x, Columns: []int{2, 3, 4, 5}}}, y, x
}

// The members are the processes that a fit to the other views returns, if the first of these predicts left-out targets better.
func TestSumsWithoutDoubtfulViews(t *testing.T) {
	left := map[bool]int{}
	for seed := range uint64(4) {
		views, y, x := besideNoise(seed, 40)
		m := fitPool(t, Auto{OwnScale: true}, views, y)
		if len(doubtful(m.views)) == 0 {
			continue
		}
		assert.Equal(t, []string{"noise"}, doubtful(m.views))
		broad := func(views []View) (*MultiGPModel, float64) {
			filled, _, err := FillViews(KernelsBroad, views)
			require.NoError(t, err)
			p, err := MultiGP{hurried: true}.Fit(context.Background(), filled, y)
			require.NoError(t, err)
			return p, vec.Total(p.leftOutDensity(y))
		}
		want, with := broad(views)
		less, without := broad(views[:2])
		if without > with {
			want = less
			assert.Contains(t, m.Story(), "sums on default kernels leave out noise")
		} else {
			assert.NotContains(t, m.Story(), "sums on default kernels leave out")
		}
		left[without > with]++
		for i, name := range m.names {
			if name == autoMembers[0].name {
				assert.Equal(t, predicted(t, want, x), predicted(t, m.members[i], x))
			}
		}
	}
	assert.Greater(t, left[true], 1)
}

// Members without the views of a matrix still take it, and do not look at it. Files keep this.
func TestSumsWithoutAMatrix(t *testing.T) {
	var left, classesLeft int
	for seed := range uint64(4) {
		_, y, x := besideNoise(seed, 40)
		rng := rand.New(rand.NewPCG(3, 4))
		a, noise, b, other := takeColumn(x, 0), normal(rng, 40, 4), takeColumn(x, 1), normal(rng, 40, 4)
		views := []View{{Name: "a", Input: "a", X: a}, {Name: "noise", Input: "noise", X: noise}, {Name: "b", Input: "b", X: b}}
		m := fitPool(t, Auto{OwnScale: true}, views, y)
		if strings.Contains(m.Story(), "sums on default kernels leave out noise") {
			left++
			for i, member := range m.members {
				if m.names[i] != amplitudeMembers[1].name { // it weights the view by its probability
					assert.Equal(t, predicted(t, member, a, noise, b), predicted(t, member, a, other, b), m.names[i])
				}
			}
			loaded, err := LoadAs[*AutoModel](bytes.NewReader(saved(t, m)))
			require.NoError(t, err)
			assert.Equal(t, predicted(t, m, a, other, b), predicted(t, loaded, a, other, b))
			assert.Equal(t, m.Story(), loaded.Story())
			m = fitPool(t, Auto{OwnScale: true, Time: time.Nanosecond}, views, y)
			assert.NotContains(t, m.Story(), "leave out noise", "there is no time for a further fit")
		}

		class := make([]int, len(y))
		for i := range class {
			if a.At(i, 0) > b.At(i, 0) {
				class[i] = 1
			}
		}
		c := fitClasses(t, AutoClassifier[int]{}, views, class)
		if strings.Contains(c.Story(), "sums on default kernels leave out noise") {
			classesLeft++
			for _, member := range c.members {
				assert.Equal(t, predicted(t, member, a, noise, b), predicted(t, member, a, other, b))
			}
			again, err := LoadAs[*AutoClassifierModel[int]](bytes.NewReader(saved(t, c)))
			require.NoError(t, err)
			assert.Equal(t, predicted(t, c, a, other, b), predicted(t, again, a, other, b))
		}
	}
	assert.Positive(t, left)
	assert.Positive(t, classesLeft)
}

// takeColumn returns one column of a matrix.
func takeColumn(x Features, column int) Features {
	out := normal(rand.New(rand.NewPCG(1, 1)), x.Rows, 1)
	for i := range x.Rows {
		out.Set(i, 0, x.At(i, column))
	}
	return out
}
