package amplitude

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
)

// chain is a Gibbs sampler and what each of its sweeps has left.
type chain struct {
	*selector
	views, groups [][]float64 // conditional probabilities
	on            [][]bool    // which views are included
	draws         []Draw
}

// newChain checks the arguments of [Problem.Select] and replaces the zeros of how by their defaults.
func (p *Problem) newChain(ctx context.Context, st Structure, include []float64, how *Sampling, carried bool) (*chain, error) {
	if ctx == nil {
		return nil, errors.New("vi: ctx is nil")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if err := how.fill(150); err != nil {
		return nil, err
	}
	V := p.Layout.Views()
	logit := make([]float64, V)
	if include != nil && len(include) != V {
		return nil, fmt.Errorf("vi: probabilities of %d views where there are %d", len(include), V)
	}
	for v, q := range include {
		if !(q > 0 && q < 1) {
			return nil, fmt.Errorf("vi: view %d is included with the probability %g: it must be between 0 and 1", v, q)
		}
		logit[v] = special.Log(q) - special.Log1p(-q)
	}
	s := p.newSelector(st, logit, how.Seed)
	s.carried = carried
	if math.IsInf(s.now, -1) {
		return nil, errors.New("vi: K is not positive definite where the draws begin")
	}
	return &chain{selector: s}, nil
}

// extend adds sweeps until there are so many.
func (c *chain) extend(ctx context.Context, sweeps int) error {
	for len(c.draws) < sweeps {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("vi: %w", err)
		}
		c.sweep(ctx)
		on := make([]bool, len(c.viewOn))
		logs := slices.Clone(c.theta[:len(c.p.Layout.View)])
		for v := range on {
			on[v] = c.selector.on(v)
		}
		for j, v := range c.p.Layout.View {
			if !on[v] {
				logs[j] = math.Inf(-1)
			}
		}
		c.on = append(c.on, on)
		c.views, c.groups = append(c.views, slices.Clone(c.probability)), append(c.groups, slices.Clone(c.groupProbability))
		c.draws = append(c.draws, newDraw(c.z, logs, c.noise(), c.now))
	}
	return nil
}

// from returns the posterior that the sweeps after the burn-in show, and as many draws as how says.
func (c *chain) from(burnIn int, how Sampling) *Selection {
	V, sweeps := len(c.viewOn), len(c.draws)-burnIn
	out := &Selection{Included: make([]float64, V), Groups: make([]float64, len(c.groupOn)), Error: make([]float64, V), Sweeps: c.on[burnIn:]}
	batch := make([][batches]float64, V)
	for t := range sweeps {
		for v, q := range c.views[burnIn+t] {
			out.Included[v] += q
			batch[v][t*batches/sweeps] += q
		}
		for g, q := range c.groups[burnIn+t] {
			out.Groups[g] += q
		}
		if how.kept(t) {
			out.Draws, out.On = append(out.Draws, c.draws[burnIn+t]), append(out.On, c.on[burnIn+t])
		}
	}
	for g := range out.Groups {
		out.Groups[g] /= float64(sweeps)
	}
	for v := range out.Error {
		out.Included[v] /= float64(sweeps)
		out.Error[v] = batchError(batch[v][:], out.Included[v], sweeps)
	}
	return out
}
