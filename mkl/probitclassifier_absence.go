package mkl

import (
	"context"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
)

// This file predicts samples that lack views with a [ProbitClassifierModel]. The missing features of
// such a sample are assumed to be distributed like the features of the training samples that have them.
// Its probabilities are means: for one training sample after another, the missing features are replaced by
// the training sample's.

// mostStandIns is the largest number of training samples that replace the missing views of a sample. They are evenly
// spaced among those that have the views.
const mostStandIns = 64

// standIns are the training samples whose features replace the missing inputs of a sample.
type standIns struct {
	inputs  []gram.Input
	d       int    // basis points
	missing []bool // which inputs the sample lacks
	whole   int    // number of basis points that have all missing inputs
	n       int    // number of stand-ins; 0 if the sample lacks nothing
}

// newStandIns finds the stand-ins. If fewer than two basis points have all missing inputs,
// each input comes from basis points of its own.
func newStandIns(inputs []gram.Input, d int, missing []bool) standIns {
	s := standIns{inputs: inputs, d: d, missing: missing}
	if !slices.Contains(missing, true) {
		return s
	}
	for i := range d {
		if s.has(i, -1) {
			s.whole++
		}
	}
	if s.n = mostStandIns; s.whole >= 2 {
		s.n = min(s.n, s.whole)
	}
	return s
}

// has reports whether basis point i has the input, or with input −1 all missing inputs.
func (s *standIns) has(i, input int) bool {
	for j, missing := range s.missing {
		if missing && (input < 0 || input == j) && s.inputs[j].Lacking != nil && s.inputs[j].Lacking[i] {
			return false
		}
	}
	return true
}

// fill stores the features of stand-in k in the rows of the missing inputs.
func (s *standIns) fill(k int, x [][]float64) {
	for j, missing := range s.missing {
		if !missing {
			continue
		}
		from, at := -1, 0
		if s.whole >= 2 {
			at = k * s.whole / s.n
		} else {
			from = j
			have := s.d
			if lacking := s.inputs[j].Lacking; lacking != nil {
				have -= vec.Count(lacking)
			}
			turn := float64((float64(k) + 0.5) * math.Sqrt(float64(4*j+2))) // the turns of two inputs have no common period
			at = int((turn - math.Floor(turn)) * float64(have))
		}
		for i := range s.d {
			if !s.has(i, from) {
				continue
			}
			if at == 0 {
				x[j] = s.inputs[j].Basis.Row(i)
				break
			}
			at--
		}
	}
}

// predictAbsent replaces the predictions of the samples that lack views by means over stand-ins.
func (m *ProbitClassifierModel[T]) predictAbsent(ctx context.Context, opt PredictOptions, out *ClassPrediction[T], t int, x []Features) error {
	if !slices.ContainsFunc(m.design.Inputs, func(in gram.Input) bool { return in.Gaps }) {
		return nil
	}
	const together = 16 // number of samples
	var which []int
	var all []standIns
	row := make([][]float64, len(x))
	finish := func() error {
		if len(which) == 0 {
			return nil
		}
		var filled []Features
		total := 0
		for _, s := range all {
			total += s.n
		}
		for j := range x {
			filled = append(filled, la.NewMatrix[float64](total, x[j].Cols))
		}
		next := 0
		for i, s := range all {
			for k := range s.n {
				for j := range x {
					row[j] = x[j].Row(which[i])
				}
				s.fill(k, row)
				for j := range x {
					copy(filled[j].Row(next), row[j])
				}
				next++
			}
		}
		of := newClassPrediction[T](total, len(m.classes.names), opt)
		if err := m.predictPresent(ctx, opt, of, total, filled); err != nil {
			return err
		}
		next = 0
		for i, s := range all {
			meanOf(of.Decision[next:next+s.n], out.Decision[which[i]])
			if !opt.MeanOnly {
				meanOf(of.Probability[next:next+s.n], out.Probability[which[i]])
			}
			next += s.n
		}
		which, all = which[:0], all[:0]
		return nil
	}
	for i := range t {
		missing := make([]bool, len(x))
		for j := range x {
			missing[j] = m.design.Inputs[j].Gaps && gram.Lacks(x[j].Row(i))
		}
		if s := newStandIns(m.design.Inputs, m.design.D, missing); s.n > 0 {
			which, all = append(which, i), append(all, s)
		}
		if len(which) == together {
			if err := finish(); err != nil {
				return err
			}
		}
	}
	return finish()
}

// meanOf stores the mean of the rows in dst.
func meanOf(rows [][]float64, dst []float64) {
	clear(dst)
	for _, row := range rows {
		la.Axpy(1/float64(len(rows)), row, dst)
	}
}

// predictPresent fills in the decision values and probabilities of t samples. Kernels of missing views are
// the means over the samples that have the view.
func (m *ProbitClassifierModel[T]) predictPresent(ctx context.Context, opt PredictOptions, out *ClassPrediction[T], t int, x []Features) error {
	return m.design.PredictBlocks(ctx, opt.Workers, x, t, func(k vi.Kernels, first, n int) error {
		p, err := m.predict(ctx, k, first, x, vi.PredictOptions{MeanOnly: opt.MeanOnly, Workers: opt.Workers})
		if err != nil {
			return err
		}
		for i := range n {
			for c := range m.classes.names {
				out.Decision[first+i][c] = p.Mean.At(c, i)
			}
			if !opt.MeanOnly {
				copy(out.Probability[first+i], p.Probability.Row(i))
			}
		}
		return nil
	})
}
