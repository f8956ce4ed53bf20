package mkl

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// poolJSON is the part of the settings that both kinds of pools have. The tensor names
// of member M have the prefix member.M. and continue as its kind names them.
type poolJSON struct {
	recordJSON
	Rule    string   `json:"rule"`
	Of      int      `json:"of"`                // samples there were
	Left    []string `json:"left,omitempty"`    // members there was no time for
	Dropped []string `json:"dropped,omitempty"` // members whose weight was small
	Remarks []string `json:"remarks,omitempty"` // what the default kernels left out
	viewTableJSON
}

// viewTableJSON is the table of the views of a model.
type viewTableJSON struct {
	Views  []viewShareJSON `json:"views,omitempty"`
	Groups []viewGroupJSON `json:"groups,omitempty"` // of the groups of views
}

// encode returns the table's settings.
func (t *viewTable) encode() (j viewTableJSON) {
	for _, v := range t.views {
		j.Views = append(j.Views, newViewShareJSON(v))
	}
	for _, g := range t.groups {
		j.Groups = append(j.Groups, viewGroupJSON{g.Name, g.Views, g.Share, g.SD, g.In, g.Before, g.Loss, g.LossSE})
	}
	return j
}

// table returns the table of the settings.
func (j viewTableJSON) table() (t viewTable, err error) {
	for i, v := range j.Views {
		share, ok := v.share()
		if !ok {
			return t, fmt.Errorf("model: views[%d]: share %g, sd %g, in %g, informative %g, loss_se %g", i, v.Share, v.SD, share.In, v.Informative, share.LossSE)
		}
		t.views = append(t.views, share)
	}
	for i, g := range j.Groups {
		share, ok := g.share()
		if !ok {
			return t, fmt.Errorf("model: groups[%d]: share %g, sd %g, in %g, before %g, loss_se %g", i, g.Share, g.SD, g.In, g.Before, g.LossSE)
		}
		t.groups = append(t.groups, share)
	}
	return t, nil
}

// viewGroupJSON is a row of the table of the groups of views.
type viewGroupJSON struct {
	Group  string   `json:"group"`
	Views  []string `json:"views"`
	Share  float64  `json:"share"`
	SD     float64  `json:"sd"`
	In     float64  `json:"in"`
	Before float64  `json:"before"`
	Loss   float64  `json:"loss"`
	LossSE float64  `json:"loss_se"`
}

// share returns the row if it is one.
func (j viewGroupJSON) share() (v ViewGroupShare, ok bool) {
	v = ViewGroupShare{ViewGroup{j.Group, j.Views}, j.Share, j.SD, j.In, j.Before, j.Loss, j.LossSE}
	within := func(p float64) bool { return p >= 0 && p <= 1 }
	return v, within(v.Share) && v.SD >= 0 && within(v.In) && within(v.Before) && v.LossSE >= 0
}

// viewShareJSON is a row of the table of the views.
type viewShareJSON struct {
	View        string  `json:"view"`
	Share       float64 `json:"share"`
	SD          float64 `json:"sd"`
	Informative float64 `json:"informative"`

	// Models of earlier versions have none of these.
	In     *float64 `json:"in,omitempty"`
	Loss   *float64 `json:"loss,omitempty"`
	LossSE *float64 `json:"loss_se,omitempty"`
}

func newViewShareJSON(v ViewShare) viewShareJSON {
	known := func(x float64) *float64 {
		if math.IsNaN(x) {
			return nil
		}
		return &x
	}
	return viewShareJSON{v.View, v.Share, v.SD, v.Informative, known(v.In), known(v.Loss), known(v.LossSE)}
}

// share returns the row if it is one.
func (j viewShareJSON) share() (v ViewShare, ok bool) {
	value := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	v = ViewShare{View: j.View, Share: j.Share, SD: j.SD, Informative: j.Informative, In: value(j.In), Loss: value(j.Loss), LossSE: value(j.LossSE)}
	ok = v.Share >= 0 && v.Share <= 1 && v.SD >= 0 && v.Informative >= 0 && v.Informative <= 1
	return v, ok && !(v.In < 0 || v.In > 1 || v.LossSE < 0)
}

// poolMemberJSON is a member whose settings are of type S.
type poolMemberJSON[S any] struct {
	Name   string  `json:"name"`
	Weight float64 `json:"weight"`
	Model  S       `json:"model"`
}

// poolModelJSON has members. A pool of very many samples may also have one on landmarks, one with trees and a local one, in this order, and
// a pool of several views the pool of all columns as one table. Their tensors have prefixes member.M. as well.
type poolModelJSON struct {
	poolJSON
	Members   []poolMemberJSON[multiGPJSON]  `json:"members"`
	Landmarks *poolMemberJSON[landmarksJSON] `json:"landmarks,omitempty"`
	Trees     *poolMemberJSON[treesJSON]     `json:"trees,omitempty"`
	Local     *poolMemberJSON[localJSON]     `json:"local,omitempty"`
	Table     *poolMemberJSON[poolModelJSON] `json:"table,omitempty"`
	Scale     *poolScaleJSON                 `json:"scale,omitempty"`
	Edges     edges                          `json:"edges,omitempty"`
	Levels    *levelsJSON                    `json:"levels,omitempty"`
}

// poolClassifierJSON has members, and perhaps the others of poolModelJSON, with trees of classes.
type poolClassifierJSON struct {
	poolJSON
	Members    []poolMemberJSON[multiGPClassifierJSON] `json:"members"`
	Indicators []poolMemberJSON[indicatorsJSON]        `json:"indicators,omitempty"` // after the members
	Landmarks  *poolMemberJSON[landmarkClassifierJSON] `json:"landmarks,omitempty"`
	Trees      *poolMemberJSON[treeClassesJSON]        `json:"trees,omitempty"`
	Local      *poolMemberJSON[localClassesJSON]       `json:"local,omitempty"`
	Table      *poolMemberJSON[poolClassifierJSON]     `json:"table,omitempty"`
	Levels     *levelOddsJSON                          `json:"levels,omitempty"`
}

// addPool adds the fields that both kinds of pools have.
func (f *fileWriter) addPool(p *pool) poolJSON {
	return poolJSON{
		recordJSON: f.addRecord(&p.record), Rule: string(p.rule), Of: p.of, Left: p.left, Dropped: p.dropped, Remarks: p.remarks, viewTableJSON: p.viewTable.encode(),
	}
}

// addMember adds a member: encode adds its tensors and returns its settings.
func addMember[S any](f *fileWriter, p *pool, i int, encode func(*fileWriter) S) poolMemberJSON[S] {
	before := f.prefix
	f.prefix += fmt.Sprintf("member.%d.", i)
	j := poolMemberJSON[S]{Name: p.names[i], Weight: p.weights[i], Model: encode(f)}
	f.prefix = before
	return j
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *AutoModel) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encode(&f))
}

// encode adds the tensors and returns the settings.
func (m *AutoModel) encode(f *fileWriter) poolModelJSON {
	j := poolModelJSON{poolJSON: f.addPool(&m.pool)}
	for i, member := range m.members {
		j.Members = append(j.Members, addMember(f, &m.pool, i, member.encode))
	}
	next := len(m.members)
	if m.landmarks != nil {
		member := addMember(f, &m.pool, next, m.landmarks.encode)
		j.Landmarks = &member
		next++
	}
	if m.trees != nil {
		member := addMember(f, &m.pool, next, m.trees.encode)
		j.Trees = &member
		next++
	}
	if m.local != nil {
		member := addMember(f, &m.pool, next, m.local.encode)
		j.Local = &member
	}
	if m.table != nil {
		member := addMember(f, &m.pool, next, m.table.encode)
		j.Table = &member
	}
	j.Scale, j.Edges, j.Levels = m.poolScale.encode(), m.edges, m.levels.encode(f)
	return j
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
// Classes are kept as JSON.
func (m *AutoClassifierModel[T]) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encode(&f))
}

// encode adds the tensors and returns the settings.
func (m *AutoClassifierModel[T]) encode(f *fileWriter) poolClassifierJSON {
	j := poolClassifierJSON{poolJSON: f.addPool(&m.pool)}
	for i, member := range m.members {
		j.Members = append(j.Members, addMember(f, &m.pool, i, member.encode))
	}
	next := len(m.members)
	for i, member := range m.indicators {
		j.Indicators = append(j.Indicators, addMember(f, &m.pool, next+i, member.encode))
	}
	next += len(m.indicators)
	if m.landmarks != nil {
		member := addMember(f, &m.pool, next, m.landmarks.encode)
		j.Landmarks = &member
		next++
	}
	if m.trees != nil {
		member := addMember(f, &m.pool, next, m.trees.encode)
		j.Trees = &member
		next++
	}
	if m.local != nil {
		member := addMember(f, &m.pool, next, m.local.encode)
		j.Local = &member
	}
	if m.table != nil {
		member := addMember(f, &m.pool, next, m.table.encode)
		j.Table = &member
	}
	j.Levels = m.levels.encode(f)
	return j
}

// takePool reads the fields that both kinds of pools have.
func (f *fileReader) takePool(j poolJSON) (p pool, err error) {
	p.rule, p.of, p.left, p.dropped, p.remarks = poolRule(j.Rule), j.Of, j.Left, j.Dropped, j.Remarks
	if p.rule != stacked && p.rule != averaged && p.rule != byKind && p.rule != weighed {
		return p, fmt.Errorf("model: rule %q is unknown", j.Rule)
	}
	if p.viewTable, err = j.table(); err != nil {
		return p, err
	}
	p.record, err = f.takeRecord(j.recordJSON, 0)
	return p, err
}

// takeMember reads a member. take fills the model m from its settings and tensors.
func takeMember[S any](f *fileReader, p *pool, j poolMemberJSON[S], m Model, take func(*fileReader, S) error) error {
	if !(j.Weight >= 0 && j.Weight <= 1) {
		return fmt.Errorf("model: members[%d]: weight is %g", len(p.names), j.Weight)
	}
	before := f.prefix
	f.prefix += fmt.Sprintf("member.%d.", len(p.names))
	if err := take(f, j.Model); err != nil {
		return fmt.Errorf("model: members[%d]: %w", len(p.names), err)
	}
	f.prefix = before
	p.names, p.weights, p.models = append(p.names, j.Name), append(p.weights, j.Weight), append(p.models, m)
	if first := p.models[0]; m.Samples() != first.Samples() && p.rule != weighed || !sameInputs(m.Inputs(), first.Inputs()) {
		return fmt.Errorf("model: members[%d] has other inputs than the first", len(p.names)-1)
	}
	return nil
}

// sameInputs reports whether predictions of two models take the same matrices.
func sameInputs(a, b []ModelInput) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Cols != b[i].Cols {
			return false
		}
	}
	return true
}

// check reports what is wrong with all members together.
func (p *pool) check() error {
	if math.Abs(vec.Total(p.weights)-1) > 1e-9 { // none included
		return fmt.Errorf("model: the weights of %d members sum to %g", len(p.weights), vec.Total(p.weights))
	}
	if p.of < p.models[0].Samples() {
		return fmt.Errorf("model: members of %d samples out of %d", p.models[0].Samples(), p.of)
	}
	return nil
}

func (m *AutoModel) decode(f *fileReader) error {
	var j poolModelJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if err := m.take(f, j); err != nil {
		return err
	}
	return f.close()
}

// take takes the tensors that the settings name.
func (m *AutoModel) take(f *fileReader, j poolModelJSON) (err error) {
	if m.pool, err = f.takePool(j.poolJSON); err != nil {
		return err
	}
	for _, member := range j.Members {
		p := &MultiGPModel{}
		if err := takeMember(f, &m.pool, member, p, p.take); err != nil {
			return err
		}
		m.members = append(m.members, p)
	}
	m.onLandmarks = j.Landmarks != nil || m.rule == weighed
	if j.Landmarks != nil {
		if m.members != nil && m.rule != weighed {
			return fmt.Errorf("model: %d members beside landmarks", len(m.members))
		}
		m.landmarks = &LandmarkGPModel{}
		if err := takeMember(f, &m.pool, *j.Landmarks, m.landmarks, m.landmarks.take); err != nil {
			return err
		}
	}
	if j.Trees != nil {
		m.trees = &treeModel{}
		if err := takeMember(f, &m.pool, *j.Trees, m.trees, m.trees.take); err != nil {
			return err
		}
	}
	if j.Local != nil {
		m.local = &localModel{}
		if err := takeMember(f, &m.pool, *j.Local, m.local, m.local.take); err != nil {
			return err
		}
	}
	if j.Table != nil && len(m.models) > 0 {
		m.table = &tableModel{&AutoModel{}, tableInputsOf(m.models[0])}
		if err := takeMember(f, &m.pool, *j.Table, m.table, m.table.take); err != nil {
			return err
		}
		if err := m.table.tableInputs.check(m.table.AutoModel.Inputs()); err != nil {
			return err
		}
	}
	if err := m.poolScale.take(j.Scale); err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	if m.levels, err = f.takeLevels(j.Levels, m.Inputs()); err != nil {
		return err
	}
	m.edges = j.Edges
	return m.edges.check(m.Inputs())
}

func (m *AutoClassifierModel[T]) decode(f *fileReader) error {
	var j poolClassifierJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if err := m.take(f, j); err != nil {
		return err
	}
	return f.close()
}

// take takes the tensors that the settings name.
func (m *AutoClassifierModel[T]) take(f *fileReader, j poolClassifierJSON) (err error) {
	if m.pool, err = f.takePool(j.poolJSON); err != nil {
		return err
	}
	for _, member := range j.Members {
		p := &MultiGPClassifierModel[T]{}
		if err := takeMember(f, &m.pool, member, p, p.take); err != nil {
			return err
		}
		m.members = append(m.members, p)
	}
	for _, member := range j.Indicators {
		p := &indicatorModel[T]{}
		if err := takeMember(f, &m.pool, member, p, p.take); err != nil {
			return err
		}
		m.indicators = append(m.indicators, p)
	}
	m.onLandmarks = j.Landmarks != nil || m.rule == weighed
	if j.Landmarks != nil {
		if len(m.models) > 0 && m.rule != weighed {
			return fmt.Errorf("model: %d members beside landmarks", len(m.models))
		}
		m.landmarks = &LandmarkClassifierModel[T]{}
		if err := takeMember(f, &m.pool, *j.Landmarks, m.landmarks, m.landmarks.take); err != nil {
			return err
		}
	}
	if j.Trees != nil {
		m.trees = &treeClassModel[T]{}
		if err := takeMember(f, &m.pool, *j.Trees, m.trees, m.trees.take); err != nil {
			return err
		}
	}
	if j.Local != nil {
		m.local = &localClassModel[T]{}
		if err := takeMember(f, &m.pool, *j.Local, m.local, m.local.take); err != nil {
			return err
		}
	}
	if j.Table != nil && len(m.models) > 0 {
		m.table = &tableClassModel[T]{&AutoClassifierModel[T]{}, tableInputsOf(m.models[0])}
		if err := takeMember(f, &m.pool, *j.Table, m.table, m.table.take); err != nil {
			return err
		}
		if err := m.table.tableInputs.check(m.table.AutoClassifierModel.Inputs()); err != nil {
			return err
		}
	}
	for i := range m.models {
		if first := m.member(0); !slices.Equal(m.member(i).Classes(), first.Classes()) {
			return fmt.Errorf("model: members[%d] has other classes than the first", i)
		}
	}
	if m.levels, err = f.takeLevelOdds(j.Levels, m.pool.Inputs(), len(m.Classes())); err != nil {
		return err
	}
	return m.check()
}
