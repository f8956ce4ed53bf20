package mkl

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// levelsJSON is the effects of levels in a pool of numbers. The tensor levels.C has a row of code, mean and variance for each level
// of column C.
type levelsJSON struct {
	Usual   float64           `json:"usual"` // the mean of the effects' variances in the training samples
	Columns []levelColumnJSON `json:"columns"`
}

// levelColumnJSON is a column of levels.
type levelColumnJSON struct {
	Input  int     `json:"input"`
	Column int     `json:"column"`
	Prior  float64 `json:"prior"`  // the variance of the effect of another level
	Levels int     `json:"levels"` // 0 if the column has no effect
}

// encode adds the tensors and returns the settings; nil without levels.
func (l *levels) encode(f *fileWriter) *levelsJSON {
	if l == nil {
		return nil
	}
	j := &levelsJSON{Usual: l.usual}
	for i, c := range l.columns {
		j.Columns = append(j.Columns, levelColumnJSON{c.input, c.column, c.prior, len(c.codes)})
		var all []float64
		for k, code := range c.codes {
			all = append(all, code, c.mean[k], c.variance[k])
		}
		f.add(fmt.Sprintf("levels.%d", i), all, len(c.codes), 3)
	}
	return j
}

// takeLevels reads levels of a model with the inputs; nil if it has none.
func (f *fileReader) takeLevels(j *levelsJSON, inputs []ModelInput) (*levels, error) {
	if j == nil {
		return nil, nil
	}
	l := &levels{usual: j.Usual}
	for i, c := range j.Columns {
		if c.Input < 0 || c.Input >= len(inputs) || c.Column < 0 || c.Column >= inputs[c.Input].Cols || !(c.Prior >= 0) || c.Levels < 0 {
			return nil, fmt.Errorf("model: levels.columns[%d] is %+v", i, c)
		}
		all := f.takeMatrix(fmt.Sprintf("levels.%d", i), c.Levels, 3)
		if f.err != nil {
			return nil, f.err
		}
		column := levelColumn{input: c.Input, column: c.Column, prior: c.Prior}
		for k := range all.Rows {
			r := all.Row(k)
			if vec.FirstNonFinite(r) >= 0 || r[2] < 0 || k > 0 && r[0] <= column.codes[k-1] {
				return nil, fmt.Errorf("tensor %q: row %d is %v", fmt.Sprintf("levels.%d", i), k, r)
			}
			column.codes, column.mean, column.variance = append(column.codes, r[0]), append(column.mean, r[1]), append(column.variance, r[2])
		}
		if slices.ContainsFunc(l.columns, func(other levelColumn) bool { return other.input == c.Input && other.column == c.Column }) {
			return nil, fmt.Errorf("model: levels.columns[%d] is a column before it", i)
		}
		l.columns = append(l.columns, column)
	}
	if !(l.usual >= 0) || l.columns == nil {
		return nil, fmt.Errorf("model: levels: %d columns, usual %g", len(l.columns), l.usual)
	}
	return l, nil
}
