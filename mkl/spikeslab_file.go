package mkl

import (
	"errors"
	"io"
	"math"

	"github.com/bmkl/bmkl/vi/slab"
)

// spikeSlabJSON holds the settings of a spike-and-slab regression. It has no kernels:
// the design is empty, and present because the format of the file requires it.
type spikeSlabJSON struct {
	designJSON
	recordJSON
	SpikeSlab slabJSON `json:"spike_slab"`
}

// slabJSON holds the part of a spike-and-slab regression that is not in its tensors.
type slabJSON struct {
	Pi           float64  `json:"pi"`
	SlabVariance float64  `json:"slab_variance"`
	Noise        float64  `json:"noise"`
	Names        []string `json:"names"`
}

// Save writes the model to a file that [Load] reads.
func (m *SpikeSlabModel) Save(w io.Writer) error {
	s, M := m.posterior.State(), len(m.names)
	var f fileWriter
	j := spikeSlabJSON{
		recordJSON: f.addRecord(&m.record),
		SpikeSlab:  slabJSON{s.Prior.Pi, s.Prior.Variance, s.Noise, m.names},
	}
	f.add("feature.center", m.center, M)
	f.add("feature.scale", m.scale, M)
	f.addTargets(m.target)
	f.add("weights", slabWeights(s.Weights), M, 3)
	if s.Covariance.Rows > 0 {
		f.add("covariance", flat(s.Covariance), M, M)
	}
	return f.write(w, m.Kind(), j)
}

func (m *SpikeSlabModel) decode(f *fileReader) error {
	var all spikeSlabJSON
	err := f.settings(&all)
	if err != nil {
		return err
	}
	j, M := all.SpikeSlab, f.size("weights")/3
	if M < 1 || len(j.Names) != M {
		return errors.New("model: spike_slab does not fit the tensors")
	}
	if d := all.designJSON; d.Basis != 0 || d.Samples != 0 || d.Inputs != nil || d.Views != nil && string(d.Views) != "null" {
		return errors.New("model: the settings of kernels belong to other kinds")
	}
	if m.record, err = f.takeRecord(all.recordJSON, 0); err != nil {
		return err
	}
	m.names = j.Names
	m.center, m.scale = f.take("feature.center", M), f.takePositive("feature.scale", M)
	targets := f.takeTargets(1)
	s := slab.RegressionState{
		Prior: SlabPrior{Pi: j.Pi, Variance: j.SlabVariance}, Noise: j.Noise, Weights: unslab(f.take("weights", M, 3)),
	}
	if f.has("covariance") {
		s.Covariance = f.takeCovariance("covariance", M)
	}
	if err := f.close(); err != nil {
		return err
	}
	if len(m.trace.Bounds) == 0 {
		return errors.New("model: the trace is empty")
	}
	m.target = targets[0]
	m.posterior, err = slab.NewRegressionPosterior(s)
	return err
}

// slabWeights returns logit γ, mean and variance of each weight. Infinite logits
// are written as the largest number, which means the same probability.
func slabWeights(q []slab.Pair) []float64 {
	out := make([]float64, 0, 3*len(q))
	for _, p := range q {
		out = append(out, min(max(p.Logit, -math.MaxFloat64), math.MaxFloat64), p.Mean, p.Variance)
	}
	return out
}

// unslab is the inverse of slabWeights.
func unslab(x []float64) []slab.Pair {
	out := make([]slab.Pair, len(x)/3)
	for i := range out {
		out[i] = slab.Pair{Logit: x[3*i], Mean: x[3*i+1], Variance: x[3*i+2]}
	}
	return out
}
