package work

import "context"

// Stop lets a sweep end early. Models embed it; the zero value never ends.
type Stop struct{ ctx context.Context }

// Heed implements vi.Objective: from now on sweeps end once ctx does, nil meaning never.
func (s *Stop) Heed(ctx context.Context) { s.ctx = ctx }

// Ended returns why sweeps are to end, nil if they are not. Every loop of a sweep that
// can take longer than 50 ms asks.
func (s *Stop) Ended() error {
	if s == nil || s.ctx == nil || s.ctx.Err() == nil {
		return nil
	}
	return context.Cause(s.ctx)
}
