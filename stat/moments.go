package stat

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/bmkl/bmkl/la"
)

// Moments are the sums of a statistic as float64, possibly after linear maps of z. No method changes
// them.
type Moments struct {
	Views   []int   // number of entries of each view
	Outputs int     // number of targets of a sample
	Groups  []Group // one for each pattern of missing targets
}

// Group holds the sums over the samples with one pattern of missing targets. n is the number of
// entries, and P the number of views.
type Group struct {
	Observed []bool             // for each output: whether the samples have it
	Count    float64            // number of samples
	Sums     la.Matrix[float64] // T, n×n, both triangles; 0 for missing outputs
	Self     []float64          // P: Σ_i k_p(x_i, x_i) of the kernels, which no map changes

	// Scale is a magnitude for each of the n entries: the rounding error of T_ii is about
	// 2⁻⁵³·Scale_i². For sums of samples, Scale_i is √T_ii. After a map it is the root of the sum
	// of the squares of the map's terms, which is larger than √T_ii if they cancel.
	Scale []float64
}

// least is the smallest mean square of an entry that enters Scale. Sums are rounded to units of 2⁻⁷²,
// so that the products of smaller entries may have fewer correct bits than a float64.
const least = 0x1p-20

// Moments returns the sums, each rounded to the nearest float64. It returns an error if there are no
// samples.
func (s *Statistic) Moments() (*Moments, error) {
	if len(s.groups) == 0 {
		return nil, errors.New("stat: no samples")
	}
	n := s.layout.Entries()
	m := &Moments{Views: s.layout.clone().Views, Outputs: s.layout.Outputs}
	for _, g := range s.groups {
		to := Group{Count: float64(g.count), Sums: la.NewMatrix[float64](n, n)}
		for o := range s.layout.Outputs {
			to.Observed = append(to.Observed, g.observed&(1<<o) != 0)
		}
		for i := range n {
			for j, v := range g.sums[triangle(i):triangle(i+1)] {
				to.Sums.Row(i)[j] = v.float()
			}
		}
		to.Sums.MirrorLower()
		for i := range n {
			to.Scale = append(to.Scale, math.Sqrt(max(to.Sums.At(i, i), least*to.Count)))
		}
		for _, v := range g.self {
			to.Self = append(to.Self, v.float())
		}
		m.Groups = append(m.Groups, to)
	}
	return m, nil
}

// places returns the rows of the entries.
func (m *Moments) places() places { return newPlaces(m.Views, m.Outputs) }

// Samples returns the number of samples.
func (m *Moments) Samples() float64 {
	var n float64
	for _, g := range m.Groups {
		n += g.Count
	}
	return n
}

// ViewMean returns the D_p means of the entries of view p over all samples.
func (m *Moments) ViewMean(p int) []float64 {
	l := m.places()
	first, end := l.view(p)
	mean := make([]float64, end-first)
	for _, g := range m.Groups {
		la.Axpy(1/m.Samples(), g.Sums.Row(l.one)[first:end], mean)
	}
	return mean
}

// Target returns, for output o, the number n of observed values, their mean, and their standard
// deviation with denominator n−1. The mean is NaN if n = 0, and sd is NaN if n < 2.
func (m *Moments) Target(o int) (n, mean, sd float64) {
	l := m.places()
	var sum, square float64
	for _, g := range m.Groups {
		if g.Observed[o] {
			n += g.Count
			sum += g.Sums.At(l.output(o), l.one)
			square += g.Sums.At(l.output(o), l.output(o))
		}
	}
	mean = sum / n
	if n < 2 {
		return n, mean, math.NaN()
	}
	return n, mean, math.Sqrt(max(0, square-float64(sum*mean)) / (n - 1))
}

// TraceError returns the share of the trace of view p's kernel matrix over the samples that the
// landmarks do not represent,
//
//	tr(K − K̂)/tr K = 1 − Σ_i |by·k_{p,i}|² / Σ_i k_p(x_i, x_i),
//
// where by is the r×D_p map [Features.By] of [Whiten], and K̂ is the kernel matrix of the mapped
// entries. The share is between 0 and 1, up to rounding. m must be the moments of the kernels, before
// any map. It returns an error if p or the shape of by does not fit.
func (m *Moments) TraceError(ws *la.Workspace, p int, by la.Matrix[float64]) (float64, error) {
	if p < 0 || p >= len(m.Views) {
		return 0, fmt.Errorf("stat: TraceError: view %d of %d", p, len(m.Views))
	}
	if by.Cols != m.Views[p] {
		return 0, fmt.Errorf("stat: TraceError: a map of %d entries where view %d has %d", by.Cols, p, m.Views[p])
	}
	first, end := m.places().view(p)
	var within, self float64
	half := la.NewMatrix[float64](by.Rows, by.Cols)
	for _, g := range m.Groups {
		la.Gemm(ws, la.NoTrans, la.NoTrans, 1, by, g.Sums.Slice(first, end, first, end), 0, half)
		for i := range by.Rows {
			within += la.Dot(half.Row(i), by.Row(i))
		}
		self += g.Self[p]
	}
	return 1 - within/self, nil
}

// pattern returns the observed outputs of a group as bits.
func (g Group) pattern() (b uint64) {
	for o, seen := range g.Observed {
		if seen {
			b |= bits.RotateLeft64(1, o)
		}
	}
	return b
}
