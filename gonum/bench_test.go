//go:build unix

package gonum

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	gonumblas "gonum.org/v1/gonum/blas/gonum"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// BenchmarkImport runs what a program calls of mat with and without the import, in turns.
// It reports the time of the processors that each takes, in milliseconds, and how many times
// as long it takes without.
func BenchmarkImport(b *testing.B) {
	if _, ok := blas64.Implementation().(BLAS); !ok {
		b.Skip("the import does nothing here")
	}
	for _, n := range []int{64, 256, 1024} {
		a, spd := benchmarkData(n)
		for _, c := range []struct {
			name string
			call func()
		}{
			{"Mul", func() {
				var c mat.Dense
				c.Mul(a, a)
			}},
			{"CholeskySolve", func() {
				var chol mat.Cholesky
				var x mat.Dense
				if !chol.Factorize(spd) {
					panic("not positive definite")
				}
				if err := chol.SolveTo(&x, a); err != nil {
					panic(err)
				}
			}},
			{"SVD", func() {
				var svd mat.SVD
				if !svd.Factorize(a, mat.SVDThin) {
					panic("no convergence")
				}
			}},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) { inTurns(b, c.call) })
		}
	}
}

// benchmarkData returns an n×n matrix and a positive definite one.
func benchmarkData(n int) (*mat.Dense, *mat.SymDense) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	spd := mat.NewSymDense(n, nil)
	spd.SymOuterK(1, a)
	for i := range n {
		spd.SetSym(i, i, spd.At(i, i)+1)
	}
	return a, spd
}

// inTurns measures call without and with la.
func inTurns(b *testing.B, call func()) {
	var without, with time.Duration
	for b.Loop() {
		blas64.Use(gonumblas.Implementation{})
		lapack64.Use(gonumlapack.Implementation{})
		without += processorTime(call)
		blas64.Use(BLAS{})
		lapack64.Use(LAPACK{})
		with += processorTime(call)
	}
	perCall := func(d time.Duration) float64 { return d.Seconds() * 1e3 / float64(b.N) }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(perCall(without), "without-ms")
	b.ReportMetric(perCall(with), "with-ms")
	b.ReportMetric(without.Seconds()/with.Seconds(), "times")
}

// processorTime returns the time that this process has spent on all processors while call ran.
func processorTime(call func()) time.Duration {
	now := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := now()
	call()
	return now() - start
}
