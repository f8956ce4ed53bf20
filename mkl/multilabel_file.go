package mkl

import "io"

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *MultiLabelModel) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encodeModel(&f))
}

func (m *MultiLabelModel) encodeModel(f *fileWriter) any { return f.addScores(&m.scores) }

func (m *MultiLabelModel) decode(f *fileReader) error {
	var j scoresJSON
	err := f.settings(&j)
	if err != nil {
		return err
	}
	m.scores, err = f.takeScores(&j)
	return err
}
