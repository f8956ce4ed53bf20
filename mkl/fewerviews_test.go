package mkl

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
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
	assert.Positive(t, left[true])
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

// All members of a plan leave out a view if the first predicts better without it, and keep it if it predicts as well, if that is not known, or if
// the fit without the view fails. An ended context ends the fit.
func TestChooseViews(t *testing.T) {
	views, y, _ := besideNoise(1, 40)
	ended, end := context.WithCancel(t.Context())
	end()
	noisy := func(views []View) bool {
		return slices.ContainsFunc(views, func(v View) bool { return v.Name == "noise" })
	}
	for _, c := range []struct {
		name          string
		with, without []float64
		first, second error
		ctx           context.Context
		left          bool
		err, note     string
	}{
		{"better", []float64{-3, 0}, []float64{-1, -1}, nil, nil, t.Context(), true, "", "sums on default kernels leave out noise"},
		{"as good", []float64{-1, -1}, []float64{-2, 0}, nil, nil, t.Context(), false, "", ""},
		{"not known", nil, []float64{-2}, nil, nil, t.Context(), false, "", ""},
		{"not known without", []float64{-2}, nil, nil, nil, t.Context(), false, "", ""},
		{"fails", []float64{-3}, []float64{-2}, errors.New("bad"), nil, t.Context(), false, "bad", ""},
		{"fails without", []float64{-3}, []float64{-2}, nil, errors.New("bad"), t.Context(), false, "", "do not leave out noise: without them, the fit fails (bad)"},
		{"ends", []float64{-3}, []float64{-2}, nil, errors.New("bad"), ended, false, "bad", ""},
	} {
		for _, begun := range []bool{false, true} {
			plan, err := newPoolPlan(views, y, nil, 0, 1, false)
			require.NoError(t, err)
			plan.notes = nil
			type member struct{ noisy bool }
			var first *member
			fits := 0
			if begun {
				first = &member{true}
			}
			got, err := chooseViews(c.ctx, &plan, first, []string{"noise"}, false, func(views []View) (*member, error) {
				fits++
				m := &member{noisy(views)}
				assert.False(t, slices.ContainsFunc(views, func(v View) bool { return kernel.Learns(v.Kernel) }), "the first member learns no widths")
				if m.noisy {
					return m, c.first
				}
				return m, c.second
			}, func(m *member) []float64 {
				if m.noisy {
					return c.with
				}
				return c.without
			})
			if c.first != nil && begun {
				continue
			}
			if c.err != "" {
				require.EqualError(t, err, c.err, c.name)
				continue
			}
			require.NoError(t, err, c.name)
			assert.Equal(t, !c.left, got.noisy, c.name)
			if begun {
				assert.Equal(t, 1, fits, c.name)
			}
			require.NotEmpty(t, plan.members)
			for _, m := range plan.members {
				assert.Equal(t, !c.left, noisy(m.views), c.name)
			}
			assert.Contains(t, strings.Join(plan.notes, "\n"), c.note, c.name)
			assert.Equal(t, c.note == "", plan.notes == nil, c.name)
		}
	}
}

// An input that no view is left of gets a constant, in the place of the input.
func TestAllInputs(t *testing.T) {
	x, z := normal(rand.New(rand.NewPCG(1, 1)), 5, 2), normal(rand.New(rand.NewPCG(1, 2)), 5, 1)
	all := []View{{Name: "a", X: x, Input: "1"}, {Name: "b", X: z, Input: "2"}, {Name: "c", X: x, Input: "1", Columns: []int{1}}, {Name: "d", X: z, Input: "3"}}
	some := []View{all[1], all[2]}
	got := allInputs(all, some)
	var names, inputs []string
	for _, v := range got {
		names, inputs = append(names, v.Name), append(inputs, v.Input)
	}
	assert.Equal(t, []string{"c", "b", "d"}, names)
	assert.Equal(t, []string{"1", "2", "3"}, inputs)
	assert.Equal(t, kernel.Constant{}, got[2].Kernel)
	assert.Nil(t, got[0].Kernel)
	assert.Equal(t, []View{all[1], all[2]}, some, "the argument is unchanged")

	one, _, _ := besideNoise(1, 5)
	assert.Equal(t, one[1:2], viewsBut(one, []string{"a", "noise"}))
}

// Members without views need time for two members more, several views, and no kernel.
func TestMayLeaveOut(t *testing.T) {
	views, y, _ := besideNoise(1, 40)
	plan, err := newPoolPlan(views, y, nil, 0, 1, false)
	require.NoError(t, err)
	need := time.Duration(len(plan.members)+2) * 3 * time.Second
	assert.True(t, plan.mayLeaveOut(0, 3))
	assert.True(t, plan.mayLeaveOut(need, 3))
	assert.False(t, plan.mayLeaveOut(need-time.Millisecond, 3))
	assert.False(t, plan.mayLeaveOut(time.Nanosecond, 3))
	one := plan
	one.members = plan.members[:1]
	assert.True(t, one.mayLeaveOut(0, 3))
	one.members = nil
	assert.False(t, one.mayLeaveOut(0, 3), "no members")
	one = plan
	one.views = plan.views[:2]
	assert.True(t, one.mayLeaveOut(0, 3))
	one.views = plan.views[:1]
	assert.False(t, one.mayLeaveOut(0, 3), "one view")
	one.views = append(slices.Clone(plan.views), View{Name: "k", X: views[0].X, Kernel: kernel.Linear{}})
	assert.False(t, one.mayLeaveOut(0, 3), "a kernel")
}
