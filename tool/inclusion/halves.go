package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
)

// compareHalves prints for each kind of problem how far the shares of the views in two halves of the samples are apart, the mean standard
// deviation that they have, the standard deviation that the gaps show, and how many gaps are within two standard deviations.
func compareHalves(problems, samples, classes int) error {
	fmt.Println("problem      shares  mean gap %  mean SD %  SD that gaps show %  within two SD %  share of noise %")
	for _, kind := range kinds {
		var n, gap, sd, square, inside, noise float64
		for i := range problems {
			d, err := fresh(rand.New(rand.NewPCG(uint64(i), 103)), kind, 2*samples, 0, classes)
			if err != nil {
				return err
			}
			var mean, spread [2][]float64
			for h := range 2 {
				if mean[h], spread[h], err = d.half(h, uint64(i)); err != nil {
					return err
				}
			}
			for v, a := range mean[0] {
				e := math.Abs(a - mean[1][v])
				told := math.Hypot(spread[0][v], spread[1][v])
				n++
				gap += e
				square += e * e / 2
				sd += (spread[0][v] + spread[1][v]) / 2
				if e <= 2*told {
					inside++
				}
				if !d.real[v] {
					noise += (a + mean[1][v]) / 2
				}
			}
		}
		fmt.Printf("%-12s %6.0f  %10.1f  %9.1f  %19.1f  %15.0f  %16.1f\n", kind, n, 100*gap/n, 100*sd/n, 100*math.Sqrt(square/n), 100*inside/n, 100*noise/float64(problems))
	}
	return nil
}

// half returns the shares of the views in every second sample, from the first or the second on, and their standard deviations.
func (d *drawn) half(from int, seed uint64) (mean, sd []float64, err error) {
	p := d.p
	n := d.p.Y.Cols / 2
	var kernels []la.Matrix[float64]
	for _, whole := range d.whole {
		k := la.NewMatrix[float64](n, n)
		for i := range n {
			for j := range n {
				k.Set(i, j, whole.At(2*i+from, 2*j+from))
			}
		}
		centreOn(k, n)
		kernels = append(kernels, k)
	}
	dense, err := vi.NewDense(kernels...)
	if err != nil {
		return nil, nil, err
	}
	if p.Kernels, err = amplitude.Pack(dense, false); err != nil {
		return nil, nil, err
	}
	p.Y = la.NewMatrix[float64](d.p.Y.Rows, n)
	for c := range p.Y.Rows {
		row := p.Y.Row(c)
		for i := range n {
			row[i] = d.p.Y.At(c, 2*i+from)
		}
		standardise(la.MatrixOf(n, 1, row))
	}
	s, err := p.Select(context.Background(), amplitude.Sparse, nil, amplitude.Sampling{Seed: seed + uint64(from), Draws: 40})
	if err != nil {
		return nil, nil, err
	}
	shares, err := p.Shares(context.Background(), s.Draws, seed)
	if err != nil {
		return nil, nil, err
	}
	draws := float64(len(s.Draws))
	for v := range d.real {
		var m, square float64
		for i := range s.Draws {
			m += shares.Function.At(i, v) / draws
		}
		for i := range s.Draws {
			e := shares.Function.At(i, v) - m
			square += e * e / (draws - 1)
		}
		mean, sd = append(mean, m), append(sd, math.Sqrt(square))
	}
	return mean, sd, nil
}
