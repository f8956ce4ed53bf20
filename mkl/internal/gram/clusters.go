package gram

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// clusterSweeps is the number of sweeps of k-means. More sweeps hardly move the centres.
const clusterSweeps = 10

// clusterBlock is the number of samples whose distances to the centres are in memory at a time.
const clusterBlock = 1024

// clusters is k-means of samples whose features are standardised.
type clusters struct {
	ws       *la.Workspace
	samples  la.Matrix[float64] // N × columns
	centre   la.Matrix[float64] // clusters × columns
	of       []int              // the cluster of each sample
	distance la.Matrix[float64] // of a block of samples to the centres
}

// Centres returns count centres of clusters of the standardised features, in the units of the features. k-means++
// draws the initial centres.
//
// Source: D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding",
// SODA 2007.
func (ds *Design) Centres(ctx context.Context, count int, seed uint64, workers int) ([]la.Matrix[float64], error) {
	z := ds.standardized()
	c := clusters{
		ws: &la.Workspace{Workers: workers}, samples: z, centre: la.NewMatrix[float64](count, z.Cols),
		of: make([]int, z.Rows), distance: la.NewMatrix[float64](min(z.Rows, clusterBlock), count),
	}
	c.draw(special.NewRand(rand.NewPCG(seed, 0x6b6d65616e73)))
	for range clusterSweeps {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("mkl: landmarks: %w", context.Cause(ctx))
		}
		c.assign()
		c.move()
	}
	return ds.inUnits(c.centre), nil
}

// standardized returns the features of all inputs side by side, each with mean 0 and standard deviation 1.
func (ds *Design) standardized() la.Matrix[float64] {
	var columns int
	for _, in := range ds.Inputs {
		columns += in.Cols
	}
	z, first := la.NewMatrix[float64](ds.D, columns), 0
	for _, in := range ds.Inputs {
		mean, sd := ColumnStats(in.Basis)
		for i := range ds.D {
			for j, v := range in.Basis.Row(i) {
				z.Set(i, first+j, (v-mean[j])/sd[j])
			}
		}
		first += in.Cols
	}
	return z
}

// inUnits converts rows of [Design.standardized] to the units of the features: a matrix for each input.
func (ds *Design) inUnits(z la.Matrix[float64]) (out []la.Matrix[float64]) {
	first := 0
	for _, in := range ds.Inputs {
		mean, sd := ColumnStats(in.Basis)
		x := la.NewMatrix[float64](z.Rows, in.Cols)
		for c := range z.Rows {
			for j := range in.Cols {
				x.Set(c, j, mean[j]+float64(sd[j]*z.At(c, first+j)))
			}
		}
		out = append(out, x)
		first += in.Cols
	}
	return out
}

// draw draws the first centres among the samples: each with a probability proportional to its squared distance to the
// nearest centre drawn before.
func (c *clusters) draw(src special.Rand) {
	n := c.samples.Rows
	far, d := make([]float64, n), la.NewMatrix[float64](1, n)
	pick := src.IntN(n)
	for k := range c.centre.Rows {
		copy(c.centre.Row(k), c.samples.Row(pick))
		la.SqDist(c.ws, c.centre.Slice(k, k+1, 0, c.centre.Cols), c.samples, d)
		for i, v := range d.Row(0) {
			if k == 0 || v < far[i] {
				far[i] = v
			}
		}
		at := src.Float64() * vec.Total(far)
		pick = n - 1
		for i, v := range far {
			if at -= v; at < 0 {
				pick = i
				break
			}
		}
	}
}

// assign gives each sample the cluster whose centre is nearest.
func (c *clusters) assign() {
	n := c.samples.Rows
	for first := 0; first < n; first += clusterBlock {
		last := min(n, first+clusterBlock)
		part := c.distance.Slice(0, last-first, 0, c.centre.Rows)
		la.SqDist(c.ws, c.samples.Slice(first, last, 0, c.samples.Cols), c.centre, part)
		for i := range part.Rows {
			c.of[first+i] = vec.ArgMin(part.Row(i))
		}
	}
}

// move makes each centre the mean of the samples of its cluster. A cluster without samples keeps its centre.
func (c *clusters) move() {
	size := make([]float64, c.centre.Rows)
	for _, k := range c.of {
		size[k]++
	}
	for k, s := range size {
		if s > 0 {
			clear(c.centre.Row(k))
		}
	}
	for i, k := range c.of {
		la.Axpy(1/size[k], c.samples.Row(i), c.centre.Row(k))
	}
}
