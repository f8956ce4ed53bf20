package mkl

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
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
		f.add(levelsTensor(i), all, len(c.codes), 3)
	}
	return j
}

// levelsTensor is the name of the tensor of a column's levels.
func levelsTensor(column int) string { return fmt.Sprintf("levels.%d", column) }

// takeCodes reads the tensor of a column's levels: for each level the code, which ascends, and other finite numbers.
func (f *fileReader) takeCodes(column, levels, width int) (la.Matrix[float64], error) {
	name := levelsTensor(column)
	all := f.takeMatrix(name, levels, width)
	if f.err != nil {
		return all, f.err
	}
	for k := range all.Rows {
		if r := all.Row(k); vec.FirstNonFinite(r) >= 0 || k > 0 && r[0] <= all.At(k-1, 0) {
			return all, fmt.Errorf("tensor %q: row %d is %v", name, k, r)
		}
	}
	return all, nil
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
		all, err := f.takeCodes(i, c.Levels, 3)
		if err != nil {
			return nil, err
		}
		column := levelColumn{input: c.Input, column: c.Column, prior: c.Prior}
		for k := range all.Rows {
			r := all.Row(k)
			if r[2] < 0 {
				return nil, fmt.Errorf("tensor %q: row %d is %v", levelsTensor(i), k, r)
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

// levelOddsJSON is the effects of levels in a pool of classes. The tensor levels.C has a row for each level of column C: the code, and the
// effects on the log odds of the classes.
type levelOddsJSON struct {
	Columns []oddsColumnJSON `json:"columns"`
}

// oddsColumnJSON is a column of levels.
type oddsColumnJSON struct {
	Input   int   `json:"input"`
	Column  int   `json:"column"`
	Levels  int   `json:"levels"`            // 0 if the column has no effect
	Classes []int `json:"classes,omitempty"` // from 0
}

// encode adds the tensors and returns the settings; nil without levels.
func (l *levelOdds) encode(f *fileWriter) *levelOddsJSON {
	if l == nil {
		return nil
	}
	j := &levelOddsJSON{}
	for i, c := range l.columns {
		j.Columns = append(j.Columns, oddsColumnJSON{c.input, c.column, len(c.codes), c.classes})
		var all []float64
		for k, code := range c.codes {
			all = append(all, code)
			for _, u := range c.effects {
				all = append(all, u[k])
			}
		}
		f.add(levelsTensor(i), all, len(c.codes), 1+len(c.classes))
	}
	return j
}

// takeLevelOdds reads levels of a pool of classes whose members have the inputs; nil if it has none.
func (f *fileReader) takeLevelOdds(j *levelOddsJSON, inputs []ModelInput, classes int) (*levelOdds, error) {
	if j == nil {
		return nil, nil
	}
	l := &levelOdds{}
	for i, c := range j.Columns {
		last := -1
		for _, k := range c.Classes {
			if k <= last || k >= classes {
				return nil, fmt.Errorf("model: levels.columns[%d]: classes %v of %d", i, c.Classes, classes)
			}
			last = k
		}
		if c.Input < 0 || c.Input >= len(inputs) || c.Column < 0 || c.Levels < 0 || (c.Levels == 0) != (c.Classes == nil) {
			return nil, fmt.Errorf("model: levels.columns[%d] is %+v", i, c)
		}
		column := oddsColumn{input: c.Input, column: c.Column, classes: c.Classes, effects: make([][]float64, len(c.Classes))}
		all, err := f.takeCodes(i, c.Levels, 1+len(c.Classes))
		if err != nil {
			return nil, err
		}
		for k := range all.Rows {
			r := all.Row(k)
			column.codes = append(column.codes, r[0])
			for e, u := range r[1:] {
				column.effects[e] = append(column.effects[e], u)
			}
		}
		if slices.ContainsFunc(l.columns, func(other oddsColumn) bool { return other.input == c.Input && other.column == c.Column }) {
			return nil, fmt.Errorf("model: levels.columns[%d] is a column before it", i)
		}
		l.columns = append(l.columns, column)
	}
	if l.columns == nil {
		return nil, fmt.Errorf("model: levels: no columns")
	}
	for i, c := range l.columns {
		if c.column >= inputs[c.input].Cols-l.added(c.input) {
			return nil, fmt.Errorf("model: levels.columns[%d]: column %d of an input of %d columns", i, c.column, inputs[c.input].Cols-l.added(c.input))
		}
	}
	return l, nil
}
