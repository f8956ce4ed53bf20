package mkl

import (
	"fmt"
	"io"
)

// survivalJSON holds the settings of a survival model. It has the tensors of a multiple Gaussian process. The mean
// and the standard deviation of the target belong to the logarithms of times.
type survivalJSON struct {
	designJSON
	recordJSON
	Processes []processJSON `json:"processes"`
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *SurvivalModel) Save(w io.Writer) error {
	var f fileWriter
	var j survivalJSON
	j.designJSON, j.recordJSON, j.Processes = f.addProcesses(&m.processes)
	f.addTargets(m.unit)
	return f.write(w, m.Kind(), j)
}

func (m *SurvivalModel) decode(f *fileReader) (err error) {
	var j survivalJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if m.processes, err = f.takeObservations(j.designJSON, j.recordJSON, j.Processes, LogNormal.String(), Weibull.String()); err != nil {
		return err
	}
	units := f.takeTargets(1)
	if f.err != nil {
		return f.err
	}
	m.unit = units[0]
	return f.close()
}

// takeObservations reads a function with one of the named likelihoods.
func (f *fileReader) takeObservations(design designJSON, record recordJSON, all []processJSON, names ...string) (m processes, err error) {
	if len(all) != 1 {
		return m, fmt.Errorf("model: %d processes where there is one", len(all))
	}
	for _, name := range names {
		if all[0].Likelihood == name {
			return f.takeProcesses(design, record, all, false)
		}
	}
	return m, fmt.Errorf("model: likelihood %q of a %s model", all[0].Likelihood, f.kind)
}
