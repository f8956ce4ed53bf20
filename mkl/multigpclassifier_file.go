package mkl

import (
	"encoding/json"
	"fmt"
	"io"
)

// multiGPClassifierJSON holds the settings of a multiple Gaussian process of classes.
type multiGPClassifierJSON struct {
	designJSON
	recordJSON
	Classes   []json.RawMessage `json:"classes"`
	Processes []processJSON     `json:"processes"`

	// Sharpness is the power of the odds; files without it have 1.
	Sharpness float64 `json:"sharpness,omitempty"`
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
// Classes are kept as JSON.
func (m *MultiGPClassifierModel[T]) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encode(&f))
}

// encode adds the model's tensors and returns its settings.
func (m *MultiGPClassifierModel[T]) encode(f *fileWriter) multiGPClassifierJSON {
	j := multiGPClassifierJSON{Classes: m.classes.encode(f), Sharpness: m.sharpness}
	j.designJSON, j.recordJSON, j.Processes = f.addProcesses(&m.processes)
	return j
}

func (m *MultiGPClassifierModel[T]) decode(f *fileReader) error {
	var j multiGPClassifierJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if err := m.take(f, j); err != nil {
		return err
	}
	return f.close()
}

// take fills in the model from its settings and tensors.
func (m *MultiGPClassifierModel[T]) take(f *fileReader, j multiGPClassifierJSON) (err error) {
	switch m.sharpness = j.Sharpness; {
	case m.sharpness == 0:
		m.sharpness = 1
	case !(m.sharpness >= leastSharpness && m.sharpness <= mostSharpness):
		return fmt.Errorf("model: sharpness is %g", m.sharpness)
	}
	if m.processes, err = f.takeProcesses(j.designJSON, j.recordJSON, j.Processes, true); err != nil {
		return err
	}
	m.classes, err = decodeClasses[T](f, j.Classes, functions(len(j.Classes)), len(m.posteriors))
	return err
}
