package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
)

// inspectCmd is mkl inspect.
type inspectCmd struct {
	Model string `arg:"" help:"Model file; - is standard input."`
	Trace bool   `help:"Print the lower bound after each sweep as well."`
	JSON  bool   `name:"json" help:"Print JSON."`

	Samples bool `help:"List the active samples with their weights."`
}

// Run shows what the model holds.
func (c *inspectCmd) Run(e *console.Env) error {
	m, err := load(e, c.Model)
	if err != nil {
		return err
	}
	rep := newReport(m.est, m.Model, m.notes)
	rep.Model, rep.samples = c.Model, c.Samples
	if c.Trace || c.JSON {
		rep.Trace = m.Trace().Bounds
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, struct {
			*report
			Views []viewNote `json:"views"`
		}{rep, m.notes.Views})
	}
	if m.est.form == tableEntries {
		fmt.Fprintf(e.Stdout, "%s: %s\n", c.Model, m.notes.Table.tells(m.Samples(), m.notes.Targets))
		return errors.Join(rep.print(e.Stdout), rep.printTrace(e.Stdout))
	}
	if m.notes.Pairs != nil {
		fmt.Fprintf(e.Stdout, "%s: %s\n", c.Model, m.notes.Pairs.tells(m.notes.Task))
	} else {
		fmt.Fprintf(e.Stdout, "%s: %s in %s, %s\n", c.Model, console.Plural(len(rep.Kernels), m.est.partName()),
			console.Plural(len(m.notes.viewNames()), "view"), rep.learned(m.notes.Targets))
	}
	for _, v := range m.notes.Views {
		if v.Strings != nil {
			if v.Strings.Kernel == 0 {
				set := m.notes.Strings[v.Strings.Set]
				fmt.Fprintf(e.Stdout, "view %s\n  %s with %s (%v)\n", v, console.Plural(len(set.Kernels), "kernel"),
					console.Plural(len(set.Strings), "training string"), set.Alphabet)
			}
			continue
		}
		fmt.Fprintf(e.Stdout, "view %s\n", v)
		for _, line := range (plan.View{Columns: v.plan(), Left: v.Left}).Lines() {
			fmt.Fprintf(e.Stdout, "  %s\n", line)
		}
	}
	return errors.Join(rep.print(e.Stdout), rep.printTrace(e.Stdout))
}

// printTrace prints the lower bound after each sweep, if it is to be told.
func (r *report) printTrace(out io.Writer) error {
	if len(r.Trace) == 0 {
		return nil
	}
	fmt.Fprintln(out, "\nsweep  bound")
	for i, b := range r.Trace {
		fmt.Fprintf(out, "%5d  %.6f\n", i+1, b)
	}
	return nil
}

// String says where the columns of the view were, the first eight by name.
func (v viewNote) String() string {
	const most = 8
	from := strings.Join(v.Columns[:min(most, len(v.Columns))], ", ")
	if len(v.Columns) > most {
		from += fmt.Sprintf(", … %d in all", len(v.Columns))
	}
	if v.File {
		from = "a file of its own with " + console.Plural(len(v.Columns), "column")
	}
	if v.Name != "" {
		from = v.Name + " = " + from
	}
	return from
}
