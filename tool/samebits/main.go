// Samebits fits a small model with every estimator and prints a line for each: its
// name, and hashes of the saved model and of its predictions. The lines are the same on every
// machine, with every instruction set and for every number of workers; .ci/run compares them.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// data are samples of two views with two targets, a gap in the second, and classes.
type data struct {
	small, wide mkl.Features
	y, z        []float64
	class       []string
}

func newData(n int) data {
	r := rand.New(rand.NewPCG(1, 2))
	normal := func() float64 { // nearly, and exact on every machine
		s := -6.0
		for range 12 {
			s += float64(r.Float64())
		}
		return s
	}
	d := data{small: la.NewMatrix[float64](n, 3), wide: la.NewMatrix[float64](n, 5)}
	for _, x := range []mkl.Features{d.small, d.wide} {
		for i := range x.Data {
			x.Data[i] = normal()
		}
	}
	for i := range n {
		a, b := d.small.Row(i), d.wide.Row(i)
		f := a[0] - float64(a[1]*a[1])
		d.y = append(d.y, f+float64(0.1*normal()))
		d.z = append(d.z, float64(0.5*f)+b[0]+float64(0.1*normal()))
		switch {
		case b[0] > 1:
			d.class = append(d.class, "w")
		case f > 0:
			d.class = append(d.class, "v")
		default:
			d.class = append(d.class, "u")
		}
	}
	return d
}

func (d data) linear() []mkl.View {
	return []mkl.View{{X: d.small, Input: "x1", Kernel: kernel.Linear{}}, {X: d.wide, Input: "x2", Kernel: kernel.Polynomial{}}}
}

func (d data) radial() []mkl.View {
	return []mkl.View{
		{X: d.small, Input: "x1", Kernel: kernel.RBF{Width: 1}},
		{X: d.wide, Input: "x2", Kernel: kernel.RBF{}, Standardize: true},
		{X: d.wide, Input: "x2", Kernel: kernel.Laplacian{}},
	}
}

// positive reports for each sample whether it has the class.
func (d data) positive(class string) []bool {
	var is []bool
	for _, c := range d.class {
		is = append(is, c == class)
	}
	return is
}

// known is positive as labels. The labels of the first samples are not known.
func (d data) known(class string, unknown int) []mkl.Label {
	labels := make([]mkl.Label, len(d.class))
	for i, is := range d.positive(class) {
		switch {
		case i < unknown:
		case is:
			labels[i] = mkl.LabelPresent
		default:
			labels[i] = mkl.LabelAbsent
		}
	}
	return labels
}

var ctx = context.Background()

// fits are the estimators. How many sweeps a fit takes is part of what is compared.
var fits = []struct {
	name string
	fit  func(d data, s fitting) (mkl.Model, error)
}{
	{"regression, linear", func(d data, s fitting) (mkl.Model, error) {
		return mkl.Regression{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, d.linear(), d.y)
	}},
	{"regression", func(d data, s fitting) (mkl.Model, error) {
		return mkl.Regression{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, d.radial(), d.y, d.z)
	}},
	{"regression, kernels in float32", func(d data, s fitting) (mkl.Model, error) {
		return mkl.Regression{Fitting: s.Fitting, Ascent: s.Ascent, Storage: mkl.KernelStorage{Float32: true}}.Fit(ctx, d.radial(), d.y, d.z)
	}},
	{"Gaussian process, kernels in float32", func(d data, s fitting) (mkl.Model, error) {
		return mkl.MultiGP{Fitting: s.Fitting, Climb: s.climb(), Storage: mkl.KernelStorage{Float32: true}}.Fit(ctx, d.radial(), d.y)
	}},
	{"shared regression", func(d data, s fitting) (mkl.Model, error) {
		return mkl.SharedRegression{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, d.radial(), d.y, d.z)
	}},
	{"classifier", func(d data, s fitting) (mkl.Model, error) {
		return mkl.Classifier[string]{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, d.radial(), d.class)
	}},
	{"multilabel", func(d data, s fitting) (mkl.Model, error) {
		return mkl.MultiLabel{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, d.linear(), mkl.LabelsOf(d.positive("u")), mkl.LabelsOf(d.positive("w")))
	}},
	{"task classifier", func(d data, s fitting) (mkl.Model, error) {
		return mkl.TaskClassifier{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, d.radial(), d.known("u", 5), d.known("w", 0))
	}},
	{"Gaussian process", func(d data, s fitting) (mkl.Model, error) {
		return mkl.MultiGP{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, d.radial(), d.y)
	}},
	{"Gaussian process, factorised", func(d data, s fitting) (mkl.Model, error) {
		return mkl.FactorisedGP{Fitting: s.Fitting, Family: mkl.FamilyGIG, Tolerance: s.Tolerance, MaxSweeps: s.MaxSweeps}.Fit(ctx, d.radial(), d.y)
	}},
	{"Gaussian process classifier", func(d data, s fitting) (mkl.Model, error) {
		return mkl.MultiGPClassifier[string]{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, d.radial(), d.class)
	}},
	{"regression, landmarks", func(d data, s fitting) (mkl.Model, error) {
		return mkl.Regression{Fitting: s.Fitting, Ascent: s.Ascent, Landmarks: &mkl.Landmarks{Count: 20}}.Fit(ctx, d.radial(), d.y, d.z)
	}},
	{"landmarks", func(d data, s fitting) (mkl.Model, error) {
		return mkl.LandmarkGP{Fitting: s.Fitting, Climb: s.climb(), Landmarks: &mkl.Landmarks{Count: 20}}.Fit(ctx, d.radial(), d.y)
	}},
	{"landmark classifier", func(d data, s fitting) (mkl.Model, error) {
		return mkl.LandmarkClassifier[string]{Fitting: s.Fitting, MinRise: s.Tolerance, MaxPasses: s.MaxSweeps, Landmarks: &mkl.Landmarks{Count: 20}}.Fit(ctx, d.radial(), d.class)
	}},
	{"pool", func(d data, s fitting) (mkl.Model, error) {
		return mkl.Auto{Fitting: s.Fitting, Climb: s.climb()}.Fit(ctx, []mkl.View{{X: d.small}}, d.y)
	}},
	{"probit classifier", func(d data, s fitting) (mkl.Model, error) {
		return mkl.ProbitClassifier[string]{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, d.radial(), d.class)
	}},
	{"probit classifier, products", func(d data, s fitting) (mkl.Model, error) {
		return mkl.ProbitClassifier[string]{Fitting: s.Fitting, Ascent: s.Ascent, Rule: mkl.WeightedSum{}}.Fit(ctx, d.radial(), d.class)
	}},
	{"probit classifier, relevance vectors", func(d data, s fitting) (mkl.Model, error) {
		return mkl.RelevanceClassifier[string]{Fitting: s.Fitting, Ascent: s.Ascent, Rule: mkl.WeightedSum{}}.Fit(ctx, d.radial(), d.class)
	}},
	{"probit classifier, pruned vectors", func(d data, s fitting) (mkl.Model, error) {
		return mkl.PrunedClassifier[string]{Fitting: s.Fitting, Ascent: s.Ascent, Rule: mkl.WeightedSum{}}.Fit(ctx, d.radial(), d.class)
	}},
	{"probit classifier, mode", func(d data, s fitting) (mkl.Model, error) {
		return mkl.ProbitMAP[string]{Fitting: s.Fitting, Ascent: s.Ascent, Rule: mkl.WeightedSum{}}.Fit(ctx, d.radial(), d.class)
	}},
	{"Gaussian process, hyperbolic, with a known weight", func(d data, s fitting) (mkl.Model, error) {
		g := mkl.MultiGP{Fitting: s.Fitting, Climb: s.climb(), Family: mkl.FamilyGIG, Prior: mkl.GIG{Omega: -1}, HeldPrior: mkl.HeldPrior{Omega: true}}
		g.KnownWeights = make([]float64, len(d.radial()))
		g.KnownWeights[0] = 0.5
		return g.Fit(ctx, d.radial(), d.y)
	}},
	{"probit classifier, sampled", func(d data, s fitting) (mkl.Model, error) {
		draws := mkl.GibbsDraws{Chains: 2, Draws: 5, Thin: 2}
		return mkl.ProbitSampler[string]{Fitting: s.Fitting, Rule: mkl.WeightedSum{}, GibbsDraws: draws}.Fit(ctx, d.radial(), d.class)
	}},
	{"multi-task", func(d data, s fitting) (mkl.Model, error) {
		return mkl.MultiTask{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, d.radial(), d.y, d.z)
	}},
	{"multi-task, widths held", func(d data, s fitting) (mkl.Model, error) {
		return mkl.MultiTask{Fitting: s.Fitting, Ascent: s.Ascent, FixedKernels: true}.Fit(ctx, d.radial(), d.y, d.z)
	}},
	{"spike and slab", func(d data, s fitting) (mkl.Model, error) {
		return mkl.SpikeSlab{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(ctx, d.wide, d.z)
	}},
	{"factors", func(d data, s fitting) (mkl.Model, error) {
		var table mkl.DenseTable
		for i := range d.y {
			table = append(table, append([]float64{d.y[i], d.z[i]}, d.wide.Row(i)...))
		}
		return mkl.FactorAnalysis{Fitting: s.Fitting, Ascent: s.Ascent, Factors: 2}.Fit(ctx, table)
	}},
}

func main() {
	samples := flag.Int("samples", 40, "number of samples")
	sweeps := flag.Int("sweeps", 15, "most sweeps of a fit")
	workers := flag.Int("workers", 1, "number of workers")
	dir := flag.String("save", "", "folder for the models; none if empty")
	flag.Parse()

	d := newData(*samples)
	for _, f := range fits {
		m, err := f.fit(d, fitting{Fitting: mkl.Fitting{Workers: *workers}, Ascent: mkl.Ascent{MaxSweeps: *sweeps}})
		if err == nil {
			err = report(f.name, m, d, *dir)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "samebits: %s: %v\n", f.name, err)
			os.Exit(1)
		}
	}
}

func report(name string, m mkl.Model, d data, dir string) error {
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		return err
	}
	if dir != "" {
		if err := os.WriteFile(dir+"/"+name, file.Bytes(), 0o666); err != nil {
			return err
		}
	}
	var x []mkl.Features
	for _, in := range m.Inputs() {
		if in.Cols == d.small.Cols {
			x = append(x, d.small)
		} else {
			x = append(x, d.wide)
		}
	}
	var predicted any
	var err error
	switch m := m.(type) {
	case mkl.TargetModel:
		predicted, err = m.PredictTargets(ctx, mkl.PredictOptions{}, x...)
	case mkl.ClassModel[string]:
		predicted, err = m.PredictClasses(ctx, mkl.PredictOptions{}, x...)
	case mkl.LabelModel:
		predicted, err = m.PredictLabels(ctx, mkl.PredictOptions{}, x...)
	}
	if err != nil {
		return err
	}
	fmt.Printf("%-30s %x %x\n", name, hash(file.Bytes()), hash(fmt.Appendf(nil, "%+v", predicted)))
	return nil
}

func hash(b []byte) []byte {
	h := sha256.Sum256(b)
	return h[:12]
}

// fitting are the settings of all fits.
type fitting struct {
	mkl.Fitting
	mkl.Ascent
}

// climb returns the settings of sweeps as a fit by the evidence has them.
func (f fitting) climb() mkl.Climb { return mkl.Climb{MinRise: f.Tolerance, MaxSteps: f.MaxSweeps} }
