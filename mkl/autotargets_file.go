package mkl

import (
	"errors"
	"fmt"
	"io"
)

// poolsJSON has a pool for each target, with tensors after target.T. .
type poolsJSON struct {
	recordJSON
	Targets []poolModelJSON `json:"targets"`
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *AutoTargetsModel) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encode(&f))
}

// encode adds the tensors and returns the settings.
func (m *AutoTargetsModel) encode(f *fileWriter) poolsJSON {
	j := poolsJSON{recordJSON: f.addRecord(&m.record)}
	for o, p := range m.pools {
		f.prefix = fmt.Sprintf("target.%d.", o)
		j.Targets = append(j.Targets, p.encode(f))
	}
	f.prefix = ""
	return j
}

func (m *AutoTargetsModel) decode(f *fileReader) error {
	var j poolsJSON
	err := f.settings(&j)
	if err != nil {
		return err
	}
	if len(j.Targets) == 0 {
		return errors.New("model: there is no target")
	}
	if m.record, err = f.takeRecord(j.recordJSON, 0); err != nil {
		return err
	}
	for o, settings := range j.Targets {
		p := &AutoModel{}
		f.prefix = fmt.Sprintf("target.%d.", o)
		if err := p.take(f, settings); err != nil {
			return fmt.Errorf("model: targets[%d]: %w", o, err)
		}
		m.pools = append(m.pools, p)
		if !sameInputs(p.Inputs(), m.pools[0].Inputs()) {
			return fmt.Errorf("model: targets[%d] has other inputs than the first", o)
		}
	}
	f.prefix = ""
	return f.close()
}
