package amplitude

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// reference is a file of testdata/golden/amplitude.
type reference struct {
	View, Kind []int
	Kernels    golden.Tensor
	Cross      golden.Tensor
	Self       golden.Mat
	Y          golden.Mat
	Weight     float64
	Labels     []int
	Structures map[string]struct {
		Z, Theta, Gradient []float64
		Evidence, Mode     float64
		LeftOutMean        golden.Mat `json:"left_out_mean"`
		LeftOutVariance    []float64  `json:"left_out_variance"`
		Mean               golden.Mat
		Variance           []float64
		Contribution       golden.Mat
		Covariance         golden.Mat
	}
	Head *struct {
		Of            string
		X             []float64
		Probabilities golden.Mat
	}
}

var structures = map[string]Structure{"free": Free, "tied": Tied, "sparse": Sparse}

func (r *reference) problem(t testing.TB, rounded bool) Problem {
	d, err := vi.NewDense(golden.MatricesOf(r.Kernels)...)
	require.NoError(t, err)
	k, err := Pack(d, rounded)
	require.NoError(t, err)
	return Problem{
		Kernels: k, Layout: Layout{View: r.View, Kind: r.Kind}, Y: golden.MatrixOf(r.Y), Indicators: len(r.Y) > 1, LeastNoise: 1e-8,
	}
}

// at returns the objective and the process of a structure at z.
func at(t testing.TB, p Problem, s Structure, z []float64) (*climb, *Process) {
	pr := newPrior(s, p.Layout)
	require.Equal(t, pr.dims(), len(z))
	theta := make([]float64, len(pr.mean))
	pr.theta(z, theta, nil)
	process, err := p.at(theta)
	require.NoError(t, err)
	return p.newClimb(&pr), process
}

func within(t testing.TB, want, got []float64, tolerance float64, what string) {
	t.Helper()
	require.Equal(t, len(want), len(got), what)
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	for i := range want {
		require.InDelta(t, want[i], got[i], tolerance*largest, "%s, entry %d", what, i)
	}
}

func withinRows(t testing.TB, want golden.Mat, got la.Matrix[float64], tolerance float64, what string) {
	t.Helper()
	require.Equal(t, len(want), got.Rows, what)
	for i, row := range want {
		within(t, row, got.Row(i), tolerance, what)
	}
}

func TestGolden(t *testing.T) {
	golden.Run(t, "amplitude", []string{"numbers.json", "classes.json"}, func(t *testing.T, _ string, data []byte) {
		var r reference
		require.NoError(t, json.Unmarshal(data, &r))
		p := r.problem(t, false)
		for name, s := range structures {
			want := r.Structures[name]
			c, process := at(t, p, s, want.Z)
			assert.InDelta(t, want.Evidence, c.value(want.Z), 1e-9*math.Abs(want.Evidence), name)
			g := make([]float64, len(want.Z))
			c.cost(want.Z, g)
			for i, z := range want.Z {
				g[i] = z - g[i]
			}
			within(t, want.Gradient, g, 1e-6, name+": gradient")
			withinRows(t, want.LeftOutMean, process.LeftOutMean, 1e-9, name+": left-out means")
			within(t, want.LeftOutVariance, process.LeftOutVariance, 1e-9, name+": left-out variances")
			r.predictions(t, name, process)

			f, err := p.Fit(context.Background(), s, Search{Tolerance: 1e-12, Steps: 500})
			require.NoError(t, err)
			assert.InDelta(t, want.Mode, f.LogPosterior, 1e-5*math.Abs(want.Mode), "%s: mode", name)
			assert.InDelta(t, f.LogEvidence-0.5*la.SumSq(f.Z), f.LogPosterior, 1e-9*math.Abs(f.LogPosterior))
		}
		if r.Head == nil {
			return
		}
		_, process := at(t, p, structures[r.Head.Of], r.Structures[r.Head.Of].Z)
		h, err := FitHead(process.LeftOutMean, process.LeftOutVariance, r.Labels, len(r.Y))
		require.NoError(t, err)
		within(t, r.Head.X, []float64{h.Slope, h.Prior, h.Damping}, 1e-5, "head")
		out := make([][]float64, len(r.Labels))
		for i := range out {
			out[i] = make([]float64, len(r.Y))
		}
		h.Probabilities(process.LeftOutMean, process.LeftOutVariance, out)
		for i, row := range r.Head.Probabilities {
			within(t, row, out[i], 1e-5, "probabilities")
		}
	})
}

// predictions compares the moments of the new samples, and the contributions to the first: of each view, and of pairs of views, whose
// variances show the covariances.
func (r *reference) predictions(t *testing.T, name string, p *Process) {
	want := r.Structures[name]
	M, N, V := len(r.Self[0]), len(r.Y[0]), r.View[len(r.View)-1]+1
	cross, self := la.NewMatrix[float64](M, N), make([]float64, M)
	views, own := la.NewMatrix[float64](V, N), make([]float64, V)
	for j, a := range p.Amplitudes {
		for m := range M {
			la.Axpy(a, r.Cross[j][m], cross.Row(m))
			self[m] += a * r.Self[j][m]
		}
		la.Axpy(a, r.Cross[j][0], views.Row(r.View[j]))
		own[r.View[j]] += a * r.Self[j][0]
	}
	mean, variance, err := p.Predict(nil, cross, self)
	require.NoError(t, err)
	withinRows(t, want.Mean, mean, 1e-9, name+": means")
	within(t, want.Variance, variance, 1e-9, name+": variances")
	for v := range V {
		for u := range v + 1 {
			one, prior := la.NewMatrix[float64](1, N), own[v]
			la.Axpy(1, views.Row(v), one.Row(0))
			variance := want.Covariance[v][v]
			if u != v {
				la.Axpy(1, views.Row(u), one.Row(0))
				prior += own[u]
				variance += want.Covariance[u][u] + 2*want.Covariance[v][u]
			}
			mean, got, err := p.Contribution(nil, one, []float64{prior})
			require.NoError(t, err)
			for c, of := range want.Contribution {
				sum := of[v]
				if u != v {
					sum += of[u]
				}
				assert.InDelta(t, sum, mean.At(c, 0), 1e-9, "%s: contribution of views %d and %d", name, v, u)
			}
			assert.InDelta(t, variance, got[0], 1e-9, "%s: variance of views %d and %d", name, v, u)
		}
	}
	level := p.Constant()
	for c := range level.Rows {
		sum := level.At(c, 0)
		for _, part := range want.Contribution[c] {
			sum += part
		}
		assert.InDelta(t, want.Mean[c][0], sum, 1e-9, "%s: the constant and all views", name)
	}
}
