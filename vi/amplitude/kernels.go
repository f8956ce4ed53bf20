package amplitude

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// Kernels are J symmetric kernels of N samples, scaled to a mean diagonal of 1. Of each kernel the
// lower triangle is kept as one row of a matrix, so that a sum of kernels and all inner products
// with them are one pass over memory. Kernels are immutable and safe for concurrent use.
type Kernels struct {
	n     int
	whole la.Matrix[float64] // J×N(N+1)/2; empty if rounded
	half  la.Matrix[float32] // the same, rounded
	unit  []float64          // N/tr K_j of the kernels that were given

	// rounding[j] is the Frobenius norm of what rounding has taken from kernel j.
	rounding []float64
}

// Pack returns the kernels k, which must be square and symmetric and have positive traces. Only
// their lower triangles are read. With rounded they are kept in float32, which halves memory and
// time; [Fit.Rounding] bounds what that does to the evidence.
func Pack(k vi.Kernels, rounded bool) (*Kernels, error) {
	if k == nil {
		return nil, fmt.Errorf("vi: kernels: nil")
	}
	J, D, N := k.Dims()
	if D != N {
		return nil, fmt.Errorf("vi: kernels: %d×%d where square ones are needed", D, N)
	}
	p := newKernels(J, N, rounded)
	const block = 64
	columns := la.NewMatrix[float64](min(block, N), N)
	packed := make([]float64, size(N))
	for j := range J {
		var trace float64
		for first := 0; first < N; first += block {
			rows := min(block, N-first)
			k.Columns(j, first, columns.Slice(0, rows, 0, N))
			for i := range rows {
				row := columns.Row(i)[:first+i+1] // column first+i of a symmetric matrix is its row
				if l := check.NonFinite(row); l >= 0 {
					return nil, fmt.Errorf("vi: kernel %d: entry (%d, %d) is %g", j, first+i, l, row[l])
				}
				copy(packed[size(first+i):], row)
				trace += row[first+i]
			}
		}
		if err := p.set(j, packed, trace); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// size returns the number of elements of a triangle of order n, which is the place of row n.
func size(n int) int { return n * (n + 1) / 2 }

func newKernels(J, n int, rounded bool) *Kernels {
	p := &Kernels{n: n, unit: make([]float64, J), rounding: make([]float64, J)}
	if rounded {
		p.half = la.NewMatrix[float32](J, size(n))
	} else {
		p.whole = la.NewMatrix[float64](J, size(n))
	}
	return p
}

// set stores kernel j, which it scales.
func (p *Kernels) set(j int, packed []float64, trace float64) error {
	if !(trace > 0) || math.IsInf(trace, 1) {
		return vi.NewKernelError(j, "its trace is %g: it must be positive", trace)
	}
	unit := float64(p.n) / trace
	la.Scal(unit, packed)
	p.unit[j] = unit
	p.store(j, packed)
	return nil
}

// store keeps the packed kernel j, and in rounding[j] what that takes from it.
func (p *Kernels) store(j int, packed []float64) {
	if !p.rounded() {
		copy(p.whole.Row(j), packed)
		return
	}
	row := p.half.Row(j)
	var lost float64
	for i := range p.n {
		for at := size(i); at < size(i+1); at++ {
			row[at] = float32(packed[at])
			d := packed[at] - float64(row[at])
			if at < size(i+1)-1 {
				d *= math.Sqrt2
			}
			lost += float64(d * d)
		}
	}
	p.rounding[j] = math.Sqrt(lost)
}

// Dims returns the number of kernels and the number of samples.
func (p *Kernels) Dims() (J, N int) { return len(p.unit), p.n }

// Units returns what each kernel that was given was multiplied by: N/tr K_j.
func (p *Kernels) Units() []float64 { return p.unit }

func (p *Kernels) rounded() bool { return p.half.Rows > 0 }

// sum stores Σ_j weight[j]·K_j, packed.
func (p *Kernels) sum(w *la.Workspace, weight, packed []float64) {
	clear(packed)
	p.add(w, weight, packed)
}

// add adds Σ_j weight[j]·K_j to packed, kernel after kernel.
func (p *Kernels) add(w *la.Workspace, weight, packed []float64) {
	switch {
	case len(p.unit) == 0:
	case p.rounded():
		la.GemvMixed(w, la.Transpose, 1, p.half, weight, 1, packed)
	default:
		la.Gemv(w, la.Transpose, 1, p.whole, weight, 1, packed)
	}
}

// inner stores ⟨Q, K_j⟩ in dst[j], where the off-diagonal elements of the packed Q count twice.
func (p *Kernels) inner(w *la.Workspace, doubled, dst []float64) {
	switch {
	case len(p.unit) == 0:
	case p.rounded():
		la.GemvMixed(w, la.NoTrans, 1, p.half, doubled, 0, dst)
	default:
		la.Gemv(w, la.NoTrans, 1, p.whole, doubled, 0, dst)
	}
}

// some returns kernels first to end, sharing memory.
func (p *Kernels) some(first, end int) *Kernels {
	s := &Kernels{n: p.n, unit: p.unit[first:end], rounding: p.rounding[first:end]}
	if p.rounded() {
		s.half = p.half.Slice(first, end, 0, p.half.Cols)
	} else {
		s.whole = p.whole.Slice(first, end, 0, p.whole.Cols)
	}
	return s
}

// part returns the kernels of some samples, in ascending order, centred and scaled anew. A kernel that does not vary among them is 0.
func (p *Kernels) part(rows []int) *Kernels {
	n := len(rows)
	out := newKernels(len(p.unit), n, p.rounded())
	packed, mean := make([]float64, size(n)), make([]float64, n)
	for j := range p.unit {
		at := func(i int) float64 { return p.whole.Row(j)[i] }
		if p.rounded() {
			at = func(i int) float64 { return float64(p.half.Row(j)[i]) }
		}
		clear(mean)
		for i, r := range rows {
			for k, c := range rows[:i+1] {
				v := at(size(r) + c)
				packed[size(i)+k] = v
				mean[i] += v
				if k < i {
					mean[k] += v
				}
			}
		}
		var all, trace float64
		for i := range mean {
			mean[i] /= float64(n)
			all += mean[i] / float64(n)
		}
		for i := range rows {
			for k := range rows[:i+1] {
				packed[size(i)+k] += all - (mean[i] + mean[k])
			}
			trace += packed[size(i+1)-1]
		}
		out.unit[j] = 1
		if trace > leastVariance*float64(n) {
			out.unit[j] = float64(n) / trace
		} else {
			clear(packed)
		}
		la.Scal(out.unit[j], packed)
		out.store(j, packed)
	}
	return out
}

// merge returns the sum of the kernels of each group. The sums have no units.
func (p *Kernels) merge(w *la.Workspace, group []int, groups int) *Kernels {
	out := newKernels(groups, p.n, p.rounded())
	member, packed := make([]float64, len(group)), make([]float64, size(p.n))
	for g := range groups {
		var before float64
		for j, of := range group {
			member[j] = 0
			if of == g {
				member[j] = 1
				before += p.rounding[j]
			}
		}
		p.sum(w, member, packed)
		out.store(g, packed)
		out.rounding[g] += before
	}
	return out
}

// unpack stores the packed triangle plus one in the lower triangle of m, and adds d to the diagonal.
func unpack(packed []float64, one, d float64, m la.Matrix[float64]) {
	for i := range m.Rows {
		row := m.Row(i)[:i+1]
		for k, v := range packed[size(i):size(i+1)] {
			row[k] = v + one
		}
		row[i] += d
	}
}

// pack stores the lower triangle of m, its off-diagonal elements doubled.
func pack(m la.Matrix[float64], doubled []float64) {
	for i := range m.Rows {
		row, dst := m.Row(i)[:i+1], doubled[size(i):size(i+1)]
		for k, v := range row {
			dst[k] = 2 * v
		}
		dst[i] = row[i]
	}
}

// Sum returns Σ_j amplitudes[j]·K_j, of J kernels with a mean diagonal of 1.
func (p *Kernels) Sum(amplitudes []float64, workers int) la.Matrix[float64] {
	packed := make([]float64, size(p.n))
	p.sum(&la.Workspace{Workers: workers}, amplitudes, packed)
	m := la.NewMatrix[float64](p.n, p.n)
	unpack(packed, 0, 0, m)
	m.MirrorLower()
	return m
}
