package mkl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// GibbsDraws says how long Gibbs sampling goes on.
type GibbsDraws struct {
	Chains int // chains side by side; 0 means 4
	Draws  int // draws kept of each; 0 means 250
	Thin   int // sweeps from one kept draw to the next; 0 means 4
	BurnIn int // sweeps before the first; 0 means Draws·Thin, negative none

	// Checkpoint, if not nil, is called each time all chains have made Every further
	// sweeps (0 means 1000), and at the end; Resume continues from there.
	Checkpoint func(*mcmc.Checkpoint) error
	Every      int
	Resume     *mcmc.Checkpoint
}

// mixed is the largest R̂ of the kernel weights and of the classes' mean log
// precisions at which a model's Trace says that its chains have converged.
const mixed = 1.05

// sample fits m by Gibbs sampling of the machine p.
func (c ProbitClassifier[T]) sample(ctx context.Context, p probit.Model, k vi.Kernels, index []int, m *ProbitClassifierModel[T]) error {
	g := mcmc.Probit{
		Rule: p.Rule, Alpha: p.Alpha, ClassAlpha: p.ClassAlpha, Ridge: p.Ridge, Beta: p.Beta, NotEmpty: p.NotEmpty,
		Sampling: mcmc.Sampling{
			Chains: c.Draws.Chains, Draws: c.Draws.Draws, Thin: c.Draws.Thin, BurnIn: c.Draws.BurnIn, Seed: c.Seed,
			Workers: c.Workers, Checkpoint: c.Draws.Checkpoint, Every: c.Draws.Every, Resume: c.Draws.Resume,
		},
	}
	s := &g.Sampling
	if s.Chains == 0 {
		s.Chains = mcmc.DefaultChains
	}
	if s.Draws == 0 {
		s.Draws = 250
	}
	if s.Thin == 0 {
		s.Thin = 4
	}
	if c.Progress != nil {
		s.Progress = func(p mcmc.Progress) {
			c.Progress(Progress{Start: p.Chain + 1, Starts: s.Chains, Sweep: p.Sweep, MaxSweeps: p.Sweeps, Bound: math.NaN(), Rise: math.NaN()})
		}
	}
	draws, err := g.Sample(ctx, k, index)
	if err != nil {
		return fmt.Errorf("mkl: %w", err)
	}
	burnIn := s.BurnIn
	if burnIn == 0 {
		burnIn = s.Draws * s.Thin
	}
	m.setDraws(draws, max(0, burnIn)+s.Draws*s.Thin)
	return nil
}

// setDraws completes a model by its draws.
func (m *ProbitClassifierModel[T]) setDraws(d *mcmc.ProbitDraws, sweeps int) {
	m.draws, m.weights, m.sweeps = d, d, sweeps
	m.trace = Trace{Sweeps: sweeps, Converged: true, Reason: "sampled"}
	m.mixing = Mixing{Chains: d.Chains(), Draws: d.Len(), ESS: math.Inf(1), LeastAccepted: 1}
	names := []string{"log precision"}
	if d.Rule().Learned() {
		names = append(names, "beta")
	}
	x := &m.mixing
	for _, name := range names {
		for _, s := range d.Summary(name) {
			if s.SD > 0 && !(s.RHat <= mixed) {
				m.trace.Converged, m.trace.Reason = false, "chains have not mixed"
			}
			if s.SD > 0 && !math.IsNaN(s.RHat) { // a switch that never moved tells nothing
				x.RHat, x.ESS = max(x.RHat, s.RHat), min(x.ESS, s.BulkESS)
			}
		}
	}
	if x.RHat == 0 {
		x.ESS = 0
	}
	for _, v := range d.Moves() {
		if v.Tried > 0 {
			x.LeastAccepted, x.MostAccepted = min(x.LeastAccepted, v.Rate()), max(x.MostAccepted, v.Rate())
		}
	}
}

// Mixing says how far sampled chains are to be trusted.
type Mixing struct {
	Chains int
	Draws  int // of each chain

	// The largest R̂ and the smallest effective sample size, of all chains together, of
	// the kernel weights, if they are learned, and the classes' mean log precisions; 0 if
	// they are not known.
	RHat, ESS float64

	// The lowest and the highest rate at which a step's proposals were accepted; the
	// former is above the latter if there were none.
	LeastAccepted, MostAccepted float64
}

func (x Mixing) String() string {
	s := fmt.Sprintf("%d chains of %d draws", x.Chains, x.Draws)
	if x.RHat > 0 {
		s += fmt.Sprintf(", R̂ at most %.3f and effective sample size at least %.0f", x.RHat, x.ESS)
	}
	if x.LeastAccepted <= x.MostAccepted {
		s += fmt.Sprintf("; %.2f to %.2f of the proposals accepted", x.LeastAccepted, x.MostAccepted)
	}
	return s
}

// Mixing returns the diagnostics of the chains, the zero value after variational
// inference.
func (m *ProbitClassifierModel[T]) Mixing() Mixing { return m.mixing }

// Draws returns the draws of Gibbs sampling with their diagnostics, nil after
// variational inference.
func (m *ProbitClassifierModel[T]) Draws() *mcmc.ProbitDraws { return m.draws }

func (m *ProbitClassifierModel[T]) predict(ctx context.Context, k vi.Kernels, opt vi.PredictOptions) (*probit.Prediction, error) {
	if m.draws != nil {
		return m.draws.Predict(ctx, k, opt)
	}
	return m.posterior.Predict(k, opt)
}

// saveDraws writes the model to a file.
func (m *ProbitClassifierModel[T]) saveDraws(f *fileWriter, w io.Writer) error {
	s := m.draws.State()
	f.Samples = m.design.d
	f.Probit = &probitJSON{Rule: s.Rule.String(), Chains: len(s.Chains), Sweeps: m.sweeps}
	var all []float64
	for _, c := range s.Chains {
		all = append(all, c...)
	}
	for _, v := range s.Moves {
		f.Probit.Moves = append(f.Probit.Moves, moveJSON(v))
	}
	f.add("beta", s.Beta, len(s.Beta))
	f.add("draws", all, len(s.Chains), len(all)/len(s.Chains))
	if err := encodeClasses(f, m.classes, m.text); err != nil {
		return err
	}
	return f.write(w, kindProbitClassifier)
}

// ruleNamed returns the rule of a name, -1 if it is not known.
func ruleNamed(name string) Combination {
	for _, rule := range []Combination{FixSum, WSum, Bin, FixProd, WProd} {
		if rule.String() == name {
			return rule
		}
	}
	return -1
}

func loadProbitDraws[T comparable](f modelFile, decode func(json.RawMessage) (T, error)) (Model, error) {
	f.L, f.P, f.D = len(f.Classes), len(f.ts["beta"].data), f.Basis
	chains, numbers := f.Probit.Chains, len(f.ts["draws"].data)
	if f.L < 2 || f.P < 1 || f.D < 1 || chains < 1 || numbers == 0 || numbers%chains != 0 {
		return nil, fmt.Errorf("model: %d classes, %d kernels, %d basis points and %d chains do not fit the tensors", f.L, f.P, f.D, chains)
	}
	if f.Margin != 0 || f.SigmaG != 0 || f.Priors != (priorsJSON{}) || f.Trace.Collapsed != nil || f.Probit.ESS != 0 {
		return nil, errors.New("model: settings of another kind")
	}
	if f.Probit.Sweeps < 1 {
		return nil, fmt.Errorf("model: sweeps is %d", f.Probit.Sweeps)
	}
	base, err := f.fitted()
	if err != nil {
		return nil, err
	}
	s := mcmc.ProbitState{
		Rule: ruleNamed(f.Probit.Rule), Classes: f.L, Basis: f.D, Beta: f.take("beta", f.P), Parameters: make([]int, f.P),
	}
	for _, v := range f.Probit.Moves {
		s.Moves = append(s.Moves, mcmc.Move(v))
	}
	draws := f.matrix("draws", chains, numbers/chains)
	if err := f.unexpected(); err != nil {
		return nil, err
	}
	if s.Rule < 0 {
		return nil, fmt.Errorf("model: the rule %q is not known", f.Probit.Rule)
	}
	for c := range chains {
		s.Chains = append(s.Chains, draws.Row(c))
	}
	d, err := mcmc.NewProbitDraws(s)
	if err != nil {
		return nil, err
	}
	m := &ProbitClassifierModel[T]{fitted: base, text: f.Classes}
	m.setDraws(d, f.Probit.Sweeps)
	if m.classes, err = decodeClasses(f, decode); err != nil {
		return nil, err
	}
	return m, m.prepare(d.Mean("W"))
}
