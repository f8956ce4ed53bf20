package bemkl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// rbfColumns are the RBF kernels of points on a line, one for each width.
type rbfColumns struct{ points, widths []float64 }

func (c rbfColumns) at(m int, x, y float64) float64 {
	d := (x - y) / c.widths[m]
	return math.Exp(-0.5 * d * d)
}

func (c rbfColumns) Column(i int, dst la.Matrix[float64]) {
	for m := range c.widths {
		for n, x := range c.points {
			dst.Set(m, n, c.at(m, x, c.points[i]))
		}
	}
}

func (c rbfColumns) Diagonal(dst la.Matrix[float64]) { dst.Fill(1) }

// with returns the kernels of the points with these.
func (c rbfColumns) with(points []float64) *vi.Dense {
	var all []la.Matrix[float64]
	for m := range c.widths {
		k := la.NewMatrix[float64](len(c.points), len(points))
		for i, x := range c.points {
			for j, y := range points {
				k.Set(i, j, c.at(m, x, y))
			}
		}
		all = append(all, k)
	}
	return testkit.Must(vi.NewDense(all...))
}

// TestSharedProjectionWithinItsBounds compares projections of outputs that share sample weights,
// with all targets and with some, with predictions from all samples: near to these and beyond.
func TestSharedProjectionWithinItsBounds(t *testing.T) {
	const N, L = 80, 3
	src := rand.New(rand.NewPCG(8, 2))
	c := rbfColumns{widths: []float64{0.5, 1, 3}}
	y := la.NewMatrix[float64](L, N)
	for i := range N {
		x := src.NormFloat64()
		c.points = append(c.points, x)
		for o, f := range []float64{math.Sin(3 * x), x, math.Sin(3*x) - x} {
			y.Set(o, i, f+0.3*src.NormFloat64())
		}
	}
	gaps := y.Clone()
	for i := range N {
		for o := range L {
			if i%10 == 0 || (i+o)%4 == 0 { // every tenth sample has no target
				gaps.Set(o, i, math.NaN())
			}
		}
	}
	var queries []float64
	for i := range 30 {
		queries = append(queries, -4+0.27*float64(i))
	}
	later, self := c.with(queries), la.NewMatrix[float64](len(c.widths), len(queries))
	self.Fill(1)
	for name, y := range map[string]la.Matrix[float64]{"all targets": y, "gaps": gaps} {
		fit, err := SharedRegression{Ascent: vi.Ascent{MaxSweeps: 15}}.Fit(context.Background(), c.with(c.points), y)
		require.NoError(t, err)
		p := fit.Posterior
		want, err := p.PredictHealed(later, self, vi.PredictOptions{})
		require.NoError(t, err)
		for o := range L {
			q, err := p.Project(c, o, ProjectOptions{Tolerance: 0.05, Healed: true, Exact: 1e9})
			require.NoError(t, err)
			require.NotNil(t, q, "%s: output %d", name, o)
			ws, scratch := &la.Workspace{}, make([]float64, q.ScratchSize())
			near, worst := 0, 0.0
			for i, x := range queries {
				var k []float64
				for m, pivots := range q.Pivots {
					for _, n := range pivots {
						k = append(k, c.at(m, x, c.points[n]))
					}
				}
				got := q.Predict(ws, k, []float64{1, 1, 1}, scratch)
				sd := math.Sqrt(want.Variance.At(o, i))
				mean, deviation := math.Abs(got.Mean-want.Mean.At(o, i)), math.Abs(math.Sqrt(got.Variance)-sd)
				assert.LessOrEqual(t, mean, got.MeanError+1e-11*sd, "%s: mean of output %d at %g", name, o, x)
				assert.LessOrEqual(t, deviation, got.SDError+1e-11*sd, "%s: deviation of output %d at %g", name, o, x)
				worst = max(worst, mean/got.MeanError, deviation/got.SDError)
				if max(got.MeanError, got.SDError) <= 0.05*sd {
					near++
				}
			}
			assert.Greater(t, near, 8, "%s: the bounds of output %d say something", name, o)
			t.Logf("%s, output %d: %d pivots, %d of %d within the tolerance, largest error %.2g of its bound",
				name, o, q.order, near, len(queries), worst)
		}
	}
}
