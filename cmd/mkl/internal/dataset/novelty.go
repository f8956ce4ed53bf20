package dataset

import "github.com/bmkl/bmkl/cmd/mkl/internal/plan"

// Novelty returns the largest novelty of each row's cells ([plan.Novelty]).
func (in *Inputs) Novelty() []float64 {
	var all []float64
	for _, one := range in.all {
		for k, c := range one.plan {
			d := &one.File.Data
			if all == nil {
				all = make([]float64, d.Rows)
			}
			for i, v := range plan.Novelty(c, one.Columns[k], d) {
				all[i] = max(all[i], v)
			}
		}
	}
	return all
}
