package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDrawMeasured parses a picture and counts its points, which fall with the error.
func TestDrawMeasured(t *testing.T) {
	all, err := readMeasured(strings.NewReader("samples,limit,rmse\n1000,0,0.4\n1000000,0,0.11\n1000000,15,0.2\n"))
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, drawMeasured(&b, all, 0.1))
	d := xml.NewDecoder(strings.NewReader(b.String()))
	var at []float64
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "circle" {
			y, err := strconv.ParseFloat(e.Attr[3].Value, 64)
			require.NoError(t, err)
			at = append(at, y)
		}
	}
	require.Len(t, at, 3)
	assert.Less(t, at[0], at[2], "the larger error is higher")
	assert.Less(t, at[2], at[1])
}

func TestReadMeasuredRejects(t *testing.T) {
	for _, c := range []struct{ table, want string }{
		{"", "no rows"},
		{"samples,limit\n1,2\n", "line 2: 2 columns"},
		{"samples,limit,rmse\n1,2,x\n", "line 2"},
		{"samples,limit,rmse\n0,2,1\n", "line 2: samples and rmse must be positive"},
	} {
		_, err := readMeasured(strings.NewReader(c.table))
		assert.ErrorContains(t, err, c.want)
	}
}

func TestDrawRejectsNoNoise(t *testing.T) {
	assert.ErrorContains(t, draw("figures.csv", "figures.svg", 0), "-noise 0: ")
}
