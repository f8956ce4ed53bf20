package mcmc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/slab"
)

// replay is a stream of given numbers.
type replay struct{ uniforms, normals golden.Vec }

func next(x *golden.Vec) float64 {
	v := (*x)[0]
	*x = (*x)[1:]
	return v
}

func (r *replay) Float64() float64     { return next(&r.uniforms) }
func (r *replay) NormFloat64() float64 { return next(&r.normals) }

func TestGoldenPairedGibbs(t *testing.T) {
	var g struct {
		Input struct {
			X        golden.Mat
			Y        golden.Vec
			Sigma2   float64
			Sigw2    float64
			Pi       float64
			S0, W0   golden.Vec
			Uniforms golden.Mat
			Normals  golden.Mat
			Burn     int
		}
		Expected struct {
			S, W   golden.Mat
			RBMean golden.Vec `json:"rb_mean"`
			RBProb golden.Vec `json:"rb_prob"`
		}
		ToleranceRel float64 `json:"tolerance_rel"`
	}
	golden.Read(t, "mtmkl", "10_paired_gibbs.json", &g)
	in := g.Input
	p, err := SpikeSlab{Prior: slab.Prior{Pi: in.Pi, Variance: in.Sigw2}, Noise: in.Sigma2}.problem(golden.MatrixOf(in.X), in.Y)
	require.NoError(t, err)
	s := newSpikeSlabSampler(p, nil)
	require.NoError(t, s.restore(append(append(golden.Vec(nil), in.W0...), in.S0...)))
	M := len(in.W0)
	mean, prob := make(golden.Vec, M), make(golden.Vec, M)
	for it := range in.Uniforms {
		r := &replay{in.Uniforms[it], in.Normals[it]}
		require.NoError(t, s.sweep(r, false))
		for m := range M {
			require.Equal(t, g.Expected.S[it][m] == 1, s.on[m], "sweep %d, s[%d]", it, m)
		}
		near(t, g.Expected.W[it], s.slab, g.ToleranceRel, "w̃")
		if it >= in.Burn {
			la.Axpy(1/float64(len(in.Uniforms)-in.Burn), s.mean, mean)
			la.Axpy(1/float64(len(in.Uniforms)-in.Burn), s.inclusion, prob)
		}
	}
	near(t, g.Expected.RBMean, mean, g.ToleranceRel, "rb_mean")
	near(t, g.Expected.RBProb, prob, g.ToleranceRel, "rb_prob")
}

// near checks that the largest difference is within tol of max(1, the largest
// expected value).
func near(t *testing.T, want, got golden.Vec, tol float64, msg ...any) {
	t.Helper()
	require.Len(t, got, len(want), msg...)
	scale := 1.0
	for _, v := range want {
		scale = max(scale, v, -v)
	}
	require.InDeltaSlice(t, want, got, tol*scale, msg...)
}
