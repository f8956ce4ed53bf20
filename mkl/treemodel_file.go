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
	var knots, at []float64
	for _, c := range s.Curves {
		j.Curves = append(j.Curves, [2]int{c.Feature, len(c.Knots)})
		knots = append(knots, c.Knots...)
	}
	for _, t := range s.Trees {
		splits := make([][3]int, len(t.Splits))
		for k, v := range t.Splits {
			splits[k] = [3]int{v.Feature, v.Low, v.High}
			at = append(at, v.At)
		}
		j.Trees = append(j.Trees, splits)
	}
	f.add("knots", knots, len(knots))
	f.add("at", at, len(at))
	f.add("mean", s.Mean, len(s.Mean))
	f.add("covariance", packLower(s.Covariance), triangle(len(s.Mean)))
	return j
}

// take fills in the model from its settings and tensors.
func (m *treeModel) take(f *fileReader, j treesJSON) (err error) {
	if len(j.Target) != 2 || !(j.Target[1] > 0) || vec.FirstNonFinite(j.Target) >= 0 {
		return errors.New("target: a mean and a positive standard deviation are needed")
	}
	m.target = target{j.Target[0], j.Target[1]}
	if j.Samples < 1 || len(j.Columns) < 1 {
		return fmt.Errorf("%d samples of %d features", j.Samples, len(j.Columns))
	}
	ds := &gram.Design{D: j.Samples}
	if m.features, err = takeFeatures(f, ds, j.Inputs, j.Columns); err != nil {
		return err
	}
	m.onViews = onViews{design: ds}
	s := trees.State{Noise: j.Noise, Factor: j.Factor}
	knots, at := f.take("knots", f.size("knots")), f.take("at", f.size("at"))
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
	for i, splits := range j.Trees {
		if len(splits) > len(at) {
			return fmt.Errorf("trees[%d] has %d splits where %d are left", i, len(splits), len(at))
		}
		t := trees.Tree{Leaves: len(splits) + 1}
		for k, v := range splits {
			t.Splits = append(t.Splits, trees.Split{Feature: v[0], At: at[k], Low: v[1], High: v[2]})
		}
		at = at[len(splits):]
		heights += t.Leaves
		s.Trees = append(s.Trees, t)
	}
	if len(knots)+len(at) > 0 {
		return fmt.Errorf("%d knots and %d splits belong to no curve and no tree", len(knots), len(at))
	}
	s.Mean, s.Covariance = f.take("mean", heights), f.takeLower("covariance", heights)
	if f.err != nil {
		return f.err
	}
	m.posterior, err = trees.NewPosterior(s, len(m.features.columns))
	return err
}
