package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl/record"
)

// TestDates learns a target that rises, has a season and falls on Sundays: from the dates alone the command says all three, and records
// predict with the same bits. -dates trend keeps the days.
func TestDates(t *testing.T) {
	var fit, fresh strings.Builder
	fit.WriteString("day,y\n")
	fresh.WriteString("day,y\n")
	var days []string
	var truth []float64
	for i := range 800 {
		when := time.Date(2021, 3, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		y := 0.002*float64(i) + math.Sin(2*math.Pi*float64(when.YearDay())/365.25)
		if when.Weekday() == time.Sunday {
			y -= 2
		}
		line := fmt.Sprintf("%s,%.4f\n", when.Format("2006-01-02"), y+0.05*math.Sin(float64(i*i)))
		if i%8 == 0 && i < 700 {
			fit.WriteString(line)
		} else if i%100 == 57 {
			fresh.WriteString(line)
			days, truth = append(days, when.Format("2006-01-02")), append(truth, y)
		}
	}
	command(t, map[string]string{"d.csv": fit.String(), "e.csv": fresh.String()}, "")
	status, _, stderr := command(t, nil, "", strings.Fields("fit d.csv -target y -model mgp -dates trend -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "day is a date: days since 1970\n")

	status, _, stderr = command(t, nil, "", strings.Fields("fit d.csv -target y -model mgp -view day:rbf -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "day is a date: days since 1970\n", "kernels that are named see the days alone")

	status, _, stderr = command(t, nil, "", strings.Fields("fit d.csv -target y -model mgp -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "day is a date: days since 1970, the season as sine and cosine\n", "the dates are eight days apart")

	daily := strings.Replace(fit.String(), "day,y\n", "", 1)
	for i := range 800 {
		if when := time.Date(2021, 3, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i); i%8 == 1 || i%8 == 2 {
			y := 0.002*float64(i) + math.Sin(2*math.Pi*float64(when.YearDay())/365.25)
			if when.Weekday() == time.Sunday {
				y -= 2
			}
			daily += fmt.Sprintf("%s,%.4f\n", when.Format("2006-01-02"), y)
		}
	}
	require.NoError(t, os.WriteFile("d.csv", []byte("day,y\n"+daily), 0o600))
	status, _, stderr = command(t, nil, "", strings.Fields("fit d.csv -target y -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "the season as sine and cosine, the weekday as 7 columns of 0 and 1")
	got := numbersOf(t, predicted(t, "e.csv")["mean"])
	var square float64
	for i, v := range truth {
		square += (v - got[i]) * (v - got[i]) / float64(len(truth))
	}
	assert.Less(t, math.Sqrt(square), 0.3)

	f, err := os.Open("m")
	require.NoError(t, err)
	defer f.Close()
	p, err := record.Open(f)
	require.NoError(t, err)
	for i, day := range days {
		out, err := p.Predict(t.Context(), map[string]any{"day": day})
		require.NoError(t, err)
		assert.Equal(t, got[i], out.Numbers[0].Mean)
	}
	status, stdout, stderr := command(t, nil, "", strings.Fields("report m -data d.csv -o page.html")...)
	require.Equal(t, console.StatusOK, status, stderr+stdout)
}
