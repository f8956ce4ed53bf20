package mkl

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/slab"
)

// SlabPrior is the spike-and-slab prior of a weight.
type SlabPrior = slab.Prior

// FactorModel is sparse factor analysis of a table, with or without gaps: each
// entry is the column's offset, a sum of products of the row's factors and the
// column's weights, and noise. Weights have a spike-and-slab prior, so that a
// column depends on few factors, and factors that no column needs vanish. It
// completes tables (ratings, damaged pictures), reduces rows to their factors, and
// learns dictionaries. The zero value is ready to fit.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011, sections 2.2
// and 2.3.
type FactorModel struct {
	// Factors is the number of factors, at most; 0 means 10.
	Factors int

	// Prior is the prior of the weights to start from and, if FixedPrior, to keep. A
	// Pi of 0 means ½; a Variance of 0 lets half the variance of the data come from
	// the factors. Pi must be less than 1.
	Prior      SlabPrior
	FixedPrior bool

	// SharedNoise gives all columns the same noise (probabilistic PCA) instead of
	// each its own (factor analysis).
	SharedNoise bool

	// NoiseWeight, in entries, is the weight of a prior under which the columns'
	// noise is alike; its scale is learned. 0 means 10. Negative leaves it out, as in
	// the paper; a column of few entries is then fitted without error.
	NoiseWeight float64

	// NoOffsets leaves out the columns' offsets, as in the paper; the table should
	// then be centred. Offsets have a normal prior, which is learned.
	NoOffsets bool

	// RowDistances, if not empty, rows × rows, are the distances between the rows: each
	// factor is then a Gaussian process over them with the covariance exp(−d/ℓ), whose
	// length ℓ is learned, so that near rows have similar factors. It is meant for few
	// rows and many columns: a sweep costs rows³ more for each factor.
	RowDistances Features

	// Restarts is the number of further random starts; the fit with the highest
	// bound is kept. Seed selects the starts. A fit that goes on from another or is
	// kept at checkpoints has one start.
	Restarts int
	Seed     uint64

	// Like, if not nil, is a fit of other columns with the same rows, whose factors are
	// the start in place of a random one: of many columns a few may be fitted first.
	Like *FactorFit

	// Tolerance is the relative rise of the bound that counts as none; 0 means
	// vi.DefaultTolerance, negative runs all MaxSweeps.
	Tolerance float64

	// MaxSweeps is the most sweeps; 0 means vi.DefaultMaxSweeps.
	MaxSweeps int

	// From, if not nil, is a fit of the same table to go on from, one that was
	// stopped or a checkpoint: the result is, bit for bit, that of a fit that was not
	// interrupted.
	From *FactorFit

	// Checkpoint, if not nil, is called with the fit so far at the end of a sweep, at
	// most once in CheckpointEvery, for it to be saved. What it is given is valid
	// during the call only. An error ends the fit.
	Checkpoint      func(*FactorFit) error
	CheckpointEvery time.Duration // 0 means after every sweep

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int

	// Progress, if not nil, is called after every sweep.
	Progress func(Progress)

	// Notes are kept with the fit and saved with it.
	Notes map[string]string
}

const (
	defaultFactors     = 10
	defaultNoiseWeight = 10
)

func (f FactorModel) inference(rows int) (slab.Factors, error) {
	v := slab.Factors{
		Count: f.Factors, Prior: f.Prior, NoiseWeight: f.NoiseWeight, Offsets: !f.NoOffsets,
		Held: slab.Held{Pi: f.FixedPrior, Variance: f.FixedPrior}, Workers: f.Workers,
	}
	switch {
	case f.Factors < 0:
		return v, fmt.Errorf("mkl: Factors is %d: it must not be negative", f.Factors)
	case f.Factors == 0:
		v.Count = defaultFactors
	}
	if f.Restarts > 0 && (f.Like != nil || f.From != nil || f.Checkpoint != nil) {
		return v, fmt.Errorf("mkl: Restarts is %d: with Like, From or Checkpoint there is one start", f.Restarts)
	}
	if f.Prior.Pi == 1 {
		return v, fmt.Errorf("mkl: Prior.Pi is 1: it must be less")
	}
	if f.SharedNoise {
		v.Noise = slab.NoiseShared
	}
	switch {
	case f.SharedNoise || f.NoiseWeight < 0:
		v.NoiseWeight = 0
	case f.NoiseWeight == 0:
		v.NoiseWeight = defaultNoiseWeight
	}
	if d := f.RowDistances; d.Rows > 0 || d.Cols > 0 {
		var err error
		if v.Covariance, err = rowCovariance(d, rows); err != nil {
			return v, err
		}
	}
	if f.Like != nil {
		v.Like = f.Like.posterior
	}
	if f.From != nil {
		v.From = &slab.FactorFit{Posterior: f.From.posterior, Record: vi.Record{Trace: f.From.trace.Bounds}}
	}
	if f.Checkpoint != nil {
		last := time.Now()
		v.Checkpoint = func(fit *slab.FactorFit) error {
			if time.Since(last) < f.CheckpointEvery {
				return nil
			}
			last = time.Now()
			return f.Checkpoint(f.fit(fit))
		}
	}
	return v, nil
}

// rowCovariance lets ℓ begin at a tenth of the largest distance.
func rowCovariance(d Features, rows int) (c slab.Covariance, err error) {
	if d.Rows != rows || d.Cols != rows {
		return c, fmt.Errorf("mkl: RowDistances: %d×%d for %d rows", d.Rows, d.Cols, rows)
	}
	if err := checkLayout("RowDistances", d); err != nil {
		return c, err
	}
	if err := checkFinite("RowDistances", d); err != nil {
		return c, err
	}
	least, most := math.Inf(1), 0.0
	for i := range rows {
		for j, v := range d.Row(i) {
			switch {
			case v < 0 || i == j && v != 0:
				return c, &ValueError{Arg: "RowDistances", Row: i, Col: j, Value: v}
			case v != d.At(j, i):
				return c, fmt.Errorf("mkl: RowDistances[%d][%d] is %g and [%d][%d] is %g", i, j, v, j, i, d.At(j, i))
			case v > 0:
				least, most = min(least, v), max(most, v)
			}
		}
	}
	if most == 0 {
		return c, fmt.Errorf("mkl: RowDistances: every distance is zero")
	}
	return slab.DecayCovariance(d, max(0.1*most, least), 0.01*least, 100*most), nil
}

func (f FactorModel) fit(fit *slab.FactorFit) *FactorFit {
	return &FactorFit{posterior: fit.Posterior, trace: newTrace(fit.Record, nil), notes: maps.Clone(f.Notes)}
}

// EstimateMemory returns about how many bytes a fit takes, of a table of that many
// rows, columns and observed entries, beside the table itself.
func (f FactorModel) EstimateMemory(rows, cols, entries int) int64 {
	m := f.Factors
	if m == 0 {
		m = defaultFactors
	}
	bytes := 16*float64(rows)*float64(m+1) + 40*float64(cols)*float64(m+1)
	if entries == rows*cols {
		bytes += 8*float64(entries) + 8*float64(max(rows, cols))*float64(m+1)
	} else {
		bytes += 24 * float64(entries)
	}
	if !f.SharedNoise {
		bytes += 16 * float64(cols) * float64(m+1)
	}
	return int64(bytes)
}

// Fit fits the model to a table. Errors name the argument and the place of what is
// wrong with it. If the context ends, Checkpoint fails or the bound falls, the
// error says so and the fit is what had been reached; otherwise it is nil with an
// error.
func (f FactorModel) Fit(ctx context.Context, y Table) (*FactorFit, error) {
	if y == nil {
		return nil, fmt.Errorf("mkl: y: nil")
	}
	rows, _ := y.Dims()
	v, err := f.inference(rows)
	if err != nil {
		return nil, err
	}
	o, err := y.observed("y")
	if err != nil {
		return nil, err
	}
	starts := fitting{
		seed: f.Seed, restarts: f.Restarts, progress: f.Progress,
		ascent: vi.Ascent{Tolerance: f.Tolerance, MaxSweeps: f.MaxSweeps},
	}
	var best *slab.FactorFit
	err = starts.starts(func(seed uint64, a vi.Ascent) (vi.Record, func(), error) {
		v.Seed, v.Ascent = seed, a
		fit, err := v.Fit(ctx, o)
		if err != nil {
			best = cmp.Or(best, fit)
			return vi.Record{}, nil, err
		}
		return fit.Record, func() { best = fit }, nil
	})
	if best == nil {
		return nil, err
	}
	return f.fit(best), err
}

// FactorFit is a fitted [FactorModel]. It is immutable and safe for concurrent use.
type FactorFit struct {
	posterior *slab.FactorPosterior
	trace     Trace
	notes     map[string]string
}

// Dims returns the numbers of rows, columns and factors.
func (m *FactorFit) Dims() (rows, cols, factors int) { return m.posterior.Dims() }

// Posterior returns the approximate posterior; rows are its objects, columns its
// tasks.
func (m *FactorFit) Posterior() *slab.FactorPosterior { return m.posterior }

// Bound returns the lower bound on the log evidence, in nats.
func (m *FactorFit) Bound() float64 {
	if n := len(m.trace.Bounds); n > 0 {
		return m.trace.Bounds[n-1]
	}
	return math.NaN()
}

// Trace returns the record of the fit.
func (m *FactorFit) Trace() Trace {
	t := m.trace
	t.Bounds = slices.Clone(t.Bounds)
	return t
}

// Notes returns the notes given to the fit.
func (m *FactorFit) Notes() map[string]string { return maps.Clone(m.notes) }

// NoiseSD returns the standard deviation of each column's noise.
func (m *FactorFit) NoiseSD() []float64 {
	sd := slices.Clone(m.posterior.State().Noise)
	for i, v := range sd {
		sd[i] = math.Sqrt(v)
	}
	return sd
}

// Energy returns the share of each factor in the power of the fitted table, in the
// order of the factors.
func (m *FactorFit) Energy() []float64 { return m.posterior.Energy() }

// Weights returns the means of the weights and the probabilities that they are
// not zero, each columns × factors.
func (m *FactorFit) Weights() (mean, inclusion [][]float64) {
	_, cols, k := m.Dims()
	e, _ := m.posterior.Weights()
	pairs := m.posterior.State().Weights
	for q := range cols {
		row := make([]float64, k)
		for i := range row {
			row[i] = pairs[q*k+i].Inclusion()
		}
		mean, inclusion = append(mean, slices.Clone(e.Row(q))), append(inclusion, row)
	}
	return mean, inclusion
}

// Lengths returns the length ℓ of each factor, nil without RowDistances.
func (m *FactorFit) Lengths() []float64 { return slices.Clone(m.posterior.State().Lengths) }

// Factors returns the means and variances of the factors of the rows, each rows ×
// factors.
func (m *FactorFit) Factors() (mean, variance [][]float64) {
	s := m.posterior.State()
	for n := range s.Mean.Rows {
		mean, variance = append(mean, slices.Clone(s.Mean.Row(n))), append(variance, slices.Clone(s.Variance.Row(n)))
	}
	return mean, variance
}

// Complete returns the predictive mean and variance, noise included, of entries of
// the table, observed or not.
func (m *FactorFit) Complete(cells ...Cell) (mean, variance []float64, err error) {
	rows, cols, _ := m.Dims()
	noise := m.posterior.State().Noise
	mean, variance = make([]float64, len(cells)), make([]float64, len(cells))
	for i, c := range cells {
		if c.Row < 0 || c.Row >= rows || c.Col < 0 || c.Col >= cols {
			return nil, nil, fmt.Errorf("mkl: cells[%d]: (%d, %d) in a table of %d×%d", i, c.Row, c.Col, rows, cols)
		}
		mean[i], variance[i] = m.posterior.Entry(c.Row, c.Col)
		variance[i] += noise[c.Col]
	}
	return mean, variance, nil
}

// Transform returns the means and variances of the factors of new rows, whose
// entries may have gaps; both are rows × factors. See
// [slab.FactorPosterior.Transform].
func (m *FactorFit) Transform(y Table) (mean, variance [][]float64, err error) {
	if y == nil {
		return nil, nil, fmt.Errorf("mkl: y: nil")
	}
	_, cols, _ := m.Dims()
	rows, have := y.Dims()
	if have != cols {
		return nil, nil, fmt.Errorf("mkl: y: %d columns where the model has %d", have, cols)
	}
	o, err := y.observed("y")
	if err != nil {
		return nil, nil, err
	}
	for n := range rows {
		a, v, err := named2(m.posterior.Transform(o.Object(n)))
		if err != nil {
			return nil, nil, err
		}
		mean, variance = append(mean, a), append(variance, v)
	}
	return mean, variance, nil
}

// InverseTransform returns the rows, without noise, of the given factors.
func (m *FactorFit) InverseTransform(factors [][]float64) ([][]float64, error) {
	_, cols, k := m.Dims()
	out := make([][]float64, len(factors))
	for n, a := range factors {
		if len(a) != k {
			return nil, fmt.Errorf("mkl: factors[%d]: %d values where the model has %d factors", n, len(a), k)
		}
		if i := firstNonFinite(a); i >= 0 {
			return nil, &ValueError{Arg: "factors", Row: n, Col: i, Value: a[i]}
		}
		out[n] = make([]float64, cols)
		for q := range out[n] {
			out[n][q], _ = m.posterior.Reconstruct(q, a, nil)
		}
	}
	return out, nil
}

// String describes the fit in one line.
func (m *FactorFit) String() string {
	rows, cols, k := m.Dims()
	active := 0
	for _, e := range m.Energy() {
		if e > 1e-3 {
			active++
		}
	}
	return fmt.Sprintf("factor model of %d×%d with %d factors (%d with more than a thousandth of the power), bound %.6g", rows, cols, k, active, m.Bound())
}

// Summary describes the fit in words, line by line.
func (m *FactorFit) Summary() string {
	var b strings.Builder
	fmt.Fprintln(&b, m)
	if t := m.trace; t.Converged {
		fmt.Fprintf(&b, "converged after %d sweeps\n", t.Sweeps)
	} else {
		fmt.Fprintf(&b, "NOT converged: %s after %d sweeps\n", t.Reason, t.Sweeps)
	}
	s := m.posterior.State()
	fmt.Fprintf(&b, "weights: %.3g of them not zero, then with standard deviation %.4g\n", s.Prior.Pi, math.Sqrt(s.Prior.Variance))
	sd := m.NoiseSD()
	slices.Sort(sd)
	fmt.Fprintf(&b, "noise SD %.4g in the median column, from %.4g to %.4g\n", sd[len(sd)/2], sd[0], sd[len(sd)-1])
	return b.String()
}

// named2 is named for two results.
func named2[S, T any](x S, y T, err error) (S, T, error) {
	if err != nil {
		err = fmt.Errorf("mkl: %w", err)
	}
	return x, y, err
}
