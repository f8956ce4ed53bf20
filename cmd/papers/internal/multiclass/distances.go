package multiclass

import (
	"bufio"
	"fmt"
	"os"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/matfile"
	"github.com/bmkl/bmkl/la"
)

// DistanceKernels turns the distances between samples into the kernels
// exp(−d/s), s the mean distance over all pairs of training samples. Column j of
// d holds the distances of every sample to training sample j.
func DistanceKernels(d la.Matrix[float64], train, test []int) (k, cross la.Matrix[float64], err error) {
	k, cross, err = ScaledDistances(d, train, test)
	for _, m := range []la.Matrix[float64]{k, cross} {
		la.Scal(-1, m.Data)
		la.Exp(m.Data, m.Data)
	}
	return k, cross, err
}

// ScaledDistances returns d/s between training samples, and between them and the
// test samples.
func ScaledDistances(d la.Matrix[float64], train, test []int) (within, cross la.Matrix[float64], err error) {
	n := len(train)
	var sum float64
	for _, i := range train {
		var row float64
		for _, v := range d.Row(i) {
			row += v
		}
		sum += row / float64(n)
	}
	s := sum / float64(n)
	if !(s > 0) {
		return within, cross, fmt.Errorf("the mean distance is %g", s)
	}
	fill := func(samples []int) la.Matrix[float64] {
		m := la.NewMatrix[float64](n, len(samples))
		for j := range n {
			row := m.Row(j)
			for t, i := range samples {
				row[t] = d.At(i, j) / s
			}
		}
		return m
	}
	return fill(train), fill(test), nil
}

// AddDistances adds the kernel of a distance matrix. It keeps only the columns of
// the training samples.
func (x *Problem) AddDistances(e *console.Env, path, name string, train, test []int) error {
	d, err := ReadColumns(e, path, name, train, 1+max(slices.Max(train), slices.Max(test)))
	if err != nil {
		return err
	}
	k, cross, err := DistanceKernels(d, train, test)
	if err != nil {
		return console.Inputf("%s: %s: %w", path, name, err)
	}
	x.Train, x.Test = append(x.Train, k), append(x.Test, cross)
	return nil
}

// readMAT reads a MAT-file: visit says of each array where its elements go.
func readMAT(e *console.Env, path string, visit func(matfile.Array) (matfile.Sink, error)) error {
	f, err := os.Open(path)
	if err != nil {
		return console.Input(err)
	}
	defer f.Close()
	if err := matfile.Read(bufio.NewReader(e.Reader(f)), visit); err != nil {
		return console.Inputf("%s: %w", path, err)
	}
	return nil
}

// ReadVectors reads the arrays of whole numbers in a small MAT-file, by name.
func ReadVectors(e *console.Env, path string) (map[string][]int, error) {
	const most = 1 << 20
	all := map[string][]int{}
	err := readMAT(e, path, func(a matfile.Array) (matfile.Sink, error) {
		if a.Len() > most {
			return nil, fmt.Errorf("%s: %d elements", a.Name, a.Len())
		}
		return func(first int, x []float64) error {
			for i, v := range x {
				n := int(v)
				if float64(n) != v {
					return fmt.Errorf("%s: element %d is %g, not a whole number", a.Name, first+i+1, v)
				}
				all[a.Name] = append(all[a.Name], n)
			}
			return nil
		}, nil
	})
	return all, err
}

// ReadColumns reads some columns of the named matrix in a MAT-file: distances, square,
// and of at least the given order.
func ReadColumns(e *console.Env, path, name string, columns []int, order int) (la.Matrix[float64], error) {
	var d la.Matrix[float64]
	found := false
	err := readMAT(e, path, func(a matfile.Array) (matfile.Sink, error) {
		if a.Name != name {
			return nil, nil
		}
		if len(a.Dims) != 2 || a.Dims[0] != a.Dims[1] || a.Dims[0] < order {
			return nil, fmt.Errorf("%s: an array of shape %v where a square matrix of order %d or more is needed", name, a.Dims, order)
		}
		found = true
		n := a.Dims[0]
		at := make([]int, n) // where a column goes, counted from 1
		for j, c := range columns {
			at[c] = j + 1
		}
		d = la.NewMatrix[float64](n, len(columns))
		return func(first int, x []float64) error {
			for k, v := range x {
				i, c := (first+k)%n, (first+k)/n
				if !(v >= 0) || v > 1e300 {
					return fmt.Errorf("%s: element (%d, %d) is %g, not a distance", name, i+1, c+1, v)
				}
				if at[c] > 0 {
					d.Set(i, at[c]-1, v)
				}
			}
			return nil
		}, nil
	})
	if err == nil && !found {
		err = console.Inputf("%s: no array %s", path, name)
	}
	return d, err
}

// Indices joins the named arrays of sample numbers, which count from 1 to n, and returns
// them counted from 0. No sample can be there twice.
func Indices(arrays map[string][]int, n int, names ...string) ([]int, error) {
	var all []int
	seen := make([]bool, n)
	for _, name := range names {
		if len(arrays[name]) == 0 {
			return nil, fmt.Errorf("no array %s", name)
		}
		for k, v := range arrays[name] {
			if v < 1 || v > n {
				return nil, fmt.Errorf("%s: element %d is %d, not a sample from 1 to %d", name, k+1, v, n)
			}
			if seen[v-1] {
				return nil, fmt.Errorf("%s: element %d: sample %d is there twice", name, k+1, v)
			}
			seen[v-1] = true
			all = append(all, v-1)
		}
	}
	return all, nil
}
