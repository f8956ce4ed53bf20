package trees

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// block is a curve or a tree as a part of the heights: a sample has the height at a place, and for a curve a share of the next
// one.
type block struct {
	first, size int       // heights
	place       []uint8   // [sample]
	share       []float32 // [sample] of the next height, nil for a tree
}

// sums are what a fit needs of samples: with φ_i the shares of the heights in sample i,
//
//	Σ φ_i·φ_iᵀ,   Σ φ_i·y_i,   Σ y_i²   and their number.
type sums struct {
	n       int
	squares la.Matrix[float64] // the lower triangle
	targets []float64
	target  float64
}

// newSums returns sums of no samples for so many heights.
func newSums(heights int) *sums {
	return &sums{squares: la.NewMatrix[float64](heights, heights), targets: make([]float64, heights)}
}

// add adds the samples lo ≤ i < hi. The sums of two blocks are computed by one worker in the order of the samples.
func (s *sums) add(blocks []block, y []float64, lo, hi, workers int, stop *work.Stop) error {
	s.n += hi - lo
	for _, v := range y[lo:hi] {
		s.target += float64(v * v)
	}
	crew := work.NewCrew(workers, max(1, len(blocks)), func(int) *[]float64 { return new([]float64) })
	crew.Stop = stop
	return crew.First(len(blocks), func(scratch *[]float64, a int) error {
		s.addTargets(&blocks[a], y, lo, hi)
		for b := range blocks[:a+1] {
			s.addPair(&blocks[a], &blocks[b], lo, hi, scratch)
		}
		return nil
	})
}

func (s *sums) addTargets(a *block, y []float64, lo, hi int) {
	to := s.targets[a.first : a.first+a.size]
	for i := lo; i < hi; i++ {
		p := a.place[i]
		if a.share == nil {
			to[p] += y[i]
			continue
		}
		u := float64(float64(a.share[i]) * y[i])
		to[p] += y[i] - u
		to[p+1] += u
	}
}

// addPair adds products of the heights of two blocks, the later one first.
func (s *sums) addPair(a, b *block, lo, hi int, scratch *[]float64) {
	need := a.size * b.size
	if cap(*scratch) < need {
		*scratch = make([]float64, need)
	}
	t := (*scratch)[:need]
	clear(t)
	switch {
	case a.share == nil && b.share == nil:
		for i := lo; i < hi; i++ {
			t[int(a.place[i])*b.size+int(b.place[i])]++
		}
	case a.share == nil:
		for i := lo; i < hi; i++ {
			at := int(a.place[i])*b.size + int(b.place[i])
			u := float64(b.share[i])
			t[at] += 1 - u
			t[at+1] += u
		}
	default: // curves come first
		for i := lo; i < hi; i++ {
			at := int(a.place[i])*b.size + int(b.place[i])
			u, v := float64(a.share[i]), float64(b.share[i])
			t[at] += float64((1 - u) * (1 - v))
			t[at+1] += float64((1 - u) * v)
			t[at+b.size] += float64(u * (1 - v))
			t[at+b.size+1] += float64(u * v)
		}
	}
	for p := range a.size {
		row := s.squares.Row(a.first + p)
		for q := range min(b.size, a.first+p+1-b.first) {
			row[b.first+q] += t[p*b.size+q]
		}
	}
}
