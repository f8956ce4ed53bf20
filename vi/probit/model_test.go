package probit

import (
	"context"
	"errors"
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
)

// probitProblem draws samples of C classes around their centres, P RBF kernels,
// the first of the features that tell them apart and the others of noise too, and
// T further samples.
func probitProblem(t testing.TB, N, C, P, T int, seed uint64) (k, star *vi.Dense, labels, later []int) {
	r := rand.New(rand.NewPCG(seed, 5))
	x := la.NewMatrix[float64](N+T, 2*P)
	for n := range N + T {
		c := n % C
		if n < N {
			labels = append(labels, c)
		} else {
			later = append(later, c)
		}
		for j := range x.Cols {
			v := r.NormFloat64()
			if j < 2 {
				v = 0.5*v + 2*math.Cos(2*math.Pi*float64(c)/float64(C)-math.Pi/2*float64(j))
			}
			x.Set(n, j, v)
		}
	}
	var ks, stars []la.Matrix[float64]
	for p := range P {
		km := la.NewMatrix[float64](N, N+T)
		la.RBF(nil, 0.5, x.Slice(0, N, 2*p, 2*p+2), x.Slice(0, N+T, 2*p, 2*p+2), km)
		ks = append(ks, km.Slice(0, N, 0, N).Clone())
		if T > 0 {
			stars = append(stars, km.Slice(0, N, N, N+T).Clone())
		}
	}
	if T > 0 {
		star = testkit.Must(vi.NewDense(stars...))
	}
	return testkit.Must(vi.NewDense(ks...)), star, labels, later
}

var probitVariants = map[string]Model{
	"FixSum":        {},
	"imbalanced":    {ClassAlpha: []vi.Gamma{{Shape: 1, Scale: 1}, {Shape: 2, Scale: 0.5}, {Shape: 0.5, Scale: 3}}, Ridge: 0.3},
	"sparse":        {Alpha: vi.Gamma{Shape: 1e-6, Scale: 1e6}},
	"pruned":        {Alpha: vi.Gamma{Shape: 1e-6, Scale: 1e6}, Prune: 50},
	"learned prior": {LearnAlpha: true, Rule: RuleWSum, Update: WeightUpdateMeanField},
	"FixProd":       {Rule: RuleFixProd, Beta: []float64{0.3, 1, 0.5}},
	"WSum":          {Rule: RuleWSum, Update: WeightUpdateMeanField},
	"WSum, ridge":   {Rule: RuleWSum, Update: WeightUpdateMeanField, Ridge: 0.3},
	"WSum, sampled": {Rule: RuleWSum, Update: WeightUpdateMeanField, Search: WeightSearchSampling, Samples: 200},
	"Bin":           {Rule: RuleBin, Update: WeightUpdateMeanField},
	"Bin, ridge":    {Rule: RuleBin, Update: WeightUpdateMeanField, NotEmpty: true, Ridge: 0.3},
	"Bin, each":     {Rule: RuleBin, Update: WeightUpdateStructured},
	"Bin, each, r":  {Rule: RuleBin, Update: WeightUpdateStructured, NotEmpty: true, Ridge: 0.3},
	"Bin, each, p":  {Rule: RuleBin, Update: WeightUpdateStructured, Alpha: vi.Gamma{Shape: 1e-6, Scale: 1e6}, Prune: 50},
	"WProd":         {Rule: RuleWProd, Update: WeightUpdateMeanField},
	"WProd, ridge":  {Rule: RuleWProd, Update: WeightUpdateMeanField, Ridge: 0.2},
	"WProd, sample": {Rule: RuleWProd, Update: WeightUpdateMeanField, Search: WeightSearchSampling, Samples: 60},
}

func TestProbitBoundRisesAtEveryUpdate(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 24, 3, 3, 0, 1)
	for name, p := range probitVariants {
		t.Run(name, func(t *testing.T) {
			p.Workers = 2
			m, err := p.model(k, labels)
			require.NoError(t, err)
			first := 1
			if p.Search == WeightSearchSampling {
				first = earlySweeps + 1 // until then the points change
			}
			for range first {
				require.NoError(t, m.Sweep(nil))
			}
			last, sweeps := m.Bound(), 40
			if p.Prune == 0 { // which takes its time
				sweeps = testkit.Fewer(40, 10)
			}
			for i := range sweeps {
				require.NoError(t, m.Sweep(func(name string) {
					b := m.Bound()
					require.False(t, testkit.Fell(last, b, m.Roundoff()+m.Allowance()), "sweep %d: %s: from %.17g to %.17g (%g)", i, name, last, b, b-last)
					last = b
				}))
			}
			if p.Prune > 0 {
				assert.Less(t, m.kept(), 24*3)
			}
		})
	}
}

func TestProbitFeatures(t *testing.T) {
	// D < N: eight random features in place of kernels.
	r := rand.New(rand.NewPCG(3, 3))
	f := la.NewMatrix[float64](8, 30)
	for i := range f.Data {
		f.Data[i] = r.NormFloat64()
	}
	labels := make([]int, 30)
	for n := range labels {
		switch {
		case f.At(0, n) > 0.3:
			labels[n] = 1
		case f.At(1, n) > 0:
			labels[n] = 2
		}
	}
	k := testkit.Must(vi.NewDense(f))
	fit, err := Model{}.Fit(context.Background(), k, labels)
	require.NoError(t, err)
	assert.Equal(t, vi.Converged, fit.Record.Reason)
	p, err := fit.Posterior.Predict(k, vi.PredictOptions{})
	require.NoError(t, err)
	right := 0
	for n, c := range labels {
		if best := testkit.ArgMax(p.Probability.Row(n)); best == c {
			right++
		}
	}
	assert.Greater(t, right, 26)
	_, err = Model{Ridge: 1}.Fit(context.Background(), k, labels)
	assert.EqualError(t, err, "vi: Ridge needs square kernels, not 8×30")
}

// TestProbitBoundIsBelowTheEvidence samples α and W for three samples; the
// probabilities of the labels given them are integrals over cones.
func TestProbitBoundIsBelowTheEvidence(t *testing.T) {
	k := testkit.Must(vi.NewDense(la.MatrixOf(3, 3, []float64{1, 0.4, 0.1, 0.4, 1, 0.2, 0.1, 0.2, 1})))
	labels := []int{0, 1, 0}
	fit, err := Model{Alpha: vi.Gamma{Shape: 2, Scale: 1}}.Fit(context.Background(), k, labels)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(2, 9))
	const n = 100000
	var sum, squares float64
	w := make([]float64, 3)
	for range n {
		// Two classes: only w_0 − w_1 matters, whose parts have precisions of their own.
		for d := range w {
			a, b := r.ExpFloat64()+r.ExpFloat64(), r.ExpFloat64()+r.ExpFloat64()
			w[d] = r.NormFloat64()/math.Sqrt(a) - r.NormFloat64()/math.Sqrt(b)
		}
		p := 1.0
		for i, c := range labels {
			f := la.Dot(w, k.At(0).Row(i))
			if c == 1 {
				f = -f
			}
			p *= 0.5 * math.Erfc(-f/2) // Φ(f/√2)
		}
		sum += p
		squares += p * p
	}
	mean := sum / n
	se := math.Sqrt((squares/n - mean*mean) / n)
	assert.Less(t, fit.Record.Bound(), math.Log(mean)-3*se/mean)
	assert.Greater(t, fit.Record.Bound(), math.Log(mean)-2)
}

func TestProbitWorkersDoNotChangeBits(t *testing.T) {
	k, star, labels, _ := probitProblem(t, 60, 3, 2, 9, 2)
	for _, p := range []Model{{}, {Rule: RuleWSum}, {Rule: RuleBin, Update: WeightUpdateMeanField}, {Rule: RuleBin, Update: WeightUpdateStructured}, {Rule: RuleWProd}} {
		var want *Prediction
		for _, workers := range []int{1, 2, 7} {
			p.Workers = workers
			m, err := p.model(k, labels)
			require.NoError(t, err)
			for range 10 {
				require.NoError(t, m.Sweep(nil))
			}
			posterior, err := m.posterior()
			require.NoError(t, err)
			got, err := posterior.Predict(star, vi.PredictOptions{Workers: workers})
			require.NoError(t, err)
			if want == nil {
				want = got
			}
			assert.Equal(t, want, got, "%v, %d workers", p.Rule, workers)
		}
	}
}

func TestProbitSweepAllocatesNothing(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 60, 3, 2, 0, 2)
	for _, p := range []Model{{}, {Rule: RuleWSum}, {Rule: RuleWSum, Update: WeightUpdateMeanField}, {Rule: RuleBin, Update: WeightUpdateMeanField}, {Rule: RuleBin, Update: WeightUpdateStructured}, {Rule: RuleWProd, Update: WeightUpdateMeanField}} {
		for _, workers := range []int{1, 2} {
			p.Workers = workers
			m, err := p.model(k, labels)
			require.NoError(t, err)
			require.NoError(t, m.Sweep(nil))
			allocs := testkit.LeastAllocs(workers, func() {
				if err := m.Sweep(nil); err != nil {
					t.Error(err)
				}
				m.Bound()
			})
			assert.Zero(t, allocs, "%v, %d workers", p.Rule, workers)
		}
	}
}

func TestProbitSeparates(t *testing.T) {
	testkit.NotShort(t)
	k, star, labels, later := probitProblem(t, 60, 3, 3, 60, 4)
	for _, p := range []Model{
		{}, {Rule: RuleFixProd}, {Rule: RuleWSum}, {Rule: RuleWSum, Search: WeightSearchSampling}, {Rule: RuleBin, NotEmpty: true}, {Rule: RuleWProd},
		{Rule: RuleBin, NotEmpty: true, Update: WeightUpdateStructured},
		{Alpha: vi.Gamma{Shape: 1e-6, Scale: 1e6}, Prune: 20},
	} {
		t.Run(fmt.Sprint(p.Rule, p.Update, p.Search, p.Prune), func(t *testing.T) {
			p.Ascent.MaxSweeps = 40
			fit, err := p.Fit(context.Background(), k, labels)
			require.NoError(t, err)
			got, err := fit.Posterior.Predict(star, vi.PredictOptions{})
			require.NoError(t, err)
			right := 0
			for i, c := range later {
				row := got.Probability.Row(i)
				var sum float64
				for _, v := range row {
					sum += v
				}
				assert.InDelta(t, 1, sum, 1e-12)
				if testkit.ArgMax(row) == c {
					right++
				}
			}
			assert.Greater(t, right, 51)
			s := fit.Posterior.State()
			if p.Rule.Learned() {
				assert.Equal(t, 0, testkit.ArgMax(s.Beta), "%v", s.Beta) // only the first kernel separates classes
			}
			if p.Search == WeightSearchSampling {
				assert.Greater(t, fit.ESS, 1.0)
			}
			if p.Prune > 0 {
				assert.Less(t, fit.Kept, 60)
			}
			again, err := NewPosterior(s)
			require.NoError(t, err)
			same, err := again.Predict(star, vi.PredictOptions{Workers: 1})
			require.NoError(t, err)
			assert.Equal(t, got, same)
		})
	}
}

// TestSimplexMaximum checks the conditions of the optimum: equal gradients where
// weights are positive, none larger elsewhere.
func TestSimplexMaximum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for trial := range 50 {
		P := 2 + trial%9
		x := la.NewMatrix[float64](P, max(2, trial%5)) // rank deficient
		for i := range x.Data {
			x.Data[i] = r.NormFloat64()
		}
		a := la.NewMatrix[float64](P, P)
		la.Gemm(nil, la.NoTrans, la.Transpose, 100, x, x, 0, a)
		b, beta := make([]float64, P), make([]float64, P)
		for p := range b {
			b[p], beta[p] = 50*r.NormFloat64(), 1/float64(P)
		}
		maximiseOnSimplex(b, a, beta)
		var sum float64
		most := math.Inf(-1)
		for p, v := range beta {
			assert.GreaterOrEqual(t, v, 0.0)
			sum += v
			most = max(most, b[p]-la.Dot(a.Row(p), beta))
		}
		assert.InDelta(t, 1, sum, 1e-12)
		for p, v := range beta {
			if v > 0 {
				assert.InDelta(t, most, b[p]-la.Dot(a.Row(p), beta), 1e-8, "trial %d, weight %d of %v", trial, p, beta)
			}
		}
	}
}

// scaled returns the kernels times a factor.
func scaled(k *vi.Dense, factor float64) *vi.Dense {
	var out []la.Matrix[float64]
	P, _, _ := k.Dims()
	for p := range P {
		m := k.At(p).Clone()
		la.Scal(factor, m.Data)
		out = append(out, m)
	}
	return testkit.Must(vi.NewDense(out...))
}

// Exponents of any size leave a kernel of unit diagonal between its own and the
// identity, from which they come back. Larger entries would overflow.
func TestLargeExponents(t *testing.T) {
	testkit.NotShort(t)
	k, star, labels, later := probitProblem(t, 60, 3, 3, 60, 4)
	for _, p := range []Model{{}, {Update: WeightUpdateMeanField}, {Search: WeightSearchSampling, Samples: 100}} {
		p.Rule, p.Beta, p.Ascent = RuleWProd, []float64{1e12, 1e6, 1e12}, vi.Ascent{Tolerance: -1, MaxSweeps: 60}
		fit, err := p.Fit(context.Background(), k, labels)
		require.NoError(t, err)
		s := fit.Posterior.State()
		for _, b := range s.Beta {
			assert.Less(t, b, 10.0, "%v", s.Beta)
		}
		got, err := fit.Posterior.Predict(star, vi.PredictOptions{})
		require.NoError(t, err)
		right := 0
		for i, c := range later {
			if testkit.ArgMax(got.Probability.Row(i)) == c {
				right++
			}
		}
		assert.Greater(t, right, 51)
	}
	_, err := Model{Rule: RuleWProd}.Fit(context.Background(), scaled(k, 2), labels)
	assert.EqualError(t, err, "vi: kernel 0: entry (0, 0) is 2: WProd needs entries of at most 1, as of kernels with unit diagonals")
	_, err = Model{Rule: RuleFixProd, Beta: []float64{1e6, 1, 1}}.Fit(context.Background(), scaled(k, 2), labels)
	assert.EqualError(t, err, "vi: Beta: the composite kernel's entry (0, 0) is +Inf")
}

// New importance samples may lower the bound, which is no fault of the kernels.
func TestFreshSamplesMayLowerTheBound(t *testing.T) {
	testkit.NotShort(t)
	k, _, labels, _ := probitProblem(t, 60, 3, 3, 0, 4)
	p := Model{Rule: RuleWProd, Update: WeightUpdateMeanField, Search: WeightSearchSampling, Samples: 100, Ascent: vi.Ascent{Tolerance: -1, MaxSweeps: 30}}
	fit, err := p.Fit(context.Background(), scaled(k, 0.01), labels)
	require.NoError(t, err)
	fell := 0
	for i, b := range fit.Record.Trace[1:] {
		if b < fit.Record.Trace[i] {
			fell = i + 1
		}
	}
	assert.Positive(t, fell)
	assert.LessOrEqual(t, fell, earlySweeps)
}

// The deviations of a product's weights come from the density at the last W. Of the covariance of
// that W only one triangle is kept.
func TestPowersCovarianceAtTheLastW(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 24, 3, 3, 0, 1)
	m, err := Model{Rule: RuleWProd, Update: WeightUpdateMeanField}.model(k, labels)
	require.NoError(t, err)
	for range 200 {
		require.NoError(t, m.Sweep(nil))
	}
	posterior, err := m.posterior()
	require.NoError(t, err)
	got := posterior.State().BetaCov
	q := m.beta.(*powers)
	curve := la.NewMatrix[float64](3, 3) // by second differences of the density
	const h = 1e-3
	at := func(p, r int, dp, dr float64) float64 {
		eta := append(golden.Vec(nil), q.eta...)
		eta[p] += dp
		eta[r] += dr
		return q.density(m, eta)
	}
	for p := range 3 {
		for r := range 3 {
			curve.Set(p, r, -(at(p, r, h, h)-at(p, r, h, -h)-at(p, r, -h, h)+at(p, r, -h, -h))/(4*h*h))
		}
	}
	require.NoError(t, la.Cholesky(nil, curve))
	la.CholeskyInv(nil, curve)
	curve.MirrorLower()
	for p := range 3 {
		for r := range 3 {
			want := math.Exp(q.eta[p]+q.eta[r]) * curve.At(p, r)
			assert.InDelta(t, want, got.At(p, r), 1e-3*math.Sqrt(got.At(p, p)*got.At(r, r)), "%d, %d", p, r)
		}
	}
}

// The kernels' products with each other only save time.
func TestProductsOfKernelsChangeNothing(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 30, 3, 3, 0, 4)
	for _, p := range []Model{
		{Rule: RuleWSum}, {Rule: RuleBin}, {Rule: RuleWSum, Search: WeightSearchSampling, Samples: 100},
	} {
		p.Update = WeightUpdateMeanField
		kept, err := p.model(k, labels)
		require.NoError(t, err)
		anew, err := p.model(k, labels)
		require.NoError(t, err)
		switch b := anew.beta.(type) {
		case *simplexMode:
			b.products = nil
		case *switches:
			b.products = nil
		case *simplexSample:
			b.products = nil
		}
		for range 12 {
			require.NoError(t, kept.Sweep(nil))
			require.NoError(t, anew.Sweep(nil))
		}
		testkit.RequireClose(t, "E[β]", anew.mean, kept.mean, 1e-9)
		assert.InDelta(t, anew.Bound(), kept.Bound(), 1e-9*math.Abs(anew.Bound()), "%v", p.Rule)
	}
}

// TestPowersFollowTheirGradient compares the gradient of the density of log β with
// differences.
func TestPowersFollowTheirGradient(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 24, 3, 3, 0, 1)
	for _, update := range []WeightUpdate{WeightUpdatePlugIn, WeightUpdateMeanField} {
		m, err := Model{Rule: RuleWProd, Update: update, Ridge: 0.2}.model(k, labels)
		require.NoError(t, err)
		for range 3 {
			require.NoError(t, m.Sweep(nil))
		}
		q := m.beta.(*powers)
		m.sum.MirrorLower()
		eta, gradient := []float64{-0.3, 0.4, -1}, make([]float64, 3)
		q.density(m, eta)
		q.slope(m, eta, gradient)
		for p := range eta {
			const h = 1e-5
			x := append([]float64(nil), eta...)
			x[p] += h
			up := q.density(m, x)
			x[p] -= 2 * h
			down := q.density(m, x)
			assert.InDelta(t, (up-down)/(2*h), gradient[p], 1e-5*(1+math.Abs(gradient[p])), "%d", p)
		}
	}
}

func TestProbitStopsWithItsContext(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 24, 3, 3, 0, 1)
	ctx, cancel := context.WithCancel(context.Background())
	fit, err := Model{Ascent: vi.Ascent{Progress: func(p vi.Progress) {
		if p.Sweep == 3 {
			cancel()
		}
	}}}.Fit(ctx, k, labels)
	assert.True(t, errors.Is(err, context.Canceled))
	assert.Len(t, fit.Record.Trace, 3)
	assert.Equal(t, vi.Cancelled, fit.Record.Reason)
}

// asked is a context that ends once it has been asked so often.
type asked struct {
	context.Context
	left int
}

func (a *asked) Err() error {
	if a.left--; a.left < 0 {
		return context.Canceled
	}
	return nil
}

// Sweeps ask their context at every importance sample, and end at once when it has.
func TestSamplingAsksItsContext(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 12, 3, 2, 0, 1)
	const samples = 50
	for name, c := range map[string]struct {
		p     Model
		loops int // over the samples
	}{
		"WSum":              {Model{Rule: RuleWSum}, 4},
		"WProd":             {Model{Rule: RuleWProd}, 2},
		"WProd, mean field": {Model{Rule: RuleWProd, Update: WeightUpdateMeanField}, 2},
	} {
		c.p.Search, c.p.Samples, c.p.Workers = WeightSearchSampling, samples, 1
		m, err := c.p.model(scaled(k, 0.1), labels)
		require.NoError(t, err, name)
		whole := &asked{context.Background(), 1 << 20}
		m.Heed(whole)
		require.NoError(t, m.Sweep(nil), name)
		asks := 1<<20 - whole.left
		assert.GreaterOrEqual(t, asks, c.loops*samples, name)
		for left := 0; left < asks; left += 7 {
			m, err := c.p.model(scaled(k, 0.1), labels)
			require.NoError(t, err, name)
			ctx := &asked{context.Background(), left}
			m.Heed(ctx)
			require.ErrorIs(t, m.Sweep(nil), context.Canceled, "%s after %d", name, left)
			assert.GreaterOrEqual(t, ctx.left, -3, "%s after %d: it went on", name, left)
		}
	}
}

func TestProbitNamesWhatIsWrong(t *testing.T) {
	k := testkit.Must(vi.NewDense(la.MatrixOf(2, 2, []float64{1, -0.5, 0.5, 1})))
	good := []int{0, 1}
	for want, c := range map[string]struct {
		p      Model
		labels []int
	}{
		"vi: labels: 1 values for 2 samples":                                                   {labels: []int{0}},
		"vi: labels[1] is 2: classes are numbered from 0 on and each occurs":                   {labels: []int{0, 2}},
		"vi: labels: class 0 has no sample":                                                    {labels: []int{1, 1}},
		"vi: labels: there is only one class":                                                  {labels: []int{0, 0}},
		"vi: ClassAlpha: 1 priors for 2 classes":                                               {Model{ClassAlpha: []vi.Gamma{{Shape: 1, Scale: 1}}}, good},
		"vi: prior Alpha: Gamma(-1, 1): shape and scale must be positive and finite (class 0)": {Model{Alpha: vi.Gamma{Shape: -1, Scale: 1}}, good},
		"vi: Beta: 2 weights for 1 kernels":                                                    {Model{Beta: []float64{1, 1}}, good},
		"vi: Beta[0] is 2, which is no weight of Bin":                                          {Model{Rule: RuleBin, Beta: []float64{2}}, good},
		"vi: Beta: the weights of WSum add up to 0.5, not 1":                                   {Model{Rule: RuleWSum, Beta: []float64{0.5}}, good},
		"vi: On[0] is 1: it must be between 0 and 1":                                           {Model{Rule: RuleBin, On: []float64{1}}, good},
		"vi: Prune is NaN":                     {Model{Prune: math.NaN()}, good},
		"vi: Ridge is -1":                      {Model{Ridge: -1}, good},
		"vi: Start.Y: 0×0 where 2×2 is needed": {Model{Start: &Start{}}, good},
		"vi: kernel 0: entry (0, 1) is -0.5: products need entries that are not negative": {Model{Rule: RuleWProd}, good},
		"vi: prior Rho: Gamma(1, -1): shape and scale must be positive and finite":        {Model{Rule: RuleWSum, Search: WeightSearchSampling, Rho: vi.Gamma{Shape: 1, Scale: -1}}, good},
		"vi: Kappa is -1 and Xi 0: they must be positive and finite":                      {Model{Kappa: -1}, good},
		"vi: Update is 3": {Model{Update: 3}, good},
	} {
		_, err := c.p.Fit(context.Background(), k, c.labels)
		assert.EqualError(t, err, want)
	}
}

// The parameter of the kernel whose features matter settles; bounds rise where they
// must.
func TestProbitLearnsKernelParameters(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	var x golden.Tensor
	labels := make([]int, 24)
	for range 2 {
		x = append(x, make(golden.Mat, 24))
	}
	for n := range labels {
		labels[n] = n % 3
		a := 2 * math.Pi * float64(n%3) / 3
		x[0][n] = golden.Vec{2*math.Cos(a) + 0.4*r.NormFloat64(), 2*math.Sin(a) + 0.4*r.NormFloat64()}
		x[1][n] = golden.Vec{r.NormFloat64(), r.NormFloat64()}
	}
	for _, rule := range []Rule{RuleFixSum, RuleWSum, RuleFixProd, RuleWProd} {
		p := Model{Rule: rule, Update: WeightUpdateMeanField, Theta: vi.Gamma{Shape: 2, Scale: 0.5}, Workers: 2}
		m, err := p.parametricModel(thetaKernels{x}, labels)
		require.NoError(t, err)
		require.NoError(t, m.Sweep(nil))
		last := m.Bound()
		for i := range 40 {
			require.NoError(t, m.Sweep(func(name string) {
				b := m.Bound()
				require.False(t, testkit.Fell(last, b, m.Roundoff()+m.Allowance()), "%v, sweep %d: %s: from %.17g to %.17g (%g)", rule, i, name, last, b, b-last)
				last = b
			}))
		}
		for j, want := range m.theta.theta { // a maximum of the density
			value := m.theta.logLikelihood(m) + m.theta.logPrior(j, true)
			for _, factor := range []float64{0.8, 1.25} {
				m.theta.theta[j] = want * factor
				m.theta.set(m, j)
				assert.Less(t, m.theta.logLikelihood(m)+m.theta.logPrior(j, true), value+1e-6, "%v, θ_%d", rule, j)
			}
			m.theta.theta[j] = want
			m.theta.set(m, j)
		}
	}
	fit, err := Model{Search: WeightSearchSampling, Samples: 50, Theta: vi.Gamma{Shape: 2, Scale: 0.5}, Ascent: vi.Ascent{MaxSweeps: 20}}.
		FitParametric(context.Background(), thetaKernels{x}, labels)
	require.NoError(t, err)
	assert.Len(t, fit.Theta, 2)
	assert.Greater(t, fit.ThetaESS, 1.0)
	_, err = Model{Rule: RuleBin, Update: WeightUpdateMeanField}.FitParametric(context.Background(), thetaKernels{x}, labels)
	assert.EqualError(t, err, "vi: Update is MeanField: with kernel parameters the weights must be fixed or at their mode")
	_, err = Model{}.FitParametric(context.Background(), nil, labels)
	assert.EqualError(t, err, "vi: kernels: nil")
}

// The prior that is learned is where the bound has no slope: neither a larger nor a smaller shape or
// scale, with q(α) as it then is, raises it.
func TestLearnedPriorIsHighest(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 24, 3, 3, 0, 1)
	p := Model{LearnAlpha: true, Alpha: vi.Gamma{Shape: 0.3, Scale: 20}, Plain: true, Workers: 1}
	m := testkit.Must(p.model(k, labels))
	for range 3 {
		require.NoError(t, m.Sweep(nil))
	}
	mean, logs := 0.0, 0.0
	for c := range m.alpha {
		for d := range m.alpha[c].Scale {
			mean += m.alpha[c].Mean(d) / 72
			logs += m.alpha[c].MeanLog(d) / 72
		}
	}
	expected := func(shape, scale float64) float64 { // E[log Gamma(α | shape, scale)], a precision's
		l, _ := math.Lgamma(shape)
		return (shape-1)*logs - mean/scale - l - shape*math.Log(scale)
	}
	m.updatePrior()
	shape, scale := m.prior[0], m.prior[1]
	best := expected(shape, scale)
	for _, f := range []float64{0.9, 0.99, 1.01, 1.1} {
		assert.Less(t, expected(f*shape, scale), best)
		assert.Less(t, expected(shape, f*scale), best)
		assert.Less(t, expected(f*shape, scale/f), best)
	}
	assert.Equal(t, vi.Gamma{Shape: shape, Scale: scale}, m.alpha[2].Prior)
	for s, want := range map[float64]float64{math.Inf(1): 1e-6, 0: 1e4, math.NaN(): 1e4, special.LogMinusDigamma(3.7): 3.7, special.LogMinusDigamma(2e-3): 2e-3, special.LogMinusDigamma(900): 900} {
		assert.InEpsilon(t, want, gammaShape(s), 1e-9, "%g", s)
	}
	_, err := Model{LearnAlpha: true, MAP: true}.Fit(context.Background(), k, labels)
	assert.EqualError(t, err, "vi: LearnAlpha: not with ClassAlpha, MAP or Published")
}
