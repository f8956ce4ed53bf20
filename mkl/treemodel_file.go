package mkl

import (
	"errors"
	"fmt"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/trees"
)

// treesJSON holds the settings of a member with trees. Its tensors are features, as of a local model; knots, of all curves; at, where the
// splits of all trees are; mean, of all heights; and covariance, the lower triangle of their covariance, row by row.
type treesJSON struct {
	Samples int         `json:"samples"`
	Inputs  []inputJSON `json:"inputs"`
	Columns [][2]int    `json:"columns"`          // input and column of each feature
	Target  []float64   `json:"target"`           // mean and standard deviation
	Curves  [][2]int    `json:"curves,omitempty"` // feature and number of knots of each
	Trees   [][][3]int  `json:"trees,omitempty"`  // feature, low and high of each split
	Noise   float64     `json:"noise"`
	Factor  float64     `json:"factor"`
}

// encode adds the tensors and returns the settings.
func (m *treeModel) encode(f *fileWriter) treesJSON {
	s := m.posterior.State()
	j := treesJSON{Samples: m.Samples(), Target: []float64{m.target.mean, m.target.sd}, Noise: s.Noise, Factor: s.Factor}
	j.Inputs, j.Columns = m.features.encode(f, m.design)
	var knots []float64
	for _, c := range s.Curves {
		j.Curves = append(j.Curves, [2]int{c.Feature, len(c.Knots)})
		knots = append(knots, c.Knots...)
	}
	f.add("knots", knots, len(knots))
	j.Trees = f.addTrees(s.Trees)
	f.add("mean", s.Mean, len(s.Mean))
	f.addLower("covariance", s.Covariance)
	return j
}

// take fills in the model from its settings and tensors.
func (m *treeModel) take(f *fileReader, j treesJSON) (err error) {
	if len(j.Target) != 2 || !(j.Target[1] > 0) || vec.FirstNonFinite(j.Target) >= 0 {
		return errors.New("target: a mean and a positive standard deviation are needed")
	}
	m.target = target{j.Target[0], j.Target[1]}
	if m.onViews, m.features, err = takeTreeFeatures(f, j.Samples, j.Inputs, j.Columns); err != nil {
		return err
	}
	s := trees.State{Noise: j.Noise, Factor: j.Factor}
	knots := f.take("knots", f.size("knots"))
	if f.err != nil {
		return f.err
	}
	heights := len(knots)
	for i, c := range j.Curves {
		if c[1] < 0 || c[1] > len(knots) {
			return fmt.Errorf("curves[%d] has %d knots where %d are left", i, c[1], len(knots))
		}
		s.Curves = append(s.Curves, trees.Curve{Feature: c[0], Knots: knots[:c[1]:c[1]]})
		knots = knots[c[1]:]
	}
	if len(knots) > 0 {
		return fmt.Errorf("%d knots belong to no curve", len(knots))
	}
	var leaves int
	if s.Trees, leaves, err = f.takeTrees(j.Trees); err != nil {
		return err
	}
	heights += leaves
	s.Mean, s.Covariance = f.take("mean", heights), f.takeLower("covariance", heights)
	if f.err != nil {
		return f.err
	}
	m.posterior, err = trees.NewPosterior(s, len(m.features.columns))
	return err
}

// addTrees adds the tensor at, where the splits of all trees are, and returns feature, low and high of each split.
func (f *fileWriter) addTrees(all []trees.Tree) (settings [][][3]int) {
	var at []float64
	for _, t := range all {
		splits := make([][3]int, len(t.Splits))
		for k, v := range t.Splits {
			splits[k] = [3]int{v.Feature, v.Low, v.High}
			at = append(at, v.At)
		}
		settings = append(settings, splits)
	}
	f.add("at", at, len(at))
	return settings
}

// takeTrees reads trees, and returns how many leaves they have.
func (f *fileReader) takeTrees(settings [][][3]int) (all []trees.Tree, leaves int, err error) {
	at := f.take("at", f.size("at"))
	if f.err != nil {
		return nil, 0, f.err
	}
	for i, splits := range settings {
		if len(splits) > len(at) {
			return nil, 0, fmt.Errorf("trees[%d] has %d splits where %d are left", i, len(splits), len(at))
		}
		t := trees.Tree{Leaves: len(splits) + 1}
		for k, v := range splits {
			t.Splits = append(t.Splits, trees.Split{Feature: v[0], At: at[k], Low: v[1], High: v[2]})
		}
		at = at[len(splits):]
		leaves += t.Leaves
		all = append(all, t)
	}
	if len(at) > 0 {
		return nil, 0, fmt.Errorf("%d splits belong to no tree", len(at))
	}
	return all, leaves, nil
}

// takeTreeFeatures reads the features of a member with trees.
func takeTreeFeatures(f *fileReader, samples int, inputs []inputJSON, columns [][2]int) (v onViews, l *localFeatures, err error) {
	if samples < 1 || len(columns) < 1 {
		return v, nil, fmt.Errorf("%d samples of %d features", samples, len(columns))
	}
	ds := &gram.Design{D: samples}
	if l, err = takeFeatures(f, ds, inputs, columns); err != nil {
		return v, nil, err
	}
	return onViews{design: ds}, l, nil
}
