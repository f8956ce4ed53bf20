package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/vi"
)

// sweepBar shows the sweeps of a fit.
type sweepBar struct {
	env   *console.Env
	quiet bool
	bar   *console.Progress // nil before the first sweep

	member, start int // the present ones
	sweep         int // of the present start
	before        int // sweeps of the starts before it
}

// show is what the fit calls after every sweep.
func (s *sweepBar) show(p mkl.Progress) {
	members := max(1, p.Members)
	if s.bar == nil {
		s.bar = console.NewProgress(s.env, s.quiet, p.MaxSweeps*p.Starts*members, "sweeps")
	}
	if math.IsNaN(p.Bound) { // chains side by side
		s.bar.Step()
		return
	}
	if p.Member != s.member || p.Start != s.start {
		s.before += s.sweep
		s.member, s.start = p.Member, p.Start
	}
	s.sweep = p.Sweep
	ended := max(0, p.Member-1)*p.Starts + p.Start // with this start
	total := console.Total(s.before+p.Sweep, p.Left) * p.Starts * members / ended
	s.bar.Set(s.before+p.Sweep, total, fmt.Sprintf("bound %.4f (%+.1e)", p.Bound, p.Rise))
}

// finish ends the bar and passes on what the fit returned, but for two things: a
// collapsed fit is a result, which the report tells; and an error is a mistake in what
// the fit was given, unless the bound fell or an update failed: the model of the sweeps
// before then comes with the error.
func (s *sweepBar) finish(m mkl.Model, err error) (mkl.Model, error) {
	if s.bar != nil {
		s.bar.Finish()
	}
	var collapsed *mkl.CollapsedError
	var fell *vi.BoundError
	switch {
	case err == nil:
		return m, nil
	case errors.As(err, &collapsed):
		return collapsed.Model, nil
	case m != nil && s.env.Ctx.Err() == nil:
		return m, err
	case errors.As(err, &fell):
		return nil, err
	}
	return nil, console.Input(err)
}
