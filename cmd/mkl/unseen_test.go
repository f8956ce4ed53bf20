package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// Rows of a class that the fit had not seen are left out of the measures, and the command says so.
func TestClassesThatTheFitHadNotSeen(t *testing.T) {
	table := func(rare int) string {
		b := strings.Builder{}
		b.WriteString("kind,x\n")
		for i := range 24 {
			fmt.Fprintf(&b, "%s,%d\n", []string{"low", "high"}[i/12], i)
		}
		b.WriteString(strings.Repeat("rare,99\n", rare))
		return b.String()
	}
	files := map[string]string{"fit.csv": table(0), "new.csv": table(2), "rare.csv": "kind,x\nrare,99\nrare,98\n"}
	status, _, stderr := command(t, files, "", "fit", "fit.csv", "-target", "kind", "-o", "m", "-q")
	require.Equal(t, console.StatusOK, status, stderr)
	var of [2]struct {
		Samples, Unseen int
		Measures        []struct{ Values map[string]float64 }
	}
	for i, file := range []string{"fit.csv", "new.csv"} {
		status, stdout, stderr := command(t, nil, "", "evaluate", "m", file, "-json")
		require.Equal(t, console.StatusOK, status, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), &of[i]))
		if i == 1 {
			assert.Contains(t, stderr, "mkl: warning: 2 rows of a class that the fit had not seen: left out of the measures, "+
				`the first: new.csv: row 25 (line 26), column 1 "kind": "rare" is not a class of the model`+"\n")
		}
	}
	assert.Equal(t, of[0].Measures, of[1].Measures)
	assert.Equal(t, []int{24, 0, 24, 2}, []int{of[0].Samples, of[0].Unseen, of[1].Samples, of[1].Unseen})

	status, _, stderr = command(t, nil, "", "evaluate", "m", "rare.csv")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `"rare" is not a class of the model`)
}

// A single point is a missing value, as SAS and Stata write it.
func TestPointsAreMissing(t *testing.T) {
	b := strings.Builder{}
	b.WriteString("y,x,z\n")
	for i := range 30 {
		x := fmt.Sprint(i)
		if i%10 == 3 {
			x = "."
		}
		fmt.Fprintf(&b, "%d.5,%s,%d\n", i, x, i*i%7)
	}
	status, _, stderr := command(t, map[string]string{"d.csv": b.String()}, "", "fit", "d.csv", "-target", "y", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "plan: x is numbers, 15 where missing, and a column of 0 and 1 that says where\n")
}
