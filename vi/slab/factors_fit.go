package slab

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// factors is the state of a fit.
type factors struct {
	work.Stop
	y       *Observed
	N, Q, M int
	K       int // coordinates of a task: its M weights and, perhaps, its offset
	base    float64

	perTask     bool
	noiseWeight float64
	held        Held
	floor       float64

	// E[φ_n] and a 1 if there are offsets; E[w_q] and E[c_q], which counts from base.
	object, task lineMoments

	weights      []Pair // Q×M
	offsetVar    []float64
	offsetPriors []OffsetPrior // one of all offsets or, with kinds, of each view
	priors       []Prior       // one of all weights or, with views, of each view and factor: V×M
	viewOf       []int32       // the view of each task; nil without views
	views        []int         // tasks of each view
	priorScale   float64       // of the prior of σ_vm²
	noise        []float64     // σ_q²
	noiseScale   float64       // of the prior of the noise

	kinds []FactorKind // of each task; nil if all are Gaussian
	raw   *Observed    // with kinds the entries as they were observed: y has targets of sites
	level []float64    // of each task that is not Gaussian: Σ_n of the sites' levels

	groups *sampleGroups // nil without

	drawn bool // the start was drawn, and has tasks of 0 and 1: see sharpen
	sharp bool // during sharpen

	count  []float64 // observed entries of each task
	square []float64 // of complete data Σ_n y_nq²
	error2 []float64 // E_q = E[Σ_n (y_nq − f_nq)²]
	shake  []float64 // Σ y² + Σ_m E[w_qm]²·Σ_n E[φ_nm]²: the size of the terms whose difference is E_q

	functions    []latentGP // of factors with a covariance over the objects; else nil
	lengthsEvery int
	sweeps       int // done
	scratch      *latentScratch
	lineStats    []lineStats // of all objects, for functions and data with gaps
	h            []float64   // N

	crew         *lineCrew
	objectBlocks []int
	taskBlocks   []int
	objectSums   []float64          // by block: Σ ½(log A + 1 − A − a²)
	taskSums     []slabSums         // by block, and by prior
	total        []slabSums         // by prior, see sums
	odds, logVar []float64          // by prior: log π/(1−π), log σ²
	scale        []float64          // 1/σ_q
	cross        la.Matrix[float64] // of complete data
	scaled       lineMoments        // of the tasks over σ_q, if that differs between them
	scales       *scaleStep         // nil without
	shears       *shearStep         // nil without
	noises       *noiseStep         // nil without

	updates  []work.Update
	memory   work.Memory
	kept     factorsKept
	identity []float64 // of the table, see entries
}

// model checks the arguments and returns the initial state.
func (f Factors) model(y *Observed) (*factors, error) {
	switch {
	case y == nil:
		return nil, fmt.Errorf("vi: y: nil")
	case f.Count < 1:
		return nil, fmt.Errorf("vi: Count is %d: at least one factor is needed", f.Count)
	case !(f.NoiseWeight >= 0) || math.IsInf(f.NoiseWeight, 1):
		return nil, fmt.Errorf("vi: NoiseWeight is %g: it must not be negative", f.NoiseWeight)
	}
	kinds, err := f.kindsOf(y)
	if err != nil {
		return nil, err
	}
	if f.Principal && f.Groups == nil {
		return nil, fmt.Errorf("vi: Principal: it needs Groups")
	}
	if f.Groups != nil {
		if err := f.checkGrouped(y); err != nil {
			return nil, err
		}
	}
	mean, variance := momentsOf(y, kinds)
	if variance == 0 {
		return nil, fmt.Errorf("vi: y: every observed entry is %g", mean)
	}
	M := f.Count
	m := &factors{
		y: y, N: y.n, Q: y.q, M: M, K: M,
		perTask: f.Noise == NoisePerTask, noiseWeight: f.NoiseWeight, held: f.Held,
		priors: []Prior{f.Prior}, count: make([]float64, y.q), error2: make([]float64, y.q), shake: make([]float64, y.q), noise: make([]float64, y.q),
		weights: make([]Pair, y.q*M), kinds: kinds,
	}
	power := variance
	if f.Offsets {
		if f.Groups == nil {
			m.K, m.base = M+1, mean
			m.offsetVar = slices.Repeat([]float64{variance}, m.Q)
		}
		m.offsetPriors = []OffsetPrior{{Variance: variance}}
		if kinds != nil {
			m.offsetPriors = slices.Repeat(m.offsetPriors, len(f.Views))
		}
	} else {
		power += float64(mean * mean)
	}
	m.floor = noiseFloor * power
	if err := f.startPriors(m, power); err != nil {
		return nil, err
	}
	m.object, m.task = newMoments(m.N, M, m.K), newMoments(m.Q, M, m.K)
	if m.perTask || kinds != nil {
		m.scaled = newMoments(m.Q, M, m.K)
	}
	for q := range m.noise {
		if m.noise[q] = 0.5 * variance; m.hasSites(q) {
			m.noise[q] = 1 // the sites have precisions
		}
	}
	m.noiseScale = 0.5 * variance
	m.memory.Of(m.object.both.Data, m.noise, m.offsetVar)
	m.prepare(f.Groups != nil)
	f.divide(m, variance)
	most := max(len(m.objectBlocks), len(m.taskBlocks))
	if m.groups != nil {
		most = max(most, len(m.groups.cuts))
	}
	m.crew = newLineCrew(&m.Stop, f.Workers, most-1, M, m.K)
	if m.K > M {
		for n := range m.N {
			m.object.mean.Set(n, M, 1)
		}
	}
	if err := f.cover(m); err != nil {
		return nil, err
	}
	m.beginSites()
	if err := f.begin(m); err != nil {
		return nil, err
	}
	m.setUpdates(f.Plain)
	m.drawn = !f.Plain && f.Start == nil && slices.Contains(kinds, Bernoulli)
	return m, nil
}

// setUpdates puts the updates of a sweep in their order, and makes room for the steps that are
// not published.
func (m *factors) setUpdates(plain bool) {
	tasks := "(w,s)"
	if m.K > m.M {
		tasks = "(w,s), c"
	}
	if m.groups != nil {
		m.setGroupedUpdates(plain)
		return
	}
	m.updates = []work.Update{
		{Name: "φ", Step: func() error { return m.updateObjects(0, m.M) }},
		{Name: tasks, Step: func() error { m.turnWeights(); m.updateTasks(0, m.K); return nil }},
		{Name: "σ²", Step: func() error {
			m.updateNoise()
			if m.noises != nil {
				m.followNoise()
			}
			return nil
		}},
		{Name: "σ_w²", Step: func() error { m.updateSlab(true, false); return nil }},
		{Name: "π", Step: func() error { m.updateSlab(false, true); return nil }},
	}
	if m.K > m.M {
		m.updates = append(m.updates, work.Update{Name: "(μ_c,σ_c²)", Step: func() error { m.updateOffsetPrior(); return nil }})
	}
	if m.kinds != nil {
		m.updates = slices.Insert(m.updates, 0, work.Update{Name: "sites", Step: func() error { m.updateSites(); return nil }})
	}
	if plain || m.functions != nil {
		return
	}
	m.scales = m.newScaleStep()
	m.updates = append(m.updates, work.Update{Name: "scale", Step: func() error {
		if m.sweeps%scaleEvery == 0 {
			m.rescale()
		}
		return nil
	}})
	if m.kinds != nil || conjugate.Sum(m.count) != float64(m.N)*float64(m.Q) { // entries are missing, or have sites
		return
	}
	m.shears = m.newShearStep()
	if !m.held.Noise {
		m.noises = m.newNoiseStep()
	}
	m.updates = slices.Insert(m.updates, 0, work.Update{Name: "shear", Step: func() error {
		if m.sweeps > 1 { // at a start the factors may all be zero
			m.shear()
		}
		return nil
	}})
}

// setGroupedUpdates is setUpdates with groups.
func (m *factors) setGroupedUpdates(plain bool) {
	step := func(name string, do func()) work.Update {
		return work.Update{Name: name, Step: func() error { do(); return nil }}
	}
	m.updates = []work.Update{
		step("sites", m.updateSites),
		step("(φ,τ²)", func() { m.updateGroupedObjects(0, m.M) }),
		step("(w,s)", func() { m.turnWeights(); m.updateTasks(0, m.M) }),
		step("c", func() { m.updateGroupOffsets(true) }),
		step("σ²", m.updateGroupNoise),
		step("σ_w²", func() { m.updateSlab(true, false) }),
		step("π", func() { m.updateSlab(false, true) }),
	}
	if m.offsetPriors != nil {
		m.updates = append(m.updates, step("(μ_c,σ_c²)", m.updateOffsetPrior))
	}
	if plain {
		return
	}
	m.scales = m.newScaleStep()
	m.updates = append(m.updates, step("scale", func() {
		if m.sweeps%scaleEvery == 0 {
			m.rescale()
		}
	}))
}

// checkGrouped checks the groups of the objects.
func (f Factors) checkGrouped(y *Observed) error {
	if _, err := checkGroups(f.Groups, y.n); err != nil {
		return fmt.Errorf("vi: Groups: %w", err)
	}
	switch c := f.Covariance.kind; {
	case f.Views == nil:
		return fmt.Errorf("vi: Groups: they need Views")
	case c != zeroCovariance && c != whiteCovariance:
		return fmt.Errorf("vi: Groups: a Covariance excludes them")
	}
	return nil
}

// prepare counts, and cuts the work into blocks.
func (m *factors) prepare(grouped bool) {
	if grouped || m.kinds != nil {
		m.y = m.y.withRoots()
		m.level = make([]float64, m.Q)
	}
	y := m.y
	m.objectBlocks, m.taskBlocks = y.byObject.blocks(m.N, m.Q), y.byTask.blocks(m.Q, m.N)
	m.objectSums, m.taskSums = make([]float64, len(m.objectBlocks)-1), make([]slabSums, (len(m.taskBlocks)-1)*len(m.priors))
	m.scale = make([]float64, m.Q)
	if !y.complete() {
		for q := range m.count {
			index, _ := y.byTask.line(q)
			m.count[q] = float64(len(index))
		}
		return
	}
	m.square = make([]float64, m.Q)
	if m.base != 0 {
		m.y = &Observed{n: m.N, q: m.Q, dense: y.dense.Clone()}
	}
	for n := range m.N {
		row := m.y.dense.Row(n)
		for q := range row {
			if m.base != 0 {
				row[q] -= m.base
			}
			m.square[q] += float64(row[q] * row[q])
		}
	}
	for q := range m.count {
		m.count[q] = float64(m.N)
	}
	m.cross = la.NewMatrix[float64](max(m.N, m.Q), m.K)
}

// cover gives the factors their covariance.
func (f Factors) cover(m *factors) error {
	c := f.Covariance
	if c.kind == zeroCovariance || c.kind == whiteCovariance {
		return nil
	}
	if err := c.validate(m.N); err != nil {
		return fmt.Errorf("vi: Covariance: %w", err)
	}
	if f.LengthsEvery < 0 {
		return fmt.Errorf("vi: LengthsEvery is %d: it must not be negative", f.LengthsEvery)
	}
	m.lengthsEvery = cmp.Or(f.LengthsEvery, 5)
	m.functions = make([]latentGP, m.M)
	for k := range m.functions {
		m.functions[k].cov = c
		m.functions[k].start(m.N, make([]float64, m.N))
	}
	m.scratch = newLatentScratch(m.N, true)
	m.scratch.stop = &m.Stop
	m.h = make([]float64, m.N)
	if !m.y.complete() {
		m.lineStats = make([]lineStats, m.N)
		for n := range m.lineStats {
			m.lineStats[n] = lineStats{
				gram: la.NewMatrix[float64](m.M, m.M), cross: make([]float64, m.M), variance: make([]float64, m.M),
			}
		}
	}
	return nil
}
