package mkl

import (
	"context"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
)

// localFunction predicts the target of a local model at one sample. A prediction allocates memory for its search.
type localFunction struct {
	model    *localModel
	meanOnly bool
}

func (f *localFunction) predict(x [][]float64) (c vi.Certified) {
	mean, variance, err := f.model.posterior.Predict(context.Background(), f.model.features.at(x), nil, f.meanOnly, 1)
	if err != nil {
		panic(err) // checkPoint has checked the number of features
	}
	c.Mean = mean.Data[0]
	if !f.meanOnly {
		c.Variance = variance.Data[0]
	}
	return c
}

func (f *localFunction) info() PredictorInfo { return f.model.info() }

// info describes the predictions, which are exact.
func (m *localProcess) info() PredictorInfo {
	return PredictorInfo{Kernels: vec.UpTo(len(m.posterior.State().Local.Parts)), Samples: vec.UpTo(m.Samples())}
}
