package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReproduceUCI(t *testing.T) {
	var iris strings.Builder
	r := rand.New(rand.NewPCG(1, 1))
	fmt.Fprintln(&iris, "a,b,c,d,species")
	for i := range 45 {
		c := i % 3
		fmt.Fprintf(&iris, "%g,%g,%g,%g,%s\n", 5*float64(c)+r.NormFloat64(), 3*float64(c*c)+r.NormFloat64(), r.NormFloat64(), float64(c), []string{"x", "y", "z"}[c])
	}
	files := map[string]string{"iris.csv": iris.String()}
	uci := uciSets
	defer func() { uciSets = uci }()
	uciSets = uciSets[3:5] // Balance takes seconds
	status, stdout, stderr := command(t, files, "", "reproduce", "uci", "-data", ".", "-sweeps", "5", "-json")
	require.Equal(t, statusOK, status, stderr)
	var got struct {
		Sets []struct {
			Set, Kernel string
			Error       figures
		}
		Missing []string
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	assert.Equal(t, []string{"Soybean"}, got.Missing)
	require.Len(t, got.Sets, 3)
	for _, s := range got.Sets {
		assert.Less(t, s.Error.Mean, 10.0, s)
		assert.Equal(t, 10, s.Error.Runs)
	}
	status, _, stderr = command(t, map[string]string{"iris.csv": "1,2\n3,4\n"}, "", "reproduce", "uci", "-data", ".")
	assert.Equal(t, statusInput, status)
	assert.Equal(t, "mkl: iris.csv: 2 columns where 5 are needed\n", stderr)
	status, _, _ = command(t, nil, "", "reproduce", "uci", "-data", ".", "-rise", "2")
	assert.Equal(t, statusInput, status)
}

func TestBalance(t *testing.T) {
	x, class := balance()
	count := map[int]int{}
	for _, c := range class {
		count[c]++
	}
	assert.Equal(t, map[int]int{0: 288, 1: 288, 2: 49}, count)
	assert.Equal(t, []float64{1, 1, 1, 1}, x.Row(0))
	assert.Equal(t, []float64{5, 5, 5, 5}, x.Row(624))
	for _, part := range folds(class, 10, 1) {
		assert.InDelta(t, 62, len(part), 1)
	}
}

func TestReproduceMfeat(t *testing.T) {
	files := map[string]string{}
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range mfeatSpaces {
		var x strings.Builder
		for i := range 400 {
			d := float64(i / 40)
			fmt.Fprintf(&x, "%g,%g,%d\n", 3*math.Cos(d)+0.3*r.NormFloat64(), 3*math.Sin(d)+0.3*r.NormFloat64(), i/40)
		}
		files[s.file] = x.String()
	}
	status, stdout, stderr := command(t, files, "", "reproduce", "mfeat", "-data", ".", "-trials", "1", "-sweeps", "2", "-json")
	require.Equal(t, statusOK, status, stderr)
	var got struct{ Error []figures }
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Error, len(mfeatSpaces)+len(mfeatVotes)+len(mfeatCombinations))
	for _, f := range got.Error {
		assert.Less(t, f.Mean, 25.0, f)
	}
	files["mfeat-pix.csv"] = "1,2,3\n"
	status, _, stderr = command(t, files, "", "reproduce", "mfeat", "-data", ".")
	assert.Equal(t, statusInput, status)
	assert.Equal(t, "mkl: mfeat-pix.csv: 0 rows of digit 0 among 1 where 40 are needed\n", stderr)
}

func TestVotes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	p := [][]float64{{0.5, 0.3, 0.2}, {0.1, 0.8, 0.1}, {0.45, 0.2, 0.35}}
	assert.Equal(t, 1, vote("Prod", p, r))
	assert.Equal(t, 1, vote("Sum", p, r))
	assert.Equal(t, 1, vote("Max", p, r))
	assert.Equal(t, 0, vote("Maj", p, r))
}

func TestReproduceVBKC(t *testing.T) {
	status, stdout, stderr := command(t, proteinFiles(), "", "reproduce", "proteinfold-vbkc", "-data", ".", "-starts", "2", "-sweeps", "3")
	require.Equal(t, statusOK, status, stderr)
	assert.Contains(t, stdout, "2 starts")
	assert.Contains(t, stdout, "68.1 ± 1.2")
	assert.Contains(t, stdout, "SWpam50")
}
