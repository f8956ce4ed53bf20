package mkl

import (
	"fmt"
	"io"

	"github.com/bmkl/bmkl/vi/slab"
)

// factorsJSON holds the settings of a factor model.
type factorsJSON struct {
	Prior       SlabPrior         `json:"prior"`
	SharedNoise bool              `json:"shared_noise,omitempty"`
	NoiseWeight float64           `json:"noise_weight,omitempty"`
	NoiseScale  float64           `json:"noise_scale,omitempty"`
	Base        float64           `json:"base,omitempty"`
	Offsets     *slab.OffsetPrior `json:"offsets,omitempty"`
	Views       []FactorView      `json:"views,omitempty"`
	Groups      []string          `json:"groups,omitempty"`
	recordJSON
}

// Save writes the fit to a file that [Load] reads: 24 bytes a weight, 16 a factor
// of a row. The loaded model predicts with the same bits.
func (m *FactorAnalysisModel) Save(w io.Writer) error {
	s := m.posterior.State()
	N, Q, M := m.posterior.Dims()
	var f fileWriter
	j := factorsJSON{
		Prior: s.Prior, SharedNoise: s.NoiseShared, NoiseWeight: s.NoiseWeight, NoiseScale: s.NoiseScale, Base: s.Base,
		recordJSON: f.addRecord(&m.record),
	}
	f.add("factors.mean", flat(s.Mean), N, M)
	f.add("factors.variance", flat(s.Variance), N, M)
	f.add("weights", slabWeights(s.Weights), Q, M, 3)
	f.add("noise", s.Noise, Q)
	if s.Lengths != nil {
		f.add("lengths", s.Lengths, M)
	}
	if s.Offset != nil || s.Groups != nil && s.Groups.Offset.Rows > 0 {
		j.Offsets = &s.OffsetPrior
	}
	if s.Offset != nil {
		f.add("offset.mean", s.Offset, Q)
		f.add("offset.variance", s.OffsetVariance, Q)
	}
	m.views.add(&f, &j, &s)
	return f.write(w, m.Kind(), j)
}

func (m *FactorAnalysisModel) decode(f *fileReader) error {
	var j factorsJSON
	err := f.settings(&j)
	if err != nil {
		return err
	}
	Q := f.size("noise")
	if Q == 0 || f.size("weights")%(3*Q) != 0 {
		return fmt.Errorf("model: %d columns and %d numbers of weights", Q, f.size("weights"))
	}
	M := f.size("weights") / (3 * Q)
	if M == 0 || f.size("factors.mean")%M != 0 {
		return fmt.Errorf("model: %d factors and %d means of factors", M, f.size("factors.mean"))
	}
	N := f.size("factors.mean") / M
	if m.record, err = f.takeRecord(j.recordJSON, 0); err != nil {
		return err
	}
	if f.has("trace.changes") { // files from before fits had journals lack it
		f.take("trace.changes", len(m.trace.Bounds))
	}
	s := slab.FactorState{
		Prior: j.Prior, NoiseShared: j.SharedNoise, NoiseWeight: j.NoiseWeight, NoiseScale: j.NoiseScale, Base: j.Base,
		Mean: f.takeMatrix("factors.mean", N, M), Variance: f.takeMatrix("factors.variance", N, M),
		Noise: f.take("noise", Q), Weights: unslab(f.take("weights", Q, M, 3)),
	}
	if j.Offsets != nil {
		s.OffsetPrior = *j.Offsets
	}
	if j.Offsets != nil && j.Groups == nil {
		s.Offset, s.OffsetVariance = f.take("offset.mean", Q), f.take("offset.variance", Q)
	}
	if f.has("lengths") {
		s.Lengths = f.take("lengths", M)
	}
	if err := m.decodeViews(f, &s, j); err != nil {
		return err
	}
	if err := f.close(); err != nil {
		return err
	}
	m.posterior, err = slab.NewFactorPosterior(s)
	return err
}
