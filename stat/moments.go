package stat

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/bmkl/bmkl/la"
)

// Moments are the sums of a statistic as float64, perhaps after linear maps of z. They are
// not changed by any method.
type Moments struct {
	Views   []int   // entries of each
	Outputs int     // targets of a sample
	Groups  []Group // one for each pattern of missing targets that occurs
}

// Group is the sums over the samples of a pattern of missing targets.
type Group struct {
	Observed []bool             // of each output
	Count    float64            // samples
	Sums     la.Matrix[float64] // T, symmetric; 0 for outputs that are missing
	Self     []float64          // P, Σ k_p(x_i, x_i): of the kernels, whatever the map

	// Scale is, for each entry, the root of what the rounding of Σ z² is a share of 2⁻⁵³ of:
	// of sums that of Σ z² itself, of a map's that of the sum of the squares of its terms,
	// which may cancel.
	Scale []float64
}

// least is the mean square below which an entry counts as if it had that. Sums are rounded
// to units of 2⁻⁷², which of the products of smaller entries may leave too few of the 53
// digits of a float64.
const least = 0x1p-20

// Moments returns the sums, each rounded to the nearest float64. It is an error if there is
// no sample.
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

// places returns where the entries are.
func (m *Moments) places() places { return newPlaces(m.Views, m.Outputs) }

// Samples returns the number of samples.
func (m *Moments) Samples() float64 {
	var n float64
	for _, g := range m.Groups {
		n += g.Count
	}
	return n
}

// ViewMean returns the mean of the entries of view p over all samples.
func (m *Moments) ViewMean(p int) []float64 {
	l := m.places()
	first, end := l.view(p)
	mean := make([]float64, end-first)
	for _, g := range m.Groups {
		la.Axpy(1/m.Samples(), g.Sums.Row(l.one)[first:end], mean)
	}
	return mean
}

// Target returns of output o the number of observed values, their mean, and their standard
// deviation, with n−1 in the denominator; NaN where there are too few.
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

// TraceError returns the share of the kernel of view p, in terms of its trace over the
// samples, that is beyond the span of the landmarks, given the map by that makes them
// orthonormal (see [Whiten]): with E = K − K̂ the kernel that the landmarks cannot
// represent,
//
//	tr E / tr K = 1 − Σ_i |by·k_{p,i}|² / Σ_i k_p(x_i, x_i).
//
// It is between 0 and 1 but for rounding. The moments are those of the kernels, before any
// map.
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
