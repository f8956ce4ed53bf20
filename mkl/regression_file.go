package mkl

import (
	"errors"
	"fmt"
	"io"

	"github.com/bmkl/bmkl/vi/bemkl"
)

// targetsJSON holds the settings of regressions on sample weights.
type targetsJSON struct {
	designJSON
	Priors regressionPriorsJSON `json:"priors"`
	recordJSON
}

type regressionPriorsJSON struct {
	Lambda, Upsilon, Gamma, Omega, Epsilon Gamma
}

// addTargetFunctions adds the common part of all regressions on sample weights and returns
// the settings.
func (f *fileWriter) addTargetFunctions(m *targetFunctions, samples int, priors bemkl.RegressionPriors) targetsJSON {
	j := targetsJSON{recordJSON: f.addRecord(&m.record), Priors: regressionPriorsJSON(priors)}
	j.designJSON = f.addDesign(m.design, samples)
	f.addTargets(m.targets...)
	return j
}

// takeTargetFunctions reads the common part of all regressions on sample weights, with L
// targets and P kernels.
func (f *fileReader) takeTargetFunctions(j *targetsJSON, L, P int) (m targetFunctions, err error) {
	if m.onViews, err = f.takeOnViews(j.recordJSON, j.designJSON, L, P, false); err != nil {
		return m, err
	}
	if j.Priors.Upsilon == (Gamma{}) || j.Priors.Epsilon == (Gamma{}) {
		return m, errors.New("model: priors are missing")
	}
	m.targets = f.takeTargets(L)
	return m, f.err
}

// Save writes the model to a file that [Load] reads: the posterior, the kernels,
// the basis points' features and the record of the fit. The loaded model gives
// the same predictions, bit for bit. Every basis point is kept, because the
// predictive variance depends on all of them. The file takes about 8·D² bytes
// for D basis points, half of them for healing, and the size of their features.
func (m *RegressionModel) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encodeModel(&f))
}

func (m *RegressionModel) encodeModel(f *fileWriter) any {
	s := m.posterior.State()
	L, P, D := m.posterior.Dims()
	j := f.addTargetFunctions(&m.targetFunctions, s.Samples, s.Priors)
	f.add("upsilon", pairs(s.Upsilon), L, 2)
	f.add("epsilon", pairs(s.Epsilon), L, 2)
	f.add("gamma", pairs(s.Gamma), L, 2)
	f.add("omega", pairs(s.Omega), P, 2)
	f.add("lambda", flat(s.Lambda), L, D)
	f.add("a", flat(s.A), L, D)
	f.add("be.mean", s.BEMean, L+P)
	f.add("be.cov", flat(s.BECov), L+P, L+P)
	f.add("gram", packUpper(s.Gram), D*(D+1)/2)
	f.addHealing(s.Healing, L, D)
	if s.GroupNoise != nil {
		var groups []float64
		for _, own := range s.GroupNoise {
			groups = append(groups, pairs(own)...)
		}
		f.add("gaps.epsilon", groups, L, len(s.GroupNoise[0]), 2)
	}
	f.addGaps(m.gaps)
	return j
}

func (m *RegressionModel) decode(f *fileReader) error {
	var j targetsJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	L, P, D, err := f.weightedSizes(j.designJSON, "targets")
	if err != nil {
		return err
	}
	if m.targetFunctions, err = f.takeTargetFunctions(&j, L, P); err != nil {
		return err
	}
	s := bemkl.RegressionState{
		Priors: bemkl.RegressionPriors(j.Priors), Samples: j.Samples,
		Lambda: f.takeMatrix("lambda", L, D), A: f.takeMatrix("a", L, D),
		Upsilon: unpair(f.take("upsilon", L, 2)), Epsilon: unpair(f.take("epsilon", L, 2)),
		Gamma: unpair(f.take("gamma", L, 2)), Omega: unpair(f.take("omega", P, 2)),
		BEMean: f.take("be.mean", L+P), BECov: f.takeCovariance("be.cov", L+P),
		Gram: f.takeUpper("gram", D), Healing: f.takeHealing(L, D),
	}
	if f.has("gaps.epsilon") {
		C := f.size("gaps.epsilon") / (2 * L)
		groups := unpair(f.take("gaps.epsilon", L, C, 2))
		for o := 0; o < L && f.err == nil; o++ {
			s.GroupNoise = append(s.GroupNoise, groups[o*C:(o+1)*C])
		}
	}
	if f.err == nil {
		m.gaps, f.err = f.takeGaps(m.design, L, s.GroupNoise)
	}
	if err := f.close(); err != nil {
		return err
	}
	p, err := bemkl.NewRegressionPosterior(s)
	if err != nil {
		return err
	}
	// This also factorises the precision of the sample weights, and so rejects one
	// that is not positive definite.
	return m.set(p)
}

// addHealing adds the healing of the predictions of L targets, if h is not nil.
func (f *fileWriter) addHealing(h *bemkl.Healing, L, D int) {
	if h == nil {
		return
	}
	f.addLower("healing.kernel", h.Kernel)
	f.add("healing.residual", flat(h.Residual), L, D)
	f.add("healing.precision", h.Precision, L)
	if h.Observed.Rows > 0 {
		f.add("healing.observed", flat(h.Observed), L, D)
	}
}

// takeHealing reads the healing of the predictions of L targets, or returns nil if the file has
// none.
func (f *fileReader) takeHealing(L, D int) *bemkl.Healing {
	if !f.has("healing.kernel") {
		return nil
	}
	h := &bemkl.Healing{
		Kernel: f.takeLower("healing.kernel", D), Residual: f.takeMatrix("healing.residual", L, D),
		Precision: f.take("healing.precision", L),
	}
	if f.has("healing.observed") {
		h.Observed = f.takeMatrix("healing.observed", L, D)
	}
	if f.err == nil {
		h.Kernel.MirrorLower()
	}
	return h
}

// weightedSizes returns the numbers of functions, kernels and basis points of a
// model whose functions share their kernel weights.
func (f *fileReader) weightedSizes(j designJSON, functions string) (L, P, D int, err error) {
	L, P, D = f.size("gamma")/2, f.size("omega")/2, j.Basis
	if L < 1 || P < 1 || D < 1 || D != f.size("lambda")/L {
		return 0, 0, 0, fmt.Errorf("model: %d %s, %d kernels and %d basis points do not fit the tensors", L, functions, P, D)
	}
	return L, P, D, nil
}
