package evaluation

import (
	"fmt"
	"io"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
)

// Fifths is the coverage of the intervals of a target, by fifths of the predictions.
type Fifths struct {
	Target string          `json:"target"`
	Parts  []measure.Fifth `json:"parts"`
}

// printFifths prints the coverage by fifths of the prediction, and warns where it fails.
func (ev *Evaluation) printFifths(out io.Writer) error {
	for _, f := range ev.Fifths {
		fmt.Fprintln(out)
		rows := [][]string{{"predicted " + console.ColumnName(f.Target), "samples", "coverage"}}
		fails := 0
		for _, part := range f.Parts {
			rows = append(rows, []string{
				fmt.Sprintf("%s … %s", console.Figure(part.From), console.Figure(part.To)), fmt.Sprint(part.Count), console.Figure(part.Coverage),
			})
			if part.Fails(ev.interval) {
				fails++
			}
		}
		if err := console.PrintTable(out, "lrr", rows); err != nil {
			return err
		}
		if fails > 0 {
			fmt.Fprintf(out, "warning: in %d of %d fifths of the predictions the %g %% interval does not hold its share: the noise is not the same everywhere\n",
				fails, len(f.Parts), 100*ev.interval)
		}
	}
	return nil
}
