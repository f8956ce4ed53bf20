package fitting

import (
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/vi"
)

// bar shows the sweeps of a fit.
type bar struct {
	env   *console.Env
	quiet bool
	shown *console.Progress // nil before the first sweep

	member, start int // the present ones
	sweep         int // of the present start
	before        int // sweeps of the starts before it
}

// show is what the fit calls after every sweep.
func (s *bar) show(p mkl.Progress) {
	members := max(1, p.Members)
	if s.shown == nil {
		s.shown = console.NewProgress(s.env, s.quiet, p.MaxSweeps*p.Starts*members, "sweeps")
	}
	if math.IsNaN(p.Bound) { // chains side by side
		s.shown.Step()
		return
	}
	if p.Member != s.member || p.Start != s.start {
		s.before += s.sweep
		s.member, s.start = p.Member, p.Start
	}
	s.sweep = p.Sweep
	ended := max(0, p.Member-1)*p.Starts + p.Start // with this start
	total := console.Total(s.before+p.Sweep, p.Left) * p.Starts * members / ended
	s.shown.Set(s.before+p.Sweep, total, fmt.Sprintf("bound %.4f (%+.1e)", p.Bound, p.Rise))
}

// finish ends the bar and passes on what the fit returned, with two exceptions. A collapsed fit is a result, and the
// report says that it collapsed. An error is a mistake in what the fit was given, unless the bound fell or an update
// failed: the model of the sweeps before then comes with the error.
func (s *bar) finish(m mkl.Model, err error) (mkl.Model, error) {
	if s.shown != nil {
		s.shown.Finish()
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
