package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Exact posteriors and samplers are calibrated: the places of the truth are uniform. The probability of a deviation comes
// from the exact null distribution, and the seed is fixed.
func TestExactPosteriorsAreCalibrated(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates for half a minute")
	}
	for _, s := range studies {
		if !s.exact {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			require.Positive(t, s.small)
			out, err := s.run(t.Context(), 1, s.small, 1)
			require.NoError(t, err)
			for _, o := range out {
				assert.Greater(t, pValue(o.places), 1e-3, o.name)
			}
		})
	}
}

// The picture of a study is well-formed.
func TestPicture(t *testing.T) {
	s := study{name: "a", about: "a < b"}
	d := xml.NewDecoder(strings.NewReader(s.picture([]outcome{{name: "x & y", places: []float64{0.1, 0.5, 0.51, 0.9}}})))
	paths := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "path" {
			paths++
		}
	}
	assert.Equal(t, 2, paths)
}
