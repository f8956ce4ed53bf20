package damoulas2010

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass/multiclasstest"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
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
	status, stdout, stderr := consoletest.Run(t, new(UCI), files, "-data", ".", "-sweeps", "5", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
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
	status, _, stderr = consoletest.Run(t, new(UCI), map[string]string{"iris.csv": "1,2\n3,4\n"}, "-data", ".")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: iris.csv: 2 columns where 5 are needed\n", stderr)
	status, stdout, stderr = consoletest.Run(t, new(UCI), files, "-data", ".", "-sweeps", "2", "-sets", "Iris", "-scale", "length", "-unit")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.NotContains(t, stdout, "Soybean")
	status, _, stderr = consoletest.Run(t, new(UCI), files, "-data", ".", "-sets", "Crab")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: -sets: there is no set \"Crab\"\n", stderr)
	status, _, _ = consoletest.Run(t, new(UCI), nil, "-data", ".", "-rise", "2")
	assert.Equal(t, console.StatusInput, status)
}

func TestUCIKernels(t *testing.T) {
	features := func() (train, test la.Matrix[float64]) {
		return la.MatrixOf(3, 2, []float64{3, 4, 1, 0, 5, 2}), la.MatrixOf(2, 2, []float64{1, 1, 0, 0})
	}
	for _, want := range []struct {
		scale, kernel string
		unit          bool
		k, cross      float64 // of the first sample, with itself and with the first test sample
	}{
		{"none", "linear", false, 12.5, 3.5},
		{"none", "polynomial", false, 13.5 * 13.5, 4.5 * 4.5},
		{"none", "polynomial", true, 1, 4.5 * 4.5 / (13.5 * 2)},
		{"none", "linear", true, 1, 3.5 / math.Sqrt(12.5)},
		{"length", "linear", false, 0.5, 0.7 / math.Sqrt2},
		{"range", "linear", false, 0.625, 0.125},
		{"range", "RBF", false, 1, math.Exp(-0.5 * (0.25 + 0.75*0.75))},
	} {
		train, test := features()
		c := UCI{Scale: want.scale, Unit: want.unit}
		k, cross := c.kernel(want.kernel, train, test)
		assert.InDelta(t, want.k, k.At(0, 0), 1e-12, "%+v", want)
		assert.InDelta(t, want.cross, cross.At(0, 0), 1e-12, "%+v", want)
		assert.False(t, math.IsNaN(cross.At(0, 1)), "%+v", want)
	}
	train, test := features()
	(&UCI{Scale: "sd"}).kernel("RBF", train, test)
	assert.InDelta(t, 0, train.At(0, 0), 1e-12)
	assert.InDelta(t, 1, train.At(2, 0), 1e-12)
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
	testkit.NotShort(t)
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
	status, stdout, stderr := consoletest.Run(t, new(Mfeat), files, "-data", ".", "-trials", "1", "-sweeps", "2", "-json", "-o", "weights.svg")
	require.Equal(t, console.StatusOK, status, stderr)
	var got struct{ Error []figures }
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Error, len(mfeatSpaces)+len(mfeatVotes)+len(mfeatCombinations))
	for _, f := range got.Error {
		assert.Less(t, f.Mean, 25.0, f)
	}
	picture, err := os.ReadFile("weights.svg")
	require.NoError(t, err)
	assert.Contains(t, string(picture), "WProd")
	assert.Contains(t, string(picture), "ZM")
	status, _, stderr = consoletest.Run(t, new(Mfeat), files, "-data", ".", "-single", "-o", "weights.svg")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: -o draws the weights of combined kernels, which -single leaves out\n", stderr)
	status, stdout, stderr = consoletest.Run(t, new(Mfeat), files, "-data", ".", "-trials", "1", "-sweeps", "1", "-gibbs", "4", "-single")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.NotContains(t, stdout, "WProd")
	assert.Regexp(t, `FR, Fourier +\d.* 27.3 ± 3.3 \(Gibbs\) +8\n`, stdout)
	files["mfeat-pix.csv"] = "1,2,3\n"
	status, _, stderr = consoletest.Run(t, new(Mfeat), files, "-data", ".")
	assert.Equal(t, console.StatusInput, status)
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

func TestVBKCKernels(t *testing.T) {
	x := la.MatrixOf(2, 2, []float64{3, 4, 1, 0})
	for kernel, want := range map[string][2]float64{ // of the two samples, of degree 2 and 1
		"unit":      {16 / (26 * 2.0), 3 / 5.0},
		"unit-mean": {2.5 * 2.5 / (13.5 * 1.5), 3 / 5.0},
		"mean":      {2.5 * 2.5, 1.5},
	} {
		c := Proteinfold{Kernel: kernel}
		assert.InDelta(t, want[0], c.kernel(x, x, 2).At(0, 1), 1e-12, kernel)
		assert.InDelta(t, want[1], c.kernel(x, x, 1).At(0, 1), 1e-12, kernel)
	}
	assert.Equal(t, 3.0, x.At(0, 0))
}

func TestReproduceVBKC(t *testing.T) {
	status, stdout, stderr := consoletest.Run(t, new(Proteinfold), multiclasstest.ProteinFiles(), "-data", ".", "-starts", "2", "-sweeps", "3", "-o", "weights.svg")
	require.Equal(t, console.StatusOK, status, stderr)
	picture, err := os.ReadFile("weights.svg")
	require.NoError(t, err)
	assert.Contains(t, string(picture), "SW2")
	assert.Contains(t, stdout, "picture: weights.svg")
	assert.Contains(t, stdout, "2 starts")
	assert.Contains(t, stdout, "68.1 ± 1.2")
	assert.Contains(t, stdout, "SWpam50")
	status, stdout, stderr = consoletest.Run(t, new(Proteinfold), multiclasstest.ProteinFiles(), "-data", ".", "-starts", "1", "-sweeps", "2", "-sizes", "2,9")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, 3, strings.Count(stdout, "FixSum"), stdout)
	assert.NotContains(t, stdout, "weights of all")
	status, _, stderr = consoletest.Run(t, new(Proteinfold), multiclasstest.ProteinFiles(), "-data", ".", "-sizes", "13")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: -sizes: there is no set of [13] sources\n", stderr)
}
