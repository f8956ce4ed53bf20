package main

import (
	"fmt"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/fitting"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
	"github.com/bmkl/bmkl/cmd/mkl/internal/sums"
	"github.com/bmkl/bmkl/mkl"
)

// planCmd is mkl plan.
type planCmd struct {
	dataset.Flags       `embed:""`
	dataset.KernelsFlag `embed:""`
	model.TaskFlag      `embed:""`

	Output string `short:"o" required:"" placeholder:"FILE" help:"Plan file to write."`
	Seed   uint64 `default:"1" help:"Seed of the choice of landmarks (${default})."`

	model.LandmarkFlags `embed:""`
	fitting.Limits      `embed:""`
}

// Run reads the samples as mkl fit -model landmarks does, makes the plan, and writes it.
func (c *planCmd) Run(e *console.Env) error {
	if err := e.CheckOutput(c.Output, false); err != nil {
		return err
	}
	w, err := c.wanted()
	if err != nil {
		return err
	}
	o, err := dataset.OpenFiles(e, c.Flags, c.Kernels, "")
	if err != nil {
		return err
	}
	defer o.Close()
	for _, v := range o.Views {
		if v.Kernels.OfStrings() {
			return console.Inputf("-view: a plan has no views of strings, and %s is one: landmarks need features; mkl fit takes strings, of as many rows as memory holds",
				strings.Join(v.Source.Names(), ", "))
		}
	}
	named := ""
	if c.Task != nil {
		named = *c.Task
	}
	p, err := fitting.Gather(o, w, named, c.Memory)
	if err != nil {
		return err
	}
	made, err := provenance.Of(e, o.Files.All, c.Seed)
	if err != nil {
		return err
	}
	j, err := p.Prepare(e, fitting.Options{Limits: c.Limits}, made)
	if err != nil {
		return err
	}
	say(e, j.Lines)
	encoded, err := j.Notes.Encode()
	if err != nil {
		return err
	}
	plan, err := sums.Begin(e.Ctx, mkl.Fitting{Seed: c.Seed, Workers: c.Workers, Notes: encoded}, c.Choice(), j.Data)
	if err != nil {
		return console.Input(err)
	}
	if err := atomicfile.Write(e.Ctx, c.Output, plan.Save); err != nil {
		return err
	}
	hash := plan.Hash()
	fmt.Fprintf(e.Stdout, "%s: %v, of %s; hash %x\n", c.Output, plan, console.Plural(j.Samples.Rows(), "sample"), hash[:8])
	for i, k := range plan.Kernels() {
		fmt.Fprintf(e.Stdout, "  %s: %s\n", k, console.Plural(plan.Features()[i], "feature"))
	}
	return nil
}

// wanted is the model of landmarks, with the defaults of flags that a plan does not have.
func (c *planCmd) wanted() (w model.Wanted, err error) {
	name := model.LandmarksModel
	w = model.Wanted{Model: &name, Data: c.Flags}
	if err := console.SetDefaults(&w.Settings, model.Vars()); err != nil {
		return w, err
	}
	w.Settings.Seed, w.Settings.LandmarkFlags = c.Seed, c.LandmarkFlags
	w.All, err = console.Flags(c, model.Vars())
	return w, err
}
