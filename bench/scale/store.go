package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// store fits a regression to n samples with kernels between all of them, held as storage says:
// "float64", "float32" or the directory of a file.
func store(ctx context.Context, storage string, seed uint64, n, p, sweeps, workers int, noise float64) error {
	g := generator{rand.New(rand.NewPCG(seed, 2)), noise}
	x := la.NewMatrix[float64](n, inputs)
	y, _ := g.draw(x)
	var views []mkl.View
	for i := range p {
		views = append(views, mkl.View{X: x, Kernel: mkl.RBF{Width: 0.5 * math.Pow(12, float64(i)/float64(max(1, p-1)))}})
	}
	r := mkl.Regression{Fitting: mkl.Fitting{MaxSweeps: sweeps, Tolerance: -1, Workers: workers, MemoryLimit: math.MaxInt64}}
	switch storage {
	case "float64":
	case "float32":
		r.Kernels.Float32 = true
	default:
		r.Kernels.Directory = storage
	}
	fmt.Printf("%d samples, %d kernels in %s; estimate of memory %d MB\n", n, p, storage,
		r.EstimateMemory(mkl.Size{Samples: n, Kernels: p, Outputs: 1})>>20)
	t := start()
	r.Progress = func(s mkl.Progress) {
		fmt.Printf("sweep %d: %v since the last; bound %.6f%s\n", s.Sweep, t, s.Bound, residentMemory())
		t = start()
	}
	model, err := r.Fit(ctx, views, y)
	if err != nil {
		return err
	}
	fmt.Printf("posterior: %v%s\n", t, residentMemory())
	test := la.NewMatrix[float64](1000, inputs)
	_, f := generator{rand.New(rand.NewPCG(seed, 3)), noise}.draw(test)
	t = start()
	mean, variance, err := model.Predict(test)
	if err != nil {
		return err
	}
	var square, sum, sumVariance float64
	for i, v := range mean {
		square += (v - f[i]) * (v - f[i])
		sum += v
		sumVariance += variance[i]
	}
	fmt.Printf("predictions: %v; RMSE of f %.6f; sums of means %.12g and of variances %.12g%s\n",
		t, math.Sqrt(square/float64(len(mean))), sum, sumVariance, residentMemory())
	return nil
}

// residentMemory says, where the system does, what of this process is in memory now and was at
// the most: of its own, and of files.
func residentMemory() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	var out []string
	for line := range strings.Lines(string(status)) {
		for _, name := range []string{"VmHWM:", "RssAnon:", "RssFile:"} {
			if v, ok := strings.CutPrefix(line, name); ok {
				out = append(out, name+" "+strings.TrimSpace(v))
			}
		}
	}
	return "; " + strings.Join(out, ", ")
}
