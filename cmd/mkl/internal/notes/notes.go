// Package notes keeps with a model where its data were and how it was made, so that the command finds the same
// columns in new files. A model file holds the notes as JSON, under the key [Key].
package notes

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
	"github.com/bmkl/bmkl/internal/encode"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/sequence"
)

// Notes is what the command keeps with a model.
type Notes struct {
	Task    string           `json:"task"`
	Targets []string         `json:"targets"`           // columns
	Rows    int              `json:"rows,omitempty"`    // that were learned from; 0 of models from before this was kept
	Views   []View           `json:"views"`             // one for each of the model's inputs
	Strings []*sequence.Set  `json:"strings,omitempty"` // the sets that views of strings are of
	Table   *Table           `json:"table,omitempty"`   // of a model of factors
	Pairs   *Pairs           `json:"pairs,omitempty"`   // of a model of pairs; nil if the command did not make it
	Beside  *Beside          `json:"beside,omitempty"`  // columns that belong to the target; nil without such columns
	NA      []string         `json:"na,omitempty"`      // texts that stand for an empty cell, beside those that always do
	Join    string           `json:"join,omitempty"`    // the column by which rows of several files belong together
	Made    *provenance.Made `json:"made,omitempty"`    // how the model was made; nil of models from before this was kept
}

// Beside names the columns that belong to the target; a name is empty where there is
// no such column.
type Beside struct {
	Event    string `json:"event,omitempty"`
	Happened string `json:"happened,omitempty"` // the cell of an event that happened; empty means 1, true or yes
	Upper    string `json:"upper,omitempty"`
	Exposure string `json:"exposure,omitempty"`
	Weights  string `json:"weights,omitempty"`
	Noise    string `json:"noise,omitempty"` // of standard deviations
	Offset   string `json:"offset,omitempty"`
}

// Key is the key of the notes in a model.
const Key = encode.NotesKey

// Encode writes the notes as package mkl keeps them.
func (n *Notes) Encode() (map[string]string, error) {
	text, err := json.Marshal(n)
	return map[string]string{Key: string(text)}, err
}

// Parse reads what [Notes.Encode] wrote. It returns nil if there are no notes, or if they do not describe so many
// inputs and targets.
func Parse(in map[string]string, inputs, targets int) *Notes {
	n := &Notes{}
	text, ok := in[Key]
	if !ok || json.Unmarshal([]byte(text), n) != nil || len(n.Views) != inputs || len(n.Targets) != targets ||
		slices.ContainsFunc(n.Views, func(v View) bool { return v.Plan != nil && len(v.Plan) != len(v.Columns) || n.badStrings(v) }) {
		return nil
	}
	return n
}

// Of returns the notes of a model with so many targets. Of a model that the command did not make they name the given
// task, inputs x1, x2, … and targets y1, y2, ….
func Of(m mkl.Model, task string, targets int) *Notes {
	_, table := m.(*mkl.FactorAnalysisModel)
	pairs, ofPairs := m.(sided)
	inputs := m.Inputs()
	n := Parse(m.Notes(), len(inputs), targets)
	if n != nil && (!ofPairs || n.Pairs.fits(pairs)) && (!table || n.Table != nil && n.Table.fits(m.Samples(), targets)) {
		return n
	}
	n = Unplaced(inputs, task, targets)
	if table {
		n.Table = &Table{}
	}
	return n
}

// Unplaced are notes of inputs whose columns nobody named: the inputs are called x1, x2, …, and the targets y1, y2, ….
func Unplaced(inputs []mkl.ModelInput, task string, targets int) *Notes {
	n := &Notes{Task: task}
	for i, in := range inputs {
		v := View{Name: "x" + strconv.Itoa(i+1)}
		for j := range in.Cols {
			v.Columns = append(v.Columns, strconv.Itoa(j+1))
		}
		n.Views = append(n.Views, v)
	}
	for o := range targets {
		n.Targets = append(n.Targets, "y"+strconv.Itoa(o+1))
	}
	return n
}

// View says where the columns of an input were.
type View struct {
	Name    string   `json:"name"` // of the view of the command line
	Columns []string `json:"columns"`
	File    bool     `json:"file"` // the columns are all that a file of the view's own has

	// Plan says how the columns become features; without it all are numbers that stay unchanged.
	Plan []plan.Column  `json:"plan,omitempty"`
	Left []plan.LeftOut `json:"left,omitempty"` // columns of the view that are no features

	Strings *Strings `json:"strings,omitempty"` // of a view of strings, which has an input for each kernel

	// UnitDiagonal says of a kernel that is given that k(x, x) is 1 for every sample of the fit.
	UnitDiagonal bool `json:"unit_diagonal,omitempty"`
}

// Features is how the columns become features.
func (v View) Features() []plan.Column {
	if v.Plan != nil {
		return v.Plan
	}
	return v.Numbers(len(v.Columns))
}

// Numbers is the plan of so many columns of numbers that stay unchanged.
func (v View) Numbers(n int) []plan.Column {
	all := make([]plan.Column, n)
	for k := range all {
		name := strconv.Itoa(k + 1)
		if k < len(v.Columns) {
			name = v.Columns[k]
		}
		all[k] = encode.Plain(name)
	}
	return all
}

// Names are the names of views.
func Names(views []View) (names []string) {
	for _, v := range views {
		names = append(names, v.Name)
	}
	return names
}

// ViewNames are the names of the command line's views, each once.
func (n *Notes) ViewNames() (names []string) {
	for _, name := range Names(n.Views) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Predicted names what the model predicts.
func (n *Notes) Predicted() []string {
	if n.Table != nil && n.Table.Listed() {
		return n.Table.Entries[2:]
	}
	return n.Targets
}
