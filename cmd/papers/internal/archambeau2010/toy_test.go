package archambeau2010

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
)

// smallToy returns a small data set.
func smallToy(n int) *toyData {
	c := Toy{Samples: n, Test: 20, Noise: 0.1, Width: 0.5, Centres: 5, Seed: 3}
	return c.draw(3, 0)
}

// ridgeObjective is yᵀ(Σ θ_p·K_p + λI)⁻¹y, what MKL minimises over θ.
func ridgeObjective(t *testing.T, d *toyData, lambda float64, theta []float64) float64 {
	n := len(d.y)
	b := la.NewMatrix[float64](n, n)
	for p, k := range d.kernels {
		for i := range n {
			la.Axpy(theta[p], k.Row(i), b.Row(i))
		}
	}
	for i := range n {
		b.Row(i)[i] += lambda
	}
	require.NoError(t, la.Cholesky(nil, b))
	alpha := append([]float64(nil), d.y...)
	la.CholeskySolveVec(b, alpha)
	return la.Dot(d.y, alpha)
}

// No weights on the sphere ‖θ‖_r = 1 are better than those found.
func TestNormMKLIsOptimal(t *testing.T) {
	d := smallToy(30)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, norm := range []float64{1, 8. / 7, 4. / 3} {
		m := normMKL{norm}
		r := norm / (2 - norm)
		const lambda = 0.1
		theta := m.start(toyKernels)
		_, err := m.fit(&la.Workspace{}, d.kernels, d.y, lambda, theta)
		require.NoError(t, err)
		size := func(x []float64) (sum float64) {
			for _, v := range x {
				sum += math.Pow(v, r)
			}
			return math.Pow(sum, 1/r)
		}
		assert.InDelta(t, 1, size(theta), 1e-12)
		found := ridgeObjective(t, d, lambda, theta)
		for range 300 {
			other := make([]float64, toyKernels)
			share := math.Pow(rng.Float64(), 3) // often near what was found
			for p := range other {
				other[p] = math.Abs((1-share)*theta[p] + share*math.Pow(rng.Float64(), 3))
			}
			la.Scal(1/size(other), other)
			require.GreaterOrEqual(t, ridgeObjective(t, d, lambda, other), found*(1-1e-3), "norm %g", norm)
		}
	}
	theta := make([]float64, toyKernels)
	_, err := normMKL{2}.fit(&la.Workspace{}, d.kernels, d.y, 1, theta)
	require.NoError(t, err)
	for _, v := range theta {
		assert.Equal(t, 1.0, v)
	}
}

func TestReproduceMGPToy(t *testing.T) {
	testkit.NotShort(t)
	args := []string{"-realisations", "1", "-samples", "40", "-test", "50"}
	status, stdout, stderr := consoletest.Run(t, new(Toy), map[string]string{}, append(args, "-o", "weights.svg")...)
	require.Equal(t, console.StatusOK, status, stderr)
	for _, s := range []string{"MKL l4/3", ".033 ± .027", "40 training and 50 test samples", "plain GPs", "picture: weights.svg"} {
		assert.Contains(t, stdout, s)
	}
	picture, err := os.ReadFile("weights.svg")
	require.NoError(t, err)
	assert.Contains(t, string(picture), "3 active kernels")

	var got struct {
		Chosen  []string
		Methods []struct{ Method string }
		Columns []struct {
			Active int
			Runs   [][]struct {
				RMSE    float64
				Weights []float64
			}
		}
	}
	status, stdout, stderr = consoletest.Run(t, new(Toy), nil, append(args, "-json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Columns, 3)
	require.Len(t, got.Methods, len(toyMethods))
	for m, runs := range got.Columns[0].Runs {
		assert.Less(t, runs[0].RMSE, 1.0, got.Methods[m].Method)
		require.Len(t, runs[0].Weights, toyKernels)
	}
	assert.Greater(t, got.Columns[0].Runs[0][0].Weights[0], 0.8)

	for _, bad := range [][]string{{"-samples", "3"}, {"-noise", "0"}, {"-o", "weights.pdf"}} {
		status, _, _ := consoletest.Run(t, new(Toy), nil, append(args, bad...)...)
		assert.Equal(t, console.StatusInput, status, bad)
	}
}
