package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// A set is data whose every third sample is for testing. Features have mean 0 and standard
// deviation 1 over the training samples, and so have targets; labels are ±1.
type set struct {
	name    string
	labels  bool
	x, test mkl.Features
	y, want []float64 // of x and of test
}

// newSet splits and standardises rows, whose last columns are the targets or labels.
func newSet(name string, labels bool, rows [][]float64) (*set, error) {
	s := &set{name: name, labels: labels}
	var parts [2][][]float64
	for i, r := range rows {
		parts[i%3/2] = append(parts[i%3/2], r)
	}
	last := len(rows[0]) - 1
	for j := range rows[0] {
		if j == last && labels {
			break
		}
		var mean, square float64
		n := float64(len(parts[0]))
		for _, r := range parts[0] {
			mean += r[j] / n
		}
		for _, r := range parts[0] {
			square += (r[j] - mean) * (r[j] - mean) / n
		}
		sd := math.Sqrt(square)
		if sd == 0 { // a feature of one value
			sd = 1
		}
		for _, r := range rows {
			r[j] = (r[j] - mean) / sd
		}
	}
	split := func(rows [][]float64) (mkl.Features, []float64, error) {
		var x [][]float64
		var y []float64
		for _, r := range rows {
			x, y = append(x, r[:last]), append(y, r[last])
		}
		m, err := mkl.FromRows(x)
		return m, y, err
	}
	var err error
	if s.x, s.y, err = split(parts[0]); err != nil {
		return nil, err
	}
	s.test, s.want, err = split(parts[1])
	return s, err
}

// readSet reads NAME.csv of a folder: a line of names, then numbers, and in the last column
// the target or one of two words.
func readSet(folder, name string, labels bool) (*set, error) {
	f, err := os.Open(filepath.Join(folder, name+".csv"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rows [][]float64
	var first string // the word that is the label −1
	lines := bufio.NewScanner(f)
	lines.Scan()
	for lines.Scan() {
		cells := strings.Split(lines.Text(), ",")
		if rows != nil && len(cells) != len(rows[0]) {
			return nil, fmt.Errorf("%s: row %d has %d cells where the first has %d", f.Name(), len(rows)+1, len(cells), len(rows[0]))
		}
		last := len(cells) - 1
		row := make([]float64, len(cells))
		for j, c := range cells {
			if j == last && labels {
				if first == "" {
					first = c
				}
				row[j] = 1
				if c == first {
					row[j] = -1
				}
				continue
			}
			if row[j], err = strconv.ParseFloat(c, 64); err != nil {
				return nil, fmt.Errorf("%s: row %d: %w", f.Name(), len(rows)+1, err)
			}
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(rows) < 3 {
		return nil, fmt.Errorf("%s: %d rows where at least 3 are needed", f.Name(), len(rows))
	}
	return newSet(name, labels, rows)
}

// madeSet returns a set of 300 samples of ten features; two of them matter.
func madeSet(labels bool) *set {
	x, noise := random(300, 10, 1), random(1, 300, 2).Data
	var rows [][]float64
	for i := range x.Rows {
		r := x.Row(i)
		y := math.Sin(2*r[0]) + 0.5*r[1] + 0.3*noise[i]
		if labels {
			y = math.Copysign(1, y)
		}
		rows = append(rows, append(r[:len(r):len(r)], y))
	}
	s, err := newSet("ten features", labels, rows)
	must(err)
	return s
}

// sets returns the set that is made, and the sets of a folder unless it is "".
func sets(folder string, labels bool) ([]*set, error) {
	out := []*set{madeSet(labels)}
	if folder == "" {
		return out, nil
	}
	names := []string{"diabetes", "boston"}
	if labels {
		names = []string{"ionosphere", "sonar"}
	}
	for _, name := range names {
		s, err := readSet(folder, name, labels)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// views returns RBF kernels of the features, of the widths of the regressions.
func (s *set) views() (views []mkl.View) {
	for _, w := range widths {
		views = append(views, mkl.View{X: s.x, Kernel: kernel.RBF{Width: w}})
	}
	return views
}

// kernels returns the matrices of these kernels between the training samples and the samples
// x, a row for each of the latter.
func (s *set) kernels(x mkl.Features) (k []la.Matrix[float64]) {
	for _, w := range widths {
		m := la.NewMatrix[float64](x.Rows, s.x.Rows)
		la.RBF(nil, 1/(2*w*w), x, s.x, m)
		k = append(k, m)
	}
	return k
}

// classes returns the labels as mkl has them, true for 1.
func (s *set) classes() []bool {
	c := make([]bool, len(s.y))
	for i, y := range s.y {
		c[i] = y > 0
	}
	return c
}

// rmse returns the root mean squared error of means of the test samples.
func (s *set) rmse(mean []float64) float64 {
	var sum float64
	for i, m := range mean {
		sum += (m - s.want[i]) * (m - s.want[i])
	}
	return math.Sqrt(sum / float64(len(mean)))
}

// nlpd returns the mean of −log p(target) in nats over the test samples, given the means and
// variances of their predictions.
func (s *set) nlpd(mean, variance []float64) float64 {
	var sum float64
	for i, m := range mean {
		sum += 0.5 * (math.Log(2*math.Pi*variance[i]) + (s.want[i]-m)*(s.want[i]-m)/variance[i])
	}
	return sum / float64(len(mean))
}

// logLoss returns the mean of −log p(label) in nats over the test samples, given the
// probabilities of the label 1.
func (s *set) logLoss(positive []float64) float64 {
	var sum float64
	for i, p := range positive {
		if s.want[i] < 0 {
			p = 1 - p
		}
		sum -= math.Log(max(p, math.SmallestNonzeroFloat64))
	}
	return sum / float64(len(positive))
}
