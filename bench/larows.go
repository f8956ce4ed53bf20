package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/bmkl/bmkl/la"
)

func random(rows, cols int, seed uint64) la.Matrix[float64] {
	m := la.NewMatrix[float64](rows, cols)
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

func random32(rows, cols int, seed uint64) la.Matrix[float32] {
	m := la.NewMatrix[float32](rows, cols)
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}

// spd returns a well-conditioned symmetric positive definite matrix.
func spd(n int, seed uint64) la.Matrix[float64] {
	a := random(n, n, seed)
	s := la.NewMatrix[float64](n, n)
	la.Syrk(nil, la.NoTrans, 1/float64(n), a, 0, s)
	for i := range n {
		s.Set(i, i, s.At(i, i)+1)
	}
	s.MirrorLower()
	return s
}

// copies are copies of a matrix that calls destroy, to be restored between timed calls.
type copies struct {
	from la.Matrix[float64]
	to   []la.Matrix[float64]
}

func newCopies(from la.Matrix[float64]) *copies {
	// Enough that small matrices are restored seldom, and few enough to stay in the
	// second-level cache.
	k := max(1, min(256, (256<<10)/(8*from.Rows*from.Cols)))
	c := &copies{from: from}
	for range k {
		c.to = append(c.to, from.Clone())
	}
	return c
}

func (c *copies) setup(k int) {
	for i := range k {
		c.to[i].CopyFrom(c.from)
	}
}

// destroying returns a contender that runs f on a fresh copy each time.
func (c *copies) destroying(f func(a la.Matrix[float64])) contender {
	return contender{setup: c.setup, max: len(c.to), run: func(i int) { f(c.to[i]) }}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// laRows returns the rows of la, which have the names of the benchmarks in la.
func laRows(m limits) (rows list) {
	one := &la.Workspace{Workers: 1}
	two := &la.Workspace{Workers: 2}

	// against adds every peer to a row of size n, but gonum only where it does not take
	// minutes.
	against := func(r row, n int, f func(p peer) contender) row {
		for _, p := range peers {
			if n <= 1024 || p.name() != gonum.name() {
				c := f(p)
				c.name = p.name()
				r.contenders = append(r.contenders, c)
			}
		}
		return r
	}
	// ours returns our contender, followed by those that it is held to.
	ours := func(f func(), held ...contender) []contender {
		return append([]contender{{run: func(int) { f() }}}, held...)
	}

	type sized struct {
		n    int
		goal float64
	}
	// each adds a row for each size, with its goal.
	each := func(name string, sizes []sized, build func(n int) row) {
		for _, s := range sizes {
			name := fmt.Sprintf("%s/n=%d", name, s.n)
			rows.add(name, func() measurer {
				r := build(s.n)
				r.name, r.goal = name, s.goal
				return r
			})
		}
	}

	each("Gemm", []sized{{64, 0}, {128, 0}, {256, .88}, {512, 0}, {1024, .92}, {2048, .92}}, func(n int) row {
		a, b, c := random(n, n, 1), random(n, n, 2), la.NewMatrix[float64](n, n)
		return against(row{
			unit: "GFLOP/s", work: 2 * cube(n), goalPeer: fmaPeak,
			contenders: ours(func() { la.Gemm(one, la.NoTrans, la.NoTrans, 1, a, b, 0, c) }, m.fma64),
		}, n, func(p peer) contender { return contender{run: func(int) { p.gemm(a, b, c) }} })
	})
	each("Gemm", []sized{{8, 5}, {22, 5}}, func(n int) row {
		a, b, c := random(n, n, 1), random(n, n, 2), la.NewMatrix[float64](n, n)
		return against(row{
			unit: "µs", goalPeer: gonum.name(),
			contenders: ours(func() { la.Gemm(one, la.NoTrans, la.NoTrans, 1, a, b, 0, c) }),
		}, n, func(p peer) contender { return contender{run: func(int) { p.gemm(a, b, c) }} })
	})
	each("Syrk", []sized{{64, 0}, {128, 0}, {256, .70}, {512, 0}, {1024, .85}, {2048, .88}}, func(n int) row {
		a, c := random(n, n, 1), la.NewMatrix[float64](n, n)
		return against(row{
			unit: "GFLOP/s", work: cube(n), goalPeer: fmaPeak,
			contenders: ours(func() { la.Syrk(one, la.NoTrans, 1, a, 0, c) }, m.fma64),
		}, n, func(p peer) contender { return contender{run: func(int) { p.syrk(a, c) }} })
	})
	each("Cholesky", []sized{{64, 0}, {128, .35}, {256, 0}, {512, .62}, {1024, .75}, {2048, .82}}, func(n int) row {
		c := newCopies(spd(n, 1))
		return against(row{
			unit: "GFLOP/s", work: cube(n) / 3, goalPeer: fmaPeak,
			contenders: []contender{c.destroying(func(a la.Matrix[float64]) { must(la.Cholesky(one, a)) }), m.fma64},
		}, n, func(p peer) contender { return c.destroying(p.cholesky) })
	})
	each("SPDInverse", []sized{{256, .45}, {512, 0}, {1024, .75}, {2048, .82}}, func(n int) row {
		c := newCopies(spd(n, 1))
		return against(row{
			unit: "GFLOP/s", work: cube(n), goalPeer: fmaPeak,
			contenders: []contender{c.destroying(func(a la.Matrix[float64]) { factorInvert(one, a) }), m.fma64},
		}, n, func(p peer) contender {
			return c.destroying(func(a la.Matrix[float64]) { p.cholesky(a); p.inverse(a) })
		})
	})
	each("InvDiag", []sized{{256, 1 / .7}, {1024, 1 / .7}}, func(n int) row {
		l := spd(n, 1)
		must(la.Cholesky(one, l))
		d, c := make([]float64, n), newCopies(l)
		full := c.destroying(func(a la.Matrix[float64]) { la.CholeskyInv(one, a) })
		full.name = "full inverse"
		return row{unit: "µs", goalPeer: full.name, contenders: append(ours(func() { la.CholeskyInvDiag(one, l, d) }), full)}
	})
	each("SPDInverse",
		[]sized{{2, 0}, {4, 0}, {8, 5}, {16, 0}, {22, 5}, {32, 0}, {48, 0}, {64, 0}}, func(n int) row {
			c := newCopies(spd(n, 1))
			return against(row{
				unit: "µs", goalPeer: gonum.name(),
				contenders: []contender{c.destroying(func(a la.Matrix[float64]) { factorInvert(one, a) })},
			}, n, func(p peer) contender {
				return c.destroying(func(a la.Matrix[float64]) { p.cholesky(a); p.inverse(a) })
			})
		})
	each("Gemv", []sized{{2048, .95}}, func(n int) row {
		a, x, y := spd(n, 1), random(1, n, 2).Data, make([]float64, n)
		return against(row{
			unit: "GB/s", work: float64(8 * n * n), goalPeer: readRate,
			contenders: ours(func() { la.Gemv(one, la.NoTrans, 1, a, x, 0, y) }, m.read),
		}, n, func(p peer) contender { return contender{run: func(int) { p.gemv(a, x, y) }} })
	})
	each("GemvT", []sized{{2048, 0}}, func(n int) row {
		a, x, y := spd(n, 1), random(1, n, 2).Data, make([]float64, n)
		return row{
			unit: "GB/s", work: float64(8 * n * n),
			contenders: ours(func() { la.Gemv(one, la.Transpose, 1, a, x, 0, y) }, m.read),
		}
	})
	each("Symv", []sized{{2048, 1.8}}, func(n int) row {
		a, x, y := spd(n, 1), random(1, n, 2).Data, make([]float64, n)
		return against(row{
			unit: "µs", goalPeer: "Gemv",
			contenders: append(ours(func() { la.Symv(one, 1, a, x, 0, y) }),
				contender{name: "Gemv", run: func(int) { la.Gemv(one, la.NoTrans, 1, a, x, 0, y) }}),
		}, n, func(p peer) contender { return contender{run: func(int) { p.symv(a, x, y) }} })
	})
	each("Exp", []sized{{4096, 0}}, func(n int) row {
		x, y := random(1, n, 1).Data, make([]float64, n)
		return row{unit: "Gexp/s", work: float64(n), contenders: append(ours(func() { la.Exp(y, x) }),
			contender{name: "math.Exp", run: func(int) {
				for i, v := range x {
					y[i] = math.Exp(v)
				}
			}})}
	})
	each("Gemm32", []sized{{1024, .93}}, func(n int) row {
		a, b, c := random32(n, n, 1), random32(n, n, 2), la.NewMatrix[float32](n, n)
		return against(row{
			unit: "GFLOP/s", work: 2 * cube(n), goalPeer: fmaPeak32,
			contenders: ours(func() { la.Gemm(one, la.NoTrans, la.NoTrans, 1, a, b, 0, c) }, m.fma32),
		}, n, func(p peer) contender { return contender{run: func(int) { p.gemm32(a, b, c) }} })
	})
	rows.add("FMA loops/2", func() measurer { return twoLoops(m.fma64) })
	each("Gemm2", []sized{{512, 1.85}, {1024, 1.85}}, func(n int) row {
		a, b, c := random(n, n, 1), random(n, n, 2), la.NewMatrix[float64](n, n)
		return twoWorkers(one, two, nil, func(w *la.Workspace, _ la.Matrix[float64]) {
			la.Gemm(w, la.NoTrans, la.NoTrans, 1, a, b, 0, c)
		})
	})
	each("Syrk2", []sized{{512, 1.85}, {1024, 1.85}}, func(n int) row {
		a, c := random(n, n, 1), la.NewMatrix[float64](n, n)
		return twoWorkers(one, two, nil, func(w *la.Workspace, _ la.Matrix[float64]) {
			la.Syrk(w, la.NoTrans, 1, a, 0, c)
		})
	})
	each("Cholesky2", []sized{{512, 1.85}, {1024, 1.85}}, func(n int) row {
		return twoWorkers(one, two, newCopies(spd(n, 1)), func(w *la.Workspace, a la.Matrix[float64]) {
			must(la.Cholesky(w, a))
		})
	})
	each("SPDInverse2", []sized{{512, 1.85}, {1024, 1.85}}, func(n int) row {
		return twoWorkers(one, two, newCopies(spd(n, 1)), factorInvert)
	})
	return append(rows, stopRows(one)...)
}

func cube(n int) float64 { return math.Pow(float64(n), 3) }

// factorInvert replaces the symmetric positive definite a by its inverse.
func factorInvert(w *la.Workspace, a la.Matrix[float64]) {
	must(la.Cholesky(w, a))
	la.CholeskyInv(w, a)
}

// twoLoops compares two loops at the same time with one after the other. The ratio is
// what two workers can gain at most: on a shared machine both may run on the two threads
// of one core.
func twoLoops(loop contender) row {
	return row{unit: "µs", procs: 2, contenders: []contender{
		{run: func(i int) {
			var other sync.WaitGroup
			other.Go(func() { loop.run(i) })
			loop.run(i)
			other.Wait()
		}},
		{name: "one after the other", run: func(i int) {
			loop.run(i)
			loop.run(i)
		}},
	}}
}

// twoWorkers compares f on two workers with f on one. c holds what f destroys, or is
// nil if it destroys nothing.
func twoWorkers(one, two *la.Workspace, c *copies, f func(*la.Workspace, la.Matrix[float64])) row {
	on := func(w *la.Workspace) contender {
		if c != nil {
			return c.destroying(func(a la.Matrix[float64]) { f(w, a) })
		}
		return contender{run: func(int) { f(w, la.Matrix[float64]{}) }}
	}
	both, single := on(two), on(one)
	single.name = "1 worker"
	return row{unit: "µs", procs: 2, goalPeer: single.name, contenders: []contender{both, single}}
}
