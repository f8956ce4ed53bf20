package main

import (
	"math"
	"path/filepath"

	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/la"
)

// The protein fold problem of C. Ding and I. Dubchak (2001) with the
// representations of H.-B. Shen and K.-C. Chou (2006), as T. Damoulas and
// M. Girolami cleaned it: 311 training and 383 test proteins of 27 folds.
// Kernels are theirs: polynomials of degree 2 of the global characteristics,
// inner products of the rows of local alignment scores.
var proteinSources = []struct {
	name   string
	degree int
}{
	{"Composition", 2}, {"Secondary", 2}, {"Hydrophobicity", 2}, {"Polarity", 2}, {"Volume", 2}, {"Polarizability", 2},
	{"L1", 2}, {"L4", 2}, {"L14", 2}, {"L30", 2}, {"SWblosum62", 1}, {"SWpam50", 1},
}

type reproduceProteinfoldCmd struct {
	classesFlags `embed:""`
}

func (c *reproduceProteinfoldCmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return err
	}
	next := func(int) (*experiment, error) {
		x, err := readProteins(e, c.Data, unitPolynomial)
		if err != nil {
			return nil, err
		}
		return x, c.checkMemory(len(proteinSources), len(x.trainClass), len(x.testClass), x.classes)
	}
	return c.runExperiments(e, "Protein folds: 12 representations, kernels (1 + x·y)² and, of alignment scores, x·y, to unit diagonal", 1, next,
		[]paperFigure{{Model: "multinomial probit, VB", Accuracy: "68.1 ± 1.2", Source: "Damoulas and Girolami, 20 starts"}},
		"columns to mean 0 and deviation 1 over the training proteins")
}

// readProteins reads the problem and computes its kernels, polynomials of a degree.
func readProteins(e *env, dir string, kernel func(x, y la.Matrix[float64], degree int) la.Matrix[float64]) (*experiment, error) {
	x := &experiment{name: "predefined"}
	var err error
	var labels [2][]float64
	for i, set := range []string{"Train", "Test"} {
		m, err := readMatrix(e, filepath.Join(dir, "t_"+set+".csv"))
		if err != nil {
			return nil, err
		}
		for r := range m.Rows {
			v := m.At(r, 0)
			if v < 1 || v > 1000 || v != math.Trunc(v) {
				return nil, inputf("t_%s.csv: row %d: %g is not a class", set, r+1, v)
			}
			labels[i] = append(labels[i], v)
		}
	}
	n := len(labels[0])
	x.classify(sequence(0, n), sequence(n, len(labels[1])), func(i int) int {
		if i < n {
			return int(labels[0][i]) - 1
		}
		return int(labels[1][i-n]) - 1
	})
	for _, s := range proteinSources {
		var m [2]la.Matrix[float64]
		for i, set := range []string{"Train", "Test"} {
			path := filepath.Join(dir, s.name+"_"+set+".csv")
			if m[i], err = readMatrix(e, path); err != nil {
				return nil, err
			}
			if m[i].Rows != len(labels[i]) || m[i].Cols != m[0].Cols {
				return nil, inputf("%s: %d×%d where %d×%d is expected", path, m[i].Rows, m[i].Cols, len(labels[i]), m[0].Cols)
			}
		}
		scaleColumns(m[0], m[1])
		x.train = append(x.train, kernel(m[0], m[0], s.degree))
		x.test = append(x.test, kernel(m[0], m[1], s.degree))
	}
	return x, nil
}

// readMatrix reads a whole file of numbers.
func readMatrix(e *env, path string) (la.Matrix[float64], error) {
	fs := &files{env: e}
	defer fs.close()
	f, err := fs.open(path)
	if err != nil {
		return la.Matrix[float64]{}, err
	}
	columns := sequence(0, len(f.Columns()))
	for _, j := range columns {
		f.need(j, table.Number)
	}
	if _, err := fs.read(); err != nil {
		return la.Matrix[float64]{}, err
	}
	return f.matrix(columns), nil
}

// scaleColumns gives the columns of train mean 0 and standard deviation 1, and
// those of test the same shift and scale.
func scaleColumns(train, test la.Matrix[float64]) {
	column := make([]float64, train.Rows)
	for j := range train.Cols {
		for i := range column {
			column[i] = train.At(i, j)
		}
		mean, sd := meanSD(column)
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

// unitPolynomial returns the kernel (1 + x·y)² (degree 2) or x·y (degree 1)
// between the rows of x and y, divided by the root of each row's kernel with
// itself.
func unitPolynomial(x, y la.Matrix[float64], degree int) la.Matrix[float64] {
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
