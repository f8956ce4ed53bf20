package sums

import (
	"context"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// tableFile is an open table that is read block by block. The caller closes its files.
type tableFile struct {
	*dataset.Inputs
	main   *console.File
	target int // column
	labels bool
}

// Columns say how tables are laid out, and where columns are that the plan does not name.
type Columns struct {
	console.Layout `embed:""`

	Target string   `placeholder:"COLUMN" help:"Column of the target, if it has another name than in the plan."`
	View   []string `sep:"none" placeholder:"NAME=COLUMNS" help:"Columns of a view, if they have other names than in the plan. The views of a plan that a program made are called x1, x2, …, by its inputs."`
}

// openTable opens a table and asks for the columns of a plan.
func openTable(e *console.Env, c Columns, plan *Plan, path string) (*tableFile, error) {
	fs, err := dataset.NewFiles(e, c.Layout, plan.Notes)
	if err != nil {
		return nil, err
	}
	t := &tableFile{}
	if err := t.ask(fs, c, plan, path); err != nil {
		fs.Close()
		return nil, err
	}
	return t, nil
}

// ask asks for the columns of a plan.
func (t *tableFile) ask(fs *console.Files, c Columns, plan *Plan, path string) (err error) {
	if t.Inputs, err = dataset.FindInputs(fs, plan.Notes, plan.Inputs(), path, c.View); err != nil {
		return err
	}
	t.main = fs.All[0]
	target := plan.Notes.Targets
	if c.Target != "" {
		target = []string{c.Target}
	}
	found, err := spec.Select(spec.Names(target), t.main.Columns(), nil)
	if err != nil {
		return console.Inputf("target: %s: %w", t.main.Name(), err)
	}
	t.target = found[0]
	kind := table.Optional
	if _, t.labels = plan.OfClasses(); t.labels {
		kind = table.OptionalLabel
	}
	t.main.Need(t.target, kind)
	return nil
}

// targets are the targets of some rows: numbers, or labels if they are not nil.
type targets struct {
	numbers []float64
	labels  []string
}

// slice returns some of them.
func (t targets) slice(first, last int) targets {
	if t.labels != nil {
		return targets{labels: t.labels[first:last]}
	}
	return targets{numbers: t.numbers[first:last]}
}

// block is the samples of some rows of a table.
type block struct {
	x       []mkl.Features
	y       targets
	at      []int // the rows of the table that they are
	lacking int   // rows that lack nothing but a target
}

// samples returns the rows that were read and have features and a target. first is the row of the table that is the
// first one read.
func (t *tableFile) samples(ctx context.Context, rows, first, workers int, gaps *dataset.Shortfall) (b block, err error) {
	x, kept, err := t.Features(ctx, rows, workers, gaps)
	if err != nil {
		return b, err
	}
	if t.labels {
		b.y.labels = []string{}
	}
	var known []int // places among the rows that were kept
	for i, row := range kept {
		if t.labels {
			if v := t.main.Data.Labels[t.target][row]; v != "" {
				b.y.labels, b.at, known = append(b.y.labels, v), append(b.at, first+row), append(known, i)
			}
		} else if v := t.main.Data.Numbers[t.target][row]; v == v {
			b.y.numbers, b.at, known = append(b.y.numbers, v), append(b.at, first+row), append(known, i)
		}
	}
	if b.lacking = len(kept) - len(known); b.lacking > 0 {
		for i := range x {
			x[i] = x[i].TakeRows(known)
		}
	}
	b.x = x
	return b, nil
}

// builder sums samples by a plan of either kind.
type builder struct {
	numbers *mkl.PlanBuilder
	labels  *mkl.ClassPlanBuilder[string] // nil if there are numbers
}

func newBuilder(plan *Plan, workers int) (b builder, err error) {
	switch p := plan.SamplePlan.(type) {
	case *mkl.ClassPlan[string]:
		b.labels, err = p.Builder(workers)
	case *mkl.Plan:
		b.numbers, err = p.Builder(workers)
	}
	return b, err
}

func (b builder) add(y targets, x []mkl.Features) error {
	if b.labels != nil {
		return b.labels.Add(y.labels, x...)
	}
	return b.numbers.Add(y.numbers, x...)
}

// take returns the sums of the blocks that have ended, or of all samples at the end.
func (b builder) take(end bool) (*stat.Statistic, error) {
	var s interface {
		Take() *stat.Statistic
		Finish() (*stat.Statistic, error)
	} = b.numbers
	if b.labels != nil {
		s = b.labels
	}
	if end {
		return s.Finish()
	}
	return s.Take(), nil
}
