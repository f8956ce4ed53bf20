package mkl

import (
	"cmp"
	"context"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// From manySamples on, a fit is made to a part of the samples first, and the fit to all samples starts from the scales
// and widths of that fit. They are nearly right and cost little: a step on all samples takes as long as 16 on the part.
// Where the noise varies, a step takes many factorisations and the part knows the noise less well: a hurried fit then
// makes only fewNoiseSteps more.
const (
	manySamples   = 300
	fewNoiseSteps = 8
)

// From decidedSamples on, a fit of labels goes from the part, of at most labelPart samples, to the samples that
// decide: the most influential ones, which together have the share decided of all influence, as the fit to the part
// estimates it. The others add next to nothing to the slopes of the evidence (see [mgp.Evidence.Influence]). If more
// than mostDeciding samples decide, mostDeciding of all samples are drawn at random. A hurried fit keeps the scales
// learned there, and finds the sites of all samples from those with nearly all influence (see [mgp.EvidenceStart]).
const (
	decidedSamples = 1000
	decided        = 0.9
	labelPart      = decidedSamples * 2 / 5
	mostDeciding   = 1500
)

// part returns how many of n samples are fitted first, for a target or for labels.
func part(n int, labels bool) int {
	n = n * 2 / 5
	if labels {
		return min(n, labelPart)
	}
	return n
}

// mostAtFirst returns how many of n samples are fitted, at most, before all samples are.
func mostAtFirst(n int, labels bool) int {
	switch {
	case n < manySamples:
		return 0
	case labels && n >= decidedSamples:
		return min(int(decided*float64(n))+2*leastOfClass, mostDeciding) // the most influential ones have their share or more
	}
	return part(n, labels)
}

// beginAtSome calls fit, which has the settings e, for some of the samples, and sets the start of e to the result. It
// returns the reason why that fit ended, and MaxSweeps if no part could be fitted.
func (s processSettings) beginAtSome(ctx context.Context, e *mgp.Evidence, k gram.Held, y []float64, labels bool,
	fit func(vi.Kernels, []float64) (*mgp.Fit, error)) (vi.Reason, error) {
	N := len(y)
	var class []int
	if labels {
		for _, v := range y {
			class = append(class, int(v+1)/2)
		}
	}
	ended := vi.MaxSweeps
	keep := s.start != nil && s.start.Keep
	begin := func(rows []int) (started bool, err error) {
		all := e.Weights
		if all != nil {
			e.Weights = vec.Picked(all, rows)
		}
		f, err := fit(someKernels(k, rows), vec.Picked(y, rows))
		e.Weights = all
		switch {
		case ctx.Err() != nil:
			return false, err
		case err != nil: // some may lack what all have, such as targets that differ
			return false, nil
		}
		e.Start = processStart(f.Posterior, f.Noise, f.Parameters)
		e.Start.Part, e.Start.Rows, e.Start.Keep = f.Posterior, rows, keep
		ended = f.Record.Reason
		return true, nil
	}
	few := part(N, labels)
	if started, err := begin(s.sample(N, few, class)); err != nil || !started {
		return ended, err
	}
	hurried := s.hurried && e.Ascent.MaxSweeps == 0
	if hurried && s.noise == VaryingNoise {
		e.Ascent.MaxSweeps = fewNoiseSteps
	}
	if !labels || N < decidedSamples {
		return ended, nil
	}
	influence, err := e.Influence(ctx, k, y)
	if err != nil {
		return ended, err
	}
	e.Start.Part, e.Start.Rows = nil, nil
	started, err := begin(s.deciding(influence, class, few))
	e.Start.Keep = e.Start.Keep || hurried && started
	return ended, err
}

// deciding returns the indices, ascending, of the most influential samples. Together they have the share decided of
// all influence; they are at least least samples, with leastOfClass samples of each class. If these are more than
// mostDeciding, it draws mostDeciding of all samples.
func (s processSettings) deciding(influence []float64, class []int, least int) (rows []int) {
	N := len(influence)
	order := vec.UpTo(N)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(influence[b], influence[a]) })
	left, of := float64(decided*vec.Total(influence)), [2]int{}
	for _, n := range order {
		if left > 0 || len(rows) < least || of[class[n]] < leastOfClass {
			rows = append(rows, n)
			left -= influence[n]
			of[class[n]]++
		}
	}
	if len(rows) > mostDeciding {
		return s.sample(N, mostDeciding, class)
	}
	slices.Sort(rows)
	return rows
}

// sample returns about most of n samples.
func (s processSettings) sample(n, most int, class []int) []int {
	if s.contents == nil {
		return sample(n, most, class, s.seed)
	}
	return s.contents.sample(most, class, s.seed)
}

// someKernels returns the kernels of the samples rows.
func someKernels(k gram.Held, rows []int) vi.Kernels {
	some := k.Select(rows, rows)
	if a, ok := k.(*gram.Adaptive); ok {
		return a.Some(some, rows)
	}
	return some
}
