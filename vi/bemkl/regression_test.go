package bemkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/gram"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// problem is a small regression drawn at random.
type problem struct {
	name          string
	P, D, N, L    int
	lambda, omega vi.Gamma
	missing       float64 // share of the targets
}

var (
	sparse = vi.Gamma{Shape: 1e-10, Scale: 1e10}
	broken = vi.Gamma{Shape: 1e-10, Scale: 1e-10}
)

var problems = []problem{
	{name: "square", P: 3, D: 12, N: 12, L: 1},
	{name: "one kernel", P: 1, D: 8, N: 8, L: 2},
	{name: "one sample", P: 2, D: 1, N: 1, L: 2},
	{name: "few basis points", P: 3, D: 5, N: 14, L: 2},
	{name: "many basis points", P: 2, D: 15, N: 6, L: 1},
	{name: "missing", P: 3, D: 10, N: 10, L: 4, missing: 0.4},
	{name: "missing, rectangular", P: 2, D: 4, N: 11, L: 3, missing: 0.2},
	{name: "sparse", P: 4, D: 15, N: 15, L: 1, lambda: sparse, omega: sparse},
	{name: "sparse, many outputs", P: 4, D: 11, N: 13, L: 3, lambda: sparse, omega: sparse, missing: 0.1},
	{name: "tiny scale", P: 3, D: 12, N: 12, L: 1, lambda: broken, omega: broken},
	{name: "mixed", P: 3, D: 12, N: 12, L: 2, lambda: vi.Gamma{Shape: 0.5, Scale: 20}, omega: vi.Gamma{Shape: 3, Scale: 0.1}},
}

func (p problem) draw(t testing.TB, seed uint64) (Regression, *vi.Dense, la.Matrix[float64]) {
	src := rand.New(rand.NewPCG(seed, 7))
	basis, samples := make(golden.Vec, p.D), make(golden.Vec, p.N)
	for d := range basis {
		basis[d] = src.NormFloat64()
	}
	for i := range samples {
		samples[i] = src.NormFloat64()
	}
	if p.D == p.N {
		copy(basis, samples)
	}
	var ks []la.Matrix[float64]
	for m := range p.P {
		k := la.NewMatrix[float64](p.D, p.N)
		w := math.Ldexp(0.25, m)
		for d, x := range basis {
			for i, z := range samples {
				k.Set(d, i, math.Exp(-(x-z)*(x-z)/(2*w*w)))
			}
		}
		ks = append(ks, k)
	}
	k, err := vi.NewDense(ks...)
	require.NoError(t, err)
	y := la.NewMatrix[float64](p.L, p.N)
	for o := range p.L {
		for i, x := range samples {
			y.Set(o, i, math.Sin(3*x+float64(o))+0.3*src.NormFloat64())
			if i > 0 && src.Float64() < p.missing {
				y.Set(o, i, math.NaN())
			}
		}
	}
	return Regression{Lambda: p.lambda, Omega: p.omega, Seed: seed, Workers: 2}, k, y
}

// moments is a posterior written out: what a reader of the paper would store.
type moments struct {
	k       *vi.Dense
	y       la.Matrix[float64] // NaN where missing
	priors  RegressionPriors
	lambda  [][]vi.Gamma // L, D
	upsilon []vi.Gamma
	gamma   []vi.Gamma
	omega   []vi.Gamma
	epsilon []vi.Gamma
	a       []normalFactor   // L of dimension D
	g       [][]normalFactor // L, N of dimension P
	be      normalFactor     // L+P

	// If there are any, Cov[a] is at its best for the present λ and υ, and the bound has
	// the tangents of its log determinants.
	line []*tangent
}

type normalFactor struct {
	mean []float64
	cov  la.Matrix[float64]
}

func (f normalFactor) second(i, j int) float64 { return f.mean[i]*f.mean[j] + f.cov.At(i, j) }

func (f normalFactor) entropy(t testing.TB) float64 {
	l := f.cov.Clone()
	require.NoError(t, la.Cholesky(nil, l))
	return 0.5*la.LogDet(l) + 0.5*float64(len(f.mean))*(1+math.Log(2*math.Pi))
}

// gammaTerm is E[log p(x)] − E[log q(x)] by the definition.
func gammaTerm(q, p vi.Gamma) float64 {
	lp, _ := math.Lgamma(p.Shape)
	lq, _ := math.Lgamma(q.Shape)
	logP := (p.Shape-1)*q.MeanLog() - q.Mean()/p.Scale - lp - p.Shape*math.Log(p.Scale)
	entropy := q.Shape + math.Log(q.Scale) + lq + (1-q.Shape)*special.Digamma(q.Shape)
	return logP + entropy
}

// normalTerm is E[log N(x; ·, 1/τ)] given E[(x − ·)²].
func normalTerm(tau vi.Gamma, square float64) float64 {
	return 0.5*tau.MeanLog() - 0.5*math.Log(2*math.Pi) - 0.5*tau.Mean()*square
}

// bound is E[log p(y, Θ, Ξ)] − E[log q(Θ, Ξ)], term by term.
func (s *moments) bound(t testing.TB) float64 {
	P, D, N := s.k.Dims()
	L := len(s.a)
	sum := s.be.entropy(t)
	for o, line := range s.line {
		lambda := make([]float64, D)
		for d, l := range s.lambda[o] {
			lambda[d] = l.Mean()
		}
		s.a[o].cov = line.covariance(t, lambda, s.upsilon[o].Mean())
		sum -= line.below(t, lambda, s.upsilon[o].Mean())
	}
	for m := range P {
		sum += gammaTerm(s.omega[m], s.priors.Omega) + normalTerm(s.omega[m], s.be.second(L+m, L+m))
	}
	for o := range L {
		sum += gammaTerm(s.upsilon[o], s.priors.Upsilon) + gammaTerm(s.epsilon[o], s.priors.Epsilon)
		sum += gammaTerm(s.gamma[o], s.priors.Gamma) + normalTerm(s.gamma[o], s.be.second(o, o))
		sum += s.a[o].entropy(t)
		for d := range D {
			sum += gammaTerm(s.lambda[o][d], s.priors.Lambda) + normalTerm(s.lambda[o][d], s.a[o].second(d, d))
		}
		for i := range N {
			g := s.g[o][i]
			sum += g.entropy(t)
			for m := range P {
				// E[(g − aᵀk)²]
				var h, v float64
				for d := range D {
					kd := s.k.At(m).At(d, i)
					h += s.a[o].mean[d] * kd
					for c := range D {
						v += kd * s.a[o].cov.At(d, c) * s.k.At(m).At(c, i)
					}
				}
				sum += normalTerm(s.upsilon[o], (g.mean[m]-h)*(g.mean[m]-h)+g.cov.At(m, m)+v)
			}
			if y := s.y.At(o, i); !math.IsNaN(y) {
				// E[(y − eᵀg − b)²]
				b := s.be.mean[o]
				square := y*y - 2*y*b + s.be.second(o, o)
				for m := range P {
					square += -2*y*s.be.mean[L+m]*g.mean[m] + 2*s.be.second(o, L+m)*g.mean[m]
					for n := range P {
						square += s.be.second(L+m, L+n) * g.second(m, n)
					}
				}
				sum += normalTerm(s.epsilon[o], square)
			}
		}
	}
	return sum
}

// watch follows a model and writes its state out.
type watch struct {
	m     *regression
	y     la.Matrix[float64]
	aCov  []la.Matrix[float64]
	shape []la.Matrix[float64] // Cov[a] up to its scale
	line  []*tangent           // in its place, since the first accelerated sweep
	late  []float64            // variance of a missing sample's g, by output
	last  []float64            // E[υ] after the last update
}

func newWatch(m *regression, y la.Matrix[float64]) *watch {
	w := &watch{m: m, y: y}
	for range m.L {
		w.late, w.last = append(w.late, 1), append(w.last, 1)
		w.aCov = append(w.aCov, conjugate.NewGaussian(m.D).Cov)
		w.shape = append(w.shape, conjugate.NewGaussian(m.D).Cov)
	}
	return w
}

// see follows missing samples' g, whose variance is 1/E[υ] when G is updated.
func (w *watch) see(after string) {
	for o := range w.m.L {
		upsilon := w.m.upsilonMean[o]
		switch after {
		case "G", "Cov[a]", "(a,b,G,λ)", "(b,G)":
			w.late[o] = 1 / upsilon
		case "scale":
			w.late[o] *= w.last[o] / upsilon
		}
		w.last[o] = upsilon
	}
}

func (w *watch) moments(t testing.TB, after string) *moments {
	m := w.m
	s := &moments{k: m.K.(*vi.Dense), y: w.y, priors: m.priors}
	p := m.Posterior()
	rows := make([]int, m.D)
	for d := range rows {
		rows[d] = d
	}
	for o := range m.L {
		if after == "a" || after == "Cov[a]" {
			var err error
			w.shape[o], err = p.WeightCovariance(nil, o, rows)
			require.NoError(t, err)
		}
		if after == "Cov[a]" {
			if o == 0 {
				w.line = nil
			}
			w.line = append(w.line, newTangent(t, s.k, means(m.Lambda.Scale[o*m.D:(o+1)*m.D], m.Lambda.Shape), m.upsilonMean[o]))
		}
		// The factorisation gives Cov[a] its shape, and the scale step its size.
		w.aCov[o].CopyFrom(w.shape[o])
		la.Scal(m.AVar.At(o, 0)/w.shape[o].At(0, 0), w.aCov[o].Data)
		var lambda []vi.Gamma
		for d := range m.D {
			lambda = append(lambda, m.Lambda.At(o*m.D+d))
		}
		s.lambda = append(s.lambda, lambda)
		s.a = append(s.a, normalFactor{append(golden.Vec(nil), m.AMean.Row(o)...), w.aCov[o].Clone()})
		var gs []normalFactor
		for i := range m.N {
			g := conjugate.NewGaussian(m.P)
			copy(g.Mean, meanOfG(m.latent, o, i))
			for j := range m.P {
				if math.IsNaN(w.y.At(o, i)) {
					g.Cov.Set(j, j, w.late[o])
				}
			}
			if !math.IsNaN(w.y.At(o, i)) {
				g.Cov.CopyFrom(m.GCov[o])
			}
			gs = append(gs, normalFactor{g.Mean, g.Cov})
		}
		s.g = append(s.g, gs)
	}
	s.upsilon, s.epsilon, s.gamma, s.omega = p.s.Upsilon, p.s.Epsilon, p.s.Gamma, p.s.Omega
	s.be = normalFactor{p.s.BEMean, p.s.BECov}
	s.line = w.line
	return s
}

// means returns the means of gamma distributions of the given scales and shape.
func means(scale []float64, shape float64) []float64 {
	x := append(golden.Vec(nil), scale...)
	la.Scal(shape, x)
	return x
}

// meanOfG returns E[g_{r,i}], which an accelerated sweep does not write out.
func meanOfG(l *latent, r, i int) []float64 {
	g := make([]float64, l.P)
	p := l.plane
	for m := range g {
		switch {
		case p == nil || !p.staged:
			g[m] = l.GMean.At(r*l.P+m, i)
		case l.Observed.Rows > 0 && l.Observed.At(r, i) == 0:
			g[m] = l.H.At(r*l.P+m, i)
		default:
			g[m] = -p.offset.At(r, m)
			for o := r * p.M; o < (r+1)*p.M; o++ {
				g[m] += p.gain.At(o, m) * p.target.At(o, i)
			}
			for j := range l.P {
				g[m] += p.through[r].At(m, j) * l.H.At(r*l.P+j, i)
			}
		}
	}
	return g
}

// TestBoundIsTheSumOfItsTerms holds the bound after every update against the
// definition, and the update itself against finite differences: no change of
// the factor's parameters may raise the bound.
func TestBoundIsTheSumOfItsTerms(t *testing.T) {
	for i, p := range problems {
		if p.lambda == broken {
			continue // finite differences of E[λ]·a² with E[λ] = 5e9 drown in rounding
		}
		t.Run(p.name, func(t *testing.T) {
			r, k, y := p.draw(t, 3)
			r.Plain = i%2 == 0
			m, err := r.model(k, y)
			require.NoError(t, err)
			w := newWatch(m, y)
			src := rand.New(rand.NewPCG(5, 5))
			start := w.moments(t, "start")
			assert.InEpsilon(t, start.bound(t), m.Bound(), 1e-9, "start")
			m.updates.Done = work.FirstSweeps - 2 // two plain sweeps, then accelerated ones
			for sweep := range 4 {
				updates := 0
				require.NoError(t, m.Sweep(func(name string) {
					w.see(name)
					if updates++; updates > 24 && name != "G" && updates%17 != 0 {
						return // of the many rounds of an accelerated sweep, two and some
					}
					s := w.moments(t, name)
					want := s.bound(t)
					require.InEpsilon(t, want, m.Bound(), 1e-9, "after %s of sweep %d", name, sweep)
					if name != "scale" {
						s.requireOptimal(t, name, src)
					}
				}))
			}
		})
	}
}

// requireOptimal perturbs the factor of the given name.
func (s *moments) requireOptimal(t *testing.T, name string, src *rand.Rand) {
	t.Helper()
	const delta = 1e-3
	best := s.bound(t)
	try := func(what string, perturb func(x float64) (undo func())) {
		t.Helper()
		at := func(x float64) float64 {
			undo := perturb(x)
			defer undo()
			return s.bound(t) - best
		}
		up, down := at(delta), at(-delta)
		curve := -(up + down)
		noise := 1e-11 * math.Abs(best)
		if curve < -noise || math.Abs(up-down) > 0.1*curve+noise {
			t.Errorf("%s: the bound changes by %g and %g at ±%g", what, up, down, delta)
		}
	}
	gammaFactor := func(what string, g *vi.Gamma) {
		old := *g
		undo := func() { *g = old }
		try(what+" scale", func(x float64) func() { g.Scale *= 1 + x; return undo })
		try(what+" shape", func(x float64) func() { g.Shape *= 1 + x; return undo })
	}
	covariance := func(what string, f *normalFactor) {
		n, old := len(f.mean), f.cov.Clone()
		mix := la.NewMatrix[float64](n, n)
		for i := range n {
			for j := range n {
				mix.Set(i, j, src.NormFloat64()/float64(n)*math.Sqrt(f.cov.At(i, i)/f.cov.At(j, j)))
			}
		}
		try(what+" covariance", func(x float64) func() {
			// (I + xM)·Σ·(I + xM)ᵀ
			m, half := mix.Clone(), la.NewMatrix[float64](n, n)
			la.Scal(x, m.Data)
			for i := range n {
				m.Row(i)[i] += 1
			}
			la.Gemm(nil, la.NoTrans, la.NoTrans, 1, m, old, 0, half)
			la.Gemm(nil, la.NoTrans, la.Transpose, 1, half, m, 0, f.cov)
			return func() { f.cov.CopyFrom(old) }
		})
	}
	normalFactors := func(what string, f *normalFactor) {
		old, direction := append(golden.Vec(nil), f.mean...), make(golden.Vec, len(f.mean))
		for i := range direction {
			direction[i] = src.NormFloat64() * math.Sqrt(f.cov.At(i, i))
		}
		try(what+" mean", func(x float64) func() {
			la.Axpy(x*30, direction, f.mean)
			return func() { copy(f.mean, old) }
		})
		covariance(what, f)
	}
	o := src.IntN(len(s.a))
	switch name {
	case "λ":
		gammaFactor(name, &s.lambda[o][src.IntN(len(s.lambda[o]))])
	case "υ":
		gammaFactor(name, &s.upsilon[o])
	case "γ":
		gammaFactor(name, &s.gamma[o])
	case "ω":
		gammaFactor(name, &s.omega[src.IntN(len(s.omega))])
	case "ε":
		gammaFactor(name, &s.epsilon[o])
	case "a":
		normalFactors(name, &s.a[o])
	case "Cov[a]": // the mean of a is not there yet
		line := s.line
		s.line = nil // Cov[a] itself
		covariance(name, &s.a[o])
		s.line = line
		normalFactors(name, &s.g[o][src.IntN(len(s.g[o]))])
	case "(λ,Cov[a])":
		gammaFactor(name, &s.lambda[o][src.IntN(len(s.lambda[o]))])
	case "(a,b,G,λ)":
		gammaFactor("λ", &s.lambda[o][src.IntN(len(s.lambda[o]))])
		fallthrough
	case "(b,G)":
		old := s.be.mean[o]
		try("b", func(x float64) func() {
			s.be.mean[o] += x
			return func() { s.be.mean[o] = old }
		})
		fallthrough
	case "G":
		normalFactors(name, &s.g[o][src.IntN(len(s.g[o]))])
	case "(b,e)":
		normalFactors(name, &s.be)
	default:
		t.Fatalf("unknown factor %q", name)
	}
}

func TestBoundRisesAtEveryUpdate(t *testing.T) {
	for _, p := range problems {
		for _, plain := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/plain=%v", p.name, plain), func(t *testing.T) {
				for seed := range testkit.Fewer(uint64(4), 1) {
					r, k, y := p.draw(t, seed)
					r.Plain = plain
					sweeps := 150
					if !plain {
						sweeps = work.FirstSweeps + 20 // of two hundred updates each
					}
					requireMonotone(t, r, k, y, testkit.Fewer(sweeps, work.FirstSweeps+5))
				}
			})
		}
	}
}

func requireMonotone(t testing.TB, r Regression, k vi.Kernels, y la.Matrix[float64], sweeps int) *regression {
	t.Helper()
	m, err := r.model(k, y)
	require.NoError(t, err)
	require.NoError(t, m.Sweep(nil))
	last := m.Bound()
	for i := range sweeps {
		require.NoError(t, m.Sweep(func(name string) {
			b := m.Bound()
			require.False(t, testkit.Fell(last, b, m.Roundoff()), "sweep %d: %s: from %.17g to %.17g (%g)", i+2, name, last, b, b-last)
			last = b
		}))
	}
	return m
}

func TestScaleStepFollowsTheRidge(t *testing.T) {
	for _, p := range problems {
		r, k, y := p.draw(t, 1)
		m := requireMonotone(t, r, k, y, 2)
		m.updateScale()
		a, b, c := m.ridge()
		assert.InDelta(t, 0, c+a-b, 1e-9*(math.Abs(a)+b+c), "%s: s = 1 is the root after the step", p.name)
		from := m.Bound()
		for _, s := range []float64{0.25, 0.9, 1.1, 3} {
			m.rescale(s)
			for o := range m.L {
				m.upsilon.Scale[o] /= s
			}
			change := -a*math.Log(s) - b*(1/s-1) - c*(s-1)
			assert.InDelta(t, change, m.Bound()-from, 1e-9*(1+math.Abs(from)), "%s: s = %g", p.name, s)
			assert.LessOrEqual(t, change, 1e-12)
			m.rescale(1 / s)
			for o := range m.L {
				m.upsilon.Scale[o] *= s
			}
		}
	}
}

func TestWorkersDoNotChangeBits(t *testing.T) {
	for _, p := range problems {
		var want *regression
		for _, workers := range []int{1, 2, 7} {
			r, k, y := p.draw(t, 2)
			r.Workers = workers
			m, err := r.model(k, y)
			require.NoError(t, err)
			for range 20 {
				require.NoError(t, m.Sweep(nil))
			}
			if want == nil {
				want = m
				continue
			}
			assert.Equal(t, want.AMean, m.AMean, p.name)
			assert.Equal(t, want.GMean, m.GMean, p.name)
			assert.Equal(t, want.be.Cov, m.be.Cov, p.name)
			assert.Equal(t, want.Lambda.Scale, m.Lambda.Scale, p.name)
			assert.Equal(t, want.Bound(), m.Bound(), p.name)
		}
	}
}

// TestBoundIsBelowTheEvidence compares with the evidence of two samples and one
// kernel, by sampling the prior; a, b and ε's data are integrated by sampling
// too, G exactly: y_i | a, b, e ~ N(e·aᵀk_i + b, 1/ε + e²/υ).
func TestBoundIsBelowTheEvidence(t *testing.T) {
	k, err := vi.NewDense(la.MatrixOf(2, 2, []float64{1, 0.5, 0.5, 1}))
	require.NoError(t, err)
	y := la.MatrixOf(1, 2, []float64{0.8, -0.3})
	pr := vi.Gamma{Shape: 2, Scale: 0.5}
	fit, err := Regression{Lambda: pr, Upsilon: pr, Gamma: pr, Omega: pr, Epsilon: pr}.Fit(context.Background(), k, y)
	require.NoError(t, err)

	src := rand.New(rand.NewPCG(11, 11))
	// Gamma(2, 1/2) is half the sum of two exponentials.
	precision := func() float64 { return 0.5 * (src.ExpFloat64() + src.ExpFloat64()) }
	draw := func() float64 { return src.NormFloat64() / math.Sqrt(precision()) }
	const n = 400000
	var sum, squares float64
	for range n {
		a1, a2, b, e := draw(), draw(), draw(), draw()
		v := 1/precision() + e*e/precision()
		r1, r2 := y.At(0, 0)-b-e*(a1+0.5*a2), y.At(0, 1)-b-e*(0.5*a1+a2)
		p := math.Exp(-(r1*r1+r2*r2)/(2*v)) / (2 * math.Pi * v)
		sum += p
		squares += p * p
	}
	mean := sum / n
	se := math.Sqrt((squares/n - mean*mean) / n)
	require.Less(t, se/mean, 0.01)
	evidence := math.Log(mean)
	assert.Less(t, fit.Record.Bound(), evidence-3*se/mean)
	assert.Greater(t, fit.Record.Bound(), evidence-5)
}

func TestCollapseIsReported(t *testing.T) {
	r, k, y := problem{P: 3, D: 40, N: 40, L: 2, lambda: sparse, omega: sparse}.draw(t, 1)
	r.Ascent.MaxSweeps = 100
	fit, err := r.Fit(context.Background(), k, y)
	require.NoError(t, err)
	assert.Empty(t, fit.Collapsed)

	r.Omega = vi.Gamma{Shape: 1e9, Scale: 1e9} // kernel weights of 1e-9
	fit, err = r.Fit(context.Background(), k, y)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1}, fit.Collapsed)

	clear(y.Row(1)) // nothing to explain
	fit, err = r.Fit(context.Background(), k, y)
	require.NoError(t, err)
	assert.Equal(t, []int{0}, fit.Collapsed)
}

// TestSparseFitsDoNotCollapse starts the accelerated order of updates at random
// under sparse priors, which it needs its first plain sweeps for.
func TestSparseFitsDoNotCollapse(t *testing.T) {
	r, k, y := problem{P: 9, D: 60, N: 60, L: 1, lambda: sparse, omega: sparse}.draw(t, 1)
	r.Ascent.MaxSweeps = 60
	for r.Seed = range uint64(6) {
		fit, err := r.Fit(context.Background(), k, y)
		require.NoError(t, err)
		assert.Empty(t, fit.Collapsed, "seed %d", r.Seed)
	}
}

func TestFitStopsWithItsContext(t *testing.T) {
	r, k, y := problems[0].draw(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	r.Ascent.Progress = func(p vi.Progress) {
		if p.Sweep == 2 {
			cancel()
		}
	}
	fit, err := r.Fit(ctx, k, y)
	assert.ErrorIs(t, err, context.Canceled)
	require.NotNil(t, fit)
	assert.Equal(t, vi.Cancelled, fit.Record.Reason)
	assert.Len(t, fit.Record.Trace, 2)
	_, err = fit.Posterior.Predict(k, vi.PredictOptions{})
	assert.NoError(t, err)

	fit, err = r.Fit(ctx, k, y)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, fit)
}

func TestFitNamesWhatIsWrong(t *testing.T) {
	k, err := vi.NewDense(la.NewMatrix[float64](2, 3))
	require.NoError(t, err)
	nan := math.NaN()
	y := la.NewMatrix[float64](1, 3)
	for want, c := range map[string]struct {
		r Regression
		k vi.Kernels
		y la.Matrix[float64]
	}{
		"vi: kernels: nil": {y: y},
		"vi: y: 1×2 where at least one row of 3 samples is needed":                     {k: k, y: la.NewMatrix[float64](1, 2)},
		"vi: y: 0×0 where at least one row of 3 samples is needed":                     {k: k},
		"vi: y: row 1: every value is missing":                                         {k: k, y: golden.MatrixOf(golden.Mat{{1, 2, 3}, {nan, nan, nan}})},
		"vi: y: entry (0, 2) is -Inf":                                                  {k: k, y: golden.MatrixOf(golden.Mat{{1, 2, math.Inf(-1)}})},
		"vi: prior Omega: Gamma(1, -1): shape and scale must be positive and finite":   {r: Regression{Omega: vi.Gamma{Shape: 1, Scale: -1}}, k: k, y: y},
		"vi: prior Lambda: Gamma(NaN, 1): shape and scale must be positive and finite": {r: Regression{Lambda: vi.Gamma{Shape: nan, Scale: 1}}, k: k, y: y},
		"vi: Start.A: 1×3 where 1×2 is needed":                                         {r: Regression{Start: &Start{A: y, G: y}}, k: k, y: y},
		"vi: Start.G: 2×3 where 1×3 is needed":                                         {r: Regression{Start: &Start{A: la.NewMatrix[float64](1, 2), G: la.NewMatrix[float64](2, 3)}}, k: k, y: y},
		"vi: Start.A: entry (0, 1) is NaN":                                             {r: Regression{Start: &Start{A: golden.MatrixOf(golden.Mat{{1, nan}}), G: y}}, k: k, y: y},
	} {
		_, err := c.r.Fit(context.Background(), c.k, c.y)
		assert.EqualError(t, err, want)
	}
}

// TestScaledKernels has noise-free targets, kernels of size 1e4 and sparse
// priors, which plain double precision does not survive.
func TestScaledKernels(t *testing.T) {
	for seed := range testkit.Fewer(uint64(5), 1) {
		p := problem{P: 4, D: 25, N: 25, L: 1, lambda: sparse, omega: sparse}
		r, k, y := p.draw(t, seed)
		for i := range 25 {
			y.Set(0, i, la.Dot(k.At(1).Row(3), k.At(2).Row(i)))
		}
		for m := range p.P {
			la.Scal(1e4, k.At(m).Data)
		}
		requireMonotone(t, r, k, y, 300)
	}
}

// TestJitter has υ·s·S·s beyond the inverse of the machine's precision, so that
// rounding leaves I + υ·s·S·s indefinite.
func TestJitter(t *testing.T) {
	_, k, _ := problem{P: 2, D: 60, N: 60, L: 1}.draw(t, 3)
	sum, b, s := la.NewMatrix[float64](60, 60), la.NewMatrix[float64](60, 60), make(golden.Vec, 60)
	k.GramSum(nil, sum)
	factor := func(scale float64) (float64, error) {
		for d := range s {
			s[d] = scale
		}
		return gram.Factor(nil, b, sum, 1, s)
	}
	jitter, err := factor(1)
	require.NoError(t, err)
	assert.Zero(t, jitter)
	jitter, err = factor(1e10)
	require.NoError(t, err)
	assert.Positive(t, jitter)
	assert.LessOrEqual(t, jitter, 1e-8)

	sum.Set(30, 30, -1)
	_, err = factor(1)
	var pivot *la.PivotError
	require.ErrorAs(t, err, &pivot)
	sum.Set(30, 30, math.NaN())
	_, err = factor(1)
	require.ErrorAs(t, err, &pivot)
	assert.False(t, pivot.Indefinite())
}

// TestHarshPriors has priors under which published code cannot invert.
func TestHarshPriors(t *testing.T) {
	r, k, y := problem{P: 12, D: 60, N: 60, L: 1, lambda: broken, omega: broken}.draw(t, 3)
	r.Ascent.MaxSweeps = 60
	fit, err := r.Fit(context.Background(), k, y)
	require.NoError(t, err)
	_, err = fit.Posterior.Predict(k, vi.PredictOptions{})
	assert.NoError(t, err)
}
