package sequence

// scoring holds the scores of pairs of letters and the costs of gaps.
type scoring struct {
	letters int
	pair    []int32 // (letters+1)×(letters+1), the last row and column for unknown letters
	gaps    Gaps
}

func newScoring(a Alphabet, g Gaps) scoring {
	n := a.size()
	s := scoring{letters: n, pair: make([]int32, (n+1)*(n+1)), gaps: g.or(10, 1)}
	if a == Protein {
		s.gaps = g.or(11, 1)
	}
	for i := range n + 1 {
		for j := range n + 1 {
			v := int32(-4)
			switch {
			case i == n || j == n:
				v = -1
			case a == Protein:
				v = blosum62[i][j]
			case i == j:
				v = 5
			}
			s.pair[i*(n+1)+j] = v
		}
	}
	return s
}

func (s scoring) score(a, b uint16) int32 { return s.pair[int(a)*(s.letters+1)+int(b)] }

// profile holds, for each letter that x is compared with, a value for that letter and
// each letter of x. The loop over x then needs one load instead of two.
type profile[T any] struct {
	rows [][]T // by letter; nil until it is needed
	x    []uint16
	of   func(a, b uint16) T
}

func (p *profile[T]) begin(x []uint16) {
	p.x = x
	for i := range p.rows {
		p.rows[i] = p.rows[i][:0]
	}
}

func (p *profile[T]) row(letter uint16) []T {
	r := p.rows[letter]
	if len(r) == len(p.x) {
		return r
	}
	for _, c := range p.x {
		r = append(r, p.of(c, letter))
	}
	p.rows[letter] = r
	return r
}
