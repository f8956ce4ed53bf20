package slab

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/cputime"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/tridiagonal"
)

// BenchmarkMultiTaskSweep is a sweep of 17 tasks with five latent functions for each of seven
// kernels that are held, once with the forms of their matrices and once without.
func BenchmarkMultiTaskSweep(b *testing.B) {
	const N, kernels, each = 1000, 7, 5
	y := la.NewMatrix[float64](17, N)
	random.Normal(random.Source(1), y.Data)
	var latents []Latent
	for p := range kernels {
		x, k := la.NewMatrix[float64](N, 10), la.NewMatrix[float64](N, N)
		random.Normal(random.Source(uint64(10+p)), x.Data)
		la.RBF(nil, 0.05, x, x, k)
		c := FixedCovariance(k)
		for range each {
			latents = append(latents, Latent{Covariance: c})
		}
	}
	for _, way := range []string{"forms", "matrices"} {
		b.Run(way, func(b *testing.B) {
			m, err := MultiTask{KeepAll: true, Workers: 1}.model(latents, y, 1)
			require.NoError(b, err)
			m.formed = way == "matrices" // none are made then
			require.NoError(b, m.form())
			used := cputime.Total()
			for b.Loop() {
				require.NoError(b, m.Sweep(nil))
			}
			b.ReportMetric((cputime.Total()-used).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// BenchmarkUniform compares what a form costs with the update of q(φ) that it saves.
func BenchmarkUniform(b *testing.B) {
	for _, N := range []int{250, 1000, 2000} {
		x, k := la.NewMatrix[float64](N, 10), la.NewMatrix[float64](N, N)
		random.Normal(random.Source(1), x.Data)
		la.RBF(nil, 0.05, x, x, k)
		h, ws, g := make([]float64, N), &la.Workspace{Workers: 1}, newLatentScratch(N, true)
		random.Normal(random.Source(2), h)
		f := latentGP{cov: FixedCovariance(k)}
		f.start(N, make([]float64, N))
		for n := range f.lambda {
			f.lambda[n] = 10
		}
		run := func(name string, each func()) {
			b.Run(fmt.Sprint(name, "/", N), func(b *testing.B) {
				used := cputime.Total()
				for b.Loop() {
					each()
				}
				b.ReportMetric((cputime.Total()-used).Seconds()/float64(b.N), "cpu-s/op")
			})
		}
		update := func() { require.NoError(b, f.update(ws, g, h)) }
		run("matrix", update)
		run("reduction", func() {
			form, err := tridiagonal.Reduce(N, func(n int, dst []float64) { f.cov.row(n, 0, dst) }, g.stop.Ended)
			require.NoError(b, err)
			f.form = form
		})
		run("form", update)
	}
}
