package multiclass

import (
	"path/filepath"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// Flowers102File has the distance matrices between the Oxford flowers of 102 classes
// that M.-E. Nilsback and A. Zisserman publish.
const Flowers102File = "distancematrices102.mat"

// Flowers102Distances are the names of the matrices.
var Flowers102Distances = []string{"Dhog", "Dhsv", "Dsiftbdy", "Dsiftint"}

// Flowers102Kernels reads the problem with the kernels exp(−d/s) of the four distance
// matrices. checkMemory can refuse it before they are read.
func Flowers102Kernels(e *console.Env, dir string, checkMemory func(kernels, train, test, classes int) error) (*Problem, error) {
	x, train, test, err := Flowers102(e, dir)
	if err != nil {
		return nil, err
	}
	if err := checkMemory(len(Flowers102Distances), len(train), len(test), x.Classes); err != nil {
		return nil, err
	}
	for _, name := range Flowers102Distances {
		if err := x.AddDistances(e, filepath.Join(dir, Flowers102File), name, train, test); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// Flowers102 reads the classes and the split, without kernels: the samples to train on,
// which are the published training and validation images, and those to test.
func Flowers102(e *console.Env, dir string) (x *Problem, train, test []int, err error) {
	setid, imagelabels := filepath.Join(dir, "setid.mat"), filepath.Join(dir, "imagelabels.mat")
	sets, err := ReadVectors(e, setid)
	if err != nil {
		return nil, nil, nil, err
	}
	labels, err := ReadVectors(e, imagelabels)
	if err != nil {
		return nil, nil, nil, err
	}
	label := labels["labels"]
	if label == nil {
		return nil, nil, nil, console.Inputf("%s: no array labels", imagelabels)
	}
	if train, err = Indices(sets, len(label), "trnid", "valid"); err == nil {
		test, err = Indices(sets, len(label), "tstid")
	}
	if err != nil {
		return nil, nil, nil, console.Inputf("%s: %w", setid, err)
	}
	x = &Problem{Name: "predefined"}
	x.Classify(train, test, func(i int) int { return label[i] - 1 })
	return x, train, test, nil
}
