package main

import (
	"cmp"
	"io"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
)

// modelInput is the flags that name a model and the data to predict.
type modelInput struct {
	Model string `arg:"" help:"Model file; - is standard input."`
	Data  string `arg:"" optional:"" help:"Table with a row for each sample (CSV, also compressed, NPY, NPZ, Parquet, Arrow, LIBSVM, FASTA or MAT-file); - is standard input. Not needed if every view has a file of its own."`

	sideFlags    `embed:""`
	predictFlags `embed:""`
}

// predictFlags say where views are in the data, how files are laid out, and what to predict.
type predictFlags struct {
	View      []string `sep:"none" placeholder:"NAME=COLUMNS" help:"Columns of a view, if they are not called what they were in the fit; @file takes a file."`
	Interval  float64  `default:"0.95" help:"Probability of the predictive interval of a regression (${default})."`
	Published bool     `help:"Use the published predictive variance, which is too small."`
	Unhealed  bool     `help:"Use the posterior's own predictions of a BMKLR regression, or of new rows and columns of pairs, whose intervals are too short away from the samples."`
	Workers   int      `help:"Most goroutines at work; 0 means one for each processor."`

	console.Layout `embed:""`
}

func (c *predictFlags) check() error {
	if !(c.Interval > 0 && c.Interval < 1) {
		return console.Inputf("-interval %g is not between 0 and 1", c.Interval)
	}
	if c.Workers < 0 {
		return console.Inputf("-workers %d is negative", c.Workers)
	}
	return nil
}

func (c *modelInput) check() error {
	if c.Model == console.Standard && c.Data == console.Standard {
		return console.Inputf("- is both the model and the data: standard input holds one of them")
	}
	return c.predictFlags.check()
}

// predictCmd is mkl predict.
type predictCmd struct {
	Output string `short:"o" placeholder:"FILE" help:"File to write; - and by default standard output."`
	ID     string `name:"id" placeholder:"COLUMN" help:"Column to copy to the front of the output."`
	JSON   bool   `name:"json" help:"Print JSON: a list with an object for each row, by the names of the columns; null where a row cannot be predicted."`

	modelInput `embed:""`
}

// Run predicts the rows and writes them.
func (c *predictCmd) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := e.CheckOutput(c.Output, true); err != nil {
		return err
	}
	m, err := c.open(e)
	if err != nil {
		return err
	}
	defer m.files.Close()
	id := -1
	if c.ID != "" {
		if c.Data == "" {
			return console.Inputf("-id needs a data file")
		}
		if id, err = idColumn(m.files.All[0], c.ID); err != nil {
			return err
		}
	}
	p, err := m.predict(e, &c.modelInput)
	if err != nil {
		return err
	}
	var predicted, out columns
	if id >= 0 {
		ids := m.files.All[0].Data.Labels[id]
		out.add(c.ID, func(i int) string { return ids[i] })
	}
	if m.table != nil {
		m.table.name(&out)
	}
	if m.pairs != nil {
		m.pairs.name(&out)
	}
	p.columns(&predicted, m.predicted(), c.Interval)
	out.addRows(&predicted, p.kept, p.rows)
	write := out.write
	if c.JSON {
		write = out.writeJSON
	}
	return e.Create(cmp.Or(c.Output, console.Standard), func(w io.Writer) error { return write(w, p.rows) })
}

// idColumn finds the column that -id names and asks for it.
func idColumn(f *console.File, name string) (int, error) {
	j, err := oneColumn(f, "-id", name, nil)
	if err != nil {
		return 0, err
	}
	if f.Needs(j) && !f.Joins(j) {
		return 0, console.Inputf("-id %s: the column is part of a view", name)
	}
	f.Need(j, table.Label)
	return j, nil
}
