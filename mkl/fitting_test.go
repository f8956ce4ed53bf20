package mkl

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

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
			f := Fitting{Restarts: len(c.starts) - 1}
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
		f := Fitting{Restarts: 5}
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
		best, err := bestStart(ctx, &Fitting{Restarts: 2}, func(uint64, vi.Ascent) (*vi.Record, error) {
			cancel() // when the fit has ended
			return fit(1), nil
		}, func(r *vi.Record) vi.Record { return *r })
		assert.EqualError(t, err, "mkl: stopped after 1 of 3 starts: context canceled")
		assert.Equal(t, 1.0, best.Bound())
	})
}
