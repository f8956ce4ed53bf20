package mkl

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/bmkl/bmkl/vi/slab"
)

const kindFactors = "factors"

// factorJSON is the JSON part of a factor model's file.
type factorJSON struct {
	Prior       SlabPrior         `json:"prior"`
	SharedNoise bool              `json:"shared_noise,omitempty"`
	NoiseWeight float64           `json:"noise_weight,omitempty"`
	NoiseScale  float64           `json:"noise_scale,omitempty"`
	Base        float64           `json:"base,omitempty"`
	Offsets     *slab.OffsetPrior `json:"offsets,omitempty"`
	Trace       traceJSON         `json:"trace"`
	Notes       map[string]string `json:"notes,omitempty"`
}

// Save writes the fit to a file that [LoadFactorFit] reads: 24 bytes a weight, 16 a
// factor of a row. What is loaded predicts, and goes on, with the same bits.
func (m *FactorFit) Save(w io.Writer) error {
	s := m.posterior.State()
	N, Q, M := m.posterior.Dims()
	j := factorJSON{
		Prior: s.Prior, SharedNoise: s.NoiseShared, NoiseWeight: s.NoiseWeight, NoiseScale: s.NoiseScale, Base: s.Base,
		Trace: traceJSON{Converged: m.trace.Converged, Reason: m.trace.Reason}, Notes: m.notes,
	}
	weights := make([]float64, 0, 3*len(s.Weights))
	for _, p := range s.Weights {
		weights = append(weights, p.Logit, p.Mean, p.Variance)
	}
	ts := []tensor{
		{"trace.bounds", []int{len(m.trace.Bounds)}, m.trace.Bounds},
		{"factors.mean", []int{N, M}, flat(s.Mean)},
		{"factors.variance", []int{N, M}, flat(s.Variance)},
		{"weights", []int{Q, M, 3}, weights},
		{"noise", []int{Q}, s.Noise},
	}
	if s.Lengths != nil {
		ts = append(ts, tensor{"lengths", []int{M}, s.Lengths})
	}
	if s.Offset != nil {
		j.Offsets = &s.OffsetPrior
		ts = append(ts, tensor{"offset.mean", []int{Q}, s.Offset}, tensor{"offset.variance", []int{Q}, s.OffsetVariance})
	}
	text, err := json.Marshal(j)
	if err == nil {
		err = writeTensors(w, map[string]string{"format": fileFormat, "version": fileVersion, "kind": kindFactors, "model": string(text)}, ts)
	}
	if err != nil {
		return fmt.Errorf("mkl: save: %w", err)
	}
	return nil
}

// LoadFactorFit reads what [FactorFit.Save] wrote. The file need not be trusted:
// see [Load].
func LoadFactorFit(r io.Reader) (*FactorFit, error) {
	m, err := loadFactorFit(r)
	if err != nil {
		return nil, fmt.Errorf("mkl: load: %w", err)
	}
	return m, nil
}

func loadFactorFit(r io.Reader) (*FactorFit, error) {
	metadata, ts, err := readTensors(r)
	if err != nil {
		return nil, err
	}
	for key, want := range map[string]string{"format": fileFormat, "version": fileVersion, "kind": kindFactors} {
		if got := metadata[key]; got != want {
			return nil, fmt.Errorf("%s is %q, not %q", key, got, want)
		}
	}
	var j factorJSON
	if err := strictJSON([]byte(metadata["model"]), &j); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	f := modelFile{ts: ts}
	// Sizes come from elements that are there.
	Q := len(ts["noise"].data)
	if Q == 0 || len(ts["weights"].data)%(3*Q) != 0 {
		return nil, fmt.Errorf("model: %d columns and %d numbers of weights", Q, len(ts["weights"].data))
	}
	M := len(ts["weights"].data) / (3 * Q)
	if M == 0 || len(ts["factors.mean"].data)%M != 0 {
		return nil, fmt.Errorf("model: %d factors and %d means of factors", M, len(ts["factors.mean"].data))
	}
	N := len(ts["factors.mean"].data) / M
	m := &FactorFit{notes: j.Notes, trace: Trace{
		Bounds: f.take("trace.bounds", len(ts["trace.bounds"].data)), Converged: j.Trace.Converged, Reason: j.Trace.Reason,
	}}
	m.trace.Sweeps = len(m.trace.Bounds)
	s := slab.FactorState{
		Prior: j.Prior, NoiseShared: j.SharedNoise, NoiseWeight: j.NoiseWeight, NoiseScale: j.NoiseScale, Base: j.Base,
		Mean: f.matrix("factors.mean", N, M), Variance: f.matrix("factors.variance", N, M),
		Noise: f.take("noise", Q), Weights: make([]slab.Pair, Q*M),
	}
	weights := f.take("weights", Q, M, 3)
	if j.Offsets != nil {
		s.OffsetPrior = *j.Offsets
		s.Offset, s.OffsetVariance = f.take("offset.mean", Q), f.take("offset.variance", Q)
	}
	if _, ok := ts["lengths"]; ok {
		s.Lengths = f.take("lengths", M)
	}
	if err := f.unexpected(); err != nil {
		return nil, err
	}
	for i := range s.Weights {
		s.Weights[i] = slab.Pair{Logit: weights[3*i], Mean: weights[3*i+1], Variance: weights[3*i+2]}
	}
	if m.posterior, err = slab.NewFactorPosterior(s); err != nil {
		return nil, err
	}
	return m, nil
}
