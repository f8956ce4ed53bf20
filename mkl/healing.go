package mkl

import (
	"context"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// healable is a posterior whose predictions can be healed if its basis points are
// the samples.
type healable interface {
	Healable() bool
	PredictHealed(k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*bemkl.Prediction, error)
	ArchivedHealer(a *archive.Archive, ws *la.Workspace, o int) (*bemkl.Healer, error)
}

// healing heals the predictions of a [RegressionModel], a [SharedRegressionModel] or a
// [TaskRegressionModel]; see docs/theory/healing.md.
type healing struct {
	*gram.SelfDesign
	posterior healable
}

// newHealing returns the healing of a posterior, or nil if it cannot be healed.
func newHealing(ds *gram.Design, p healable) *healing {
	if !p.Healable() {
		return nil
	}
	return &healing{gram.NewSelfDesign(ds), p}
}

// heals reports whether inputs with these numbers of columns have all that healing needs.
func (h *healing) heals(inputs int, cols func(i int) int) bool {
	return h != nil && h.SelfDesign.Heals(inputs, cols)
}

// predict calls do with the healed predictions of each block of samples, which begins at sample
// first.
func (h *healing) predict(ctx context.Context, opt PredictOptions, x []Features, t int, do func(first int, p *bemkl.Prediction)) error {
	return h.Design.EachBlock(ctx, opt.Workers, h.Design.BlockWords(), true, x, t, func(k *vi.Dense, self la.Matrix[float64], first, _ int) error {
		p, err := h.posterior.PredictHealed(k, self, opt.inference())
		if err != nil {
			return err
		}
		do(first, p)
		return nil
	})
}

// note says in a line why predictions are not healed, and is empty if they are.
func (h *healing) note() string {
	if h == nil {
		return healingNote(nil)
	}
	return healingNote(h.SelfDesign)
}

// healingNote says in a line why predictions are not healed, and is empty if they are.
func healingNote(s *gram.SelfDesign) string {
	switch {
	case s == nil:
		return "predictions are not healed, and intervals away from the samples too short: the basis points are not the samples, or the file is from before healing\n"
	case len(s.Added) > 0:
		return "predictions are healed only with the kernel of each sample with itself as a last column of precomputed kernels; without it intervals away from the samples are too short\n"
	}
	return ""
}
