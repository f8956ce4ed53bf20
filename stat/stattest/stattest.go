// Package stattest draws samples, block by block, for tests of programs that sum them. A block has the
// same samples on every machine, so that the sums have the same hash.
package stattest

import (
	"math/rand/v2"
	"sync"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/stat"
)

// Layout is the layout of the samples: two views and a target.
var Layout = stat.Layout{Plan: [32]byte{7: 1}, Views: []int{5, 3}, Outputs: 1}

// Block draws block k of [stat.BlockSamples] samples. Every tenth block has fewer, like the last block of
// a file.
func Block(k int64) stat.Samples {
	src := special.NewRand(rand.NewPCG(3, uint64(k)))
	n := stat.BlockSamples
	if k%10 == 9 {
		n -= 100
	}
	draw := func(rows int) la.Matrix[float64] {
		x := la.NewMatrix[float64](rows, n)
		for i := range x.Data {
			x.Data[i] = float64(src.Float64()) - 0.25
		}
		return x
	}
	s := stat.Samples{Targets: draw(Layout.Outputs)}
	for _, d := range Layout.Views {
		s.Kernels = append(s.Kernels, draw(d))
	}
	return s
}

// Sum sums the blocks from first on.
func Sum(first, blocks int64) (*stat.Statistic, error) {
	b, err := stat.NewBuilder(Layout, 1)
	if err != nil {
		return nil, err
	}
	for k := first; k < first+blocks; k++ {
		if err := b.Add(Block(k)); err != nil {
			return nil, err
		}
		b.EndBlock()
	}
	return b.Finish(), nil
}

// Goroutines sums as many blocks, each in a goroutine of its own, and merges them in whatever
// order they come.
func Goroutines(blocks int64) (*stat.Statistic, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total stat.Statistic
		first error
	)
	for k := range blocks {
		wg.Go(func() {
			s, err := Sum(k, 1)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				err = total.Merge(s)
			}
			if first == nil {
				first = err
			}
		})
	}
	wg.Wait()
	return &total, first
}
