package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/mkl"
)

// planCmd is mkl plan.
type planCmd struct {
	Data    string   `arg:"" help:"Table with a row for each sample of some, drawn at random from all; - is standard input."`
	Target  string   `required:"" placeholder:"COLUMN" help:"Column to learn."`
	View    []string `sep:"none" placeholder:"NAME=COLUMNS:KERNELS" help:"A view of the samples; can be repeated. Without one, all columns but the target."`
	Kernels string   `placeholder:"KERNELS" help:"Kernels of views that name none; without them the data suggest kernels."`
	Task    *string  `enum:"regression,binary,multiclass" help:"What is to be learned: regression, binary or multiclass; by default the target says it."`
	Output  string   `short:"o" required:"" placeholder:"FILE" help:"Plan file to write."`

	landmarkFlags `embed:""`

	Missing    string   `enum:"refuse,drop,impute" default:"refuse" help:"What to do where a feature has no value: refuse the file, drop the row, or impute the column's median (${default})."`
	Text       string   `enum:"onehot,category" default:"onehot" help:"What becomes of columns of text: onehot, a column of 0 and 1 for each text, or category, seen by a kernel of categories of their own (${default})."`
	As         []string `sep:"none" placeholder:"COLUMN=TYPE" help:"What a column is: number, text, boolean, date, date(d.m.y), date(d/m/y), date(m/d/y), or none to leave it out; can be repeated."`
	RawColumns bool     `help:"Leave columns as they are; by default each is given mean 0 and standard deviation 1."`

	Seed    uint64      `default:"1" help:"Seed of the choice of landmarks (${default})."`
	Workers int         `help:"Most goroutines at work; 0 means one for each processor."`
	Memory  memory.Size `placeholder:"SIZE" help:"Refuse a plan that needs more than this, such as 8GiB; by default what the machine has available."`

	console.Layout `embed:""`
}

// Run makes the plan as mkl fit -model landmarks would, and writes it.
func (c *planCmd) Run(e *console.Env) error {
	model := modelLandmarks
	f := &fitCmd{Model: &model, Output: c.Output}
	f.learnFlags = learnFlags{
		Data: c.Data, Task: c.Task, Target: c.Target, View: c.View, Missing: c.Missing, As: c.As, RawColumns: c.RawColumns,
		Seed: c.Seed, Workers: c.Workers, Memory: c.Memory, Layout: c.Layout,
	}
	for _, flag := range f.optional() {
		flag.reset()
	}
	f.Kernels, f.Text, f.landmarkFlags = c.Kernels, c.Text, c.landmarkFlags
	p, d, err := f.gather(e)
	if err != nil {
		return err
	}
	for _, v := range p.views {
		if v.ofStrings() {
			return console.Inputf("-view: a plan has no views of strings, and %s is one: landmarks need features; mkl fit takes strings, of as many rows as memory holds",
				strings.Join(v.source.Names(), ", "))
		}
	}
	encoded, err := p.notes.encode()
	if err != nil {
		return err
	}
	plan, err := begin(e.Ctx, mkl.Fitting{Seed: c.Seed, Workers: c.Workers, Notes: encoded}, c.choice(), d)
	if err != nil {
		return console.Input(err)
	}
	if err := atomicfile.Write(e.Ctx, c.Output, plan.Save); err != nil {
		return err
	}
	hash := plan.Hash()
	fmt.Fprintf(e.Stdout, "%s: %v, of %s; hash %x\n", c.Output, plan, console.Plural(p.main.Data.Rows, "sample"), hash[:8])
	for i, k := range plan.Kernels() {
		fmt.Fprintf(e.Stdout, "  %s: %s\n", k, console.Plural(plan.Features()[i], "feature"))
	}
	return nil
}

// begun is a plan that can be told of.
type begun interface {
	samplePlan
	fmt.Stringer
	Kernels() []string
	Features() []int
}

// begin makes the plan of targets or of classes.
func begin(ctx context.Context, f mkl.Fitting, l mkl.Landmarks, d *data) (begun, error) {
	if d.class != nil {
		return asPlan(mkl.LandmarkClassifier[string]{Fitting: f, Landmarks: l, Classes: d.classes}.Begin(ctx, d.views, d.class))
	}
	return asPlan(mkl.LandmarkGP{Fitting: f, Landmarks: l}.Begin(ctx, d.views, d.numbers[0]))
}

// asPlan is a plan as one of either kind, nil if there is none.
func asPlan[P interface {
	comparable
	begun
}](p P, err error) (begun, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}
