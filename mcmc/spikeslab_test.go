package mcmc

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/slab"
)

// enumerate returns the exact posterior means and inclusion probabilities, by summing
// over all 2^M sets of weights with s_m = 1.
func enumerate(m SpikeSlab, x la.Matrix[float64], y []float64) (mean, inclusion []float64) {
	M := x.Cols
	p, _ := m.problem(x, y)
	logs := make([]float64, 1<<M)
	means := make([][]float64, 1<<M)
	top := math.Inf(-1)
	for set := range logs {
		var on []int
		for k := range M {
			if set>>k&1 == 1 {
				on = append(on, k)
			}
		}
		n := float64(len(on))
		l := n * math.Log(m.Prior.Pi)
		if len(on) < M {
			l += (float64(M) - n) * math.Log1p(-m.Prior.Pi)
		}
		means[set] = make([]float64, M)
		if len(on) > 0 {
			b, v := la.NewMatrix[float64](len(on), len(on)), make([]float64, len(on))
			for i, k := range on {
				for j, o := range on {
					b.Set(i, j, p.gram.At(k, o)/m.Noise)
				}
				b.Row(i)[i] += 1 / m.Prior.Variance
				v[i] = p.xy[k] / m.Noise
			}
			if err := la.Cholesky(nil, b); err != nil {
				panic(err)
			}
			rhs := append([]float64(nil), v...)
			la.CholeskySolveVec(b, v)
			l += 0.5*la.Dot(rhs, v) - 0.5*la.LogDet(b) - 0.5*n*math.Log(m.Prior.Variance)
			for i, k := range on {
				means[set][k] = v[i]
			}
		}
		logs[set] = l
		top = max(top, l)
	}
	var sum float64
	mean, inclusion = make([]float64, M), make([]float64, M)
	for set, l := range logs {
		w := math.Exp(l - top)
		sum += w
		la.Axpy(w, means[set], mean)
		for k := range M {
			inclusion[k] += w * float64(set>>k&1)
		}
	}
	la.Scal(1/sum, mean)
	la.Scal(1/sum, inclusion)
	return mean, inclusion
}

func TestSpikeSlabEnumeration(t *testing.T) {
	for _, c := range []struct {
		name     string
		standard bool
		pi       float64
		M        int
	}{{"paired", false, 0.4, 6}, {"standard", true, 0.4, 6}, {"paired, one weight", false, 0.1, 1}, {"paired, all on", false, 1, 3}, {"standard, all on", true, 1, 3}} {
		if testing.Short() && c.M > 3 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			x, y := regressionData(3, 25, c.M)
			m := testSpikeSlab(Sampling{Draws: 3000, BurnIn: 300, Seed: 9})
			m.Prior.Pi, m.Standard = c.pi, c.standard
			d, err := m.Sample(t.Context(), x, y)
			require.NoError(t, err)
			mean, inclusion := enumerate(m, x, y)
			for k := range mean {
				w := Summarise(d.Series("w", 0, k))
				assert.InDelta(t, mean[k], w.Mean, 4.5*w.MCSE, "w[%d]", k)
				assert.Less(t, w.RHat, 1.02)
				for name, want := range map[string]float64{"mean": mean[k], "inclusion": inclusion[k]} {
					s := Summarise(d.Series(name, 0, k))
					if s.SD < 1e-12 { // a probability of 1
						s.MCSE = 0
					}
					assert.InDelta(t, want, s.Mean, 4.5*s.MCSE+1e-4, "%s[%d]", name, k)
				}
			}
			assert.InDeltaSlice(t, mean, d.Mean(), 0.02)
			assert.InDeltaSlice(t, inclusion, d.Inclusion(), 0.03)
		})
	}
}

// Averages of conditional means are more accurate than averages of draws.
func TestRaoBlackwell(t *testing.T) {
	x, y := regressionData(3, 25, 6)
	d, err := testSpikeSlab(Sampling{Draws: 4000}).Sample(t.Context(), x, y)
	require.NoError(t, err)
	for k := range 6 {
		assert.Less(t, Summarise(d.Series("mean", 0, k)).MCSE, Summarise(d.Series("w", 0, k)).MCSE)
	}
}

// jointSpikeSlab returns the two simulations of a regression. Its sampler works with the
// hyperparameters of wrong.
func jointSpikeSlab(m, wrong SpikeSlab, seed uint64) (independent, successive simulation) {
	x, y := regressionData(4, 6, 3)
	simulate := func(r random, w []float64) {
		for n := range y {
			y[n] = la.Dot(x.Row(n), w) + math.Sqrt(m.Noise)*r.NormFloat64()
		}
	}
	functions := func(s *spikeSlabSampler) (f []float64) {
		power := la.SumSq(y)
		f = append(f, power)
		for k, v := range s.slab {
			f = append(f, v, v*v, s.w[k], s.w[k]*s.w[k], s.w[k]*y[k], s.w[k]*s.w[(k+1)%3])
			if s.on[k] {
				f = append(f, 1)
			} else {
				f = append(f, 0)
			}
		}
		return f
	}
	prior := func(s *spikeSlabSampler, r random) {
		for k := range s.slab {
			s.on[k] = r.Float64() < m.Prior.Pi
			s.slab[k] = math.Sqrt(m.Prior.Variance) * r.NormFloat64()
			s.weigh(k)
		}
	}
	observe := func(p *spikeSlabProblem) { la.Gemv(nil, la.Transpose, 1, x, y, 0, p.xy) }

	p, err := wrong.problem(x, y)
	if err != nil {
		panic(err)
	}
	one, two := newSpikeSlabSampler(p, nil), newSpikeSlabSampler(p, nil)
	r1, r2 := rand.New(newStream(seed, 1)), rand.New(newStream(seed, 2))
	prior(two, r2)
	return func() []float64 {
			prior(one, r1)
			simulate(r1, one.w)
			return functions(one)
		}, func() []float64 {
			simulate(r2, two.w)
			observe(p)
			if err := two.sweep(r2, false); err != nil {
				panic(err)
			}
			return functions(two)
		}
}

func TestSpikeSlabJoint(t *testing.T) {
	m := SpikeSlab{Prior: slab.Prior{Pi: 0.4, Variance: 0.8}, Noise: 0.7}
	for _, standard := range []bool{false, true} {
		right := m
		right.Standard = standard
		independent, successive := jointSpikeSlab(m, right, 1)
		assertJoint(t, 5000, independent, successive)
		if testing.Short() {
			continue // seeing a fault takes longer
		}
		for _, change := range []func(*SpikeSlab){
			func(w *SpikeSlab) { w.Noise *= 2 },
			func(w *SpikeSlab) { w.Prior.Pi = 0.55 },
			func(w *SpikeSlab) { w.Prior.Variance *= 0.4 },
		} {
			wrong := right
			change(&wrong)
			independent, successive = jointSpikeSlab(m, wrong, 2)
			assertNotJoint(t, 20000, independent, successive)
		}
	}
}

func TestSpikeSlabErrors(t *testing.T) {
	x, y := regressionData(1, 5, 2)
	bad := la.NewMatrix[float64](5, 2)
	bad.Set(3, 1, math.NaN())
	good := testSpikeSlab(Sampling{})
	for want, run := range map[string]func() error{
		"mcmc: Prior.Pi is 0: it must be positive and at most 1": func() error {
			_, err := SpikeSlab{Noise: 1}.Sample(t.Context(), x, y)
			return err
		},
		"mcmc: Noise is -1: it must be positive and finite": func() error {
			m := good
			m.Noise = -1
			_, err := m.Sample(t.Context(), x, y)
			return err
		},
		"mcmc: Prior.Variance is +Inf: it must be positive and finite": func() error {
			m := good
			m.Prior.Variance = math.Inf(1)
			_, err := m.Sample(t.Context(), x, y)
			return err
		},
		"mcmc: y: 4 values for the 5 rows of x": func() error {
			_, err := good.Sample(t.Context(), x, y[:4])
			return err
		},
		"mcmc: x: entry (3, 1) is NaN": func() error {
			_, err := good.Sample(t.Context(), bad, y)
			return err
		},
		"mcmc: y: value 0 is +Inf": func() error {
			_, err := good.Sample(t.Context(), x, []float64{math.Inf(1), 0, 0, 0, 0})
			return err
		},
		"mcmc: x: empty (0×2)": func() error {
			_, err := good.Sample(t.Context(), la.NewMatrix[float64](0, 2), nil)
			return err
		},
	} {
		assert.EqualError(t, run(), want)
	}
}

func BenchmarkSpikeSlab(b *testing.B) {
	for _, standard := range []bool{false, true} {
		name := "paired"
		if standard {
			name = "standard"
		}
		b.Run(name, func(b *testing.B) {
			x, y := regressionData(1, 456, 13)
			m := testSpikeSlab(Sampling{})
			m.Standard = standard
			p, _ := m.problem(x, y)
			s := newSpikeSlabSampler(p, &la.Workspace{Workers: 1})
			r := rand.New(newStream(1, 0))
			_ = s.start(r)
			for b.Loop() {
				_ = s.sweep(r, false)
			}
		})
	}
}
