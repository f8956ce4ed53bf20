package sequence

import "context"

func (k Alignment) values(ctx context.Context, t *task) error {
	return t.compare(ctx, func() comparison { return newBestAlignment(newScoring(t.alphabet, k.Gaps)) })
}

func (k Pairwise) values(ctx context.Context, t *task) error {
	return Alignment(k).values(ctx, t)
}

// bestAlignment computes the score of the best local alignment. H(i,j) is the best score of an alignment that
// ends at letters i of x and j of y; E and F are the best of those that end with a gap in x and in y:
//
//	H(i,j) = max(0, H(i−1,j−1) + score(i,j), E(i,j), F(i,j))
//	E(i,j) = max(H(i,j−1) − Open, E(i,j−1) − Extend)
//	F(i,j) = max(H(i−1,j) − Open, F(i−1,j) − Extend).
type bestAlignment struct {
	scores       profile[int32]
	open, extend int32
	cells        []alignmentCell
}

// alignmentCell is the state that the next letter of y needs for a letter of x.
type alignmentCell struct{ h, e int32 }

func newBestAlignment(s scoring) *bestAlignment {
	return &bestAlignment{
		scores: profile[int32]{rows: make([][]int32, s.letters+1), of: s.score},
		open:   int32(s.gaps.Open), extend: int32(s.gaps.Extend),
	}
}

func (b *bestAlignment) begin(x []uint16) {
	b.scores.begin(x)
	b.cells = append(b.cells[:0], make([]alignmentCell, len(x))...)
}

func (b *bestAlignment) with(y []uint16) float64 {
	clear(b.cells)
	open, extend := b.open, b.extend
	var best int32
	for _, letter := range y {
		scores := b.scores.row(letter)
		cells := b.cells[:len(scores)]
		var diagonal, f int32
		for i, score := range scores {
			c := &cells[i]
			h := max(diagonal+score, c.e, f, 0)
			best = max(best, h)
			diagonal = c.h
			c.h = h
			h -= open
			c.e = max(c.e-extend, h)
			f = max(f-extend, h)
		}
	}
	return float64(best)
}
