package onnx

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// function is a Gaussian process of the kernels k given what was observed, whose tensors
// have names that begin with the prefix: its mean and its variance without noise. Sites say that it
// is an approximation by sites.
func (e *exporter) function(prefix string, k []kernelValues, sites bool) moments {
	var crosses, selves []value
	for p, gamma := range e.take(prefix + "gamma") {
		crosses = append(crosses, e.scale(k[p].cross, 1/gamma))
		selves = append(selves, e.scale(k[p].self, 1/gamma))
	}
	cross, self := e.sum(crosses), e.sum(selves)
	alpha := e.take(prefix + "alpha")
	known := inverseOf(e.lower(prefix+"factor", len(alpha)))
	if sites {
		for i, precision := range e.take(prefix + "sites") {
			la.Scal(math.Sqrt(precision), known.Row(i))
		}
	}
	left := e.sub(self, e.sumOver(e.square(e.product(cross, e.matrixOf(known))), 1, 1))
	return moments{e.product(cross, e.column(alpha)), e.op("Max", []value{left, e.number(0)})}
}

// process exports a process of one target whose tensors have names that begin with the
// prefix, in the target's units.
func (e *exporter) process(prefix string, m processesJSON) (moments, error) {
	var parts []moments
	if m.Draws != nil {
		for i, d := range m.Draws {
			k, err := e.kernels(prefix, m.designJSON, d.Widths)
			if err != nil {
				return moments{}, err
			}
			p := e.function(fmt.Sprintf("%sdraw.%d.", prefix, i), k, m.Processes[0].Sites)
			parts = append(parts, moments{p.mean, e.shift(p.variance, 1/d.Tau)})
		}
		weights := slices.Repeat([]float64{1 / float64(len(parts))}, len(parts))
		return e.restore(prefix, 0, e.mixture(parts, weights)), nil
	}
	f := m.Processes[0]
	k, err := e.kernels(prefix, m.designJSON, f.Widths)
	if err != nil {
		return moments{}, err
	}
	p := e.function(prefix+"process.0.", k, f.Sites)
	if f.Noise == nil {
		p.variance = e.shift(p.variance, 1/f.Tau)
	} else {
		most := special.Log(float64(m.Basis) / f.Tau) // as in vi/mgp
		h := e.function(prefix+"process.0.noise.", k, true)
		log := e.shift(e.add(h.mean, e.scale(h.variance, 0.5)), f.Noise.Level)
		p.variance = e.add(p.variance, e.exp(e.op("Min", []value{log, e.number(most)})))
	}
	return e.restore(prefix, 0, p), nil
}

// mixture mixes parts with weights that sum to 1.
func (e *exporter) mixture(parts []moments, weights []float64) moments {
	if len(parts) == 1 {
		return parts[0]
	}
	var means, variances []value
	for i, p := range parts {
		means = append(means, e.scale(p.mean, weights[i]))
	}
	mean := e.sum(means)
	for i, p := range parts {
		variances = append(variances, e.scale(e.add(p.variance, e.square(e.sub(p.mean, mean))), weights[i]))
	}
	return moments{mean, e.sum(variances)}
}

// probabilities exports the classes of processes, T×K.
func (e *exporter) probabilities(prefix string, m processesJSON) (value, error) {
	var odds []value // logarithms
	for o, f := range m.Processes {
		k, err := e.kernels(prefix, m.designJSON, f.Widths)
		if err != nil {
			return "", err
		}
		p := e.function(fmt.Sprintf("%sprocess.%d.", prefix, o), k, f.Sites)
		z := e.div(p.mean, e.sqrt(e.shift(p.variance, 1/f.Tau)))
		odds = append(odds, e.sub(e.logNormalCDF(z), e.logNormalCDF(e.scale(z, -1))))
	}
	if len(m.Classes) == 2 {
		odds = []value{e.sub(odds[0], odds[0]), odds[0]}
	}
	sharpness := m.Sharpness
	if sharpness == 0 { // files from before there was one
		sharpness = 1
	}
	return e.softmax(e.scale(e.sideBySide(odds), sharpness)), nil
}

// processes exports one multiple Gaussian process.
func (e *exporter) processes() error {
	var m processesJSON
	if err := json.Unmarshal(e.model, &m); err != nil {
		return err
	}
	if err := e.open(m.designJSON); err != nil {
		return err
	}
	if m.Classes != nil {
		p, err := e.probabilities("", m)
		if err != nil {
			return err
		}
		e.classes(p, m.Classes)
		return nil
	}
	p, err := e.process("", m)
	if err != nil {
		return err
	}
	e.targets([]moments{p})
	return nil
}
