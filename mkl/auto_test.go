package mkl

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// bumpy returns n samples of three features and a function of the first two with
// noise.
func bumpy(n int) (x Features, y []float64) {
	rng := rand.New(rand.NewPCG(11, 2))
	x = normal(rng, n, 3)
	for i := range n {
		y = append(y, math.Sin(2*x.At(i, 0))+0.5*x.At(i, 1)+0.1*rng.NormFloat64())
	}
	return x, y
}

func fitPool(t *testing.T, a Auto, views []View, y []float64) *AutoModel {
	t.Helper()
	m, err := a.Fit(context.Background(), views, y)
	require.NoError(t, err)
	return m
}

func fitClasses(t *testing.T, a AutoClassifier[int], views []View, labels []int) *AutoClassifierModel[int] {
	t.Helper()
	m, err := a.Fit(context.Background(), views, labels)
	require.NoError(t, err)
	return m
}

// predicted returns everything that a model predicts.
func predicted(t *testing.T, m Model, x ...Features) []float64 {
	t.Helper()
	predict := predictMultiGPClasses
	if _, ok := m.(TargetModel); ok {
		predict = predictRegression
	}
	p, err := predict(m, 1, x...)
	require.NoError(t, err)
	return p
}

// Kernels of a pool are active among the kernels of their member: the functions of two classes differ in size between members.
func TestActiveKernelsOfPools(t *testing.T) {
	x, y := bumpy(60)
	labels := make([]int, len(y))
	for i, v := range y {
		if v > 0 {
			labels[i] = 1
		}
	}
	check := func(t *testing.T, kernels []KernelWeight, names []string) {
		for _, name := range names {
			var most float64
			own := slices.DeleteFunc(slices.Clone(kernels), func(w KernelWeight) bool { return !strings.HasPrefix(w.View, name+": ") })
			require.NotEmpty(t, own, name)
			for _, w := range own {
				most = max(most, w.Mean)
			}
			for _, w := range own {
				assert.Equal(t, w.Mean >= ActiveThreshold*most, w.Active, w.View)
			}
		}
	}
	numbers := fitPool(t, Auto{}, []View{{X: x}}, y)
	names, _ := numbers.Members()
	check(t, numbers.KernelWeights(), names)
	classes := fitClasses(t, AutoClassifier[int]{}, []View{{X: x}}, labels)
	names, weights := classes.Members()
	require.Greater(t, len(names), 2)
	check(t, classes.KernelWeights(), names)
	weights[0] = 0
	classes.weights = weights // as a file may have it
	for _, w := range classes.KernelWeights() {
		if strings.HasPrefix(w.View, names[0]+": ") {
			assert.False(t, w.Active, w.View)
		}
	}
}

// The mixture's moments follow from its members' predictions.
func TestPoolMoments(t *testing.T) {
	x, y := bumpy(30)
	m := fitPool(t, Auto{}, []View{{X: x}}, y)
	names, weights := m.Members()
	assert.ElementsMatch(t, []string{"broad kernels", "one width a feature", "one width a feature's rank", "single features"}, slices.Concat(names, m.dropped))
	require.Greater(t, len(names), 1, "a pool of several")
	assert.NotEmpty(t, m.dropped)
	assert.InDelta(t, 1, vec.Total(weights), 1e-12)
	for _, w := range weights {
		assert.GreaterOrEqual(t, w, 0.125)
	}
	at := normal(rand.New(rand.NewPCG(3, 3)), 7, 3)
	p, err := m.PredictTargets(context.Background(), PredictOptions{}, at)
	require.NoError(t, err)
	for i := range 7 {
		var mean, square, noise float64
		for k, w := range weights {
			q, err := m.members[k].PredictTargets(context.Background(), PredictOptions{}, at)
			require.NoError(t, err)
			mean += w * q.Mean[0][i]
			square += w * (q.Variance[0][i] + q.Mean[0][i]*q.Mean[0][i])
			noise += w * math.Pow(m.members[k].NoiseSD()[0], 2)
		}
		assert.InDelta(t, mean, p.Mean[0][i], 1e-12)
		assert.InDelta(t, square-mean*mean, p.Variance[0][i], 1e-12)
		assert.InDelta(t, math.Sqrt(noise), m.NoiseSD()[0], 1e-12)
	}
	only, err := m.PredictTargets(context.Background(), PredictOptions{MeanOnly: true}, at)
	require.NoError(t, err)
	assert.Nil(t, only.Variance)
	assert.Equal(t, p.Mean, only.Mean)
	assert.True(t, math.IsNaN(m.Bound()))
	assert.Contains(t, m.Summary(), "Kept: ")
}

func TestPoolProbabilities(t *testing.T) {
	x, y := bumpy(40)
	for _, K := range []int{2, 3} {
		m := fitClasses(t, AutoClassifier[int]{}, []View{{X: x}}, parts(y, K))
		_, weights := m.Members()
		for i := range m.members {
			assert.Equal(t, weights[0], weights[i], "processes have equal weights")
		}
		require.Len(t, m.indicators, 1)
		assert.InDelta(t, 1, vec.Total(weights), 1e-12)
		at := normal(rand.New(rand.NewPCG(3, 3)), 7, 3)
		p, err := m.PredictClasses(context.Background(), PredictOptions{}, at)
		require.NoError(t, err)
		for i := range 7 {
			for c := range K {
				var mean float64
				for _, member := range m.members {
					assert.Equal(t, m.members[0].Sharpness(), member.Sharpness())
				}
				for k, w := range weights {
					q, err := m.member(k).PredictClasses(context.Background(), PredictOptions{}, at)
					require.NoError(t, err)
					mean += w * q.Probability[i][c]
				}
				assert.InDelta(t, mean, p.Probability[i][c], 1e-12)
			}
			assert.InDelta(t, 1, vec.Total(p.Probability[i]), 1e-12)
		}
	}
}

// The pool stacks leave-one-out predictions. They equal the predictions of dense Gaussian processes
// that lack the sample, with the drawn parameters. The posterior without the sample
// weights each draw by one over the sample's density.
func TestPoolStacksWhatIsLeftOut(t *testing.T) {
	x, y := bumpy(18)
	m := fitPool(t, Auto{}, []View{{X: x}}, y)
	n := len(y)
	density := make([][]float64, len(m.members))
	for k, member := range m.members {
		density[k] = make([]float64, n)
		require.Len(t, member.draws.posteriors, drawsOf(n))
		for d, p := range member.draws.posteriors {
			s := p.State()
			ks := make([]la.Matrix[float64], len(s.Gamma))
			for p := range ks {
				ks[p] = la.NewMatrix[float64](n, n)
			}
			self := la.NewMatrix[float64](len(ks), n)
			ds := member.draws.designs[d]
			require.NoError(t, ds.CrossSelf(context.Background(), 1, []Features{x}, 0, ks, self))
			for out := range n {
				b, alpha, c := la.NewMatrix[float64](n-1, n-1), make([]float64, n-1), make([]float64, n-1)
				at := func(i int) int {
					if i >= out {
						return i + 1
					}
					return i
				}
				kernel := func(i, j int) (sum float64) {
					for p, g := range s.Gamma {
						sum += ks[p].At(i, j) / g
					}
					return sum
				}
				for i := range n - 1 {
					for j := range n - 1 {
						b.Set(i, j, kernel(at(i), at(j)))
					}
					b.Row(i)[i] += 1 / s.Tau
					alpha[i], c[i] = (y[at(i)]-member.target.mean)/member.target.sd, kernel(at(i), out)
				}
				require.NoError(t, la.Cholesky(&la.Workspace{}, b))
				la.CholeskySolveVec(b, alpha)
				mean := la.Dot(c, alpha)
				solved := slices.Clone(c)
				la.CholeskySolveVec(b, solved)
				variance := kernel(out, out) - la.Dot(c, solved) + 1/s.Tau
				log := normalLog((y[out]-member.target.mean)/member.target.sd, mean, math.Sqrt(variance))
				density[k][out] += math.Exp(-log) / float64(drawsOf(n))
			}
		}
		for i, v := range density[k] {
			density[k][i] = -math.Log(v)
		}
		assert.InDeltaSlice(t, density[k], member.leftOutDensity(y), 1e-9)
	}
}

// Above the limit members see samples that the seed chooses, and no others.
func TestPoolMaxSamples(t *testing.T) {
	x, y := bumpy(50)
	narrow := x.Slice(0, 50, 0, 1) // begins where x does, and is another matrix
	views := []View{{X: x, Input: "x1"}, {X: narrow, Input: "x2", Kernel: kernel.RBF{Width: 1}}, {X: x, Input: "x1", Kernel: kernel.Linear{}}}
	m := fitPool(t, Auto{MaxSamples: 20}, views, y)
	assert.Equal(t, 20, m.Samples())
	assert.Contains(t, m.Summary(), "20 of the 50 samples")
	require.Len(t, m.Inputs(), 2)
	rows := vec.Picked(rowOrder(rowColumns(views), [][]float64{y}, false, 0), sample(50, 20, nil, 0))
	require.Len(t, rows, 20)
	slices.Sort(rows)
	some := takeRows(views, rows)
	assert.True(t, gram.SameMatrix(some[0].X, some[2].X))
	var ys []float64
	for _, r := range rows {
		ys = append(ys, y[r])
	}
	again := fitPool(t, Auto{}, some, ys)
	assert.Equal(t, predicted(t, again, x, narrow), predicted(t, m, x, narrow))
	other := fitPool(t, Auto{MaxSamples: 20, Fitting: Fitting{Seed: 1}}, views, y)
	assert.NotEqual(t, predicted(t, other, x, narrow), predicted(t, m, x, narrow))

	// Every class keeps its share, and a rare one all of its samples.
	labels := parts(y, 2)
	labels[7], labels[30] = 5, 5
	c := fitClasses(t, AutoClassifier[int]{MaxSamples: 30}, []View{{X: x}}, labels)
	assert.ElementsMatch(t, []int{0, 1, 5}, c.Classes())
	assert.InDelta(t, 30, c.Samples(), 2)

	// A given kernel is of all samples, or predictions could not be told which to give.
	k := la.NewMatrix[float64](50, 50)
	la.Gemm(nil, la.NoTrans, la.Transpose, 1, x, x, 0, k)
	given := fitPool(t, Auto{MaxSamples: 20}, []View{{X: k, Kernel: kernel.Precomputed{}}}, y)
	assert.Equal(t, 50, given.Samples())

	_, err := Auto{MaxSamples: 20}.Fit(context.Background(), []View{{X: x.Slice(0, 50, 0, 0)}}, y)
	assert.ErrorContains(t, err, "views[0]: X has no columns")
}

// Of many samples a part is fitted first.
func TestManySamples(t *testing.T) {
	testkit.NotShort(t)
	rng := rand.New(rand.NewPCG(2, 9))
	const n = manySamples
	x := normal(rng, n, 1)
	y, labels := make([]float64, n), make([]int, n)
	for i := range y {
		f := math.Sin(3 * x.At(i, 0))
		y[i] = f + 0.2*rng.NormFloat64()
		if f+0.3*rng.NormFloat64() > 0.8 {
			labels[i] = 1
		}
	}
	views := []View{{X: x, Kernel: kernel.RBF{}}}
	at := matrix(50, 1, func(i, _ int) float64 { return -2 + 0.08*float64(i) })
	var want, wantClasses []float64
	for _, workers := range []int{1, 3} {
		m := fitPool(t, Auto{Fitting: Fitting{Workers: workers}}, views, y)
		assert.True(t, m.Trace().Converged)
		assert.InDelta(t, 0.2, m.NoiseSD()[0], 0.02)
		mean, _, err := m.Predict(at)
		require.NoError(t, err)
		for i, v := range mean {
			assert.InDelta(t, math.Sin(3*at.At(i, 0)), v, 0.15)
		}
		c := fitClasses(t, AutoClassifier[int]{Fitting: Fitting{Workers: workers}, Climb: Climb{MaxSteps: 1}}, views, labels)
		if workers == 1 {
			want, wantClasses = predicted(t, m, at), predicted(t, c, at)
			continue
		}
		assert.Equal(t, want, predicted(t, m, at))
		assert.Equal(t, wantClasses, predicted(t, c, at))
	}

	// The part may be of one value where the whole is not.
	clear(y)
	rows := sample(n, part(n, false), nil, 0)
	for i := range y {
		if !slices.Contains(rows, i) {
			y[i] = math.Sin(3 * x.At(i, 0))
		}
	}
	_, err := MultiGP{RawTargets: true, Climb: Climb{MaxSteps: 2}}.Fit(context.Background(), views[:1], y)
	assert.NoError(t, err)
}

func TestPoolTime(t *testing.T) {
	x, y := bumpy(25)
	var members []int
	f := fitting{Fitting: Fitting{Progress: func(p Progress) {
		assert.Equal(t, 4, p.Members)
		members = append(members, p.Member)
	}}}
	m := fitPool(t, Auto{Time: 1, Fitting: f.Fitting, Climb: f.climb()}, []View{{X: x}}, y)
	names, weights := m.Members()
	assert.Equal(t, []string{"broad kernels"}, names)
	assert.Equal(t, []float64{1}, weights)
	assert.Contains(t, m.Summary(), "There was no time for one width a feature; one width a feature's rank; and single features.")
	assert.Equal(t, []int{1}, slices.Compact(members))

	members = nil
	m = fitPool(t, Auto{Fitting: f.Fitting, Climb: f.climb()}, []View{{X: x}}, y)
	assert.Equal(t, []int{1, 2, 3, 4}, slices.Compact(members))
	assert.NotContains(t, m.Summary(), "no time")
	c := fitClasses(t, AutoClassifier[int]{Time: 1}, []View{{X: x}}, parts(y, 3))
	assert.Contains(t, c.Summary(), "There was no time")
}

// Views with a kernel are part of every member, in their places.
func TestPoolMixesViews(t *testing.T) {
	x, y := bumpy(25)
	other := normal(rand.New(rand.NewPCG(8, 8)), 25, 2)
	views := []View{{Name: "mine", X: other, Input: "x1", Kernel: kernel.RBF{Width: 2}}, {X: x, Input: "x2"}, {X: other.Clone(), Input: "x3", Kernel: kernel.Linear{}}}
	m := fitPool(t, Auto{}, views, y)
	var cols []int
	for _, in := range m.Inputs() {
		cols = append(cols, in.Cols)
	}
	assert.Equal(t, []int{2, 3, 2}, cols)
	for _, member := range m.members {
		assert.True(t, slices.ContainsFunc(member.KernelWeights(), func(w KernelWeight) bool { return w.View == "mine" }))
	}
	assert.Len(t, predicted(t, m, other, x, other), 50)

	// One matrix may be features and distances.
	d := matrix(25, 25, func(i, j int) float64 { return math.Abs(float64(i - j)) })
	m = fitPool(t, Auto{}, []View{{X: d, Input: "x1"}, {X: x, Input: "x2"}, {X: d, Input: "x3", Kernel: kernel.FromDistance{}}}, y)
	require.Len(t, m.Inputs(), 3)
	assert.Len(t, predicted(t, m, d, x, d), 50)

	// A matrix of constant columns keeps its place.
	still := la.NewMatrix[float64](25, 2)
	still.Fill(3)
	m = fitPool(t, Auto{}, []View{{X: still, Input: "x1"}, {X: x, Input: "x2"}}, y)
	require.Len(t, m.Inputs(), 2)
	assert.Len(t, predicted(t, m, still, x), 50)
	assert.Contains(t, m.Summary(), "features of one value are left out")
	m = fitPool(t, Auto{}, []View{{X: still}}, y)
	mean, _, err := m.Predict(still)
	require.NoError(t, err)
	assert.InDelta(t, vec.Total(y)/25, mean[0], 1e-3)
}

// What is odd of data must not keep a fit from ending.
func TestPoolOddData(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	x, y := bumpy(24)
	twice := la.NewMatrix[float64](48, 3)
	for i := range 48 {
		copy(twice.Row(i), x.Row(i/2))
	}
	var yTwice []float64
	for i := range 48 {
		yTwice = append(yTwice, y[i/2])
	}
	exact := make([]float64, 24)
	for i := range exact {
		exact[i] = x.At(i, 1)
	}
	binary := matrix(24, 2, func(i, j int) float64 { return float64((i >> j) & 1) })
	for _, c := range []struct {
		name string
		x    Features
		y    []float64
	}{
		{"one feature", Column(exact), y},
		{"four samples", x.Slice(0, 4, 0, 3), y[:4]},
		{"two samples", x.Slice(0, 2, 0, 3), y[:2]},
		{"every sample twice", twice, yTwice},
		{"a linear function", x, exact},
		{"features of two values", binary, y},
		{"more features than samples", normal(rng, 24, 60), y},
		{"outliers", x, append(slices.Clone(y[:23]), 1e6)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fitPool(t, Auto{}, []View{{X: c.x}}, c.y)
			for i, v := range predicted(t, m, c.x) {
				require.False(t, v-v != 0, "%d: %g", i, v)
			}
			_, variance, err := m.Predict(c.x)
			require.NoError(t, err)
			assert.Greater(t, slices.Min(variance), 0.0)

			labels := parts(c.y, 2)
			k := fitClasses(t, AutoClassifier[int]{}, []View{{X: c.x}}, labels)
			_, p, err := k.Predict(c.x)
			require.NoError(t, err)
			for _, row := range p {
				assert.InDelta(t, 1, vec.Total(row), 1e-12)
				assert.Greater(t, slices.Min(row), 0.0)
			}
		})
	}
	t.Run("a class of one sample", func(t *testing.T) {
		labels := parts(y, 2)
		labels[5] = 9
		m := fitClasses(t, AutoClassifier[int]{}, []View{{X: x}}, labels)
		assert.Equal(t, 3, len(m.Classes()))
		predicted(t, m, x)
	})
	t.Run("each sample a class", func(t *testing.T) {
		m := fitClasses(t, AutoClassifier[int]{}, []View{{X: x.Slice(0, 4, 0, 3)}}, []int{0, 1, 2, 3})
		predicted(t, m, x)
	})
}

// A pool refuses names that a file cannot keep, also of a view that it drops: a remark names the view.
func TestPoolNamesAreText(t *testing.T) {
	a := normal(rand.New(rand.NewPCG(1, 2)), 12, 1)
	y, constant := a.Data, la.NewMatrix[float64](12, 1)
	for _, v := range []View{{Name: "\xff", Input: "b", X: constant}, {Name: "b", Input: "\xff", X: constant}} {
		_, err := Auto{}.Fit(t.Context(), []View{{Name: "a", Input: "a", X: a}, v}, y)
		assert.ErrorContains(t, err, "mkl: views[1]: ")
		assert.ErrorContains(t, err, `"\xff" is not UTF-8`)
	}
}

// The units of target and features do not matter.
func TestPoolUnits(t *testing.T) {
	x, y := bumpy(30)
	m := fitPool(t, Auto{}, []View{{X: x}}, y)
	want, wantVariance, err := m.Predict(x)
	require.NoError(t, err)
	for _, unit := range []float64{1e-8, 1e8} {
		scaled := slices.Clone(y)
		la.Scal(unit, scaled)
		mean, variance, err := fitPool(t, Auto{}, []View{{X: x}}, scaled).Predict(x)
		require.NoError(t, err)
		for i := range mean {
			assert.InDelta(t, want[i], mean[i]/unit, 1e-5)
			assert.InEpsilon(t, wantVariance[i], variance[i]/unit/unit, 1e-4)
		}
	}

	units := x.Clone()
	for i := range units.Rows {
		for j := range units.Cols {
			units.Row(i)[j] = math.Ldexp(units.Row(i)[j], 20*j-10)
		}
	}
	scaled := fitPool(t, Auto{}, []View{{X: units}}, y)
	assert.Equal(t, predicted(t, m, x), predicted(t, scaled, units))
	labels := parts(y, 3)
	assert.Equal(t, predicted(t, fitClasses(t, AutoClassifier[int]{}, []View{{X: x}}, labels), x),
		predicted(t, fitClasses(t, AutoClassifier[int]{}, []View{{X: units}}, labels), units))
}

func TestPoolFilesAreChecked(t *testing.T) {
	x, y := bumpy(30)
	m := fitPool(t, Auto{}, []View{{X: x}}, y)
	back := requireFile(t, m, LoadAs[*AutoModel], 40001)
	assert.Equal(t, predicted(t, m, x), predicted(t, back, x))
	require.Len(t, m.members, 2)
	c := fitClasses(t, AutoClassifier[int]{}, []View{{X: x}}, parts(y, 3))
	classes := requireFile(t, c, LoadAs[*AutoClassifierModel[int]], 40001)
	assert.Equal(t, predicted(t, c, x), predicted(t, classes, x))
	assert.Equal(t, c.Classes(), classes.Classes())

	var file, classFile bytes.Buffer
	require.NoError(t, m.Save(&file))
	require.NoError(t, c.Save(&classFile))
	_, err := LoadAs[*MultiGPModel](bytes.NewReader(file.Bytes()))
	assert.ErrorContains(t, err, "the file holds")
	replace := func(old, new string) func(map[string]string, map[string]tensor) {
		return func(md map[string]string, _ map[string]tensor) {
			require.Contains(t, md["model"], old)
			md["model"] = strings.Replace(md["model"], old, new, 1)
		}
	}
	weight := fmt.Sprintf(`"weight":%v`, m.weights[1])
	for _, d := range []struct {
		want   string
		file   []byte
		change func(metadata map[string]string, ts map[string]tensor)
	}{
		{"not expected", file.Bytes(), func(_ map[string]string, ts map[string]tensor) {
			ts["member.2.b"] = tensor{name: "member.2.b", shape: []int{1}, data: []float64{1}}
		}},
		{"is missing", file.Bytes(), func(_ map[string]string, ts map[string]tensor) { delete(ts, "member.1.process.0.factor") }},
		{"members[1]", file.Bytes(), func(_ map[string]string, ts map[string]tensor) { delete(ts, "member.1.process.0.alpha") }},
		{"Gamma[1] is -1", file.Bytes(), func(_ map[string]string, ts map[string]tensor) { ts["member.1.process.0.gamma"].data[1] = -1 }},
		{"target.sd", file.Bytes(), func(_ map[string]string, ts map[string]tensor) { ts["member.0.target.sd"].data[0] = 0 }},
		{"members[1]: weight is -1", file.Bytes(), replace(weight, `"weight":-1`)},
		{"members[1]: weight is 2", file.Bytes(), replace(weight, `"weight":2`)},
		{"the weights of 2 members sum to", file.Bytes(), replace(weight, `"weight":0.999`)},
		{`rule "chosen" is unknown`, file.Bytes(), replace(`"rule":"stacked"`, `"rule":"chosen"`)},
		{"members of 30 samples out of 29", file.Bytes(), replace(`"of":30`, `"of":29`)},
		{"Widths[0] is -", file.Bytes(), replace(`"widths":[`, `"widths":[-`)},
		{"unknown field", file.Bytes(), replace(`{`, `{"margin":1,`)},
		{"the weights of 0 members", file.Bytes(), func(md map[string]string, ts map[string]tensor) {
			at := strings.Index(md["model"], `"members":[`)
			md["model"] = md["model"][:at] + `"members":[]}`
		}},
		{"sharpness is 9", classFile.Bytes(), replace(fmt.Sprintf(`"sharpness":%v`, c.members[0].sharpness), `"sharpness":9`)},
		{"4 classes with 3 functions", classFile.Bytes(), replace(`"classes":[`, `"classes":[7,`)},
		{"members[4] has other classes", classFile.Bytes(), func(md map[string]string, _ map[string]tensor) {
			at := strings.LastIndex(md["model"], `"classes":[`) + len(`"classes":[`)
			md["model"] = md["model"][:at] + "7" + md["model"][at+1:]
		}},
		{"labels is false", classFile.Bytes(), replace(`"labels":true,`, ``)},
		{"widths", classFile.Bytes(), replace(`"widths":[null,null,[`, `"widths":[null,[1],[`)},
	} {
		assertRefused(t, d.file, d.change, d.want)
	}
}

// A member that plainly fails would make the mean too cautious: single features say nothing of an exclusive or.
func TestPoolOfClassesDropsWhatFails(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	x, labels := la.NewMatrix[float64](100, 2), make([]string, 100)
	for i := range labels {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		x.Set(i, 0, a)
		x.Set(i, 1, b)
		labels[i] = "same"
		if a*b < 0 {
			labels[i] = "other"
		}
	}
	m, err := AutoClassifier[string]{}.Fit(context.Background(), []View{{X: x}}, labels)
	require.NoError(t, err)
	names, weights := m.Members()
	assert.NotContains(t, names, "single features")
	assert.Contains(t, names, "broad kernels")
	assert.InDelta(t, 1, vec.Total(weights), 1e-12)
	assert.Contains(t, m.Summary(), "single features")
	assert.Contains(t, m.Summary(), "clearly worse than the first")
	probability, err := m.members[0].LeaveOneOut(labels)
	require.NoError(t, err)
	class := make([]int, len(labels))
	for i, label := range labels {
		class[i] = slices.Index(m.Classes(), label)
	}
	for i, log := range m.members[0].leftOutLogProbabilities(class) {
		assert.InDelta(t, math.Log(probability[i][class[i]]), log, 1e-12)
	}
}
