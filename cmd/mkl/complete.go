package main

import (
	"cmp"
	"io"
	"math"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
)

// factorInput is the flags of the commands that are for models of factors alone.
type factorInput struct {
	Model string `arg:"" help:"Model file of mkl fit -task factors; - is standard input."`
	Data  string `arg:"" help:"Table, as that of the fit was; - is standard input."`

	ID     string `name:"id" placeholder:"COLUMN" help:"Column to copy to the front of the output."`
	Output string `short:"o" placeholder:"FILE" help:"File to write; - and by default standard output."`
	JSON   bool   `name:"json" help:"Print JSON: a list with an object for each row, by the names of the columns."`

	console.Layout `embed:""`
}

// open reads the model and the table, and begins the output with the column of -id.
func (c *factorInput) open(e *console.Env, what string) (t *tableInput, out *columns, err error) {
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
	m, err := load(e, c.Model)
	if err != nil {
		return nil, nil, err
	}
	if m.est.form != tableEntries {
		return nil, nil, console.Inputf("%s: %s is for models of mkl fit -task %s, and this is one of %s", c.Model, what, taskFactors, m.notes.Task)
	}
	fs := &console.Files{Env: e, Opt: opt}
	defer fs.Close()
	f, err := fs.Open(c.Data)
	if err != nil {
		return nil, nil, err
	}
	if t, err = m.tableOf(f, true); err != nil {
		return nil, nil, err
	}
	out = &columns{}
	column := -1
	if c.ID != "" {
		if t.listed() {
			return nil, nil, console.Inputf("-id is not for a list of entries: its rows are those of column %s", t.Entries[0])
		}
		if column, err = idColumn(f, c.ID); err != nil {
			return nil, nil, err
		}
	}
	if _, err := fs.Read(); err != nil {
		return nil, nil, err
	}
	if column >= 0 {
		ids := f.Data.Labels[column]
		out.add(c.ID, func(i int) string { return ids[i] })
	}
	return t, out, nil
}

// write writes n rows.
func (c *factorInput) write(e *console.Env, out *columns, n int) error {
	write := out.write
	if c.JSON {
		write = out.writeJSON
	}
	return e.Create(cmp.Or(c.Output, console.Standard), func(w io.Writer) error { return write(w, n) })
}

// completeCmd is mkl complete.
type completeCmd struct {
	SD bool `name:"sd" help:"Add a column NAME_sd to each: the standard deviation of what was filled in, empty where an entry was there."`

	factorInput `embed:""`
}

// Run writes the table with its empty cells filled in.
func (c *completeCmd) Run(e *console.Env) error {
	t, out, err := c.open(e, "mkl complete")
	if err != nil {
		return err
	}
	if t.listed() {
		return console.Inputf("%s: the model is of a list of entries: mkl predict fills in those that a table of %s and %s names",
			c.Model, t.Entries[0], t.Entries[1])
	}
	p, _, _, err := t.predict()
	if err != nil {
		return err
	}
	for q, j := range t.columns {
		known := t.file.Data.Numbers[j]
		out.addNumber(t.names[q], func(i int) float64 {
			if math.IsNaN(known[i]) {
				return p.Mean[q][i]
			}
			return known[i]
		})
		if !c.SD {
			continue
		}
		out.add(t.names[q]+"_sd", func(i int) string {
			if !math.IsNaN(known[i]) {
				return ""
			}
			return number(math.Sqrt(p.Variance[q][i]))
		})
		out.text[len(out.text)-1] = false
	}
	return c.write(e, out, t.file.Data.Rows)
}
