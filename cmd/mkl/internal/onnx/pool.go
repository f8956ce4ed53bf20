package onnx

import (
	"encoding/json"
	"fmt"
	"math"
)

// pool exports a pool. Of very many samples it may have a member on landmarks, one with trees, and a local one,
// which searches for the nearest samples.
func (e *exporter) pool() error {
	var m poolJSON
	if err := json.Unmarshal(e.model, &m); err != nil {
		return err
	}
	classes := e.kind == "pool-classifier"
	instead := "-model landmarks learns numbers by a model that can be exported, and so does a fit of at most 3000 samples"
	if classes {
		instead = "a fit of at most 3000 samples learns classes by a model that can be exported"
	}
	switch {
	case m.Local != nil:
		return fmt.Errorf("the member %q, with %.0f %% of the weight, searches for samples, which a graph has no operators for: %s",
			m.Local.Name, 100*m.Local.Weight, instead)
	case m.Trees != nil:
		return fmt.Errorf("the member %q, with %.0f %% of the weight, has trees, which the operators of tensors do not have: %s",
			m.Trees.Name, 100*m.Trees.Weight, instead)
	case m.Levels != nil:
		return fmt.Errorf("the pool has effects of the levels of categories, which it looks up by codes: %s", instead)
	case classes && m.Landmarks != nil:
		return fmt.Errorf("the pool is a model of classes with landmarks, which cannot be exported: " +
			"-model mgp and -model bmkl learn one that can")
	case classes:
		return e.poolOfClasses(m)
	}
	return e.poolOfNumbers(m)
}

// poolOfNumbers exports exact members and a member on landmarks.
func (e *exporter) poolOfNumbers(m poolJSON) error {
	var design designJSON
	if len(m.Members) > 0 {
		design = m.Members[0].Model.designJSON
	} else {
		design = m.Landmarks.Model.Plan
	}
	if err := e.open(design); err != nil {
		return err
	}
	for k, of := range m.Edges {
		low, high := make([]float64, len(of)), make([]float64, len(of))
		for j, v := range of {
			low[j], high[j] = v[0], v[1]
		}
		e.inputs[k] = e.op("Min", []value{e.op("Max", []value{e.inputs[k], e.row(low)}), e.row(high)})
	}
	p, err := e.poolMoments("", m)
	if err != nil {
		return err
	}
	e.targets([]moments{e.scaled(p, m.Scale)})
	return nil
}

// poolMoments returns the moments of what a pool has learned. The names of its tensors begin with the prefix.
func (e *exporter) poolMoments(prefix string, m poolJSON) (moments, error) {
	var parts []moments
	var weights []float64
	member := func(i int) string { return fmt.Sprintf("%smember.%d.", prefix, i) }
	for i, one := range m.Members {
		p, err := e.process(member(i), one.Model)
		if err != nil {
			return moments{}, err
		}
		parts, weights = append(parts, p), append(weights, one.Weight)
	}
	if l := m.Landmarks; l != nil {
		p, err := e.landmarks(member(len(m.Members)), l.Model)
		if err != nil {
			return moments{}, err
		}
		parts, weights = append(parts, p), append(weights, l.Weight)
	}
	if t := m.Table; t != nil {
		var p moments
		err := e.ofTable(func() (err error) {
			p, err = e.poolMoments(member(len(m.Members)), t.Model)
			return err
		})
		if err != nil {
			return moments{}, err
		}
		parts, weights = append(parts, p), append(weights, t.Weight)
	}
	return e.mixture(parts, weights), nil
}

// ofTable calls do while all inputs are one, with the columns of all side by side.
func (e *exporter) ofTable(do func() error) error {
	inputs := e.inputs
	e.inputs = []value{e.sideBySide(inputs)}
	err := do()
	e.inputs = inputs
	return err
}

// scaled turns the moments of what a pool has learned into moments of the target: docs/theory/vecchia.md, "Scales of the target".
func (e *exporter) scaled(p moments, s *scaleJSON) moments {
	if s == nil {
		return p
	}
	if len(s.Knots) > 0 {
		log := []value{e.number(s.Log[0])}
		for i := 1; i < len(s.Knots); i++ {
			low, high := s.Knots[i-1], s.Knots[i]
			within := e.op("Min", []value{e.op("Max", []value{p.mean, e.number(low)}), e.number(high)})
			log = append(log, e.scale(e.shift(within, -low), (s.Log[i]-s.Log[i-1])/(high-low)))
		}
		p.variance = e.mul(p.variance, e.exp(e.sum(log)))
	}
	if s.Step > 0 {
		p.variance = e.op("Max", []value{p.variance, e.leastVariance(p.mean, s)})
	}
	bounded := func(mean value, target func(z value) value) value {
		if s.Largest == 0 {
			return mean
		}
		sd := e.sqrt(p.variance)
		mean = e.op("Min", []value{mean, e.op("Max", []value{target(e.op("Sub", []value{p.mean, sd})), e.number(s.Largest)})})
		if s.Learned == "square root" {
			mean = e.op("Min", []value{mean, target(e.add(p.mean, sd))})
		}
		return mean
	}
	square := e.square(p.mean)
	switch s.Learned {
	case "square root":
		return moments{
			bounded(e.add(square, p.variance), func(z value) value { return e.square(e.op("Max", []value{z, e.number(0)})) }),
			e.add(e.scale(e.square(p.variance), 2), e.scale(e.mul(square, p.variance), 4)),
		}
	case "logarithm":
		const mostLogVariance, mostLogTarget = 100, 300
		v := e.op("Min", []value{p.variance, e.number(mostLogVariance)})
		mean := e.exp(e.op("Min", []value{e.add(p.mean, e.scale(v, 0.5)), e.number(mostLogTarget)}))
		variance := e.mul(e.shift(e.exp(v), -1), e.square(mean))
		return moments{bounded(mean, func(z value) value { return e.exp(e.op("Min", []value{z, e.number(mostLogTarget)})) }), variance}
	}
	return p
}

// leastVariance returns the least variance of a learned value with the given mean, of a target in steps: docs/theory/rounding.md.
func (e *exporter) leastVariance(mean value, s *scaleJSON) value {
	least := s.Step * s.Step / 12
	switch s.Learned {
	case "square root":
		square := e.square(mean)
		return e.div(e.number(0.5*least), e.add(square, e.sqrt(e.shift(e.square(square), 0.5*least))))
	case "logarithm":
		const most = 80 // whose exponential a float32 holds; far below all targets
		x := e.exp(e.op("Min", []value{e.shift(e.scale(mean, -2), math.Log(least)), e.number(most)}))
		root := e.sqrt(e.shift(e.scale(x, 4), 1))
		return e.log(e.shift(e.div(e.scale(x, 2), e.shift(root, 1)), 1))
	}
	return e.number(least)
}

// poolOfClasses exports processes of classes, and of indicators of classes.
func (e *exporter) poolOfClasses(m poolJSON) error {
	var design designJSON
	var classes []json.RawMessage
	if len(m.Members) > 0 {
		design, classes = m.Members[0].Model.designJSON, m.Members[0].Model.Classes
	} else {
		design, classes = m.Indicators[0].Model.designJSON, m.Indicators[0].Model.Classes
	}
	if err := e.open(design); err != nil {
		return err
	}
	shares, err := e.poolProbabilities("", m)
	if err != nil {
		return err
	}
	e.classes(shares, classes)
	return nil
}

// poolProbabilities returns the probabilities of the classes. The names of the pool's tensors begin with the prefix.
func (e *exporter) poolProbabilities(prefix string, m poolJSON) (value, error) {
	var shares []value
	add := func(p value, weight float64, err error) error {
		if err == nil {
			shares = append(shares, e.scale(p, weight))
		}
		return err
	}
	member := func(i int) string { return fmt.Sprintf("%smember.%d.", prefix, i) }
	for i, one := range m.Members {
		p, err := e.probabilities(member(i), one.Model)
		if err := add(p, one.Weight, err); err != nil {
			return "", err
		}
	}
	for i, one := range m.Indicators {
		p, err := e.indicators(member(len(m.Members)+i), one.Model)
		if err := add(p, one.Weight, err); err != nil {
			return "", err
		}
	}
	if t := m.Table; t != nil {
		err := e.ofTable(func() error {
			p, err := e.poolProbabilities(member(len(m.Members)+len(m.Indicators)), t.Model)
			return add(p, t.Weight, err)
		})
		if err != nil {
			return "", err
		}
	}
	return e.sum(shares), nil
}
