package fitting

import (
	"fmt"
	"slices"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/internal/cputime"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Sweeps over all rows of counts, grades and times: how many are usual, and the most. The kernels of all rows take about as long as one
// more.
const (
	usualSweeps = 10
	mostSweeps  = 60
)

// timedRows are the rows of the block whose share of a sweep is timed.
const timedRows = 960

// given reports whether a view holds kernels or distances. All rows are then fitted exactly.
func (j *Job) given() bool {
	return slices.ContainsFunc(j.Data.Views, func(v mkl.View) bool {
		return v.Kernel != nil && v.Kernel.Statistic().Kind == kernel.GivenStatistic
	})
}

// forecastOnLandmarks is the forecast of counts, grades and times of many rows. Landmarks are fitted exactly, and their time is
// extrapolated from an eighth and a quarter of them. Each sweep over all rows then takes products of matrices, and it times the products
// of a block.
func (j *Job) forecastOnLandmarks(e *console.Env, opt Options, rows int) string {
	landmarks := mkl.ObservationLandmarks(rows)
	first, ok := j.exactTime(e, opt, landmarks, rows, cputime.Total)
	if !ok {
		return ""
	}
	return sweepsForecast(first, sweepSeconds(rows, landmarks, opt.Workers), j.levelSeconds(), landmarks, j.need(rows))
}

// levelSeconds is about how much processor time the effects of levels take. Times are fitted under two laws, unless one is given.
func (j *Job) levelSeconds() float64 {
	laws := 1
	if j.Model.Task == model.Survival && j.Model.Settings.Law == mkl.LawByEvidence.String() {
		laws = 2
	}
	return mkl.ObservationLevelSeconds(j.Data.Views, laws, j.Model.Task == model.CountsTask)
}

// sweepsForecast is the forecast of a fit whose landmarks take first seconds of processor time, each sweep over all rows sweep seconds, and the effects
// of levels so many seconds.
func sweepsForecast(first, sweep, levels float64, landmarks int, need memory.Size) string {
	all := seconds(first + levels + float64((usualSweeps+1)*sweep))
	if all < forecastTime {
		return ""
	}
	most := seconds(first + levels + float64((mostSweeps+1)*sweep))
	before := ""
	if levels > 0 {
		before = fmt.Sprintf("effects of levels in %.2g s, ", levels)
	}
	return fmt.Sprintf("forecast: about %s of processor time, or %s if it settles slowly, and %v of memory: "+
		"%sa fit of %d rows, and then %d to %d sweeps over all rows of %.2g s each (-time bounds the time)",
		roughly(all), roughly(most), need, before, landmarks, usualSweeps, mostSweeps, sweep)
}

// sweepSeconds is about how much processor time a sweep over all rows takes, by the time of a block of them.
func sweepSeconds(rows, landmarks, workers int) float64 {
	ws := &la.Workspace{Workers: workers}
	block := la.NewMatrix[float64](timedRows, landmarks)
	root, sum := la.NewMatrix[float64](landmarks, landmarks), la.NewMatrix[float64](landmarks, landmarks)
	block.Fill(1 / float64(landmarks))
	for i := range landmarks {
		root.Set(i, i, 1)
	}
	least := time.Duration(1 << 62)
	for range 2 { // the first use of memory takes longer
		begin := cputime.Total()
		la.Trsm(ws, la.Right, la.Transpose, root, block)
		la.Syrk(ws, la.Transpose, 1, block, 0, sum)
		least = min(least, cputime.Total()-begin)
	}
	return least.Seconds() * float64(rows) / timedRows
}

// seconds is a duration of so many seconds.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
