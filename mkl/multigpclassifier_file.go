package mkl

import (
	"encoding/json"
	"io"
)

// multiGPClassifierJSON is the settings of a multiple Gaussian process of classes.
type multiGPClassifierJSON struct {
	designJSON
	recordJSON
	Classes   []json.RawMessage `json:"classes"`
	Processes []processJSON     `json:"processes"`
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
// Classes are kept as JSON.
func (m *MultiGPClassifierModel[T]) Save(w io.Writer) error {
	var f fileWriter
	j := multiGPClassifierJSON{Classes: m.classes.encode(&f)}
	j.designJSON, j.recordJSON, j.Processes = f.addProcesses(&m.processes)
	return f.write(w, m.Kind(), j)
}

func (m *MultiGPClassifierModel[T]) decode(f *fileReader) error {
	var j multiGPClassifierJSON
	err := f.settings(&j)
	if err != nil {
		return err
	}
	if m.processes, err = f.takeProcesses(j.designJSON, j.recordJSON, j.Processes, true); err != nil {
		return err
	}
	if err := f.close(); err != nil {
		return err
	}
	m.classes, err = decodeClasses[T](f, j.Classes, functions(len(j.Classes)), len(m.posteriors))
	return err
}
