package amplitude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/random"
)

// Halves are the shares of the views in disjoint halves of the samples. A posterior of one set of samples does not say how the shares
// would differ in another set, where another of two similar views may have the larger share.
type Halves struct {
	First, Second la.Matrix[float64] // a row for each division, a column for each view: posterior means
}

// Halves divides the samples at random, as often as splits says, and returns the shares of the views in both halves, as
// [Problem.Select] and [Problem.Shares] find them. class, the class of each sample, may be nil: otherwise the halves have equal numbers
// of each class, within one. A division is left out if a half cannot be fitted, such as one in which all targets are equal.
func (p Problem) Halves(ctx context.Context, splits int, class []int, how Sampling) (*Halves, error) {
	if ctx == nil {
		return nil, errors.New("vi: ctx is nil")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	_, N := p.Kernels.Dims()
	if class != nil && len(class) != N {
		return nil, fmt.Errorf("vi: classes of %d samples where there are %d", len(class), N)
	}
	V := p.Layout.Views()
	first, second := la.NewMatrix[float64](splits, V), la.NewMatrix[float64](splits, V)
	src := random.Source(how.Seed)
	used := 0
	for range splits {
		order := src.Perm(N)
		if class != nil {
			slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(class[i], class[j]) })
		}
		whole := true
		for half, mean := range [][]float64{first.Row(used), second.Row(used)} {
			var rows []int
			for i := half; i < N; i += 2 {
				rows = append(rows, order[i])
			}
			slices.Sort(rows)
			clear(mean)
			if err := p.halfShares(ctx, rows, how, mean); ctx.Err() != nil {
				return nil, fmt.Errorf("vi: %w", ctx.Err())
			} else if err != nil {
				whole = false
			}
			how.Seed++
		}
		if whole {
			used++
		}
	}
	return &Halves{first.Slice(0, used, 0, V), second.Slice(0, used, 0, V)}, nil
}

// halfShares stores the posterior means of the views' shares in a fit to some samples.
func (p *Problem) halfShares(ctx context.Context, rows []int, how Sampling, mean []float64) error {
	q, err := p.Part(rows)
	if err != nil {
		return err
	}
	s, err := q.selection(ctx, Sparse, nil, how, false)
	if err != nil {
		return err
	}
	shares, err := q.Shares(ctx, s.Draws, how.Seed)
	if err != nil {
		return err
	}
	for d := range shares.Function.Rows {
		la.Axpy(1/float64(shares.Function.Rows), shares.Function.Row(d), mean)
	}
	return nil
}

// Variance returns how much the share of some views together would vary among sets of as many samples as the problem has, if mean[v] is
// the share of view v.
//
// Half of the difference of two halves has the variance of an estimate from all samples, if that falls as one over their number. Shares m
// have variances of about ρ·m(1 − m), as in a Dirichlet distribution. ρ comes from all views and divisions; m is the mean of mean[v] and
// of the halves' shares.
func (h *Halves) Variance(mean []float64, views []int) float64 {
	splits := h.First.Rows
	if splits == 0 {
		return 0
	}
	var square, scale, share float64
	for v, m := range mean {
		halves := 0.0
		for s := range splits {
			a, b := h.First.At(s, v), h.Second.At(s, v)
			halves += float64((a + b) / float64(2*splits))
			square += float64((a-b)*(a-b)) / float64(4*splits)
		}
		m = float64(0.5 * (m + halves))
		scale += float64(m * (1 - m))
		if slices.Contains(views, v) {
			share += m
		}
	}
	if !(scale > 0) {
		return 0
	}
	return max(0, square/scale*share*(1-share))
}

// Part returns the problem of some samples, in ascending order: their kernels are centred and scaled anew, and their targets
// standardised. Targets that are constant among these samples are left out.
func (p Problem) Part(rows []int) (Problem, error) {
	q := p
	q.Kernels = p.Kernels.part(rows)
	n := len(rows)
	var ys [][]float64
	var variance float64 // mean of the targets'
	for c := range p.Y.Rows {
		y := make([]float64, n)
		var mean, square float64
		for i, r := range rows {
			y[i] = p.Y.At(c, r)
			mean += y[i] / float64(n)
		}
		for i := range y {
			y[i] -= mean
			square += float64(y[i] * y[i] / float64(n))
		}
		variance += square / float64(p.Y.Rows)
		if square > leastVariance {
			la.Scal(1/math.Sqrt(square), y)
			ys = append(ys, y)
		}
	}
	if ys == nil {
		return q, errors.New("vi: the targets of some samples are constant")
	}
	q.Y = la.NewMatrix[float64](len(ys), n)
	for c, y := range ys {
		copy(q.Y.Row(c), y)
	}
	q.KnownNoise = p.KnownNoise / variance
	if p.NoiseShare != nil {
		q.NoiseShare = make([]float64, n)
		for i, r := range rows {
			q.NoiseShare[i] = p.NoiseShare[r]
		}
	}
	if p.OwnNoise != nil {
		q.OwnNoise = make([]float64, n)
		for i, r := range rows {
			q.OwnNoise[i] = p.OwnNoise[r] / variance
		}
	}
	if p.Correction != nil {
		share := float64(n) / float64(p.Y.Cols)
		q.Correction = func(included []bool) float64 { return share * p.Correction(included) }
	}
	return q, nil
}

// leastVariance is the variance, or the mean diagonal of a centred kernel, below which some samples do not vary; of all samples it is 1.
const leastVariance = 1e-9
