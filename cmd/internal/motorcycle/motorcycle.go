// Package motorcycle holds the Motorcycle data: head acceleration in simulated
// motorcycle accidents, 133 rows of time after impact in milliseconds and
// acceleration in g; 94 of the times are distinct. testdata/SOURCES.md at the
// root of the repository says where it is from.
package motorcycle

import (
	"bytes"
	_ "embed"

	"github.com/bmkl/bmkl/cmd/internal/table"
)

// The Gaussian kernels that M. Gönen (2012) learned these data by have the widths
// 2^MinExponent … 2^MaxExponent on times of mean 0 and deviation 1.
const MinExponent, MaxExponent = -10, 10

//go:embed mcycle.csv
var file []byte

// Data returns times and accelerations in the order of the file, which is that
// of time.
func Data() (times, accel []float64, err error) {
	s, err := table.New("mcycle.csv", bytes.NewReader(file), int64(len(file)), table.Options{})
	if err != nil {
		return nil, nil, err
	}
	d, err := table.Read(s, []table.Want{{Column: 0}, {Column: 1}})
	return d.Numbers[0], d.Numbers[1], err
}
