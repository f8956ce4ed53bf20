package mkl

import (
	"encoding/json"

	"github.com/bmkl/bmkl/vi/trees"
)

// treeClassesJSON holds the settings of a member with trees of classes. Its tensors are features, as of a local model; at, where the splits
// of all trees are; level, of each function; and heights, of all leaves.
type treeClassesJSON struct {
	Samples int               `json:"samples"`
	Inputs  []inputJSON       `json:"inputs"`
	Columns [][2]int          `json:"columns"` // input and column of each feature
	Classes []json.RawMessage `json:"classes"`
	Trees   [][][3]int        `json:"trees"` // feature, low and high of each split
}

// encode adds the tensors and returns the settings.
func (m *treeClassModel[T]) encode(f *fileWriter) treeClassesJSON {
	s := m.posterior.State()
	j := treeClassesJSON{Samples: m.Samples(), Classes: m.classes.encode(f)}
	j.Inputs, j.Columns = m.features.encode(f, m.design)
	j.Trees = f.addTrees(s.Trees)
	f.add("level", s.Level, len(s.Level))
	f.add("heights", s.Heights, len(s.Heights))
	return j
}

// take fills in the model from its settings and tensors.
func (m *treeClassModel[T]) take(f *fileReader, j treeClassesJSON) (err error) {
	n := functions(len(j.Classes))
	if m.classes, err = decodeClasses[T](f, j.Classes, n, n); err != nil {
		return err
	}
	if m.onViews, m.features, err = takeTreeFeatures(f, j.Samples, j.Inputs, j.Columns); err != nil {
		return err
	}
	s := trees.ClassState{}
	leaves := 0
	if s.Trees, leaves, err = f.takeTrees(j.Trees); err != nil {
		return err
	}
	s.Level, s.Heights = f.take("level", n), f.take("heights", leaves)
	if f.err != nil {
		return f.err
	}
	m.posterior, err = trees.NewClassPosterior(s, len(m.features.columns))
	return err
}
