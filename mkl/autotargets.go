package mkl

import (
	"context"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/vecchia"
)

// AutoTargets fits several targets to the same views, each by an [Auto] of its own. The pool of a target is the pool of a fit to
// this target alone: targets do not influence each other. Use [Regression] or [SharedRegression] for targets that share weights.
// The zero value is ready to fit.
type AutoTargets struct {
	Fitting
	Climb // of every member

	// Time limits the processor time of all targets together, and each has an equal part, as [Auto] counts it. 0 means no
	// limit up to DefaultExactSamples samples, and [DefaultTime] for each target above.
	Time time.Duration

	MaxSamples int         // as in [Auto]
	Groups     []ViewGroup // as in [Auto]

	// MissingTargets says that a NaN is a target that is not known. A target is learned from the samples that have it. Views with
	// given kernels or distances need all targets.
	MissingTargets bool

	MissingViews bool // as in [Auto]
	OwnScale     bool // as in [Auto]
}

// Fit fits a pool for each target to the views of N samples. A view without a Kernel stands for the default kernels of its X.
// Errors are as in [Auto.Fit].
func (a AutoTargets) Fit(ctx context.Context, views []View, targets ...[]float64) (*AutoTargetsModel, error) {
	n, err := checkTargets(targets, a.MissingTargets)
	if err != nil {
		return nil, err
	}
	if err := checkNotes(a.Notes); err != nil {
		return nil, err
	}
	views, _, whole, err := checkPoolViews(views, n, a.MissingViews)
	if err != nil {
		return nil, err
	}
	m := &AutoTargetsModel{}
	for o, y := range targets {
		some, known := views, knownRows(y)
		switch {
		case len(known) == n:
		case whole:
			return nil, fmt.Errorf("mkl: y[%d]: %d of %d targets are missing, and a view with a given kernel or distance needs all of them", o, n-len(known), n)
		default:
			some, y = takeRows(views, known), vec.Picked(y, known)
		}
		pool, err := a.of(o, len(targets)).Fit(ctx, some, y)
		if err != nil {
			return nil, err
		}
		m.add(pool)
	}
	m.notes = maps.Clone(a.Notes)
	return m, nil
}

// of returns the estimator of one target of so many.
func (a AutoTargets) of(target, targets int) Auto {
	one := Auto{Fitting: a.Fitting, Climb: a.Climb, Time: a.Time / time.Duration(targets), MaxSamples: a.MaxSamples, Groups: a.Groups, MissingViews: a.MissingViews, OwnScale: a.OwnScale}
	one.Notes = nil
	if a.Time > 0 {
		one.Time = max(one.Time, 1) // 0 would be no limit
	}
	if a.Progress != nil {
		one.Progress = func(q Progress) {
			members := max(1, q.Members)
			q.Member, q.Members = target*members+max(1, q.Member), targets*members
			a.Progress(q)
		}
	}
	return one
}

// knownRows returns the samples whose target is known.
func knownRows(y []float64) (rows []int) {
	for i, v := range y {
		if !math.IsNaN(v) {
			rows = append(rows, i)
		}
	}
	return rows
}

// EstimateMemory returns about how many bytes a fit of the given size takes, its Kernels being views without a kernel and its
// Outputs targets: the fit of one target, and the pools of the others.
func (a AutoTargets) EstimateMemory(s FitSize) int64 {
	if a.MissingViews {
		a.MaxSamples = exactLimit(a.MaxSamples)
	}
	one := Auto{Fitting: a.Fitting, Climb: a.Climb, MaxSamples: a.MaxSamples}
	targets := max(1, s.Outputs)
	s.Outputs = 1
	n, scale := s.Samples, atScale(s.Samples, a.MaxSamples, s.Basis > 0)
	switch {
	case scale:
		n = mostExactRows
	case a.MaxSamples > 0:
		n = min(n, a.MaxSamples)
	default:
		n = min(n, DefaultMaxSamples)
	}
	kept := float64(float64(n) * float64(n) * float64((1+drawsOf(n))*(len(autoMembers)+1)))
	if scale {
		kept += float64(float64(vecchia.Memory(min(s.Samples, mostLocalRows), s.Kernels, 1)) / 8)
	}
	return inBytes(float64(float64(one.EstimateMemory(s))/8) + float64(float64(targets-1)*kept))
}
