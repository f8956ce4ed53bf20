package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/slab"
)

// MultiTaskModel is a fitted [MultiTask]. It is immutable and safe for concurrent
// use.
type MultiTaskModel struct {
	onViews   // a view for each latent function
	posterior *slab.MultiTaskPosterior
	targets   []target
}

// Targets returns the number of targets.
func (m *MultiTaskModel) Targets() int { return len(m.targets) }

// Posterior returns the approximate posterior for the standardised targets.
func (m *MultiTaskModel) Posterior() *slab.MultiTaskPosterior { return m.posterior }

// Kind returns "multi-task".
func (m *MultiTaskModel) Kind() string { return "multi-task" }

// Outputs reports what the fit learned for each target: its noise, its weights of the latent
// functions, in its units, and the probabilities that they are not zero. A weight is Active if its function
// is active and it is more probably nonzero than zero.
func (m *MultiTaskModel) Outputs() []ModelOutput {
	latents, noise := m.KernelWeights(), m.NoiseSD()
	out := make([]ModelOutput, len(m.targets))
	for q := range out {
		out[q].NoiseSD = noise[q]
		for i, w := range m.Weights(q) {
			l := latents[i]
			l.Mean, l.SD, l.Active = w.Mean, w.SD, l.Active && w.Inclusion >= 0.5
			out[q].Weights, out[q].Inclusion = append(out[q].Weights, l), append(out[q].Inclusion, w.Inclusion)
		}
	}
	return out
}

// Prior returns the learned prior of the weights, for standardised targets.
func (m *MultiTaskModel) Prior() SlabPrior { return m.posterior.State().Prior }

// NoiseSD returns the standard deviation of each target's noise in its units.
func (m *MultiTaskModel) NoiseSD() []float64 {
	sd := make([]float64, len(m.targets))
	for q, v := range m.posterior.State().Noise {
		sd[q] = m.targets[q].sd * math.Sqrt(v)
	}
	return sd
}

// Weights returns a target's weights of the latent functions, in its units, with the same
// names as in KernelWeights. The weights of functions that were removed from the
// model are zero.
func (m *MultiTaskModel) Weights(target int) []SlabWeight {
	out := make([]SlabWeight, len(m.design.Views))
	for i, v := range m.design.Views {
		p := m.posterior.Weight(target, i)
		mean, _ := p.Moments()
		out[i] = SlabWeight{v.Name, m.targets[target].sd * mean, m.targets[target].sd * math.Sqrt(p.VarW()), p.Inclusion()}
	}
	return out
}

// KernelWeights returns how much each latent function contributes, with its learned
// kernel. Mean is the root mean square, over samples and targets, of the
// function's contribution to a target, in units of the target's standard deviation; SD is the
// part of its uncertainty that comes from the weights. A function is Active if it
// is in the model and contributes at least ActiveThreshold times as much as the
// function that contributes most.
func (m *MultiTaskModel) KernelWeights() []KernelWeight {
	s := m.posterior.State()
	energy := m.posterior.Energy()
	out := make([]KernelWeight, len(m.design.Views))
	var largest float64
	for i, v := range m.design.Views {
		w := KernelWeight{View: v.Name, Kernel: v.Kernel.String()}
		power := la.SumSq(s.Phi.Row(i)) / float64(m.design.D)
		for q := range m.targets {
			w.Mean += energy.At(q, i)
			w.SD += float64(power * m.posterior.Weight(q, i).VarW())
		}
		w.Mean, w.SD = math.Sqrt(w.Mean/float64(len(m.targets))), math.Sqrt(w.SD/float64(len(m.targets)))
		largest = max(largest, w.Mean)
		out[i] = w
	}
	for _, i := range s.Active {
		out[i].Active = out[i].Mean > 0 && out[i].Mean >= ActiveThreshold*largest
	}
	return out
}

// PredictTargets predicts every target. It takes one matrix for each of Inputs.
func (m *MultiTaskModel) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	out := newPrediction(len(m.targets), t, opt)
	err = m.predict(ctx, opt, x, t, func(first int, p *slab.MultiTaskPrediction) {
		for q, target := range m.targets {
			var variance []float64
			if !opt.MeanOnly {
				variance = p.Variance.Row(q)
			}
			target.restore(out, q, first, p.Mean.Row(q), variance)
		}
	})
	if err != nil {
		return nil, err
	}
	return out.checked()
}

// PredictLatents predicts the latent functions, [function][sample], without the
// targets' noise. Functions that were removed from the model are zero.
func (m *MultiTaskModel) PredictLatents(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	out := newPrediction(len(m.design.Views), t, opt)
	err = m.predict(ctx, opt, x, t, func(first int, p *slab.MultiTaskPrediction) {
		for i := range m.design.Views {
			copy(out.Mean[i][first:], p.Phi.Row(i))
			if !opt.MeanOnly {
				copy(out.Variance[i][first:], p.PhiVariance.Row(i))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// predict calls do for each block of samples, with the predictions of the samples from
// first on.
func (m *MultiTaskModel) predict(ctx context.Context, opt PredictOptions, x []Features, t int, do func(first int, p *slab.MultiTaskPrediction)) error {
	return m.design.EachBlock(ctx, opt.Workers, gram.PredictWords, true, x, t, func(k *vi.Dense, self la.Matrix[float64], first, n int) error {
		p, err := m.posterior.Predict(k, self, m.design.Functions(x, first, n), vi.PredictOptions{MeanOnly: opt.MeanOnly, Intermediate: true, Workers: opt.Workers})
		if err == nil {
			do(first, p)
		}
		return err
	})
}

// String describes the model in one line.
func (m *MultiTaskModel) String() string {
	active := countActive(m.KernelWeights())
	return fmt.Sprintf("multi-task model of %d targets with %d latent functions (%d active) on %d samples, bound %.6g",
		len(m.targets), len(m.design.Views), active, m.design.D, m.Bound())
}

// Summary describes the model in words, line by line.
func (m *MultiTaskModel) Summary() string {
	var b strings.Builder
	fmt.Fprintln(&b, m.String())
	b.WriteString(m.trace.outcome())
	fmt.Fprintf(&b, "weights are there with probability %.3g\n", m.Prior().Pi)
	noise := m.NoiseSD()
	for q := range m.targets {
		on := 0
		for i, w := range m.Weights(q) {
			if w.Inclusion >= 0.5 && slices.Contains(m.posterior.State().Active, i) {
				on++
			}
		}
		fmt.Fprintf(&b, "target %d: noise SD %.4g, %d weights", q+1, noise[q], on)
		if slices.Contains(m.trace.collapsed, q) {
			fmt.Fprint(&b, "; COLLAPSED: its function vanishes")
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintln(&b, "active latent functions (contribution ± SD):")
	for _, w := range m.KernelWeights() {
		if w.Active {
			fmt.Fprintf(&b, "  %-24s %-24s %10.4g ± %.2g\n", w.View, w.Kernel, w.Mean, w.SD)
		}
	}
	return b.String()
}
