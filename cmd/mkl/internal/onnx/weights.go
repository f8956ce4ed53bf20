package onnx

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// moments are a mean and a variance of each sample, T×1.
type moments struct{ mean, variance value }

// weighted is a model whose functions are sums over samples and kernels, each with a weight.
type weighted struct {
	*exporter
	weightsJSON
	L, P, D  int
	all      []kernelValues
	together value // P×T×D, the kernels
	e        []float64
	ee       la.Matrix[float64] // E[e·eᵀ]
	trace    float64            // of ee
	gram     la.Matrix[float64]
}

func (e *exporter) weighted() (*weighted, error) {
	m := &weighted{exporter: e}
	if err := json.Unmarshal(e.model, &m.weightsJSON); err != nil {
		return nil, err
	}
	if err := e.open(m.designJSON); err != nil {
		return nil, err
	}
	var err error
	if m.all, err = e.kernels("", m.designJSON, nil); err != nil {
		return nil, err
	}
	m.P, m.D = len(m.all), m.Basis
	m.L = len(e.take("be.mean")) - m.P
	var layers []value
	for _, k := range m.all {
		layers = append(layers, e.op("Unsqueeze", []value{k.cross, e.integers(0)}))
	}
	m.together = e.op("Concat", layers, attribute{"axis", 0})
	m.e = e.take("be.mean")[m.L:]
	cov := m.covariance()
	m.ee = la.NewMatrix[float64](m.P, m.P)
	for i := range m.P {
		for j := range m.P {
			m.ee.Set(i, j, cov.At(m.L+i, m.L+j)+m.e[i]*m.e[j])
		}
		m.trace += m.ee.At(i, i)
	}
	m.gram = e.lower("gram", m.D)
	return m, nil
}

// covariance belongs to the biases and the kernel weights.
func (m *weighted) covariance() la.Matrix[float64] { return m.matrix("be.cov", m.L+m.P) }

// precisions are the posterior means of the sample weights' precisions in function o.
func (m *weighted) precisions(o int) []float64 {
	lambda := make([]float64, m.D)
	for d, scale := range m.matrix("lambda", m.D).Row(o) {
		lambda[d] = (m.Priors.Lambda.Shape + 0.5) * scale
	}
	return lambda
}

// function predicts function o: upsilon is the precision of the intermediate outputs and noise the
// variance of what is observed.
func (m *weighted) function(o int, upsilon, noise float64) (moments, error) {
	a := m.column(m.matrix("a", m.D).Row(o))
	parts := []value{m.ones}
	for _, k := range m.all {
		parts = append(parts, m.product(k.cross, a))
	}
	g := m.sideBySide(parts) // T×(1+P): 1, g
	be := append([]float64{m.take("be.mean")[o]}, m.e...)
	full := m.covariance()
	at := func(i int) int {
		if i == 0 {
			return o
		}
		return m.L + i - 1
	}
	cov := la.NewMatrix[float64](1+m.P, 1+m.P)
	for i := range cov.Rows {
		for j := range cov.Cols {
			cov.Set(i, j, full.At(at(i), at(j)))
		}
	}
	within := m.sumOver(m.mul(m.product(g, m.matrixOf(cov)), g), 1, 1)

	// Σ E[e_m·e_m']·k_mᵀ·M⁻¹·k_m' with M = diag(λ) + υS = LLᵀ, of h_m = L⁻¹k_m.
	precision := m.gram.Clone()
	la.Scal(upsilon, precision.Data)
	for d, v := range m.precisions(o) {
		precision.Row(d)[d] += v
	}
	root, err := inverseRoot(precision)
	if err != nil {
		return moments{}, fmt.Errorf("the precision of the sample weights: %w", err)
	}
	h := m.op("Reshape", []value{m.product(m.together, m.matrixOf(root)), m.integers(m.P, -1)})
	square := m.sumOver(m.mul(m.product(m.matrixOf(m.ee), h), h), 0, 0)
	between := m.sumOver(m.op("Reshape", []value{square, m.integers(-1, m.D)}), 1, 1)
	return moments{
		m.product(g, m.column(be)),
		m.shift(m.add(within, between), noise+m.trace/upsilon),
	}, nil
}

// inverseRoot returns L⁻ᵀ of the Cholesky factor L of a matrix whose lower triangle is given: |kᵀL⁻ᵀ|² is kᵀ(LLᵀ)⁻¹k.
func inverseRoot(lower la.Matrix[float64]) (la.Matrix[float64], error) {
	if err := la.Cholesky(nil, lower); err != nil {
		return lower, err
	}
	return inverseOf(lower), nil
}

// inverseOf returns L⁻ᵀ.
func inverseOf(factor la.Matrix[float64]) la.Matrix[float64] {
	n := factor.Rows
	inverse := la.NewMatrix[float64](n, n)
	for i := range n {
		inverse.Set(i, i, 1)
	}
	la.Trsm(nil, la.Right, la.Transpose, factor, inverse)
	return inverse
}

// heal adds to function o what healing changes; noise is the noise of this function.
func (m *weighted) heal(o int, p moments, upsilon, noise float64) (moments, error) {
	if !m.has("healing.kernel") {
		return p, nil
	}
	for _, v := range m.Views {
		if v.Kernel.Kind == "precomputed" && m.Inputs[v.Input].Cols == m.Basis {
			return p, nil // the kernels of samples with themselves are not known
		}
	}
	f := m.lower("healing.kernel", m.D)
	f.MirrorLower()
	variance := noise + m.trace/upsilon
	var phis, kappas []value
	for i, k := range m.all {
		phis = append(phis, m.scale(k.cross, m.e[i]))
		kappas = append(kappas, m.scale(k.self, m.e[i]))
	}
	phi, kappa := m.sum(phis), m.sum(kappas)
	seen := phi
	if m.has("healing.observed") {
		observed := m.matrix("healing.observed", m.D).Row(o)
		seen = m.mul(phi, m.row(observed))
		for i, is := range observed {
			if is == 0 {
				clear(f.Row(i))
			}
		}
	}
	lambda := m.precisions(o)
	weights := la.NewMatrix[float64](m.D, m.D) // F'·(diag(λ) + F'ᵀF'/s²)⁻¹/s²
	la.Gemm(nil, la.Transpose, la.NoTrans, 1/variance, f, f, 0, weights)
	for d, v := range lambda {
		weights.Row(d)[d] += v
	}
	if err := la.Cholesky(nil, weights); err != nil {
		return p, fmt.Errorf("healing: %w", err)
	}
	solved := transposed(f)
	la.CholeskySolve(nil, weights, solved)
	la.Scal(1/variance, solved.Data)
	w := m.product(seen, m.matrixOf(transposed(solved)))
	rest := m.sub(seen, m.product(w, m.matrixOf(transposed(f))))
	r := m.add(m.scale(m.sumOver(m.square(rest), 1, 1), 1/variance), m.product(m.square(w), m.column(lambda)))
	beyond := m.sub(kappa, m.sumOver(m.mul(phi, w), 1, 1))
	below := m.shift(r, m.take("healing.precision")[o])
	residual := m.product(seen, m.column(m.matrix("healing.residual", m.D).Row(o)))
	return moments{
		m.add(p.mean, m.div(m.mul(beyond, m.scale(residual, 1/variance)), below)),
		m.add(p.variance, m.div(m.square(beyond), below)),
	}, nil
}

func (e *exporter) matrixOf(x la.Matrix[float64]) value { return e.numbers(x.Data, x.Rows, x.Cols) }

// transposed returns the transpose of a matrix.
func transposed(x la.Matrix[float64]) la.Matrix[float64] {
	t := la.NewMatrix[float64](x.Cols, x.Rows)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			t.Set(j, i, v)
		}
	}
	return t
}

// gammaMean is the mean of gamma posterior o of a tensor of shapes and scales.
func (e *exporter) gammaMean(name string, o int) float64 {
	g := e.take(name)[2*o:]
	return g[0] * g[1]
}

// regression exports a regression on sample weights.
func (e *exporter) regression() error {
	m, err := e.weighted()
	if err != nil {
		return err
	}
	var all []moments
	for o := range m.L {
		upsilon, noise := e.gammaMean("upsilon", o), 1/e.gammaMean("epsilon", o)
		p, err := m.function(o, upsilon, noise)
		if err == nil {
			p, err = m.heal(o, p, upsilon, noise)
		}
		if err != nil {
			return err
		}
		all = append(all, e.restore("", o, p))
	}
	e.targets(all)
	return nil
}

// restore puts the moments of a standardised target into its units.
func (e *exporter) restore(prefix string, o int, p moments) moments {
	mean, sd := e.take(prefix + "target.mean")[o], e.take(prefix + "target.sd")[o]
	return moments{e.shift(e.scale(p.mean, sd), mean), e.scale(p.variance, sd*sd)}
}

// targets makes the predictions of targets the results.
func (e *exporter) targets(all []moments) {
	var mean, variance []value
	for _, p := range all {
		mean, variance = append(mean, p.mean), append(variance, p.variance)
	}
	e.output("mean", e.sideBySide(mean), e.real, len(all))
	e.output("sd", e.sqrt(e.sideBySide(variance)), e.real, len(all))
}

// scores exports a classifier or a model of labels by their scores.
func (e *exporter) scores() error {
	m, err := e.weighted()
	if err != nil {
		return err
	}
	if m.L != len(m.Classes) && m.Classes != nil && len(m.Classes) != 2 {
		return fmt.Errorf("%d scores of %d classes", m.L, len(m.Classes))
	}
	var logs []value
	for o := range m.L {
		p, err := m.function(o, 1/(m.SigmaG*m.SigmaG), 1)
		if err != nil {
			return err
		}
		sd := e.sqrt(p.variance)
		above := e.logNormalCDF(e.div(e.shift(p.mean, -m.Margin), sd))
		below := e.logNormalCDF(e.div(e.sub(e.number(-m.Margin), p.mean), sd))
		logs = append(logs, e.logLogistic(e.sub(above, below)))
	}
	p := e.exp(e.sideBySide(logs))
	switch {
	case m.Classes == nil:
		e.output("probability", p, e.real, m.L)
	case m.L == 1:
		e.classes(e.sideBySide([]value{e.sub(e.number(1), p), p}), m.Classes)
	default:
		e.classes(e.softmax(e.sideBySide(logs)), m.Classes)
	}
	return nil
}

// softmax is exp(x)/Σ exp(x) of each row.
func (e *exporter) softmax(x value) value { return e.op("Softmax", []value{x}, attribute{"axis", 1}) }

// classes makes two results: the probabilities of the classes, whose names are JSON, and the most probable class.
func (e *exporter) classes(probability value, classes []json.RawMessage) {
	names := classNames(classes)
	e.output("probability", probability, e.real, len(names))
	best := e.op("ArgMax", []value{probability}, attribute{"axis", 1}, attribute{"keepdims", 0})
	e.output("label", e.op("Gather", []value{e.texts(names), best}, attribute{"axis", 0}), texts, 0)
}

// classNames are classes as text: those that are text, and the JSON of others.
func classNames(classes []json.RawMessage) (names []string) {
	for _, c := range classes {
		var text string
		if json.Unmarshal(c, &text) != nil {
			text = string(c)
		}
		names = append(names, text)
	}
	return names
}

// logLogistic is log(1/(1 + exp(−x))).
func (e *exporter) logLogistic(x value) value {
	size := e.op("Abs", []value{x})
	tail := e.log(e.shift(e.exp(e.scale(size, -1)), 1))
	return e.sub(e.op("Min", []value{x, e.number(0)}), tail)
}

// logNormalCDF is log Φ(z). Operators have no such function, and Erf has no digits left where Φ is small, so that
// it is computed below 0, with x = −z/√2 and t = 2/(2 + x), as
//
//	log Φ(z) = log ½ + log t − x² + f(2t − 1),
//
// f smooth and here a polynomial that meets it in Chebyshev's points; and above 0 as log(1 − Φ(−z)).
func (e *exporter) logNormalCDF(z value) value {
	x := e.scale(e.op("Abs", []value{z}), math.Sqrt2/2)
	t := e.div(e.number(2), e.shift(x, 2))
	f := e.chebyshev(tail(), e.shift(e.scale(t, 2), -1))
	below := e.add(e.sub(e.shift(e.log(t), -math.Ln2), e.square(x)), f)
	above := e.log(e.sub(e.number(1), e.exp(below)))
	return e.choose(e.op("Less", []value{z, e.number(0)}), below, above)
}

// chebyshev is Σ c_k·T_k(y), by Clenshaw's rule.
func (e *exporter) chebyshev(c []float64, y value) value {
	last := len(c) - 1
	b1, b2 := e.shift(e.scale(y, 2*c[last]), c[last-1]), e.number(c[last])
	for k := last - 2; k > 0; k-- {
		b1, b2 = e.sub(e.shift(e.mul(e.scale(y, 2), b1), c[k]), b2), b1
	}
	return e.sub(e.shift(e.mul(y, b1), c[0]), b2)
}
