package mkl

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/mgp"
)

// sharpnessSamples is about how many samples are used to fit the sharpness of the odds, which is one parameter.
const sharpnessSamples = 5000

// looking makes the passes of a fit. With φ = by·k + shift the values wᵀφ are (byᵀw)ᵀk + wᵀ·shift,
// and gradients Σ slope·φ come from Σ slope·k: no features are made.
type looking[T comparable] struct {
	plan    *ClassPlan[T]
	rows    iter.Seq2[ClassRows[T], error]
	shift   [][]float64
	silent  []bool // views whose features are rounding errors: their gradients are 0
	workers int

	share float64 // of the samples, drawn at random, that the first pass keeps
	src   special.Rand
	kept  [][]float64 // of each input, rows one after another
	class []int       // their classes
}

// pass is one pass over all samples.
func (l *looking[T]) pass(ctx context.Context, q *mgp.Pass) error {
	p := l.plan
	look := l.newLook(q.Weights())
	b := newPieces(&p.featurePlan, p.functions(), l.workers)
	b.visit = func(kernels []la.Matrix[float64], _, y la.Matrix[float64]) error { return look.visit(q, kernels, y) }
	keep, labels := l.class == nil, p.labeller()
	err := eachPart(ctx, l.rows, func(r ClassRows[T]) error {
		index, err := labels.indices(r.Labels)
		if err != nil {
			return err
		}
		if err := addLabelled(&b, index, r.X); err != nil {
			return err
		}
		if keep {
			l.keep(index, r.X)
		}
		return nil
	})
	if err == nil {
		err = b.flush()
	}
	if err != nil {
		return err
	}
	return q.AddGradient(l.gradient(look))
}

// look holds what one pass needs of the weights, and its sums over the samples, for F functions.
type look struct {
	ws     *la.Workspace
	level  []float64            // wᵀ·(shift; 1) of each function
	at     []la.Matrix[float64] // wᵀ·by of each view, F×D
	slopes []float64            // Σ slope of each function
	sum    []la.Matrix[float64] // Σ slope·kᵀ of each view, F×D
	values la.Matrix[float64]   // of the functions at some samples
}

// newLook returns a look for functions with these weights, F × features.
func (l *looking[T]) newLook(weights la.Matrix[float64]) *look {
	F := weights.Rows
	k := &look{
		ws:    &la.Workspace{Workers: l.workers},
		level: make([]float64, F), slopes: make([]float64, F), values: la.NewMatrix[float64](F, pieceSamples),
	}
	first := 0
	for i, by := range l.plan.by {
		w := weights.Slice(0, F, first, first+by.Rows)
		v := la.NewMatrix[float64](F, by.Cols)
		la.Gemm(k.ws, la.NoTrans, la.NoTrans, 1, w, by, 0, v)
		for o := range k.level {
			k.level[o] += la.Dot(w.Row(o), l.shift[i])
		}
		k.at, k.sum = append(k.at, v), append(k.sum, la.NewMatrix[float64](F, by.Cols))
		first += by.Rows
	}
	for o := range k.level {
		k.level[o] += weights.At(o, first)
	}
	return k
}

// visit adds samples with these kernels and labels.
func (k *look) visit(q *mgp.Pass, kernels []la.Matrix[float64], y la.Matrix[float64]) error {
	f := k.values.Slice(0, len(k.level), 0, y.Cols)
	for o, c := range k.level {
		row := f.Row(o)
		for i := range row {
			row[i] = c
		}
	}
	for i, v := range k.at {
		la.Gemm(k.ws, la.NoTrans, la.NoTrans, 1, v, kernels[i], 1, f)
	}
	if err := q.Look(f, y); err != nil { // f becomes the slopes
		return err
	}
	for i, s := range k.sum {
		la.Gemm(k.ws, la.NoTrans, la.Transpose, 1, f, kernels[i], 1, s)
	}
	for o := range k.slopes {
		k.slopes[o] += vec.Total(f.Row(o))
	}
	return nil
}

// gradient returns Σ slope·(φ; 1) of each function, F × features.
func (l *looking[T]) gradient(k *look) la.Matrix[float64] {
	F := len(k.slopes)
	g, first := la.NewMatrix[float64](F, l.plan.width()+1), 0
	for i, by := range l.plan.by {
		part := g.Slice(0, F, first, first+by.Rows)
		first += by.Rows
		if l.silent[i] {
			continue
		}
		la.Gemm(k.ws, la.NoTrans, la.Transpose, 1, k.sum[i], by, 0, part)
		for o, s := range k.slopes {
			la.Axpy(s, l.shift[i], part.Row(o))
		}
	}
	for o, s := range k.slopes {
		g.Set(o, first, s)
	}
	return g
}

// keepAll keeps some of the samples, in a pass that serves no fit.
func (l *looking[T]) keepAll(ctx context.Context) error {
	labels := l.plan.labeller()
	return eachPart(ctx, l.rows, func(r ClassRows[T]) error {
		index, err := labels.indices(r.Labels)
		if err != nil {
			return err
		}
		n, err := checkInputs(l.plan.design, r.X)
		switch {
		case err != nil:
			return err
		case n != len(index):
			return fmt.Errorf("mkl: labels: %d values where x[0] has %d samples", len(index), n)
		}
		l.keep(index, r.X)
		return nil
	})
}

// keep keeps some of the samples.
func (l *looking[T]) keep(index []int, x []Features) {
	if l.class == nil {
		l.class, l.kept = []int{}, make([][]float64, len(x))
	}
	for i, c := range index {
		if l.src.Float64() >= l.share {
			continue
		}
		l.class = append(l.class, c)
		for j := range x {
			l.kept[j] = append(l.kept[j], x[j].Row(i)...)
		}
	}
}

// leftOutScores returns the leave-one-out scores of the classes of samples of the fit, given as the rows of each
// input. At φ_i the function has the mean mᵀφ_i and the variance v. Sample i adds the curvature c to the log
// posterior of w along φ_i, and at the mode the slope y·h. Without sample i the variance is v' = v/(1 − c·v) and the
// mean mᵀφ_i − v'·y·h, by one Newton step that removes the slope.
func (m *LandmarkClassifierModel[T]) leftOutScores(kept [][]float64, class []int, workers int) (scoreTable, error) {
	x := make([]Features, len(kept))
	for j, rows := range kept {
		x[j] = la.MatrixOf(len(class), m.design.Inputs[j].Cols, rows)
	}
	K := len(m.plan.classes.names)
	score := scoreRows(len(class), K)
	err := m.predict(context.Background(), PredictOptions{Workers: workers}, x, len(class), func(o, first int, mean, variance []float64) {
		for i, f := range mean {
			y := -1.0
			if c := class[first+i]; K > 2 && c == o || K == 2 && c == 1 {
				y = 1
			}
			v := max(variance[i]-1, 0)
			v /= 1 - min(float64(m.curvatures[o]*v), mostLeverage)
			h, _ := special.Mills(float64(y * f))
			z := (f - float64(v*y*h)) / math.Sqrt(1+v)
			score.set(first+i, o, special.LogNormalCDF(z), special.LogNormalCDF(-z))
		}
	})
	return score, err
}

// mostLeverage is the largest leverage c·v of a sample on its own function that leave-one-out allows.
const mostLeverage = 1 - 1e-9
