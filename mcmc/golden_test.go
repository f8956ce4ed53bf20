package mcmc

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

var goldenDir = flag.String("golden", "../testdata/golden", "folder with golden files in sub-folders mtmkl, pmkl, or one of these")

type (
	vec    = []float64
	mat    = [][]float64
	tensor = [][][]float64
)

func matrixOf(rows mat) la.Matrix[float64] {
	m := la.NewMatrix[float64](len(rows), len(rows[0]))
	for i, row := range rows {
		copy(m.Row(i), row)
	}
	return m
}

// readGolden reads a file of a family; the test is skipped if the folder given has
// other families only.
func readGolden(t *testing.T, family, name string, into any) {
	t.Helper()
	folders := map[string]string{}
	for _, f := range []string{"mtmkl", "pmkl"} {
		for _, dir := range []string{filepath.Join(*goldenDir, f), *goldenDir} {
			absolute, err := filepath.Abs(dir)
			require.NoError(t, err)
			if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.Base(absolute) == f {
				folders[f] = dir
			}
		}
	}
	require.NotEmpty(t, folders, "%s: neither mtmkl nor pmkl", *goldenDir)
	if folders[family] == "" {
		t.Skipf("%s: no folder %s", *goldenDir, family)
	}
	data, err := os.ReadFile(filepath.Join(folders[family], name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}

// replay is a stream of given numbers.
type replay struct{ uniforms, normals vec }

func next(x *vec) float64 {
	v := (*x)[0]
	*x = (*x)[1:]
	return v
}

func (r *replay) Float64() float64     { return next(&r.uniforms) }
func (r *replay) NormFloat64() float64 { return next(&r.normals) }

func TestGoldenPairedGibbs(t *testing.T) {
	var g struct {
		Input struct {
			X        mat
			Y        vec
			Sigma2   float64
			Sigw2    float64
			Pi       float64
			S0, W0   vec
			Uniforms mat
			Normals  mat
			Burn     int
		}
		Expected struct {
			S, W   mat
			RBMean vec `json:"rb_mean"`
			RBProb vec `json:"rb_prob"`
		}
		ToleranceRel float64 `json:"tolerance_rel"`
	}
	readGolden(t, "mtmkl", "10_paired_gibbs.json", &g)
	in := g.Input
	p, err := SpikeSlab{Prior: vi.SlabPrior{Pi: in.Pi, Variance: in.Sigw2}, Noise: in.Sigma2}.problem(matrixOf(in.X), in.Y)
	require.NoError(t, err)
	s := newSpikeSlabSampler(p, nil)
	require.NoError(t, s.restore(append(append(vec(nil), in.W0...), in.S0...)))
	M := len(in.W0)
	mean, prob := make(vec, M), make(vec, M)
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
func near(t *testing.T, want, got vec, tol float64, msg ...any) {
	t.Helper()
	require.Len(t, got, len(want), msg...)
	scale := 1.0
	for _, v := range want {
		scale = max(scale, v, -v)
	}
	require.InDeltaSlice(t, want, got, tol*scale, msg...)
}
