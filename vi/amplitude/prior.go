package amplitude

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Layout says what the J kernels are.
type Layout struct {
	// View is the view of each kernel, from 0 on and ascending: the kernels of a view stand together.
	View []int

	// Kind numbers from 0 on which kernels of different views are alike, such as kernels of one
	// width; nil: all are alike.
	Kind []int

	// Group is the group of each view, from 0 on, or −1 for a view of no group; nil: there are no groups.
	// The views of a group are switched together in the structure [Sparse], and each on its own within it.
	Group []int
}

// Views returns how many views there are.
func (l Layout) Views() int { return most(l.View) + 1 }

func (l Layout) kinds() int { return max(most(l.Kind)+1, 1) }

func (l Layout) kind(j int) int {
	if l.Kind == nil {
		return 0
	}
	return l.Kind[j]
}

// most returns the largest of x, or −1.
func most(x []int) int {
	m := -1
	for _, v := range x {
		m = max(m, v)
	}
	return m
}

// check reports a layout that is not one of J kernels.
func (l Layout) check(J int) error {
	if len(l.View) != J {
		return fmt.Errorf("vi: Layout.View: %d kernels where there are %d", len(l.View), J)
	}
	last := 0
	for j, v := range l.View {
		if v < last || v > last+1 || j == 0 && v != 0 {
			return fmt.Errorf("vi: Layout.View[%d] is %d: views are numbered from 0 on and their kernels stand together", j, v)
		}
		last = v
	}
	if l.Kind != nil && len(l.Kind) != J {
		return fmt.Errorf("vi: Layout.Kind: %d kernels where there are %d", len(l.Kind), J)
	}
	for j, k := range l.Kind {
		if k < 0 {
			return fmt.Errorf("vi: Layout.Kind[%d] is %d", j, k)
		}
	}
	if l.Group != nil && len(l.Group) != l.Views() {
		return fmt.Errorf("vi: Layout.Group: %d views where there are %d", len(l.Group), l.Views())
	}
	for v, g := range l.Group {
		if g < -1 {
			return fmt.Errorf("vi: Layout.Group[%d] is %d", v, g)
		}
	}
	return nil
}

// Structure says how amplitudes depend on each other a priori. With independent standard normal
// variables z, a half-Cauchy variable λ for each view and one for each group, the logarithms are
//
//	Free     log a_j = log(1/J) + 3·z_j
//	Tied     log a_j = log(1/J) + 3·z_0 + 2·z_kind(j)
//	Sparse   log a_j = log(1/J) + 3·z_0 + 1.5·z_kind(j) + ½·z_j + 2·log λ_view(j) + 2·log λ_group(j)
//
// and in each structure log σ² = log .3 + 2·z.
type Structure int

// Structures of amplitudes.
const (
	Tied Structure = iota
	Sparse
	Free
)

// The standard deviations of the parts of log a_j, and the prior of log σ². They are weak: a share e⁶
// of a level is within two standard deviations.
const (
	levelSD      = 3.0
	tiedKindSD   = 2.0
	sparseKindSD = 1.5
	kernelSD     = 0.5
	noiseSD      = 2.0
	noiseMedian  = 0.3
)

// prior is a map from z to θ = (log a_1, …, log a_J, log σ²):
//
//	θ = mean + linear·z_1..k + 2·Σ log λ(u),   z, u ~ N(0, I),
//
// where u are the variables after the first k, and variable k+i adds 2·log λ to the kernels with i
// among their factors.
type prior struct {
	mean    []float64
	linear  la.Matrix[float64] // (J+1)×k
	factors [][]int            // of each kernel, the half-Cauchy factors
	count   int                // of factors
}

// newPrior returns the prior of a structure.
func newPrior(s Structure, l Layout) prior {
	J := len(l.View)
	p := prior{mean: make([]float64, J+1), factors: make([][]int, J)}
	for j := range J {
		p.mean[j] = -special.Log(float64(J))
	}
	p.mean[J] = special.Log(noiseMedian)
	kinds := l.kinds()
	type part struct {
		first int
		sd    float64
		of    func(j int) int
	}
	var parts []part
	k := 0
	add := func(n int, sd float64, of func(j int) int) {
		parts = append(parts, part{k, sd, of})
		k += n
	}
	common := func(int) int { return 0 }
	own := func(j int) int { return j }
	switch s {
	case Free:
		add(J, levelSD, own)
	case Tied:
		add(1, levelSD, common)
		add(kinds, tiedKindSD, l.kind)
	case Sparse:
		add(1, levelSD, common)
		add(kinds, sparseKindSD, l.kind)
		add(J, kernelSD, own)
	}
	p.linear = la.NewMatrix[float64](J+1, k+1)
	for _, b := range parts {
		for j := range J {
			p.linear.Set(j, b.first+b.of(j), b.sd)
		}
	}
	p.linear.Set(J, k, noiseSD)
	if s == Sparse {
		views := l.Views()
		for j, v := range l.View {
			p.factors[j] = append(p.factors[j], v)
			if l.Group != nil && l.Group[v] >= 0 {
				p.factors[j] = append(p.factors[j], views+l.Group[v])
			}
		}
		p.count = views + most(l.Group) + 1
	}
	return p
}

// dims returns the number of variables.
func (p *prior) dims() int { return p.linear.Cols + p.count }

// theta stores the logarithms at z in θ and, unless it is nil, the slopes ∂(2·log λ_i)/∂u_i.
func (p *prior) theta(z, theta, slope []float64) {
	k := p.linear.Cols
	copy(theta, p.mean)
	la.Gemv(nil, la.NoTrans, 1, p.linear, z[:k], 1, theta)
	if p.count == 0 {
		return
	}
	value := make([]float64, p.count)
	for i := range value {
		v, d := logFactor(z[k+i])
		value[i] = 2 * v
		if slope != nil {
			slope[i] = 2 * d
		}
	}
	for j, of := range p.factors {
		for _, i := range of {
			theta[j] += value[i]
		}
	}
}

// pull stores the gradient by z of a function with the gradient g by θ.
func (p *prior) pull(g, slope, dst []float64) {
	k := p.linear.Cols
	la.Gemv(nil, la.Transpose, 1, p.linear, g, 0, dst[:k])
	clear(dst[k:])
	for j, of := range p.factors {
		for _, i := range of {
			dst[k+i] += float64(g[j] * slope[i])
		}
	}
}

// alike returns the group of each kernel, where kernels of a group have the same amplitude at every z, and the
// number of groups.
func (p *prior) alike() (group []int, groups int) {
	J := len(p.factors)
	var first []int
	for j := range J {
		at := -1
		for g, i := range first {
			if p.mean[i] == p.mean[j] && slices.Equal(p.linear.Row(i), p.linear.Row(j)) && slices.Equal(p.factors[i], p.factors[j]) {
				at = g
				break
			}
		}
		if at < 0 {
			at = len(first)
			first = append(first, j)
		}
		group = append(group, at)
	}
	return group, len(first)
}
