package mkl

import (
	"context"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/amplitude"
)

// ViewShare is what a pool of several views says about one of them.
type ViewShare struct {
	View string // its name

	// Share is the view's share of the variance of the predicted function over the training samples, and SD its posterior
	// standard deviation. Both take into account the uncertainty of amplitudes and functions, and all members with amplitudes
	// that borrow strength. The shares of all views add up to 1. A view that is left out has the share 0.
	Share, SD float64

	// Informative is the probability that the view by itself has information about the targets, rather than none.
	Informative float64
}

// Views returns the table of the views, in their order. It is nil for a pool of one view, of landmarks, or of learned widths
// alone, and for a file from before the table existed.
func (p *pool) Views() []ViewShare { return slices.Clone(p.views) }

// Draws of the shares. Up to sweepSamples samples there are tableSweeps sweeps of elliptical slices, each with about five
// Cholesky factors; with more samples there are fewer, but at least leastSweeps. tableDraws of the draws are kept.
const (
	tableSweeps  = 300
	leastSweeps  = 40
	sweepSamples = 150
	tableDraws   = 30
)

// leastSpread is a limit below which the spread of shares is rounding: for a single view, or one that is left out.
const leastSpread = 1e-9

// viewTable makes the table of the views from draws from the posterior of each fit.
func (a *amplitudeKernels) viewTable(ctx context.Context, p amplitude.Problem, fits []amplitudeFit, informative []float64, seed uint64) ([]ViewShare, error) {
	_, n := a.packed.Dims()
	few := float64(sweepSamples) / float64(max(n, sweepSamples))
	sweeps := max(leastSweeps, int(tableSweeps*few*few))
	var shares [][]float64 // a row for each view
	for range a.names {
		shares = append(shares, nil)
	}
	for i, f := range fits {
		s := amplitude.Sampling{Sweeps: sweeps, Draws: tableDraws, Seed: seed + uint64(i)}
		draws, err := p.Draws(ctx, f.Fit, s)
		if err != nil {
			return nil, stopped(ctx, err)
		}
		of, err := p.Shares(ctx, draws, s.Seed)
		if err != nil {
			return nil, stopped(ctx, err)
		}
		for d := range draws {
			for v, share := range of.Function.Row(d) {
				shares[v] = append(shares[v], share)
			}
		}
	}
	out := make([]ViewShare, len(a.names))
	for v, all := range shares {
		out[v] = ViewShare{View: a.names[v], Informative: informative[v]}
		out[v].Share, out[v].SD = vec.MeanSD(all)
		if out[v].Share = min(out[v].Share, 1); !(out[v].SD > leastSpread) {
			out[v].SD = 0
		}
	}
	return out, nil
}
