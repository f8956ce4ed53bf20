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
	if slices.Contains([]string{model.CountsTask, model.Survival, model.OrdinalTask}, j.Model.Task) && rows > mkl.DefaultExactSamples {
		return "" // the landmarks take most of the time, and fits to fewer rows have nearly as many
	}
	if j.Model.Model == model.Auto && rows > mkl.DefaultExactSamples {
		return fmt.Sprintf("forecast: at most about %s of processor time (-time bounds it)", roughly(mkl.DefaultTime(rows)))
	}
	var took [2]float64
	for k, part := range []int{8, 4} {
		some := make([]int, rows/part)
		for i := range some {
			some[i] = i * rows / len(some)
		}
		t, err := j.timeOf(e, opt, some)
		if err != nil {
			return "" // a class may not be among so few
		}
		took[k] = t.Seconds()
	}
	all := time.Duration(extrapolated(took[0], took[1]) * float64(time.Second))
	if all < forecastTime {
		return ""
	}
	need := min(j.Model.Need(j.Samples.Shapes(), rows, j.Data.Outputs()), math.MaxInt64)
	return fmt.Sprintf("forecast: about %s, %v of memory (-time bounds the time)", roughly(all), memory.Size(need))
}

// timeOf is how long a fit to some of the rows takes, from the features on.
func (j *Job) timeOf(e *console.Env, opt Options, rows []int) (time.Duration, error) {
	quiet := &console.Env{Ctx: e.Ctx}
	part, err := Problem{Table: j.Samples.Part(quiet, rows), Model: j.Model}.Prepare(quiet, opt, nil)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	_, err = part.Run(quiet, opt, nil)
	return time.Since(begin), err
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
