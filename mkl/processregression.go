package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
)

// processRegression is a fit of multiple Gaussian processes to a target: by [MultiGP] or [FactorisedGP].
type processRegression struct {
	*fitting
	processSettings
	rawTargets bool
	noiseSD    float64       // KnownNoise
	model      *MultiGPModel // From
}

// fit fits the model to the views of N samples and their targets.
func (g *processRegression) fit(ctx context.Context, views []View, y []float64) (model *MultiGPModel, err error) {
	n, err := checkTargets([][]float64{y}, false)
	if err != nil {
		return nil, err
	}
	if err := checkRowWeights(g.weights, n); err != nil {
		return nil, err
	}
	t, err := bindViews(views, n, g.missingViews)
	if err != nil {
		return nil, err
	}
	k, err := g.kernels(ctx, t)
	if err != nil {
		return nil, suggestLandmarks(err, g.Fitting, views, n, 0)
	}
	defer gram.Release(k, &model, &err)
	targets, z := standardizeWeighted(y, g.weights, g.rawTargets)
	m := &MultiGPModel{target: targets[0]}
	m.onViews = onViews{g.record(Trace{}), t.Design}
	if g.knownNoise, err = g.noiseVariance(targets[0], y); err != nil {
		return nil, err
	}
	if g.model != nil {
		if err := checkShape(g.fitting, "%d targets, %d kernels and %d samples where there are %d, %d and %d",
			1, len(g.model.design.Views), g.model.Samples(), 1, len(t.Views), n); err != nil {
			return nil, err
		}
		g.from = &g.model.processes
	}
	if err := g.checkNoise(); err != nil {
		return nil, err
	}
	g.orderByContent(views, y, false)
	whole, err := g.processSettings.fit(ctx, g.fitting, &m.processes, k, z, false)
	if !whole {
		return nil, err
	}
	if g.hurried && g.noise == ConstantNoise && len(z.Row(0)) >= leastForNoise {
		m.unevenNoise = noiseVaries(k, m.leaveOneOut[0], z.Row(0), g.Seed)
		m.heavyNoise = hasHeavyTails(m.leaveOneOut[0], z.Row(0), g.Seed)
	}
	return m, err
}

// kernels computes the kernels of a training: for all samples, or for the samples that span the others.
func (g *processRegression) kernels(ctx context.Context, t *gram.Training) (gram.Held, error) {
	if g.factorised {
		if err := t.CheckFixed(); err != nil {
			return nil, err
		}
	}
	features := t.LinearFeatures()
	if !g.spanned(t.Samples(), features) {
		return g.processKernels(ctx, t, 1, g.memory)
	}
	err := g.check(g.spannedMemory(FitSize{Samples: t.Samples(), Kernels: len(t.Views)}, features))
	if err != nil {
		return nil, err
	}
	if g.spanning, err = t.Span(ctx, g.Workers); err != nil {
		return nil, err
	}
	return t.Reduce(ctx, g.spanning, g.Workers)
}

// noiseVariance returns the known noise variance for the target t with the values y, in the units of the fit. It is 0 if
// the noise is learned.
func (g *processRegression) noiseVariance(t target, y []float64) (float64, error) {
	unit, name := t.sd, "standard deviation"
	if g.rawTargets {
		unit, name = math.Sqrt(la.SumSq(y)/float64(len(y))), "root mean square"
	}
	switch sd := g.noiseSD; {
	case sd == 0:
		return 0, nil
	case !(sd > 0) || math.IsInf(sd, 1):
		return 0, fmt.Errorf("mkl: KnownNoise is %g: it must be positive and finite, or 0", sd)
	case g.noise != ConstantNoise:
		return 0, fmt.Errorf("mkl: KnownNoise: %v noise is learned", g.noise)
	case g.weights != nil && !(sd/math.Sqrt(slices.Max(g.weights)) >= leastKnownNoise*unit):
		i := slices.Index(g.weights, slices.Max(g.weights))
		return 0, fmt.Errorf("mkl: Weights[%d] is %g: its noise of %g is less than %g of the target's %s %g", i, g.weights[i],
			sd/math.Sqrt(g.weights[i]), leastKnownNoise, name, unit)
	case g.weights == nil && !(sd >= leastKnownNoise*unit):
		return 0, fmt.Errorf("mkl: KnownNoise is %g, less than %g of the target's %s %g", sd, leastKnownNoise, name, unit)
	default:
		return sd / t.sd * (sd / t.sd), nil
	}
}

// leastKnownNoise is the least noise that the fit can distinguish from 0, in units of the target's standard deviation, or of
// its root mean square with RawTargets.
const leastKnownNoise = 1e-4

// memory returns about how many bytes a fit of the given size takes.
func (g *processRegression) memory(s FitSize) int64 {
	switch {
	case g.spanned(s.Samples, s.features()):
		return g.spannedMemory(s, s.features())
	case g.noise == VaryingNoise:
		return g.processMemory(s, varyingFactors, false)
	case g.pointScales || g.factorised:
		return g.processMemory(s, 1, false)
	}
	return g.processMemory(s, 1+drawsOf(s.Samples), false)
}

// processMemory estimates the bytes of a fit of l functions, each a sum of Gaussian
// processes with an N×N factor that the model keeps.
func (f *fitting) processMemory(s FitSize, l int, labels bool) int64 {
	N, P, L := float64(s.Samples), float64(s.Kernels), float64(l)
	words := f.storage.held().Words(P, N, N)                                       // kernel matrices
	words += float64((2 + L) * N * N)                                              // K, B, and each function's factor
	words += float64(N * (float64(2*P/32) + float64(2*(P+2)) + float64(10*(L+1)))) // rows' parts of traces, vectors
	few := float64(mostAtFirst(s.Samples, labels))
	words += float64((P + 3) * few * few)              // the fit to some of the samples
	words += float64(float64(f.workers()) * (1 << 18)) // packed blocks of products
	return inBytes(words)
}
