package mgp

import (
	"errors"
	"math"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/lbfgs"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Defaults of Ascent.Tolerance.
const (
	evidenceTolerance = 1e-5
	labelTolerance    = 5e-5
)

// settings returns the settings of an ascent for so many samples, which rec is to record.
func (e Evidence) settings(samples float64, rec *vi.Record) lbfgs.Settings {
	s := lbfgs.Settings{
		Iterations: e.Ascent.MaxSweeps, Tolerance: e.Ascent.Tolerance, Scale: samples, LongestStep: maxStep,
	}
	if s.Iterations == 0 {
		s.Iterations = 100
	}
	switch {
	case s.Tolerance == 0:
		s.Tolerance = evidenceTolerance
	case s.Tolerance < 0:
		s.Tolerance = -1
	}
	last, most := math.NaN(), s.Iterations
	s.Step = func(cost float64) {
		rec.Trace = append(rec.Trace, -cost)
		if e.Ascent.Progress != nil {
			e.Ascent.Progress(vi.Progress{Sweep: len(rec.Trace), MaxSweeps: most, Bound: -cost, Rise: -cost - last, Left: -1, Change: -1})
		}
		last = -cost
	}
	return s
}

// minimize lowers the cost of an ascent from x on, notes in rec how it ended, and returns
// where. rec has no trace if the cost was not known anywhere. The stage of a journal, nil without a
// journal, keeps the minimisation and the state of the objective.
func minimize(
	x []float64, cost func(x, g []float64) (float64, error), s lbfgs.Settings, rec *vi.Record,
	stage *vi.Stage, state func(*work.Snapshot),
) (lbfgs.Result, error) {
	if stage != nil {
		both := func(own func(lbfgs.State)) func(*work.Snapshot) {
			return func(s *work.Snapshot) { state(s); own(s) }
		}
		s.Resume = func(own func(lbfgs.State)) (bool, error) {
			known, _, err := stage.Resume(both(own), rec)
			return known, err
		}
		s.Note = func(own func(lbfgs.State)) error { return stage.Note(both(own), rec, false) }
	}
	r, err := lbfgs.Minimize(x, cost, s)
	known := !math.IsInf(r.F, 1)
	switch {
	case err != nil:
		rec.Reason = vi.Cancelled
	case r.Converged && known:
		rec.Reason = vi.Converged
	}
	if len(rec.Trace) == 0 && known {
		rec.Trace = append(rec.Trace, -r.F)
	}
	return r, err
}

// errUnknown is of a fit whose evidence was not known anywhere that it looked.
var errUnknown = errors.New("vi: the evidence is not known where the fit starts")
