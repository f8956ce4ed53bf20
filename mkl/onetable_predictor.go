package mkl

import (
	"math"

	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/vi"
)

// tableRow is memory for a sample as one row of the table.
type tableRow struct {
	x [1][]float64

	_ [64]byte // memory of different callers shares no cache line
}

// tableRows keeps memory for samples.
type tableRows struct{ reuse.Pool[tableRow] }

func newTableRows() tableRows {
	return tableRows{reuse.NewPool(func() *tableRow { return &tableRow{} })}
}

// of returns the row of a sample, which the model has checked. It returns memory of r.
func (r *tableRow) of(x [][]float64) [][]float64 {
	row := r.x[0][:0]
	for _, v := range x {
		row = append(row, v...)
	}
	r.x[0] = row
	return r.x[:]
}

// tableFunction predicts by the pool of the table.
type tableFunction struct {
	mixture *mixturePredictor
	rows    tableRows
}

// newTableFunction prepares the pool of the table, which may use a share of the tolerance.
func newTableFunction(m *tableModel, opt PredictorOptions, share float64) (*tableFunction, error) {
	p, err := m.mixture(opt, share)
	if err != nil {
		return nil, err
	}
	p.complete(opt)
	return &tableFunction{p, newTableRows()}, nil
}

// predict returns the prediction in the target's units. A prediction that is no number has the mean NaN.
func (f *tableFunction) predict(x [][]float64) vi.Certified {
	r := f.rows.Take()
	b, err := f.mixture.predictBounded(r.of(x))
	f.rows.Put(r)
	if err != nil {
		return vi.Certified{Mean: math.NaN(), Variance: math.NaN()}
	}
	return vi.Certified{Mean: b.Mean, Variance: b.Variance, MeanError: b.MeanError, SDError: b.SDError, Calibrated: b.Kind == BoundCalibrated}
}

// tableClassFunction predicts probabilities by the pool of the table.
type tableClassFunction[T comparable] struct {
	processes *processClassPredictor[T]
	rows      tableRows
}

// probabilities stores the probabilities of the sample x in dst, and returns a bound on their errors.
func (f *tableClassFunction[T]) probabilities(x [][]float64, stage stage, allowed float64, dst []float64) (bound float64) {
	r, s := f.rows.Take(), f.processes.bank.take()
	bound = f.processes.probabilities(s, r.of(x), stage, allowed)
	copy(dst, s.sum)
	f.processes.bank.pool.Put(s)
	f.rows.Put(r)
	return bound
}
