package mkl

import (
	"fmt"
	"slices"
)

// LeaveOneOut returns the prediction of every training sample from all others, in the
// target's units, with the scales and the noise that were learned from all samples. It costs nothing. It is
// slightly too good if few samples determined the scales, unless predictions are averaged over draws: each draw
// is then weighted as if the sample had been left out. It is nil for a loaded model, and for a
// [FactorisedGP], which does not compute it.
//
// Source: C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine
// learning", 2006, equations 5.10 to 5.12; for varying noise docs/theory/varying-noise.md, for
// draws docs/theory/mgp.md, section 20.
func (m *MultiGPModel) LeaveOneOut() *Prediction {
	if m.leaveOneOut == nil {
		return nil
	}
	l := m.leaveOneOut[0]
	out := newPrediction(1, len(l.Mean), PredictOptions{})
	m.target.restore(out, 0, 0, l.Mean, l.Variance)
	return out
}

// LeaveOneOut returns the mean and the variance of the mixture of the members' leave-one-out
// predictions of the training samples; see [MultiGPModel.LeaveOneOut].
// The weights of the mixture were fitted to all samples. It is nil for a loaded model,
// and if the members were fitted to a part of the samples.
func (m *AutoModel) LeaveOneOut() *Prediction {
	if m.Samples() < m.of || m.onLandmarks || m.members[0].leaveOneOut == nil {
		return nil
	}
	out, _ := m.mixed(func(i int) (*Prediction, error) { // there are no errors
		return m.models[i].(interface{ LeaveOneOut() *Prediction }).LeaveOneOut(), nil
	})
	m.restore(out)
	return out
}

// LeaveOneOut returns the leave-one-out probabilities [sample][class] of the classes of every training
// sample, with the scales that were learned from all samples. labels must be the labels of
// the fit. It is nil for a loaded model and for a [FactorisedGPClassifier]; see
// [MultiGPModel.LeaveOneOut].
func (m *MultiGPClassifierModel[T]) LeaveOneOut(labels []T) ([][]float64, error) {
	if m.leaveOneOut == nil {
		return nil, nil
	}
	if len(labels) != m.Samples() {
		return nil, fmt.Errorf("mkl: %d labels where the fit had %d", len(labels), m.Samples())
	}
	class := make([]int, len(labels))
	for i, label := range labels {
		if class[i] = slices.Index(m.classes.names, label); class[i] < 0 {
			return nil, fmt.Errorf("mkl: labels[%d] is %s, which is not a class of the model", i, brief(label))
		}
	}
	score := m.leftOutScores(class)
	if score == nil {
		return nil, nil
	}
	out := rows(len(labels), len(m.classes.names))
	sharpenAll(m.sharpness, score, out)
	return out, nil
}

// LeaveOneOut returns the mean of the members' leave-one-out probabilities [sample][class] of the training
// samples; see [MultiGPClassifierModel.LeaveOneOut]. The weights of the members were fitted to all samples. It is
// nil for a loaded model, and if the members were fitted to a part of the samples.
func (m *AutoClassifierModel[T]) LeaveOneOut(labels []T) ([][]float64, error) {
	if m.Samples() < m.of || m.landmarks != nil {
		return nil, nil
	}
	out := rows(len(labels), len(m.Classes()))
	for i, model := range m.models {
		member, ok := model.(interface {
			LeaveOneOut(labels []T) ([][]float64, error)
		})
		if !ok {
			return nil, nil
		}
		p, err := member.LeaveOneOut(labels)
		if p == nil || err != nil {
			return nil, err
		}
		for t := range p {
			for c, v := range p[t] {
				out[t][c] += float64(m.weights[i] * v)
			}
		}
	}
	return out, nil
}

// LeaveOneOut returns the leave-one-out probabilities [sample][class] of the training samples, with the amplitudes and the
// softmax that were learned from all samples. It is nil for a loaded model.
func (m *indicatorModel[T]) LeaveOneOut(labels []T) ([][]float64, error) {
	if m.leftOut == nil {
		return nil, nil
	}
	if len(labels) != len(m.leftOut) {
		return nil, fmt.Errorf("mkl: %d labels where the fit had %d", len(labels), len(m.leftOut))
	}
	return m.leftOut, nil
}
