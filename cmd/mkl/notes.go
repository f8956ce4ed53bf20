package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/sequence"
)

// notes is what the command keeps with a model of where its data were.
type notes struct {
	Task    string          `json:"task"`
	Targets []string        `json:"targets"`           // columns
	Views   []viewNote      `json:"views"`             // one for each of the model's inputs
	Strings []*sequence.Set `json:"strings,omitempty"` // those of views of strings
	Table   *tableNote      `json:"table,omitempty"`   // of a model of factors
	Pairs   *pairNote       `json:"pairs,omitempty"`   // of a model of pairs; nil if the command did not make it
	Join    string          `json:"join,omitempty"`    // the column by which rows of several files belong together
	Made    *provenance     `json:"made,omitempty"`    // how the model was made; nil of models from before this was kept
}

// viewNote says where the columns of a view were.
type viewNote struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	File    bool     `json:"file"` // the columns are those of a file of the view's own

	// Plan says how the columns become features; without it all are numbers that stay as they are.
	Plan []plan.Column  `json:"plan,omitempty"`
	Left []plan.LeftOut `json:"left,omitempty"` // columns of the view that are no features

	Strings *stringNote `json:"strings,omitempty"` // of a view of strings, which has an input for each kernel
}

// plan is how the columns become features.
func (v viewNote) plan() []plan.Column {
	if v.Plan != nil {
		return v.Plan
	}
	return v.numbers(len(v.Columns))
}

// numbers is the plan of so many columns of numbers that stay as they are.
func (v viewNote) numbers(n int) []plan.Column {
	all := make([]plan.Column, n)
	for k := range all {
		name := strconv.Itoa(k + 1)
		if k < len(v.Columns) {
			name = v.Columns[k]
		}
		all[k] = plan.Plain(name)
	}
	return all
}

// notesKey is the key of the notes in a model.
const notesKey = "mkl-command"

func (n *notes) encode() (map[string]string, error) {
	text, err := json.Marshal(n)
	return map[string]string{notesKey: string(text)}, err
}

// describe says where the views and the targets of a fit.
func (c *fitCmd) describe(views []view, main *console.File, targets []int) *notes {
	n := &notes{Task: c.task, Made: c.made}
	if c.task == taskRegression && len(targets) > 1 {
		n.Task = taskMultioutput
	}
	for _, j := range targets {
		n.Targets = append(n.Targets, main.Columns()[j])
	}
	for _, v := range views {
		note := viewNote{Name: v.name, Columns: v.source.Names(), File: v.source.File.Path != c.Data, Left: v.left}
		if !plan.Simple(v.plan) {
			note.Plan = v.plan
		}
		if v.ofStrings() {
			n.describeStrings(&v, note)
			continue
		}
		n.Views = append(n.Views, note)
	}
	if len(views) > 1 {
		n.Join = c.Join
	}
	return n
}

// notesOf reads the notes of a model. A model that the command did not make has its
// inputs called x1, x2, … and its targets y1, y2, ….
func notesOf(est *estimator, m mkl.Model) *notes {
	inputs, targets := m.Inputs(), len(m.Outputs())
	if est.form == classes {
		targets = 1
	}
	n := &notes{}
	if text, ok := m.Notes()[notesKey]; ok && json.Unmarshal([]byte(text), n) == nil && len(n.Views) == len(inputs) && len(n.Targets) == targets &&
		!slices.ContainsFunc(n.Views, func(v viewNote) bool { return v.Plan != nil && len(v.Plan) != len(v.Columns) || n.badStrings(v) }) &&
		(!est.pairs || n.Pairs.fits(m)) && (est.form != tableEntries || n.Table != nil && !n.Table.bad(m.Samples(), targets)) {
		return n
	}
	n = &notes{Task: est.task(m)}
	if est.form == tableEntries {
		n.Table = &tableNote{}
	}
	for i, in := range inputs {
		v := viewNote{Name: "x" + strconv.Itoa(i+1)}
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

// seenColumns is how package mkl writes which columns of a view a kernel sees, counted from 1.
var seenColumns = regexp.MustCompile(` of (#\d+(?:,#\d+)*)`)

// nameColumns puts the names of features in the place of their numbers in the name of a view or a
// kernel, or in a sentence on them. Where there are several views the one is meant whose name stands
// before the numbers, or else before those before.
func (n *notes) nameColumns(text string) string {
	var b strings.Builder
	var last *viewNote
	done := 0
	for _, at := range seenColumns.FindAllStringSubmatchIndex(text, -1) {
		head := strings.TrimSuffix(text[:at[0]], " of ranks")
		if v := n.viewBefore(head); v != nil {
			last = v
		}
		if last == nil {
			continue
		}
		features := plan.Features(last.plan())
		var names []string
		for number := range strings.SplitSeq(text[at[2]:at[3]], ",") {
			k, err := strconv.Atoi(number[1:])
			if err != nil || k < 1 || k > len(features) {
				break
			}
			name := features[k-1]
			if _, err := strconv.Atoi(name); err == nil { // a file without names
				name = "#" + name
			}
			names = append(names, name)
		}
		if len(names) == strings.Count(text[at[2]:at[3]], "#") {
			b.WriteString(text[done:at[2]] + strings.Join(names, ", "))
			done = at[3]
		}
	}
	return b.String() + text[done:]
}

// viewBefore is the view of features whose name a text ends with, the longest if there are several, or
// the only one; nil if there is none.
func (n *notes) viewBefore(text string) (found *viewNote) {
	if len(n.Views) == 1 {
		return &n.Views[0]
	}
	for i := range n.Views {
		v := &n.Views[i]
		if v.Strings == nil && strings.HasSuffix(text, v.Name) && (found == nil || len(v.Name) > len(found.Name)) {
			found = v
		}
	}
	return found
}

func (n *notes) viewNames() (names []string) {
	for _, v := range n.Views {
		if !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	return names
}
