package mkl

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/internal/stairs"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// pruning decides what a [Predictor] leaves out. All quantities refer to the
// standardised target.
//
// A kernel value is at most κ_m. Leaving out the weights e_m·a_d of a set of
// kernels times a set of samples therefore moves the predictive mean by at most
//
//	Σ_m κ_m·|E[e_m]| · Σ_d |E[a_d]|
//
// and the predictive standard deviation, which is a norm of an affine function
// of the kernel values, by at most the square root of
//
//	Σ_mm' κ_m·κ_m'·|Cov[e]_mm'| · (Σ_d |E[a_d]|)²  +  Σ_mm' κ_m·κ_m'·|E[e·eᵀ]_mm'| · Σ_dd' |Cov[a]_dd'|.
//
// The errors of several steps add up.
//
// These bounds hold in exact arithmetic. Rounding changes the two standard deviations, with
// and without pruning, by a relative amount that is bounded as well; see
// bemkl.CovarianceRoundoff. If that amount is above mostRoundoff, as under very broad priors where
// only rounding keeps Cov[a] finite, the bounds are not certain. They are not certain either
// if kernel values have lost so many digits that the predictions of the pruned model may
// move by as much. Values of a linear kernel far from the origin have, after
// centring.
//
// Healing compares a new sample's kernels Σ_m E[e_m]·k_m with all
// samples, whatever the samples' weights: no sample may be left out. bemkl.Healer.Sensitivity
// bounds the effect on healing if kernels are left out. This bound is far
// from tight, so that only kernels with very small weights are left out, as under
// sparse priors.
type pruning struct {
	e, a   []float64          // means
	ee     la.Matrix[float64] // E[e·eᵀ]
	eCov   la.Matrix[float64] // Cov[e], 0 if the variance is not needed
	aCov   la.Matrix[float64] // Cov[a], 0 for samples without weight; empty if the variance does not need it
	kappa  []float64
	sure   []bool  // kappa holds for every sample, not only for training samples
	budget float64 // for the mean and for the standard deviation

	// By how much healing moves mean and standard deviation for each unit of
	// κ_m·healSize_m that is left out; 0 if predictions are not healed.
	healed           bool
	healMean, healSD float64
	healSize         []float64 // of the kernels

	kernels, samples   []int
	u, ct              la.Matrix[float64] // U·Uᵀ ≈ E[e·eᵀ], C·Cᵀ ≈ Cov[a], for the kernels and samples that are kept
	order              []int              // order of the samples in Cᵀ, which is lower trapezoidal
	stairs             stairs.Matrix      // Cᵀ
	meanError, sdError float64
	certain            bool
	precise            bool // rounding is small in predictions from all samples
}

// mostRoundoff is a share of a standard deviation. Bounds are certain if rounding moves the standard deviation by less
// according to its bound; its actual effect is a thousand times smaller than this bound.
const mostRoundoff = 1e-4

// mostHealingRoundoff is the same share for what healing adds. The bound of [bemkl.Healer.Sensitivity] is looser: for ordinary
// models of 200 and 1000 samples, rounding moves what healing adds by less than 10⁻⁵ of its bound.
const mostHealingRoundoff = 0.1

// newPruning prunes a function, or reads from the archive what pruning left.
func newPruning(opt PredictorOptions, f function) (*pruning, error) {
	L, P := f.targets, len(f.design.Views)
	p := &pruning{
		e: f.beMean[L:], a: f.a,
		ee: la.NewMatrix[float64](P, P), eCov: la.NewMatrix[float64](P, P),
		kernels: vec.UpTo(P), samples: f.basisPoints(), certain: true,
	}
	for i, v := range f.design.Views {
		p.kappa = append(p.kappa, v.Largest)
		p.sure = append(p.sure, v.Certain)
		if opt.MeanOnly {
			continue
		}
		copy(p.eCov.Row(i), f.beCov.Row(L + i)[L:])
		for j, v := range p.eCov.Row(i) {
			p.ee.Set(i, j, v+float64(p.e[i]*p.e[j]))
		}
	}
	if !opt.reading() {
		if err := p.prune(opt, f); err != nil {
			return nil, err
		}
	}
	if a := opt.archive; a != nil {
		p.archive(a, P, f.design.D, !opt.MeanOnly && !opt.Published)
		if f.healer != nil && len(p.samples) != len(f.basisPoints()) {
			a.Fail(errors.New("healing lacks samples"))
		}
		return p, a.Err()
	}
	return p, nil
}

// archive describes what prune computes, for a model of P kernels and D basis points, with or without Cov[a].
func (p *pruning) archive(a *archive.Archive, P, D int, covariance bool) {
	a.Indices("kernel", &p.kernels, P)
	a.Indices("sample", &p.samples, D)
	a.Float(&p.meanError)
	a.Float(&p.sdError)
	a.Bool(&p.certain)
	a.Bool(&p.precise)
	if a.Reading() && !(p.meanError >= 0 && p.sdError >= 0) {
		a.Fail(errors.New("a bound on an error is no number from 0 on"))
	}
	ascending := func(x []int) bool {
		return !slices.ContainsFunc(vec.UpTo(max(0, len(x)-1)), func(i int) bool { return x[i+1] <= x[i] })
	}
	if !ascending(p.kernels) || !ascending(p.samples) {
		a.Fail(errors.New("kernels or samples are not in their order"))
	}
	if !covariance || a.Err() != nil {
		return
	}
	n, combinations, rank := len(p.samples), p.u.Cols, p.ct.Rows
	a.Int(&combinations)
	a.Int(&rank)
	if combinations < 0 || combinations > len(p.kernels) || rank < 0 || rank > n {
		a.Fail(errors.New("a factor has a higher rank than its matrix"))
	}
	a.Indices("sample", &p.order, n)
	if a.Err() == nil && len(p.order) != n {
		a.Fail(errors.New("a factor has another order of samples"))
	}
	if a.Err() != nil {
		return
	}
	a.Matrix(&p.u, len(p.kernels), combinations)
	p.stairs.Archive(a, rank, n)
}

// prune decides what is left out.
func (p *pruning) prune(opt PredictorOptions, f function) error {
	D := f.design.D
	p.budget = opt.pruning() * math.Sqrt(f.noise)
	if f.healer != nil {
		var limit float64
		p.healSize = f.healer.Sizes()
		for i, size := range p.healSize {
			limit += float64(p.kappa[i] * size)
		}
		p.healed = true
		p.healMean, p.healSD = f.healer.Sensitivity(limit)
		if opt.MeanOnly {
			p.healSD = 0
		}
	}
	if !opt.MeanOnly && !opt.Published {
		cov, err := f.weights.WeightCovariance(&la.Workspace{}, f.index, p.samples)
		if err != nil {
			return err
		}
		p.certain = f.roundoff(f.index, cov) <= mostRoundoff
		if p.aCov = cov; len(p.samples) < D {
			p.aCov = la.NewMatrix[float64](D, D)
			for i, d := range p.samples {
				for j, c := range p.samples {
					p.aCov.Set(d, c, cov.At(i, j))
				}
			}
		}
	}
	kernels, healing := p.lost(f.design.Views)
	p.certain = p.certain && kernels <= mostRoundoff*math.Sqrt(f.noise) && healing <= mostHealingRoundoff*math.Sqrt(f.noise)
	p.precise = p.certain
	if err := p.run(); err != nil {
		return err
	}
	p.stairs = stairs.New(p.ct)
	return nil
}

// lost bounds how far rounding of the kernel values moves means and standard deviations before healing, and what healing adds. It
// uses the bounds above, for leaving out kernels of the size of the rounding.
func (p *pruning) lost(views []gram.Bound) (kernels, healing float64) {
	var a, aa, mean, square, heal float64
	for _, v := range p.a {
		a += math.Abs(v)
	}
	for _, v := range p.aCov.Data {
		aa += math.Abs(v)
	}
	size := func(i int) float64 {
		return views[i].RoundingOf()
	}
	for i, s := range p.healSize {
		heal += float64(size(i) * s)
	}
	for i := range views {
		mean += float64(size(i) * math.Abs(p.e[i]))
		for j := range views {
			rest := float64(math.Abs(p.eCov.At(i, j))*a*a) + float64(math.Abs(p.ee.At(i, j))*aa)
			square += float64(size(i) * size(j) * rest)
		}
	}
	return float64(mean*a) + math.Sqrt(square), float64((p.healMean + p.healSD) * heal)
}

// share is a growing set of kernels or of samples, with the sums that the bounds need.
type share struct {
	members              []int
	mean, square, spread float64 // first and second sum over kernels; for samples square is mean²
	heal                 float64 // of kernels, Σ κ_m·healSize_m
}

func (p *pruning) addKernel(s *share, m int) {
	s.mean += float64(p.kappa[m] * math.Abs(p.e[m]))
	s.square += p.grow(p.eCov, s.members, m, p.kappa)
	s.spread += p.grow(p.ee, s.members, m, p.kappa)
	if p.healed {
		s.heal += float64(p.kappa[m] * p.healSize[m])
	}
	s.members = append(s.members, m)
}

func (p *pruning) addSample(s *share, d int) {
	s.mean += math.Abs(p.a[d])
	s.square = s.mean * s.mean
	if p.aCov.Rows > 0 {
		s.spread += p.grow(p.aCov, s.members, d, nil)
	}
	s.members = append(s.members, d)
}

// grow returns by how much Σ_ij κ_i·κ_j·|x_ij| grows when n joins the members.
func (p *pruning) grow(x la.Matrix[float64], members []int, n int, kappa []float64) float64 {
	of := func(i int) float64 {
		if kappa == nil {
			return 1
		}
		return kappa[i]
	}
	row := x.Row(n)
	sum := of(n) * math.Abs(row[n])
	for _, i := range members {
		sum += float64(2 * of(i) * math.Abs(row[i]))
	}
	return of(n) * sum
}

// cost bounds the errors from leaving out the product of two shares.
func cost(kernels, samples *share) (mean, sd float64) {
	return kernels.mean * samples.mean, math.Sqrt(float64(kernels.square*samples.square) + float64(kernels.spread*samples.spread))
}

// run prunes: of four parts of the budget one each goes to samples, kernels, and
// the ranks of E[e·eᵀ] and Cov[a].
func (p *pruning) run() error {
	part := p.budget / 4
	sureAll := !slices.Contains(p.sure, false)

	var kernels share
	for _, m := range p.kernels {
		p.addKernel(&kernels, m)
	}
	if !p.healed {
		p.samples = p.drop(p.samples, part, p.addSample,
			func(s *share) (mean, sd float64) { return cost(&kernels, s) },
			func(d int) bool { return sureAll || p.a[d] == 0 && (p.aCov.Rows == 0 || p.aCov.At(d, d) == 0) })
	}

	var samples share
	for _, d := range p.samples {
		p.addSample(&samples, d)
	}
	p.kernels = p.drop(p.kernels, part, p.addKernel,
		func(k *share) (mean, sd float64) {
			mean, sd = cost(k, &samples)
			return float64(mean) + float64(p.healMean*k.heal), float64(sd) + float64(p.healSD*k.heal)
		},
		func(m int) bool { return p.weightless(m) || p.sure[m] && (sureAll || !p.healed) })

	if p.aCov.Rows > 0 {
		return p.factor(part, math.Sqrt(samples.spread))
	}
	return nil
}

// weightless reports whether kernel m has no part in any prediction. A cost of 0 does not say so: the squares of tiny kernel values
// underflow, and other samples may have larger values.
func (p *pruning) weightless(m int) bool {
	return p.e[m] == 0 && p.ee.At(m, m) == 0 && (!p.healed || p.healSize[m] == 0)
}

// drop leaves out candidates, the cheapest first, while their joint cost
// stays within the limit, and returns the remaining candidates.
func (p *pruning) drop(candidates []int, limit float64, add func(*share, int), cost func(*share) (mean, sd float64), sure func(int) bool) []int {
	alone := map[int]float64{}
	for _, c := range candidates {
		var s share
		add(&s, c)
		mean, sd := cost(&s)
		alone[c] = max(mean, sd)
	}
	byCost := slices.Clone(candidates)
	slices.SortStableFunc(byCost, func(a, b int) int { return cmp.Compare(alone[a], alone[b]) })
	var out share
	var meanError, sdError float64
	dropped := 0
	for _, c := range byCost {
		add(&out, c)
		mean, sd := cost(&out)
		if mean > limit || sd > limit {
			break
		}
		meanError, sdError = mean, sd
		p.certain = p.certain && sure(c)
		dropped++
	}
	p.meanError += meanError
	p.sdError += sdError
	kept := byCost[dropped:]
	slices.Sort(kept)
	return kept
}

// factor computes the factors U and C of the active parts of E[e·eᵀ] and Cov[a]. The remainder,
// after subtracting the product of a factor with itself, is positive semidefinite, so that its
// entries are at most the square roots of products of its diagonal.
func (p *pruning) factor(limit, spread float64) (err error) {
	var kappa float64 // Σ κ_m·√E[e_m²]
	sure := true
	for _, m := range p.kernels {
		kappa += float64(p.kappa[m] * math.Sqrt(p.ee.At(m, m)))
		sure = sure && p.sure[m]
	}
	var lack float64
	p.u = pivotedCholesky(p.ee.Take(p.kernels, p.kernels), func(rest []float64) bool {
		lack = 0
		for i, m := range p.kernels {
			lack += float64(p.kappa[m] * math.Sqrt(rest[i]) * spread)
		}
		return lack <= limit
	})
	p.sdError += lack
	p.certain = p.certain && (sure || lack == 0)
	p.ct, p.order, lack, err = trapezoid(p.aCov.Take(p.samples, p.samples), kappa, limit)
	p.sdError += lack
	p.certain = p.certain && (sure || lack == 0)
	return err
}

// trapezoid returns Cᵀ, which is ρ×n and, with its columns in the returned order, lower trapezoidal, with
// C·Cᵀ ≈ the positive semidefinite x, which it overwrites. ρ is the least number of pivots with
// which lack = κ·Σ_i √(remainder of x_ii) is within the limit, or the remainder is round-off.
func trapezoid(x la.Matrix[float64], kappa, limit float64) (ct la.Matrix[float64], order []int, lack float64, err error) {
	n := x.Rows
	diagonal := make([]float64, n)
	for i := range diagonal {
		diagonal[i] = x.At(i, i)
	}
	order = make([]int, n)
	rank, err := la.CholeskyPivoted(&la.Workspace{}, x, float64(n)*0x1p-52, order)
	if err != nil {
		return ct, nil, 0, err
	}
	loss := func(left []float64) (sum float64) {
		for _, v := range left {
			sum += float64(kappa * math.Sqrt(v))
		}
		return sum
	}
	left, without := make([]float64, n), make([]float64, n) // of x_ii with so many pivots, and with one less
	for i := rank; i < n; i++ {
		left[i] = max(0, diagonal[order[i]]-la.SumSq(x.Row(i)[:rank]))
	}
	lack = loss(left)
	for rank > 0 {
		copy(without, left)
		for i := rank - 1; i < n; i++ {
			without[i] += float64(x.At(i, rank-1) * x.At(i, rank-1))
		}
		more := loss(without)
		if !(more <= limit) {
			break
		}
		left, without, lack = without, left, more
		rank--
	}
	slices.Reverse(order)
	ct = la.NewMatrix[float64](rank, n)
	for i := range rank {
		for j := range n - rank + i + 1 {
			ct.Set(i, j, x.At(n-1-j, rank-1-i))
		}
	}
	return ct, order, lack, nil
}

// pivotedCholesky returns C, n×ρ, with C·Cᵀ ≈ the positive semidefinite x. It
// adds columns, always for the largest diagonal entry of x − C·Cᵀ, until that
// diagonal satisfies enough or is round-off.
func pivotedCholesky(x la.Matrix[float64], enough func(rest []float64) bool) la.Matrix[float64] {
	f := newPivoted(x)
	for !enough(f.rest) {
		p := 0
		for i, v := range f.rest {
			if v > f.rest[p] {
				p = i
			}
		}
		if !f.add(p) {
			break
		}
	}
	return f.factor().Clone()
}

// pivoted is a Cholesky factor C, n×ρ, of a positive semidefinite x; it grows
// column by column.
type pivoted struct {
	x, c   la.Matrix[float64]
	pivots []int     // ρ; the rows of C that form a lower triangle
	rest   []float64 // n, the diagonal of x − C·Cᵀ
	floor  float64   // rest at or below it is round-off
}

func newPivoted(x la.Matrix[float64]) *pivoted {
	f := &pivoted{x: x, c: la.NewMatrix[float64](x.Rows, x.Rows), rest: make([]float64, x.Rows)}
	for i := range f.rest {
		f.rest[i] = x.At(i, i)
		f.floor = max(f.floor, float64(x.Rows)*0x1p-52*f.rest[i])
	}
	return f
}

// add adds the column for row p, unless the diagonal entry is round-off.
func (f *pivoted) add(p int) bool {
	if f.rest[p] <= f.floor {
		return false
	}
	root, rank := math.Sqrt(f.rest[p]), len(f.pivots)
	pivot := f.c.Row(p)[:rank]
	for i := range f.rest {
		if f.rest[i] == 0 {
			continue
		}
		v := (f.x.At(i, p) - la.Dot(f.c.Row(i)[:rank], pivot)) / root
		f.c.Set(i, rank, v)
		f.rest[i] = max(0, f.rest[i]-float64(v*v))
	}
	f.rest[p] = 0
	f.pivots = append(f.pivots, p)
	return true
}

// factor returns C.
func (f *pivoted) factor() la.Matrix[float64] {
	return f.c.Slice(0, f.c.Rows, 0, len(f.pivots))
}

// pruningKind returns the kind of the bounds of pruning.
func pruningKind(certain bool) BoundKind {
	if certain {
		return BoundProved
	}
	return BoundAssumed
}

// info describes the pruning; sd is the target's unit.
func (p *pruning) info(sd float64) PredictorInfo {
	return PredictorInfo{
		Kernels: p.kernels, Samples: p.samples,
		MeanError: sd * p.meanError, SDError: sd * p.sdError, Kind: pruningKind(p.certain),
	}
}
