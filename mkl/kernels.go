package mkl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

var _ mgp.Adaptive = (*gram.Adaptive)(nil)

// The functions of this file compute the kernel matrices of a fit from views. Each checks the memory first.

// fixedKernels checks the views of n samples and computes their kernel matrices, basis points × samples. No widths
// are learned. If l is not nil, its landmarks are the basis points.
func (f *fitting) fixedKernels(ctx context.Context, l *Landmarks, views []View, n, outputs int, need func(FitSize) int64) (*gram.Design, gram.Held, error) {
	if l != nil {
		return f.landmarkKernels(ctx, l, views, n, outputs, need)
	}
	t, err := bindViews(views, n, f.missingViews)
	if err != nil {
		return nil, nil, err
	}
	if err := t.CheckFixed(); err != nil {
		return nil, nil, err
	}
	k, err := f.weightedKernels(ctx, t, outputs, need)
	return t.Design, k, err
}

// weightedKernels computes the kernel matrices of a training, basis points × samples, for models that learn the
// weights of kernels: no two kernels may be equal. Kernels that learn widths have their starting widths.
func (f *fitting) weightedKernels(ctx context.Context, t *gram.Training, outputs int, need func(FitSize) int64) (gram.Held, error) {
	if err := f.checkKernels(need, t, outputs); err != nil {
		return nil, err
	}
	f.label = t.Label
	k, err := t.Hold(ctx, f.storage.held(), f.Workers, func(i int, k la.Matrix[float64]) error {
		t.Views[i].Forget(k, t.Inputs[t.Views[i].Input].Lacking)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := f.checkDuplicates(t, k); err != nil {
		var none *struct{}
		gram.Release(k, &none, &err)
		return nil, err
	}
	return k, nil
}

// processKernels computes the kernel matrices of a training for Gaussian processes that learn the scales by the
// evidence. If kernels are to be learned, the matrices are an [mgp.Adaptive], and the fit must pass its parameters to
// the design's Learned. Kernels may be equal: their scales then add up to the scale of a single one.
func (f *fitting) processKernels(ctx context.Context, t *gram.Training, outputs int, need func(FitSize) int64) (gram.Held, error) {
	if err := t.CheckSquare(); err != nil {
		return nil, err
	}
	if err := f.checkKernels(need, t, outputs); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(t.Views, func(v gram.Bound) bool { return kernel.Learns(v.Kernel) }); i >= 0 && f.storage.held().Rounds() {
		return nil, fmt.Errorf("mkl: %s: ARD: kernels whose widths are learned are held as float64 in memory: leave out Storage", t.Label(i))
	}
	f.label = t.Label
	k, err := t.Hold(ctx, f.storage.held(), f.Workers, t.UseInProcess)
	if err != nil {
		return nil, err
	}
	return t.Adapt(k), nil
}

// landmarkKernels is fixedKernels with landmarks: the matrices are landmarks × samples.
func (f *fitting) landmarkKernels(ctx context.Context, l *Landmarks, views []View, n, outputs int, need func(FitSize) int64) (*gram.Design, gram.Held, error) {
	switch {
	case f.slopes != nil:
		return nil, nil, errors.New("mkl: Slopes: not with Landmarks, which leave no derivatives with respect to the widths")
	case f.missingViews:
		return nil, nil, errors.New("mkl: MissingViews: not with Landmarks")
	case f.storage != KernelStorage{}:
		return nil, nil, errors.New("mkl: Storage: not with Landmarks")
	}
	for i, v := range views {
		if v.Center {
			return nil, nil, fmt.Errorf("mkl: %s: Landmarks exclude Center", v.label(i))
		}
	}
	g := planning{fitting: f, Landmarks: *l}
	if err := g.checkViews(views, n, need(FitSize{Samples: n, Kernels: len(views), Outputs: outputs})); err != nil {
		return nil, nil, err
	}
	rows := sample(n, g.sampleSize(), nil, g.Seed) // follow the order of the rows, as random starts do
	t, basis, err := g.chosen(ctx, takeRows(views, rows), len(rows))
	if err != nil {
		return nil, nil, err
	}
	if err := t.CheckFixed(); err != nil {
		return nil, nil, err
	}
	on, among, err := t.OnLandmarks(ctx, basis, f.Workers)
	if err != nil {
		return nil, nil, err
	}
	k, err := vi.NewDense(among...)
	if err != nil {
		return nil, nil, fmt.Errorf("mkl: %w", err)
	}
	if err := f.checkDuplicates(t, k); err != nil {
		return nil, nil, err
	}
	x := distinctInputs(views)
	if _, err := checkInputs(on, x); err != nil {
		return nil, nil, err
	}
	ks := make([]la.Matrix[float64], len(views))
	for i := range ks {
		ks[i] = la.NewMatrix[float64](on.D, n)
	}
	if err := on.Cross(ctx, f.Workers, x, 0, ks); err != nil {
		return nil, nil, err
	}
	if k, err = vi.NewDense(ks...); err != nil {
		return nil, nil, fmt.Errorf("mkl: %w", err)
	}
	return on, k, nil
}

// checkKernels calls check for a fit of the given number of outputs that holds the kernel matrices of a training. Its
// error says how much memory other ways to hold the matrices would take, if there are any.
func (f *fitting) checkKernels(need func(FitSize) int64, t *gram.Training, outputs int) error {
	s := FitSize{Samples: t.Samples(), Basis: t.D, Kernels: len(t.Views), Outputs: outputs}
	err := f.check(need(s))
	e, ok := errors.AsType[*MemoryError](err)
	if !ok || f.storage.held().Rounds() || f.slopes != nil || t.LearnsAny() {
		return err
	}
	P, D, N := float64(s.Kernels), float64(s.basis()), float64(s.Samples)
	now := gram.Storage{}.Words(P, D, N)
	e.Float32 = e.Need - inBytes(now-gram.Storage{Float32: true}.Words(P, D, N))
	e.File = e.Need - inBytes(now)
	return err
}

// checkDuplicates returns an error for the first pair of equal kernel matrices, unless duplicates are allowed.
func (f *fitting) checkDuplicates(t *gram.Training, k gram.Held) error {
	if f.allowDuplicates {
		return nil
	}
	if i, j, ok := t.Duplicates(k); ok {
		return &DuplicateError{First: i, Second: j, names: [2]string{t.Describe(i), t.Describe(j)}}
	}
	return nil
}
