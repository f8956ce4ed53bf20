package mkl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/la"
)

// sight is what a kernel sees of a sample.
type sight struct {
	columns     []int // nil for all
	standardize bool
	ranks       bool
}

func (s sight) equal(o sight) bool {
	return s.standardize == o.standardize && s.ranks == o.ranks &&
		(s.columns == nil) == (o.columns == nil) && slices.Equal(s.columns, o.columns)
}

// cols returns how many of d columns are seen.
func (s sight) cols(d int) int {
	if s.columns == nil {
		return d
	}
	return len(s.columns)
}

// check reports a sight that is not of samples of d features.
func (s sight) check(d int) error {
	if s.columns != nil && len(s.columns) == 0 {
		return fmt.Errorf("Columns is empty: nil stands for all")
	}
	used := make(map[int]bool, len(s.columns)) // d may be any number of a file
	for i, c := range s.columns {
		switch {
		case c < 0 || c >= d:
			return fmt.Errorf("Columns[%d] is %d, and X has %d columns", i, c, d)
		case used[c]:
			return fmt.Errorf("Columns[%d] is %d a second time", i, c)
		}
		used[c] = true
	}
	if s.ranks && s.standardize {
		return fmt.Errorf("Ranks and Standardize exclude each other")
	}
	return nil
}

// String says what is seen, for the name of a view that has none: nothing for
// whole samples, standardised or not. Columns are counted from 1.
func (s sight) String() string {
	var b strings.Builder
	if s.ranks {
		b.WriteString(" of ranks")
	}
	const most = 8
	for i, c := range s.columns {
		if i == most {
			fmt.Fprintf(&b, ",… (%d columns)", len(s.columns))
			break
		}
		b.WriteString([]string{" of #", ",#"}[min(i, 1)])
		b.WriteString(strconv.Itoa(c + 1))
	}
	return b.String()
}

// seen returns x as kernels see it, divided by their widths. If that is x, it is
// not copied.
func (in *input) seen(x Features, s sight, widths []float64) Features {
	if s.equal(sight{}) && widths == nil {
		return x
	}
	z := la.NewMatrix[float64](x.Rows, s.cols(x.Cols))
	for i := range z.Rows {
		in.see(z.Row(i), x.Row(i), s, widths)
	}
	return z
}

// see is seen for one sample x, and stores it in z.
func (in *input) see(z, x []float64, s sight, widths []float64) {
	if s.columns == nil {
		copy(z, x)
	}
	for j, c := range s.columns {
		z[j] = x[c]
	}
	for j := range z {
		c := j
		if s.columns != nil {
			c = s.columns[j]
		}
		switch {
		case s.standardize:
			z[j] = (z[j] - in.mean[c]) / in.sd[c]
		case s.ranks:
			z[j] = in.ranks.of(c, z[j])
		}
		if widths != nil {
			z[j] /= widths[j]
		}
	}
}
