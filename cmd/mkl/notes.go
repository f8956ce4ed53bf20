package main

import (
	"encoding/json"
	"strconv"

	"github.com/bmkl/bmkl/mkl"
)

// notes is what the command keeps with a model of where its data were.
type notes struct {
	Task    string     `json:"task"`
	Targets []string   `json:"targets"` // columns
	Views   []viewNote `json:"views"`
	ViewOf  []int      `json:"view_of"` // the view that each kernel belongs to
}

type viewNote struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	File    bool     `json:"file"` // the columns are those of a file of the view's own
}

// notesKey is the key of the notes in a model.
const notesKey = "mkl-command"

func (n *notes) encode() (map[string]string, error) {
	text, err := json.Marshal(n)
	return map[string]string{notesKey: string(text)}, err
}

// notesOf reads the notes of a model. A model that the command did not make has
// its inputs called x1, x2, … and its targets y1, y2, ….
func notesOf(m model) *notes {
	task, targets := taskRegression, 1
	switch m := m.(type) {
	case *mkl.RegressionModel:
		if targets = m.Targets(); targets > 1 {
			task = taskMultioutput
		}
	case *mkl.SharedRegressionModel:
		task, targets = taskShared, m.Targets()
	case *mkl.MultiTaskModel:
		task, targets = taskMultitask, m.Targets()
	case classifier:
		if task = taskMulticlass; len(m.Classes()) == 2 {
			task = taskBinary
		}
	case *mkl.MultiLabelModel:
		task, targets = taskMultilabel, m.Labels()
	}
	n := &notes{}
	kernels, inputs := len(m.KernelWeights()), m.Inputs()
	if text, ok := m.Notes()[notesKey]; ok && json.Unmarshal([]byte(text), n) == nil && n.fits(kernels, targets) {
		return n
	}
	n = &notes{Task: task, ViewOf: make([]int, kernels)}
	for i, in := range inputs {
		v := viewNote{Name: "x" + strconv.Itoa(i+1)}
		for j := range in.Cols {
			v.Columns = append(v.Columns, strconv.Itoa(j+1))
		}
		n.Views = append(n.Views, v)
		for _, k := range in.Views {
			n.ViewOf[k] = i
		}
	}
	for o := range targets {
		n.Targets = append(n.Targets, "y"+strconv.Itoa(o+1))
	}
	return n
}

// fits reports whether the notes belong to a model of so many kernels and targets.
func (n *notes) fits(kernels, targets int) bool {
	if len(n.ViewOf) != kernels || len(n.Targets) != targets {
		return false
	}
	for _, v := range n.ViewOf {
		if v < 0 || v >= len(n.Views) {
			return false
		}
	}
	return true
}
