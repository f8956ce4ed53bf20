package plan

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/table"
)

// ofNewValue is the novelty of a text that the samples of the plan did not have, and of another number where they had only one.
const ofNewValue = 1

// Novelty is how far cells of a column are beyond the samples of the plan: numbers in widths of the samples' range, 0 inside; a
// text that they did not have counts 1, and so does another number where all samples have the same. It is 0 where a cell is missing.
func Novelty(c Column, at int, d *table.Data) []float64 {
	out := make([]float64, d.Rows)
	switch {
	case c.Words != nil: // new prose is no novelty
	case c.Type == table.Text:
		for i, cell := range d.Labels[at] {
			if cell != "" && !slices.Contains(c.Categories, cell) {
				out[i] = ofNewValue
			}
		}
	case c.Range != nil:
		low, high := c.Range[0], c.Range[1]
		for i, v := range d.Numbers[at] {
			switch beyond := max(low-v, v-high); {
			case !(beyond > 0):
			case low == high:
				out[i] = ofNewValue
			default:
				out[i] = min(beyond/(high-low), math.MaxFloat64)
			}
		}
	}
	return out
}
