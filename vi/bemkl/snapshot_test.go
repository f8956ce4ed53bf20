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
	"github.com/bmkl/bmkl/vi/internal/fittest"
)

// afterSweeps are the sweeps after which a journal is continued: around the end of the first order too.
var afterSweeps = []int{1, 9, 10, 11, 17}

func TestJournal(t *testing.T) {
	testkit.NotShort(t)
	ctx := context.Background()
	for _, i := range []int{0, 2, 4, 5, 8} {
		p := problems[i]
		for _, plain := range []bool{false, true} {
			r, k, y := p.draw(t, 1)
			r.Plain = plain
			fittest.RequireResumed(t, p.name, 40, afterSweeps, func(a vi.Ascent) any {
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
				fittest.RequireResumed(t, p.name+", groups", 40, afterSweeps, func(a vi.Ascent) any {
					r.Ascent = a
					fit, err := r.Fit(ctx, k, y)
					require.NoError(t, err)
					return []any{fit.Record, fit.Posterior.State()}
				})
			}
			c, k, y := p.labels(t, 1)
			c.Plain = plain
			fittest.RequireResumed(t, p.name+", labels", 40, afterSweeps, func(a vi.Ascent) any {
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
			fittest.RequireResumed(t, p.name+", shared", 40, afterSweeps, func(a vi.Ascent) any {
				s.Ascent = a
				fit, err := s.Fit(ctx, k, y)
				require.NoError(t, err)
				return []any{fit.Record, fit.Posterior.State()}
			})
		}
	}
	tasks, labels := journalTasks(t)
	fittest.RequireResumed(t, "tasks", 40, afterSweeps, func(a vi.Ascent) any {
		fit, err := TaskRegression{Ascent: a}.Fit(ctx, tasks)
		require.NoError(t, err)
		return []any{fit.Record, fit.Posterior.State()}
	})
	fittest.RequireResumed(t, "tasks of labels", 40, afterSweeps, func(a vi.Ascent) any {
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
