package amplitude

import (
	"context"
	"fmt"
	"math"
)

// Shares are settled when the Monte Carlo standard error of each view's share is at most settledError, and at most settledSDs of the share's
// posterior standard deviation. Errors below leastError do not matter. The aim is three percentage points and a quarter of the standard
// deviation. The limits are smaller, because the error is estimated, and sweeps end where the estimate is low.
const (
	settledError = 0.015
	settledSDs   = 0.2
	leastError   = 0.002
)

// SelectShares is [Problem.Select] with ½ for each view, and [Problem.Shares] in each of its draws. Every sweep is a draw. The sweeps go on, from
// how.Sweeps to most, until the shares are settled: their Monte Carlo standard errors are small beside the posterior standard deviations, and of
// few percentage points. The burn-in grows with the sweeps, a quarter of their number. how.BurnIn and how.Draws must be 0.
func (p Problem) SelectShares(ctx context.Context, st Structure, how Sampling, most int) (*Selection, *Shares, error) {
	if how.BurnIn != 0 || how.Draws != 0 {
		return nil, nil, fmt.Errorf("vi: sampling: %d sweeps of burn-in, %d draws: both must be 0, since they follow the sweeps", how.BurnIn, how.Draws)
	}
	c, err := p.newChain(ctx, st, nil, &how, true)
	if err != nil {
		return nil, nil, err
	}
	f := p.newFunctions(how.Seed)
	first := how.Sweeps / 4 // sweeps whose functions are not drawn
	for n := how.Sweeps; ; n = min(n+n/2+1, most) {
		burnIn := n / 4
		if err := c.extend(ctx, burnIn+n); err != nil {
			return nil, nil, err
		}
		if err := f.shares(ctx, c.draws[first+len(f.mean)/len(f.prior):]); err != nil {
			return nil, nil, err
		}
		if s := f.from(burnIn - first); n >= most || s.settled() {
			return c.from(burnIn, Sampling{Sweeps: n, Draws: n}), s, nil
		}
	}
}

// settled reports whether the Monte Carlo errors of the means of the draws are small, by the means of batches. It asks the shares of the mean
// functions, which do not depend on the order of the samples; draws of functions do. The amplitudes are what moves slowly.
func (s *Shares) settled() bool {
	n := s.Mean.Rows
	for v := range s.Mean.Cols {
		var sum [batches]float64
		var mean, square float64
		for d := range n {
			x := s.Mean.At(d, v)
			sum[d*batches/n] += x
			mean += x / float64(n)
		}
		for d := range n {
			gap := s.Mean.At(d, v) - mean
			square += float64(gap * gap)
		}
		sd := math.Sqrt(square / float64(max(n-1, 1)))
		if batchError(sum[:], mean, n) > max(leastError, min(settledError, settledSDs*sd)) {
			return false
		}
	}
	return true
}
