package mkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// smoothRegression fits n samples of d features with seven RBF kernels.
func smoothRegression(tb testing.TB, n, d, sweeps int) (*RegressionModel, Features) {
	rng := rand.New(rand.NewPCG(uint64(n), 6))
	x, y := normal(rng, n, d), make([]float64, n)
	var views []View
	for i := -3; i <= 3; i++ {
		views = append(views, View{X: x, Kernel: RBF{Width: math.Sqrt(float64(d)) * math.Ldexp(1, i)}})
	}
	for i := range y {
		y[i] = math.Sin(3*x.At(i, 0)) + 0.3*rng.NormFloat64()
	}
	m, err := Regression{Fitting: Fitting{MaxSweeps: sweeps}}.Fit(context.Background(), views, y)
	if m == nil {
		require.NoError(tb, err)
	}
	return m, x
}

// BenchmarkHealedPredictor times single predictions of samples of the training
// distribution, in ns.
func BenchmarkHealedPredictor(b *testing.B) {
	for _, size := range [][2]int{{133, 1}, {1000, 1}, {1000, 2}, {1000, 4}} {
		n, d := size[0], size[1]
		m, _ := smoothRegression(b, n, d, 20)
		q := normal(rand.New(rand.NewPCG(9, 9)), 1000, d)
		for _, c := range []struct {
			name string
			opt  PredictorOptions
		}{
			{"full", PredictorOptions{}}, {"mean", PredictorOptions{MeanOnly: true}}, {"unhealed", PredictorOptions{Unhealed: true}},
			{"exact", PredictorOptions{Tolerance: -1}},
		} {
			b.Run(fmt.Sprintf("N=%d/D=%d/%s", n, d, c.name), func(b *testing.B) {
				p, err := m.Predictor(c.opt)
				require.NoError(b, err)
				exact := 0
				for i := range q.Rows {
					if _, ok := p.fromPivots([][]float64{q.Row(i)}); !ok {
						exact++
					}
				}
				l := newLatencies(b)
				for i := 0; b.Loop(); i++ {
					start := time.Now()
					if _, _, err := p.Predict(q.Row(i % q.Rows)); err != nil {
						b.Fatal(err)
					}
					l.add(start)
				}
				l.report()
				b.ReportMetric(float64(exact)/10, "%exact")
				order := 0
				for _, own := range p.info.Pivots {
					order += len(own)
				}
				b.ReportMetric(float64(order), "pivots")
			})
		}
	}
}

// Predictions from pivots are as close to those of all samples as they say: at, among,
// around and far from the samples, healed or not, of kernels with weights of either sign.
func TestProjectedPredictorWithinItsBounds(t *testing.T) {
	for _, c := range []struct {
		n, d, sweeps int
	}{{60, 1, 5}, {150, 1, 40}, {120, 2, 12}} {
		m, x := smoothRegression(t, c.n, c.d, c.sweeps)
		q := around(rand.New(rand.NewPCG(3, 3)), x, 200)
		for _, opt := range []PredictorOptions{{}, {Unhealed: true}, {MeanOnly: true}, {Tolerance: 0.1}, {Tolerance: 1e-4}} {
			p, err := m.Predictor(opt)
			require.NoError(t, err)
			want, err := m.PredictTargets(context.Background(), PredictOptions{Unhealed: opt.Unhealed}, q)
			require.NoError(t, err)
			pivots, worst := 0, 0.0
			for i := range q.Rows {
				b, ok := p.fromPivots([][]float64{q.Row(i)})
				if p.near == nil {
					break
				}
				if ok {
					pivots++
				}
				// Bounds hold whether they are within the tolerance or not.
				sd := math.Sqrt(want.Variance[0][i])
				mean := m.targets[0].mean + m.targets[0].sd*b.Mean
				meanOff := math.Abs(mean - want.Mean[0][i])
				require.LessOrEqual(t, meanOff, b.MeanError+1e-11*sd, "%+v, sample %d", opt, i)
				worst = max(worst, meanOff/b.MeanError)
				if !opt.MeanOnly {
					off := math.Abs(m.targets[0].sd*math.Sqrt(b.Variance) - sd)
					require.LessOrEqual(t, off, b.SDError+1e-11*sd, "%+v, sample %d", opt, i)
					worst = max(worst, off/b.SDError)
				}
			}
			t.Logf("%+v: N %d, D %d: %d from %v pivots, largest error %.2g of its bound", opt, c.n, c.d, pivots, p.info.Pivots != nil, worst)
		}
	}
	assert.True(t, true)
}
