package mkl

import (
	"fmt"
	"io"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *SharedRegressionModel) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encodeModel(&f))
}

func (m *SharedRegressionModel) encodeModel(f *fileWriter) any {
	s := m.posterior.State()
	L, P, D := m.posterior.Dims()
	j := f.addTargetFunctions(&m.targetFunctions, s.Samples, s.Priors)
	var mean, cov []float64
	for o := range L {
		mean, cov = append(mean, s.BEMean[o]...), append(cov, flat(s.BECov[o])...)
	}
	f.add("upsilon", pairs([]Gamma{s.Upsilon}), 1, 2)
	f.add("epsilon", pairs(s.Epsilon), L, 2)
	f.add("gamma", pairs(s.Gamma), L, 2)
	f.add("omega", pairs(s.Omega), L, P, 2)
	f.add("lambda", flat(s.Lambda), 1, D)
	f.add("a", flat(s.A), 1, D)
	f.add("be.mean", mean, L, 1+P)
	f.add("be.cov", cov, L, 1+P, 1+P)
	f.add("gram", packUpper(s.Gram), D*(D+1)/2)
	if h := s.Healing; h != nil {
		R := len(h.Kernels)
		f.add("healing.weights", flat(h.Weights), h.Weights.Rows, P)
		var kernels []float64
		if h.Patterns == nil {
			for _, k := range h.Kernels {
				kernels = append(kernels, packLower(k)...)
			}
			f.add("healing.kernels", kernels, R, D*(D+1)/2)
		} else { // the kernels are not symmetric
			for _, k := range h.Kernels {
				kernels = append(kernels, flat(k)...)
			}
			patterns := make([]float64, D)
			for i, c := range h.Patterns {
				patterns[i] = float64(c)
			}
			f.add("healing.rows", kernels, R, D, D)
			f.add("healing.patterns", patterns, D)
		}
		f.add("healing.residual", flat(h.Residual), R, D)
		f.add("healing.precision", []float64{h.Precision}, 1)
	}
	return j
}

func (m *SharedRegressionModel) decode(f *fileReader) error {
	var j targetsJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	L, P, D := f.size("gamma")/2, 0, f.size("lambda")
	if L > 0 {
		P = f.size("omega") / 2 / L
	}
	if L < 1 || P < 1 || D < 1 || D != j.Basis {
		return fmt.Errorf("model: %d targets, %d kernels and %d basis points do not fit the tensors", L, P, j.Basis)
	}
	var err error
	if m.targetFunctions, err = f.takeTargetFunctions(&j, L, P); err != nil {
		return err
	}
	s := bemkl.SharedState{
		Priors: bemkl.RegressionPriors(j.Priors), Samples: j.Samples,
		Lambda: f.takeMatrix("lambda", 1, D), A: f.takeMatrix("a", 1, D),
		Epsilon: unpair(f.take("epsilon", L, 2)), Gamma: unpair(f.take("gamma", L, 2)), Omega: unpair(f.take("omega", L, P, 2)),
		BECov: f.takeCovariances("be.cov", L, 1+P), Gram: f.takeUpper("gram", D),
		Healing: f.takeSharedHealing(P, D),
	}
	upsilon, mean := unpair(f.take("upsilon", 1, 2)), f.takeMatrix("be.mean", L, 1+P)
	if err := f.close(); err != nil {
		return err
	}
	s.Upsilon = upsilon[0]
	for o := range L {
		s.BEMean = append(s.BEMean, mean.Row(o))
	}
	p, err := bemkl.NewSharedPosterior(s)
	if err != nil {
		return err
	}
	return m.set(p)
}

// takeSharedHealing reads the healing of the predictions of targets that share their sample
// weights, or returns nil if the file has none.
func (f *fileReader) takeSharedHealing(P, D int) *bemkl.SharedHealing {
	if !f.has("healing.weights") {
		return nil
	}
	rows := f.size("healing.weights") / P
	h := &bemkl.SharedHealing{Weights: f.takeMatrix("healing.weights", rows, P)}
	R := rows
	if f.has("healing.patterns") {
		if R = f.size("healing.residual") / D; R > 0 {
			h.Kernels, h.Patterns = f.takeSquares("healing.rows", R, D), f.takeIndices("healing.patterns", D)
		}
	} else {
		kernels, packed := f.take("healing.kernels", R, triangle(D)), triangle(D)
		for r := 0; r < R && kernels != nil; r++ {
			h.Kernels = append(h.Kernels, unpackLower(D, kernels[r*packed:][:packed]))
			h.Kernels[r].MirrorLower()
		}
	}
	precision := f.take("healing.precision", 1)
	if h.Residual = f.takeMatrix("healing.residual", R, D); f.err != nil {
		return nil
	}
	h.Precision = precision[0]
	return h
}

// takeIndices is take for n whole numbers.
func (f *fileReader) takeIndices(name string, n int) []int {
	x := f.take(name, n)
	if x == nil {
		return nil
	}
	out := make([]int, n)
	for i, v := range x {
		if f.err == nil && (v != math.Trunc(v) || math.Abs(v) > math.MaxInt32) {
			f.err = fmt.Errorf("tensor %q: element %d is %g: a whole number is needed", name, i, v)
		}
		out[i] = int(v)
	}
	return out
}

// takeSquares is take for n matrices of the given order.
func (f *fileReader) takeSquares(name string, n, order int) []la.Matrix[float64] {
	x := f.take(name, n, order, order)
	if x == nil {
		return nil
	}
	all := make([]la.Matrix[float64], n)
	for o := range all {
		all[o] = la.MatrixOf(order, order, x[o*order*order:][:order*order])
	}
	return all
}

// takeCovariances is takeSquares for covariances.
func (f *fileReader) takeCovariances(name string, n, order int) []la.Matrix[float64] {
	all := f.takeSquares(name, n, order)
	for _, x := range all {
		f.checkCovariance(name, x)
	}
	return all
}
