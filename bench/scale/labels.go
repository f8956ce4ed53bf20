package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Labels are +1 with probability Φ(slope·(f − level)), f the function of the samples.
const (
	slope = 4
	level = 1.1
)

// labels replaces targets by labels.
func (g generator) labels(f []float64) (y []float64) {
	for _, f := range f {
		y = append(y, math.Copysign(1, slope*(f-level)+g.src.NormFloat64()))
	}
	return y
}

// logLoss returns the mean over samples of −log p, where p = Φ(z) and z is the function times the label ±1.
func logLoss(z []float64) (sum float64) {
	for _, z := range z {
		sum -= special.LogNormalCDF(z)
	}
	return sum / float64(len(z))
}

// classify sums n samples once, without labels but for their mean, and then passes over them until the bound
// hardly rises. Samples are drawn anew in every pass, a piece at a time.
func classify(ctx context.Context, pl plan, seed uint64, n, most, workers int) error {
	ws := &la.Workspace{Workers: workers}
	each := func(stream uint64, n int, visit func(phi []matrix, y, f []float64) error) error {
		g := generator{src: rand.New(rand.NewPCG(seed, stream))}
		x := la.NewMatrix[float64](piece, inputs)
		ones := la.NewMatrix[float64](1, piece)
		ones.Fill(1)
		for first := 0; first < n; first += piece {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			m := min(piece, n-first)
			_, f := g.draw(x.Slice(0, m, 0, inputs))
			y := g.labels(f)
			var phi []matrix
			for i := range pl.widths {
				phi = append(phi, pl.featuresOf(ws, i, x.Slice(0, m, 0, inputs)))
			}
			if err := visit(append(phi, ones.Slice(0, 1, 0, m)), y, f); err != nil {
				return err
			}
		}
		return nil
	}

	t := start()
	in := mgp.FeatureLabels{Samples: float64(n)}
	D := 1
	for _, f := range pl.features {
		in.Blocks, D = append(in.Blocks, f.By.Rows), D+f.By.Rows
	}
	in.Blocks = append(in.Blocks, 1)
	in.Gram, in.Sums = la.NewMatrix[float64](D, D), la.NewMatrix[float64](1, D)
	z := la.NewMatrix[float64](D, piece)
	err := each(2, n, func(phi []matrix, y, _ []float64) error {
		first := 0
		for _, b := range phi {
			z.Slice(first, first+b.Rows, 0, b.Cols).CopyFrom(b)
			first += b.Rows
		}
		part := z.Slice(0, D, 0, len(y))
		la.Syrk(ws, la.NoTrans, 1, part, 1, in.Gram)
		la.Gemv(ws, la.NoTrans, 1, part, y, 1, in.Sums.Row(0))
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d samples with labels, %d kernels, %d features\n", n, len(pl.widths), D)
	fmt.Printf("pass for the products: %v\n", t)

	var tests [][]matrix
	var labels [][]float64
	var truth []float64
	err = each(3, testSamples, func(phi []matrix, y, f []float64) error {
		phi[len(phi)-1] = phi[len(phi)-1].Clone()
		tests, labels = append(tests, phi), append(labels, y)
		for i := range f {
			truth = append(truth, y[i]*slope*(f[i]-level))
		}
		return nil
	})
	if err != nil {
		return err
	}
	var losses []float64
	t = start()
	in.Pass = func(_ context.Context, p *mgp.Pass) error {
		held := p.Part()
		for i, phi := range tests {
			if err := held.Add(phi, la.MatrixOf(1, len(labels[i]), labels[i])); err != nil {
				return err
			}
		}
		losses = append(losses, -held.LogLikelihood()[0]/testSamples)
		return each(2, n, func(phi []matrix, y, _ []float64) error { return p.Add(phi, la.MatrixOf(1, len(y), y)) })
	}
	fits, err := mgp.Evidence{Workers: workers, Ascent: vi.Ascent{Tolerance: 1e-9, MaxSweeps: most}}.FitFeatureLabels(ctx, in)
	if err != nil {
		return err
	}
	fit := fits[0]
	fmt.Printf("%d passes (%v): %v; bound %.3f\n", len(losses), fit.Record.Reason, t, fit.Record.Bound())
	last := losses[len(losses)-1]
	for _, within := range []float64{0.01, 0.003, 0.001, 0.0001} {
		k := len(losses)
		for k > 1 && math.Abs(losses[k-2]-last) <= within {
			k--
		}
		// The weights of pass k are known after k − 1 passes, the weights of the first pass after the products.
		fmt.Printf("mean log loss of new samples within %g of its last value after %d passes and the one for the products\n", within, k-1)
	}
	var scores []float64
	for i, phi := range tests {
		mean, variance, err := fit.Posterior.Predict(phi, matrix{}, false, workers)
		if err != nil {
			return err
		}
		for j := range mean {
			scores = append(scores, labels[i][j]*mean[j]/math.Sqrt(variance[j]))
		}
	}
	wrong := 0
	for _, z := range scores {
		if z < 0 {
			wrong++
		}
	}
	fmt.Printf("mean log loss by pass: %.5f\n", losses)
	fmt.Printf("mean log loss %.5f, of the truth %.5f; errors %.4f\n", logLoss(scores), logLoss(truth), float64(wrong)/testSamples)
	return nil
}
