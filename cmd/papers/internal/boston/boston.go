// Package boston holds the Boston housing data: 506 census tracts, 13 inputs and
// the median value of the homes in 1000 dollars, capped at 50. One input, black, is
// a function of the share of black people among the residents that its authors
// made to fit a claim about prejudice; the data serve here to repeat an experiment
// and nothing else. testdata/SOURCES.md at the root of the repository says where
// they are from.
package boston

import (
	"bytes"
	_ "embed"

	"github.com/bmkl/bmkl/cmd/internal/table"
)

//go:embed boston.csv
var file []byte

// Source returns the data as a file whose last column is the target.
func Source() (table.Source, error) {
	return table.New("boston.csv", bytes.NewReader(file), int64(len(file)), table.Options{})
}
