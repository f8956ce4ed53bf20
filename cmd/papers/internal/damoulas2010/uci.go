package damoulas2010

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/probit"
)

// UCI is the UCI data sets by ten-fold cross-validation, with three kernels.
type UCI struct {
	flags  `embed:""`
	Sweeps int      `default:"50" help:"Most sweeps of a fit (${default}, the paper's)."`
	Scale  string   `default:"sd" enum:"sd,range,length,none" help:"How features are scaled: to mean 0 and deviation 1 (sd) or to the range from 0 to 1 (range) over the training samples, each sample to length 1, or not at all."`
	Unit   bool     `help:"Give linear and polynomial kernels unit diagonals."`
	Sets   []string `placeholder:"NAME" help:"Data sets, by name; all unless given."`
}

// uciSet is a data set in one text file.
type uciSet struct {
	name, file string
	labels     []int // columns whose text together is the class
	first, n   int   // feature columns
	paper      [3]string
	seconds    string // of Table 1.3, for the ten folds
}

// The labels of Balance follow from its features, which are all combinations.
var uciSets = []uciSet{
	{"Balance", "", nil, 0, 4, [3]string{"8.8 ± 3.6", "12.2 ± 4.2", "7.0 ± 3.3"}, "2285"},
	{"Crabs", "crabs.csv", []int{0, 1}, 3, 5, [3]string{"23.5 ± 11.3", "13.5 ± 8.2", "21.5 ± 9.1"}, "270"},
	{"Glass", "glass.csv", []int{9}, 0, 9, [3]string{"27.9 ± 10.1", "35.8 ± 11.8", "28.4 ± 8.9"}, "380"},
	{"Iris", "iris.csv", []int{4}, 0, 4, [3]string{"2.7 ± 5.6", "11.3 ± 9.9", "4.7 ± 6.3"}, "89"},
	{"Soybean", "soybean-small.csv", []int{0}, 1, 35, [3]string{"6.5 ± 10.6", "6.0 ± 9.7", "4.0 ± 8.4"}, "19"},
	{"Vehicle", "vehicle.csv", []int{18}, 0, 18, [3]string{"25.6 ± 4.0", "29.7 ± 3.3", "26.0 ± 6.1"}, "3420"},
	{"Wine", "wine.data", []int{0}, 1, 13, [3]string{"4.5 ± 5.1", "2.8 ± 4.7", "1.1 ± 2.3"}, "105"},
}

// balance is the Balance Scale data set: which way a scale tips with weights 1 to
// 5 at distances 1 to 5 on either side.
func balance() (x la.Matrix[float64], class []int) {
	x = la.NewMatrix[float64](625, 4)
	for i := range 625 {
		row := x.Row(i)
		for j, r := 0, i; j < 4; j, r = j+1, r/5 {
			row[j] = float64(1 + r%5)
		}
		switch left, right := row[0]*row[1], row[2]*row[3]; {
		case left > right:
			class = append(class, 0)
		case left < right:
			class = append(class, 1)
		default:
			class = append(class, 2)
		}
	}
	return x, class
}

// read reads a set; ok is false if its file is not there.
func (s uciSet) read(e *console.Env, dir string) (x la.Matrix[float64], class []int, ok bool, err error) {
	if s.file == "" {
		x, class = balance()
		return x, class, true, nil
	}
	path := filepath.Join(dir, s.file)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return x, nil, false, nil
	}
	fs := &console.Files{Env: e}
	defer fs.Close()
	f, err := fs.Open(path)
	if err != nil {
		return x, nil, false, err
	}
	if need := max(s.first+s.n, 1+slices.Max(s.labels)); len(f.Columns()) < need {
		return x, nil, false, console.Inputf("%s: %d columns where %d are needed", path, len(f.Columns()), need)
	}
	for j := range s.n {
		f.Need(s.first+j, table.Number)
	}
	for _, j := range s.labels {
		f.Need(j, table.Label)
	}
	n, err := fs.Read()
	if err != nil {
		return x, nil, false, err
	}
	at := map[string]int{}
	for i := range n {
		var name string
		for _, j := range s.labels {
			name += f.Data.Labels[j][i] + " "
		}
		c, seen := at[name]
		if !seen {
			c = len(at)
			at[name] = c
		}
		class = append(class, c)
	}
	return f.Matrix(multiclass.Sequence(s.first, s.n)), class, true, nil
}

// folds deals the samples of each class out to k folds at random.
func folds(class []int, k int, seed uint64) [][]int {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([][]int, k)
	next := 0
	for c := range 1 + slices.Max(class) {
		var members []int
		for i, v := range class {
			if v == c {
				members = append(members, i)
			}
		}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		for _, i := range members {
			out[next%k] = append(out[next%k], i)
			next++
		}
	}
	return out
}

var uciKernels = []string{"RBF", "linear", "polynomial"}

// kernel returns kernels of scaled features.
func (c *UCI) kernel(name string, train, test la.Matrix[float64]) (k, cross la.Matrix[float64]) {
	switch c.Scale {
	case "sd":
		multiclass.ScaleColumns(train, test)
	case "range":
		scaleToRange(train, test)
	case "length":
		scaleRows(train)
		scaleRows(test)
	}
	offset, degree := 0.0, 1
	switch name {
	case "RBF":
		return rbfKernels(train, test)
	case "polynomial":
		offset, degree = 1, 2
	}
	k, cross = powerKernels(train, test, offset, degree)
	if c.Unit {
		toUnitDiagonal(k, cross, selfKernel(train, offset, degree), selfKernel(test, offset, degree))
	}
	return k, cross
}

// scaleToRange gives the columns of train the range from 0 to 1, and the columns of test
// the same shift and scale.
func scaleToRange(train, test la.Matrix[float64]) {
	for j := range train.Cols {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range train.Rows {
			low, high = min(low, train.At(i, j)), max(high, train.At(i, j))
		}
		if high == low {
			high = low + 1
		}
		for _, m := range []la.Matrix[float64]{train, test} {
			for i := range m.Rows {
				m.Set(i, j, (m.At(i, j)-low)/(high-low))
			}
		}
	}
}

// scaleRows gives the rows length 1, unless they are 0.
func scaleRows(m la.Matrix[float64]) {
	for i := range m.Rows {
		if l := math.Sqrt(la.SumSq(m.Row(i))); l > 0 {
			la.Scal(1/l, m.Row(i))
		}
	}
}

// selfKernel returns (offset + x·x/D)^degree of each row.
func selfKernel(m la.Matrix[float64], offset float64, degree int) []float64 {
	out := make([]float64, m.Rows)
	for i := range out {
		out[i] = math.Pow(offset+la.SumSq(m.Row(i))/float64(m.Cols), float64(degree))
	}
	return out
}

// toUnitDiagonal divides the kernels by the roots of the kernels of their samples with
// themselves. A sample whose kernel with itself is 0 keeps its zeros.
func toUnitDiagonal(k, cross la.Matrix[float64], train, test []float64) {
	for _, m := range []struct {
		k    la.Matrix[float64]
		self []float64
	}{{k, train}, {cross, test}} {
		for i := range m.k.Rows {
			for j, v := range m.k.Row(i) {
				if s := train[i] * m.self[j]; s > 0 {
					m.k.Set(i, j, v/math.Sqrt(s))
				}
			}
		}
	}
}

// Run runs the experiment.
func (c *UCI) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	const k = 10
	var sets []map[string]any
	rows := [][]string{{"data set", "kernel", "error %", "stated", "sweeps", "seconds", "stated"}}
	var missing []string
	for _, name := range c.Sets {
		if !slices.ContainsFunc(uciSets, func(s uciSet) bool { return s.name == name }) {
			return console.Inputf("-sets: there is no set %q", name)
		}
	}
	for _, s := range uciSets {
		if len(c.Sets) > 0 && !slices.Contains(c.Sets, s.name) {
			continue
		}
		x, class, ok, err := s.read(e, c.Data)
		if err != nil {
			return err
		}
		if !ok {
			missing = append(missing, s.name)
			continue
		}
		parts := folds(class, k, c.Seed)
		for j, kernel := range uciKernels {
			rates, sweeps, seconds := make([]float64, k), make([]float64, k), make([]float64, k)
			p := console.NewProgress(e, c.JSON, k, "folds, "+s.name+", "+kernel)
			err := console.Each(e.Ctx, c.Workers, k, func(ctx context.Context, f int) error {
				start := time.Now()
				var inside []int
				for i, part := range parts {
					if i != f {
						inside = append(inside, part...)
					}
				}
				km, cross := c.kernel(kernel, x.TakeRows(inside), x.TakeRows(parts[f]))
				rate, n, err := c.trial(ctx, c.machine(probit.RuleFixSum, c.Sweeps, c.Seed+uint64(f)), []la.Matrix[float64]{km}, []la.Matrix[float64]{cross}, multiclass.At(class, inside), multiclass.At(class, parts[f]))
				rates[f], sweeps[f], seconds[f] = rate, n, time.Since(start).Seconds()
				p.Step()
				return err
			})
			p.Finish()
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, kernel, err)
			}
			f := newFigures(s.name, rates, s.paper[j])
			f.Sweeps, _ = measure.MeanSD(sweeps)
			mean, _ := measure.MeanSD(seconds)
			sets = append(sets, map[string]any{"set": s.name, "kernel": kernel, "error": f, "seconds": k * mean})
			rows = append(rows, []string{s.name, kernel, f.String(), f.Paper, fmt.Sprintf("%.0f", f.Sweeps), fmt.Sprintf("%.1f", k*mean), s.seconds})
		}
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{"experiment": "uci", "sets": sets, "missing": missing})
	}
	fmt.Fprintln(e.Stdout, "UCI data sets, ten-fold cross-validation (Tables 1.2 and 1.3): error % ± deviation over the folds, and the seconds of all folds")
	for _, name := range missing {
		fmt.Fprintf(e.Stdout, "%s: no file in %s\n", name, c.Data)
	}
	fmt.Fprintln(e.Stdout)
	return console.PrintTable(e.Stdout, "llrrrrr", rows)
}
