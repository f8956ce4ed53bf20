package vi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Ascent says how far to climb the lower bound. The zero value is ready.
type Ascent struct {
	// Tolerance says when the ascent has converged. 0 means once the predictions at the
	// training points are about to change by no more than a hundredth of their standard
	// deviations, or of a probability, and the bound to rise by no more than a thousandth of
	// a nat a target, as far as their last moves tell (docs/theory/stopping.md). Negative runs all
	// MaxSweeps. A positive one looks at the bound alone: once, over the last tenth of the
	// sweeps and no fewer than ten, it rose by less than Tolerance·max(|bound|, n), n the
	// number of observed targets.
	//
	// A tenth of the sweeps, and not the last one, because ridges of the posterior are
	// climbed ever more slowly: a bound that after k sweeps is still c/k below its limit
	// rises by c/k² in a sweep, which is less than any tolerance long before it is near.
	// The rise is set against at least one nat a target because the bound is a sum of
	// log densities: in some unit of the targets it is zero, and a change relative to
	// it has no meaning.
	Tolerance float64

	// MaxSweeps is the most sweeps; 0 means DefaultMaxSweeps. It must not be negative.
	MaxSweeps int

	// Progress, if not nil, is called after every sweep on the caller's
	// goroutine.
	Progress func(Progress)

	// Journal, if not nil, keeps the state of the ascent after every sweep. If it holds a state of this ascent
	// already, the ascent continues from that state.
	Journal *Journal
}

// DefaultMaxSweeps is the default of Ascent.MaxSweeps.
const DefaultMaxSweeps = 10000

// Progress is the state of a running ascent.
type Progress struct {
	Sweep     int     // sweeps done, from 1
	MaxSweeps int     // at most this many will be
	Bound     float64 // lower bound on the log evidence, in nats
	Rise      float64 // by how much the last sweep raised it; NaN after the first

	// Left estimates how many sweeps are still to come, from how fast the last moves have shrunk.
	// It is at most MaxSweeps − Sweep, and negative while no estimate is known.
	Left int

	// Change is by how much the last sweep changed the predictions at the training points,
	// see [Predictions.Distance]; negative where that is not known.
	Change float64
}

// Reason says why an ascent stopped.
type Reason int

// Reasons to stop.
const (
	Converged Reason = iota // the bound no longer rises: see Ascent.Tolerance
	MaxSweeps               // the sweeps are used up
	Cancelled               // the context ended
	BoundFell               // the bound fell by more than round-off: see BoundError
	Failed                  // an update failed; the error says which
	RoundOff                // the bound fell, and by no more than its own round-off
)

// String returns the reason in words.
func (r Reason) String() string {
	switch r {
	case Converged:
		return "converged"
	case MaxSweeps:
		return "max sweeps"
	case Cancelled:
		return "cancelled"
	case BoundFell:
		return "bound fell"
	case Failed:
		return "failed"
	case RoundOff:
		return "converged to within round-off"
	}
	return fmt.Sprintf("Reason(%d)", int(r))
}

// Done reports whether the ascent ended because there was nothing left to climb: it
// converged, or the remaining rise is smaller than round-off.
func (r Reason) Done() bool { return r == Converged || r == RoundOff }

// Record is the record of an ascent.
type Record struct {
	Trace  []float64 // the bound after each sweep that was kept, in nats
	Reason Reason

	// Changes holds by how much each of these sweeps changed the predictions at the
	// training points, see [Predictions.Distance]. It is negative for a first sweep and
	// where Tolerance is not 0. An ascent that goes on needs it to stop where it would have
	// stopped without the break.
	Changes []float64

	// Left is about how many sweeps were still to come after the last, MaxSweeps or not; 0
	// after convergence, negative where it is not known.
	Left int

	// Jitter is the largest relative amount that was added to the diagonal of a
	// matrix, such as Σ_m K_m·K_mᵀ, so that it could be factorised; 0 unless priors are
	// so sparse, or kernels so large, that double precision does not suffice.
	Jitter float64
}

// Bound returns the bound after the last sweep, NaN if there was none.
func (r Record) Bound() float64 {
	if len(r.Trace) == 0 {
		return math.NaN()
	}
	return r.Trace[len(r.Trace)-1]
}

// BoundError reports a lower bound that fell by more than round-off or is not a
// number, which exact arithmetic rules out: the problem is too ill-conditioned
// for double precision.
type BoundError struct {
	Sweep    int     // from 1; it was taken back
	Update   string  // the update after which it was seen, if known
	From, To float64 // the bound before and after
	RoundOff float64 // how far rounding can have moved the two, together
}

// Error says in which sweep the bound fell, from what to what, and, if the bound is a number, what rounding
// explains of the fall.
func (e *BoundError) Error() string {
	where := fmt.Sprintf("sweep %d", e.Sweep)
	if e.Update != "" {
		where += ", update of " + e.Update
	}
	if math.IsNaN(e.To) || math.IsInf(e.To, 0) {
		return fmt.Sprintf("vi: %s: the lower bound went from %.17g to %g: the kernels or priors are too ill-conditioned", where, e.From, e.To)
	}
	return fmt.Sprintf("vi: %s: the lower bound fell from %.17g to %.17g, and round-off explains %.2g of this: the kernels or priors are too ill-conditioned",
		where, e.From, e.To, e.RoundOff)
}

// unseen is the fall, relative to the bound, that is not looked at: ten thousand times
// less than the rise that counts as none, and more than the last digits of a sum.
const unseen = 1e-9

// Objective is what an [Ascent] climbs: the factors of an approximate posterior.
// The families implement it.
type Objective interface {
	// Sweep updates every factor once. It calls done, unless that is nil, with
	// a factor's name after its update.
	Sweep(done func(factor string)) error
	// Heed makes the sweeps that follow end, with an error, within one factorisation of
	// the time when ctx does; nil means never. The state is then to be restored.
	Heed(ctx context.Context)
	// Bound returns the lower bound of the present state.
	Bound() float64
	// Roundoff returns how far rounding can have moved the value of Bound at the
	// present state, beyond the last digits of its value.
	Roundoff() float64
	// Allowance returns by how much the last sweep may have lowered the bound on
	// purpose, +Inf if its updates are not ascent.
	Allowance() float64
	// Keep notes the present state, and Restore goes back to the one noted last, as
	// far as posteriors and further sweeps depend on it.
	Keep()
	Restore()
	// Jittered returns the largest jitter of the last sweep, see [Record].
	Jittered() float64
	// Observations returns the number of observed targets.
	Observations() float64
	// Predictions stores what the present state, that after a sweep, predicts at training
	// points. It costs little beside a sweep.
	Predictions(p *Predictions)
}

// Run climbs m's bound from its present state. It returns the error of the context or of a sweep, or a
// [*BoundError]; a nil context is an error too. A sweep that fails, or after which the bound is lower, is taken
// back: the state is then the one before it, and the record ends with the sweep before it.
func (a Ascent) Run(ctx context.Context, m Objective) (Record, error) {
	return a.Continue(ctx, m, Record{}, 0)
}

// Continue is Run after the sweeps that rec records: they count towards MaxSweeps,
// and the trace goes on where theirs ends. The first passed of them are not looked
// at again for convergence: with 0 it is the same ascent after a break, with all of
// them an ascent of its own.
func (a Ascent) Continue(ctx context.Context, m Objective, rec Record, passed int) (Record, error) {
	c := climb{Ascent: a, m: m, rec: &rec}
	if ended, err := c.begin(ctx, passed); ended {
		return rec, err
	}
	for k := len(rec.Trace) + 1; k <= c.limit; k++ {
		if ended, err := c.step(ctx, k); ended {
			return rec, err
		}
	}
	rec.Reason = MaxSweeps
	return rec, nil
}

// climb is an ascent under way.
type climb struct {
	Ascent
	m     Objective
	rec   *Record
	limit int // sweeps

	last, lastNoise float64 // the bound, and its round-off, after the last sweep

	stage *Stage // of the journal; nil without a journal
	visit func(*work.Snapshot)
	watch *watch
}

// begin checks the settings and takes the state of the journal, if that has one. It reports whether
// there is nothing left to do.
func (c *climb) begin(ctx context.Context, passed int) (ended bool, err error) {
	if ctx == nil {
		return c.fail(errors.New("vi: ctx is nil"))
	}
	if c.limit = c.MaxSweeps; c.limit == 0 {
		c.limit = DefaultMaxSweeps
	}
	if c.limit < 0 {
		return c.fail(fmt.Errorf("vi: MaxSweeps is %d: it must not be negative", c.limit))
	}
	if c.Tolerance-c.Tolerance != 0 {
		return c.fail(fmt.Errorf("vi: Tolerance is %g: it must be finite", c.Tolerance))
	}
	c.last = c.rec.Bound()
	c.stage, c.visit = c.journalStage(c.m, passed)
	switch known, done, err := c.stage.Resume(c.visit, c.rec); {
	case err != nil:
		return c.fail(err)
	case done:
		return true, nil
	case known:
		passed, c.last, c.lastNoise = c.stage.passed, c.rec.Bound(), c.m.Roundoff()
	}
	c.rec.Trace = slices.Grow(c.rec.Trace, min(c.limit, 1024))
	c.watch = c.newWatch(c.m, c.rec, passed)
	return false, nil
}

// fail ends the ascent with an error.
func (c *climb) fail(err error) (ended bool, _ error) {
	c.rec.Reason = Failed
	return true, err
}

// step makes sweep k and reports whether the ascent ends with it.
func (c *climb) step(ctx context.Context, k int) (ended bool, err error) {
	if ended, err := c.sweep(ctx, k); ended {
		return true, err
	}
	b, noise, allowed := c.m.Bound(), c.m.Roundoff(), c.m.Allowance()
	if ended, err := c.checkFall(k, b, noise, allowed); ended {
		return true, err
	}
	c.rec.Jitter = max(c.rec.Jitter, c.m.Jittered())
	c.rec.Trace = append(c.rec.Trace, b)
	converged := c.watch.look(math.IsInf(allowed, 1))
	if c.Progress != nil {
		c.Progress(Progress{
			Sweep: k, MaxSweeps: c.limit, Bound: b, Rise: b - c.last, Left: min(c.rec.Left, c.limit-k), Change: c.rec.Changes[k-1],
		})
	}
	c.last, c.lastNoise = b, noise
	if converged {
		c.rec.Reason = Converged
	}
	if err := c.stage.Note(c.visit, c.rec, converged); err != nil {
		return c.fail(fmt.Errorf("vi: sweep %d: %w", k, err))
	}
	return converged, nil
}

// sweep makes sweep k. It takes the sweep back and ends the ascent if the sweep fails or the context
// ends.
func (c *climb) sweep(ctx context.Context, k int) (ended bool, err error) {
	if ctx.Err() != nil {
		return c.stopped(ctx, k)
	}
	c.m.Keep()
	c.m.Heed(ctx)
	err = c.m.Sweep(nil)
	c.m.Heed(context.Background()) // what follows is to be whole
	stopped := ctx.Err() != nil
	if err == nil && !stopped {
		return false, nil
	}
	c.m.Restore()
	if stopped {
		return c.stopped(ctx, k)
	}
	return c.fail(fmt.Errorf("vi: sweep %d: %w", k, err))
}

// stopped ends the ascent before sweep k because the context has ended.
func (c *climb) stopped(ctx context.Context, k int) (ended bool, err error) {
	c.rec.Reason = Cancelled
	return true, fmt.Errorf("vi: stopped after %d sweeps: %w", k-1, context.Cause(ctx))
}

// checkFall ends the ascent, without sweep k, if the bound b after that sweep is not finite, or has
// fallen from the bound before by more than the sweep was allowed to.
func (c *climb) checkFall(k int, b, noise, allowed float64) (ended bool, err error) {
	fall := c.last - b - allowed
	if b-b == 0 && !(fall > unseen*(1+math.Abs(c.last))) {
		return false, nil
	}
	switch within := b-b == 0 && fall <= noise+c.lastNoise; {
	case !within:
		c.m.Restore()
		c.rec.Reason = BoundFell
		return true, &BoundError{Sweep: k, From: c.last, To: b, RoundOff: noise + c.lastNoise}
	case c.Tolerance >= 0:
		c.m.Restore()
		c.rec.Reason, c.rec.Left = RoundOff, 0
		return true, nil
	}
	return false, nil
}

// snapshotter is an [Objective] that names everything that further sweeps depend on.
type snapshotter interface{ Snapshot(s *work.Snapshot) }

// journalStage returns the journal's stage of the ascent that begins, nil if m keeps no state, and what
// names m's state.
func (a Ascent) journalStage(m Objective, passed int) (*Stage, func(*work.Snapshot)) {
	s := a.Journal.Next() // m counts, state or not
	of, ok := m.(snapshotter)
	if s == nil || !ok {
		return nil, nil
	}
	if !s.known {
		a.Journal.mu.Lock()
		s.passed = passed
		a.Journal.mu.Unlock()
	}
	return s, of.Snapshot
}

// watch follows an ascent to say when it has converged.
type watch struct {
	tol      float64
	m        Objective
	rec      *Record
	passed   int
	settling settling

	here, there Predictions // after the last sweep, and room for the next
}

// newWatch returns the watch over the ascent of m that continues from rec.
func (a Ascent) newWatch(m Objective, rec *Record, passed int) *watch {
	w := &watch{tol: a.Tolerance, m: m, rec: rec, passed: passed}
	rec.Changes = slices.Clone(rec.Changes)
	for len(rec.Changes) < len(rec.Trace) {
		rec.Changes = append(rec.Changes, -1)
	}
	if w.tol == 0 {
		w.settling.least = leastRise * max(1, m.Observations())
		for k := passed; k < len(rec.Trace); k++ {
			w.note(k)
		}
		w.settling.resume()
		if len(rec.Trace) > 0 {
			m.Predictions(&w.here)
		}
	}
	return w
}

// note takes the moves of the sweep at k of the record.
func (w *watch) note(k int) {
	rise := -1.0
	if k > 0 {
		rise = math.Abs(w.rec.Trace[k] - w.rec.Trace[k-1]) // steps that are not ascent settle from either side
	}
	w.settling.changes = append(w.settling.changes, w.rec.Changes[k])
	w.settling.rises = append(w.settling.rises, rise)
}

// look reports whether the ascent has converged after the sweep whose bound is the last
// of the record, and notes in the record what the sweep changed and how many are left.
// free says that its steps may lower the bound.
func (w *watch) look(free bool) (converged bool) {
	k, change, left := len(w.rec.Trace), -1.0, math.Inf(1)
	switch {
	case w.tol == 0:
		w.m.Predictions(&w.there)
		if d := w.here.Distance(&w.there); !math.IsInf(d, 1) {
			change = d
		}
		w.here, w.there = w.there, w.here
		w.rec.Changes = append(w.rec.Changes, change)
		w.note(k - 1)
		converged, left = w.settling.look()
	case w.tol > 0:
		w.rec.Changes = append(w.rec.Changes, change)
		converged, left = w.plateau(free)
	default:
		w.rec.Changes = append(w.rec.Changes, change)
	}
	switch {
	case converged:
		w.rec.Left = 0
	case left < math.MaxInt32:
		w.rec.Left = int(math.Ceil(left))
	default:
		w.rec.Left = -1
	}
	return converged
}

// plateau is the rule of a positive tolerance. The rise over a stretch of sweeps falls,
// if it decays geometrically, below the tolerance as fast as it did since the stretch
// before.
func (w *watch) plateau(free bool) (converged bool, sweeps float64) {
	trace := w.rec.Trace
	k := len(trace)
	stretch := max(10, k/10)
	if k <= w.passed+stretch {
		return false, math.Inf(1)
	}
	b := trace[k-1]
	rise, least := b-trace[k-1-stretch], w.tol*max(math.Abs(b), w.m.Observations())
	if free { // they settle from either side
		rise = math.Abs(rise)
	}
	if rise < least {
		return true, 0
	}
	if k <= w.passed+2*stretch {
		return false, math.Inf(1)
	}
	before := math.Abs(trace[k-1-stretch] - trace[k-1-2*stretch])
	if !(rise < before) {
		return false, math.Inf(1)
	}
	return false, float64(stretch) * special.Log(rise/least) / special.Log(before/rise)
}
