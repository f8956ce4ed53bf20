// Inclusion measures whether the probabilities that views are included are calibrated: of the views that have the
// probability q, a share q should be among those that made the data.
//
//	go run ./tool/inclusion [-problems 2000] [-prior] [-samples 40] [-views 6] [-sweeps 150]
//	go run ./tool/inclusion -observed [-problems 60] [-samples 60] [-views 4]
//	go run ./tool/inclusion -rules [-problems 40] [-samples 60] [-classes 0]
//	go run ./tool/inclusion -halves [-problems 40] [-samples 60] [-classes 0]
//
// With -prior problems are drawn from the prior of the posterior that is computed. Without, they are made by other rules: features
// that share factors over the views, smooth functions of some views whose sizes differ by up to a factor of ten, and noise of a
// tenth to three times their size; numbers and up to four classes in turn. It prints a table of reliability by tenths.
//
// With -observed the observations are times, then counts, then grades. Four tenths of the times are censored. Package mkl computes the tables.
//
// With -rules and -halves problems have three views that matter, in the ways of [kinds], and five of noise. With -rules it compares rules that
// leave views out by the loss on new samples; with -halves the shares of the views in two halves of the samples.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
)

func main() {
	problems := flag.Int("problems", 2000, "how many problems")
	prior := flag.Bool("prior", false, "draw problems from the prior")
	samples := flag.Int("samples", 40, "samples of a problem")
	views := flag.Int("views", 6, "views of a problem")
	sweeps := flag.Int("sweeps", 0, "sweeps of the sampler; 0 means its default")
	observed := flag.Bool("observed", false, "judge views by times, counts and grades")
	rules := flag.Bool("rules", false, "compare rules that leave views out")
	halves := flag.Bool("halves", false, "compare the shares of two halves")
	classes := flag.Int("classes", 0, "classes of the problems of -rules and -halves; 0 means numbers")
	flag.Parse()
	var err error
	switch {
	case *observed:
		err = runObserved(*problems, *samples, *views)
	case *rules:
		err = compareRules(*problems, *samples, *classes)
	case *halves:
		err = compareHalves(*problems, *samples, *classes)
	default:
		err = run(*problems, *prior, *samples, *views, *sweeps)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "inclusion:", err)
		os.Exit(1)
	}
}

// bins are the views whose probability is in each tenth.
type bins [10]struct {
	n, on              int
	expected, variance float64
}

// add adds a view with the probability q.
func (b *bins) add(q float64, on bool) {
	t := &b[min(int(10*q), 9)]
	t.n++
	t.expected += q
	t.variance += q * (1 - q)
	if on {
		t.on++
	}
}

// print prints the table of reliability of some problems.
func (b *bins) print(of string) {
	fmt.Printf("%s\nprobability  views  included %%  expected %%  standard deviations\n", of)
	for t, b := range b {
		if b.n == 0 {
			continue
		}
		n := float64(b.n)
		fmt.Printf("%.1f to %.1f   %6d  %10.1f  %10.1f  %19.1f\n", float64(t)/10, float64(t+1)/10, b.n, 100*float64(b.on)/n, 100*b.expected/n,
			(float64(b.on)-b.expected)/math.Sqrt(b.variance))
	}
}

func run(problems int, prior bool, samples, views, sweeps int) error {
	var bins bins
	for i := range problems {
		src := rand.New(rand.NewPCG(uint64(i), 77))
		var p amplitude.Problem
		var truth []bool
		var err error
		if prior {
			p, _, err = problem(src, samples, views, 0)
			truth = p.Simulate(src, 1+i%3)
		} else {
			p, truth, err = problem(src, samples, views, i%4)
		}
		if err != nil {
			return err
		}
		s, err := p.Select(context.Background(), amplitude.Sparse, nil, amplitude.Sampling{Seed: uint64(i), Sweeps: sweeps})
		if err != nil {
			return err
		}
		for v, q := range s.Included {
			bins.add(q, truth[v])
		}
	}
	bins.print("numbers and classes")
	return nil
}

// problem returns kernels of views that share factors, targets of so many classes (below 2: numbers), and which views have a function.
func problem(src *rand.Rand, n, views, classes int) (p amplitude.Problem, on []bool, err error) {
	const factors = 4
	shared := normal(src, n, factors)
	columns := max(classes, 1)
	f := la.NewMatrix[float64](columns, n)
	var kernels []la.Matrix[float64]
	for v := range views {
		width := 1 + src.IntN(8)
		x := normal(src, n, width)
		la.Gemm(nil, la.NoTrans, la.NoTrans, 0.5, shared, normal(src, factors, width), 1, x)
		standardise(x)
		median := float64(2 * width)
		for kind, gamma := range []float64{0, 1 / median, 0.25 / median} {
			k := la.NewMatrix[float64](n, n)
			if gamma == 0 {
				la.Gemm(nil, la.NoTrans, la.Transpose, 1, x, x, 0, k)
			} else {
				la.RBF(nil, gamma, x, x, k)
			}
			centre(k)
			kernels = append(kernels, k)
			p.Layout.View, p.Layout.Kind = append(p.Layout.View, v), append(p.Layout.Kind, kind)
		}
		on = append(on, src.Float64() < 0.5)
		if !on[v] {
			continue
		}
		size := math.Pow(10, src.Float64()-1)
		for c := range columns {
			addPart(src, size, x, f.Row(c))
		}
	}
	d, err := vi.NewDense(kernels...)
	if err != nil {
		return p, nil, err
	}
	if p.Kernels, err = amplitude.Pack(d, true); err != nil {
		return p, nil, err
	}
	p.Workers = 1
	noise := math.Pow(10, 1.5*src.Float64()-1)
	for c := range columns {
		for i := range n {
			f.Row(c)[i] += noise * src.NormFloat64()
		}
	}
	if classes > 1 {
		label := la.NewMatrix[float64](classes, n)
		for i := range n {
			best := i % classes // the first samples are of each class
			if i >= classes {
				for c := range classes {
					if f.At(c, i) > f.At(best, i) {
						best = c
					}
				}
			}
			label.Set(best, i, 1)
		}
		f, p.Indicators = label, true
	}
	for c := range f.Rows {
		row := la.MatrixOf(n, 1, f.Row(c))
		standardise(row)
	}
	p.Y = f
	return p, on, nil
}

// standardise gives every column the mean 0 and the variance 1.
func standardise(x la.Matrix[float64]) {
	n := float64(x.Rows)
	for c := range x.Cols {
		var mean, square float64
		for i := range x.Rows {
			mean += x.At(i, c) / n
		}
		for i := range x.Rows {
			d := x.At(i, c) - mean
			x.Set(i, c, d)
			square += d * d / n
		}
		for i := range x.Rows {
			x.Set(i, c, x.At(i, c)/math.Sqrt(square))
		}
	}
}

// centre subtracts the means of rows and columns of a kernel.
func centre(k la.Matrix[float64]) {
	n := float64(k.Rows)
	mean := make([]float64, k.Rows)
	var all float64
	for i := range mean {
		for _, v := range k.Row(i) {
			mean[i] += v / n
		}
		all += mean[i] / n
	}
	for i := range mean {
		for j := range mean {
			k.Set(i, j, k.At(i, j)-mean[i]-mean[j]+all)
		}
	}
}
