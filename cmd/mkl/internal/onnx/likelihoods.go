package onnx

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/vi/mgp"
)

// observed exports the function of a model of counts, grades or times: its mean without the level, and its variance.
func (e *exporter) observed() (m processesJSON, f moments, err error) {
	if err := json.Unmarshal(e.model, &m); err != nil {
		return m, f, err
	}
	if err := e.open(m.designJSON); err != nil {
		return m, f, err
	}
	effects := e.levels(m.Levels, m.designJSON)
	k, err := e.kernels("", m.designJSON, m.Processes[0].Widths)
	if err != nil {
		return m, f, err
	}
	f = e.function("process.0.", k, m.Processes[0].Sites)
	if effects != nil {
		f.mean = e.add(f.mean, effects.mean)
		f.variance = e.add(f.variance, e.op("Max", []value{e.shift(effects.variance, -m.Levels.Usual), e.number(0)}))
	}
	return m, f, nil
}

// levels puts the effects of levels in the places of codes, and returns the moments of their sum; nil without effects. A code that the fit had not seen
// has the effect 0 and the prior's variance.
func (e *exporter) levels(l *levelsJSON, d designJSON) (sum *moments) {
	if l == nil {
		return nil
	}
	for i, c := range l.Columns {
		all := e.matrix(fmt.Sprintf("levels.%d", i), 3) // code, mean, variance
		codes, of := make([]float64, all.Rows), la.NewMatrix[float64](all.Rows, 2)
		for k := range all.Rows {
			codes[k] = all.At(k, 0)
			of.Set(k, 0, all.At(k, 1))
			of.Set(k, 1, all.At(k, 2)-c.Prior)
		}
		x := e.inputs[c.Input]
		is := e.cast(e.op("Equal", []value{e.columns(x, c.Column), e.row(codes)}), e.real)
		both := e.product(is, e.matrixOf(of))
		effect := moments{e.columns(both, 0), e.shift(e.columns(both, 1), c.Prior)}
		columns := make([]value, d.Inputs[c.Input].Cols)
		for j := range columns {
			if columns[j] = effect.mean; j != c.Column {
				columns[j] = e.columns(x, j)
			}
		}
		e.inputs[c.Input] = e.sideBySide(columns)
		if sum == nil {
			sum = &effect
			continue
		}
		sum = &moments{e.add(sum.mean, effect.mean), e.add(sum.variance, effect.variance)}
	}
	return sum
}

// counts exports the mean and the standard deviation of counts with the exposure 1: where the logarithm of the mean count has the
// distribution N(m, v), the mean M = exp(m + v/2) and the variance M + M²·((1 + 1/r)·eᵛ − 1), unless the law is double Poisson.
func (e *exporter) counts() error {
	m, f, err := e.observed()
	if err != nil {
		return err
	}
	shape, more := m.Processes[0].Shape, 1.0
	if m.Processes[0].Likelihood == mkl.DoublePoisson.String() {
		e.targets([]moments{e.narrow(moments{e.shift(f.mean, shape[0]), f.variance}, mgp.Precision(shape[1]))})
		return nil
	}
	if len(shape) > 1 {
		more += math.Exp(-shape[1])
	}
	mean := e.exp(e.shift(e.add(f.mean, e.scale(f.variance, 0.5)), shape[0]))
	spread := e.shift(e.scale(e.exp(f.variance), more), -1)
	e.targets([]moments{{mean, e.add(mean, e.mul(e.square(mean), spread))}})
	return nil
}

// grades exports the probabilities of grades: the differences of Φ((c − m)/√(1 + v)) at neighbouring cut points c.
func (e *exporter) grades() error {
	m, f, err := e.observed()
	if err != nil {
		return err
	}
	cuts := e.row(mgp.CutPoints(m.Processes[0].Shape))
	upTo := e.exp(e.logNormalCDF(e.div(e.sub(cuts, f.mean), e.sqrt(e.shift(f.variance, 1)))))
	zero := e.sub(f.mean, f.mean)
	above, below := e.sideBySide([]value{upTo, e.shift(zero, 1)}), e.sideBySide([]value{zero, upTo})
	e.classes(e.op("Max", []value{e.sub(above, below), e.number(0)}), m.Classes)
	return nil
}
