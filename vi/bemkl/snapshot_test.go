package bemkl

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// requireResumed demands that fits which go on from the journals after some of the sweeps of a
// fit end in its bits. fit returns what is compared.
func requireResumed(t *testing.T, name string, fit func(vi.Ascent) any) {
	t.Helper()
	var kept [][]byte
	j := &vi.Journal{}
	j.Save = func() error {
		b, err := j.MarshalBinary()
		kept = append(kept, b)
		return err
	}
	whole := fit(vi.Ascent{MaxSweeps: 40})
	require.Equal(t, whole, fit(vi.Ascent{MaxSweeps: 40, Journal: j}), "%s: a journal changes nothing", name)
	for _, k := range []int{1, 9, 10, 11, 17, len(kept)} {
		if k > len(kept) {
			continue
		}
		again := &vi.Journal{}
		require.NoError(t, again.UnmarshalBinary(kept[k-1]))
		assert.Equal(t, whole, fit(vi.Ascent{MaxSweeps: 40, Journal: again}), "%s: from sweep %d of %d", name, k, len(kept))
	}
}

func TestJournal(t *testing.T) {
	testkit.NotShort(t)
	ctx := context.Background()
	for _, i := range []int{0, 2, 4, 5, 8} {
		p := problems[i]
		for _, plain := range []bool{false, true} {
			r, k, y := p.draw(t, 1)
			r.Plain = plain
			requireResumed(t, p.name, func(a vi.Ascent) any {
				r.Ascent = a
				fit, err := r.Fit(ctx, k, y)
				require.NoError(t, err)
				return []any{fit.Record, fit.Posterior.State()}
			})
			if p.D == p.N {
				r.Groups = make([]int, p.N)
				for i := range r.Groups {
					r.Groups[i] = i % 2
				}
				requireResumed(t, p.name+", groups", func(a vi.Ascent) any {
					r.Ascent = a
					fit, err := r.Fit(ctx, k, y)
					require.NoError(t, err)
					return []any{fit.Record, fit.Posterior.State()}
				})
			}
			c, k, y := p.labels(t, 1)
			c.Plain = plain
			requireResumed(t, p.name+", labels", func(a vi.Ascent) any {
				c.Ascent = a
				fit, err := c.Fit(ctx, k, y)
				require.NoError(t, err)
				return []any{fit.Record, fit.Posterior.State(), fit.PublishedTrace}
			})
			s, k, y := p.shared(t, 1)
			if p.missing > 0 {
				s, k, y = p.sharedGaps(t, 1)
			}
			s.Plain = plain
			requireResumed(t, p.name+", shared", func(a vi.Ascent) any {
				s.Ascent = a
				fit, err := s.Fit(ctx, k, y)
				require.NoError(t, err)
				return []any{fit.Record, fit.Posterior.State()}
			})
		}
	}
	for _, kind := range []string{"missing", "complete"} {
		p := pairProblems[kind]
		kx, kz, y := p.draw(t, 1)
		p.labels = true
		_, _, signs := p.draw(t, 1)
		x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
		requireResumed(t, kind+" pairs", func(a vi.Ascent) any {
			fit, err := PairRegression{Components: p.R, Ascent: a}.Fit(ctx, x, z, y)
			require.NoError(t, err)
			return []any{fit.Record, fit.Posterior.State()}
		})
		requireResumed(t, kind+" pairs with labels", func(a vi.Ascent) any {
			fit, err := PairClassification{Components: p.R, Ascent: a}.Fit(ctx, x, z, signs)
			require.NoError(t, err)
			return []any{fit.Record, fit.Posterior.State()}
		})
	}
	tasks, labels := journalTasks(t)
	requireResumed(t, "tasks", func(a vi.Ascent) any {
		fit, err := TaskRegression{Ascent: a}.Fit(ctx, tasks)
		require.NoError(t, err)
		return []any{fit.Record, fit.Posterior.State()}
	})
	requireResumed(t, "tasks of labels", func(a vi.Ascent) any {
		fit, err := TaskClassification{Ascent: a}.Fit(ctx, labels)
		require.NoError(t, err)
		return []any{fit.Record, fit.Posterior.State()}
	})
}

// journalTasks returns two tasks, of numbers and of their signs.
func journalTasks(t *testing.T) (tasks, labels []Task) {
	for seed := range uint64(2) {
		_, k, y := problem{P: 3, D: 12 + int(seed), N: 12 + int(seed), L: 1}.draw(t, seed)
		sign := slices.Clone(y.Row(0))
		for i, v := range sign {
			sign[i] = math.Copysign(1, v)
		}
		tasks, labels = append(tasks, Task{Kernels: k, Y: y.Row(0)}), append(labels, Task{Kernels: k, Y: sign})
	}
	return tasks, labels
}

// A journal is refused by a fit to other data or with other settings.
func TestJournalOfSomethingElse(t *testing.T) {
	ctx := context.Background()
	r, k, y := problems[0].draw(t, 1)
	j := &vi.Journal{}
	r.Ascent = vi.Ascent{MaxSweeps: 3, Journal: j}
	_, err := r.Fit(ctx, k, y)
	require.NoError(t, err)
	kept, err := j.MarshalBinary()
	require.NoError(t, err)
	refused := func(r Regression, k vi.Kernels, y la.Matrix[float64]) {
		t.Helper()
		require.NoError(t, j.UnmarshalBinary(kept))
		_, err := r.Fit(ctx, k, y)
		assert.EqualError(t, err, "vi: the state of ascent 1: it is of other data, other settings or another version")
	}
	other := y.Clone()
	other.Data[3] = math.Nextafter(other.Data[3], 9)
	refused(r, k, other)
	_, features, _ := problems[0].draw(t, 2)
	refused(r, features, y)
	priors := r
	priors.Omega = vi.Gamma{Shape: 2, Scale: 1}
	refused(priors, k, y)
	plain := r
	plain.Plain = true
	refused(plain, k, y)
	r4, k4, y4 := problems[4].draw(t, 1)
	r4.Ascent = r.Ascent
	refused(r4, k4, y4)
}

// A journal of pairs tells values of 0 from missing ones, and a bias from none.
func TestJournalOfOtherPairs(t *testing.T) {
	ctx := context.Background()
	kx, kz, y := pairProblem{rows: 6, cols: 5, Px: 1, Pz: 1}.draw(t, 1)
	x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
	y.Data[3], y.Data[4] = 0, math.NaN()
	j := &vi.Journal{}
	p := PairRegression{Components: 2, SigmaY: 1, Ascent: vi.Ascent{MaxSweeps: 3, Journal: j}}
	_, err := p.Fit(ctx, x, z, y)
	require.NoError(t, err)
	kept, err := j.MarshalBinary()
	require.NoError(t, err)
	other := y.Clone()
	other.Data[3], other.Data[4] = math.NaN(), 0
	for _, c := range []struct {
		noBias bool
		y      la.Matrix[float64]
		want   string
	}{
		{false, y, ""}, {false, other, "vi: the state of ascent 1: it is of other data, other settings or another version"},
		{true, y, "vi: the state of ascent 1: it is of other data, other settings or another version"},
	} {
		require.NoError(t, j.UnmarshalBinary(kept))
		p.NoBias = c.noBias
		if _, err = p.Fit(ctx, x, z, c.y); c.want == "" {
			assert.NoError(t, err)
		} else {
			assert.EqualError(t, err, c.want)
		}
	}
}
