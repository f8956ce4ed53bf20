package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// waves is a table of so many rows.
func waves(rows int) string {
	rng := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	b.WriteString("x,z,y,kind\n")
	for range rows {
		x, z := rng.NormFloat64(), rng.NormFloat64()
		kind := "low"
		if x*z > 0 {
			kind = "high"
		}
		b.WriteString(strings.Join([]string{number(x), number(z), number(math.Sin(2*x) + z*z + 0.2*rng.NormFloat64()), kind}, ",") + "\n")
	}
	return b.String()
}

// -time returns what there is when it is up; the interruption of the command is another matter.
func TestTime(t *testing.T) {
	endless := func(m mkl.Model) fitter {
		return fitter{fit: func(ctx context.Context, _ *data) (mkl.Model, error) {
			<-ctx.Done()
			return m, fmt.Errorf("vi: stopped after 3 sweeps: %w", context.Cause(ctx))
		}}
	}
	p := &problem{fitCmd: &fitCmd{}, est: estimators[2], fitter: endless(&mkl.RegressionModel{})}
	p.Time = 1
	m, err := p.fitInTime(t.Context(), nil)
	require.NoError(t, err)
	assert.NotNil(t, m)
	p.fitter = endless(nil)
	_, err = p.fitInTime(t.Context(), nil)
	assert.EqualError(t, err, "-time 1ns is up before there is a model")

	p.Time = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.fitInTime(ctx, nil)
	assert.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, errTimeUp)
}

// A fit of many rows is timed on some of them first, whatever is learned. The model does not depend on it.
func TestForecast(t *testing.T) {
	files := map[string]string{"d.csv": waves(forecastRows)}
	for _, args := range []string{"-target y -model landmarks -landmarks 20", "-target kind -model mgp -kernels rbf", "-target y -model spikeslab"} {
		fit := strings.Fields("fit d.csv -view x,z -sweeps 2 " + args)
		status, told, stderr := command(t, files, "", fit...)
		require.Equal(t, console.StatusOK, status, stderr)
		files = nil
		_, untold, _ := command(t, nil, "", append(fit, "-q")...)
		assert.Equal(t, untold, told)
	}
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
