package stat_test

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/stat"
)

// layout has one view with two landmarks and one target.
var layout = stat.Layout{Plan: [32]byte{1}, Views: []int{2}, Outputs: 1}

// samples returns n samples, from number first on.
func samples(first, n int) stat.Samples {
	s := stat.Samples{
		Kernels: []la.Matrix[float64]{la.NewMatrix[float64](2, n)},
		Targets: la.NewMatrix[float64](1, n),
	}
	for i := range n {
		x := float64((first+i)%4) / 4
		s.Kernels[0].Set(0, i, 1-x)
		s.Kernels[0].Set(1, i, x)
		s.Targets.Set(0, i, 2*x)
	}
	return s
}

// One pass over samples leaves their number and sums.
func ExampleBuilder() {
	b, err := stat.NewBuilder(layout, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for first := 0; first < 100; first += 10 { // pieces of any size
		if err := b.Add(samples(first, 10)); err != nil {
			fmt.Println(err)
			return
		}
	}
	m, err := b.Finish().Moments()
	if err != nil {
		fmt.Println(err)
		return
	}
	n, mean, sd := m.Target(0)
	fmt.Printf("%g samples, mean kernels %.3f\n", m.Samples(), m.ViewMean(0))
	fmt.Printf("target: %g values, mean %.3f, standard deviation %.3f\n", n, mean, sd)
	// Output:
	// 100 samples, mean kernels [0.625 0.375]
	// target: 100 values, mean 0.750, standard deviation 0.562
}

// Two machines sum a part each. The statistic is the same, bit for bit, as of one machine, if the data
// set is cut between blocks.
func ExampleStatistic_Merge() {
	sum := func(first, n int) *stat.Statistic {
		b, err := stat.NewBuilder(layout, 0)
		if err != nil {
			panic(err)
		}
		if err := b.Add(samples(first, n)); err != nil {
			panic(err)
		}
		return b.Finish()
	}
	whole := sum(0, stat.BlockSamples+500)

	parts := sum(stat.BlockSamples, 500)
	if err := parts.Merge(sum(0, stat.BlockSamples)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(parts.Samples(), parts.Hash() == whole.Hash())

	// Without the last 500 samples again.
	if err := parts.Subtract(sum(stat.BlockSamples, 500)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(parts.Samples())
	// Output:
	// 8692 true
	// 8192
}

// Whitening chooses landmarks and makes them orthonormal: of three landmarks, two of them equal,
// two remain.
func ExampleWhiten() {
	kernel := la.MatrixOf(3, 3, []float64{
		1, 0, 0,
		0.5, 1, 0,
		0.5, 1, 1, // equal to landmark 1
	})
	f, err := stat.Whiten(nil, kernel, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("landmarks", f.Landmarks)
	for i := range f.By.Rows {
		fmt.Printf("%.3f\n", f.By.Row(i))
	}
	// Output:
	// landmarks [0 1]
	// [1.000 0.000 0.000]
	// [-0.577 1.155 0.000]
}

// The moments of standardised targets and centred kernels, computed from the sums.
func ExampleMoments_Apply() {
	b, err := stat.NewBuilder(layout, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := b.Add(samples(0, 100)); err != nil {
		fmt.Println(err)
		return
	}
	m, err := b.Finish().Moments()
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err = m.Apply(nil, m.Standard())
	if err != nil {
		fmt.Println(err)
		return
	}
	_, mean, sd := m.Target(0)
	fmt.Printf("target: mean %.3f, standard deviation %.3f\n", mean, sd)
	// Output: target: mean 0.000, standard deviation 1.000
}
