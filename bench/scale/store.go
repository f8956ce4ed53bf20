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
	"github.com/bmkl/bmkl/mkl/kernel"
)

// predictor is a regression of package mkl.
type predictor interface {
	Predict(x ...mkl.Features) (mean, variance []float64, err error)
	Trace() mkl.Trace
}

// store fits a regression to n samples with kernels between all of them, held as storage says:
// "float64", "float32" or the directory of a file. With process it is mkl.MultiGP, and else mkl.Regression.
// It keeps a journal of the fit in the file of that name, goes on from it if it exists, and then fits
// landmarks to the same samples. With 0 sweeps it goes on until the fit has converged.
func store(ctx context.Context, storage string, process bool, journal string, seed uint64, n, p, sweeps, workers int, noise float64) error {
	g := generator{src: rand.New(rand.NewPCG(seed, 2)), noise: noise}
	x := la.NewMatrix[float64](n, inputs)
	y, _ := g.draw(x)
	var views []mkl.View
	for i := range p {
		views = append(views, mkl.View{X: x, Kernel: kernel.RBF{Width: 0.5 * math.Pow(12, float64(i)/float64(max(1, p-1)))}})
	}
	f, ascent := mkl.Fitting{Workers: workers, MemoryLimit: math.MaxInt64}, mkl.Ascent{MaxSweeps: sweeps, Tolerance: -1}
	if sweeps == 0 {
		ascent.Tolerance = 0
	}
	if journal != "" {
		f.Journal = &mkl.Journal{Save: func(data []byte) error { return os.WriteFile(journal, data, 0o666) }}
		if data, err := os.ReadFile(journal); err == nil {
			if err := f.Journal.UnmarshalBinary(data); err != nil {
				return err
			}
			fmt.Printf("going on after %d sweeps\n", f.Journal.Sweeps())
		}
	}
	var held mkl.KernelStorage
	switch storage {
	case "float64":
	case "float32":
		held.Float32 = true
	default:
		held.Directory = storage
	}
	t := start()
	f.Progress = func(s mkl.Progress) {
		fmt.Printf("sweep %d (%d left): %v since the last; bound %.6f%s\n", s.Sweep, s.Left, t, s.Bound, residentMemory())
		t = start()
	}
	size := mkl.FitSize{Samples: n, Kernels: p, Outputs: 1}
	estimate := mkl.Regression{Fitting: f, Ascent: ascent, Storage: held}.EstimateMemory(size)
	if process {
		estimate = mkl.MultiGP{Fitting: f, Climb: mkl.Climb{MinRise: ascent.Tolerance, MaxSteps: sweeps}, Storage: held}.EstimateMemory(size)
	}
	fmt.Printf("%d samples, %d kernels in %s; estimate of memory %d MB\n", n, p, storage, estimate>>20)
	var model predictor
	var err error
	if process {
		model, err = mkl.MultiGP{Fitting: f, Climb: mkl.Climb{MinRise: ascent.Tolerance, MaxSteps: sweeps}, Storage: held}.Fit(ctx, views, y)
	} else {
		model, err = mkl.Regression{Fitting: f, Ascent: ascent, Storage: held}.Fit(ctx, views, y)
	}
	if err != nil {
		return err
	}
	fmt.Printf("posterior (%s): %v%s\n", model.Trace().Reason, t, residentMemory())
	test := la.NewMatrix[float64](1000, inputs)
	target, truth := generator{src: rand.New(rand.NewPCG(seed, 3)), noise: noise}.draw(test)
	report := func(name string, m predictor) error {
		t := start()
		mean, variance, err := m.Predict(test)
		if err != nil {
			return err
		}
		var sum, sumVariance float64
		for i, v := range mean {
			sum += v
			sumVariance += variance[i]
		}
		fmt.Printf("%s, predictions: %v; %s; sums of means %.12g and of variances %.12g%s\n",
			name, t, errorsOf(mean, variance, truth, target), sum, sumVariance, residentMemory())
		return nil
	}
	if err := report("all samples", model); err != nil {
		return err
	}
	t = start()
	few, err := mkl.LandmarkGP{Fitting: mkl.Fitting{Workers: workers, MemoryLimit: math.MaxInt64}}.Fit(ctx, views, y)
	if err != nil {
		return err
	}
	fmt.Printf("landmarks of the same kernels: %v\n", t)
	return report("landmarks", few)
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
