package bemkl

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/vi"
)

// compress sums the samples of kernels and targets and returns pseudo-samples in their
// place, from blocks of the given size.
func compress(t testing.TB, k *vi.Dense, y la.Matrix[float64], block int) (vi.Compressed, la.Matrix[float64]) {
	P, D, N := k.Dims()
	l := stat.Layout{Outputs: y.Rows}
	s := stat.Samples{Targets: y}
	for m := range P {
		l.Views = append(l.Views, D)
		s.Kernels = append(s.Kernels, k.At(m))
	}
	b, err := stat.NewBuilder(l, 1)
	require.NoError(t, err)
	for i := 0; i < N; i += block {
		end := min(i+block, N)
		part := stat.Samples{Targets: y.Slice(0, y.Rows, i, end)}
		for _, k := range s.Kernels {
			part.Kernels = append(part.Kernels, k.Slice(0, D, i, end))
		}
		require.NoError(t, b.Add(part))
		b.EndBlock()
	}
	m, err := b.Finish().Moments()
	require.NoError(t, err)
	r, err := m.PseudoSamples(nil, 0)
	require.NoError(t, err)
	dense, err := vi.NewDense(r.Views...)
	require.NoError(t, err)
	c, err := vi.NewCompressed(dense, r.Ones)
	require.NoError(t, err)
	return c, r.Targets
}

// sameStart returns starts of the same a whose intermediate outputs are equal shares of the
// targets, for samples and for pseudo-samples.
func sameStart(r Regression, k vi.Kernels, y, pseudo la.Matrix[float64]) (all, few *Start) {
	P, D, _ := k.Dims()
	zero := func(y la.Matrix[float64]) la.Matrix[float64] {
		c := y.Clone()
		for i, v := range c.Data {
			if math.IsNaN(v) {
				c.Data[i] = 0
			}
		}
		return c
	}
	return compressedStart(r.Seed, zero(y), P, D), compressedStart(r.Seed, zero(pseudo), P, D)
}

// furthest returns the largest difference, relative to the largest entry.
func furthest(a, b []float64) float64 {
	var apart, size float64
	for i := range a {
		apart, size = max(apart, math.Abs(a[i]-b[i])), max(size, math.Abs(a[i]))
	}
	return apart / size
}

// TestCompressedIsTheSameFit fits all samples and pseudo-samples from the same start. A
// prior that leaves the smallest eigenvalues of S without damping magnifies the roundings,
// in which the two differ, as the fit's own estimate says.
func TestCompressedIsTheSameFit(t *testing.T) {
	for i, p := range problems {
		t.Run(p.name, func(t *testing.T) {
			r, k, y := p.draw(t, uint64(i))
			few, pseudo := compress(t, k, y, 5)
			r.Plain = true
			r.Ascent = vi.Ascent{Tolerance: -1, MaxSweeps: 60}
			all := r
			all.Start, r.Start = sameStart(r, k, y, pseudo)
			want, err := all.Fit(context.Background(), k, y)
			require.NoError(t, err)
			got, err := r.Fit(context.Background(), few, pseudo)
			require.NoError(t, err)
			limit := max(1e-11, 10*want.state.Roundoff()/math.Abs(want.Record.Bound()))
			for s, b := range want.Record.Trace {
				require.InEpsilon(t, b, got.Record.Trace[s], limit, "sweep %d", s+1)
			}
			ws, gs := want.Posterior.State(), got.Posterior.State()
			assert.LessOrEqual(t, furthest(ws.A.Data, gs.A.Data), 100*limit)
			assert.LessOrEqual(t, furthest(ws.BEMean, gs.BEMean), 100*limit)
			assert.Equal(t, p.N, gs.Samples)
			assert.Equal(t, want.Collapsed, got.Collapsed)
			for o := range p.L {
				assert.InEpsilon(t, ws.Epsilon[o].Mean(), gs.Epsilon[o].Mean(), 100*limit)
				assert.Equal(t, ws.Epsilon[o].Shape, gs.Epsilon[o].Shape, "number of observed targets")
			}
		})
	}
}

// TestCompressedSharedIsTheSameFit is TestCompressedIsTheSameFit for outputs that share
// their sample weights.
func TestCompressedSharedIsTheSameFit(t *testing.T) {
	for i, p := range problems {
		if p.missing > 0 || p.lambda == broken {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			p.L = 3
			_, k, y := p.draw(t, uint64(i))
			few, pseudo := compress(t, k, y, 5)
			all := SharedRegression{Lambda: p.lambda, Omega: p.omega, Plain: true, Ascent: vi.Ascent{Tolerance: -1, MaxSweeps: 60}}
			fewer := all
			all.Start, fewer.Start = sharedCompressedStart(7, y, p.P, p.D), sharedCompressedStart(7, pseudo, p.P, p.D)
			want, err := all.Fit(context.Background(), k, y)
			require.NoError(t, err)
			got, err := fewer.Fit(context.Background(), few, pseudo)
			require.NoError(t, err)
			for s, b := range want.Record.Trace {
				require.InEpsilon(t, b, got.Record.Trace[s], 1e-11, "sweep %d", s+1)
			}
			assert.LessOrEqual(t, furthest(want.Posterior.State().A.Data, got.Posterior.State().A.Data), 1e-9)
			assert.Equal(t, p.N, got.Posterior.State().Samples)

			fewer.Start = nil
			fewer.Ascent.MaxSweeps = 3
			_, err = fewer.Fit(context.Background(), few, pseudo)
			require.NoError(t, err)
			if p.lambda == sparse {
				return // which has several optima
			}
			fewer.Start = sharedCompressedStart(7, pseudo, p.P, p.D)
			all.Plain, fewer.Plain = false, false
			all.Ascent, fewer.Ascent = vi.Ascent{Tolerance: 1e-9}, vi.Ascent{Tolerance: 1e-9}
			want, err = all.Fit(context.Background(), k, y)
			require.NoError(t, err)
			got, err = fewer.Fit(context.Background(), few, pseudo)
			require.NoError(t, err)
			assert.InEpsilon(t, want.Record.Bound(), got.Record.Bound(), 1e-6)
		})
	}
}

// TestCompressedConverges compares the accelerated order, whose conjugate gradients magnify
// roundings on the way, where it ends.
func TestCompressedConverges(t *testing.T) {
	for i, p := range problems {
		if p.lambda == sparse || p.lambda == broken {
			continue // several optima
		}
		t.Run(p.name, func(t *testing.T) {
			r, k, y := p.draw(t, uint64(i))
			few, pseudo := compress(t, k, y, 100)
			r.Ascent = vi.Ascent{Tolerance: 1e-9}
			all := r
			all.Start, _ = sameStart(r, k, y, pseudo)
			want, err := all.Fit(context.Background(), k, y)
			require.NoError(t, err)
			got, err := r.Fit(context.Background(), few, pseudo) // the default is the same start
			require.NoError(t, err)
			assert.InEpsilon(t, want.Record.Bound(), got.Record.Bound(), 1e-6)
			assert.Nil(t, got.Posterior.State().Healing)

			again := r
			again.From = got.Posterior
			more, err := again.Fit(context.Background(), few, pseudo)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, more.Record.Bound(), got.Record.Bound()*(1-1e-9)-1e-6)
		})
	}
}

func TestModelsThatNeedSamplesRefuseCompressed(t *testing.T) {
	_, k, y := problems[0].draw(t, 1)
	few, pseudo := compress(t, k, y, 100)
	want := "vi: kernels: of pseudo-samples, where the model needs the samples"
	pseudo.Fill(1)
	_, err := Classification{}.Fit(context.Background(), few, pseudo)
	assert.EqualError(t, err, want)
}
