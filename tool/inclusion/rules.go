package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/amplitude"
)

// loss returns the mean loss, −log p of the mean of the members, on the test samples.
func (d *drawn) loss(members []*amplitude.Process) (float64, error) {
	p := make([]float64, testSamples)
	for _, f := range members {
		n := d.p.Y.Cols
		cross, self := la.NewMatrix[float64](testSamples, n), make([]float64, testSamples)
		for j, a := range f.Amplitudes {
			a *= d.p.Kernels.Units()[j]
			for i := range testSamples {
				la.Axpy(a, d.cross[j].Row(i), cross.Row(i))
			}
			la.Axpy(a, d.self[j], self)
		}
		mean, variance, err := f.Predict(nil, cross, self)
		if err != nil {
			return 0, err
		}
		if d.class == nil {
			for i, y := range d.test {
				e := y - mean.At(0, i)
				p[i] += math.Exp(-0.5*e*e/variance[i]) / math.Sqrt(2*math.Pi*variance[i]) / float64(len(members))
			}
			continue
		}
		h, err := amplitude.FitHead(f.LeftOutMean, f.LeftOutVariance, d.class, d.p.Y.Rows)
		if err != nil {
			return 0, err
		}
		out := make([][]float64, testSamples)
		for i := range out {
			out[i] = make([]float64, d.p.Y.Rows)
		}
		h.Probabilities(mean, variance, out)
		for i, c := range d.test {
			p[i] += out[i][int(c)] / float64(len(members))
		}
	}
	var sum float64
	for _, v := range p {
		sum -= math.Log(v) / testSamples
	}
	return sum, nil
}

// A rule makes multipliers of the amplitudes of the tied and of the sparse member, given the probabilities that views have information by
// themselves and that they are included. The sparse member then has its most probable amplitudes, less the share means of them, plus that
// share of the means of the amplitudes over the draws of the included views.
type rule struct {
	name  string
	means float64
	of    func(d *drawn, alone, in []float64) (tied, sparse []float64)
}

// unless returns 1 for the views whose condition holds, else 0; nil if it holds for none.
func unless(views int, keep func(v int) bool) []float64 {
	out, any := make([]float64, views), false
	for v := range out {
		if keep(v) {
			out[v], any = 1, true
		}
	}
	if !any {
		return nil
	}
	return out
}

func larger(alone, in []float64) (out []float64) {
	for v, a := range alone {
		out = append(out, max(a, in[v]))
	}
	return out
}

// asInPool keeps the views that a pool keeps.
func asInPool(_ *drawn, alone, in []float64) (a, b []float64) {
	return unless(len(alone), func(v int) bool { return alone[v] >= 0.5 || in[v] >= 0.9 }), larger(alone, in)
}

var rules = []rule{
	{"all views", 0, func(*drawn, []float64, []float64) (a, b []float64) { return nil, nil }},
	{"the real views", 0, func(d *drawn, _, _ []float64) (a, b []float64) {
		a = make([]float64, len(d.real))
		for v, real := range d.real {
			if real {
				a[v] = 1
			}
		}
		return a, a
	}},
	{"alone ≥ .5", 0, func(_ *drawn, alone, _ []float64) (a, b []float64) {
		a = unless(len(alone), func(v int) bool { return alone[v] >= 0.5 })
		return a, a
	}},
	{"either ≥ .5", 0, func(_ *drawn, alone, in []float64) (a, b []float64) {
		a = unless(len(alone), func(v int) bool { return max(alone[v], in[v]) >= 0.5 })
		return a, a
	}},
	{"soft", 0, func(_ *drawn, alone, in []float64) (a, b []float64) { return larger(alone, in), larger(alone, in) }},
	{"as in a pool", 0, asInPool},
	{"half means", 0.5, asInPool},
	{"means", 1, asInPool},
}

// tally is what a rule has got.
type tally struct {
	loss        []float64
	real, noise float64 // kept by the tied member, a share of the views
}

// compareRules prints for each kind of problem and each rule the mean loss over the loss of all views, its standard error, and how many of
// the real views and of the views of noise the tied member keeps.
func compareRules(problems, samples, classes int) error {
	fmt.Println("problem      rule            loss less all views'     SE  real kept %  noise kept %")
	for _, kind := range kinds {
		got := make([]tally, len(rules))
		for i := range problems {
			if err := applyRules(rand.New(rand.NewPCG(uint64(i), 101)), uint64(i), kind, samples, classes, got); err != nil {
				return err
			}
		}
		n := float64(problems)
		for r, rule := range rules {
			var mean, square float64
			for i, l := range got[r].loss {
				e := l - got[0].loss[i]
				mean += e / n
				square += e * e / n
			}
			se := math.Sqrt(max(square-mean*mean, 0) / max(n-1, 1))
			fmt.Printf("%-12s %-14s  %20.3f  %5.3f  %11.0f  %12.0f\n", kind, rule.name, mean, se, 100*got[r].real/n, 100*got[r].noise/n)
		}
	}
	return nil
}

// towardsMeans returns the process whose amplitudes and noise are f's and their means over draws, with the weights 1 − share and share.
func towardsMeans(p amplitude.Problem, f *amplitude.Process, draws []amplitude.Draw, share float64) (*amplitude.Process, error) {
	amplitudes := slices.Clone(f.Amplitudes)
	la.Scal(1-share, amplitudes)
	noise, each := (1-share)*f.Noise, share/float64(len(draws))
	for _, d := range draws {
		la.Axpy(each, d.Amplitudes, amplitudes)
		noise += each * d.Noise
	}
	return p.At(amplitudes, noise)
}

// applyRules draws a problem and adds what each rule gets.
func applyRules(src *rand.Rand, seed uint64, kind string, samples, classes int, got []tally) error {
	d, err := fresh(src, kind, samples, testSamples, classes)
	if err != nil {
		return err
	}
	ctx := context.Background()
	alone, err := d.p.Screen(ctx)
	if err != nil {
		return err
	}
	s, err := d.p.Select(ctx, amplitude.Sparse, nil, amplitude.Sampling{Seed: seed})
	if err != nil {
		return err
	}
	for r, rule := range rules {
		tied, sparse := rule.of(d, alone, s.Included)
		var members []*amplitude.Process
		for _, m := range []struct {
			structure amplitude.Structure
			include   []float64
		}{{amplitude.Tied, tied}, {amplitude.Sparse, sparse}} {
			f, err := d.p.Fit(ctx, m.structure, amplitude.Search{Include: m.include})
			if err != nil {
				return err
			}
			member := f.Process
			if rule.means > 0 && m.structure == amplitude.Sparse {
				if member, err = towardsMeans(d.p, f.Process, s.Draws, rule.means); err != nil {
					return err
				}
			}
			members = append(members, member)
		}
		l, err := d.loss(members)
		if err != nil {
			return err
		}
		got[r].loss = append(got[r].loss, l)
		for v := range d.real {
			kept := 1.0
			if tied != nil {
				kept = tied[v]
			}
			if v < realViews {
				got[r].real += kept / realViews
			} else {
				got[r].noise += kept / noiseViews
			}
		}
	}
	return nil
}
