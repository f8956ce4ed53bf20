package mkl

import (
	"fmt"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// encode adds the tensor features, with a row of median, spread, mean, sd, low and high for each feature, and returns the settings: the
// inputs of the design, and input and column of each feature.
func (l *localFeatures) encode(f *fileWriter, ds *gram.Design) (inputs []inputJSON, columns [][2]int) {
	for _, in := range ds.Inputs {
		inputs = append(inputs, inputJSON{Name: in.Name, Cols: in.Cols})
	}
	var all []float64
	for _, c := range l.columns {
		columns = append(columns, [2]int{c.input, c.column})
		all = append(all, c.median, c.spread, c.mean, c.sd, c.low, c.high)
	}
	f.add("features", all, len(columns), 6)
	return inputs, columns
}

// takeFeatures returns the features of settings and tensor, and gives the design its inputs.
func takeFeatures(f *fileReader, ds *gram.Design, inputs []inputJSON, columns [][2]int) (*localFeatures, error) {
	for _, in := range inputs {
		ds.Inputs = append(ds.Inputs, gram.Input{Name: in.Name, Cols: in.Cols})
	}
	all := f.takeMatrix("features", len(columns), 6)
	if f.err != nil {
		return nil, f.err
	}
	l := &localFeatures{}
	for i, c := range columns {
		if c[0] < 0 || c[0] >= len(ds.Inputs) || c[1] < 0 || c[1] >= ds.Inputs[c[0]].Cols {
			return nil, fmt.Errorf("columns[%d] is %v", i, c)
		}
		r := all.Row(i)
		if !(r[1] >= 0 && r[3] > 0 && r[4] <= r[5]) || vec.FirstNonFinite(r) >= 0 {
			return nil, fmt.Errorf("tensor %q: row %d is %v", "features", i, r)
		}
		l.columns = append(l.columns, localColumn{c[0], c[1], r[0], r[1], r[2], r[3], r[4], r[5]})
	}
	return l, nil
}
