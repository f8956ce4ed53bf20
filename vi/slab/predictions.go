package slab

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Predictions implements [vi.Objective]: of the observed targets, with for each task the
// mean over its samples of the variance.
func (m *multiTask) Predictions(p *vi.Predictions) {
	p.Resize(int(m.Observations()))
	at := 0
	for q := range m.Q {
		if m.count[q] == 0 {
			continue
		}
		residual := m.residual.Row(q)
		sd := math.Sqrt(m.noise[q] + (m.squared(q)-la.SumSq(residual))/m.count[q])
		for n, y := range m.y.Row(q) {
			if m.observed.Rows > 0 && m.observed.At(q, n) == 0 {
				continue
			}
			p.Mean[at], p.SD[at] = y-residual[n], sd
			at++
		}
	}
}

// manyEntries is the number of entries from which a factor model looks at some of them.
const manyEntries = 16384

// Predictions implements [vi.Objective]: of the observed entries or, of many, of as many
// at equal distances in their order.
func (m *factors) Predictions(p *vi.Predictions) {
	_, _, entries := m.y.Dims()
	step := max(1, entries/manyEntries)
	p.Resize((entries + step - 1) / step)
	n := 0
	for i := range p.Mean {
		e := i * step
		q := e % m.Q
		if m.y.complete() {
			n = e / m.Q
		} else {
			for m.y.byObject.start[n+1] <= e {
				n++
			}
			q = int(m.y.byObject.index[e])
		}
		a, w := m.object.mean.Row(n), m.task.mean.Row(q)
		variance := m.spread(n, q, m.noise[q])
		p.Mean[i], p.SD[i] = la.Dot(a[:m.K], w), math.Sqrt(variance)
	}
}

// leastRows is the number of samples up to which a regression looks at all of them; of
// more it looks at as many as it has weights, or so many.
const leastRows = 256

// predict stores the predictions of a regression, squared being E|y − Xw|². Its variances
// are their mean over the samples.
func (s *slabState) predict(p *vi.Predictions, residual []float64, squared float64) {
	if residual != nil {
		p.Resize(s.N)
		for n, y := range s.y {
			p.Mean[n] = y - residual[n]
		}
	} else {
		some := s.some()
		p.Resize(some.Cols)
		la.Gemv(nil, la.Transpose, 1, some, s.e, 0, p.Mean)
	}
	sd := math.Sqrt(s.noise + max(0, squared-s.fitted(residual))/float64(s.N))
	for n := range p.SD {
		p.SD[n] = sd
	}
}

// some returns the inputs of the samples that predict looks at, as columns.
func (d *design) some() la.Matrix[float64] {
	if d.few.Rows == 0 {
		M, N := d.x.Rows, d.x.Cols
		step := max(1, N/max(M, leastRows))
		d.few = la.NewMatrix[float64](M, (N+step-1)/step)
		for m := range M {
			few := d.few.Row(m)
			for n := range few {
				few[n] = d.x.At(m, n*step)
			}
		}
	}
	return d.few
}

// Predictions implements [vi.Objective].
func (f *pairedField) Predictions(p *vi.Predictions) { f.predict(p, f.residual, f.squared()) }

// Predictions implements [vi.Objective].
func (f *standardField) Predictions(p *vi.Predictions) { f.predict(p, nil, f.squared()) }
