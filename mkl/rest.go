package mkl

import (
	"context"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// A pool of classes has a function of each class in each member, and each function has an N×N factor. Until all members are weighed nothing
// needs a factor. From restingSamples on the functions therefore rest, and the members that the pool keeps are woken: it takes
// one more factorisation for each function.

// restingSamples is the least number of samples whose factors are worth a second factorisation: 8 MB each.
const restingSamples = 1000

// rests reports whether the processes of a pool of the plan's samples rest until it is complete. Their kernels must be known again from the features.
func (p *poolPlan) rests(gaps bool) bool {
	if len(p.rows) < restingSamples || gaps {
		return false
	}
	for _, v := range p.views {
		if isGiven(v) {
			return false
		}
	}
	return true
}

// restingMemory estimates the bytes of a pool of classes whose members have l functions each and rest. Two things take memory, one after
// the other: the fit of the member with the most kernels, one function at a time, and the factors that are made last. It counts factors of half
// of the members, because how many the pool keeps is not known before, and the factor that all functions of the least-squares member share.
func (f *fitting) restingMemory(s FitSize, l int) int64 {
	fit := s
	fit.Kernels *= mostOfMember(s.Columns)
	N, factors := float64(s.Samples), (l*(len(autoMembers)+1)+1)/2+1
	return max(f.processMemory(fit, 1, true), inBytes(float64(float64(factors+2)*N*N)+gram.PredictWords))
}

// mostOfMember returns the largest number of kernels that a member of a pool has for a view of so many columns; 0 stands for any number.
func mostOfMember(columns int) (most int) {
	if columns <= 0 {
		return mostAlone + 2
	}
	for _, m := range autoMembers {
		most = max(most, m.set.MaxKernels(columns))
	}
	return most
}

// wake wakes the members that are processes. views have the training samples.
func (m *AutoClassifierModel[T]) wake(ctx context.Context, workers int, views []View) error {
	for _, member := range m.members {
		if err := member.wake(ctx, workers, distinctInputs(views)); err != nil {
			return err
		}
	}
	return nil
}

// wake computes the factors of the functions that rest, from the features of the training samples.
func (m *processes) wake(ctx context.Context, workers int, x []Features) error {
	if !slices.ContainsFunc(m.posteriors, (*mgp.Posterior).Resting) {
		return nil
	}
	waking := make([]*mgp.Waking, len(m.posteriors))
	return m.eachFunction(ctx, workers, x, m.Samples(), func(o int, k *vi.Dense, _ la.Matrix[float64], first int) error {
		p := m.posteriors[o]
		switch {
		case !p.Resting():
			return nil
		case waking[o] == nil:
			waking[o] = p.Wake()
		}
		if err := waking[o].Add(k); err != nil {
			return err
		}
		if _, _, n := k.Dims(); first+n < m.Samples() {
			return nil
		}
		awake, err := waking[o].Finish(workers)
		if err != nil {
			return err
		}
		m.posteriors[o], waking[o] = awake, nil
		return nil
	})
}
