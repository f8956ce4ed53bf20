package bemkl

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/sweeptest"
)

var (
	gibbsRun   = flag.Bool("gibbs", false, "compare mean field with sampling on -data DIR/glass.csv (minutes)")
	gibbsDraws = flag.Int("gibbsdraws", 3000, "draws kept; half as many are thrown away before")
	gibbsSeed  = flag.Uint64("gibbsseed", 1, "seed of the split and of the sampler")
)

// sampler draws from the posterior of a [Classification] without its mean field:
// a with G integrated out, then G, λ, γ, ω, (b,e) and f in turn.
type sampler struct {
	*rand.Rand
	c      Classification
	k      *vi.Dense
	y      la.Matrix[float64]
	a, f   la.Matrix[float64]
	lambda la.Matrix[float64]
	g      la.Matrix[float64] // (L·P)×N
	be     []float64          // b, e
	prec   []float64          // γ, ω
}

func newSampler(c Classification, k *vi.Dense, y la.Matrix[float64], seed uint64) *sampler {
	P, D, N := k.Dims()
	L := y.Rows
	s := &sampler{
		Rand: rand.New(rand.NewPCG(seed, 3)), c: c, k: k, y: y,
		a: la.NewMatrix[float64](L, D), f: y.Clone(), lambda: la.NewMatrix[float64](L, D),
		g: la.NewMatrix[float64](L*P, N), be: make([]float64, L+P), prec: make([]float64, L+P),
	}
	la.Scal(1+c.Margin, s.f.Data)
	s.lambda.Fill(1)
	for i := range s.prec {
		s.prec[i] = 1
	}
	for m := range P {
		s.be[L+m] = 1
	}
	return s
}

// precision draws from the posterior of the precision of a normal x with mean 0
// under Gamma(1, 1): Gamma(3/2, 1/(1 + x²/2)), an exponential and half a χ².
func (s *sampler) precision(x float64) float64 {
	z := s.NormFloat64()
	return (s.ExpFloat64() + z*z/2) / (1 + x*x/2)
}

// above draws a standard normal beyond x (Robert 1995).
func (s *sampler) above(x float64) float64 {
	if x < 0.5 {
		for {
			if z := s.NormFloat64(); z > x {
				return z
			}
		}
	}
	rate := (x + math.Sqrt(x*x+4)) / 2
	for {
		z := x + s.ExpFloat64()/rate
		if s.Float64() < math.Exp(-(z-rate)*(z-rate)/2) {
			return z
		}
	}
}

// normal makes x, the right side, a draw of the normal with the precision in the
// lower triangle of q.
func (s *sampler) normal(t testing.TB, q la.Matrix[float64], x []float64) {
	require.NoError(t, la.Cholesky(nil, q))
	la.CholeskySolveVec(q, x)
	z := make([]float64, len(x))
	for i := range z {
		z[i] = s.NormFloat64()
	}
	la.Trsv(la.Transpose, q, z)
	la.Axpy(1, z, x)
}

func (s *sampler) sweep(t testing.TB) {
	P, D, N := s.k.Dims()
	L, variance := s.y.Rows, s.c.SigmaG*s.c.SigmaG
	e := s.be[L:]
	total := 1 + variance*la.SumSq(e)
	ke, gram := la.NewMatrix[float64](D, N), la.NewMatrix[float64](D, D)
	s.k.Sum(nil, e, ke)
	la.Syrk(nil, la.NoTrans, 1/total, ke, 0, gram)
	rest := make([]float64, N)
	for o := range L {
		for i, f := range s.f.Row(o) {
			rest[i] = f - s.be[o]
		}
		q := gram.Clone()
		for d, v := range s.lambda.Row(o) {
			q.Row(d)[d] += v
		}
		la.Gemv(nil, la.NoTrans, 1/total, ke, rest, 0, s.a.Row(o))
		s.normal(t, q, s.a.Row(o))
		for d, a := range s.a.Row(o) {
			s.lambda.Set(o, d, s.precision(a))
		}
	}
	s.k.Project(nil, s.a, s.g)
	q, x := la.NewMatrix[float64](L+P, L+P), make([]float64, L+P)
	for o := range L {
		for i, f := range s.f.Row(o) {
			miss := f - s.be[o] - s.NormFloat64()
			for m := range P {
				g := &s.g.Row(o*P + m)[i]
				*g += s.c.SigmaG * s.NormFloat64()
				miss -= e[m] * *g
			}
			for m := range P {
				s.g.Row(o*P + m)[i] += variance * e[m] * miss / total
			}
			x[o] += f
			q.Row(o)[o]++
			for m := range P {
				g := s.g.At(o*P+m, i)
				x[L+m] += g * f
				q.Row(L + m)[o] += g
				for n := range m + 1 {
					q.Row(L + m)[L+n] += g * s.g.At(o*P+n, i)
				}
			}
		}
	}
	for i, v := range s.prec {
		q.Row(i)[i] += v
	}
	copy(s.be, x)
	s.normal(t, q, s.be)
	for i, v := range s.be {
		s.prec[i] = s.precision(v)
	}
	for o := range L {
		for i, y := range s.y.Row(o) {
			m := s.be[o]
			for n := range P {
				m += e[n] * s.g.At(o*P+n, i)
			}
			s.f.Set(o, i, m+y*s.above(s.c.Margin-y*m))
		}
	}
}

// add adds the probabilities of scores above the margin and below minus it.
func (s *sampler) add(k *vi.Dense, above, below la.Matrix[float64]) {
	P, _, T := k.Dims()
	L := s.y.Rows
	g := la.NewMatrix[float64](L*P, T)
	k.Project(nil, s.a, g)
	sd := math.Sqrt(1 + s.c.SigmaG*s.c.SigmaG*la.SumSq(s.be[L:]))
	for o := range L {
		for i := range T {
			m := s.be[o]
			for n := range P {
				m += s.be[L+n] * g.At(o*P+n, i)
			}
			above.Row(o)[i] += math.Exp(special.LogNormalCDF((m - s.c.Margin) / sd))
			below.Row(o)[i] += math.Exp(special.LogNormalCDF((-s.c.Margin - m) / sd))
		}
	}
}

// TestSamplerAgreesWithQuadrature holds the sampler to P(y = +1) of one new
// sample by importance sampling from the prior.
func TestSamplerAgreesWithQuadrature(t *testing.T) {
	testkit.NotShort(t)
	k, err := vi.NewDense(la.MatrixOf(2, 2, []float64{1, 0.3, 0.3, 1}))
	require.NoError(t, err)
	fresh, err := vi.NewDense(la.MatrixOf(2, 1, []float64{0.9, 0.1}))
	require.NoError(t, err)
	c := Classification{Margin: 0.2, SigmaG: 0.5}
	s := newSampler(c, k, la.MatrixOf(1, 2, []float64{1, -1}), 5)
	up, down := la.NewMatrix[float64](1, 1), la.NewMatrix[float64](1, 1)
	const n = 20000
	for i := range n + 100 {
		s.sweep(t)
		if i >= 100 {
			s.add(fresh, up, down)
		}
	}
	src := rand.New(rand.NewPCG(1, 1))
	draw := func() float64 { return src.NormFloat64() / math.Sqrt(src.ExpFloat64()) }
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	var weight, wantUp, wantDown float64
	for range 20 * n {
		a1, a2, b, e := draw(), draw(), draw(), draw()
		sd := math.Sqrt(1 + e*e*0.25)
		w := cdf((e*(a1+0.3*a2)+b-0.2)/sd) * cdf((-e*(0.3*a1+a2)-b-0.2)/sd)
		m := e*(0.9*a1+0.1*a2) + b
		weight += w
		wantUp += w * cdf((m-0.2)/sd)
		wantDown += w * cdf((-m-0.2)/sd)
	}
	assert.InDelta(t, wantUp/weight, up.At(0, 0)/n, 0.015)
	assert.InDelta(t, wantDown/weight, down.At(0, 0)/n, 0.015)
}

// TestMeanFieldBesideSampling prints how the probabilities of both come true on a
// held-out third of the glass data.
func TestMeanFieldBesideSampling(t *testing.T) {
	if !*gibbsRun {
		t.Skip("takes minutes; asked for with -gibbs -data DIR")
	}
	columns := sweeptest.Read(t, "glass")
	table := sweeptest.Table(columns)
	src := rand.New(rand.NewPCG(*gibbsSeed, 1))
	order := src.Perm(table.Rows)
	cut := 2 * table.Rows / 3
	var class []int
	x := la.NewMatrix[float64](table.Rows, table.Cols-1)
	for i, j := range order {
		copy(x.Row(i), table.Row(j))
		class = append(class, int(table.At(j, table.Cols-1)))
	}
	types := slices.Compact(slices.Sorted(slices.Values(class)))
	for j := range x.Cols { // means and deviations of the training part
		column := x.Slice(0, cut, j, j+1).Clone()
		mean := 0.0
		for _, v := range column.Data {
			mean += v / float64(cut)
		}
		sd := math.Sqrt(intermediate.Variation(column.Data) / float64(cut-1))
		for i := range x.Rows {
			x.Set(i, j, (x.At(i, j)-mean)/sd)
		}
	}
	y := la.NewMatrix[float64](len(types), cut)
	for i, c := range class[:cut] {
		for o, v := range types {
			y.Set(o, i, map[bool]float64{true: 1, false: -1}[v == c])
		}
	}
	kernels := func(a, b la.Matrix[float64]) *vi.Dense {
		d, inner := la.NewMatrix[float64](a.Rows, b.Rows), la.NewMatrix[float64](a.Rows, b.Rows)
		la.SqDist(nil, a, b, d)
		la.Gemm(nil, la.NoTrans, la.Transpose, 1, a, b, 0, inner)
		ks := []la.Matrix[float64]{inner}
		for p := -2; p <= 4; p++ {
			k := d.Clone()
			la.Scal(-math.Ldexp(0.5, -2*p), k.Data)
			la.Exp(k.Data, k.Data)
			ks = append(ks, k)
		}
		k, err := vi.NewDense(ks...)
		require.NoError(t, err)
		return k
	}
	train, test := x.Slice(0, cut, 0, x.Cols), x.Slice(cut, x.Rows, 0, x.Cols)
	k, fresh := kernels(train, train), kernels(train, test)
	fmt.Println("| margin | posterior | accuracy % | mean confidence % | log loss |")
	fmt.Println("| --: | --- | --: | --: | --: |")
	for _, margin := range []float64{0, 1} {
		report := func(name string, p la.Matrix[float64]) {
			right, confidence, loss := 0.0, 0.0, 0.0
			for i := range p.Cols {
				best := largestRow(p, i)
				truth := slices.Index(types, class[cut+i])
				if best == truth {
					right++
				}
				confidence += p.At(best, i)
				loss -= math.Log(p.At(truth, i))
			}
			n := float64(p.Cols)
			fmt.Printf("| %g | %s | %.1f | %.1f | %.3f |\n", margin, name, 100*right/n, 100*confidence/n, loss/n)
		}
		c := Classification{Margin: margin, SigmaG: 0.1, Seed: *gibbsSeed}
		fit, err := c.Fit(t.Context(), k, y)
		require.NoError(t, err)
		prediction, err := fit.Posterior.Predict(fresh, vi.PredictOptions{})
		require.NoError(t, err)
		report("mean field", prediction.Normalise())
		s := newSampler(c, k, y, *gibbsSeed)
		up, down := la.NewMatrix[float64](len(types), test.Rows), la.NewMatrix[float64](len(types), test.Rows)
		for _, name := range []string{"sampled, first half", "sampled"} {
			for i := range *gibbsDraws / 2 {
				if name != "sampled" && i == 0 {
					for range *gibbsDraws / 2 {
						s.sweep(t)
					}
				}
				s.sweep(t)
				s.add(fresh, up, down)
			}
			p := up.Clone()
			for i := range p.Data {
				p.Data[i] /= up.Data[i] + down.Data[i]
			}
			report(name, (&ClassPrediction{Probability: p}).Normalise())
		}
	}
}
