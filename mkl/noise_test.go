package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// uneven returns n samples of sin 3x, x in [−1, 1], with noise of the given standard
// deviation.
func uneven(rng *rand.Rand, n int, sd func(x float64) float64) (x Features, y []float64) {
	x = la.NewMatrix[float64](n, 1)
	for i := range n {
		v := 2*rng.Float64() - 1
		x.Set(i, 0, v)
		y = append(y, math.Sin(3*v)+sd(v)*rng.NormFloat64())
	}
	return x, y
}

func growing(x float64) float64 { return math.Exp(-2 + 1.5*x) }

func TestVaryingNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 20))
	x, y := uneven(rng, 150, growing)
	for i := range y { // units of the target must not matter
		y[i] = 7 + 1000*y[i]
	}
	views := []View{{Name: "wide", X: x, Kernel: kernel.RBF{Width: 1}}, {Name: "narrow", X: x, Kernel: kernel.RBF{Width: 0.2}}}
	m, err := MultiGP{Noise: VaryingNoise}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	require.Len(t, m.NoiseWeights(), 2)
	assert.Equal(t, "wide", m.NoiseWeights()[0].View)
	assert.Contains(t, m.Summary(), "the noise varies")
	for _, at := range []float64{-0.9, -0.3, 0.3, 0.9} {
		_, variance, err := m.Predict(Column([]float64{at}))
		require.NoError(t, err)
		assert.InDelta(t, 1, math.Sqrt(variance[0])/(1000*growing(at)), 0.35, "at %g", at)
	}
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	for _, c := range []struct{ from, to, want string }{
		{`"level":`, `"level":1e999,"was":`, "level"},
		{`"tau":`, `"sites":true,"tau":`, "sites are for labels, heavy noise and targets with weights, and noise for targets"},
	} {
		assertRefused(t, file.Bytes(), func(m map[string]string, _ map[string]tensor) {
			require.Contains(t, m["model"], c.from)
			m["model"] = strings.Replace(m["model"], c.from, c.to, 1)
		}, c.want)
	}
}

func TestVaryingNoiseRefusals(t *testing.T) {
	x, y := uneven(rand.New(rand.NewPCG(1, 20)), 10, growing)
	views := []View{{X: x, Kernel: kernel.RBF{Width: 1}}}
	for want, g := range map[string]MultiGP{
		"Noise: NoiseModel(3) is not known":                {Noise: 3},
		"Family: ARD: varying noise takes FamilyDefault":   {Noise: VaryingNoise, Family: FamilyFlat},
		"Family: Laplace: heavy noise takes FamilyDefault": {Noise: HeavyNoise, Family: FamilyLaplace},
	} {
		_, err := g.Fit(context.Background(), views, y)
		assert.ErrorContains(t, err, want)
	}
}

// The pool finds out by itself, and its intervals are right where it is quiet and where
// it is loud.
func TestPoolWithVaryingNoise(t *testing.T) {
	testkit.NotShort(t)
	rng := rand.New(rand.NewPCG(3, 20))
	x, y := uneven(rng, 120, growing)
	m := fitPool(t, Auto{}, []View{{X: x}}, y)
	assert.Contains(t, m.Summary(), "the size of the residuals depends on the inputs")
	names, _ := m.Members()
	assert.Contains(t, strings.Join(names, "; "), "noise that varies")
	at, truth := uneven(rng, 2000, growing)
	mean, variance, err := m.Predict(at)
	require.NoError(t, err)
	var within, count [2]float64
	for i, v := range truth {
		side := 0
		if at.At(i, 0) > 0 {
			side = 1
		}
		count[side]++
		if math.Abs(v-mean[i]) < 1.96*math.Sqrt(variance[i]) {
			within[side]++
		}
	}
	assert.InDelta(t, 0.95, within[0]/count[0], 0.035, "quiet")
	assert.InDelta(t, 0.95, within[1]/count[1], 0.035, "loud")

	x, y = uneven(rng, 120, func(float64) float64 { return 0.3 })
	m = fitPool(t, Auto{}, []View{{X: x}}, y)
	assert.NotContains(t, m.Summary(), "depends on the inputs")
}

// The densities of members are comparable: with noise that hardly varies both kinds
// agree.
func TestLeftOutDensitiesAreComparable(t *testing.T) {
	x, y := uneven(rand.New(rand.NewPCG(4, 20)), 200, func(float64) float64 { return 30 })
	views := []View{{X: x, Kernel: kernel.RBF{Width: 1}}}
	constant, err := MultiGP{}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	varying, err := MultiGP{Noise: VaryingNoise}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	assert.InDelta(t, vec.Total(constant.leftOutDensity(y))/200, vec.Total(varying.leftOutDensity(y))/200, 0.02)
}

// The test keeps its level where the noise is constant, also with heavy tails, and
// finds noise that varies.
func TestNoiseVaries(t *testing.T) {
	const trials = 400
	rng := rand.New(rand.NewPCG(5, 20))
	k := la.NewMatrix[float64](60, 60)
	x := make([]float64, 60)
	for i := range x {
		x[i] = 2*rng.Float64() - 1
	}
	for i, a := range x {
		for j, b := range x {
			k.Set(i, j, math.Exp(-2*(a-b)*(a-b)))
		}
	}
	one := la.NewMatrix[float64](60, 60)
	one.Fill(1)
	ks, err := vi.NewDense(k, one)
	require.NoError(t, err)
	alone, err := vi.NewDense(one)
	require.NoError(t, err)
	rejected := func(draw func(x float64) float64) (n int) {
		loo := &mgp.LeaveOneOut{Mean: make([]float64, 60), Variance: make([]float64, 60)}
		for i := range loo.Variance {
			loo.Variance[i] = 1
		}
		y := make([]float64, 60)
		for trial := range trials {
			for i, v := range x {
				y[i] = draw(v)
			}
			if noiseVaries(ks, loo, y, uint64(trial)) {
				n++
			}
			assert.False(t, noiseVaries(alone, loo, y, 1), "a constant shows nothing")
		}
		return n
	}
	// Four standard deviations about 1 % of the trials.
	most := 0.01*trials + 4*math.Sqrt(0.01*trials)
	assert.LessOrEqual(t, float64(rejected(func(float64) float64 { return rng.NormFloat64() })), most, "normal")
	assert.LessOrEqual(t, float64(rejected(func(float64) float64 { return rng.NormFloat64() / math.Abs(rng.NormFloat64()) })), most, "Cauchy")
	assert.LessOrEqual(t, float64(rejected(func(float64) float64 { return 1 })), 0.0, "all alike")
	assert.Greater(t, rejected(func(x float64) float64 { return growing(x) * rng.NormFloat64() }), trials*9/10)
}

func TestPredictsWorse(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 20))
	y, good, bad := make([]float64, 50), make([]float64, 50), make([]float64, 50)
	for i := range y {
		y[i] = rng.NormFloat64()
		good[i], bad[i] = y[i]+0.1*rng.NormFloat64(), y[i]+rng.NormFloat64()
	}
	assert.True(t, predictsWorse(bad, good, y, 2))
	assert.False(t, predictsWorse(good, bad, y, 1))
	assert.False(t, predictsWorse(good, good, y, 1))
}

// However the units of a target are, far away its variance is a number.
func TestVaryingNoiseFarAway(t *testing.T) {
	x, y := uneven(rand.New(rand.NewPCG(7, 20)), 40, growing)
	for i := range y {
		y[i] *= 1e140
	}
	m, err := MultiGP{Noise: VaryingNoise}.Fit(context.Background(), []View{{X: x, Kernel: kernel.Linear{}}, {X: x, Kernel: kernel.RBF{Width: 1}}}, y)
	require.NoError(t, err)
	_, variance, err := m.Predict(Column([]float64{1e3}))
	require.NoError(t, err)
	assert.False(t, math.IsInf(variance[0], 0))
}

// Gross errors in some of the targets do not change the function, in any unit, and the
// file keeps all of it.
func TestHeavyNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 20))
	x, y := uneven(rng, 150, func(float64) float64 { return 0.1 })
	for i := range y {
		if i%12 == 0 {
			y[i] += 3
		}
		y[i] = 7 + 1000*y[i]
	}
	views := []View{{Name: "wide", X: x, Kernel: kernel.RBF{Width: 1}}, {Name: "narrow", X: x, Kernel: kernel.RBF{Width: 0.2}}}
	m, err := MultiGP{Noise: HeavyNoise}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	assert.Contains(t, m.Summary(), "the noise has heavy tails: Student-t of ")
	assert.False(t, m.IsEvidence())
	normal, err := MultiGP{}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	assert.Greater(t, m.Outputs()[0].NoiseFreedom, 2.0)
	assert.Zero(t, normal.Outputs()[0].NoiseFreedom)
	assert.True(t, normal.IsEvidence())
	at, _ := uneven(rng, 300, growing)
	off := func(m *MultiGPModel) float64 {
		mean, _, err := m.Predict(at)
		require.NoError(t, err)
		var square float64
		for i, v := range mean {
			d := (v-7)/1000 - math.Sin(3*at.At(i, 0))
			square += d * d / 300
		}
		return math.Sqrt(square)
	}
	assert.Less(t, off(m), 0.06)
	assert.Greater(t, off(normal), 0.2)

	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	for _, c := range []struct{ from, to, want string }{
		{`"freedom":`, `"freedom":-`, "Freedom is -"},
		{`"freedom":`, `"freedom":1e999,"was":`, "freedom"},
		{`"sites":true`, `"sites":false`, "sites are for labels, heavy noise and targets with weights"},
	} {
		assertRefused(t, file.Bytes(), func(m map[string]string, _ map[string]tensor) {
			require.Contains(t, m["model"], c.from)
			m["model"] = strings.Replace(m["model"], c.from, c.to, 1)
		}, c.want)
	}
}

// The test of tails keeps its level where the noise is normal, and finds few gross errors.
func TestHasHeavyTails(t *testing.T) {
	const trials = 400
	rng := rand.New(rand.NewPCG(9, 20))
	rejected := func(draw func(i int) float64) (n int) {
		loo := &mgp.LeaveOneOut{Mean: make([]float64, 60), Variance: make([]float64, 60)}
		for i := range loo.Variance {
			loo.Variance[i] = 3
		}
		y := make([]float64, 60)
		for trial := range trials {
			for i := range y {
				y[i] = draw(i)
			}
			if hasHeavyTails(loo, y, uint64(trial)) {
				n++
			}
		}
		return n
	}
	most := 0.01*trials + 4*math.Sqrt(0.01*trials)
	assert.LessOrEqual(t, float64(rejected(func(int) float64 { return rng.NormFloat64() })), most, "normal")
	assert.LessOrEqual(t, float64(rejected(func(int) float64 { return rng.Float64() - 0.5 })), most, "uniform")
	assert.Zero(t, rejected(func(int) float64 { return 0 }), "no residuals")
	assert.Greater(t, rejected(func(i int) float64 { return rng.NormFloat64() + 8*float64(1/(1+i%30)) }), trials*9/10, "outliers")
}

// The pool finds out by itself that some targets are far off.
func TestPoolWithHeavyNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 20))
	x, y := uneven(rng, 100, func(float64) float64 { return 0.1 })
	for i := range y {
		if rng.Float64() < 0.1 {
			y[i] += 2 * rng.NormFloat64()
		}
	}
	m := fitPool(t, Auto{}, []View{{X: x}}, y)
	assert.Contains(t, m.Summary(), "the residuals have heavy tails (a test at the level of 1 %)")
	names, _ := m.Members()
	assert.Contains(t, strings.Join(names, "; "), "noise with heavy tails")
	normal, err := MultiGP{}.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{Width: 1}}, {X: x, Kernel: kernel.Constant{}}}, y)
	require.NoError(t, err)
	at, _ := uneven(rng, 2000, growing)
	off := func(m interface {
		Predict(x ...Features) (mean, variance []float64, err error)
	}) float64 {
		mean, variance, err := m.Predict(at)
		require.NoError(t, err)
		var square, within float64
		for i, v := range mean {
			f := math.Sin(3 * at.At(i, 0))
			square += (v - f) * (v - f)
			truth := f + 0.1*rng.NormFloat64()
			if rng.Float64() < 0.1 {
				truth += 2 * rng.NormFloat64()
			}
			if math.Abs(truth-v) < 1.96*math.Sqrt(variance[i]) {
				within++
			}
		}
		assert.InDelta(t, 0.95, within/2000, 0.04)
		return math.Sqrt(square / 2000)
	}
	assert.Less(t, off(m), 0.06)
	assert.Greater(t, off(normal), 1.3*off(m))
	assert.NotContains(t, fitPool(t, Auto{}, []View{{X: x}}, sines(x)).Summary(), "heavy tails")
}

// sines returns sin 3x with some light noise.
func sines(x Features) (y []float64) {
	for i := range x.Rows {
		y = append(y, math.Sin(3*x.At(i, 0))+0.2*math.Sin(float64(37*i*i)))
	}
	return y
}

// A size that is no number has a rank of its own.
func TestSizeScoresOfAnything(t *testing.T) {
	u := sizeScores([]float64{3, math.NaN(), 1, math.NaN(), 3})
	assert.Len(t, u, 5)
	assert.Equal(t, u[0], u[4])
	assert.InDelta(t, 0, u[0]+u[1]+u[2]+u[3]+u[4], 1e-14)
}

// The function is not a sum of functions of single features, so that with little noise some members make targets all but impossible.
func TestKnownNoiseThatIsSmall(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	x := la.NewMatrix[float64](30, 2)
	var y []float64
	for i := range x.Rows {
		a, b := 15*src.Float64()-5, 15*src.Float64()
		x.Set(i, 0, a)
		x.Set(i, 1, b)
		d := b - 5.1/(4*math.Pi*math.Pi)*a*a + 5/math.Pi*a - 6
		y = append(y, d*d+10*(1-1/(8*math.Pi))*math.Cos(a)+10)
	}
	_, sd := vec.MeanSD(y)
	m, err := Auto{KnownNoise: 1.1e-4 * sd}.Fit(t.Context(), []View{{X: x}}, y)
	require.NoError(t, err)
	for _, member := range m.members {
		for i, v := range member.leaveOneOut[0].Variance {
			assert.Positive(t, v, i)
		}
	}
	mean, _, err := m.Predict(x)
	require.NoError(t, err)
	for i, v := range mean {
		assert.InDelta(t, y[i], v, 0.1*sd)
	}
}
