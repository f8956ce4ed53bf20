package main

import (
	"math"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/factors"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/cmd/mkl/internal/saved"
	"github.com/bmkl/bmkl/mkl"
)

// factorInput is the flags of the commands that are for models of factors alone.
type factorInput struct {
	Model string `arg:"" help:"Model file of mkl fit -task factors; - is standard input."`
	Data  string `arg:"" help:"Table, laid out as in the fit; - is standard input."`

	tableFlags     `embed:""`
	console.Layout `embed:""`
}

// open reads the model and the table, and begins the output with the column of -id.
func (c *factorInput) open(e *console.Env, command string) (rows *factors.Rows, out *prediction.Columns, err error) {
	if c.Model == console.Standard && c.Data == console.Standard {
		return nil, nil, console.Inputf("- is both the model and the data: standard input holds one of them")
	}
	if err := e.CheckOutput(c.Output, true); err != nil {
		return nil, nil, err
	}
	opt, err := c.Options()
	if err != nil {
		return nil, nil, err
	}
	m, err := saved.Load(e, c.Model)
	if err != nil {
		return nil, nil, err
	}
	of, ok := m.Model.(*mkl.FactorAnalysisModel)
	if !ok {
		return nil, nil, console.Inputf("%s: %s is for models of mkl fit -task %s, and this is one of %s", c.Model, command, model.FactorsTask, m.Notes.Task)
	}
	fs := &console.Files{Env: e, Opt: opt}
	defer fs.Close()
	f, err := fs.Open(c.Data)
	if err != nil {
		return nil, nil, err
	}
	if rows, err = factors.Find(of, m.Notes, f, factors.Use{Values: true}); err != nil {
		return nil, nil, err
	}
	if c.ID != "" && rows.Listed {
		return nil, nil, console.Inputf("-id is not for a list of entries: its rows are called by column %s", rows.EntryNames()[0])
	}
	id, err := dataset.IDColumn(f, c.ID)
	if err != nil {
		return nil, nil, err
	}
	if _, err := fs.Read(); err != nil {
		return nil, nil, err
	}
	out = &prediction.Columns{}
	c.addID(out, f, id)
	return rows, out, nil
}

// completeCmd is mkl complete.
type completeCmd struct {
	SD bool `name:"sd" help:"Add a column NAME_sd behind each column: the standard deviation of each value that was filled in."`

	factorInput `embed:""`
}

// Run writes the table with its empty cells filled in.
func (c *completeCmd) Run(e *console.Env) error {
	t, out, err := c.open(e, "mkl complete")
	if err != nil {
		return err
	}
	if t.Listed {
		names := t.EntryNames()
		return console.Inputf("%s: the model is of a list of entries: mkl predict fills in the entries that a table of %s and %s names", c.Model, names[0], names[1])
	}
	p, err := t.Complete()
	if err != nil {
		return err
	}
	for q, j := range t.Columns {
		known := t.File.Data.Numbers[j]
		out.AddNumber(t.Names[q], func(i int) float64 {
			if math.IsNaN(known[i]) {
				return p.Mean[q][i]
			}
			return known[i]
		})
		if c.SD {
			out.AddSome(t.Names[q]+"_sd", func(i int) (float64, bool) { return math.Sqrt(p.Variance[q][i]), math.IsNaN(known[i]) })
		}
	}
	return out.Write(e, c.Output, t.File.Data.Rows, c.JSON)
}
