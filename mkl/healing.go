package mkl

import (
	"context"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// healable is a posterior whose predictions can be healed, unless its basis points are
// not the samples.
type healable interface {
	Healable() bool
	PredictHealed(k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*bemkl.Prediction, error)
	Healer(ws *la.Workspace, o int) (*bemkl.Healer, error)
}

// healing heals the predictions of a [RegressionModel], a [SharedRegressionModel] or a
// [TaskRegressionModel]; docs/healing.md.
type healing struct {
	*selfDesign
	posterior healable
}

// newHealing returns what heals predictions of a posterior, nil if nothing can.
func newHealing(ds *design, p healable) *healing {
	if !p.Healable() {
		return nil
	}
	return &healing{newSelfDesign(ds), p}
}

// heals reports whether inputs of these numbers of columns have all that healing needs.
func (h *healing) heals(inputs int, cols func(i int) int) bool {
	return h != nil && h.selfDesign.heals(inputs, cols)
}

// selfDesign is a design of predictions that are healed.
type selfDesign struct {
	// design is the model's, with the kernel of each sample with itself as one more
	// column of every precomputed input. Those of the inputs in added do not have it
	// in the model's own design: predictions without it are not healed.
	design *design
	added  []int
}

func newSelfDesign(ds *design) *selfDesign {
	extended := *ds
	extended.inputs = slices.Clone(ds.inputs)
	s := &selfDesign{design: &extended}
	for _, v := range ds.views {
		in := &extended.inputs[v.input]
		if _, ok := v.kernel.(Precomputed); ok && in.cols == ds.d {
			in.cols++
			s.added = append(s.added, v.input)
		}
	}
	return s
}

// heals reports whether inputs of these numbers of columns have all that healing needs.
func (s *selfDesign) heals(inputs int, cols func(i int) int) bool {
	if s == nil {
		return false
	}
	for _, i := range s.added {
		if i >= inputs || cols(i) != s.design.inputs[i].cols {
			return false
		}
	}
	return true
}

// predict calls do with the healed predictions of the samples from first on, for
// block after block.
func (h *healing) predict(ctx context.Context, opt PredictOptions, x []Features, t int, do func(first int, p *bemkl.Prediction)) error {
	return h.design.eachBlock(ctx, opt.Workers, h.design.blockWords(), true, x, t, func(k *vi.Dense, self la.Matrix[float64], first, _ int) error {
		p, err := h.posterior.PredictHealed(k, self, opt.inference())
		if err != nil {
			return err
		}
		do(first, p)
		return nil
	})
}

// note says in a line what keeps predictions from being healed, if anything does.
func (h *healing) note() string {
	if h == nil {
		return (*selfDesign)(nil).note()
	}
	return h.selfDesign.note()
}

// note says in a line what keeps predictions from being healed, if anything does.
func (s *selfDesign) note() string {
	switch {
	case s == nil:
		return "predictions are not healed, and intervals away from the samples too short: the basis points are not the samples, or the file is from before healing\n"
	case len(s.added) > 0:
		return "predictions are healed only with the kernel of each sample with itself as a last column of precomputed kernels; without it intervals away from the samples are too short\n"
	}
	return ""
}
