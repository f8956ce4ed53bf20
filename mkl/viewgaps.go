package mkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
)

// viewGaps is what a model of weighted kernels knows about samples that lack views: how uncertain
// their predictions are. docs/theory/missing-views.md derives it.
type viewGaps struct {
	patterns [][]bool    // C×inputs: the inputs that the samples of each group lack; the first group lacks none
	noise    [][]float64 // for each function, the noise variance of every group; nil without groups

	// For each function, P×P: E[e_m·e_m']·Cov(a·k_m, a·k_m') over the training samples that
	// have both views. It is what two views add to the variance of samples that lack both.
	spread []la.Matrix[float64]
}

// lackedBy returns a function that reports whether sample i of x lacks an input.
func lackedBy(ds *gram.Design, x []Features, i int) func(input int) bool {
	return func(j int) bool { return ds.Inputs[j].Gaps && gram.Lacks(x[j].Row(i)) }
}

// missingPatterns returns the patterns of the training samples and the pattern of every sample. The first pattern
// lacks nothing. Both are nil if no sample lacks a view.
func missingPatterns(ds *gram.Design) (patterns [][]bool, of []int) {
	patterns, of = [][]bool{make([]bool, len(ds.Inputs))}, make([]int, ds.D)
	for i := range of {
		own := make([]bool, len(ds.Inputs))
		for j := range own {
			own[j] = ds.Inputs[j].Lacking != nil && ds.Inputs[j].Lacking[i]
		}
		of[i] = slices.IndexFunc(patterns, func(p []bool) bool { return slices.Equal(p, own) })
		if of[i] < 0 {
			of[i] = len(patterns)
			patterns = append(patterns, own)
		}
	}
	if len(patterns) == 1 {
		return patterns, nil
	}
	return patterns, of
}

// viewSpreads returns the spread of L functions whose sample weights have the means a, L×D, and
// whose biases and kernel weights have the means beMean and the covariances beCov; k are the
// training kernels, D×N.
func viewSpreads(ds *gram.Design, k vi.Kernels, a la.Matrix[float64], beMean []float64, beCov la.Matrix[float64]) []la.Matrix[float64] {
	P, _, N := k.Dims()
	L := a.Rows
	e := beMean[L:]
	var out []la.Matrix[float64]
	h := la.NewMatrix[float64](P, N)
	for o := range L {
		k.Project(&la.Workspace{}, a.Slice(o, o+1, 0, a.Cols), h)
		s := la.NewMatrix[float64](P, P)
		for m := range P {
			for n := range m + 1 {
				v := (float64(e[m]*e[n]) + beCov.At(L+m, L+n)) * viewCovariance(ds, m, n, h)
				s.Set(m, n, v)
				s.Set(n, m, v)
			}
		}
		out = append(out, s)
	}
	return out
}

// viewCovariance returns the covariance of rows m and n of h over the samples that have both views.
func viewCovariance(ds *gram.Design, m, n int, h la.Matrix[float64]) float64 {
	p, q := ds.Inputs[ds.Views[m].Input].Lacking, ds.Inputs[ds.Views[n].Input].Lacking
	var count, mean, other, product float64
	each := func(f func(x, y float64)) {
		for i := range h.Cols {
			if (p == nil || !p[i]) && (q == nil || !q[i]) {
				f(h.At(m, i), h.At(n, i))
			}
		}
	}
	each(func(x, y float64) { count, mean, other = count+1, mean+x, other+y })
	if count == 0 {
		return 0
	}
	mean, other = mean/count, other/count
	each(func(x, y float64) { product += float64((x - mean) * (y - other)) })
	return product / count
}

// extra returns how much larger the predictive variance of function o is for samples with the given missing inputs than
// for samples that lack nothing. It is the difference of their groups' noise or, if no training sample
// has this pattern, it comes from the spread of the views.
func (g *viewGaps) extra(ds *gram.Design, o int, missing func(input int) bool) float64 {
	for c := 0; c < len(g.patterns) && (c == 0 || g.noise != nil); c++ {
		same := true
		for j, v := range g.patterns[c] {
			same = same && v == missing(j)
		}
		switch {
		case same && c == 0:
			return 0
		case same:
			return g.noise[o][c] - g.noise[o][0]
		}
	}
	var sum float64
	for m := range ds.Views {
		for n := range ds.Views {
			if missing(ds.Views[m].Input) && missing(ds.Views[n].Input) {
				sum += g.spread[o].At(m, n)
			}
		}
	}
	return math.Max(0, sum)
}

// addGaps adds g, which may be nil.
func (f *fileWriter) addGaps(g *viewGaps) {
	if g == nil {
		return
	}
	P := g.spread[0].Rows
	all := la.NewMatrix[float64](len(g.patterns), len(g.patterns[0]))
	for c, missing := range g.patterns {
		copy(all.Row(c), vec.Numbers(missing))
	}
	f.add("gaps.patterns", flat(all), all.Rows, all.Cols)
	var spread []float64
	for _, s := range g.spread {
		spread = append(spread, flat(s)...)
	}
	f.add("gaps.spread", spread, len(g.spread), P, P)
}

// takeGaps reads the viewGaps of L functions; nil if the file has
// none. noise are the precisions of the noise of every group; nil without groups.
func (f *fileReader) takeGaps(ds *gram.Design, L int, noise [][]Gamma) (*viewGaps, error) {
	if !f.has("gaps.patterns") {
		return nil, f.err
	}
	I, P := len(ds.Inputs), len(ds.Views)
	C := f.size("gaps.patterns") / I
	if C < 1 || noise != nil && C != len(noise[0]) {
		return nil, fmt.Errorf("tensor %q: %d patterns do not fit", "gaps.patterns", C)
	}
	all, spread := f.takeMatrix("gaps.patterns", C, I), f.take("gaps.spread", L, P, P)
	if f.err != nil {
		return nil, f.err
	}
	g := &viewGaps{noise: groupNoise(noise)}
	for c := range C {
		missing := make([]bool, I)
		for j, v := range all.Row(c) {
			if v != 0 && v != 1 || v == 1 && c == 0 {
				return nil, fmt.Errorf("tensor %q: entry (%d, %d) is %g", "gaps.patterns", c, j, v)
			}
			missing[j] = v == 1
		}
		g.patterns = append(g.patterns, missing)
	}
	for o := range L {
		g.spread = append(g.spread, la.MatrixOf(P, P, spread[o*P*P:(o+1)*P*P]))
	}
	return g, nil
}

// groupNoise returns the variances E[ε]⁻¹ of the groups' noise.
func groupNoise(epsilon [][]Gamma) (noise [][]float64) {
	for o, groups := range epsilon {
		noise = append(noise, nil)
		for _, g := range groups {
			noise[o] = append(noise[o], 1/g.Mean())
		}
	}
	return noise
}
