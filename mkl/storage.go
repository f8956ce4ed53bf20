package mkl

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// KernelStorage says how a fit holds its kernel matrices. The zero value holds them in memory
// as float64.
//
// Kernels rounded to float32 move predictions by much less than a standard deviation, for all
// arithmetic remains in float64; the model itself is float64 either way. docs/scale.md,
// section 9, has the figures.
type KernelStorage struct {
	// Float32 rounds the kernels to float32 and keeps one triangle of those that are
	// symmetric: a quarter of the memory.
	Float32 bool

	// Directory, if not empty, is where a file of that form takes the place of memory: of 2·P·N²
	// bytes for P kernels of N samples, removed at the end of the fit. Where it does not fit
	// into free memory the fit runs at the speed of the disk. Two matrices of N×N or more
	// remain in memory; see EstimateMemory.
	Directory string
}

// rounds reports whether kernels are rounded.
func (s KernelStorage) rounds() bool { return s.Float32 || s.Directory != "" }

// words returns the words of memory that P kernels of D×N take, of those that are square
// one triangle and half a tile more a row.
func (s KernelStorage) words(P, D, N float64) float64 {
	switch {
	case s.Directory != "":
		return 0
	case s.Float32 && D == N:
		return float64(P * N * (N + 256) / 4)
	case s.Float32:
		return float64(P * D * N / 2)
	}
	return float64(P * D * N)
}

// heldKernels are the kernels of a fit, where its KernelStorage says.
type heldKernels interface {
	vi.Kernels
	Select(rows, cols []int) *vi.Dense
	Equal(m, n int) bool
}

var _, _ heldKernels = (*vi.Dense)(nil), (*vi.Rounded)(nil)

// holdKernels computes the kernels of the training samples of a design, basis points ×
// samples, and calls check for each of the matrices. What it returns is given to release.
func (f *Fitting) holdKernels(ctx context.Context, ds *design, views []View, check func(i int, k la.Matrix[float64]) error) (heldKernels, error) {
	if !f.Storage.rounds() {
		ks, err := ds.train(ctx, views, f.Workers)
		if err != nil {
			return nil, err
		}
		for i, k := range ks {
			if err := check(i, k); err != nil {
				return nil, err
			}
		}
		k, err := vi.NewDense(ks...)
		if err != nil {
			return nil, fmt.Errorf("mkl: %w", err)
		}
		return k, nil
	}
	n := views[0].X.Rows
	b, err := f.Storage.begin(len(views), ds.d, n)
	if err != nil {
		return nil, fmt.Errorf("mkl: Storage: %w", err)
	}
	err = ds.trainEach(ctx, views, f.Workers, func(i int, k la.Matrix[float64]) error {
		if err := check(i, k); err != nil {
			return err
		}
		if err := b.Add(k); err != nil {
			return fmt.Errorf("mkl: %s: %w", views[i].label(i), err)
		}
		return nil
	})
	if err != nil {
		b.Abandon()
		return nil, err
	}
	k, err := b.Finish()
	if err != nil {
		return nil, fmt.Errorf("mkl: Storage: %w", err)
	}
	// Where the system removes the name of a file that is open, no end of the program, however
	// sudden, leaves it behind. Elsewhere release removes it.
	_ = os.Remove(k.Path())
	return k, nil
}

// begin begins rounded kernels.
func (s KernelStorage) begin(P, D, N int) (*vi.RoundedBuilder, error) {
	if s.Directory == "" {
		return vi.NewRounded(P, D, N)
	}
	f, err := os.CreateTemp(s.Directory, "kernels-*.tmp")
	if err != nil {
		return nil, err
	}
	return vi.CreateRounded(f, P, D, N)
}

// release ends the use of a fit's kernels. If some could not be read, that becomes the fit's
// error, and there is no model.
func release[M any](k heldKernels, model **M, err *error) {
	r, ok := k.(*vi.Rounded)
	if !ok {
		return
	}
	if rerr := r.Err(); rerr != nil {
		*model, *err = nil, errors.Join(*err, fmt.Errorf("mkl: %w", rerr))
	}
	_ = r.Close() // it was only read
	_ = os.Remove(r.Path())
}

// refuseKernelStorage reports a setting that the estimator does not have.
func (f *Fitting) refuseKernelStorage(estimator string) error {
	if f.Storage != (KernelStorage{}) {
		return fmt.Errorf("mkl: Storage is not for %s", estimator)
	}
	return nil
}
