package mkl

import (
	"fmt"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// functionViews replaces each view that holds several known functions by one view for each function.
func functionViews(views []View) (all []View, err error) {
	for i, v := range views {
		if _, ok := v.Kernel.(kernel.KnownFunction); !ok {
			v.from = i + 1
			all = append(all, v)
			continue
		}
		if v.Center || v.Normalize {
			return nil, fmt.Errorf("mkl: %s: Center and Normalize are for kernels: Standardize gives functions their scale", v.label(i))
		}
		s := gram.Sight{Columns: v.Columns}
		if err := s.Check(v.X.Cols); err != nil {
			return nil, fmt.Errorf("mkl: %s: %w", v.label(i), err)
		}
		cols := s.Cols(v.X.Cols)
		for j := range cols {
			one := v
			one.from = i + 1
			one.Columns = []int{j}
			if v.Columns != nil {
				one.Columns[0] = v.Columns[j]
			}
			if v.Name != "" && cols > 1 {
				one.Name = fmt.Sprintf("%s #%d", v.Name, one.Columns[0]+1)
			}
			all = append(all, one)
		}
		if cols == 0 { // bindViews returns the error
			all = append(all, v)
		}
	}
	return all, nil
}
