package mkl

import (
	"fmt"
	"io"
	"slices"
)

// observationsJSON holds the settings of a model of times, counts or grades. Its tensors are the ones of a multiple Gaussian process without the targets.
type observationsJSON struct {
	designJSON
	recordJSON
	Processes   []processJSON  `json:"processes"`
	Levels      *levelsJSON    `json:"levels,omitempty"`
	About       *levelRemarks  `json:"without_levels,omitempty"` // why columns of many levels have no effects
	Table       *viewTableJSON `json:"table_of_views,omitempty"` // nil without one
	ViewRemarks []string       `json:"view_remarks,omitempty"`   // on the table of the views
}

// addObservations adds the tensors of a function of times, counts or grades, and returns the settings.
func (f *fileWriter) addObservations(m *functionOfViews) (j observationsJSON) {
	j.designJSON, j.recordJSON, j.Processes = f.addProcesses(&m.processes)
	if m.views != nil {
		table := m.viewTable.encode()
		j.Table = &table
	}
	j.ViewRemarks = m.remarks
	j.Levels = m.levels.encode(f)
	if m.about != (levelRemarks{}) {
		j.About = &m.about
	}
	return j
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save]. The mean and the standard deviation of the target belong to the
// logarithms of times.
func (m *SurvivalModel) Save(w io.Writer) error {
	var f fileWriter
	j := f.addObservations(&m.functionOfViews)
	f.addTargets(m.unit)
	return f.write(w, m.Kind(), j)
}

func (m *SurvivalModel) decode(f *fileReader) (err error) {
	var j observationsJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if m.functionOfViews, err = f.takeObservations(j, LogNormal.String(), Weibull.String()); err != nil {
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
func (f *fileReader) takeObservations(j observationsJSON, names ...string) (m functionOfViews, err error) {
	if len(j.Processes) != 1 {
		return m, fmt.Errorf("model: %d processes where there is one", len(j.Processes))
	}
	if name := j.Processes[0].Likelihood; !slices.Contains(names, name) {
		return m, fmt.Errorf("model: likelihood %q of a %s model", name, f.kind)
	}
	if m.processes, err = f.takeProcesses(j.designJSON, j.recordJSON, j.Processes, false); err != nil {
		return m, err
	}
	if j.Table != nil {
		if m.viewTable, err = j.Table.table(); err != nil {
			return m, err
		}
	}
	m.remarks = j.ViewRemarks
	if j.About != nil {
		m.about = *j.About
	}
	m.levels, err = f.takeLevels(j.Levels, m.Inputs())
	return m, err
}
