package multiclass

import (
	"math"
	"path/filepath"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/la"
)

// ProteinSources are the representations of proteins in the fold problem of C. Ding and
// I. Dubchak (2001), with the features of H.-B. Shen and K.-C. Chou (2006), as T. Damoulas and
// M. Girolami cleaned it: 311 training and 383 test proteins of 27 folds. The degrees belong to
// the polynomials that Damoulas and Girolami took as kernels: 2 of the global
// characteristics, 1 of the local alignment scores.
var ProteinSources = []struct {
	Name   string
	degree int
}{
	{"Composition", 2}, {"Secondary", 2}, {"Hydrophobicity", 2}, {"Polarity", 2}, {"Volume", 2}, {"Polarizability", 2},
	{"L1", 2}, {"L4", 2}, {"L14", 2}, {"L30", 2}, {"SWblosum62", 1}, {"SWpam50", 1},
}

// Proteins reads the problem from its files in dir. kernel computes each kernel, a
// polynomial of a degree, between the rows of x and y.
func Proteins(e *console.Env, dir string, kernel func(x, y la.Matrix[float64], degree int) la.Matrix[float64]) (*Problem, error) {
	x := &Problem{Name: "predefined"}
	var err error
	var labels [2][]float64
	for i, set := range []string{"Train", "Test"} {
		m, err := console.ReadMatrix(e, filepath.Join(dir, "t_"+set+".csv"))
		if err != nil {
			return nil, err
		}
		for r := range m.Rows {
			v := m.At(r, 0)
			if v < 1 || v > 1000 || v != math.Trunc(v) {
				return nil, console.Inputf("t_%s.csv: row %d: %g is not a class", set, r+1, v)
			}
			labels[i] = append(labels[i], v)
		}
	}
	n := len(labels[0])
	x.Classify(Sequence(0, n), Sequence(n, len(labels[1])), func(i int) int {
		if i < n {
			return int(labels[0][i]) - 1
		}
		return int(labels[1][i-n]) - 1
	})
	for _, s := range ProteinSources {
		var m [2]la.Matrix[float64]
		for i, set := range []string{"Train", "Test"} {
			path := filepath.Join(dir, s.Name+"_"+set+".csv")
			if m[i], err = console.ReadMatrix(e, path); err != nil {
				return nil, err
			}
			if m[i].Rows != len(labels[i]) || m[i].Cols != m[0].Cols {
				return nil, console.Inputf("%s: %d×%d where %d×%d is expected", path, m[i].Rows, m[i].Cols, len(labels[i]), m[0].Cols)
			}
		}
		ScaleColumns(m[0], m[1])
		x.Train = append(x.Train, kernel(m[0], m[0], s.degree))
		x.Test = append(x.Test, kernel(m[0], m[1], s.degree))
	}
	return x, nil
}

// ScaleColumns gives the columns of train mean 0 and standard deviation 1, and
// the columns of test the same shift and scale.
func ScaleColumns(train, test la.Matrix[float64]) {
	column := make([]float64, train.Rows)
	for j := range train.Cols {
		for i := range column {
			column[i] = train.At(i, j)
		}
		mean, sd := measure.MeanSD(column)
		if sd == 0 {
			sd = 1
		}
		for _, m := range []la.Matrix[float64]{train, test} {
			for i := range m.Rows {
				m.Set(i, j, (m.At(i, j)-mean)/sd)
			}
		}
	}
}

// UnitPolynomial returns the kernel (1 + x·y)² (degree 2) or x·y (degree 1)
// between the rows of x and y, divided by the root of each row's kernel with
// itself.
func UnitPolynomial(x, y la.Matrix[float64], degree int) la.Matrix[float64] {
	k := la.NewMatrix[float64](x.Rows, y.Rows)
	la.Gemm(nil, la.NoTrans, la.Transpose, 1, x, y, 0, k)
	kernel := func(inner float64) float64 {
		if degree == 2 {
			return (1 + inner) * (1 + inner)
		}
		return inner
	}
	self := func(m la.Matrix[float64]) []float64 {
		root := make([]float64, m.Rows)
		for i := range root {
			root[i] = math.Sqrt(kernel(la.SumSq(m.Row(i))))
		}
		return root
	}
	rx, ry := self(x), self(y)
	for i := range k.Rows {
		row := k.Row(i)
		for j, v := range row {
			row[j] = 0
			if r := rx[i] * ry[j]; r > 0 {
				row[j] = kernel(v) / r
			}
		}
	}
	return k
}
