package mkl

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/mgp"
)

// ClassFunctions is the posterior of the functions of a classifier at T samples. Two classes have one function, more have one
// each. Under the posterior the functions are independent and normal.
type ClassFunctions struct {
	Mean, Variance [][]float64 // [sample][function]
	Sharpness      float64     // as in [MultiGPClassifierModel]
}

// PredictFunctions returns the posterior of the functions at the samples of x. Its arguments and errors are as in
// [ClassModel.PredictClasses]. Workers is the only option that has an effect.
func (m *MultiGPClassifierModel[T]) PredictFunctions(ctx context.Context, opt PredictOptions, x ...Features) (*ClassFunctions, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	opt.MeanOnly = false
	out := &ClassFunctions{rows(t, len(m.posteriors)), rows(t, len(m.posteriors)), m.sharpness}
	err = m.predict(ctx, opt, x, t, func(o, first int, p *mgp.Prediction) {
		for i, mean := range p.Mean {
			out.Mean[first+i][o], out.Variance[first+i][o] = mean, p.Function[i]
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Probabilities stores in probability the probabilities of the classes of a sample whose functions have the given values: they are
// proportional to (Φ(f)/Φ(−f))^Sharpness. It panics unless there is a probability for each class.
func (f *ClassFunctions) Probabilities(values, probability []float64) {
	if K := len(probability); functions(K) != len(values) {
		panic(fmt.Sprintf("mkl: Probabilities: %d functions of %d classes", len(values), K))
	}
	score := scoreRows(1, len(probability))
	for o, v := range values {
		score.set(0, o, special.LogNormalCDF(v), special.LogNormalCDF(-v))
	}
	sharpenAll(f.Sharpness, score, [][]float64{probability})
}
