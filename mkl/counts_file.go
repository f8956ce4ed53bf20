package mkl

import "io"

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *CountModel) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), f.addObservations(&m.functionOfViews))
}

func (m *CountModel) decode(f *fileReader) (err error) {
	var j observationsJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if m.functionOfViews, err = f.takeObservations(j, Poisson.String(), NegativeBinomial.String(), DoublePoisson.String()); err != nil {
		return err
	}
	return f.close()
}
