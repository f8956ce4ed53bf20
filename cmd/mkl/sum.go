package main

import (
	"fmt"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/sums"
)

// sumCmd is mkl sum.
type sumCmd struct {
	Data   []string `arg:"" help:"Tables with a row for each sample, columns called as in the plan."`
	Plan   string   `required:"" placeholder:"FILE" help:"Plan, as mkl plan made it."`
	Output string   `short:"o" required:"" placeholder:"FILE" help:"File of the sums to write. If it is there, tables that are in it are passed over, and others added."`

	console.WorkersFlag `embed:""`
	console.Layout      `embed:""`
}

// Run sums the tables one by one, block by block. What is done is kept in the file: the same command goes on from
// there, also in the middle of a table.
func (c *sumCmd) Run(e *console.Env) error {
	plan, err := sums.ReadPlan(c.Plan)
	if err != nil {
		return err
	}
	a, err := sums.NewAdder(e, c.Output, plan, c.Layout, c.Workers)
	if err != nil {
		return err
	}
	bar := console.NewProgress(e, false, len(c.Data), "tables")
	defer bar.Finish()
	e.Hold()
	begin := time.Now()
	for done, path := range c.Data {
		show := func(rows int) { bar.Set(done, len(c.Data), fmt.Sprintf("%s: %s", path, console.Plural(rows, "row"))) }
		if err := a.Add(path, show); err != nil {
			return err
		}
	}
	if err := a.Save(); err != nil {
		return err
	}
	bar.Finish()
	hash := a.Sums.Total.Hash()
	fmt.Fprintf(e.Stdout, "%s: %s of %s, %d of them added in %.1f s; hash %x\n", c.Output, console.Plural(int(a.Sums.Total.Samples()), "sample"),
		console.Plural(len(a.Sums.Parts), "table"), a.Added, time.Since(begin).Seconds(), hash[:8])
	return nil
}
