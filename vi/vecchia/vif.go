package vecchia

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/nearest"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// vif is an approximation of the covariance of n samples whose inverse is quick to apply,
//
//	ΦΦᵀ + B⁻¹DB⁻ᵀ,   B = I − W:
//
// Φ are features of landmarks, and row i of W and D_i regress what they leave of y_i on what they
// leave of its neighbours among earlier rows. As rows refer to earlier rows only, the leading rows
// of all parts belong to the leading samples.
//
// With Ψ = D^−½BΦ and A = I + ΨᵀΨ the inverse is Bᵀ·D^−½·(I − ΨA⁻¹Ψᵀ)·D^−½·B.
//
// Source: T. Gyger, R. Furrer and F. Sigrist, "Vecchia-inducing-points full-scale approximations for
// Gaussian processes", arXiv 2507.05064 (2025).
type vif struct {
	w    la.Workspace
	n    int
	near []int32 // m a row, −1 at the end
	m    int
	by   []float64 // W
	root []float64 // D^−½
	psi  la.Matrix[float32]

	// columns of W: the entries of column j are start[j] ≤ k < start[j+1]
	start []int32
	row   []int32
	of    []float64

	a    la.Matrix[float64] // I + ΨᵀΨ of the first held rows
	held int
	l    la.Matrix[float64] // its Cholesky factor
	t    la.Matrix[float64]
}

const (
	preconditionNear = 32
	featureRows      = 1024
)

// newVif returns the approximation for all samples with the given number of landmarks among the first
// train samples.
func newVif(s *samples, cov *Covariance, workers, landmarks, train int, seed uint64) (*vif, error) {
	v := &vif{n: s.x.Rows, m: preconditionNear, w: la.Workspace{Workers: workers}}
	w := &v.w
	pivots := cov.pivots(w, s.x.Slice(0, train, 0, s.x.Cols), landmarks, seed)
	z := s.x.TakeRows(pivots)
	phi, err := landmarkFeatures(s.x, z, cov, workers)
	if err != nil {
		return nil, err
	}
	v.near = make([]int32, v.n*v.m)
	points := scaled(s.x, cov.metric())
	before := make([]int, v.n)
	for i := range before {
		before[i] = i
	}
	nearest.New(workers, points, v.m).Search(workers, points, before, v.m, v.near)
	v.by = make([]float64, v.n*v.m)
	v.root = make([]float64, v.n)
	tasks := (v.n + 63) / 64
	crew := work.NewCrew(workers, tasks, func(int) *conditional {
		c := newConditional(s, len(cov.Parts), v.m)
		c.cov, c.features = cov, phi
		c.f = la.NewMatrix[float64](v.m+1, phi.Cols)
		return c
	})
	v.psi = la.NewMatrix[float32](v.n, phi.Cols)
	_ = crew.Each(func(c *conditional, t int) error {
		row := make([]float64, phi.Cols)
		for i := t * 64; i < min(v.n, (t+1)*64); i++ {
			near := v.near[i*v.m:][:v.m]
			k := 0
			for ; k < v.m && near[k] >= 0; k++ {
				widen(phi.Row(int(near[k])), c.f.Row(k))
			}
			widen(phi.Row(i), c.f.Row(k))
			d := c.at(near, s.x.Row(i), s.relative(i), false)
			by := v.by[i*v.m:][:k]
			copy(by, c.k.Row(k)[:k])
			la.Trsv(la.Transpose, c.k.Slice(0, k, 0, k), by)
			v.root[i] = 1 / math.Sqrt(d)
			copy(row, c.f.Row(k))
			for j, b := range by {
				la.Axpy(-b, c.f.Row(j), row)
			}
			la.Scal(v.root[i], row)
			to := v.psi.Row(i)
			for j, u := range row {
				to[j] = float32(u)
			}
		}
		return nil
	})
	v.transpose()
	v.t = la.NewMatrix[float64](phi.Cols, s.y.Cols)
	v.a = la.NewMatrix[float64](phi.Cols, phi.Cols)
	for i := range phi.Cols {
		v.a.Set(i, i, 1)
	}
	return v, nil
}

// landmarkFeatures returns features of the rows of x whose inner products are the covariances that
// the landmarks z explain.
func landmarkFeatures(x, z la.Matrix[float64], cov *Covariance, workers int) (la.Matrix[float32], error) {
	m := z.Rows
	l := la.NewMatrix[float64](m, m)
	w := &la.Workspace{Workers: workers}
	cov.covariances(w, z, z, l)
	for i := range m {
		l.Row(i)[i] += float64(1e-6 * cov.amplitude())
	}
	if err := la.Cholesky(w, l); err != nil {
		return la.Matrix[float32]{}, err
	}
	phi := la.NewMatrix[float32](x.Rows, m)
	g := la.NewMatrix[float64](min(featureRows, x.Rows), m)
	for i := 0; i < x.Rows; i += featureRows {
		e := min(x.Rows, i+featureRows)
		part := g.Slice(0, e-i, 0, m)
		cov.covariances(w, x.Slice(i, e, 0, x.Cols), z, part)
		la.Trsm(w, la.Right, la.Transpose, l, part)
		for r := range part.Rows {
			to := phi.Row(i + r)
			for j, u := range part.Row(r) {
				to[j] = float32(u)
			}
		}
	}
	return phi, nil
}

func widen(x []float32, y []float64) {
	for i, v := range x {
		y[i] = float64(v)
	}
}

// transpose finds the columns of W.
func (v *vif) transpose() {
	v.start = make([]int32, v.n+1)
	for _, j := range v.near {
		if j >= 0 {
			v.start[j+1]++
		}
	}
	for j := range v.n {
		v.start[j+1] += v.start[j]
	}
	next := append([]int32(nil), v.start...)
	v.row = make([]int32, v.start[v.n])
	v.of = make([]float64, v.start[v.n])
	for i := range v.n {
		for k, j := range v.near[i*v.m:][:v.m] {
			if j >= 0 {
				v.row[next[j]], v.of[next[j]] = int32(i), v.by[i*v.m+k]
				next[j]++
			}
		}
	}
}

// hold makes v the approximation for the first n samples, not fewer than before.
func (v *vif) hold(n int) error {
	g := la.NewMatrix[float64](featureRows, v.psi.Cols)
	for i := v.held; i < n; i += featureRows {
		e := min(n, i+featureRows)
		for r := i; r < e; r++ {
			widen(v.psi.Row(r), g.Row(r-i))
		}
		la.Syrk(&v.w, la.Transpose, 1, g.Slice(0, e-i, 0, g.Cols), 1, v.a)
	}
	v.held = n
	v.l = v.a.Clone()
	return la.Cholesky(&v.w, v.l)
}

// solve stores in z the inverse of the approximation for the samples held times r.
func (v *vif) solve(r, z la.Matrix[float64]) {
	n, t := v.held, r.Cols
	e := la.MatrixOf(n, t, z.Data)
	s := make([]float64, t)
	for i := n - 1; i >= 0; i-- {
		copy(s, r.Row(i))
		for k, j := range v.near[i*v.m:][:v.m] {
			if j < 0 {
				break
			}
			b := v.by[i*v.m+k]
			for c, u := range r.Row(int(j)) {
				s[c] -= float64(b * u)
			}
		}
		to := e.Row(i)
		for c, u := range s {
			to[c] = u * v.root[i]
		}
	}
	v.project(e)
	for i := range n {
		la.Scal(v.root[i], e.Row(i))
	}
	// Row j of BᵀE needs rows j and later ones of E.
	for j := range n {
		to := e.Row(j)
		for k := v.start[j]; k < v.start[j+1]; k++ {
			if i := int(v.row[k]); i < n {
				for c, u := range e.Row(i) {
					to[c] -= float64(v.of[k] * u)
				}
			}
		}
	}
}

// project subtracts Ψ·A⁻¹·Ψᵀ·E from E.
func (v *vif) project(e la.Matrix[float64]) {
	psi := v.psi.Slice(0, e.Rows, 0, v.psi.Cols)
	if e.Cols == 1 {
		t := v.t.Data[:psi.Cols]
		la.GemvMixed(&v.w, la.Transpose, 1, psi, e.Data[:e.Rows], 0, t)
		la.CholeskySolveVec(v.l, t)
		la.GemvMixed(&v.w, la.NoTrans, -1, psi, t, 1, e.Data[:e.Rows])
		return
	}
	v.t.Fill(0)
	block := la.NewMatrix[float64](featureRows, psi.Cols)
	each := func(f func(part, rows la.Matrix[float64])) {
		for i := 0; i < e.Rows; i += featureRows {
			h := min(e.Rows, i+featureRows)
			for r := i; r < h; r++ {
				widen(psi.Row(r), block.Row(r-i))
			}
			f(block.Slice(0, h-i, 0, psi.Cols), e.Slice(i, h, 0, e.Cols))
		}
	}
	each(func(part, rows la.Matrix[float64]) { la.Gemm(&v.w, la.Transpose, la.NoTrans, 1, part, rows, 1, v.t) })
	la.CholeskySolve(&v.w, v.l, v.t)
	each(func(part, rows la.Matrix[float64]) { la.Gemm(&v.w, la.NoTrans, la.NoTrans, -1, part, v.t, 1, rows) })
}
