package mkl

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
)

func TestBestStart(t *testing.T) {
	bad, worse := errors.New("bad"), errors.New("worse")
	fit := func(bound float64) *vi.Record { return &vi.Record{Trace: []float64{bound}} }
	type start struct {
		fit *vi.Record
		err error
	}
	for name, c := range map[string]struct {
		starts []start
		best   int // −1 for none
		err    error
	}{
		"the highest bound":              {[]start{{fit(1), nil}, {fit(3), nil}, {fit(2), nil}}, 1, nil},
		"a start without a fit":          {[]start{{nil, bad}, {fit(1), nil}}, 1, nil},
		"an error is worse than a bound": {[]start{{fit(9), bad}, {fit(1), nil}, {fit(5), bad}, {fit(2), nil}}, 3, nil},
		"errors only":                    {[]start{{fit(1), bad}, {nil, bad}, {fit(2), worse}}, 2, worse},
		"a fit after none":               {[]start{{nil, bad}, {fit(2), worse}}, 1, worse},
		"nothing":                        {[]start{{nil, bad}, {nil, worse}}, -1, bad},
	} {
		t.Run(name, func(t *testing.T) {
			f := fitting{Ascent: Ascent{Restarts: len(c.starts) - 1}}
			best, err := bestStart(context.Background(), &f, func(seed uint64, _ vi.Ascent) (*vi.Record, error) {
				return c.starts[seed].fit, c.starts[seed].err
			}, func(r *vi.Record) vi.Record { return *r })
			assert.ErrorIs(t, err, c.err)
			if c.best < 0 {
				assert.Nil(t, best)
			} else {
				assert.Same(t, c.starts[c.best].fit, best)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		f := fitting{Ascent: Ascent{Restarts: 5}}
		starts := 0
		best, err := bestStart(ctx, &f, func(uint64, vi.Ascent) (*vi.Record, error) {
			if starts++; starts == 2 {
				cancel()
				return fit(1), ctx.Err()
			}
			return fit(2), nil
		}, func(r *vi.Record) vi.Record { return *r })
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 2.0, best.Bound())
		assert.Equal(t, 2, starts)
	})
	t.Run("cancelled between starts", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		best, err := bestStart(ctx, &fitting{Ascent: Ascent{Restarts: 2}}, func(uint64, vi.Ascent) (*vi.Record, error) {
			cancel() // when the fit has ended
			return fit(1), nil
		}, func(r *vi.Record) vi.Record { return *r })
		assert.EqualError(t, err, "mkl: stopped after 1 of 3 starts: context canceled")
		assert.Equal(t, 1.0, best.Bound())
	})
}

// A kernel that a fit cannot use is called by its view.
func TestKernelErrorsNameTheView(t *testing.T) {
	n := 12
	negative, indefinite := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n)
	for i := range n {
		negative.Set(i, i, 1)
		indefinite.Set(i, i, -1)
	}
	negative.Set(2, 5, -0.5)
	negative.Set(5, 2, -0.5)
	y, labels := make([]float64, n), make([]int, n)
	for i := range n {
		y[i], labels[i] = float64(i%3), i%3
	}
	good := la.NewMatrix[float64](n, n)
	good.Fill(0.2)
	for i := range n {
		good.Set(i, i, 1)
	}
	views := func(bad Features) []View {
		return []View{
			{X: good, Input: "a", Name: "fine", Kernel: kernel.Precomputed{}}, {X: bad, Input: "b", Name: "assays", Kernel: kernel.Precomputed{}},
		}
	}
	_, err := ProbitClassifier[int]{Rule: FixedProduct{}}.Fit(t.Context(), views(negative), labels)
	assert.ErrorContains(t, err, `mkl: views[1] ("assays", precomputed): its kernel: entry (2, 5) is -0.5: products need entries that are not negative`)
	for name, fit := range map[string]func() error{
		"MultiGP": func() error { _, err := MultiGP{}.Fit(t.Context(), views(indefinite), y); return err },
		"MultiGPClassifier": func() error {
			_, err := MultiGPClassifier[int]{}.Fit(t.Context(), views(indefinite), labels)
			return err
		},
	} {
		assert.ErrorContains(t, fit(), "assays", name)
	}
	_, err = FactorAnalysis{Factors: 1}.Fit(t.Context(), SparseTable{Rows: 2, Cols: 2, Entries: []TableEntry{{TableCell{}, 1}, {TableCell{}, 2}}})
	assert.EqualError(t, err, "mkl: y: vi: entries: (0, 0) is there twice")
}
