package dataset

import (
	"fmt"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
)

// Shortfall counts what is wrong with rows, over one block of rows after another. The zero value has seen no row.
type Shortfall struct {
	Rows    int
	Missing int   // rows in which something is missing
	First   error // what is missing in the first of them

	unknown map[string]plan.Count // by column, cells of categories that the fit had not seen
	filled  map[string]int        // by column that had a value in every row of the fit, cells that were filled in
	outside map[string]plan.Count // by column, cells far outside of the values of the fit
}

// AddCells adds the cells, by column, that the fit had not seen: unknown categories, gaps that
// were filled in, and values far outside.
func (s *Shortfall) AddCells(e plan.Encoded) {
	for column, n := range e.Filled {
		if s.filled == nil {
			s.filled = map[string]int{}
		}
		s.filled[column] += n
	}
	s.unknown = addCounts(s.unknown, e.Unknown)
	s.outside = addCounts(s.outside, e.Outside)
}

// addCounts adds counts by column; the first cell of a sum is the one that came first.
func addCounts(sum, more map[string]plan.Count) map[string]plan.Count {
	for column, n := range more {
		if sum == nil {
			sum = map[string]plan.Count{}
		}
		all, ok := sum[column]
		if !ok {
			all.First = n.First
		}
		all.Cells += n.Cells
		sum[column] = all
	}
	return sum
}

// Warn says on standard error how many rows could not be done, such as predicted, and which cells are
// unlike the cells of the fit, in the order of the plans. The error is that no row could be done.
func (s *Shortfall) Warn(e *console.Env, plans [][]plan.Column, done string) error {
	for _, columns := range plans {
		for _, column := range columns {
			if n := s.unknown[column.Name]; n.Cells > 0 {
				fmt.Fprintf(e.Stderr, "mkl: warning: column %s: %s of categories that the fit had not seen, the first %q: they count as none\n",
					column.Name, console.Plural(n.Cells, "cell"), n.First)
			}
			if n := s.filled[column.Name]; n > 0 {
				fmt.Fprintf(e.Stderr, "mkl: warning: column %s: %s without a value that can be read, where the fit had none: filled in with %s\n",
					column.Name, console.Plural(n, "cell"), column.Filling())
			}
			if n := s.outside[column.Name]; n.Cells > 0 {
				fmt.Fprintf(e.Stderr, "mkl: warning: column %s: %s far outside of the fit (%s … %s), the first %s: predictions there are guesses\n",
					column.Name, console.Plural(n.Cells, "cell"), column.Type.Text(column.Range[0]), column.Type.Text(column.Range[1]), n.First)
			}
		}
	}
	if s.Rows > 0 && s.Missing == s.Rows {
		return console.Inputf("none of %s can be %s: %w", console.Plural(s.Rows, "row"), done, s.First)
	}
	if s.Missing > 0 {
		fmt.Fprintf(e.Stderr, "mkl: warning: %d of %s cannot be %s, the first: %v\n", s.Missing, console.Plural(s.Rows, "row"), done, s.First)
	}
	return nil
}
