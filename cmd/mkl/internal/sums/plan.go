// Package sums keeps sums of tables in files, from which a model is fitted without the tables' rows: plans, which say
// what is summed, the files of the sums, and the way of a table into the sums.
package sums

import (
	"context"
	"os"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/mkl"
)

// Plan is a plan of numbers or of classes, with the notes that say where its columns are.
type Plan struct {
	mkl.SamplePlan
	Notes  *notes.Notes
	Placed bool // whether mkl plan made it: otherwise the notes name inputs x1, x2, … and the target y1
}

// newPlan reads the notes of a plan.
func newPlan(p mkl.SamplePlan) *Plan {
	n := notes.Parse(p.Notes(), len(p.Inputs()), 1)
	if n != nil {
		return &Plan{p, n, true}
	}
	task := model.Regression
	if c, ok := p.(*mkl.ClassPlan[string]); ok {
		if task = model.Binary; len(c.Classes()) > 2 {
			task = model.Multiclass
		}
	}
	return &Plan{p, notes.Unplaced(p.Inputs(), task, 1), false}
}

// Begin makes a plan of samples by the views and the targets in d.
func Begin(ctx context.Context, f mkl.Fitting, l *mkl.Landmarks, d *model.Data) (*Plan, error) {
	if d.Class != nil {
		p, err := mkl.LandmarkClassifier[string]{Fitting: f, Landmarks: l, Classes: d.Classes}.Begin(ctx, d.Views, d.Class)
		if err != nil {
			return nil, err
		}
		return newPlan(p), nil
	}
	p, err := mkl.LandmarkGP{Fitting: f, Landmarks: l}.Begin(ctx, d.Views, d.Numbers[0])
	if err != nil {
		return nil, err
	}
	return newPlan(p), nil
}

// ReadPlan reads a plan file.
func ReadPlan(path string) (*Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, console.Input(err)
	}
	defer f.Close()
	p, err := mkl.ReadPlan(f)
	if err != nil {
		return nil, console.Inputf("%s: %w", path, err)
	}
	return newPlan(p), nil
}

// OfClasses returns the plan as one of classes; ok is false if it is one of numbers.
func (p *Plan) OfClasses() (of *mkl.ClassPlan[string], ok bool) {
	of, ok = p.SamplePlan.(*mkl.ClassPlan[string])
	return of, ok
}
