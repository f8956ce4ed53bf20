package mkl

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// taken returns the given rows and columns of x; nil stands for all.
func taken(x Features, rows, cols []int) Features {
	if rows == nil {
		rows = upTo(x.Rows)
	}
	if cols == nil {
		cols = upTo(x.Cols)
	}
	out := la.NewMatrix[float64](len(rows), len(cols))
	for i, r := range rows {
		for j, c := range cols {
			out.Set(i, j, x.At(r, c))
		}
	}
	return out
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// The order of rows, views and columns says nothing. Evidence climbs do not see the order of rows beyond rounding.
// Two things do depend on an order, and bound what can be asked: random starts are drawn row by row, and another
// start may end at another maximum; and an ascent ends within its tolerance. Pools and the draws of a process's scales follow the order of what
// samples and views hold. Tolerances are shares of the largest prediction. The first rows stay, so that classes keep their numbers.
func TestEstimatorsDoNotSeeTheOrder(t *testing.T) {
	eachEstimator(t, func(t *testing.T, e estimator) {
		if e.sampled {
			t.Skip("draws of another order are other draws")
		}
		views, y, a, b := twoInputs(2, 40)
		s := fitting{Fitting: Fitting{Workers: 2}, allowDuplicates: true}
		m := mustFit(t, e, s, views, y)
		want, err := e.predict(m, 1, a, b)
		require.NoError(t, err)
		largest := 0.0
		for _, v := range want {
			largest = max(largest, math.Abs(v))
		}
		check := func(name string, tolerance float64, views []View, y []float64, a, b Features) {
			got, err := e.predict(mustFit(t, e, s, views, y), 1, a, b)
			require.NoError(t, err)
			worst := 0.0
			for i := range want {
				worst = max(worst, math.Abs(want[i]-got[i]))
			}
			assert.LessOrEqual(t, worst, tolerance*largest, name)
		}

		const kept = 12
		order := upTo(kept)
		for _, i := range rand.New(rand.NewPCG(3, 4)).Perm(len(y) - kept) {
			order = append(order, kept+i)
		}
		rows, targets := slices.Clone(views), make([]float64, len(y))
		for i := range rows {
			rows[i].X = taken(views[i].X, order, nil)
		}
		for i, from := range order {
			targets[i] = y[from]
		}
		ofRows, ofViews := 0.25, 0.03
		switch {
		case strings.HasPrefix(e.name, "pool"): // of one target, several, or classes; measured 2e-13
			ofRows, ofViews = 1e-9, 1e-9
		case strings.HasPrefix(e.name, "counts"): // another rounding can end the climb a step earlier; measured 2e-5
			ofRows = 1e-4
		case e.process:
			ofRows, ofViews = 1e-9, 1e-3 // views and columns change the rounding of sums
		}
		check("rows", ofRows, rows, targets, a, b)
		check("views", ofViews, append([]View{views[1], views[0]}, views[2:]...), y, a, b)

		columns := slices.Clone(views)
		for i := range columns {
			if columns[i].Input == "x1" {
				columns[i].X = taken(views[i].X, nil, []int{1, 0})
			} else {
				columns[i].X = taken(views[i].X, nil, []int{2, 0, 1})
			}
		}
		columns[1].Kernel = kernel.RBF{Widths: []float64{3, 0.7}}
		check("columns", ofViews, columns, y, taken(a, nil, []int{1, 0}), taken(b, nil, []int{2, 0, 1}))
	})
}
