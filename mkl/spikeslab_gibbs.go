package mkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/mkl/internal/gram"
)

// SampleWeights estimates the features' weights by Gibbs sampling given the samples x and their targets y, with the prior and
// the noise that the fit has learned. The sampler is the paired one: it draws whether a weight is zero together with its value. Given these
// hyperparameters the chains have the exact posterior as their limit, so that they show what the approximation of Weights changes. The
// weights are in the units of target and feature. draws holds the draws of standardised features and targets, for diagnostics.
//
// x and y are usually what the model was fitted to. Errors name the argument and the place. If ctx ends, the error
// comes with the draws made before.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational inference for multi-task and multiple kernel learning", NIPS
// 2011, section 4.
func (m *SpikeSlabModel) SampleWeights(ctx context.Context, x Features, y []float64, s mcmc.Sampling) (weights []SlabWeight, draws mcmc.SpikeSlabDraws, err error) {
	if err := gram.CheckLayout("x", x); err != nil {
		return nil, draws, err
	}
	n, err := checkTargets([][]float64{y}, false)
	switch {
	case err != nil:
		return nil, draws, err
	case x.Rows != n || x.Cols != len(m.names):
		return nil, draws, fmt.Errorf("mkl: x: %d×%d where %d×%d are needed", x.Rows, x.Cols, n, len(m.names))
	}
	if err := checkFinite("x", x); err != nil {
		return nil, draws, err
	}
	z := make([]float64, n)
	for i, v := range y {
		z[i] = (v - m.target.mean) / m.target.sd
	}
	state := m.posterior.State()
	draws, err = mcmc.SpikeSlab{Prior: state.Prior, Noise: state.Noise, Sampling: s}.Sample(ctx, m.see(x), z)
	if draws.Draws == nil {
		return nil, draws, fmt.Errorf("mkl: %w", err)
	}
	mean, inclusion, spread := draws.Mean(), draws.Inclusion(), draws.Summary("w")
	for j, name := range m.names {
		unit := m.target.sd / m.scale[j]
		weights = append(weights, SlabWeight{name, unit * mean[j], unit * spread[j].SD, inclusion[j]})
	}
	return weights, draws, err
}
