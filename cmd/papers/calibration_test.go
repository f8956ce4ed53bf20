package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
)

// TestReproduceCalibration holds out a third of two small sets.
func TestReproduceCalibration(t *testing.T) {
	var iris, crabs strings.Builder
	iris.WriteString("a,b,c,d,species\n")
	crabs.WriteString("sp,sex,index,FL,RW,CL,CW,BD\n")
	for i := range 36 {
		k := i % 3
		fmt.Fprintf(&iris, "%d,%g,%g,%d,%c\n", k, math.Sin(float64(i)), math.Cos(float64(3*i)), k*k, 'x'+rune(k))
		fmt.Fprintf(&crabs, "%c,%c,%d,%d,%g,%d,%g,1%d\n", 'B'+rune(i%2), 'F'+rune(i/2%2), i, i%2, math.Sin(float64(i)), i/2%2, math.Cos(float64(i)), i%2)
	}
	files := map[string]string{}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"iris": iris.String(), "crabs": crabs.String()} {
		require.NoError(t, os.Mkdir(name, 0o700))
		require.NoError(t, os.WriteFile(name+"/"+name+".csv", []byte(text), 0o600))
	}
	var app struct {
		Calibration calibration `cmd:"" set:"kernels=linear"`
	}
	args := []string{"calibration", "-data", ".", "-sets", "iris,crabs", "-splits", "2", "-kernels", "linear,rbf(width=2)"}
	status, stdout, stderr := consoletest.Run(t, &app, nil, append(args, "-json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	var got struct{ Runs []calibrationRun }
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Runs, 4)
	for i, r := range got.Runs {
		assert.Equal(t, []string{"iris", "crabs"}[i/2], r.Set)
		assert.Equal(t, []float64{0, 1}[i%2], r.Margin)
		assert.Equal(t, 24, r.Samples)
		assert.Equal(t, 3+i/2, r.Classes)
		assert.Equal(t, 1.0, r.Measures["accuracy"])
		n := 0
		for _, b := range r.Calibration {
			n += b.Count
		}
		assert.Equal(t, 24, n)
	}
	status, stdout, stderr = consoletest.Run(t, &app, nil, args...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `(?m)^crabs +n +margin 0 +came true +n +margin 1 +came true$`, stdout)
	status, _, stderr = consoletest.Run(t, &app, files, "calibration", "-data", ".")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "crabs.csv")
}
