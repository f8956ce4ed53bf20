package dataset

import (
	"fmt"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
)

// clearlyBeyond is the novelty above which a number is warned of. New samples of the same source are often a little beyond
// the range of the samples before.
const clearlyBeyond = 0.1

// Novelty returns the largest novelty of each row's cells ([plan.Novelty]), and says on standard error in which columns numbers are
// clearly beyond what the fit has seen.
func (in *Inputs) Novelty(e *console.Env) []float64 {
	var all []float64
	warned := map[string]bool{}
	for _, one := range in.all {
		for k, c := range one.plan {
			d := &one.File.Data
			if all == nil {
				all = make([]float64, d.Rows)
			}
			count, first := 0, -1
			for i, v := range plan.Novelty(c, one.Columns[k], d) {
				all[i] = max(all[i], v)
				if v > clearlyBeyond {
					if count++; first < 0 {
						first = i
					}
				}
			}
			if count == 0 || c.Type == table.Text || warned[c.Name] { // of new text there is a warning already
				continue
			}
			warned[c.Name] = true
			fmt.Fprintf(e.Stderr, "mkl: warning: column %s: %s beyond the range of the fit, %s to %s, the first %s: predictions there are guesses\n",
				c.Name, console.Plural(count, "number"), console.Figure(c.Range[0]), console.Figure(c.Range[1]), console.Figure(d.Numbers[one.Columns[k]][first]))
		}
	}
	return all
}
