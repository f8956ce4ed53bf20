package main

import (
	"fmt"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
)

type inspectCmd struct {
	Model string `arg:"" help:"Model file."`
	Trace bool   `help:"Print the lower bound after each sweep as well."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

func (c *inspectCmd) Run(e *console.Env) error {
	m, err := loadModel(c.Model)
	if err != nil {
		return err
	}
	n := notesOf(m)
	rep := newReport(m, n)
	rep.Model = c.Model
	if c.Trace || c.JSON {
		rep.Trace = m.Trace().Bounds
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, struct {
			*report
			Views []viewNote `json:"views"`
		}{rep, n.Views})
	}
	fmt.Fprintf(e.Stdout, "%s: %s in %s, %s\n", c.Model, console.Plural(len(rep.Kernels), rep.part()), console.Plural(len(n.Views), "view"), rep.learned(n.Targets))
	for _, v := range n.Views {
		from := strings.Join(v.Columns[:min(8, len(v.Columns))], ", ")
		if len(v.Columns) > 8 {
			from += fmt.Sprintf(", … %d in all", len(v.Columns))
		}
		if v.File {
			from = "a file of its own with " + console.Plural(len(v.Columns), "column")
		}
		if v.Name != "" {
			from = v.Name + " = " + from
		}
		fmt.Fprintf(e.Stdout, "view %s\n", from)
	}
	if err := rep.print(e.Stdout); err != nil {
		return err
	}
	if len(rep.Trace) > 0 {
		fmt.Fprintln(e.Stdout, "\nsweep  bound")
		for i, b := range rep.Trace {
			fmt.Fprintf(e.Stdout, "%5d  %.6f\n", i+1, b)
		}
	}
	return nil
}
