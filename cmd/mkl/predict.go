package main

import (
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/cmd/mkl/internal/saved"
)

// tableFlags are the flags of commands that write a table.
type tableFlags struct {
	Output string `short:"o" placeholder:"FILE" help:"File to write; - and by default standard output."`
	ID     string `name:"id" placeholder:"COLUMN" help:"Column to copy to the front of the output."`
	JSON   bool   `name:"json" help:"Print JSON: a list with an object for each row, by the names of the columns; null where there is no value."`
}

// predictCmd is mkl predict.
type predictCmd struct {
	Novelty bool `help:"Add a column that says how far a row lies beyond the range of the fit's samples, in widths of this range, in the column where it lies furthest; a text that the fit did not have counts 1."`

	tableFlags  `embed:""`
	saved.Input `embed:""`

	Views bool `help:"Also write what each view adds to the mean of a number, or to the log odds of a class, with its standard deviation: by the models auto and mgp."`
	Mean  bool `help:"Write only the mean, for models of numbers: most models predict it much faster than a standard deviation and an interval."`
}

// Run predicts the rows and writes them.
func (c *predictCmd) Run(e *console.Env) error {
	if err := e.CheckOutput(c.Output, true); err != nil {
		return err
	}
	o, err := saved.Open(e, &c.Input, false)
	if err != nil {
		return err
	}
	defer o.Files.Close()
	if c.Mean {
		if c.Views {
			return console.Inputf("-mean excludes -views: it leaves out the parts of the views")
		}
		if err := o.MeanOnly(); err != nil {
			return err
		}
	}
	id := -1
	if c.ID != "" {
		if c.Data == "" {
			return console.Inputf("-id needs a data file")
		}
		if id, err = dataset.IDColumn(o.Main(), c.ID); err != nil {
			return err
		}
	}
	p, err := o.Predict(e)
	if err != nil {
		return err
	}
	var predicted, out prediction.Columns
	c.addID(&out, o.Main(), id)
	o.Rows.Name(&out)
	p.Columns(&predicted, o.Notes.Predicted(), c.Interval)
	if c.Views {
		if _, ok := o.Rows.(*saved.Samples); !ok {
			return console.Inputf("-views is for models of samples, not for %v", o.Model.Model)
		}
		if err := predicted.AddViews(e.Ctx, o.Model.Model, p.Options, p.X, o.Notes.Predicted()); err != nil {
			return err
		}
	}
	out.AddRows(&predicted, p.Kept, p.Rows)
	if c.Novelty {
		if p.Novelty == nil {
			return console.Inputf("-novelty: the model does not know the range of its samples")
		}
		out.AddNumber("novelty", func(i int) float64 { return p.Novelty[i] })
	}
	return out.Write(e, c.Output, p.Rows, c.JSON)
}

// addID adds the column of -id, which was read, unless it is −1.
func (c *tableFlags) addID(out *prediction.Columns, f *console.File, column int) {
	if column >= 0 {
		ids := f.Data.Labels[column]
		out.Add(c.ID, func(i int) string { return ids[i] })
	}
}
