package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bmkl/bmkl/cmd/mkl/internal/matfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/la"
)

// The Oxford flower data sets of M.-E. Nilsback and A. Zisserman: distance
// matrices between images, and the splits. The experiments are those of section
// 5.2 of Gönen (2012).

type reproduceFlowers17Cmd struct {
	classesFlags `embed:""`
}

type reproduceFlowers102Cmd struct {
	classesFlags `embed:""`
}

type reproduceDerivedCmd struct {
	classesFlags `embed:""`
	Split        int `default:"2" help:"Which of the splits of datasplits.mat to use (${default}, on whose training images the vocabularies were learned)."`
}

const flowers17PerClass = 80

// gonen2012 is the paper.
const gonen2012 = "Gönen (2012)"

// flowers17Distances names the matrices by file, as the authors do.
var flowers17Distances = []struct {
	file  string
	names []string
}{
	{"distancematrices17gcfeat06.mat", []string{"D_colourgc", "D_shapegc", "D_texturegc"}},
	{"distancematrices17itfeat08.mat", []string{"D_hog", "D_hsv", "D_siftbdy", "D_siftint"}},
}

func (c *reproduceFlowers17Cmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return err
	}
	splits, err := readVectors(e, filepath.Join(c.Data, "datasplits.mat"))
	if err != nil {
		return err
	}
	next := func(s int) (*experiment, error) {
		train, test, err := flowers17Split(splits, s+1)
		if err != nil {
			return nil, inputf("%s: %w", filepath.Join(c.Data, "datasplits.mat"), err)
		}
		x := &experiment{name: fmt.Sprintf("split %d", s+1)}
		x.classify(train, test, func(i int) int { return i / flowers17PerClass })
		if err := c.checkMemory(7, len(train), len(test), x.classes); err != nil {
			return nil, err
		}
		for _, f := range flowers17Distances {
			path := filepath.Join(c.Data, f.file)
			for _, name := range f.names {
				if err := x.addDistances(e, path, name, train, test); err != nil {
					return nil, err
				}
			}
		}
		return x, nil
	}
	return c.runExperiments(e, "Flowers17: seven distance matrices, kernels exp(-d/s), three predefined splits", 3, next, []paperFigure{
		{"single", "86.2 ± 1.6", "", "", gonen2012},
		{"multiple", "86.0 ± 1.6", "", "", gonen2012},
	})
}

func (c *reproduceFlowers102Cmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return err
	}
	next := func(int) (*experiment, error) { return readFlowers102(e, c.Data, c.checkMemory) }
	return c.runExperiments(e, "Flowers102: four distance matrices, kernels exp(-d/s)", 1, next, []paperFigure{
		{"single", "68.8", "0.977", "0.060", gonen2012},
		{"multiple", "69.3", "0.977", "0.062", gonen2012},
	})
}

const flowers102File = "distancematrices102.mat"

var flowers102Distances = []string{"Dhog", "Dhsv", "Dsiftbdy", "Dsiftint"}

// readFlowers102 reads the kernels of the four distance matrices; checkMemory is
// asked before.
func readFlowers102(e *env, dir string, checkMemory func(kernels, train, test, classes int) error) (*experiment, error) {
	x, train, test, err := flowers102(e, dir)
	if err != nil {
		return nil, err
	}
	if err := checkMemory(len(flowers102Distances), len(train), len(test), x.classes); err != nil {
		return nil, err
	}
	for _, name := range flowers102Distances {
		if err := x.addDistances(e, filepath.Join(dir, flowers102File), name, train, test); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// flowers102 reads the classes and the split, training on the published training
// and validation images.
func flowers102(e *env, dir string) (x *experiment, train, test []int, err error) {
	setid, imagelabels := filepath.Join(dir, "setid.mat"), filepath.Join(dir, "imagelabels.mat")
	sets, err := readVectors(e, setid)
	if err != nil {
		return nil, nil, nil, err
	}
	labels, err := readVectors(e, imagelabels)
	if err != nil {
		return nil, nil, nil, err
	}
	label := labels["labels"]
	if label == nil {
		return nil, nil, nil, inputf("%s: no array labels", imagelabels)
	}
	if train, err = indices(sets, len(label), "trnid", "valid"); err == nil {
		test, err = indices(sets, len(label), "tstid")
	}
	if err != nil {
		return nil, nil, nil, inputf("%s: %w", setid, err)
	}
	x = &experiment{name: "predefined"}
	x.classify(train, test, func(i int) int { return label[i] - 1 })
	return x, train, test, nil
}

// classify sets the classes of the training and test samples.
func (x *experiment) classify(train, test []int, class func(int) int) {
	for _, i := range train {
		x.trainClass = append(x.trainClass, class(i))
	}
	for _, i := range test {
		x.testClass = append(x.testClass, class(i))
	}
	x.classes = 1 + max(slices.Max(x.trainClass), slices.Max(x.testClass))
}

// addDistances adds the kernel of a distance matrix, of which only the columns of
// the training samples are kept.
func (x *experiment) addDistances(e *env, path, name string, train, test []int) error {
	d, err := readColumns(e, path, name, train, 1+max(slices.Max(train), slices.Max(test)))
	if err != nil {
		return err
	}
	k, cross, err := distanceKernels(d, train, test)
	if err != nil {
		return inputf("%s: %s: %w", path, name, err)
	}
	x.train, x.test = append(x.train, k), append(x.test, cross)
	return nil
}

// openMAT calls read with a file's arrays.
func openMAT(e *env, path string, visit func(matfile.Array) (matfile.Sink, error)) error {
	f, err := os.Open(path)
	if err != nil {
		return input(err)
	}
	defer f.Close()
	if err := matfile.Read(bufio.NewReader(&contextReader{e.ctx, f}), visit); err != nil {
		return inputf("%s: %w", path, err)
	}
	return nil
}

// readVectors reads the arrays of whole numbers in a small file.
func readVectors(e *env, path string) (map[string][]int, error) {
	const most = 1 << 20
	all := map[string][]int{}
	err := openMAT(e, path, func(a matfile.Array) (matfile.Sink, error) {
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

// readColumns reads some columns of a square matrix of at least the given order.
func readColumns(e *env, path, name string, columns []int, order int) (la.Matrix[float64], error) {
	var d la.Matrix[float64]
	found := false
	err := openMAT(e, path, func(a matfile.Array) (matfile.Sink, error) {
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
		err = inputf("%s: no array %s", path, name)
	}
	return d, err
}

// indices joins arrays of sample numbers, counted from 1 to n, and returns them
// counted from 0.
func indices(arrays map[string][]int, n int, names ...string) ([]int, error) {
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

// flowers17Split returns the training (trn and val) and test samples of a split,
// in which every sample has its place.
func flowers17Split(splits map[string][]int, split int) (train, test []int, err error) {
	trn, val, tst := fmt.Sprintf("trn%d", split), fmt.Sprintf("val%d", split), fmt.Sprintf("tst%d", split)
	n := len(splits[trn]) + len(splits[val]) + len(splits[tst])
	all, err := indices(splits, n, trn, val, tst)
	if err != nil {
		return nil, nil, err
	}
	cut := n - len(splits[tst])
	return all[:cut], all[cut:], nil
}

// Run repeats Flowers17 on other features: seven files of word counts NAME.npy,
// a row for each image, and labels.npy.
func (c *reproduceDerivedCmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return err
	}
	fs := &files{env: e}
	defer fs.close()
	open := func(name string) (*file, error) {
		f, err := fs.open(filepath.Join(c.Data, name+".npy"))
		if err != nil {
			return nil, err
		}
		for j := range f.Columns() {
			f.need(j, table.Number)
		}
		return f, nil
	}
	labels, err := open("labels")
	if err != nil {
		return err
	}
	var counts []*file
	for _, name := range []string{"hsv", "lab3x3", "hog", "siftdense", "siftkey", "gabor", "lbp"} {
		f, err := open(name)
		if err != nil {
			return err
		}
		counts = append(counts, f)
	}
	n, err := fs.read()
	if err != nil {
		return err
	}
	class := make([]int, n)
	for i, v := range labels.data.Numbers[0] {
		if class[i] = int(v) - 1; class[i] < 0 || class[i] > n {
			return inputf("%s: row %d: %g is not a class", labels.Name(), i+1, v)
		}
	}
	remark := "the published figures of Flowers17 are for other features"
	splitName := fmt.Sprintf("official split %d", c.Split)
	path := filepath.Join(c.Data, "datasplits.mat")
	var train, test []int
	if _, err := os.Stat(path); err == nil {
		splits, err := readVectors(e, path)
		if err != nil {
			return err
		}
		if train, test, err = flowers17Split(splits, c.Split); err != nil {
			return inputf("%s: %w", path, err)
		}
		if m := 1 + max(slices.Max(train), slices.Max(test)); m > n {
			return inputf("%s: sample %d where there are %d", path, m, n)
		}
	} else {
		splitName = fmt.Sprintf("random split, seed %d", c.Seed)
		train, test = stratified(class, 0.75, c.Seed)
		remark += "; the vocabularies saw some of these test images"
	}
	next := func(int) (*experiment, error) {
		x := &experiment{name: splitName}
		x.classify(train, test, func(i int) int { return class[i] })
		if err := c.checkMemory(len(counts), len(train), len(test), x.classes); err != nil {
			return nil, err
		}
		for _, f := range counts {
			rows := f.matrix(sequence(0, len(f.Columns())))
			d, err := chiSquared(e, rows, train, processors(c.Workers))
			if err != nil {
				return nil, inputf("%s: %w", f.Name(), err)
			}
			k, cross, err := distanceKernels(d, train, test)
			if err != nil {
				return nil, inputf("%s: %w", f.Name(), err)
			}
			x.train, x.test = append(x.train, k), append(x.test, cross)
		}
		return x, nil
	}
	return c.runExperiments(e, "Flowers17, features of our own: seven sets of word counts, kernels exp(-χ²/s)", 1, next,
		[]paperFigure{{Model: "SVM on the mean kernel", Accuracy: "74.7", Source: "official split 2"}},
		fmt.Sprintf("%s, %s; %s", plural(len(train), "training image"), plural(len(test), "test image"), remark))
}

// sequence is first, first+1, …: n numbers.
func sequence(first, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = first + i
	}
	return s
}

// stratified splits the samples of each class at random, a share for training.
func stratified(class []int, share float64, seed uint64) (train, test []int) {
	members := map[int][]int{}
	for i, c := range class {
		members[c] = append(members[c], i)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for c := range 1 + slices.Max(class) {
		m := members[c]
		r.Shuffle(len(m), func(i, j int) { m[i], m[j] = m[j], m[i] })
		cut := int(share * float64(len(m)))
		train, test = append(train, m[:cut]...), append(test, m[cut:]...)
	}
	slices.Sort(train)
	slices.Sort(test)
	return train, test
}

// chiSquared returns the distances Σ (x−y)²/(x+y) between every row of counts and
// the training rows, rows divided by their sums.
func chiSquared(e *env, counts la.Matrix[float64], train []int, workers int) (la.Matrix[float64], error) {
	x := counts.Clone()
	for i := range x.Rows {
		var sum float64
		for j, v := range x.Row(i) {
			if v < 0 {
				return x, fmt.Errorf("row %d, column %d: %g is not a count", i+1, j+1, v)
			}
			sum += v
		}
		if sum == 0 {
			return x, fmt.Errorf("row %d has no counts", i+1)
		}
		la.Scal(1/sum, x.Row(i))
	}
	d := la.NewMatrix[float64](x.Rows, len(train))
	group, ctx := errgroup.WithContext(e.ctx)
	group.SetLimit(workers)
	for i := range x.Rows {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			row := x.Row(i)
			for j, t := range train {
				var sum float64
				for k, v := range x.Row(t) {
					if s := row[k] + v; s > 0 {
						sum += float64((row[k]-v)*(row[k]-v)) / s
					}
				}
				d.Set(i, j, sum)
			}
			return nil
		})
	}
	return d, group.Wait()
}
