package table

import (
	"fmt"
	"io"
	"strings"

	"github.com/bmkl/bmkl/mkl/sequence"
)

// newFASTA reads a file of sequences, which has a row for each: its id, the rest of the line
// that names it, and its letters.
func newFASTA(name string, r io.Reader, _ int64, opt Options) (Source, error) {
	kept := &keptReader{room: room{most: opt.memory()}, r: &lineReader{r: r}, each: 3, line: 150} // a line may be all of a record
	records, err := sequence.ReadFASTA(kept)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "sequence: "))
	}
	s := &columnar{name: name, rows: len(records), columns: []string{"id", "description", "sequence"}, whole: true}
	s.keep(kept.taken)
	s.read = func(columns []*columnCells, _ int) error {
		for _, c := range columns {
			for _, record := range records {
				c.text([]string{record.ID, record.Description, record.Sequence}[c.column])
			}
		}
		return nil
	}
	return s, nil
}
