package gonen2012

import (
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
)

// Proteinfold learns the folds of proteins from twelve representations of them.
type Proteinfold struct {
	flags `embed:""`
}

// Run runs the experiment.
func (c *Proteinfold) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	next := func(int) (*multiclass.Problem, error) {
		x, err := multiclass.Proteins(e, c.Data, multiclass.UnitPolynomial)
		if err != nil {
			return nil, err
		}
		return x, c.checkMemory(len(multiclass.ProteinSources), len(x.TrainClass), len(x.TestClass), x.Classes)
	}
	return c.run(e, "Protein folds: 12 representations, kernels (1 + x·y)² and, of alignment scores, x·y, to unit diagonal", 1, next,
		[]paperFigure{{Model: "multinomial probit, VB", Accuracy: "68.1 ± 1.2", Source: "Damoulas and Girolami, 20 starts"}},
		"columns to mean 0 and deviation 1 over the training proteins")
}
