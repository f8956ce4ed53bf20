package slab

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// mtmklWhite is a file of the mtmkl folder as far as factor analysis needs it.
type mtmklWhite struct {
	Kind  string
	Input struct {
		Y, Z      golden.Mat
		MeanTrain json.RawMessage `json:"mean_train"`
		Kernels   []struct{ Type string }
		Noise     string
		Learn     struct{ Sigma2, Sigw2, Pi bool }
	}
	Init struct {
		Gamma, V golden.Mat
		Mu       golden.Mat `json:"mu_w"`
		VW       golden.Mat `json:"v_w"`
		Sigma2   golden.Vec
		Sigw2    float64
		Pi       float64
	}
	Expected struct {
		BoundInitial  float64        `json:"bound_initial"`
		BoundTrace    golden.Vec     `json:"bound_trace"`
		SubstepBounds [][]namedBound `json:"substep_bounds"`
		After         map[string]struct {
			Gamma   golden.Mat
			Logit   [][]real   `json:"logit_gamma"`
			Mu      golden.Mat `json:"mu_w"`
			V       golden.Mat `json:"v_w"`
			MeanPhi golden.Mat `json:"mean_phi"`
			VarPhi  golden.Mat `json:"var_phi"`
			Sigma2  golden.Vec
			Sigw2   float64
			Pi      float64
			FMean   golden.Mat `json:"train_f_mean"`
			FVar    golden.Mat `json:"train_f_var"`
		}
	}
	Tolerance map[string]float64 `json:"tolerance_rel"`
}

// white reports whether the file is one of factor analysis.
func (f *mtmklWhite) white() bool {
	if f.Kind != "mtmkl" || len(f.Input.MeanTrain) > 0 && string(f.Input.MeanTrain) != "null" {
		return false
	}
	for _, k := range f.Input.Kernels {
		if k.Type != "white" {
			return false
		}
	}
	return true
}

func (f *mtmklWhite) model(t *testing.T, y *Observed) *factors {
	logit := func(g float64) float64 { return math.Log(g) - math.Log1p(-g) }
	var start FactorStart
	for q, row := range f.Init.Gamma {
		for k, g := range row {
			start.Weights = append(start.Weights, Pair{logit(g), f.Init.Mu[q][k], f.Init.VW[q][k]})
		}
	}
	start.Noise = f.Init.Sigma2
	learn := f.Input.Learn
	noise := NoisePerTask
	if f.Input.Noise == "shared" {
		noise = NoiseShared
	}
	m, err := Factors{
		Count: len(f.Init.Gamma[0]), Prior: Prior{f.Init.Pi, f.Init.Sigw2}, Noise: noise,
		Held: Held{!learn.Pi, !learn.Sigw2, !learn.Sigma2}, Start: &start, Plain: true, Workers: 2,
	}.model(y)
	require.NoError(t, err)
	return m
}

// TestGoldenFactors holds factor analysis, on entries and where it can on the
// whole matrix, to the files with white kernels.
func TestGoldenFactors(t *testing.T) {
	ran := 0
	for name, path := range golden.Files(t) {
		if golden.Family(path) != "mtmkl" {
			continue
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var f mtmklWhite
		if json.Unmarshal(data, &f) != nil || !f.white() {
			continue
		}
		ran++
		y := golden.MatrixOf(f.Input.Y)
		var entries []Entry
		for n := range y.Rows {
			for q := range y.Cols {
				if f.Input.Z[n][q] == 0 {
					y.Set(n, q, math.NaN())
					continue
				}
				entries = append(entries, Entry{int32(n), int32(q), y.At(n, q)})
			}
		}
		matrix, err := ObserveMatrix(y)
		require.NoError(t, err)
		sparse, err := ObserveEntries(y.Rows, y.Cols, entries)
		require.NoError(t, err)
		for kind, o := range map[string]*Observed{"matrix": matrix, "entries": sparse} {
			t.Run(name+"/"+kind, func(t *testing.T) { f.run(t, f.model(t, o)) })
		}
	}
	if ran == 0 {
		t.Skipf("%s: no file of factor analysis", golden.Dir(t))
	}
}

func (f *mtmklWhite) run(t *testing.T, m *factors) {
	want := f.Expected
	requireEach(t, "initial bound", golden.Vec{want.BoundInitial}, golden.Vec{slowBound(m)}, 1e-9)
	for it, bound := range want.BoundTrace {
		if it < len(want.SubstepBounds) {
			steps := m.smallSteps()
			require.Len(t, steps, len(want.SubstepBounds[it]))
			for i, b := range want.SubstepBounds[it] {
				require.NoError(t, steps[i].Step())
				requireEach(t, fmt.Sprintf("%s of sweep %d", b.name, it+1), golden.Vec{b.bound}, golden.Vec{slowBound(m)}, 1e-9)
			}
		} else {
			require.NoError(t, m.Sweep(nil))
		}
		at := fmt.Sprintf("after sweep %d", it+1)
		requireEach(t, "bound "+at, golden.Vec{bound}, golden.Vec{m.Bound()}, 1e-9)
		after, ok := want.After[fmt.Sprint(it+1)]
		if !ok {
			continue
		}
		tol := f.Tolerance[fmt.Sprint(it+1)]
		p := m.posterior()
		var gamma, logits, mu, v, logitsWant golden.Vec
		for _, q := range p.s.Weights {
			gamma, logits, mu, v = append(gamma, q.Inclusion()), append(logits, q.Logit), append(mu, q.Mean), append(v, q.Variance)
		}
		for _, row := range after.Logit {
			logitsWant = append(logitsWant, reals(row)...)
		}
		requireEach(t, "γ "+at, testkit.Flat(after.Gamma), gamma, tol)
		requireEach(t, "logit γ "+at, logitsWant, logits, tol)
		requireEach(t, "μ "+at, testkit.Flat(after.Mu), mu, tol)
		requireEach(t, "v "+at, testkit.Flat(after.V), v, tol)
		requireEach(t, "E[φ] "+at, testkit.Flat(after.MeanPhi), testkit.Flat(p.s.Mean), tol)
		requireEach(t, "Var[φ] "+at, testkit.Flat(after.VarPhi), testkit.Flat(p.s.Variance), tol)
		requireEach(t, "σ² "+at, after.Sigma2, p.s.Noise, tol)
		requireEach(t, "σ_w² and π "+at, golden.Vec{after.Sigw2, after.Pi}, golden.Vec{p.s.Prior.Variance, p.s.Prior.Pi}, tol)
		var mean, function golden.Vec
		for n := range p.dim.N {
			for q := range p.dim.Q {
				a, b := p.Entry(n, q)
				mean, function = append(mean, a), append(function, b)
			}
		}
		requireEach(t, "E[f] "+at, testkit.Flat(after.FMean), mean, tol)
		requireEach(t, "Var[f] "+at, testkit.Flat(after.FVar), function, tol)
	}
}

// smallSteps are the updates of a sweep, factor by factor.
func (m *factors) smallSteps() (steps []work.Update) {
	for k := range m.M {
		steps = append(steps, work.Update{Name: fmt.Sprint("φ", k), Step: func() error { return m.updateObjects(k, k+1) }})
	}
	for k := range m.M {
		steps = append(steps, work.Update{Name: fmt.Sprint("w", k), Step: func() error { m.updateTasks(k, k+1); return nil }})
	}
	if m.K > m.M {
		steps = append(steps, work.Update{Name: "c", Step: func() error { m.updateTasks(m.M, m.K); return nil }})
	}
	if m.groups != nil {
		steps = append(slices.Insert(steps, 0, m.updates[0]), m.updates[3])
		return append(steps, m.updates[4:]...)
	}
	if m.kinds != nil {
		return append(slices.Insert(steps, 0, m.updates[0]), m.updates[3:]...)
	}
	return append(steps, m.updates[2:]...)
}

// slowBound is the lower bound from nothing but the posterior and the data, entry
// by entry.
func slowBound(m *factors) float64 {
	p := m.posterior()
	s := &p.s
	y := la.NewMatrix[float64](m.N, m.Q)
	y.Fill(math.NaN())
	roots := la.NewMatrix[float64](m.N, m.Q)
	if m.y.complete() {
		y.CopyFrom(m.y.dense)
		for i := range y.Data {
			y.Data[i] += m.base
		}
	} else {
		for n := range m.N {
			index, value := m.y.byObject.line(n)
			for i, q := range index {
				c, _ := m.groupOffset(n, int(q))
				y.Set(n, int(q), value[i]+c)
				if m.y.byObject.root != nil {
					roots.Set(n, int(q), m.y.byObject.root[m.y.byObject.start[n]+i])
				}
			}
		}
	}
	var sum float64
	for n := range m.N {
		for q := range m.Q {
			if v := y.At(n, q); !math.IsNaN(v) {
				mean, function := p.Entry(n, q)
				if m.hasSites(q) {
					root := roots.At(n, q)
					sum -= 0.5 * root * root * ((v-mean)*(v-mean) + function)
					continue
				}
				noise := s.Noise[q]
				if s.Groups != nil {
					noise = s.Groups.Noise.At(s.Groups.Of[n], q)
				}
				sum -= 0.5 * (math.Log(2*math.Pi*noise) + ((v-mean)*(v-mean)+function)/noise)
			}
		}
	}
	for _, v := range m.level {
		sum += v
	}
	for i, w := range s.Weights {
		prior := s.Prior
		if s.Views != nil {
			view, q := 0, i/m.M
			for ; q >= s.Views[view]; view++ {
				q -= s.Views[view]
			}
			prior = s.Priors[view*m.M+i%m.M]
		}
		slab, spike := w.bound(prior)
		sum += slab + spike
	}
	for _, prior := range s.Priors { // the densities of 1/σ² ~ Gamma(3/2, s/2) and π ~ Beta(1, 2)
		if !m.held.Variance {
			sum += math.Log(math.Pow(m.priorScale/2, 1.5) / math.Gamma(1.5) / math.Sqrt(prior.Variance) * math.Exp(-m.priorScale/2/prior.Variance))
		}
		if !m.held.Pi {
			sum += math.Log(2 * (1 - prior.Pi))
		}
	}
	gauss := func(mean, variance float64, prior OffsetPrior) float64 {
		d := mean - prior.Mean
		return 0.5 * (math.Log(variance/prior.Variance) + 1 - (variance+d*d)/prior.Variance)
	}
	for k := range m.functions {
		sum -= m.functions[k].kl
	}
	for n := range m.N {
		for k := range m.M {
			if m.functions != nil {
				continue
			}
			prior := 1.0
			if s.Groups != nil {
				prior = s.Groups.Variance.At(s.Groups.Of[n], k)
			}
			sum += gauss(s.Mean.At(n, k), s.Variance.At(n, k), OffsetPrior{0, prior})
		}
	}
	for q := range s.Offset {
		sum += gauss(s.Offset[q], s.OffsetVariance[q], m.offsetPriorOf(q))
	}
	noises := [][]float64{s.Noise}
	if s.Groups != nil {
		noises = nil
		for g := range s.Groups.Noise.Rows {
			noises = append(noises, s.Groups.Noise.Row(g))
			for q := range s.Groups.Offset.Cols {
				sum += gauss(s.Groups.Offset.At(g, q), s.Groups.OffsetVariance.At(g, q), m.offsetPriorOf(q))
			}
		}
	}
	for _, noise := range noises {
		if s.NoiseWeight == 0 {
			break
		}
		for q, v := range noise { // the density of 1/σ²
			if m.hasSites(q) {
				continue
			}
			shape, rate := 1+s.NoiseWeight/2, s.NoiseWeight*s.NoiseScale/2
			sum += math.Log(math.Pow(rate, shape) / math.Gamma(shape) * math.Pow(v, 1-shape) * math.Exp(-rate/v))
		}
	}
	return sum
}
