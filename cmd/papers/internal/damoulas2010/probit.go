package damoulas2010

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// flags are the flags of the experiments of sections 1.4.2 and 1.4.3, which are by the
// variational approximation. What the paper leaves open, and what was chosen, is in
// docs/theory/probit.md.
type flags struct {
	Data    string  `required:"" placeholder:"DIR" help:"Folder with the data set's files."`
	Rise    float64 `default:"0.001" help:"Stop when a sweep raises the bound by less than this share of it, as the paper does (${default}); 0 makes all sweeps."`
	Alpha   float64 `default:"1" help:"τ = ν of the prior of the precisions (${default})."`
	Seed    uint64  `default:"1" help:"Seed of splits and starts (${default})."`
	Workers int     `help:"Most fits at a time; 0 means one for each processor."`
	JSON    bool    `name:"json" help:"Print JSON."`
}

func (c *flags) check() error {
	if !(c.Rise >= 0 && c.Rise < 1) || !(c.Alpha > 0) || math.IsInf(c.Alpha, 1) || c.Workers < 0 {
		return console.Inputf("-rise is between 0 and 1, -alpha is positive, -workers is not negative")
	}
	return nil
}

// machine is a kernel machine with the paper's prior.
func (c *flags) machine(rule probit.Rule, sweeps int, seed uint64) probit.Model {
	return probit.Model{
		Plain: true, Rule: rule, NotEmpty: true, Alpha: vi.Gamma{Shape: c.Alpha, Scale: 1 / c.Alpha}, Workers: 1, Seed: seed,
		Ascent: vi.Ascent{Tolerance: -1, MaxSweeps: sweeps},
	}
}

var errSettled = errors.New("the bound has settled")

// fit fits p, stops it by the paper's rule, and returns the probabilities of the
// test samples, samples × classes.
func (c *flags) fit(ctx context.Context, p probit.Model, train, test vi.Kernels, labels []int) (*probit.Fit, la.Matrix[float64], error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.Ascent.Progress = func(s vi.Progress) {
		if s.Sweep > 1 && math.Abs(s.Rise) < c.Rise*math.Abs(s.Bound) {
			cancel(errSettled)
		}
	}
	fit, err := p.Fit(ctx, train, labels)
	if err != nil && !errors.Is(err, errSettled) {
		return nil, la.Matrix[float64]{}, err
	}
	q, err := fit.Posterior.Predict(test, vi.PredictOptions{Workers: 1})
	if err != nil {
		return nil, la.Matrix[float64]{}, err
	}
	return fit, q.Probability, nil
}

// errorRate returns the percentage of samples whose most probable class is not
// theirs.
func errorRate(probability la.Matrix[float64], truth []int) float64 {
	wrong := 0
	for i, c := range truth {
		if best(probability.Row(i)) != c {
			wrong++
		}
	}
	return 100 * float64(wrong) / float64(len(truth))
}

func best(x []float64) int {
	b := 0
	for i, v := range x {
		if v > x[b] {
			b = i
		}
	}
	return b
}

// rbfKernels returns the kernels exp(−|x−y|²/D) within the training samples and
// between them and the test samples.
func rbfKernels(train, test la.Matrix[float64]) (k, cross la.Matrix[float64]) {
	kernel := func(x la.Matrix[float64]) la.Matrix[float64] {
		k := la.NewMatrix[float64](train.Rows, x.Rows)
		la.RBF(nil, 1/float64(train.Cols), train, x, k)
		return k
	}
	return kernel(train), kernel(test)
}

// powerKernels returns the kernels (offset + x·y/D)^degree between the same samples.
func powerKernels(train, test la.Matrix[float64], offset float64, degree int) (k, cross la.Matrix[float64]) {
	kernel := func(x la.Matrix[float64]) la.Matrix[float64] {
		k := la.NewMatrix[float64](train.Rows, x.Rows)
		la.Gemm(nil, la.NoTrans, la.Transpose, 1/float64(train.Cols), train, x, 0, k)
		for i, v := range k.Data {
			k.Data[i] = math.Pow(offset+v, float64(degree))
		}
		return k
	}
	return kernel(train), kernel(test)
}

// figures are what an experiment measured beside what the paper states.
type figures struct {
	Name   string  `json:"name"`
	Mean   float64 `json:"mean"`
	SD     float64 `json:"sd"`
	Sweeps float64 `json:"sweeps,omitempty"` // mean of the fits
	Runs   int     `json:"runs"`
	Best   float64 `json:"best,omitempty"`
	Paper  string  `json:"paper,omitempty"`
}

func newFigures(name string, x []float64, paper string) figures {
	f := figures{Name: name, Runs: len(x), Paper: paper}
	f.Mean, f.SD = measure.MeanSD(x)
	return f
}

func (f figures) String() string { return fmt.Sprintf("%.1f ± %.1f", f.Mean, f.SD) }

// trial fits a machine and returns its error on test samples and its sweeps.
func (c *flags) trial(ctx context.Context, p probit.Model, train, test []la.Matrix[float64], labels, truth []int) (rate, sweeps float64, err error) {
	k, err := vi.NewDense(train...)
	if err != nil {
		return 0, 0, err
	}
	cross, err := vi.NewDense(test...)
	if err != nil {
		return 0, 0, err
	}
	fit, probability, err := c.fit(ctx, p, k, cross, labels)
	if err != nil {
		return 0, 0, err
	}
	return errorRate(probability, truth), float64(len(fit.Record.Trace)), nil
}
