package vecchia

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// means predicts means by a solution for the first rows of samples, as many as it has.
type means struct {
	cov   *Covariance
	low   *meansIn[float32] // one of these
	high  *meansIn[float64]
	slope la.Matrix[float64] // the linear part: d×t
	shift []float64
}

// meansIn is the part of means that takes values of the covariance in the precision T.
type meansIn[T la.Float] struct {
	values *values[T]
	alpha  la.Matrix[T]
}

// newMeans returns the means by the solution alpha.
func newMeans(s *samples, cov *Covariance, alpha la.Matrix[float64], double bool) *means {
	x := s.x.Slice(0, alpha.Rows, 0, s.x.Cols)
	m := &means{cov: cov, slope: la.NewMatrix[float64](x.Cols, alpha.Cols), shift: make([]float64, alpha.Cols)}
	la.Gemm(nil, la.Transpose, la.NoTrans, cov.Linear, x, alpha, 0, m.slope)
	for i := range alpha.Rows {
		la.Axpy(cov.Linear, alpha.Row(i), m.shift)
	}
	if double {
		m.high = &meansIn[float64]{newValues[float64](cov, x), alpha}
	} else {
		m.low = &meansIn[float32]{newValues[float32](cov, x), narrow[float32](alpha)}
	}
	return m
}

// add adds the means at the rows of x, times by, to mean.
func (m *means) add(workers int, stop *work.Stop, x la.Matrix[float64], by float64, mean la.Matrix[float64]) error {
	w := la.Workspace{Workers: workers}
	la.Gemm(&w, la.NoTrans, la.NoTrans, by, x, m.slope, 1, mean)
	for i := range mean.Rows {
		la.Axpy(by, m.shift, mean.Row(i))
	}
	if m.high != nil {
		return m.high.add(m.cov, workers, stop, x, by, mean)
	}
	return m.low.add(m.cov, workers, stop, x, by, mean)
}

// add adds the means by the parts of the covariance, tileRows rows at a time.
func (m *meansIn[T]) add(cov *Covariance, workers int, stop *work.Stop, x la.Matrix[float64], by float64, mean la.Matrix[float64]) error {
	tasks := (x.Rows + tileRows - 1) / tileRows
	crew := work.NewCrew(workers, max(1, tasks), func(int) *tiler[T] { return newTiler[T](mean.Cols) })
	crew.Stop = stop
	return crew.First(tasks, func(t *tiler[T], task int) error {
		lo, hi := task*tileRows, min(x.Rows, (task+1)*tileRows)
		z := coordinates[T](cov, x.Slice(lo, hi, 0, x.Cols))
		m.values.cross(t, z, m.alpha, by, mean.Slice(lo, hi, 0, mean.Cols))
		return nil
	})
}
