package mkl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/probit"
)

// Save writes the model to a file that [Load] and [LoadProbitClassifier] read, like
// [RegressionModel.Save]. Classes are kept as JSON.
func (m *ProbitClassifierModel[T]) Save(w io.Writer) error {
	f, err := m.save()
	if err != nil {
		return err
	}
	if m.draws != nil {
		return m.saveDraws(f, w)
	}
	s := m.posterior.State()
	C, P, D := m.posterior.Dims()
	f.Samples = s.Samples
	f.Probit = &probitJSON{Rule: s.Rule.String(), ESS: m.ess}
	f.add("alpha", withoutInfinities(s.Alpha), C, D)
	if s.Components != nil {
		f.addComponents(s.Components)
	} else {
		f.add("beta", s.Beta, P)
		f.add("beta.cov", flat(s.BetaCov), P, P)
		f.add("w", flat(s.W), C, D)
		f.add("gram", packLower(s.Gram), D*(D+1)/2)
	}
	if err := encodeClasses(f, m.classes, m.text); err != nil {
		return err
	}
	return f.write(w, kindProbitClassifier)
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

// components reads what addComponents wrote of S states.
func (f *modelFile) components(S int) []probit.Component {
	packed := f.D * (f.D + 1) / 2
	probability, beta := f.take("state.probability", S), f.matrix("state.beta", S, f.P)
	w, gram := f.matrix("state.w", S, f.L*f.D), f.matrix("state.gram", S, packed)
	if f.err != nil {
		return nil
	}
	all := make([]probit.Component, S)
	for s := range all {
		all[s] = probit.Component{
			Probability: probability[s], Beta: beta.Row(s),
			W: la.MatrixOf(f.L, f.D, w.Row(s)), Gram: unpackLower(f.D, gram.Row(s)),
		}
	}
	return all
}

// LoadProbitClassifier is [Load] for a file that must hold a
// [ProbitClassifierModel] whose classes are of type T.
func LoadProbitClassifier[T comparable](r io.Reader) (*ProbitClassifierModel[T], error) {
	return loadAs[*ProbitClassifierModel[T]](load(r, classReader(typedClass[T])))
}

func loadProbitClassifier[T comparable](f modelFile, decode func(json.RawMessage) (T, error)) (Model, error) {
	if f.Probit.Chains != 0 {
		return loadProbitDraws(f, decode)
	}
	// Sizes come from elements that are there, not from shapes, which cost nothing.
	f.L, f.P, f.D = 0, len(f.ts["beta"].data), f.Basis
	gram, S := "gram", len(f.ts["state.probability"].data)
	if S > 0 {
		f.P, gram = len(f.ts["state.beta"].data)/S, "state.gram"
	}
	if f.D > 0 {
		f.L = len(f.ts["alpha"].data) / f.D
	}
	if f.L < 2 || f.P < 1 || len(f.ts[gram].data) != max(1, S)*(f.D*(f.D+1)/2) {
		return nil, fmt.Errorf("model: %d classes, %d kernels and %d basis points do not fit the tensors", f.L, f.P, f.D)
	}
	if f.Margin != 0 || f.SigmaG != 0 || f.Priors != (priorsJSON{}) || f.Trace.Collapsed != nil {
		return nil, errors.New("model: settings of another kind")
	}
	base, err := f.fitted()
	if err != nil {
		return nil, err
	}
	s := probit.State{Rule: ruleNamed(f.Probit.Rule), Samples: f.Samples, Alpha: f.matrix("alpha", f.L, f.D)}
	if S > 0 {
		s.Components = f.components(S)
	} else {
		s.Beta, s.BetaCov = f.take("beta", f.P), f.matrix("beta.cov", f.P, f.P)
		s.W = f.matrix("w", f.L, f.D)
		if packed := f.take("gram", f.D*(f.D+1)/2); f.err == nil {
			s.Gram = unpackLower(f.D, packed)
		}
	}
	if err := f.unexpected(); err != nil {
		return nil, err
	}
	if s.Rule < 0 {
		return nil, fmt.Errorf("model: the rule %q is not known", f.Probit.Rule)
	}
	if f.Probit.Sweeps != 0 || f.Probit.Moves != nil {
		return nil, errors.New("model: settings of Gibbs sampling")
	}
	if !(f.Probit.ESS >= 0) {
		return nil, fmt.Errorf("model: ess is %g", f.Probit.ESS)
	}
	restoreInfinities(s.Alpha)
	p, err := probit.NewPosterior(s)
	if err != nil {
		return nil, err
	}
	m := &ProbitClassifierModel[T]{fitted: base, text: f.Classes}
	m.set(p, base.trace, f.Probit.ESS)
	if m.classes, err = decodeClasses(f, decode); err != nil {
		return nil, err
	}
	if len(m.classes) != f.L {
		return nil, fmt.Errorf("model: %d classes with %d functions", len(m.classes), f.L)
	}
	return m, m.prepare(p.State().W)
}

// restoreInfinities undoes withoutInfinities.
func restoreInfinities(alpha la.Matrix[float64]) {
	for c := range alpha.Rows {
		for d, v := range alpha.Row(c) {
			if v == 0 {
				alpha.Row(c)[d] = math.Inf(1)
			}
		}
	}
}
