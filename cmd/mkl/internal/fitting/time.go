package fitting

import (
	"context"
	"errors"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// ErrTimeUp ends a fit that has taken the time of -time.
var ErrTimeUp = errors.New("-time is up")

// Run fits under a progress bar, which is not shown if quiet. fit is to call progress after every sweep. Once the
// time limit is over, Run returns the model of the sweeps so far. If the fit ended with an error
// and has a model all the same, Run returns both.
func Run(e *console.Env, quiet bool, limit time.Duration, fit func(ctx context.Context, progress func(mkl.Progress)) (mkl.Model, error)) (mkl.Model, error) {
	b := &bar{env: e, quiet: quiet}
	return b.finish(inTime(e.Ctx, limit, func(ctx context.Context) (mkl.Model, error) { return fit(ctx, b.show) }))
}

// inTime calls fit. Once the time limit is over, it returns the model of the sweeps so far. A limit of 0 means no limit.
func inTime(ctx context.Context, limit time.Duration, fit func(context.Context) (mkl.Model, error)) (mkl.Model, error) {
	if limit == 0 {
		return fit(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrTimeUp)
	defer cancel()
	m, err := fit(ctx)
	switch {
	case !errors.Is(err, ErrTimeUp):
		return m, err
	case m == nil:
		return nil, console.Inputf("-time %v ended before the fit had a model", limit)
	}
	return m, nil
}
