package gram

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Storage says how a fit holds its kernel matrices: see KernelStorage of package mkl.
type Storage struct {
	Float32   bool   // rounded to float32
	Directory string // of a file of rounded kernels; empty: they are in memory
}

// Rounds reports whether kernels are rounded.
func (s Storage) Rounds() bool { return s.Float32 || s.Directory != "" }

// Words returns the number of float64 words of memory that P kernels of D×N take. Of a square float32 matrix
// one triangle is held, and half a tile more in each row.
func (s Storage) Words(P, D, N float64) float64 {
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

// Held are the kernels of a fit, held where its storage says.
type Held interface {
	vi.Kernels
	Select(rows, cols []int) *vi.Dense
	Equal(m, n int) bool
}

var _, _ Held = (*vi.Dense)(nil), (*vi.Rounded)(nil)

// Hold computes the kernels of the training samples, basis points × samples, and calls check for each
// matrix. The caller must pass the result to Release.
func (t *Training) Hold(ctx context.Context, in Storage, workers int, check func(i int, k la.Matrix[float64]) error) (Held, error) {
	if !in.Rounds() {
		ks, err := t.Train(ctx, workers)
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
	b, err := in.begin(len(t.Views), t.D, t.Samples())
	if err != nil {
		return nil, fmt.Errorf("mkl: Storage: %w", err)
	}
	err = t.trainEach(ctx, workers, func(i int, k la.Matrix[float64]) error {
		if err := check(i, k); err != nil {
			return err
		}
		if err := b.Add(k); err != nil {
			return fmt.Errorf("mkl: %s: %w", t.Label(i), err)
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
	return k, nil
}

// begin starts a builder of rounded kernels. Where the system can remove the name of an open file, begin removes it before
// the first kernel is computed, so that no sudden end of the program leaves the file behind. Elsewhere Release and Abandon
// remove it.
func (s Storage) begin(P, D, N int) (*vi.RoundedBuilder, error) {
	if s.Directory == "" {
		return vi.NewRounded(P, D, N)
	}
	f, err := os.CreateTemp(s.Directory, "kernels-*.tmp")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	return vi.CreateRounded(f, P, D, N)
}

// Release ends the use of a fit's kernels. If some could not be read, it sets the fit's
// error and removes its model.
func Release[M any](k Held, model **M, err *error) {
	r, ok := k.(*vi.Rounded)
	if !ok {
		return
	}
	if rerr := r.Err(); rerr != nil {
		*model, *err = nil, errors.Join(*err, fmt.Errorf("mkl: %w", rerr))
	}
	_ = r.Close() // the file was only read
	_ = os.Remove(r.Path())
}
