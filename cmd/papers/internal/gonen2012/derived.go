package gonen2012

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
	"github.com/bmkl/bmkl/la"
)

// Derived is Flowers17 learned from other features than the authors': seven sets of
// word counts.
type Derived struct {
	flags `embed:""`
	Split int `default:"2" help:"Which of the splits of datasplits.mat to use (${default}, on whose training images the vocabularies were learned)."`
}

// Run runs the experiment. Its files are word counts NAME.npy with a row for each
// image, labels.npy, and the splits of the authors if they are there.
func (c *Derived) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	fs := &console.Files{Env: e}
	defer fs.Close()
	open := func(name string) (*console.File, error) {
		f, err := fs.Open(filepath.Join(c.Data, name+".npy"))
		if err != nil {
			return nil, err
		}
		for j := range f.Columns() {
			f.Need(j, table.Number)
		}
		return f, nil
	}
	labels, err := open("labels")
	if err != nil {
		return err
	}
	var counts []*console.File
	for _, name := range []string{"hsv", "lab3x3", "hog", "siftdense", "siftkey", "gabor", "lbp"} {
		f, err := open(name)
		if err != nil {
			return err
		}
		counts = append(counts, f)
	}
	n, err := fs.Read()
	if err != nil {
		return err
	}
	class := make([]int, n)
	for i, v := range labels.Data.Numbers[0] {
		if class[i] = int(v) - 1; class[i] < 0 || class[i] > n {
			return console.Inputf("%s: row %d: %g is not a class", labels.Name(), i+1, v)
		}
	}
	remark := "the published figures of Flowers17 are for other features"
	splitName := fmt.Sprintf("official split %d", c.Split)
	path := filepath.Join(c.Data, "datasplits.mat")
	var train, test []int
	if _, err := os.Stat(path); err == nil {
		splits, err := multiclass.ReadVectors(e, path)
		if err != nil {
			return err
		}
		if train, test, err = flowers17Split(splits, c.Split); err != nil {
			return console.Inputf("%s: %w", path, err)
		}
		if m := 1 + max(slices.Max(train), slices.Max(test)); m > n {
			return console.Inputf("%s: sample %d where there are %d", path, m, n)
		}
	} else {
		splitName = fmt.Sprintf("random split, seed %d", c.Seed)
		train, test = multiclass.Stratified(class, 0.75, c.Seed)
		remark += "; the vocabularies saw some of these test images"
	}
	next := func(int) (*multiclass.Problem, error) {
		x := &multiclass.Problem{Name: splitName}
		x.Classify(train, test, func(i int) int { return class[i] })
		if err := c.checkMemory(len(counts), len(train), len(test), x.Classes); err != nil {
			return nil, err
		}
		for _, f := range counts {
			rows := f.Matrix(multiclass.Sequence(0, len(f.Columns())))
			d, err := chiSquared(e, rows, train, c.Workers)
			if err != nil {
				return nil, console.Inputf("%s: %w", f.Name(), err)
			}
			k, cross, err := multiclass.DistanceKernels(d, train, test)
			if err != nil {
				return nil, console.Inputf("%s: %w", f.Name(), err)
			}
			x.Train, x.Test = append(x.Train, k), append(x.Test, cross)
		}
		return x, nil
	}
	return c.run(e, "Flowers17, features of our own: seven sets of word counts, kernels exp(-χ²/s)", 1, next,
		[]paperFigure{{Model: "SVM on the mean kernel", Accuracy: "74.7", Source: "official split 2"}},
		fmt.Sprintf("%s, %s; %s", console.Plural(len(train), "training image"), console.Plural(len(test), "test image"), remark))
}

// chiSquared returns the distances Σ (x−y)²/(x+y) between every row of counts and
// the training rows, rows divided by their sums.
func chiSquared(e *console.Env, counts la.Matrix[float64], train []int, workers int) (la.Matrix[float64], error) {
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
	return d, console.Each(e.Ctx, workers, x.Rows, func(_ context.Context, i int) error {
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
