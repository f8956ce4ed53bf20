package mkl

import (
	"encoding/json"
	"io"

	"github.com/bmkl/bmkl/vi/mgp"
)

// ordinalJSON holds the settings of a model of grades.
type ordinalJSON struct {
	observationsJSON
	Classes []json.RawMessage `json:"classes"` // the grades, in order
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save]. Grades are kept as JSON.
func (m *OrdinalModel[T]) Save(w io.Writer) error {
	var f fileWriter
	j := ordinalJSON{Classes: m.classes.encode(&f)}
	j.observationsJSON = f.addObservations(&m.functionOfViews)
	return f.write(w, m.Kind(), j)
}

func (m *OrdinalModel[T]) decode(f *fileReader) (err error) {
	var j ordinalJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if m.functionOfViews, err = f.takeObservations(j.observationsJSON, mgp.Ordinal{}.Name()); err != nil {
		return err
	}
	cuts := len(m.posteriors[0].State().Shape)
	if m.classes, err = decodeClasses[T](f, j.Classes, len(j.Classes)-1, cuts); err != nil {
		return err
	}
	return f.close()
}
