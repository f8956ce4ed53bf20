package mcmc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Sampling says how long to sample. The zero value is ready: four chains of 1000
// draws after 1000 sweeps of burn-in.
type Sampling struct {
	// Chains is the number of chains; 0 means DefaultChains. Each starts from a
	// random state of its own.
	Chains int

	// Draws is the number of draws kept of each chain; 0 means DefaultDraws.
	Draws int

	// Thin is the number of sweeps from one kept draw to the next; 0 means 1.
	// Thinning saves memory; it never makes estimates better.
	Thin int

	// BurnIn is the number of sweeps at the start of each chain from which no draw is
	// kept. Proposals adapt their step sizes in them; afterwards these are fixed. 0
	// means as many sweeps as follow, Draws·Thin; a negative number means none.
	BurnIn int

	// Seed selects the random streams. Draws depend on it, not on Workers.
	Seed uint64

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0). Chains
	// run side by side; workers beyond their number share the work within a sweep.
	Workers int

	// Progress, if not nil, is called after every sweep of a chain, one call at a
	// time, on some chain's goroutine.
	Progress func(Progress)

	// Checkpoint, if not nil, is called each time that every chain has made Every
	// further sweeps, and when the run ends, also if it ends with an error. Its own
	// error ends the run. It may keep the checkpoint, which does not change any more.
	Checkpoint func(*Checkpoint) error

	// Every is the number of sweeps of each chain from one checkpoint to the next; 0
	// means DefaultEvery.
	Every int

	// Resume, if not nil, is the checkpoint from which the run continues: one of the
	// same sampler on the same data with the same Chains, Thin, BurnIn and Seed. Draws
	// may be larger than before, to make a finished run longer; BurnIn must then be
	// given, as 0 stands for a number that depends on Draws.
	Resume *Checkpoint
}

// Defaults of Sampling.
const (
	DefaultChains = 4
	DefaultDraws  = 1000
	DefaultEvery  = 1000
)

// Progress reports how far a running sampler has come.
type Progress struct {
	Chain  int // the chain that made the sweep, from 0
	Sweep  int // sweeps that this chain has made
	Sweeps int // sweeps that every chain will make
	Done   int // sweeps that all chains together have made, of Chains·Sweeps; with Resume, earlier ones included
}

// chain is the state of one chain between two sweeps.
type chain struct {
	index   int
	source  *rand.ChaCha8
	random  special.Rand
	sampler sampler
	sweeps  int
	kept    []float64 // the draws, one behind the other
}

// sampler is one model's part of a chain: the present values of its variables and the
// moves that change them.
type sampler interface {
	// start draws the values that a chain begins with.
	start(r random) error
	// sweep changes every variable once. In the burn-in it may tune its proposals.
	sweep(r random, burnIn bool) error
	// keep appends the present values of the target's variables, in their order.
	keep(dst []float64) []float64
	// save appends everything that later sweeps depend on; restore reads it back.
	save(dst []float64) []float64
	restore(src []float64) error
	// moves returns how its Metropolis–Hastings steps have fared since the burn-in.
	moves() []Move
}

// target is what chains sample from: one model's posterior on one data set.
type target struct {
	name      string     // the sampler's name in checkpoints
	data      digest     // identifies data and hyperparameters
	variables []Variable // what a draw consists of
	new       func(*la.Workspace) sampler
}

// The most of what a run can be asked for: every chain has a sampler with memory of its
// own, and more sweeps than these would take years.
const (
	maxChains = 1 << 12
	maxSweeps = 1 << 30
)

// or returns s with the given defaults, and the defaults of the other fields, where it has
// none of its own.
func (s Sampling) or(chains, draws int) Sampling {
	if s.Chains == 0 {
		s.Chains = chains
	}
	if s.Draws == 0 {
		s.Draws = draws
	}
	if s.Thin == 0 {
		s.Thin = 1
	}
	if s.BurnIn == 0 {
		s.BurnIn = s.Draws * s.Thin
	}
	s.BurnIn = max(s.BurnIn, 0)
	if s.Every <= 0 {
		s.Every = DefaultEvery
	}
	if s.Workers <= 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	return s
}

func (s Sampling) validate() error {
	for _, v := range []struct {
		name  string
		value int
	}{{"Chains", s.Chains}, {"Draws", s.Draws}, {"Thin", s.Thin}} {
		if v.value < 0 {
			return fmt.Errorf("mcmc: Sampling.%s is %d: it must not be negative", v.name, v.value)
		}
	}
	switch {
	case s.Chains > maxChains:
		return fmt.Errorf("mcmc: Sampling.Chains is %d: at most %d run side by side", s.Chains, maxChains)
	case s.BurnIn > maxSweeps:
		return fmt.Errorf("mcmc: Sampling.BurnIn is %d: a chain makes at most %d sweeps", s.BurnIn, maxSweeps)
	case s.Draws > maxSweeps/max(1, s.Thin):
		return fmt.Errorf("mcmc: Sampling.Draws is %d and Sampling.Thin %d: a chain makes at most %d sweeps", s.Draws, s.Thin, maxSweeps)
	}
	return nil
}

// run samples from t. If the context ends or a sweep fails, it returns the draws made
// before together with the error.
func (s Sampling) run(ctx context.Context, t target) (*Draws, error) {
	if ctx == nil {
		return nil, errors.New("mcmc: ctx is nil")
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	s = s.or(DefaultChains, DefaultDraws)
	side := min(s.Workers, s.Chains) // chains at work at the same time
	share := max(1, s.Workers/side)  // workers of each
	chains := make([]*chain, s.Chains)
	for c := range chains {
		chains[c] = &chain{index: c, source: newStream(s.Seed, c), sampler: t.new(&la.Workspace{Workers: share})}
		chains[c].random = special.NewRand(chains[c].source)
	}
	if s.Resume != nil {
		if err := s.Resume.restore(s, t, chains); err != nil {
			return nil, err
		}
	} else {
		for _, c := range chains {
			if err := c.sampler.start(c.random); err != nil {
				return nil, fmt.Errorf("mcmc: chain %d: start: %w", c.index, err)
			}
		}
	}
	r := round{Sampling: s, total: s.BurnIn + s.Draws*s.Thin}
	for _, c := range chains {
		r.done += c.sweeps
	}
	for {
		until, fewest := r.total, r.total
		for _, c := range chains {
			fewest = min(fewest, c.sweeps)
		}
		if fewest == r.total {
			break
		}
		if s.Checkpoint != nil {
			until = min(until, (fewest/s.Every+1)*s.Every)
		}
		err := r.run(ctx, chains, until, side)
		if s.Checkpoint != nil {
			// Also after an error: the run can be resumed from there.
			err = errors.Join(err, s.Checkpoint(newCheckpoint(s, t, chains)))
		}
		if err != nil {
			return newDraws(t, chains), err
		}
	}
	return newDraws(t, chains), nil
}

// round advances chains by some sweeps, side by side, and reports their progress.
type round struct {
	Sampling
	total int // sweeps of each chain in the whole run

	mu   sync.Mutex
	done int // sweeps made by all chains
}

// run advances every chain to the given number of sweeps, as many chains at a time as
// side says. Of several errors it returns the first chain's.
func (r *round) run(ctx context.Context, chains []*chain, until, side int) error {
	errs := make([]error, len(chains))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range side {
		wg.Go(func() {
			for {
				c := int(next.Add(1)) - 1
				if c >= len(chains) {
					return
				}
				errs[c] = r.advance(ctx, chains[c], until)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// advance advances one chain to the given number of sweeps.
func (r *round) advance(ctx context.Context, c *chain, until int) error {
	for c.sweeps < until {
		if ctx.Err() != nil {
			return fmt.Errorf("mcmc: chain %d: stopped after %d sweeps: %w", c.index, c.sweeps, context.Cause(ctx))
		}
		if err := c.sampler.sweep(c.random, c.sweeps < r.BurnIn); err != nil {
			return fmt.Errorf("mcmc: chain %d: sweep %d: %w", c.index, c.sweeps+1, err)
		}
		c.sweeps++
		if past := c.sweeps - r.BurnIn; past > 0 && past%r.Thin == 0 {
			c.kept = c.sampler.keep(c.kept)
		}
		if r.Progress != nil {
			r.mu.Lock()
			r.done++
			r.Progress(Progress{Chain: c.index, Sweep: c.sweeps, Sweeps: r.total, Done: r.done})
			r.mu.Unlock()
		}
	}
	return nil
}
