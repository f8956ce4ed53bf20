package gram

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/la"
)

// Sight is the part of a sample that a kernel sees.
type Sight struct {
	Columns     []int // nil for all
	Standardize bool
	Ranks       bool
}

// Equal reports whether two sights are the same.
func (s Sight) Equal(o Sight) bool {
	return s.Standardize == o.Standardize && s.Ranks == o.Ranks &&
		(s.Columns == nil) == (o.Columns == nil) && slices.Equal(s.Columns, o.Columns)
}

// clone returns a copy with columns of its own.
func (s Sight) clone() Sight {
	s.Columns = slices.Clone(s.Columns)
	return s
}

// Cols returns how many of d columns are seen.
func (s Sight) Cols(d int) int {
	if s.Columns == nil {
		return d
	}
	return len(s.Columns)
}

// Check returns an error if the sight cannot be one of samples with d features.
func (s Sight) Check(d int) error {
	if s.Columns != nil && len(s.Columns) == 0 {
		return fmt.Errorf("Columns is empty: nil stands for all")
	}
	used := make(map[int]bool, len(s.Columns)) // d may be any number that a file claims
	for i, c := range s.Columns {
		switch {
		case c < 0 || c >= d:
			return fmt.Errorf("Columns[%d] is %d, and X has %d columns", i, c, d)
		case used[c]:
			return fmt.Errorf("Columns[%d] is %d a second time", i, c)
		}
		used[c] = true
	}
	if s.Ranks && s.Standardize {
		return fmt.Errorf("Ranks and Standardize exclude each other")
	}
	return nil
}

// String describes the sight, for the name of a view without a name. It is empty for
// whole samples, standardised or not. Columns are counted from 1.
func (s Sight) String() string {
	var b strings.Builder
	if s.Ranks {
		b.WriteString(" of ranks")
	}
	const most = 8
	for i, c := range s.Columns {
		if i == most {
			fmt.Fprintf(&b, ",… (%d columns)", len(s.Columns))
			break
		}
		b.WriteString([]string{" of #", ",#"}[min(i, 1)])
		b.WriteString(strconv.Itoa(c + 1))
	}
	return b.String()
}

// Seen returns x as kernels see it, divided by their widths. It does not copy x if nothing
// changes.
func (in *Input) Seen(x la.Matrix[float64], s Sight, widths []float64) la.Matrix[float64] {
	if s.Equal(Sight{}) && widths == nil {
		return x
	}
	z := la.NewMatrix[float64](x.Rows, s.Cols(x.Cols))
	for i := range z.Rows {
		in.see(z.Row(i), x.Row(i), s, widths)
	}
	return z
}

// farthest is the largest standardised feature. A new sample farther away is seen at this distance: squares and low powers of it
// are numbers, so that one such sample has a prediction, if a wild one, and does not end the predictions of the others.
const farthest = 1e30

// see is Seen for one sample x. It stores the result in z.
func (in *Input) see(z, x []float64, s Sight, widths []float64) {
	if s.Columns == nil {
		copy(z, x)
	}
	for j, c := range s.Columns {
		z[j] = x[c]
	}
	for j := range z {
		c := j
		if s.Columns != nil {
			c = s.Columns[j]
		}
		switch {
		case s.Standardize:
			z[j] = min(max((z[j]-in.Mean[c])/in.SD[c], -farthest), farthest)
		case s.Ranks:
			z[j] = in.Ranks.of(c, z[j])
		}
		if widths != nil {
			z[j] /= widths[j]
		}
	}
}
