package bemkl

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/fittest"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// drawTasks returns tasks of so many samples each, of P kernels. A negative number is of
// samples with half as many basis points and one.
func drawTasks(t testing.TB, seed uint64, P int, sizes ...int) ([]Task, [][]la.Matrix[float64]) {
	src := rand.New(rand.NewPCG(seed, 17))
	var tasks []Task
	var all [][]la.Matrix[float64]
	for o, n := range sizes {
		d := n
		if n < 0 {
			n = -n
			d = n/2 + 1
		}
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = src.NormFloat64()
			y[i] = math.Sin(3*x[i]+0.5*float64(o)) + 0.3*src.NormFloat64()
		}
		var ks []la.Matrix[float64]
		for m := range P {
			k, w := la.NewMatrix[float64](d, n), math.Ldexp(0.25, m)
			for i := range d {
				for j := range n {
					k.Set(i, j, math.Exp(-(x[i]-x[j])*(x[i]-x[j])/(2*w*w)))
				}
			}
			ks = append(ks, k)
		}
		dense, err := vi.NewDense(ks...)
		require.NoError(t, err)
		tasks, all = append(tasks, Task{dense, y}), append(all, ks)
	}
	return tasks, all
}

// naiveTasks is the model with every distribution written out and every update a plain
// loop with explicit inverses, by the formulas of docs/theory/tasks.md. Gammas are shape and
// scale.
type naiveTasks struct {
	k       [][]la.Matrix[float64]
	y       [][]float64
	prior   [5][2]float64 // λ, υ, γ, ω, ε
	lambda  [][][2]float64
	upsilon [][2]float64
	gamma   [][2]float64
	omega   [][2]float64
	epsilon [][2]float64
	a       [][]float64
	aCov    []la.Matrix[float64]
	g       [][][]float64        // task, sample, kernel
	gCov    []la.Matrix[float64] // of every sample
	be      []float64
	beCov   la.Matrix[float64]

	// Of tasks with labels y is E[f], υ and ε are fixed, and there is no prior of them.
	labels [][]float64
	margin float64
	f2     [][]float64 // E[f²]
	fLogZ  []float64   // Σ log P(f·label > margin) of N(m, 1)
	fAway  []float64   // Σ E[(f − m)²]
}

func newNaiveTasks(k [][]la.Matrix[float64], tasks []Task, start []Start, prior [5][2]float64) *naiveTasks {
	T, P := len(tasks), len(k[0])
	s := &naiveTasks{k: k, prior: prior, be: make([]float64, T+P), beCov: fittest.Identity(T + P)}
	for m := range P {
		s.be[T+m] = 1
		s.omega = append(s.omega, [2]float64{prior[3][0] + 0.5, prior[3][1]})
	}
	for t, task := range tasks {
		D, N := k[t][0].Rows, k[t][0].Cols
		s.y = append(s.y, task.Y)
		lambda := make([][2]float64, D)
		for d := range lambda {
			lambda[d] = [2]float64{prior[0][0] + 0.5, prior[0][1]}
		}
		s.lambda = append(s.lambda, lambda)
		s.upsilon = append(s.upsilon, [2]float64{prior[1][0] + 0.5*float64(N*P), prior[1][1]})
		s.gamma = append(s.gamma, [2]float64{prior[2][0] + 0.5, prior[2][1]})
		s.epsilon = append(s.epsilon, [2]float64{prior[4][0] + 0.5*float64(N), prior[4][1]})
		s.a = append(s.a, append([]float64(nil), start[t].A.Row(0)...))
		s.aCov, s.gCov = append(s.aCov, fittest.Identity(D)), append(s.gCov, fittest.Identity(P))
		g := make([][]float64, N)
		for i := range g {
			for m := range P {
				g[i] = append(g[i], start[t].G.At(m, i))
			}
		}
		s.g = append(s.g, g)
	}
	return s
}

// ee is E[e_m·e_n], eb is E[e_m·b_t] and bb is E[b_t²].
func (s *naiveTasks) ee(m, n int) float64 {
	T := len(s.y)
	return s.be[T+m]*s.be[T+n] + s.beCov.At(T+m, T+n)
}
func (s *naiveTasks) eb(m, t int) float64 {
	T := len(s.y)
	return s.be[T+m]*s.be[t] + s.beCov.At(T+m, t)
}
func (s *naiveTasks) bb(t int) float64 { return s.be[t]*s.be[t] + s.beCov.At(t, t) }

// prediction is E[a_t]ᵀk_{m,i}, and its variance.
func (s *naiveTasks) prediction(t, m, i int) (h, v float64) {
	k := s.k[t][m]
	for d := range s.a[t] {
		h += s.a[t][d] * k.At(d, i)
		for c := range s.a[t] {
			v += k.At(d, i) * s.aCov[t].At(d, c) * k.At(c, i)
		}
	}
	return h, v
}

// distance is Σ E[(g − aᵀk)²].
func (s *naiveTasks) distance(t int) (sum float64) {
	for i, g := range s.g[t] {
		for m := range g {
			h, v := s.prediction(t, m, i)
			sum += (g[m]-h)*(g[m]-h) + s.gCov[t].At(m, m) + v
		}
	}
	return sum
}

// residual is Σ E[(y − eᵀg − b)²].
func (s *naiveTasks) residual(t int) (sum float64) {
	for i, g := range s.g[t] {
		y := s.y[t][i]
		sum += y*y - 2*y*s.be[t] + s.bb(t)
		for m := range g {
			sum += 2*g[m]*s.eb(m, t) - 2*y*s.be[len(s.y)+m]*g[m]
			for n := range g {
				sum += s.ee(m, n) * (g[m]*g[n] + s.gCov[t].At(m, n))
			}
		}
	}
	return sum
}

// update makes the update of the given name.
func (s *naiveTasks) update(name string) {
	T, P := len(s.y), len(s.omega)
	observe := func(g *[2]float64, prior [2]float64, sum float64) { g[1] = 1 / (1/prior[1] + sum/2) }
	for t := range T {
		eps, ups := fittest.Mean(s.epsilon[t]), fittest.Mean(s.upsilon[t])
		switch name {
		case "λ":
			for d, a := range s.a[t] {
				observe(&s.lambda[t][d], s.prior[0], a*a+s.aCov[t].At(d, d))
			}
		case "υ":
			observe(&s.upsilon[t], s.prior[1], s.distance(t))
		case "γ":
			observe(&s.gamma[t], s.prior[2], s.bb(t))
		case "ε":
			observe(&s.epsilon[t], s.prior[4], s.residual(t))
		case "a":
			D := len(s.a[t])
			precision, right := la.NewMatrix[float64](D, D), make([]float64, D)
			for d := range D {
				precision.Set(d, d, fittest.Mean(s.lambda[t][d]))
			}
			for i, g := range s.g[t] {
				for m, k := range s.k[t] {
					for d := range D {
						right[d] += ups * k.At(d, i) * g[m]
						for c := range D {
							precision.Set(d, c, precision.At(d, c)+ups*k.At(d, i)*k.At(c, i))
						}
					}
				}
			}
			s.aCov[t], _ = fittest.Inverse(precision)
			s.a[t] = fittest.Times(s.aCov[t], right)
		case "G":
			precision := la.NewMatrix[float64](P, P)
			for m := range P {
				for n := range P {
					precision.Set(m, n, eps*s.ee(m, n))
				}
				precision.Set(m, m, precision.At(m, m)+ups)
			}
			s.gCov[t], _ = fittest.Inverse(precision)
			for i := range s.g[t] {
				right := make([]float64, P)
				for m := range P {
					h, _ := s.prediction(t, m, i)
					right[m] = ups*h + eps*(s.y[t][i]*s.be[T+m]-s.eb(m, t))
				}
				s.g[t][i] = fittest.Times(s.gCov[t], right)
			}
		}
	}
	switch name {
	case "f":
		s.truncate()
	case "ω":
		for m := range P {
			observe(&s.omega[m], s.prior[3], s.ee(m, m))
		}
	case "(b,e)":
		precision, right := la.NewMatrix[float64](T+P, T+P), make([]float64, T+P)
		add := func(i, j int, v float64) { precision.Set(i, j, precision.At(i, j)+v) }
		for m := range P {
			add(T+m, T+m, fittest.Mean(s.omega[m]))
		}
		for t := range T {
			eps := fittest.Mean(s.epsilon[t])
			add(t, t, fittest.Mean(s.gamma[t]))
			for i, g := range s.g[t] {
				add(t, t, eps)
				right[t] += eps * s.y[t][i]
				for m := range P {
					add(t, T+m, eps*g[m])
					add(T+m, t, eps*g[m])
					right[T+m] += eps * s.y[t][i] * g[m]
					for n := range P {
						add(T+m, T+n, eps*(g[m]*g[n]+s.gCov[t].At(m, n)))
					}
				}
			}
		}
		s.beCov, _ = fittest.Inverse(precision)
		s.be = fittest.Times(s.beCov, right)
	}
}

// bound is E[log p] − E[log q], term by term.
func (s *naiveTasks) bound() (sum float64) {
	gammas := func(q, p [2]float64) {
		lp, _ := math.Lgamma(p[0])
		lq, _ := math.Lgamma(q[0])
		sum += (p[0]-1)*fittest.MeanLog(q) - fittest.Mean(q)/p[1] - lp - p[0]*math.Log(p[1])
		sum += q[0] + math.Log(q[1]) + lq + (1-q[0])*special.Digamma(q[0])
	}
	normals := func(tau [2]float64, n, squares float64) {
		sum += 0.5*n*(fittest.MeanLog(tau)-math.Log(2*math.Pi)) - 0.5*fittest.Mean(tau)*squares
	}
	entropy := func(cov la.Matrix[float64], copies float64) {
		_, logDet := fittest.Inverse(cov)
		sum += 0.5 * copies * (float64(cov.Rows)*(1+math.Log(2*math.Pi)) + logDet)
	}
	P := len(s.omega)
	for t, y := range s.y {
		N := float64(len(y))
		for d, a := range s.a[t] {
			gammas(s.lambda[t][d], s.prior[0])
			normals(s.lambda[t][d], 1, a*a+s.aCov[t].At(d, d))
		}
		gammas(s.gamma[t], s.prior[2])
		normals(s.gamma[t], 1, s.bb(t))
		if s.labels == nil {
			gammas(s.upsilon[t], s.prior[1])
			gammas(s.epsilon[t], s.prior[4])
			normals(s.upsilon[t], N*float64(P), s.distance(t))
			normals(s.epsilon[t], N, s.residual(t))
		} else {
			fixed := fittest.Mean(s.upsilon[t])
			sum += 0.5*N*float64(P)*math.Log(fixed/(2*math.Pi)) - 0.5*fixed*s.distance(t)
			sum -= 0.5*N*math.Log(2*math.Pi) + 0.5*s.residual(t)
			for i, f := range y {
				sum -= 0.5 * (s.f2[t][i] - f*f)
			}
			sum += 0.5*N*math.Log(2*math.Pi) + s.fLogZ[t] + 0.5*s.fAway[t]
		}
		entropy(s.aCov[t], 1)
		entropy(s.gCov[t], N)
	}
	for m := range P {
		gammas(s.omega[m], s.prior[3])
		normals(s.omega[m], 1, s.ee(m, m))
	}
	entropy(s.beCov, 1)
	return sum
}

// TestTasksFollowTheFormulas compares every update of the plain order, the bound after it
// and the moments at the end with an implementation of plain loops.
func TestTasksFollowTheFormulas(t *testing.T) {
	for name, c := range map[string]struct {
		P     int
		sizes []int
		prior [5][2]float64
	}{
		"one task":        {2, []int{6}, [5][2]float64{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}},
		"unequal tasks":   {3, []int{5, 9, 3}, [5][2]float64{{0.7, 2}, {1.5, 0.4}, {1, 3}, {0.6, 1.1}, {2, 0.8}}},
		"fewer basis":     {2, []int{-8, 4, -7}, [5][2]float64{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}},
		"a single sample": {2, []int{1, 7}, [5][2]float64{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}},
		"one kernel":      {1, []int{4, 5}, [5][2]float64{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}},
		"many tiny tasks": {2, []int{3, 2, 4, 3, 2}, [5][2]float64{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}},
		"sparse kernels":  {4, []int{6, 8}, [5][2]float64{{1, 1}, {1, 1}, {1, 1}, {1e-3, 1e3}, {1, 1}}},
		"improper priors": {2, []int{7, 5}, [5][2]float64{{1e-3, 1e-3}, {1e-3, 1e-3}, {1e-3, 1e-3}, {1e-3, 1e-3}, {1e-3, 1e-3}}},
	} {
		t.Run(name, func(t *testing.T) {
			tasks, ks := drawTasks(t, 5, c.P, c.sizes...)
			src := rand.New(rand.NewPCG(9, 9))
			var start []Start
			for _, task := range tasks {
				P, D, N := task.Kernels.Dims()
				s := Start{A: la.NewMatrix[float64](1, D), G: la.NewMatrix[float64](P, N)}
				for _, x := range [][]float64{s.A.Data, s.G.Data} {
					for i := range x {
						x[i] = src.NormFloat64()
					}
				}
				start = append(start, s)
			}
			g := func(i int) vi.Gamma { return vi.Gamma{Shape: c.prior[i][0], Scale: c.prior[i][1]} }
			m, err := TaskRegression{
				Lambda: g(0), Upsilon: g(1), Gamma: g(2), Omega: g(3), Epsilon: g(4),
				Plain: true, Start: start, Workers: 2,
			}.model(tasks)
			require.NoError(t, err)
			want := newNaiveTasks(ks, tasks, start, c.prior)
			require.InEpsilon(t, want.bound(), m.Bound(), 1e-9, "at the start")
			last := math.Inf(-1)
			for sweep := range 15 {
				require.NoError(t, m.Sweep(func(name string) {
					want.update(name)
					b := m.Bound()
					require.InDelta(t, want.bound(), b, 1e-9*math.Max(1, math.Abs(b)), "after %s of sweep %d", name, sweep)
					require.False(t, testkit.Fell(last, b, m.Roundoff()), "sweep %d: %s: from %.17g to %.17g", sweep, name, last, b)
					last = b
				}))
			}
			p := m.Posterior()
			testkit.RequireClose(t, "(b,e)", want.be, p.s.BEMean, 1e-7)
			testkit.RequireClose(t, "Cov[b,e]", want.beCov, p.s.BECov, 1e-7)
			for o, f := range p.s.Tasks {
				testkit.RequireClose(t, "a", want.a[o], f.A, 1e-7)
				assert.InEpsilon(t, fittest.Mean(want.upsilon[o]), f.Upsilon.Mean(), 1e-8)
				assert.InEpsilon(t, fittest.Mean(want.epsilon[o]), f.Epsilon.Mean(), 1e-8)
				pred, err := p.Task(o).Predict(tasks[o].Kernels, vi.PredictOptions{Published: true})
				require.NoError(t, err)
				for i := range tasks[o].Y {
					value, variance := want.be[o], 1/fittest.Mean(want.epsilon[o])+want.beCov.At(o, o)
					for j := range c.P {
						h, _ := want.prediction(o, j, i)
						value += want.be[len(tasks)+j] * h
						variance += 2 * h * want.beCov.At(o, len(tasks)+j)
						for n := range c.P {
							hn, _ := want.prediction(o, n, i)
							variance += h * hn * want.beCov.At(len(tasks)+j, len(tasks)+n)
						}
					}
					assert.InDelta(t, value, pred.Mean.At(0, i), 1e-7)
					assert.InEpsilon(t, variance, pred.Variance.At(0, i), 1e-6)
				}
			}
		})
	}
}

// TestGoldenTasks compares sweeps of the plain order, the bound after each and predictions
// with what the authors' program prints.
func TestGoldenTasks(t *testing.T) {
	golden.Run(t, "bmtmkl", []string{"regression.json"}, func(t *testing.T, _ string, data []byte) {
		var file struct {
			Hyper map[string]float64
			Tasks []struct {
				K     golden.Tensor
				KTest golden.Tensor `json:"K_test"`
				Y     golden.Vec
				Init  struct {
					A golden.Vec `json:"a_mu"`
					G golden.Mat `json:"G_mu"`
				}
			}
			Bound golden.Vec
			After map[string]struct {
				Tasks []struct {
					Lambda     golden.Vec `json:"lambda_beta"`
					A          golden.Vec `json:"a_mu"`
					ACov       golden.Mat `json:"a_sigma"`
					Upsilon    float64    `json:"upsilon_beta"`
					Gamma      float64    `json:"gamma_beta"`
					Epsilon    float64    `json:"epsilon_beta"`
					Prediction golden.Vec
					Variance   golden.Vec
				}
				Omega  golden.Vec `json:"omega_beta"`
				BEMean golden.Vec `json:"be_mu"`
				BECov  golden.Mat `json:"be_sigma"`
			}
		}
		require.NoError(t, json.Unmarshal(data, &file))
		prior := func(name string) vi.Gamma {
			return vi.Gamma{Shape: file.Hyper["alpha_"+name], Scale: file.Hyper["beta_"+name]}
		}
		r := TaskRegression{
			Lambda: prior("lambda"), Upsilon: prior("upsilon"), Gamma: prior("gamma"), Omega: prior("omega"), Epsilon: prior("epsilon"),
			Plain: true,
		}
		var tasks []Task
		for _, f := range file.Tasks {
			k, err := vi.NewDense(golden.MatricesOf(f.K)...)
			require.NoError(t, err)
			tasks = append(tasks, Task{k, f.Y})
			r.Start = append(r.Start, Start{golden.MatrixOf(golden.Mat{f.Init.A}), golden.MatrixOf(f.Init.G)})
		}
		m, err := r.model(tasks)
		require.NoError(t, err)
		require.NotEmpty(t, file.Bound)
		for sweep, bound := range file.Bound {
			require.NoError(t, m.Sweep(nil))
			require.InEpsilon(t, bound, m.Bound(), goldenBound, "sweep %d", sweep+1)
			want, ok := file.After[strconv.Itoa(sweep+1)]
			if !ok {
				continue
			}
			p := m.Posterior()
			for o, w := range want.Tasks {
				f := p.s.Tasks[o]
				testkit.RequireClose(t, "λ", w.Lambda, f.Lambda, goldenArrays)
				testkit.RequireClose(t, "a", w.A, f.A, goldenArrays)
				cov, err := p.Task(o).WeightCovariance(&la.Workspace{}, 0, counting(len(w.A)))
				require.NoError(t, err)
				testkit.RequireClose(t, "Cov[a]", golden.MatrixOf(w.ACov), cov, goldenArrays)
				assert.InEpsilonSlice(t, []float64{w.Upsilon, w.Gamma, w.Epsilon}, []float64{f.Upsilon.Scale, f.Gamma.Scale, f.Epsilon.Scale}, goldenArrays)
				k, err := vi.NewDense(golden.MatricesOf(file.Tasks[o].KTest)...)
				require.NoError(t, err)
				pred, err := p.Task(o).Predict(k, vi.PredictOptions{Published: true})
				require.NoError(t, err)
				testkit.RequireClose(t, "mean", w.Prediction, pred.Mean.Row(0), goldenArrays)
				testkit.RequireClose(t, "variance", w.Variance, pred.Variance.Row(0), goldenArrays)
			}
			for j, scale := range want.Omega {
				assert.InEpsilon(t, scale, p.s.Omega[j].Scale, goldenArrays)
			}
			testkit.RequireClose(t, "(b,e)", want.BEMean, p.s.BEMean, goldenArrays)
			testkit.RequireClose(t, "Cov[b,e]", golden.MatrixOf(want.BECov), p.s.BECov, goldenArrays)
		}
	})
}

func counting(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}

// TestTasksOfTheSameSamplesAreRegression compares tasks of the same samples with the
// outputs of one regression, in both orders.
func TestTasksOfTheSameSamplesAreRegression(t *testing.T) {
	for _, p := range problems {
		if p.lambda == broken || p.lambda == sparse {
			continue // rounding is amplified
		}
		p.missing = 0
		for _, plain := range []bool{true, false} {
			r, k, y := p.draw(t, 3)
			r.Plain = plain
			start := randomStart(3, p.L, p.P, p.D, p.N)
			r.Start = start
			var tasks []Task
			var starts []Start
			for o := range p.L {
				tasks = append(tasks, Task{k, y.Row(o)})
				starts = append(starts, Start{start.A.Slice(o, o+1, 0, p.D), start.G.Slice(o*p.P, (o+1)*p.P, 0, p.N)})
			}
			one, err := TaskRegression{Lambda: r.Lambda, Omega: r.Omega, Plain: plain, Start: starts, Workers: 2}.model(tasks)
			require.NoError(t, err)
			two, err := r.model(k, y)
			require.NoError(t, err)
			for range work.FirstSweeps + 6 {
				require.NoError(t, one.Sweep(nil))
				require.NoError(t, two.Sweep(nil))
				require.InEpsilon(t, two.Bound(), one.Bound(), 1e-9, "%s, plain %v", p.name, plain)
			}
			assert.Equal(t, two.collapsed(two.y), one.collapsed())
			want, err := two.Posterior().Predict(k, vi.PredictOptions{})
			require.NoError(t, err)
			for o := range p.L {
				got, err := one.Posterior().Task(o).Predict(k, vi.PredictOptions{})
				require.NoError(t, err)
				testkit.RequireClose(t, p.name+": mean", want.Mean.Row(o), got.Mean.Row(0), 1e-6)
				testkit.RequireClose(t, p.name+": variance", want.Variance.Row(o), got.Variance.Row(0), 1e-6)
			}
		}
	}
}

// TestTasksNeverFall watches the bound through the accelerated order, sparse priors included.
func TestTasksNeverFall(t *testing.T) {
	for name, priors := range map[string]TaskRegression{
		"plain priors": {}, "sparse weights": {Lambda: sparse}, "sparse kernels": {Omega: sparse}, "sparse": {Lambda: sparse, Omega: sparse},
	} {
		t.Run(name, func(t *testing.T) {
			tasks, _ := drawTasks(t, 2, 3, 12, 5, -9)
			priors.Workers = 2
			m, err := priors.model(tasks)
			require.NoError(t, err)
			checkNeverFalls(t, m)
		})
	}
}

// checkNeverFalls watches the bound of tasks through every step of a dozen sweeps, and the
// root that the last step along the ridge went to.
func checkNeverFalls(t *testing.T, m interface {
	vi.Objective
	updateScale()
	ridge() (a, b, c float64)
}) {
	t.Helper()
	require.NoError(t, m.Sweep(nil))
	last := m.Bound()
	for sweep := range work.FirstSweeps + 10 {
		require.NoError(t, m.Sweep(func(name string) {
			b := m.Bound()
			require.False(t, testkit.Fell(last, b, m.Roundoff()), "sweep %d: %s: from %.17g to %.17g", sweep+2, name, last, b)
			last = b
		}))
	}
	m.updateScale()
	a, b, c := m.ridge()
	assert.InDelta(t, 0, c+a-b, 1e-9*(math.Abs(a)+b+c), "s = 1 is the root after the step")
}

func TestTaskFit(t *testing.T) {
	ctx := context.Background()
	tasks, _ := drawTasks(t, 4, 3, 25, 30, -20)
	fit, err := TaskRegression{Seed: 1, Workers: 1}.Fit(ctx, tasks)
	require.NoError(t, err)
	assert.Equal(t, vi.Converged, fit.Record.Reason)
	assert.Empty(t, fit.Collapsed)
	again, err := TaskRegression{Seed: 1, Workers: 5}.Fit(ctx, tasks)
	require.NoError(t, err)
	assert.True(t, reflect.DeepEqual(fit.Posterior.State(), again.Posterior.State()), "other bits with five workers")
	long, err := TaskRegression{Seed: 1, Plain: true, Ascent: vi.Ascent{MaxSweeps: 4000}}.Fit(ctx, tasks)
	require.NoError(t, err)
	assert.InDelta(t, long.Record.Bound(), fit.Record.Bound(), 0.1, "both orders climb the same bound")

	restored, err := NewTaskPosterior(fit.Posterior.State())
	require.NoError(t, err)
	for o, task := range tasks {
		want, err := fit.Posterior.Task(o).Predict(task.Kernels, vi.PredictOptions{})
		require.NoError(t, err)
		got, err := restored.Task(o).Predict(task.Kernels, vi.PredictOptions{Workers: 3})
		require.NoError(t, err)
		assert.Equal(t, want, got)
		rest := append([]float64(nil), task.Y...)
		la.Axpy(-1, want.Mean.Row(0), rest)
		assert.Less(t, intermediate.Variation(rest), 0.5*intermediate.Variation(task.Y))
		assert.Equal(t, o != 2, restored.Task(o).Healable(), "basis points that are the samples")
	}
	T, P := restored.Dims()
	assert.Equal(t, []int{3, 3}, []int{T, P})
	mean, sd := restored.KernelWeights()
	assert.Equal(t, fit.Posterior.State().BEMean[3:], mean)
	assert.Len(t, sd, 3)

	bad := fit.Posterior.State()
	bad.BEMean = bad.BEMean[:4]
	_, err = NewTaskPosterior(bad)
	assert.EqualError(t, err, "vi: task regression state: BEMean has 4 entries and BECov is 6×6 for 3 tasks and 3 kernels")
	bad = fit.Posterior.State()
	bad.Tasks = append([]TaskFactors(nil), bad.Tasks...)
	bad.Tasks[1].A = bad.Tasks[1].A[:3]
	_, err = NewTaskPosterior(bad)
	assert.ErrorContains(t, err, "task 1: vi: regression state: A: 1×3")
}

func TestTaskRefusals(t *testing.T) {
	ctx := context.Background()
	good, _ := drawTasks(t, 4, 2, 5, 6)
	fewer, _ := drawTasks(t, 4, 1, 5)
	for want, tasks := range map[string][]Task{
		"vi: tasks: none given":                                                 nil,
		"vi: tasks[1]: kernels: nil":                                            {good[0], {}},
		"vi: tasks[1]: 1 kernels where tasks[0] has 2":                          {good[0], fewer[0]},
		"vi: tasks[0]: 6 targets for 5 samples: at least one of each is needed": {{good[0].Kernels, good[1].Y}},
		"vi: tasks[0]: y[1] is NaN":                                             {{good[0].Kernels, []float64{1, math.NaN(), 1, 1, 1}}},
	} {
		_, err := TaskRegression{}.Fit(ctx, tasks)
		assert.EqualError(t, err, want)
	}
	_, err := TaskRegression{Start: make([]Start, 1)}.Fit(ctx, good)
	assert.EqualError(t, err, "vi: Start: 1 entries for 2 tasks")
	_, err = TaskRegression{Start: make([]Start, 2)}.Fit(ctx, good)
	assert.ErrorContains(t, err, "Start[0]: ")
	_, err = TaskRegression{Omega: vi.Gamma{Shape: -1, Scale: 1}}.Fit(ctx, good)
	assert.ErrorContains(t, err, "Omega")
}
