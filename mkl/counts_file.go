package mkl

import (
	"io"

	"github.com/bmkl/bmkl/vi/mgp"
)

// countsJSON holds the settings of a model of counts. Its tensors are the ones of a multiple Gaussian process without
// the targets.
type countsJSON struct {
	designJSON
	recordJSON
	Processes []processJSON `json:"processes"`
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *CountModel) Save(w io.Writer) error {
	var f fileWriter
	var j countsJSON
	j.designJSON, j.recordJSON, j.Processes = f.addProcesses(&m.processes)
	return f.write(w, m.Kind(), j)
}

func (m *CountModel) decode(f *fileReader) (err error) {
	var j countsJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if m.processes, err = f.takeObservations(j.designJSON, j.recordJSON, j.Processes, mgp.Counts{}.Name(), mgp.Counts{Dispersed: true}.Name()); err != nil {
		return err
	}
	return f.close()
}
