package gonen2012

import (
	"fmt"
	"path/filepath"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
)

// Flowers17 is section 5.2 of the paper on the Oxford flowers of 17 classes, of
// which M.-E. Nilsback and A. Zisserman publish distances between images and three
// splits.
type Flowers17 struct {
	flags `embed:""`
}

// Flowers102 is the same on their flowers of 102 classes.
type Flowers102 struct {
	flags `embed:""`
}

const flowers17PerClass = 80 // images, one class after the other

// flowers17Distances names the matrices by file, as the authors do.
var flowers17Distances = []struct {
	file  string
	names []string
}{
	{"distancematrices17gcfeat06.mat", []string{"D_colourgc", "D_shapegc", "D_texturegc"}},
	{"distancematrices17itfeat08.mat", []string{"D_hog", "D_hsv", "D_siftbdy", "D_siftint"}},
}

// Run runs the experiment.
func (c *Flowers17) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	splits, err := multiclass.ReadVectors(e, filepath.Join(c.Data, "datasplits.mat"))
	if err != nil {
		return err
	}
	next := func(s int) (*multiclass.Problem, error) {
		train, test, err := flowers17Split(splits, s+1)
		if err != nil {
			return nil, console.Inputf("%s: %w", filepath.Join(c.Data, "datasplits.mat"), err)
		}
		x := &multiclass.Problem{Name: fmt.Sprintf("split %d", s+1)}
		x.Classify(train, test, func(i int) int { return i / flowers17PerClass })
		if err := c.checkMemory(7, len(train), len(test), x.Classes); err != nil {
			return nil, err
		}
		for _, f := range flowers17Distances {
			path := filepath.Join(c.Data, f.file)
			for _, name := range f.names {
				if err := x.AddDistances(e, path, name, train, test); err != nil {
					return nil, err
				}
			}
		}
		return x, nil
	}
	return c.run(e, "Flowers17: seven distance matrices, kernels exp(-d/s), three predefined splits", 3, next, []paperFigure{
		{"single", "86.2 ± 1.6", "", "", source},
		{"multiple", "86.0 ± 1.6", "", "", source},
	})
}

// Run runs the experiment.
func (c *Flowers102) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	next := func(int) (*multiclass.Problem, error) { return multiclass.Flowers102Kernels(e, c.Data, c.checkMemory) }
	return c.run(e, "Flowers102: four distance matrices, kernels exp(-d/s)", 1, next, []paperFigure{
		{"single", "68.8", "0.977", "0.060", source},
		{"multiple", "69.3", "0.977", "0.062", source},
	})
}

// flowers17Split returns the training (trn and val) and test samples of a split,
// in which every sample has its place.
func flowers17Split(splits map[string][]int, split int) (train, test []int, err error) {
	trn, val, tst := fmt.Sprintf("trn%d", split), fmt.Sprintf("val%d", split), fmt.Sprintf("tst%d", split)
	n := len(splits[trn]) + len(splits[val]) + len(splits[tst])
	all, err := multiclass.Indices(splits, n, trn, val, tst)
	if err != nil {
		return nil, nil, err
	}
	cut := n - len(splits[tst])
	return all[:cut], all[cut:], nil
}
