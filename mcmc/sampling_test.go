package mcmc

import (
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/slab"
)

// regressionData are inputs with correlated columns, and their targets. Some weights
// are zero.
func regressionData(seed uint64, N, M int) (x la.Matrix[float64], y []float64) {
	r := rand.New(newStream(seed, -1))
	x = la.NewMatrix[float64](N, M)
	y = make([]float64, N)
	for n := range N {
		common := r.NormFloat64()
		for m := range M {
			x.Set(n, m, r.NormFloat64()+0.8*common)
			if m%2 == 0 {
				y[n] += 0.5 * x.At(n, m) / float64(1+m)
			}
		}
		y[n] += 0.6 * r.NormFloat64()
	}
	return x, y
}

func testSpikeSlab(s Sampling) SpikeSlab {
	return SpikeSlab{Prior: slab.Prior{Pi: 0.4, Variance: 0.8}, Noise: 0.36, Sampling: s}
}

// Every sampler is held to what the package promises of runs.
func testRuns(t *testing.T, sample func(context.Context, Sampling) (*Draws, error)) {
	t.Helper()
	all := func(d *Draws) [][]float64 { return d.chains }
	base := Sampling{Chains: 3, Draws: 8, Thin: 2, BurnIn: 5, Seed: 5, Workers: 1}
	whole, err := sample(t.Context(), base)
	require.NoError(t, err)
	require.Equal(t, 8, whole.Len())
	require.Equal(t, 3, whole.Chains())
	assert.NotEqual(t, whole.chains[0], whole.chains[1])

	t.Run("workers", func(t *testing.T) {
		for _, n := range []int{2, 7} {
			s := base
			s.Workers = n
			d, err := sample(t.Context(), s)
			require.NoError(t, err)
			assert.Equal(t, all(whole), all(d), "%d workers", n)
		}
	})
	t.Run("seed", func(t *testing.T) {
		s := base
		s.Seed++
		d, err := sample(t.Context(), s)
		require.NoError(t, err)
		assert.NotEqual(t, all(whole), all(d))
	})
	t.Run("resume", func(t *testing.T) {
		// Interrupted in the burn-in and among the draws, by the context, each time
		// through bytes.
		for _, stop := range []int{2, 12, 16, 40} {
			var last *Checkpoint
			done := 0
			ctx, cancel := context.WithCancel(context.Background())
			s := base
			s.Workers = 2
			s.Every = 4
			s.Progress = func(p Progress) {
				if done++; done == stop {
					cancel()
				}
				assert.Equal(t, done, p.Done)
				assert.Equal(t, 21, p.Sweeps)
			}
			s.Checkpoint = func(p *Checkpoint) error {
				last = p
				return nil
			}
			_, err := sample(ctx, s)
			require.ErrorIs(t, err, context.Canceled)
			data, err := last.MarshalBinary()
			require.NoError(t, err)
			var again Checkpoint
			require.NoError(t, again.UnmarshalBinary(data))
			require.Equal(t, last.Sweeps(), again.Sweeps())
			s.Progress, s.Resume, s.Workers = nil, &again, 1
			d, err := sample(t.Context(), s)
			require.NoError(t, err)
			assert.Equal(t, all(whole), all(d), "stopped after %d sweeps", stop)
			assert.Equal(t, whole.Moves(), d.Moves())
		}
	})
	t.Run("longer", func(t *testing.T) {
		var last *Checkpoint
		s := base
		s.Draws = 3
		s.Checkpoint = func(p *Checkpoint) error {
			last = p
			return nil
		}
		_, err := sample(t.Context(), s)
		require.NoError(t, err)
		s = base
		s.Resume = last
		d, err := sample(t.Context(), s)
		require.NoError(t, err)
		assert.Equal(t, all(whole), all(d))
		s.Draws = 2
		_, err = sample(t.Context(), s)
		assert.ErrorContains(t, err, "Draws")
	})
}

func sampleSpikeSlab(standard bool) func(context.Context, Sampling) (*Draws, error) {
	x, y := regressionData(1, 30, 5)
	return func(ctx context.Context, s Sampling) (*Draws, error) {
		m := testSpikeSlab(s)
		m.Standard = standard
		d, err := m.Sample(ctx, x, y)
		return d.Draws, err
	}
}

func TestRuns(t *testing.T) {
	t.Run("paired", func(t *testing.T) { testRuns(t, sampleSpikeSlab(false)) })
	t.Run("standard", func(t *testing.T) { testRuns(t, sampleSpikeSlab(true)) })
}

func TestSamplingDefaults(t *testing.T) {
	x, y := regressionData(1, 30, 5)
	d, err := testSpikeSlab(Sampling{}).Sample(t.Context(), x, y)
	require.NoError(t, err)
	assert.Equal(t, DefaultChains, d.Chains())
	assert.Equal(t, DefaultDraws, d.Len())
	_, err = testSpikeSlab(Sampling{Thin: -1}).Sample(t.Context(), x, y)
	assert.EqualError(t, err, "mcmc: Sampling.Thin is -1: it must not be negative")
}

// Whatever ends a run, the draws before it are there.
func TestInterrupted(t *testing.T) {
	x, y := regressionData(1, 30, 5)
	ctx, cancel := context.WithCancelCause(t.Context())
	full := errors.New("the disk is full")
	s := Sampling{Chains: 2, Draws: 50, BurnIn: -1, Workers: 1, Progress: func(p Progress) {
		if p.Chain == 1 && p.Sweep == 20 {
			cancel(full)
		}
	}}
	d, err := testSpikeSlab(s).Sample(ctx, x, y)
	assert.ErrorIs(t, err, full)
	assert.EqualError(t, err, "mcmc: chain 1: stopped after 20 sweeps: the disk is full")
	assert.Equal(t, 20, d.Len())
	assert.Equal(t, 1, d.Value("w", 0, 49).Rows)

	s = Sampling{Chains: 2, Draws: 50, BurnIn: -1, Every: 10, Checkpoint: func(p *Checkpoint) error {
		if p.Sweeps() == 30 {
			return full
		}
		return nil
	}}
	d, err = testSpikeSlab(s).Sample(t.Context(), x, y)
	assert.ErrorIs(t, err, full)
	assert.Equal(t, 30, d.Len())
}

func testCheckpoint(t testing.TB) (*Checkpoint, []byte) {
	x, y := regressionData(1, 30, 5)
	var last *Checkpoint
	_, err := testSpikeSlab(Sampling{Chains: 2, Draws: 5, Checkpoint: func(p *Checkpoint) error {
		last = p
		return nil
	}}).Sample(context.Background(), x, y)
	require.NoError(t, err)
	data, err := last.MarshalBinary()
	require.NoError(t, err)
	return last, data
}

func TestCheckpointOfSomethingElse(t *testing.T) {
	x, y := regressionData(1, 30, 5)
	p, _ := testCheckpoint(t)
	good := testSpikeSlab(Sampling{Chains: 2, Draws: 5, Resume: p})
	_, err := good.Sample(t.Context(), x, y)
	require.NoError(t, err)
	for want, change := range map[string]func(*SpikeSlab){
		"Seed":     func(m *SpikeSlab) { m.Sampling.Seed = 1 },
		"Chains":   func(m *SpikeSlab) { m.Sampling.Chains = 3 },
		"Thin":     func(m *SpikeSlab) { m.Sampling.Thin = 2 },
		"BurnIn":   func(m *SpikeSlab) { m.Sampling.BurnIn = 6 },
		"standard": func(m *SpikeSlab) { m.Standard = true },
		"hyper":    func(m *SpikeSlab) { m.Prior.Pi = 0.3 },
	} {
		m := good
		change(&m)
		_, err := m.Sample(t.Context(), x, y)
		assert.ErrorContains(t, err, want)
	}
	y[3]++
	_, err = good.Sample(t.Context(), x, y)
	assert.ErrorContains(t, err, "other data")
}

func TestCheckpointDamaged(t *testing.T) {
	_, data := testCheckpoint(t)
	var p Checkpoint
	for n := range data {
		require.Error(t, p.UnmarshalBinary(data[:n]))
	}
	for i := range data {
		data[i] ^= 1
		require.Error(t, p.UnmarshalBinary(data))
		data[i] ^= 1
	}
	require.NoError(t, p.UnmarshalBinary(data))
}

func FuzzCheckpoint(f *testing.F) {
	_, data := testCheckpoint(f)
	f.Add(data[:len(data)-sha256.Size])
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha256.Sum256(body)
		var p Checkpoint
		if p.UnmarshalBinary(append(body[:len(body):len(body)], sum[:]...)) != nil {
			return
		}
		data, err := p.MarshalBinary()
		require.NoError(t, err)
		assert.Equal(t, body, data[:len(data)-sha256.Size])
		x, y := regressionData(1, 30, 5)
		_, _ = testSpikeSlab(Sampling{Chains: 2, Draws: 5, Resume: &p}).Sample(t.Context(), x, y)
	})
}

func TestSamplingLimits(t *testing.T) {
	for want, s := range map[string]Sampling{
		"Chains is 1048576": {Chains: 1 << 20},
		"BurnIn is ":        {BurnIn: maxSweeps + 1},
		"Thin 1073741824":   {Draws: 1 << 29, Thin: 1 << 30},
		"Draws is -1":       {Draws: -1},
	} {
		_, err := s.run(t.Context(), target{})
		assert.ErrorContains(t, err, want)
	}
}
