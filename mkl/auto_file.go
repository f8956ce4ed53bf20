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
	Rule    string          `json:"rule"`
	Of      int             `json:"of"`                // samples there were
	Left    []string        `json:"left,omitempty"`    // members there was no time for
	Dropped []string        `json:"dropped,omitempty"` // members whose weight was small
	Remarks []string        `json:"remarks,omitempty"` // what the default kernels left out
	Views   []viewShareJSON `json:"views,omitempty"`   // the table of the views
}

// viewShareJSON is a row of the table of the views.
type viewShareJSON struct {
	View        string  `json:"view"`
	Share       float64 `json:"share"`
	SD          float64 `json:"sd"`
	Informative float64 `json:"informative"`
}

// poolMemberJSON is a member whose settings are of type S.
type poolMemberJSON[S any] struct {
	Name   string  `json:"name"`
	Weight float64 `json:"weight"`
	Model  S       `json:"model"`
}

// poolModelJSON has members. A pool of very many samples may also have one on landmarks and a local one, in this order, whose
// tensors have prefixes member.M. as well.
type poolModelJSON struct {
	poolJSON
	Members   []poolMemberJSON[multiGPJSON]  `json:"members"`
	Landmarks *poolMemberJSON[landmarksJSON] `json:"landmarks,omitempty"`
	Local     *poolMemberJSON[localJSON]     `json:"local,omitempty"`
}

// poolClassifierJSON has members, and perhaps the others of poolModelJSON.
type poolClassifierJSON struct {
	poolJSON
	Members    []poolMemberJSON[multiGPClassifierJSON] `json:"members"`
	Indicators []poolMemberJSON[indicatorsJSON]        `json:"indicators,omitempty"` // after the members
	Landmarks  *poolMemberJSON[landmarkClassifierJSON] `json:"landmarks,omitempty"`
	Local      *poolMemberJSON[localClassesJSON]       `json:"local,omitempty"`
}

// addPool adds the fields that both kinds of pools have.
func (f *fileWriter) addPool(p *pool) poolJSON {
	j := poolJSON{recordJSON: f.addRecord(&p.record), Rule: string(p.rule), Of: p.of, Left: p.left, Dropped: p.dropped, Remarks: p.remarks}
	for _, v := range p.views {
		j.Views = append(j.Views, viewShareJSON(v))
	}
	return j
}

// addMember adds a member: encode adds its tensors and returns its settings.
func addMember[S any](f *fileWriter, p *pool, i int, encode func(*fileWriter) S) poolMemberJSON[S] {
	f.prefix = fmt.Sprintf("member.%d.", i)
	j := poolMemberJSON[S]{Name: p.names[i], Weight: p.weights[i], Model: encode(f)}
	f.prefix = ""
	return j
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *AutoModel) Save(w io.Writer) error {
	var f fileWriter
	j := poolModelJSON{poolJSON: f.addPool(&m.pool)}
	for i, member := range m.members {
		j.Members = append(j.Members, addMember(&f, &m.pool, i, member.encode))
	}
	next := len(m.members)
	if m.landmarks != nil {
		member := addMember(&f, &m.pool, next, m.landmarks.encode)
		j.Landmarks = &member
		next++
	}
	if m.local != nil {
		member := addMember(&f, &m.pool, next, m.local.encode)
		j.Local = &member
	}
	return f.write(w, m.Kind(), j)
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
// Classes are kept as JSON.
func (m *AutoClassifierModel[T]) Save(w io.Writer) error {
	var f fileWriter
	j := poolClassifierJSON{poolJSON: f.addPool(&m.pool)}
	for i, member := range m.members {
		j.Members = append(j.Members, addMember(&f, &m.pool, i, member.encode))
	}
	next := len(m.members)
	for i, member := range m.indicators {
		j.Indicators = append(j.Indicators, addMember(&f, &m.pool, next+i, member.encode))
	}
	next += len(m.indicators)
	if m.landmarks != nil {
		member := addMember(&f, &m.pool, next, m.landmarks.encode)
		j.Landmarks = &member
		next++
	}
	if m.local != nil {
		member := addMember(&f, &m.pool, next, m.local.encode)
		j.Local = &member
	}
	return f.write(w, m.Kind(), j)
}

// takePool reads the fields that both kinds of pools have.
func (f *fileReader) takePool(j poolJSON) (p pool, err error) {
	p.rule, p.of, p.left, p.dropped, p.remarks = poolRule(j.Rule), j.Of, j.Left, j.Dropped, j.Remarks
	if p.rule != stacked && p.rule != averaged && p.rule != byKind && p.rule != weighed {
		return p, fmt.Errorf("model: rule %q is unknown", j.Rule)
	}
	for i, v := range j.Views {
		if !(v.Share >= 0 && v.Share <= 1 && v.SD >= 0 && v.Informative >= 0 && v.Informative <= 1) {
			return p, fmt.Errorf("model: views[%d]: share %g, sd %g, informative %g", i, v.Share, v.SD, v.Informative)
		}
		p.views = append(p.views, ViewShare(v))
	}
	p.record, err = f.takeRecord(j.recordJSON, 0)
	return p, err
}

// takeMember reads a member. take fills the model m from its settings and tensors.
func takeMember[S any](f *fileReader, p *pool, j poolMemberJSON[S], m Model, take func(*fileReader, S) error) error {
	if !(j.Weight >= 0 && j.Weight <= 1) {
		return fmt.Errorf("model: members[%d]: weight is %g", len(p.names), j.Weight)
	}
	f.prefix = fmt.Sprintf("member.%d.", len(p.names))
	if err := take(f, j.Model); err != nil {
		return fmt.Errorf("model: members[%d]: %w", len(p.names), err)
	}
	f.prefix = ""
	p.names, p.weights, p.models = append(p.names, j.Name), append(p.weights, j.Weight), append(p.models, m)
	if first := p.models[0]; m.Samples() != first.Samples() && p.rule != weighed || !sameInputs(m.Inputs(), first.Inputs()) {
		return fmt.Errorf("model: members[%d] is of other inputs than the first", len(p.names)-1)
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

// closePool checks the members together and returns what is wrong.
func (f *fileReader) closePool(p *pool) error {
	if math.Abs(vec.Total(p.weights)-1) > 1e-9 { // none included
		return fmt.Errorf("model: the weights of %d members sum to %g", len(p.weights), vec.Total(p.weights))
	}
	if p.of < p.models[0].Samples() {
		return fmt.Errorf("model: members of %d samples out of %d", p.models[0].Samples(), p.of)
	}
	return f.close()
}

func (m *AutoModel) decode(f *fileReader) error {
	var j poolModelJSON
	err := f.settings(&j)
	if err != nil {
		return err
	}
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
	if j.Local != nil {
		m.local = &localModel{}
		if err := takeMember(f, &m.pool, *j.Local, m.local, m.local.take); err != nil {
			return err
		}
	}
	return f.closePool(&m.pool)
}

func (m *AutoClassifierModel[T]) decode(f *fileReader) error {
	var j poolClassifierJSON
	err := f.settings(&j)
	if err != nil {
		return err
	}
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
	if j.Local != nil {
		m.local = &localClassModel[T]{}
		if err := takeMember(f, &m.pool, *j.Local, m.local, m.local.take); err != nil {
			return err
		}
	}
	for i := range m.models {
		if first := m.member(0); !slices.Equal(m.member(i).Classes(), first.Classes()) {
			return fmt.Errorf("model: members[%d] is of other classes than the first", i)
		}
	}
	return f.closePool(&m.pool)
}
