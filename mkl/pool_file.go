package mkl

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// poolJSON is the part of the settings that both kinds of pools have. The tensors
// of member M have the names of its kind after member.M. .
type poolJSON struct {
	recordJSON
	Rule    string   `json:"rule"`
	Of      int      `json:"of"`                // samples there were
	Left    []string `json:"left,omitempty"`    // members there was no time for
	Dropped []string `json:"dropped,omitempty"` // members whose weight was small
	Remarks []string `json:"remarks,omitempty"` // what the default kernels left out
}

// poolMemberJSON is a member whose settings are of type S.
type poolMemberJSON[S any] struct {
	Name   string  `json:"name"`
	Weight float64 `json:"weight"`
	Model  S       `json:"model"`
}

// poolModelJSON has members, or landmarks: the only model, with its tensors after member.0. .
type poolModelJSON struct {
	poolJSON
	Members   []poolMemberJSON[multiGPJSON]  `json:"members"`
	Landmarks *poolMemberJSON[landmarksJSON] `json:"landmarks,omitempty"`
}

// poolClassifierJSON has members, or landmarks, as poolModelJSON.
type poolClassifierJSON struct {
	poolJSON
	Members   []poolMemberJSON[multiGPClassifierJSON] `json:"members"`
	Landmarks *poolMemberJSON[landmarkClassifierJSON] `json:"landmarks,omitempty"`
}

// addPool adds what both kinds of pools have.
func (f *fileWriter) addPool(p *pool) poolJSON {
	return poolJSON{recordJSON: f.addRecord(&p.record), Rule: string(p.rule), Of: p.of, Left: p.left, Dropped: p.dropped, Remarks: p.remarks}
}

// addMember adds a member's tensors, which encode adds, and returns its settings.
func addMember[S any](f *fileWriter, p *pool, i int, encode func(*fileWriter) S) poolMemberJSON[S] {
	f.prefix = fmt.Sprintf("member.%d.", i)
	j := poolMemberJSON[S]{Name: p.names[i], Weight: p.weights[i], Model: encode(f)}
	f.prefix = ""
	return j
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *PoolModel) Save(w io.Writer) error {
	var f fileWriter
	j := poolModelJSON{poolJSON: f.addPool(&m.pool)}
	for i, member := range m.members {
		j.Members = append(j.Members, addMember(&f, &m.pool, i, member.encode))
	}
	if m.landmarks != nil {
		member := addMember(&f, &m.pool, 0, m.landmarks.encode)
		j.Landmarks = &member
	}
	return f.write(w, m.Kind(), j)
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
// Classes are kept as JSON.
func (m *PoolClassifierModel[T]) Save(w io.Writer) error {
	var f fileWriter
	j := poolClassifierJSON{poolJSON: f.addPool(&m.pool)}
	for i, member := range m.members {
		j.Members = append(j.Members, addMember(&f, &m.pool, i, member.encode))
	}
	if m.landmarks != nil {
		member := addMember(&f, &m.pool, 0, m.landmarks.encode)
		j.Landmarks = &member
	}
	return f.write(w, m.Kind(), j)
}

// takePool takes what both kinds of pools have.
func (f *fileReader) takePool(j poolJSON) (p pool, err error) {
	p.rule, p.of, p.left, p.dropped, p.remarks = poolRule(j.Rule), j.Of, j.Left, j.Dropped, j.Remarks
	if p.rule != stacked && p.rule != averaged {
		return p, fmt.Errorf("model: rule %q is unknown", j.Rule)
	}
	p.record, err = f.takeRecord(j.recordJSON, 0)
	return p, err
}

// takeMember takes a member, which take makes that of the settings.
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
	if first := p.models[0]; m.Samples() != first.Samples() || !sameInputs(m.Inputs(), first.Inputs()) {
		return fmt.Errorf("model: members[%d] is of other inputs than the first", len(p.names)-1)
	}
	return nil
}

// sameInputs reports whether predictions take the same matrices.
func sameInputs(a, b []Input) bool {
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

// closePool reports what is wrong with all members together.
func (f *fileReader) closePool(p *pool) error {
	if math.Abs(total(p.weights)-1) > 1e-9 { // none included
		return fmt.Errorf("model: the weights of %d members sum to %g", len(p.weights), total(p.weights))
	}
	if p.of < p.models[0].Samples() {
		return fmt.Errorf("model: members of %d samples out of %d", p.models[0].Samples(), p.of)
	}
	return f.close()
}

func (m *PoolModel) decode(f *fileReader) error {
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
	if m.onLandmarks = j.Landmarks != nil; m.onLandmarks {
		if m.members != nil {
			return fmt.Errorf("model: %d members beside landmarks", len(m.members))
		}
		m.landmarks = &LandmarkGPModel{}
		if err := takeMember(f, &m.pool, *j.Landmarks, m.landmarks, m.landmarks.take); err != nil {
			return err
		}
	}
	return f.closePool(&m.pool)
}

func (m *PoolClassifierModel[T]) decode(f *fileReader) error {
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
		if first := m.members[0]; !slices.Equal(p.classes.names, first.classes.names) {
			return fmt.Errorf("model: members[%d] is of other classes than the first", len(m.members)-1)
		}
	}
	if m.onLandmarks = j.Landmarks != nil; m.onLandmarks {
		if m.members != nil {
			return fmt.Errorf("model: %d members beside landmarks", len(m.members))
		}
		m.landmarks = &LandmarkClassifierModel[T]{}
		if err := takeMember(f, &m.pool, *j.Landmarks, m.landmarks, m.landmarks.take); err != nil {
			return err
		}
	}
	return f.closePool(&m.pool)
}
