package main

import (
	"fmt"
	"io"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/sums"
)

// sumCmd is mkl sum.
type sumCmd struct {
	Data   []string `arg:"" help:"Tables with a row for each sample, columns called as in the plan, or files that mkl sum wrote; - is standard input."`
	Plan   string   `placeholder:"FILE" help:"Plan file that mkl plan wrote. Not needed with files of sums, which hold their plan."`
	Output string   `short:"o" required:"" placeholder:"FILE" help:"File of the sums to write; - is standard output. If the file exists, the command skips tables whose sums it holds, and adds the others."`
	Part   string   `placeholder:"NAME" help:"Name of the table in the sums, if it is the only one; by default its path, or the hash of its bytes if it comes through a pipe. Names cannot occur twice."`

	console.WorkersFlag `embed:""`
	sums.Columns        `embed:""`
}

// Run sums the tables one by one, block by block. The output file keeps the sums so far: the same command continues from
// them, also in the middle of a table.
func (c *sumCmd) Run(e *console.Env) error {
	if c.Part != "" && len(c.Data) > 1 {
		return console.Inputf("-part names one table, and %d are given", len(c.Data))
	}
	a, err := sums.NewAdder(e, c.Output, c.Plan, c.Data, c.Columns, c.Workers)
	if err != nil {
		return err
	}
	a.Part = c.Part
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
	var total io.Writer = e.Stdout
	if c.Output == console.Standard {
		total = e.Stderr
	}
	hash := a.Sums.Total.Hash()
	fmt.Fprintf(total, "%s: %s of %s, %d of them added in %.1f s; hash %x\n", c.Output, console.Plural(int(a.Sums.Total.Samples()), "sample"),
		console.Plural(len(a.Sums.Parts), "table"), a.Added, time.Since(begin).Seconds(), hash[:8])
	return nil
}
