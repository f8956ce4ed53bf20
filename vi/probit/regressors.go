package probit

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// classWorker is the scratch of an update of one class's regressors.
type classWorker struct {
	ws     la.Workspace
	factor la.Matrix[float64] // D×D, lower triangle
	d1, d2 []float64          // D
}

// updateW is q(w_c) = N(V_c·E[K]·E[y_c], V_c), V_c = (E[KKᵀ] + diag E[α_c])⁻¹
// (equations 1.8 and 1.9).
func (m *model) updateW() error {
	la.Gemm(&m.ws, la.NoTrans, la.Transpose, 1, m.y, m.kernel, 0, m.response)
	m.turn.reset()
	if err := m.classes.Each(m.weightTask); err != nil {
		return fmt.Errorf("W: %w", err)
	}
	la.Gemm(&m.ws, la.NoTrans, la.NoTrans, 1, m.w, m.kernel, 0, m.f)
	return nil
}

// updateClass is updateW for class c. The sum of the covariances is added up in the order of
// the classes, so that its bits do not depend on the workers.
func (m *model) updateClass(w *classWorker, c int) error {
	covariance, err := m.solveClass(w, c)
	summed := m.sum.Rows > 0
	if summed {
		m.turn.wait(c)
		defer m.turn.done()
	}
	if err != nil {
		return fmt.Errorf("class %d: %w", c, err)
	}
	if summed {
		m.addCovariance(c, covariance)
	}
	return nil
}

// solveClass solves for class c with B = I + A^-½·E[KKᵀ]·A^-½, all of whose
// eigenvalues are at least 1: V = A^-½·B⁻¹·A^-½. tr(E[KKᵀ]V) and wᵀE[KKᵀ]w then
// follow from the system that was solved. Where the covariances are summed it returns the
// lower triangle of V of the active regressors.
func (m *model) solveClass(w *classWorker, c int) (covariance la.Matrix[float64], err error) {
	active := m.active[c]
	n := len(active)
	root, x, b := w.d1[:n], w.d2[:n], w.factor.Slice(0, n, 0, n)
	mean, variance, response := m.w.Row(c), m.variance.Row(c), m.response.Row(c)
	var logAlpha float64
	for i, d := range active {
		a := m.alpha[c].Mean(d)
		logAlpha += special.Log(a)
		root[i] = 1 / math.Sqrt(a)
		x[i] = root[i] * response[d]
	}
	added, err := factorB(&w.ws, b, m.gram, active, root)
	if err != nil {
		return b, err
	}
	m.logDet[c] = -logAlpha - la.LogDet(b)
	la.CholeskySolveVec(b, x)
	var spread, shake float64
	for i, d := range active {
		mean[d] = root[i] * x[i]
		spread += float64(mean[d]*response[d]) - float64(x[i]*x[i])
		shake += float64(m.scaled(d, root[i]) * float64(x[i]*x[i]))
	}
	if m.sum.Rows > 0 {
		la.CholeskyInv(&w.ws, b)
		for i := range x {
			x[i] = b.At(i, i)
		}
	} else {
		la.CholeskyInvDiag(&w.ws, b, x)
	}
	for i, d := range active {
		spread += 1 - x[i]
		shake += float64(m.scaled(d, root[i]) * x[i])
		variance[d] = root[i] * root[i] * x[i]
	}
	if m.sum.Rows > 0 {
		for i, r := range root {
			row := b.Row(i)
			for j, s := range root[:i+1] {
				row[j] *= r * s
			}
		}
	}
	m.spread[c], m.shake[c], m.jitter[c] = spread+m.settlePruned(c), shake, added
	return b, nil
}

// factorB stores the Cholesky factor of B = I + A^-½·E[KKᵀ]·A^-½ of the active
// regressors in b, from the lower triangle of E[KKᵀ] and the A^-½ of each. Where
// rounding has made B indefinite, A^-½·E[KKᵀ]·A^-½ gets a relative jitter, which is
// returned.
func factorB(ws *la.Workspace, b, gram la.Matrix[float64], active []int, root []float64) (added float64, err error) {
	for {
		for i, d := range active {
			row, g := b.Row(i), gram.Row(d)
			if len(active) == gram.Rows {
				for j, r := range root[:i+1] {
					row[j] = float64(root[i]*r) * g[j]
				}
			} else {
				for j, e := range active[:i+1] {
					row[j] = float64(root[i]*root[j]) * g[e]
				}
			}
			row[i] = 1 + float64(row[i]*(1+added))
		}
		if err = la.Cholesky(ws, b); err == nil {
			return added, nil
		}
		more, ok := jitter.More(len(active), added, err)
		if !ok {
			return added, err
		}
		added = more
	}
}

// scaled returns the diagonal entry of B of regressor d, root = E[α_d]^-½.
func (m *model) scaled(d int, root float64) float64 {
	return 1 + float64(float64(root*root)*m.gram.At(d, d))
}

// addCovariance adds the covariance of w_c, whose active part's lower triangle is
// v, to the sum over the classes.
func (m *model) addCovariance(c int, v la.Matrix[float64]) {
	active := m.active[c]
	if c == 0 {
		m.sum.Fill(0)
	}
	if len(active) == m.D {
		for d := range m.D {
			la.Axpy(1, v.Row(d)[:d+1], m.sum.Row(d)[:d+1])
		}
		return
	}
	i := 0
	for d := range m.D {
		if i == len(active) || active[i] != d {
			m.sum.Row(d)[d] += m.variance.At(c, d)
			continue
		}
		row := m.sum.Row(d)
		for j, e := range active[:i+1] {
			row[e] += v.At(i, j)
		}
		i++
	}
}
