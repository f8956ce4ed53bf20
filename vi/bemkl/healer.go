package bemkl

import (
	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/healing"
)

// Healer heals the predictions of one output, sample by sample, without allocating.
// It is immutable and safe for concurrent use.
type Healer struct{ one *healing.Single }

// newHealer returns what heals output o, by way of an archive, which may be nil.
func newHealer(a *archive.Archive, ws *la.Workspace, healers []*healing.Healer, o int) (*Healer, error) {
	one, err := healing.NewSingle(a, ws, healers, o)
	if err != nil {
		return nil, err
	}
	return &Healer{one}, nil
}

// Keep returns the healer of predictions that take these kernels only.
func (h *Healer) Keep(kernels []int) *Healer { return &Healer{h.one.Keep(kernels)} }

// Bytes returns the number of bytes of the matrices that Heal reads.
func (h *Healer) Bytes() int { return h.one.Bytes() }

// ScratchSize is the length of the scratch that Heal needs.
func (h *Healer) ScratchSize() int { return h.one.ScratchSize() }

// Heal returns what healing adds to the mean and to the variance of a sample's
// target. k are its kernels with the basis points, a row for each kernel kept, and self
// those with itself.
func (h *Healer) Heal(ws *la.Workspace, k la.Matrix[float64], self, scratch []float64) (mean, variance float64) {
	return h.one.Heal(ws, k, self, scratch)
}

// Sizes returns how much each kernel counts in Sensitivity: |E[e_m]|, or more where other
// outputs that share the sample weights look at the kernel closer.
func (h *Healer) Sizes() []float64 { return h.one.Sizes() }

// Sensitivity bounds how far healing moves when the kernels of a sample do: by no more
// than the given mean and standard deviation for each unit of Σ_m Sizes_m·|Δk_m|, the
// largest move of kernel m with any sample or itself, as long as Σ_m Sizes_m·|k_m| does
// not exceed the limit before or after. Derived in docs/theory/healing.md.
func (h *Healer) Sensitivity(limit float64) (mean, sd float64) { return h.one.Sensitivity(limit) }
