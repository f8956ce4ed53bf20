package mkl

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/bmkl/bmkl/vi/amplitude"
)

// indicatorsJSON holds the settings of a least-squares process of classes. Its tensors are weight (of the P kernels, 0 for a
// constant); alpha (K⁻¹Y, functions × N); factor (the lower triangle of the Cholesky factor of K); and shares (of the classes).
type indicatorsJSON struct {
	designJSON
	recordJSON
	Classes []json.RawMessage `json:"classes"`
	Noise   float64           `json:"noise"` // variance

	Slope    float64 `json:"slope"` // of the softmax
	Prior    float64 `json:"prior"`
	Damping  float64 `json:"damping"`
	Variance float64 `json:"variance"`
}

// Save writes the model to a file.
func (m *indicatorModel[T]) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encode(&f))
}

// encode adds the model's tensors and returns its settings.
func (m *indicatorModel[T]) encode(f *fileWriter) indicatorsJSON {
	N := m.Samples()
	j := indicatorsJSON{
		recordJSON: f.addRecord(&m.record), designJSON: f.addDesign(m.design, N), Classes: m.classes.encode(f), Noise: m.process.Noise,
		Slope: m.head.Slope, Prior: m.head.Prior, Damping: m.head.Damping, Variance: m.head.Variance,
	}
	f.add("weight", m.weight, len(m.weight))
	f.add("alpha", flat(m.process.Alpha), m.process.Alpha.Rows, N)
	f.addLower("factor", m.process.Factor)
	f.add("shares", m.head.Shares, len(m.head.Shares))
	return j
}

func (m *indicatorModel[T]) decode(f *fileReader) error {
	var j indicatorsJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if err := m.take(f, j); err != nil {
		return err
	}
	return f.close()
}

// take fills in the model from its settings and tensors.
func (m *indicatorModel[T]) take(f *fileReader, j indicatorsJSON) (err error) {
	K, P, N := len(j.Classes), f.size("weight"), j.Basis
	switch {
	case P < 1 || N < 1 || j.Samples != N:
		return fmt.Errorf("model: %d kernels of %d samples and %d basis points", P, j.Samples, N)
	case !(j.Noise > 0):
		return fmt.Errorf("model: noise is %g", j.Noise)
	case !(j.Variance > 0):
		return fmt.Errorf("model: variance is %g", j.Variance)
	}
	if m.onViews, err = f.takeOnViews(j.recordJSON, j.designJSON, K, P, true); err != nil {
		return err
	}
	if m.classes, err = decodeClasses[T](f, j.Classes, functions(K), functions(K)); err != nil {
		return err
	}
	m.weight = f.take("weight", P)
	m.process = &amplitude.Process{Noise: j.Noise, Alpha: f.takeMatrix("alpha", functions(K), N), Factor: f.takeLower("factor", N)}
	m.head = &amplitude.Head{Slope: j.Slope, Prior: j.Prior, Damping: j.Damping, Variance: j.Variance, Shares: f.takePositive("shares", K)}
	if f.err != nil {
		return f.err
	}
	if i := slices.IndexFunc(m.weight, func(w float64) bool { return w < 0 }); i >= 0 {
		return fmt.Errorf("model: weight[%d] is %g", i, m.weight[i])
	}
	if i := slices.IndexFunc(m.head.Shares, func(s float64) bool { return s >= 1 }); i >= 0 {
		return fmt.Errorf("model: shares[%d] is %g", i, m.head.Shares[i])
	}
	for i := range N {
		if d := m.process.Factor.At(i, i); !(d > 0) {
			return fmt.Errorf("model: factor: element (%d, %d) is %g", i, i, d)
		}
	}
	return nil
}
