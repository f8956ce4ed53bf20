package mkl

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// NoiseModel says what the variance of the noise of [MultiGP] depends on.
type NoiseModel int

const (
	// ConstantNoise is normal noise with the same variance for all samples.
	ConstantNoise NoiseModel = iota

	// VaryingNoise is noise whose variance is a function of the inputs. Its logarithm is
	// a sum of Gaussian processes with the kernels of the views, like the function, with
	// scales of its own. A lower bound on the evidence fits both. It needs
	// FamilyDefault, and a fit takes several times as long as
	// with constant noise. docs/theory/varying-noise.md has the derivation.
	//
	// Source: M. Lázaro-Gredilla and M. K. Titsias, "Variational heteroscedastic Gaussian
	// process regression", ICML 2011.
	VaryingNoise

	// HeavyNoise is noise with the same Student-t density for all samples, whose scale and degrees of freedom, above 2,
	// are learned. Targets far from the function then hardly move it: they count as outliers.
	// A lower bound on the evidence fits the model. It needs FamilyDefault.
	// docs/theory/heavy-noise.md has the derivation.
	//
	// Source: M. Kuss, "Gaussian process models for robust regression, classification, and
	// reinforcement learning", 2006.
	HeavyNoise
)

// String returns "constant", "varying" or "heavy".
func (n NoiseModel) String() string {
	switch n {
	case ConstantNoise:
		return "constant"
	case VaryingNoise:
		return "varying"
	case HeavyNoise:
		return "heavy"
	}
	return fmt.Sprintf("NoiseModel(%d)", int(n))
}

// checkNoise returns an error if the settings do not support noise that is not constant.
func (s *processSettings) checkNoise() error {
	switch {
	case s.noise < ConstantNoise || s.noise > HeavyNoise:
		return fmt.Errorf("mkl: Noise: %v is not known", s.noise)
	case s.noise != ConstantNoise && s.family != FamilyDefault:
		return fmt.Errorf("mkl: Family: %v: %v noise takes FamilyDefault", s.family, s.noise)
	}
	return nil
}

// leastForNoise is the least number of samples for the tests of residuals: fewer samples show
// only the size of the noise.
const leastForNoise = 20

// varyingFactors is the number of N×N matrices that varying noise needs
// besides the two of any fit: a factor for the function and one for the noise, and as
// many for work.
const varyingFactors = 4

// NoiseWeights returns the weights of the views in the logarithm of the noise
// variance, as KernelWeights returns them for the function; nil if the noise is constant.
func (m *MultiGPModel) NoiseWeights() []KernelWeight {
	if m.noise == nil {
		return nil
	}
	return m.kernelWeights(m.noise.About.KernelWeights())
}

// otherNoise is another kind of noise, which [Auto] tries if a test of the residuals rejects constant normal noise.
type otherNoise struct {
	noise   NoiseModel
	name    string // appended to the name of the member
	seen    string // what a test at the level of 1 % found
	rejects func(m *MultiGPModel) bool

	// The squared errors of the new member's means may exceed the old member's by this many
	// standard errors: free if everything is fitted anew, kept if only the noise is.
	free, kept float64

	most int // most samples; with more, a fit takes longer than all others together
}

var otherNoises = []otherNoise{
	{VaryingNoise, "noise that varies", "the size of the residuals depends on the inputs", func(m *MultiGPModel) bool { return m.unevenNoise }, 1, 2, 700},
	{HeavyNoise, "noise with heavy tails", "the residuals have heavy tails", func(m *MultiGPModel) bool { return m.heavyNoise }, 0, 0, 1000},
}

// addNoise fits one member once more with other noise, if a test of its residuals rejects the old
// noise, and appends the densities of the new member. Of the
// members that the mixture would keep it takes the one with the highest density. views are the
// members' views, and each is the forecast time of one member in seconds.
//
// Residuals may also differ in size because the function is wrong for part of the
// samples; noise that explains this spoils the function. The test is the squared
// leave-one-out errors of the new member's means. If they exceed the old member's
// by more than one standard error, the simpler model is preferred: only the noise is
// fitted, and the function keeps its scales. If the errors of that fit exceed the old ones by more than two
// standard errors, there is no new member. Heavy-tailed noise should improve the function,
// which outliers spoil. But residuals are large, too, at an edge that the function is too smooth for:
// so with heavy-tailed noise the errors must fall.
//
// Few samples must also be predicted better by fits to others: see [Auto.predictsFolds].
func (a Auto) addNoise(ctx context.Context, m *AutoModel, views [][]View, y []float64, density [][]float64, each float64, other otherNoise) ([][]float64, error) {
	best := -1
	for i, w := range stack(density[:len(views)], a.Seed) {
		if other.rejects(m.members[i]) && w >= smallShare(len(views)) && (best < 0 || vec.Total(density[i]) > vec.Total(density[best])) {
			best = i
		}
	}
	if best < 0 {
		return density, nil
	}
	from, name := m.members[best], m.names[best]+", "+other.name
	if len(y) > other.most {
		m.remarks = append(m.remarks, fmt.Sprintf("%s (a test at the level of 1 %%); %s was not tried with more than %d samples: a MultiGP does, with Noise set",
			other.seen, other.name, other.most))
		return density, nil
	}
	if a.Time > 0 && float64(each*float64(len(m.members)+2)) > a.Time.Seconds() {
		m.left = append(m.left, name)
		return density, nil
	}
	members := len(m.members) + 1
	g := MultiGP{Fitting: a.ofMember(members, members), Climb: a.Climb, Noise: other.noise, Weights: a.Weights, MissingViews: a.MissingViews, hurried: true}
	for _, try := range []struct {
		keep   bool
		errors float64
	}{{false, other.free}, {true, other.kept}} {
		start := *from.last
		start.Keep = try.keep
		g.start = &start
		member, err := g.Fit(ctx, views[best], y)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, err
		case err != nil || predictsWorse(member.leaveOneOut[0].Mean, from.leaveOneOut[0].Mean, member.standard(y), try.errors):
			continue
		}
		if better, err := a.predictsFolds(ctx, g, try.keep, views[best], y); err != nil {
			return nil, err
		} else if !better {
			continue
		}
		m.remarks = append(m.remarks, other.seen+" (a test at the level of 1 %)")
		m.names = append(m.names, name)
		m.members = append(m.members, member)
		m.add(member)
		return append(density, member.recordedDensity(y, a.steps)), nil
	}
	m.remarks = append(m.remarks, other.seen+" (a test at the level of 1 %), but "+other.name+" would predict worse")
	return density, nil
}

// standard returns the targets on the standardised scale of the fit.
func (m *MultiGPModel) standard(y []float64) []float64 {
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = (v - m.target.mean) / m.target.sd
	}
	return z
}

// predictsWorse reports whether the mean squared error of a exceeds the mean squared error of b by more
// than the given number of standard errors of the difference.
func predictsWorse(a, b, y []float64, errors float64) bool {
	ofA, ofB := make([]float64, len(y)), make([]float64, len(y))
	for i, v := range y {
		ofA[i], ofB[i] = float64((v-a[i])*(v-a[i])), float64((v-b[i])*(v-b[i]))
	}
	return clearlyLess(ofB, ofA, errors)
}

// clearlyLess reports whether the mean of a is below the mean of b by more than the given number of standard errors
// of their difference.
func clearlyLess(a, b []float64, errors float64) bool {
	difference := make([]float64, len(a))
	for i, v := range b {
		difference[i] = v - a[i]
	}
	mean, sd := vec.MeanSD(difference)
	return mean > errors*sd/math.Sqrt(float64(len(a)))
}

// noiseVaries tests whether the size of leave-one-out residuals depends on the inputs,
// at the level of 1 %. Let u be the scores of the sizes of the standardised residuals: quantiles
// of |z| for a normal z minus their mean. The statistic is the score test's for a
// size with the covariance M,
//
//	Q = Σ_i>k u_i·u_k·M_ik,   M = Σ_p K_p/|K_p|,
//
// where |K_p| is the norm of the centred kernel off its diagonal. Q counts as large if at
// most one of 199 random permutations of u has a Q at least as large. Because u depends on ranks only,
// heavy-tailed residuals are no reason to reject; the test stops at the second permutation
// above Q, so that it costs little if the noise is constant. The permutations are of the samples in the order
// of their targets, so that they do not depend on the order of rows.
//
// Source: H. Glejser, "A new test for heteroskedasticity", Journal of the American
// Statistical Association 64 (1969), which regresses |residuals| on the inputs. With
// normal noise, absolute values have 0.88 of the efficiency of squares, which a few samples dominate.
func noiseVaries(k vi.Kernels, loo *mgp.LeaveOneOut, y []float64, seed uint64) bool {
	const permutations, above = 199, 1
	m, ok := sumOfUnit(k)
	if !ok {
		return false
	}
	size := make([]float64, len(y))
	for i, v := range y {
		d := v - loo.Mean[i]
		size[i] = d * d / loo.Variance[i]
	}
	u := sizeScores(size)
	q := pairSum(m, u)
	order := vec.UpTo(len(y))
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(y[i], y[j]), cmp.Compare(loo.Mean[i], loo.Mean[j]), cmp.Compare(loo.Variance[i], loo.Variance[j]))
	})
	src := special.NewRand(rand.NewPCG(seed, 0x6e6f697365))
	for count, p := 0, 0; p < permutations; p++ {
		src.Shuffle(len(u), func(a, b int) { i, j := order[a], order[b]; u[i], u[j] = u[j], u[i] })
		if pairSum(m, u) >= q {
			if count++; count > above {
				return false
			}
		}
	}
	return true
}

// hasHeavyTails tests whether standardised leave-one-out residuals have heavier tails than
// normal ones, at the level of 1 %. The statistic Σ z⁴/(Σ z²)² is the score test's of normal noise
// against Student's. It counts as large if at most one of 199 samples of as many normal
// numbers has one at least as large. The test stops at the second such sample.
//
// Source: T. S. Breusch and A. R. Pagan, "The Lagrange multiplier test and its applications to
// model specification in econometrics", Review of Economic Studies 47 (1980), for such tests.
func hasHeavyTails(loo *mgp.LeaveOneOut, y []float64, seed uint64) bool {
	const draws, above = 199, 1
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = (v - loo.Mean[i]) / math.Sqrt(loo.Variance[i])
	}
	q := kurtosis(z)
	src := special.NewRand(rand.NewPCG(seed, 0x7461696c73))
	for count, d := 0, 0; d < draws; d++ {
		for i := range z {
			z[i] = src.NormFloat64()
		}
		if kurtosis(z) >= q {
			if count++; count > above {
				return false
			}
		}
	}
	return q > 0
}

// kurtosis returns N·Σ z⁴/(Σ z²)², or 0 if all are zero.
func kurtosis(z []float64) float64 {
	var second, fourth float64
	for _, v := range z {
		second += float64(v * v)
		fourth += float64(v * v * v * v)
	}
	if !(second > 0) {
		return 0
	}
	return float64(len(z)) * fourth / (second * second)
}

// pairSum returns Σ_i>k u_i·u_k·M_ik.
func pairSum(m la.Matrix[float64], u []float64) (q float64) {
	for i, v := range u {
		q += float64(v * la.Dot(m.Row(i)[:i], u[:i]))
	}
	return q
}

// sizeScores returns the half-normal quantiles of the ranks of size, minus their mean. Equal sizes get the mean of theirs.
func sizeScores(size []float64) []float64 {
	N := len(size)
	order := make([]int, N)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[a], size[b]) })
	u := make([]float64, N)
	var mean float64
	for first := 0; first < N; {
		last := first
		var sum float64
		for last == first || last < N && size[order[last]] == size[order[first]] { // a NaN is not equal to itself
			sum += special.NormalQuantile(0.5 + 0.5*float64(last+1)/float64(N+1))
			last++
		}
		for _, i := range order[first:last] {
			u[i] = sum / float64(last-first)
		}
		mean += sum / float64(N)
		first = last
	}
	for i := range u {
		u[i] -= mean
	}
	return u
}

// sumOfUnit returns the lower triangle of Σ_p K_p/|K_p| off the diagonal. It returns false if every kernel
// is constant.
func sumOfUnit(k vi.Kernels) (m la.Matrix[float64], ok bool) {
	at, dense := k.(interface {
		At(p int) la.Matrix[float64]
	})
	P, _, N := k.Dims()
	if !dense || N < 3 {
		return m, false
	}
	m = la.NewMatrix[float64](N, N)
	row := make([]float64, N)
	for p := range P {
		kp := at.At(p)
		// ‖K − row means − column means + mean‖² off the diagonal, approximately.
		var square, rows, all float64
		clear(row)
		for i := range N {
			for j, v := range kp.Row(i)[:i] {
				square += 2 * float64(v*v)
				row[i] += v
				row[j] += v
			}
		}
		for _, v := range row {
			rows += float64(v * v)
			all += v
		}
		n := float64(N)
		centred := square - 2*rows/(n-1) + all*all/(n*(n-1))
		if !(centred > 1e-9*square) {
			continue
		}
		ok = true
		scale := 1 / math.Sqrt(centred)
		for i := range N {
			la.Axpy(scale, kp.Row(i)[:i], m.Row(i)[:i])
		}
	}
	return m, ok
}
