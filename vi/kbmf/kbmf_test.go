package kbmf

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// problem is a random problem of pairs.
type problem struct {
	rows, cols, Px, Pz, R int
	missing               float64 // share of the pairs; the last row and column are missing too where it is positive
	basis                 int     // basis points of the rows, if not the rows
	labels                bool
}

// draw returns the kernels of the rows and of the columns, and the values of the pairs or their
// labels.
func (p problem) draw(t testing.TB, seed uint64) (kx, kz []la.Matrix[float64], y la.Matrix[float64]) {
	t.Helper()
	src := rand.New(rand.NewPCG(seed, 23))
	u, v := testkit.Normal(src, p.rows, 2), testkit.Normal(src, p.cols, 2)
	basis := p.rows
	if p.basis > 0 {
		basis = p.basis
	}
	kx, kz = rbfKernels(u.Slice(0, basis, 0, 2), u, p.Px), rbfKernels(v, v, p.Pz)
	y = la.NewMatrix[float64](p.rows, p.cols)
	for i := range p.rows {
		for j := range p.cols {
			value := math.Sin(2*u.At(i, 0))*v.At(j, 1) + u.At(i, 1)*math.Cos(v.At(j, 0)) + 0.5 + 0.3*src.NormFloat64()
			if p.labels {
				value = math.Copysign(1, value)
			}
			if src.Float64() < p.missing || p.missing > 0 && (i == p.rows-1 || j == p.cols-1) {
				value = math.NaN()
			}
			y.Set(i, j, value)
		}
	}
	return kx, kz, y
}

// rbfKernels returns P Gaussian kernels between the rows of u and the rows of v, of widths that
// double.
func rbfKernels(u, v la.Matrix[float64], P int) (out []la.Matrix[float64]) {
	for m := range P {
		k, w := la.NewMatrix[float64](u.Rows, v.Rows), math.Ldexp(0.6, m)
		for i := range u.Rows {
			for j := range v.Rows {
				d0, d1 := u.At(i, 0)-v.At(j, 0), u.At(i, 1)-v.At(j, 1)
				k.Set(i, j, math.Exp(-(d0*d0+d1*d1)/(2*w*w)))
			}
		}
		out = append(out, k)
	}
	return out
}

var problems = map[string]problem{
	"complete":       {rows: 7, cols: 5, Px: 2, Pz: 3, R: 2},
	"missing":        {rows: 8, cols: 6, Px: 3, Pz: 1, R: 2, missing: 0.3},
	"one component":  {rows: 6, cols: 4, Px: 1, Pz: 2, R: 1, missing: 0.2},
	"fewer basis":    {rows: 9, cols: 5, Px: 2, Pz: 2, R: 3, basis: 4},
	"more than rows": {rows: 3, cols: 4, Px: 2, Pz: 1, R: 5},
	"a single pair":  {rows: 1, cols: 1, Px: 1, Pz: 1, R: 1},
}

// fitted is what tests need of either model's state.
type fitted interface {
	vi.Objective
	Posterior() *Posterior
}

// TestPairsFollowTheFormulas compares every update, the bound after it and predictions with an
// implementation of plain loops, and demands that no update lowers the bound.
func TestPairsFollowTheFormulas(t *testing.T) {
	g := func(p [2]float64) vi.Gamma { return vi.Gamma{Shape: p[0], Scale: p[1]} }
	prior := [2][2]float64{{0.7, 2}, {0.6, 1.1}}
	others := [2][2]float64{{1, 3}, {2, 0.8}}
	const sigmaG, sigmaH = 0.3, 0.5
	for name, p := range problems {
		for _, kind := range []string{"values", "values, noise held, no bias", "labels"} {
			t.Run(name+", "+kind, func(t *testing.T) {
				p.labels = kind == "labels"
				kx, kz, y := p.draw(t, 3)
				x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
				src := rand.New(rand.NewPCG(4, 4))
				start := Start{drawStart(src, p.R, p.Px, kx[0].Rows, p.rows), drawStart(src, p.R, p.Pz, p.cols, p.cols)}
				want := newNaivePairs(newNaiveSide(kx, &start.X, prior, sigmaG, sigmaH), newNaiveSide(kz, &start.Z, prior, sigmaG, sigmaH), y)
				want.prior, want.gamma, want.bVar = others, [2]float64{others[0][0] + 0.5, others[0][1]}, 1
				var m fitted
				if p.labels {
					f := y.Clone()
					for i, v := range f.Data {
						f.Data[i] = 1.3 * v
						if math.IsNaN(v) {
							f.Data[i] = 0
						}
					}
					want.labels, want.margin, want.held = y, 0.1, 1
					want.each(func(i, j int) { want.y.Set(i, j, f.At(i, j)) })
					c, err := Classification{
						Components: p.R, Lambda: g(prior[0]), Eta: g(prior[1]), Gamma: g(others[0]), SigmaG: sigmaG, SigmaH: sigmaH,
						Margin: 0.1, Workers: 2, Start: &ClassificationStart{start, f},
					}.model(x, z, y)
					require.NoError(t, err)
					m = c
				} else {
					r := Regression{
						Components: p.R, Lambda: g(prior[0]), Eta: g(prior[1]), Gamma: g(others[0]), Epsilon: g(others[1]),
						SigmaG: sigmaG, SigmaH: sigmaH, Workers: 2, Start: &start,
					}
					want.epsilon = [2]float64{others[1][0], others[1][1]}
					want.each(func(int, int) { want.epsilon[0] += 0.5 })
					if kind != "values" {
						r.NoBias, r.SigmaY = true, 0.4
						want.noBias, want.bVar, want.held = true, 0, 1/(0.4*0.4)
					}
					c, err := r.model(x, z, y)
					require.NoError(t, err)
					require.InEpsilon(t, want.bound(), c.Bound(), 1e-9, "at the start")
					m = c
				}
				last, scored := math.Inf(-1), !p.labels   // there is no bound before the first q(f)
				for sweep := range work.FirstSweeps + 2 { // later ones are extrapolated
					require.NoError(t, m.Sweep(func(name string) {
						if strings.HasPrefix(name, "scale") {
							want.rescale(name, m.Posterior().State())
						} else {
							want.update(name)
						}
						scored = scored || name == "f"
						if !scored {
							return
						}
						b := m.Bound()
						require.InDelta(t, want.bound(), b, 1e-9*math.Max(1, math.Abs(b)), "after %s of sweep %d", name, sweep)
						require.False(t, testkit.Fell(last, b, m.Roundoff()), "sweep %d: %s: from %.17g to %.17g", sweep, name, last, b)
						last = b
					}))
				}
				post := m.Posterior()
				requireNaiveSide(t, want.x, post.s.X)
				requireNaiveSide(t, want.z, post.s.Z)
				assert.InDelta(t, want.b, post.s.Bias, 1e-8)
				if !p.labels {
					requireOwnPredictions(t, want, m)
				}
				requirePredictions(t, want, post)
			})
		}
	}
}

// TestPairsNeverFall demands that extrapolated sweeps do not lower the bound.
func TestPairsNeverFall(t *testing.T) {
	for name, p := range problems {
		for _, labels := range []bool{false, true} {
			p.labels = labels
			kx, kz, y := p.draw(t, 5)
			x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
			var m fitted
			var err error
			if labels {
				m, err = Classification{Components: p.R}.model(x, z, y)
			} else {
				m, err = Regression{Components: p.R}.model(x, z, y)
			}
			require.NoError(t, err)
			last, ahead := math.Inf(-1), 0
			for sweep := range 60 {
				require.NoError(t, m.Sweep(func(update string) {
					if update == "ahead" {
						ahead++
					}
				}))
				b := m.Bound()
				require.False(t, testkit.Fell(last, b, m.Roundoff()), "%s, sweep %d: from %.17g to %.17g", name, sweep, last, b)
				last = b
			}
			assert.Positive(t, ahead, name)
		}
	}
}

// rescale moves along the ridge that a step of this name moved along, as far as s says.
func (w *naivePairs) rescale(name string, s State) {
	scale := func(side *naiveSide, c float64, kernels, factors bool) {
		for r := range side.R {
			for d := range side.a[r] {
				side.a[r][d] *= c
				side.lambda[r][d][1] /= c * c
			}
			la.Scal(c*c, side.aCov[r].Data)
			for i := range side.h {
				for m := range side.e {
					side.g[r][i][m] *= c
				}
			}
		}
		la.Scal(c*c, side.gCov.Data)
		for m := range side.e {
			if kernels {
				side.e[m] /= c
				side.eta[m][1] *= c * c
			}
		}
		if kernels {
			la.Scal(1/(c*c), side.eCov.Data)
		}
		for i := range side.h {
			if factors {
				la.Scal(c, side.h[i])
				la.Scal(c*c, side.hCov[i].Data)
			}
		}
	}
	switch cx, cz := s.X.A.At(0, 0)/w.x.a[0][0], s.Z.A.At(0, 0)/w.z.a[0][0]; name {
	case "scale of x":
		scale(w.x, cx, true, false)
	case "scale of z":
		scale(w.z, cz, true, false)
	default:
		scale(w.x, cx, false, true)
		scale(w.z, 1/cx, false, true)
	}
}

func requireNaiveSide(t *testing.T, want *naiveSide, s SideState) {
	t.Helper()
	R := want.R
	for r := range R {
		testkit.RequireClose(t, "a", want.a[r], s.A.Row(r), 1e-7)
	}
	testkit.RequireClose(t, "e", want.e, s.E, 1e-7)
	testkit.RequireClose(t, "Cov[e]", want.eCov, s.ECov, 1e-7)
	for i, h := range want.h {
		for r := range R {
			require.InDelta(t, h[r], s.H.At(r, i), 1e-7)
		}
		testkit.RequireClose(t, "Cov[h]", want.hCov[i], la.MatrixOf(R, R, s.HCov.Row(i)), 1e-7)
	}
}

// requireOwnPredictions compares the predictions of the observed pairs, which the stopping rule watches. They are made from kernels alone;
// the variance of a component is the same for all samples of a side: the variance of a kernel's part is its mean over samples and kernels,
// and components and kernels do not covary.
func requireOwnPredictions(t *testing.T, want *naivePairs, m fitted) {
	t.Helper()
	of := func(s *naiveSide) (h [][]float64, variance []float64) {
		N, P := float64(len(s.h)), float64(len(s.e))
		for i := range s.h {
			mean, _ := s.moments(func(m, d int) float64 { return s.k[m].At(d, i) })
			h = append(h, mean)
		}
		for r := range s.R {
			v, within := 1/s.tau, 1/s.upsilon
			for i := range s.h {
				for m := range s.e {
					_, own := s.fromKernels(r, m, s.at(m, i))
					within += own / (N * P)
				}
			}
			for m := range s.e {
				v += within * s.ee(m, m)
				for i := range s.h {
					part, _ := s.fromKernels(r, m, s.at(m, i))
					v += s.eCov.At(m, m) * part * part / N
				}
			}
			variance = append(variance, v)
		}
		return h, variance
	}
	hx, vx := of(want.x)
	hz, vz := of(want.z)
	var got vi.Predictions
	m.Predictions(&got)
	at := 0
	want.each(func(i, j int) {
		mean, variance := want.b, 1/want.noise()+want.bVar
		for r := range vx {
			mean += hx[i][r] * hz[j][r]
			variance += hx[i][r]*hx[i][r]*vz[r] + hz[j][r]*hz[j][r]*vx[r] + vx[r]*vz[r]
		}
		require.InDelta(t, mean, got.Mean[at], 1e-7, "pair (%d, %d)", i, j)
		require.InEpsilon(t, math.Sqrt(variance), got.SD[at], 1e-7, "pair (%d, %d)", i, j)
		at++
	})
	require.Len(t, got.Mean, at)
}

// A fit has collapsed if its predictions of the observed pairs vary much less than what was observed. Constant targets ask for no more.
func TestCollapsedPairs(t *testing.T) {
	p := problems["missing"]
	kx, kz, y := p.draw(t, 1)
	for i := range y.Data {
		y.Data[i] *= 0.1
	}
	m, err := Regression{Components: p.R, SigmaY: 0.03}.model(testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...)), y)
	require.NoError(t, err)
	for range 100 {
		require.NoError(t, m.Sweep(nil))
	}
	assert.False(t, m.collapsed(y))
	clear(m.x.e.Mean)
	assert.True(t, m.collapsed(y))
	constant := y.Clone()
	constant.Fill(2)
	assert.False(t, m.collapsed(constant))
}

// requirePredictions compares the predictions of training rows and columns, as such and as
// new ones.
func requirePredictions(t *testing.T, want *naivePairs, p *Posterior) {
	t.Helper()
	for _, s := range []*naiveSide{want.x, want.z} { // predictions have Cov[a] at its best given λ, which the last step has moved
		a := s.a
		s.update("a", false, nil, 0, 0)
		s.a = a
	}
	x, z := testkit.Must(vi.NewDense(want.x.k...)), testkit.Must(vi.NewDense(want.z.k...))
	newX, newZ := testkit.Must(p.New(false, x, vi.PredictOptions{})), testkit.Must(p.New(true, z, vi.PredictOptions{}))
	places := []int{want.y.Rows - 1, 0}
	noise := 1.0
	if want.labels.Rows == 0 {
		noise = 1 / want.noise()
	}
	for _, c := range []struct {
		name   string
		known  [2]bool
		x, z   *Factors
		places []int
	}{
		{name: "known", known: [2]bool{true, true}, x: p.Known(false, places), z: p.Known(true, nil), places: places},
		{name: "new rows", known: [2]bool{false, true}, x: newX, z: p.Known(true, nil)},
		{name: "new columns", known: [2]bool{true, false}, x: p.Known(false, nil), z: newZ},
		{name: "new", x: newX, z: newZ},
	} {
		got := p.Predict(c.x, c.z)
		for t0 := range got.Mean.Rows {
			i := t0
			if c.places != nil {
				i = c.places[t0]
			}
			hx, cx := want.x.h[i], want.x.hCov[i]
			if !c.known[0] {
				hx, cx = want.x.moments(func(m, d int) float64 { return want.x.k[m].At(d, i) })
			}
			for j := range got.Mean.Cols {
				hz, cz := want.z.h[j], want.z.hCov[j]
				if !c.known[1] {
					hz, cz = want.z.moments(func(m, d int) float64 { return want.z.k[m].At(d, j) })
				}
				mean, square := want.b, noise+want.bVar
				for r := range hx {
					mean += hx[r] * hz[r]
					for s := range hx {
						square += (hx[r]*hx[s]+cx.At(r, s))*(hz[r]*hz[s]+cz.At(r, s)) - hx[r]*hx[s]*hz[r]*hz[s]
					}
				}
				require.InDelta(t, mean, got.Mean.At(t0, j), 1e-7, "%s (%d, %d)", c.name, i, j)
				require.InEpsilon(t, square, got.Variance.At(t0, j), 1e-6, "%s (%d, %d)", c.name, i, j)
				if want.labels.Rows > 0 {
					above := 0.5 * math.Erfc(-(mean-want.margin)/math.Sqrt(2*square))
					below := 0.5 * math.Erfc((mean+want.margin)/math.Sqrt(2*square))
					require.InEpsilon(t, above/(above+below), got.Probability.At(t0, j), 1e-6)
				}
			}
		}
		means, err := p.New(false, x, vi.PredictOptions{MeanOnly: true})
		require.NoError(t, err)
		require.Equal(t, newX.Mean, means.Mean)
		require.Zero(t, p.Predict(means, c.z).Variance.Rows)
	}
}

// pairFile is a golden file of pairs.
type pairFile struct {
	Model  string
	Hyper  map[string]float64
	R      int
	Kx, Kz golden.Tensor
	KxTest golden.Tensor `json:"Kx_test"`
	KzTest golden.Tensor `json:"Kz_test"`
	Y      [][]*float64
	Init   struct{ X, Z, F json.RawMessage }
	After  map[string]struct {
		X, Z       pairFileSide
		Prediction golden.Mat
	}
}

type pairFileSide struct {
	LambdaBeta golden.Mat    `json:"lambda_beta"`
	A          golden.Mat    `json:"A_mu"`
	ASigma     golden.Tensor `json:"A_sigma"`
	EtaBeta    golden.Vec    `json:"eta_beta"`
	E          golden.Vec    `json:"e_mu"`
	ESigma     golden.Mat    `json:"e_sigma"`
}

// start returns the start of a side.
func fileStart(t *testing.T, data json.RawMessage) SideStart {
	var s struct {
		A golden.Mat
		G golden.Tensor // kernel, component, sample
		H golden.Mat
	}
	require.NoError(t, json.Unmarshal(data, &s))
	out := SideStart{A: golden.MatrixOf(s.A), G: la.NewMatrix[float64](len(s.A)*len(s.G), len(s.H[0])), H: golden.MatrixOf(s.H)}
	for m, of := range s.G {
		for r, row := range of {
			copy(out.G.Row(r*len(s.G)+m), row)
		}
	}
	return out
}

// TestGoldenPairs compares the plain order with what the authors' programs print: with one kernel
// of the rows and one of the columns the models are the same; with more they take the kernels'
// intermediate outputs as independent, and it is the implementation of plain loops that is
// compared, in that form.
func TestGoldenPairs(t *testing.T) {
	golden.Run(t, "kbmf", []string{"regression.json", "classification_kernels.json"}, func(t *testing.T, _ string, data []byte) {
		var f pairFile
		require.NoError(t, json.Unmarshal(data, &f))
		g := func(name string) vi.Gamma {
			return vi.Gamma{Shape: f.Hyper["alpha_"+name], Scale: f.Hyper["beta_"+name]}
		}
		y := la.NewMatrix[float64](len(f.Y), len(f.Y[0]))
		for i, row := range f.Y {
			for j, v := range row {
				y.Set(i, j, math.NaN())
				if v != nil {
					y.Set(i, j, *v)
				}
			}
		}
		kx, kz := golden.MatricesOf(f.Kx), golden.MatricesOf(f.Kz)
		x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
		start := Start{fileStart(t, f.Init.X), fileStart(t, f.Init.Z)}
		prior := [2][2]float64{{g("lambda").Shape, g("lambda").Scale}, {g("eta").Shape, g("eta").Scale}}
		sigmaG, sigmaH := f.Hyper["sigma_g"], f.Hyper["sigma_h"]
		naive := newNaivePairs(newNaiveSide(kx, &start.X, prior, sigmaG, sigmaH), newNaiveSide(kz, &start.Z, prior, sigmaG, sigmaH), y)
		naive.apart, naive.noBias = true, true
		var m fitted
		var err error
		order := "λx ax Gx ηx ex Hx λz az Gz ηz ez Hz"
		if f.Model == "classification" {
			var scores golden.Mat
			require.NoError(t, json.Unmarshal(f.Init.F, &scores))
			start := &ClassificationStart{start, golden.MatrixOf(scores)}
			naive.labels, naive.margin, naive.held = y, f.Hyper["margin"], 1
			naive.each(func(i, j int) { naive.y.Set(i, j, scores[i][j]) })
			order += " f"
			m, err = Classification{
				Components: f.R, Lambda: g("lambda"), Eta: g("eta"), SigmaG: sigmaG, SigmaH: sigmaH,
				Margin: f.Hyper["margin"], NoBias: true, Plain: true, Start: start,
			}.model(x, z, y)
		} else {
			naive.held = 1 / (f.Hyper["sigma_y"] * f.Hyper["sigma_y"])
			m, err = Regression{
				Components: f.R, Lambda: g("lambda"), Eta: g("eta"), SigmaG: sigmaG, SigmaH: sigmaH,
				SigmaY: f.Hyper["sigma_y"], NoBias: true, Plain: true, Start: &start,
			}.model(x, z, y)
		}
		require.NoError(t, err)
		kxTest, kzTest := golden.MatricesOf(f.KxTest), golden.MatricesOf(f.KzTest)
		for sweep := 1; sweep <= 100; sweep++ {
			for name := range strings.FieldsSeq(order) {
				naive.update(name)
			}
			require.NoError(t, m.Sweep(nil))
			after, ok := f.After[fmt.Sprint(sweep)]
			if !ok {
				continue
			}
			side := func(want pairFileSide, s *naiveSide) {
				t.Helper()
				testkit.RequireClose(t, "a", want.A, s.a, goldenArrays)
				testkit.RequireClose(t, "e", want.E, s.e, goldenArrays)
				testkit.RequireClose(t, "Cov[e]", want.ESigma, s.eCov, goldenArrays)
				for r := range s.R {
					testkit.RequireClose(t, "Cov[a]", golden.MatrixOf(want.ASigma[r]), s.aCov[r], goldenArrays)
				}
			}
			side(after.X, naive.x)
			side(after.Z, naive.z)
			if len(kx) > 1 {
				continue
			}
			p := m.Posterior()
			ours := func(want pairFileSide, s SideState) {
				t.Helper()
				testkit.RequireClose(t, "λ", golden.MatrixOf(want.LambdaBeta), s.Lambda, goldenArrays)
				testkit.RequireClose(t, "a", golden.MatrixOf(want.A), s.A, goldenArrays)
				testkit.RequireClose(t, "η", want.EtaBeta[0], s.Eta[0].Scale, goldenArrays)
				testkit.RequireClose(t, "e", want.E, s.E, goldenArrays)
				testkit.RequireClose(t, "Cov[e]", golden.MatrixOf(want.ESigma), s.ECov, goldenArrays)
			}
			ours(after.X, p.s.X)
			ours(after.Z, p.s.Z)
			newX := testkit.Must(p.New(false, testkit.Must(vi.NewDense(kxTest...)), vi.PredictOptions{MeanOnly: true}))
			newZ := testkit.Must(p.New(true, testkit.Must(vi.NewDense(kzTest...)), vi.PredictOptions{MeanOnly: true}))
			testkit.RequireClose(t, "prediction", golden.MatrixOf(after.Prediction), p.Predict(newX, newZ).Mean, goldenArrays)
		}
	})
}

// TestPairPoints compares predictions of single samples' factors, and of single pairs, with
// predictions of many at once.
func TestPairPoints(t *testing.T) {
	p := problems["missing"]
	kx, kz, y := p.draw(t, 1)
	x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
	fit, err := Regression{Components: p.R, Ascent: vi.Ascent{MaxSweeps: 20}}.Fit(context.Background(), x, z, y)
	require.NoError(t, err)
	post := fit.Posterior
	ws := &la.Workspace{Workers: 1}
	for _, columns := range []bool{false, true} {
		k := map[bool]*vi.Dense{false: x, true: z}[columns]
		want := testkit.Must(post.New(columns, k, vi.PredictOptions{}))
		points := testkit.Must(post.Points(ws, columns, false, false))
		means := testkit.Must(post.Points(ws, columns, true, false))
		P, D, N := k.Dims()
		one, scratch := la.NewMatrix[float64](P, D), make([]float64, points.ScratchSize())
		mean, cov := make([]float64, p.R), make([]float64, p.R*p.R)
		for i := range N {
			for m := range P {
				k.Columns(m, i, one.Slice(m, m+1, 0, D))
			}
			points.At(ws, one, nil, scratch, mean, cov)
			testkit.RequireClose(t, "Cov[h]", want.Covariance.Row(i), cov, 1e-10)
			for r, v := range mean {
				require.InDelta(t, want.Mean.At(r, i), v, 1e-12)
			}
			alone := make([]float64, p.R)
			means.At(ws, one, nil, scratch, alone, nil)
			require.Equal(t, mean, alone)
		}
		assert.Zero(t, testing.AllocsPerRun(5, func() { points.At(ws, one, nil, scratch, mean, cov) }))
	}
}

// TestPairFactorsBesideGram compares predictions of a fit with predictions of its restored state,
// bit for bit: the factor of a single component lies beside the Gram matrix, which does not change.
func TestPairFactorsBesideGram(t *testing.T) {
	kx, kz, y := problem{rows: 34, cols: 9, Px: 2, Pz: 1}.draw(t, 1)
	x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
	for _, components := range []int{1, 2} {
		fit, err := Regression{Components: components, Ascent: vi.Ascent{MaxSweeps: 5}}.Fit(context.Background(), x, z, y)
		require.NoError(t, err)
		for _, columns := range []bool{false, true} {
			k := map[bool]*vi.Dense{false: x, true: z}[columns]
			s := fit.Posterior.State()
			s.X.Gram, s.Z.Gram = s.X.Gram.Clone(), s.Z.Gram.Clone()
			apart := testkit.Must(NewPosterior(s))
			want := testkit.Must(apart.New(columns, k, vi.PredictOptions{}))
			for range 2 {
				require.Equal(t, want, testkit.Must(fit.Posterior.New(columns, k, vi.PredictOptions{})))
			}
			points := testkit.Must(fit.Posterior.Points(nil, columns, false, false))
			for r, f := range testkit.Must(apart.Points(nil, columns, false, false)).factors {
				for d := range f.B.Rows {
					require.Equal(t, f.B.Row(d)[:d+1], points.factors[r].B.Row(d)[:d+1])
				}
			}
			side := fit.Posterior.side(columns)
			if components == 1 {
				require.Same(t, &side.Room.Data[0], &testkit.Must(side.Factor(nil, 0, nil)).B.Data[0])
			}
			for d := range side.D {
				require.Equal(t, apart.side(columns).Gram.Row(d)[d:], side.Gram.Row(d)[d:])
			}
		}
	}
}

// TestPairsOfEveryWorkerCount demands the same bits of fits by one worker and by several.
func TestPairsOfEveryWorkerCount(t *testing.T) {
	p := problem{rows: 40, cols: 35, Px: 2, Pz: 2, R: 3, missing: 0.2}
	kx, kz, y := p.draw(t, 1)
	x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
	var first State
	for _, workers := range []int{1, 3} {
		fit, err := Regression{Components: p.R, Ascent: vi.Ascent{MaxSweeps: 15}, Workers: workers}.Fit(context.Background(), x, z, y)
		require.NoError(t, err)
		if workers == 1 {
			first = fit.Posterior.State()
		} else {
			assert.Equal(t, first, fit.Posterior.State())
		}
	}
}

// TestPairsAreRefused gives the errors of arguments that do not fit.
func TestPairsAreRefused(t *testing.T) {
	p := problems["complete"]
	kx, kz, y := p.draw(t, 1)
	x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
	nothing, infinite, half := y.Clone(), y.Clone(), y.Clone()
	nothing.Fill(math.NaN())
	infinite.Set(1, 2, math.Inf(1))
	half.Fill(1)
	half.Set(1, 2, 0.5)
	ctx := context.Background()
	for want, fit := range map[string]func() error{
		"vi: Components is 0: there must be at least 1": func() error {
			_, err := Regression{}.Fit(ctx, x, z, y)
			return err
		},
		"vi: kernels of the columns: nil": func() error {
			_, err := Regression{Components: 1}.Fit(ctx, x, nil, y)
			return err
		},
		"vi: y: 7×5 where the kernels are of 5 rows": func() error {
			_, err := Regression{Components: 1}.Fit(ctx, z, x, y)
			return err
		},
		"vi: y: every value is missing": func() error {
			_, err := Regression{Components: 1}.Fit(ctx, x, z, nothing)
			return err
		},
		"vi: y: entry (1, 2) is +Inf": func() error {
			_, err := Regression{Components: 1}.Fit(ctx, x, z, infinite)
			return err
		},
		"vi: y: entry (1, 2) is 0.5: labels are −1 and +1, NaN where missing": func() error {
			_, err := Classification{Components: 1}.Fit(ctx, x, z, half)
			return err
		},
		"vi: SigmaH is -1: it and 1/SigmaH² must be positive and finite": func() error {
			_, err := Regression{Components: 1, SigmaH: -1}.Fit(ctx, x, z, y)
			return err
		},
		"vi: SigmaY is -1: it must be 0, or it and 1/SigmaY² positive and finite": func() error {
			_, err := Regression{Components: 1, SigmaY: -1}.Fit(ctx, x, z, y)
			return err
		},
		"vi: SigmaY is 1e+200: it must be 0, or it and 1/SigmaY² positive and finite": func() error {
			_, err := Regression{Components: 1, SigmaY: 1e200}.Fit(ctx, x, z, y)
			return err
		},
		"vi: SigmaG is 1e-200: it and 1/SigmaG² must be positive and finite": func() error {
			_, err := Regression{Components: 1, SigmaG: 1e-200}.Fit(ctx, x, z, y)
			return err
		},
		"vi: prior Eta: Gamma(-1, 1): shape and scale must be positive and finite": func() error {
			_, err := Classification{Components: 1, Eta: vi.Gamma{Shape: -1, Scale: 1}}.Fit(ctx, x, z, y)
			return err
		},
		"Start.X: vi: Start.A: 0×0 where 1×7 is needed": func() error {
			_, err := Regression{Components: 1, Start: &Start{}}.Fit(ctx, x, z, y)
			return err
		},
	} {
		assert.EqualError(t, fit(), want)
	}
}

// A state that does not fit is no posterior.
func TestPairStateIsChecked(t *testing.T) {
	p := problems["missing"]
	p.labels = true
	kx, kz, y := p.draw(t, 1)
	x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
	fit, err := Classification{Components: p.R, Ascent: vi.Ascent{MaxSweeps: 3}}.Fit(context.Background(), x, z, y)
	require.NoError(t, err)
	good := fit.Posterior.State()
	again, err := NewPosterior(good)
	require.NoError(t, err)
	assert.Equal(t, good, again.State())
	for want, spoil := range map[string]func(s *State){
		"SigmaG 0.1, SigmaH -1, Noise 0: each, and one over its square, must be positive and finite":  func(s *State) { s.SigmaH = -1 },
		"SigmaG 0.1, SigmaH 0.1, Noise 0: each, and one over its square, must be positive and finite": func(s *State) { s.Labels = false },
		"vi: Margin is -1: it must be at least 0 and finite":                                          func(s *State) { s.Margin = -1 },
		"vi: prior Gamma: Gamma(0, 1): shape and scale must be positive and finite": func(s *State) {
			s.Gamma = vi.Gamma{Scale: 1}
		},
		"the bias has mean NaN and variance 1":                                    func(s *State) { s.Bias, s.BiasVariance = math.NaN(), 1 },
		"vi: prior Eta: Gamma(0, 0): shape and scale must be positive and finite": func(s *State) { s.Priors.Eta = vi.Gamma{} },
		"rows: vi: prior Eta[0]: Gamma(0, 0): shape and scale must be positive and finite": func(s *State) {
			s.X.Eta = []vi.Gamma{{}, s.X.Eta[1], s.X.Eta[2]}
		},
		"columns: H: 1×6 (stride 6, 6 elements) where 2×6 is needed": func(s *State) { s.Z.H = s.Z.H.Slice(0, 1, 0, 6) },
		"rows: E[1] is NaN": func(s *State) { s.X.E = []float64{1, math.NaN(), 2} },
		"columns: 2 components, 0 kernels, 1 kernel weights, 6 basis points, 6 samples": func(s *State) { s.Z.Eta = nil },
		"columns: 2 components, 1 kernels, 0 kernel weights, 6 basis points, 6 samples": func(s *State) { s.Z.E = nil },
		"columns: 2 components, 1 kernels, 1 kernel weights, 0 basis points, 6 samples": func(s *State) { s.Z.Lambda = s.Z.Lambda.Slice(0, 2, 0, 0) },
		"columns: 2 components, 1 kernels, 1 kernel weights, 6 basis points, 0 samples": func(s *State) { s.Z.H = s.Z.H.Slice(0, 2, 0, 0) },
	} {
		s := good
		spoil(&s)
		_, err := NewPosterior(s)
		assert.EqualError(t, err, "vi: state of pairs: "+want)
	}
}

// TestPairsFromContinue resumes converged fits: the bound goes on from where it was, also with
// noise that was held and is not, and what does not fit is refused.
func TestPairsFromContinue(t *testing.T) {
	ctx := context.Background()
	p := problems["missing"]
	kx, kz, y := p.draw(t, 1)
	x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
	r := Regression{Components: p.R}
	first, err := r.Fit(ctx, x, z, y)
	require.NoError(t, err)
	r.From = first.Posterior
	second, err := r.Fit(ctx, x, z, y)
	require.NoError(t, err)
	assert.Greater(t, second.Record.Trace[0], first.Record.Bound()-1e-6)
	assert.Less(t, len(second.Record.Trace), len(first.Record.Trace))

	held, err := Regression{Components: p.R, SigmaY: 0.5, NoBias: true, Ascent: vi.Ascent{MaxSweeps: 20}}.Fit(ctx, x, z, y)
	require.NoError(t, err)
	r.From = held.Posterior
	m, err := r.model(x, z, y)
	require.NoError(t, err)
	assert.InEpsilon(t, 4, m.precision(), 1e-12)
	last := math.Inf(-1)
	for range work.FirstSweeps + 5 {
		require.NoError(t, m.Sweep(nil))
		b := m.Bound()
		require.False(t, testkit.Fell(last, b, m.Roundoff()), "from %.17g to %.17g", last, b)
		last = b
	}

	p.labels = true
	_, _, signs := p.draw(t, 1)
	c := Classification{Components: p.R}
	labels, err := c.Fit(ctx, x, z, signs)
	require.NoError(t, err)
	c.From = labels.Posterior
	again, err := c.Fit(ctx, x, z, signs)
	require.NoError(t, err)
	assert.Greater(t, again.Record.Trace[0], labels.Record.Bound()-1e-6)
	assert.Less(t, len(again.Record.Trace), len(labels.Record.Trace))

	r.From = labels.Posterior
	_, err = r.Fit(ctx, x, z, y)
	assert.EqualError(t, err, "vi: From: of labels: true, where the fit's are: false")
	r.From, r.Components = first.Posterior, p.R+1
	_, err = r.Fit(ctx, x, z, y)
	assert.ErrorContains(t, err, "vi: From: rows: ")
	r.Components = p.R
	_, err = r.Fit(ctx, testkit.Must(vi.NewDense(kx[:2]...)), z, y)
	assert.ErrorContains(t, err, "vi: From: rows: 2 components, 3 kernels, 8 basis points, 8 samples where there are 2, 2, 8 and 8")
}
