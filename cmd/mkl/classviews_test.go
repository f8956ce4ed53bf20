package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// mkl predict -views writes what views add to the log odds of classes; they add up to the log odds of one member. The report has tables of chosen rows.
func TestViewsOfClasses(t *testing.T) {
	command(t, map[string]string{"f.csv": flowers()}, "")
	output(t, "fit f.csv -target species -model mgp -view first=x:rbf -view second=z:rbf -o m")
	output(t, "fit f.csv -target species -view first=x -view second=z -o pool")
	status, _, stderr := command(t, nil, "", strings.Fields("fit f.csv -target species -view first=x -view second=z -view-group both=first,third")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `-view-group both=first,third: there is no view "third" (first and second)`)
	assert.Contains(t, output(t, "fit f.csv -target species -view first=x -view second=z -view-group alone=second -o g"), "group alone")
	assert.Contains(t, output(t, "inspect g -json"), `"groups": [`)
	var rows, pooled []map[string]any
	require.NoError(t, json.Unmarshal([]byte(output(t, "predict m f.csv -views -json")), &rows))
	require.NoError(t, json.Unmarshal([]byte(output(t, "predict pool f.csv -views -json")), &pooled))
	var classes []string
	for name := range rows[0] {
		if class, ok := strings.CutPrefix(name, "p_"); ok {
			classes = append(classes, class)
		}
	}
	require.Len(t, classes, 3)
	for i, row := range rows {
		number := func(row map[string]any, name string) float64 {
			require.Contains(t, row, name)
			return row[name].(float64)
		}
		var pool float64
		for _, class := range classes {
			odds := 0.0
			for _, other := range classes {
				if log := math.Log(number(row, "p_"+other)); other == class {
					odds += log
				} else {
					odds -= log / 2
				}
			}
			assert.InDelta(t, odds, number(row, "constant_"+class)+number(row, "view_first_"+class)+number(row, "view_second_"+class), 1e-6, "row %d, class %s", i, class)
			assert.Positive(t, number(row, "view_first_"+class+"_sd"))
			pool += number(pooled[i], "constant_"+class) + number(pooled[i], "view_first_"+class) + number(pooled[i], "view_second_"+class)
		}
		assert.InDelta(t, 0, pool, 1e-6)
	}

	output(t, "report pool -data f.csv -explain 3,1 -o page.html")
	html, err := os.ReadFile("page.html")
	require.NoError(t, err)
	page := string(html)
	assert.Contains(t, page, "What views add to chosen rows")
	assert.Less(t, strings.Index(page, "Row 3: "), strings.Index(page, "Row 1: "))
	for args, want := range map[string]string{
		"-explain 0": "-explain 0: f.csv has the rows 1 to", "-explain 9999": "-explain 9999: f.csv has the rows 1 to",
	} {
		status, _, stderr := command(t, nil, "", append(strings.Fields("report pool -data f.csv -o page.html"), strings.Fields(args)...)...)
		assert.Equal(t, console.StatusInput, status)
		assert.Contains(t, stderr, want)
	}

	output(t, "fit f.csv -target species -model probit -view first=x:rbf -view second=z:rbf -sweeps 5 -o probit")
	status, _, stderr = command(t, nil, "", strings.Fields("predict probit f.csv -views")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "the predictions are no sum over views")
}
