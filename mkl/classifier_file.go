package mkl

import (
	"encoding/json"
	"io"

	"github.com/bmkl/bmkl/vi/bemkl"
)

// scoresJSON holds the settings of a model of scores.
type scoresJSON struct {
	designJSON
	Priors scorePriorsJSON `json:"priors"`
	recordJSON
	Margin float64 `json:"margin,omitempty"`
	SigmaG float64 `json:"sigma_g,omitempty"`
}

type scorePriorsJSON struct {
	Lambda, Gamma, Omega Gamma
}

// classifierJSON holds the settings of a classifier.
type classifierJSON struct {
	scoresJSON
	Classes []json.RawMessage `json:"classes,omitempty"`
}

// addScores adds the scores and returns their settings.
func (f *fileWriter) addScores(m *scores) scoresJSON {
	s := m.posterior.State()
	L, P, D := m.posterior.Dims()
	j := scoresJSON{recordJSON: f.addRecord(&m.record), Priors: scorePriorsJSON(s.Priors), Margin: s.Margin, SigmaG: s.SigmaG}
	j.designJSON = f.addDesign(m.design, s.Samples)
	f.add("gamma", pairs(s.Gamma), L, 2)
	f.add("omega", pairs(s.Omega), P, 2)
	f.add("lambda", flat(s.Lambda), L, D)
	f.add("a", flat(s.A), L, D)
	f.add("be.mean", s.BEMean, L+P)
	f.add("be.cov", flat(s.BECov), L+P, L+P)
	f.add("gram", packUpper(s.Gram), D*(D+1)/2)
	f.addGaps(m.gaps)
	return j
}

// takeScores reads scores, and every tensor that is left.
func (f *fileReader) takeScores(j *scoresJSON) (m scores, err error) {
	L, P, D, err := f.weightedSizes(j.designJSON, "functions")
	if err != nil {
		return m, err
	}
	if m.onViews, err = f.takeOnViews(j.recordJSON, j.designJSON, L, P, false); err != nil {
		return m, err
	}
	s := bemkl.ClassificationState{
		Priors: bemkl.ClassificationPriors(j.Priors), Margin: j.Margin, SigmaG: j.SigmaG, Samples: j.Samples,
		Lambda: f.takeMatrix("lambda", L, D), A: f.takeMatrix("a", L, D),
		Gamma: unpair(f.take("gamma", L, 2)), Omega: unpair(f.take("omega", P, 2)),
		BEMean: f.take("be.mean", L+P), BECov: f.takeCovariance("be.cov", L+P),
		Gram: f.takeUpper("gram", D),
	}
	if m.gaps, err = f.takeGaps(m.design, L, nil); err != nil {
		return m, err
	}
	if err := f.close(); err != nil {
		return m, err
	}
	p, err := bemkl.NewClassificationPosterior(s)
	if err != nil {
		return m, err
	}
	return m, m.set(p)
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
// Classes are kept as JSON.
func (m *ClassifierModel[T]) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encodeModel(&f))
}

func (m *ClassifierModel[T]) encodeModel(f *fileWriter) any {
	return classifierJSON{scoresJSON: f.addScores(&m.scores), Classes: m.classes.encode(f)}
}

func (m *ClassifierModel[T]) decode(f *fileReader) error {
	var j classifierJSON
	err := f.settings(&j)
	if err != nil {
		return err
	}
	if m.scores, err = f.takeScores(&j.scoresJSON); err != nil {
		return err
	}
	m.classes, err = decodeClasses[T](f, j.Classes, functions(len(j.Classes)), len(m.active))
	return err
}
