package fitting

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl"
)

// A limit of time returns what there is when it is over; the interruption of the command is another matter.
func TestInTime(t *testing.T) {
	endless := func(m mkl.Model) func(context.Context) (mkl.Model, error) {
		return func(ctx context.Context) (mkl.Model, error) {
			<-ctx.Done()
			return m, fmt.Errorf("vi: stopped after 3 sweeps: %w", context.Cause(ctx))
		}
	}
	m, err := inTime(t.Context(), 1, endless(&mkl.RegressionModel{}))
	require.NoError(t, err)
	assert.NotNil(t, m)
	_, err = inTime(t.Context(), 1, endless(nil))
	assert.EqualError(t, err, "-time 1ns ended before the fit had a model")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = inTime(ctx, time.Hour, endless(nil))
	assert.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, ErrTimeUp)
}

func TestExtrapolated(t *testing.T) {
	const unit = 0.01
	for power := 1.0; power <= 3; power += 0.5 {
		assert.InEpsilon(t, unit*math.Pow(8, power), extrapolated(unit, unit*math.Pow(2, power)), 1e-12)
	}
	assert.InEpsilon(t, 4*unit, extrapolated(unit, unit), 1e-12, "no less than every row takes as long")
	assert.InEpsilon(t, 640*unit, extrapolated(unit/1000, 10*unit), 1e-12, "no more than the third power")
}

func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		7300 * time.Millisecond: "7 s", 44 * time.Second: "40 s", 119 * time.Second: "100 s", 150 * time.Second: "3 minutes",
		47 * time.Minute: "50 minutes", 5 * time.Hour: "5 hours",
	} {
		assert.Equal(t, want, roughly(d))
	}
}
