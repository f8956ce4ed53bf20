// Package sums keeps sums of tables in files, from which a model is fitted without the tables' rows: plans, which say
// what is summed, the files of the sums, and the way of a table into the sums.
package sums

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/mkl"
)

// Plan is a plan of numbers or of classes, with the notes that say where its columns are.
type Plan struct {
	samplePlan
	Notes *notes.Notes
}

// samplePlan is a *[mkl.Plan] or a *[mkl.ClassPlan] of strings.
type samplePlan interface {
	Hash() [32]byte
	Inputs() []mkl.ModelInput
	Notes() map[string]string
	Save(w io.Writer) error
	String() string
	Kernels() []string
	Features() []int
}

// newPlan reads the notes of a plan.
func newPlan(p samplePlan) (*Plan, error) {
	n := notes.Parse(p.Notes(), len(p.Inputs()), 1)
	if n == nil {
		return nil, errors.New("the plan was not made by mkl plan: it does not say where its columns are")
	}
	return &Plan{p, n}, nil
}

// Begin makes a plan of samples by the views and the targets in d.
func Begin(ctx context.Context, f mkl.Fitting, l *mkl.Landmarks, d *model.Data) (*Plan, error) {
	if d.Class != nil {
		p, err := mkl.LandmarkClassifier[string]{Fitting: f, Landmarks: l, Classes: d.Classes}.Begin(ctx, d.Views, d.Class)
		if err != nil {
			return nil, err
		}
		return newPlan(p)
	}
	p, err := mkl.LandmarkGP{Fitting: f, Landmarks: l}.Begin(ctx, d.Views, d.Numbers[0])
	if err != nil {
		return nil, err
	}
	return newPlan(p)
}

// ReadPlan reads a plan file.
func ReadPlan(path string) (*Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, console.Input(err)
	}
	defer f.Close()
	p, err := load(f)
	if err != nil {
		return nil, console.Inputf("%s: %w", path, err)
	}
	return p, nil
}

// load reads a plan of either kind.
func load(r io.ReadSeeker) (*Plan, error) {
	numbers, err := mkl.LoadAs[*mkl.Plan](r)
	if err == nil {
		return newPlan(numbers)
	}
	if _, other := errors.AsType[*mkl.KindError](err); !other {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	classes, err := mkl.LoadAs[*mkl.ClassPlan[string]](r)
	if err != nil {
		return nil, err
	}
	return newPlan(classes)
}

// OfClasses returns the plan as one of classes; ok is false if it is one of numbers.
func (p *Plan) OfClasses() (of *mkl.ClassPlan[string], ok bool) {
	of, ok = p.samplePlan.(*mkl.ClassPlan[string])
	return of, ok
}
