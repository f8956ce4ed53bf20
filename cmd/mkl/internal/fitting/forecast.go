package fitting

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/mkl"
)

// A forecast needs so many rows, and says nothing of shorter fits.
const (
	forecastRows = 800
	forecastTime = 5 * time.Second
)

// Forecast says about how long the fit will take, and how much memory; it is empty where that is little, or not
// known. It fits an eighth and a quarter of the rows. That takes a few hundredths of the time of all rows, where the
// time grows with the third power of their number. If the time grows more slowly the forecast is too long. The
// forecast is for the present load of the machine.
func (j *Job) Forecast(e *console.Env, opt Options) string {
	rows := j.Samples.Rows()
	if limit := j.Model.Settings.Time; rows >= forecastRows && j.Model.Model == model.Auto && limit > 0 {
		return fmt.Sprintf("forecast: -time %v counts the operations of a fast core, and a slow or busy machine takes longer", limit)
	}
	if rows < forecastRows || j.Model.Settings.Time > 0 {
		return ""
	}
	observations := slices.Contains([]string{model.CountsTask, model.Survival, model.OrdinalTask}, j.Model.Task)
	if observations && rows > mkl.DefaultExactSamples && !j.given() {
		return j.forecastOnLandmarks(e, opt, rows)
	}
	if j.Model.Model == model.Auto && rows > mkl.DefaultExactSamples {
		return fmt.Sprintf("forecast: at most about %s of processor time (-time bounds it)", roughly(mkl.DefaultTime(rows)))
	}
	began := time.Now()
	took, ok := j.exactTime(e, opt, rows, rows, func() time.Duration { return time.Since(began) })
	if !ok {
		return ""
	}
	all := seconds(took)
	if all < forecastTime {
		return ""
	}
	return fmt.Sprintf("forecast: about %s, %v of memory (-time bounds the time)", roughly(all), j.need(rows))
}

// need is the memory of the fit to all rows.
func (j *Job) need(rows int) memory.Size {
	return memory.Size(min(j.Model.Need(j.Samples.Shapes(), rows, j.Data.Outputs()), math.MaxInt64))
}

// exactTime is about how many seconds of the clock an exact fit to so many of the rows takes, spread over all. It is not ok if a fit to few of
// them failed.
func (j *Job) exactTime(e *console.Env, opt Options, rows, of int, clock func() time.Duration) (seconds float64, ok bool) {
	var took [2]float64
	for k, part := range []int{8, 4} {
		some := make([]int, rows/part)
		for i := range some {
			some[i] = i * of / len(some)
		}
		t, err := j.timeOf(e, opt, some, clock)
		if err != nil {
			return 0, false // a class may not be among so few
		}
		took[k] = t.Seconds()
	}
	return extrapolated(took[0], took[1]), true
}

// timeOf is how long a fit to some of the rows takes, from the features on, as the clock counts.
func (j *Job) timeOf(e *console.Env, opt Options, rows []int, clock func() time.Duration) (time.Duration, error) {
	quiet := &console.Env{Ctx: e.Ctx}
	part, err := Problem{Table: j.Samples.Part(quiet, rows), Model: j.Model}.Prepare(quiet, opt, nil)
	if err != nil {
		return 0, err
	}
	begin := clock()
	_, err = part.Run(quiet, opt, nil)
	return clock() - begin, err
}

// extrapolated is the time of all rows if an eighth and a quarter of them take these times. It follows the power of
// the number of rows that the two times show, which is kept between the first and the third.
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
