package mkl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi/probit"
)

// probitClassifierJSON holds the settings of a multinomial probit classifier.
type probitClassifierJSON struct {
	designJSON
	recordJSON
	Classes []json.RawMessage `json:"classes"`
	Probit  probitJSON        `json:"probit"`
}

// probitJSON holds the settings of a multinomial probit classifier that are not in its tensors. The tensors are
// beta, E[β] of length P; beta.cov, P×P; w, C×D; alpha, E[α], C×D, 0 where a
// regressor was pruned; and gram, the lower triangle of E[KKᵀ], which a mode lacks. With S states of
// [Structured] all but alpha are replaced by state.probability, S; state.beta, S×P;
// state.w, S×(C·D); and state.gram. After Gibbs sampling they are beta, the fixed
// weights, and draws, chains × numbers. Relevances then holds, for each view, the number of features
// whose relevances were sampled, 0 for other views; it is absent if no relevances were sampled.
type probitJSON struct {
	Rule   string  `json:"rule"`
	ESS    float64 `json:"ess,omitempty"`
	Chains int     `json:"chains,omitempty"` // of Gibbs sampling
	Sweeps int     `json:"sweeps,omitempty"` // of each chain

	Relevances []int `json:"relevances,omitempty"`

	Moves []moveJSON `json:"moves,omitempty"` // of all chains, since the burn-in

	Vectors []int `json:"vectors,omitempty"` // which of the samples are the basis points

	Mode bool `json:"mode,omitempty"` // a mode of the posterior, not an approximation of it
}

// checkVectors returns an error if the relevance vectors, the basis points, are not d of n samples.
func checkVectors(vectors []int, d, n int) error {
	if len(vectors) != d {
		return fmt.Errorf("model: %d relevance vectors and %d basis points", len(vectors), d)
	}
	last := -1
	for i, v := range vectors {
		if v <= last || v >= n {
			return fmt.Errorf("model: relevance vector %d is sample %d after %d, of %d", i, v, last, n)
		}
		last = v
	}
	return nil
}

// moveJSON holds the acceptance of a Metropolis–Hastings step.
type moveJSON struct {
	Step     string `json:"step"`
	Tried    uint64 `json:"tried"`
	Accepted uint64 `json:"accepted"`
}

// rule returns the rule with the name in the file, or an error if it is not known.
func (j *probitJSON) rule() (probit.Rule, error) {
	for _, rule := range []probit.Rule{probit.RuleFixSum, probit.RuleWSum, probit.RuleBin, probit.RuleFixProd, probit.RuleWProd} {
		if rule.String() == j.Rule {
			return rule, nil
		}
	}
	return 0, fmt.Errorf("model: the rule %q is not known", j.Rule)
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
// Classes are kept as JSON.
func (m *ProbitClassifierModel[T]) Save(w io.Writer) error {
	var f fileWriter
	j := probitClassifierJSON{recordJSON: f.addRecord(&m.record), Classes: m.classes.encode(&f)}
	if m.draws != nil {
		j.designJSON = f.addDesign(m.design, m.design.D)
		j.Probit = f.addDraws(m.draws, m.trace.Sweeps)
	} else {
		s := m.posterior.State()
		j.designJSON = f.addDesign(m.design, s.Samples)
		j.Probit = probitJSON{Rule: s.Rule.String(), ESS: m.ess, Vectors: m.vectors, Mode: s.Point}
		f.addProbit(s)
	}
	return f.write(w, m.Kind(), j)
}

// addProbit adds an approximate posterior.
func (f *fileWriter) addProbit(s probit.State) {
	f.add("alpha", withoutInfinities(s.Alpha), s.Alpha.Rows, s.Alpha.Cols)
	if s.Components != nil {
		f.addComponents(s.Components)
		return
	}
	P := len(s.Beta)
	f.add("beta", s.Beta, P)
	f.add("beta.cov", flat(s.BetaCov), P, P)
	f.add("w", flat(s.W), s.W.Rows, s.W.Cols)
	if !s.Point {
		f.addLower("gram", s.Gram)
	}
}

// addComponents adds the states of [Structured].
func (f *fileWriter) addComponents(all []probit.Component) {
	var probability, beta, w, gram []float64
	for _, c := range all {
		probability = append(probability, c.Probability)
		beta = append(beta, c.Beta...)
		w = append(w, flat(c.W)...)
		gram = append(gram, packLower(c.Gram)...)
	}
	S := len(all)
	f.add("state.probability", probability, S)
	f.add("state.beta", beta, S, len(beta)/S)
	f.add("state.w", w, S, len(w)/S)
	f.add("state.gram", gram, S, len(gram)/S)
}

// addDraws adds the draws of Gibbs sampling.
func (f *fileWriter) addDraws(d *mcmc.ProbitDraws, sweeps int) probitJSON {
	s := d.State()
	j := probitJSON{Rule: s.Rule.String(), Chains: len(s.Chains), Sweeps: sweeps}
	if d.Parameters() > 0 {
		j.Relevances = s.Parameters
	}
	for _, v := range s.Moves {
		j.Moves = append(j.Moves, moveJSON(v))
	}
	all := slices.Concat(s.Chains...)
	f.add("beta", s.Beta, len(s.Beta))
	f.add("draws", all, len(s.Chains), len(all)/len(s.Chains))
	return j
}

func (m *ProbitClassifierModel[T]) decode(f *fileReader) error {
	var j probitClassifierJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if j.Trace.Collapsed != nil {
		return errors.New("model: trace.collapsed belongs to other kinds")
	}
	var err error
	if j.Probit.Chains != 0 {
		err = m.decodeDraws(f, &j)
	} else {
		err = m.decodePosterior(f, &j)
	}
	if err != nil {
		return err
	}
	m.classes, err = decodeClasses[T](f, j.Classes, len(j.Classes), len(m.active))
	return err
}

// decodePosterior reads an approximate posterior.
func (m *ProbitClassifierModel[T]) decodePosterior(f *fileReader, j *probitClassifierJSON) error {
	C, P, D := 0, f.size("beta"), j.Basis
	gram, S := "gram", f.size("state.probability")
	if S > 0 {
		P, gram = f.size("state.beta")/S, "state.gram"
	}
	if D > 0 {
		C = f.size("alpha") / D
	}
	packed := max(1, S) * (D * (D + 1) / 2)
	if j.Probit.Mode {
		packed = 0
	}
	if C < 2 || P < 1 || f.size(gram) != packed {
		return fmt.Errorf("model: %d classes, %d kernels and %d basis points do not fit the tensors", C, P, D)
	}
	var err error
	if m.onViews, err = f.takeOnViews(j.recordJSON, j.designJSON, C, P, false); err != nil {
		return err
	}
	s := probit.State{Samples: j.Samples, Alpha: f.takeMatrix("alpha", C, D)}
	if m.vectors = j.Probit.Vectors; m.vectors != nil {
		if err := checkVectors(m.vectors, D, j.Samples); err != nil {
			return err
		}
	}
	if S > 0 {
		s.Components = f.takeComponents(S, C, P, D)
	} else {
		s.Beta, s.BetaCov = f.take("beta", P), f.takeMatrix("beta.cov", P, P)
		s.W, s.Point = f.takeMatrix("w", C, D), j.Probit.Mode
		if !s.Point {
			s.Gram = f.takeLower("gram", D)
		}
	}
	if err := f.close(); err != nil {
		return err
	}
	if s.Rule, err = j.Probit.rule(); err != nil {
		return err
	}
	if j.Probit.Sweeps != 0 || j.Probit.Moves != nil || j.Probit.Relevances != nil {
		return errors.New("model: settings of Gibbs sampling without chains")
	}
	if !(j.Probit.ESS >= 0) {
		return fmt.Errorf("model: ess is %g", j.Probit.ESS)
	}
	restoreInfinities(s.Alpha)
	p, err := probit.NewPosterior(s)
	if err != nil {
		return err
	}
	return m.set(p, j.Probit.ESS)
}

// takeComponents reads S states of [Structured].
func (f *fileReader) takeComponents(S, C, P, D int) []probit.Component {
	packed := D * (D + 1) / 2
	probability, beta := f.take("state.probability", S), f.takeMatrix("state.beta", S, P)
	w, gram := f.takeMatrix("state.w", S, C*D), f.takeMatrix("state.gram", S, packed)
	if f.err != nil {
		return nil
	}
	all := make([]probit.Component, S)
	for s := range all {
		all[s] = probit.Component{
			Probability: probability[s], Beta: beta.Row(s),
			W: la.MatrixOf(C, D, w.Row(s)), Gram: unpackLower(D, gram.Row(s)),
		}
	}
	return all
}

// decodeDraws reads the draws of Gibbs sampling.
func (m *ProbitClassifierModel[T]) decodeDraws(f *fileReader, j *probitClassifierJSON) error {
	C, P, D := len(j.Classes), f.size("beta"), j.Basis
	chains, numbers := j.Probit.Chains, f.size("draws")
	if C < 2 || P < 1 || D < 1 || chains < 1 || numbers == 0 || numbers%chains != 0 {
		return fmt.Errorf("model: %d classes, %d kernels, %d basis points and %d chains do not fit the tensors", C, P, D, chains)
	}
	if j.Probit.ESS != 0 || j.Probit.Vectors != nil || j.Probit.Mode {
		return errors.New("model: ess, vectors and mode do not belong to a sampled fit")
	}
	if j.Probit.Sweeps < 1 {
		return fmt.Errorf("model: sweeps is %d", j.Probit.Sweeps)
	}
	var err error
	if m.onViews, err = f.takeOnViews(j.recordJSON, j.designJSON, C, P, false); err != nil {
		return err
	}
	if err := m.design.RestoreRelevances(j.Probit.Relevances); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	s := mcmc.ProbitState{Classes: C, Basis: D, Beta: f.take("beta", P), Parameters: m.design.RelevanceCounts()}
	draws := f.takeMatrix("draws", chains, numbers/chains)
	if err := f.close(); err != nil {
		return err
	}
	if s.Rule, err = j.Probit.rule(); err != nil {
		return err
	}
	for _, v := range j.Probit.Moves {
		s.Moves = append(s.Moves, mcmc.Move(v))
	}
	for c := range chains {
		s.Chains = append(s.Chains, draws.Row(c))
	}
	d, err := mcmc.NewProbitDraws(s)
	if err != nil {
		return err
	}
	return m.setDraws(d, j.Probit.Sweeps)
}

// withoutInfinities returns alpha with 0 instead of infinity.
func withoutInfinities(alpha la.Matrix[float64]) []float64 {
	out := slices.Clone(flat(alpha))
	for i, v := range out {
		if v-v != 0 {
			out[i] = 0
		}
	}
	return out
}

// restoreInfinities is the inverse of withoutInfinities.
func restoreInfinities(alpha la.Matrix[float64]) {
	for c := range alpha.Rows {
		for d, v := range alpha.Row(c) {
			if v == 0 {
				alpha.Row(c)[d] = math.Inf(1)
			}
		}
	}
}
