package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// The values come from scipy.linalg.expm of SciPy 1.10.1, of a path of four nodes with the weights 1, 2 and 0.5 and an edge
// from the first to the last.
func TestDiffusion(t *testing.T) {
	edges := []Edge{{From: 0, To: 1}, {1, 2, 2}, {3, 2, 0.5}, {0, 3, 1}, {From: 2, To: 2}}
	k, err := Diffusion(4, edges, 0.7)
	require.NoError(t, err)
	for i, want := range diffused {
		assert.InDelta(t, want, k.Data[i], 1e-14)
	}
}

// The nodes of a complete graph of n nodes have (1 + (n−1)·exp(−nβ))/n with themselves and (1 − exp(−nβ))/n with others.
func TestDiffusionOnACompleteGraph(t *testing.T) {
	const n = 30
	var edges []Edge
	for i := range n {
		for j := range i {
			edges = append(edges, Edge{From: i, To: j})
		}
	}
	for _, beta := range []float64{0, 1e-3, 0.1, 5, 100} {
		k, err := Diffusion(n, edges, beta)
		require.NoError(t, err)
		fade := math.Exp(-n * beta)
		assert.InDelta(t, (1+(n-1)*fade)/n, k.At(3, 3), 1e-12, "β = %g", beta)
		assert.InDelta(t, (1-fade)/n, k.At(3, 7), 1e-12, "β = %g", beta)
		for i := range n {
			k.Row(i)[i] += 1e-9
		}
		assert.NoError(t, la.Cholesky(nil, k))
	}
}

func TestDiffusionSaysWhatIsWrong(t *testing.T) {
	for want, edges := range map[string][]Edge{
		"edges[1] joins 0 and 3, and there are 3 nodes":      {{From: 0, To: 1}, {From: 0, To: 3}},
		"edges[0] has the weight -1, not a positive number":  {{0, 1, -1}},
		"edges[0] has the weight NaN, not a positive number": {{0, 1, math.NaN()}},
		"beta times the weights of a node's edges is beyond": {{0, 1, 1e308}, {0, 2, 1e308}},
	} {
		_, err := Diffusion(3, edges, 2)
		assert.ErrorContains(t, err, want)
	}
	_, err := Diffusion(3, nil, -1)
	assert.ErrorContains(t, err, "beta is -1")
	_, err = Diffusion(1<<15+1, nil, 1)
	require.EqualError(t, err, "kernel: Diffusion: nodes is 32769, not a number from 1 to 32768")
	_, err = Diffusion(0, nil, 1)
	assert.ErrorContains(t, err, "nodes is 0")
}

var diffused = []float64{0.38658620144760114, 0.2069932296561075, 0.14803174570235247, 0.2583888231939388, 0.20699322965610753, 0.34475658200645676, 0.31735030714769363, 0.13089988118974216, 0.1480317457023526, 0.3173503071476937, 0.3828032562396393, 0.1518146909103144, 0.25838882319393885, 0.1308998811897421, 0.1518146909103143, 0.4588966047060048}
