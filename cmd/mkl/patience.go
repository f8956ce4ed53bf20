package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/mkl"
)

// errTimeUp ends a fit that has taken the time of -time.
var errTimeUp = errors.New("-time is up")

// fitInTime fits; once -time is up it returns the model of the sweeps so far.
func (p *problem) fitInTime(ctx context.Context, d *data) (mkl.Model, error) {
	if p.est.timed {
		return p.fit(ctx, d)
	}
	return inTime(ctx, p.Time, func(ctx context.Context) (mkl.Model, error) { return p.fit(ctx, d) })
}

// inTime calls fit; once the time that -time names is up, which is none if 0, it returns the model of the
// sweeps so far.
func inTime(ctx context.Context, limit time.Duration, fit func(context.Context) (mkl.Model, error)) (mkl.Model, error) {
	if limit == 0 {
		return fit(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeUp)
	defer cancel()
	m, err := fit(ctx)
	switch {
	case !errors.Is(err, errTimeUp):
		return m, err
	case m == nil:
		return nil, console.Inputf("-time %v is up before there is a model", limit)
	}
	return m, nil
}

// Forecasts are made of fits to so many rows at least, and told of so long fits at least.
const (
	forecastRows = 800
	forecastTime = 5 * time.Second
)

// forecast says about how long the fit will take, and how much memory; it is empty where that is little, or
// not known. It fits an eighth and a quarter of the rows, which takes a few hundredths of the time of all
// where that grows with their third power. What grows more slowly is forecast too long, and it is a forecast
// for this load of the machine.
func (p *problem) forecast(ctx context.Context, d *data) string {
	rows := p.main.Data.Rows
	if rows < forecastRows || p.Time > 0 {
		return ""
	}
	var took [2]float64
	for k, part := range []int{8, 4} {
		some := make([]int, rows/part)
		for i := range some {
			some[i] = i * rows / len(some)
		}
		t, err := p.timeOf(ctx, some)
		if err != nil {
			return "" // a class may not be among so few
		}
		took[k] = t.Seconds()
	}
	all := time.Duration(extrapolated(took[0], took[1]) * float64(time.Second))
	if all < forecastTime {
		return ""
	}
	need := min(p.need(rows, p.outputs(d)), math.MaxInt64)
	return fmt.Sprintf("forecast: about %s, %v of memory (-time bounds the time)", roughly(all), memory.Size(need))
}

// timeOf is how long a fit to some of the rows takes, from the features on.
func (p *problem) timeOf(ctx context.Context, rows []int) (time.Duration, error) {
	q, files := p.part(rows)
	q.bar = &sweepBar{env: &console.Env{Ctx: ctx}, quiet: true}
	if p.est.model == "auto" && p.main.Data.Rows > mkl.DefaultExactSamples {
		c := *p.fitCmd // of so many rows auto is that model, and of few it is not
		model := modelLandmarks
		c.Model, c.Resume, q.fitCmd = &model, "", &c
		if err := q.choose(); err != nil {
			return 0, err
		}
	}
	d, _, err := q.learn(files)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	_, err = q.bar.finish(q.fit(ctx, d))
	return time.Since(begin), err
}

// extrapolated is the time that all rows take if an eighth and a quarter of them take so long, by the power
// of the number of rows that the two tell, which is kept between the first and the third.
func extrapolated(eighth, quarter float64) float64 {
	power := min(max(math.Log2(quarter/eighth), 1), 3)
	return quarter * math.Pow(4, power)
}

// roughly is a duration with one digit.
func roughly(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "hours"}, {time.Minute, "minutes"}, {time.Second, "s"}} {
		if d >= 2*u.unit || u.unit == time.Second {
			n := d.Seconds() / u.unit.Seconds()
			digit := math.Pow(10, math.Floor(math.Log10(n)))
			return fmt.Sprintf("%.0f %s", math.Round(n/digit)*digit, u.name)
		}
	}
	return "" // not reached: a second is the last unit
}
