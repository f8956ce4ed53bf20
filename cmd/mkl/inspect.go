package main

import (
	"errors"
	"fmt"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/report"
	"github.com/bmkl/bmkl/cmd/mkl/internal/saved"
)

// inspectCmd is mkl inspect.
type inspectCmd struct {
	Model string `arg:"" help:"Model file; - is standard input."`
	Trace bool   `help:"Print the lower bound after each sweep as well."`

	Samples     bool `help:"List the active samples with their weights."`
	ListKernels bool `help:"List the active kernels of a pool with their weights."`

	console.JSONFlag `embed:""`
}

// inspection is what the command prints for machines.
type inspection struct {
	*report.Report
	Columns []string      `json:"target_columns"`   // of the table of the fit
	Beside  *notes.Beside `json:"beside,omitempty"` // further columns that belong to the target
	Inputs  []notes.View  `json:"inputs"`
}

// Run shows what the model holds.
func (c *inspectCmd) Run(e *console.Env) error {
	m, err := saved.Load(e, c.Model)
	if err != nil {
		return err
	}
	r := report.New(m.Estimator, m.Model, m.Notes)
	r.Model, r.ListSamples, r.ListKernels = c.Model, c.Samples, c.ListKernels
	if c.Trace || c.JSON {
		r.Trace = m.Trace().Bounds
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, inspection{r, m.Notes.Targets, m.Notes.Beside, m.Notes.Views})
	}
	c.describe(e, m, r)
	return errors.Join(r.Print(e.Stdout), r.PrintTrace(e.Stdout))
}

// describe says in a headline what the model is, and then where its data were.
func (c *inspectCmd) describe(e *console.Env, m *saved.Model, r *report.Report) {
	n := m.Notes
	switch {
	case n.Table != nil:
		fmt.Fprintf(e.Stdout, "%s: %s\n", c.Model, report.OfTable(n.Table, m.Samples(), n.Targets))
		return
	case n.Pairs != nil:
		fmt.Fprintf(e.Stdout, "%s: %s\n", c.Model, report.OfPairs(n.Pairs, n.Task))
	default:
		fmt.Fprintf(e.Stdout, "%s: %s in %s, %s\n", c.Model, console.Plural(len(r.Kernels), m.Estimator.Part),
			console.Plural(len(n.ViewNames()), "view"), r.Learned(n.Targets))
	}
	for _, v := range n.Views {
		if v.Strings != nil {
			if v.Strings.Kernel == 0 {
				set := n.Strings[v.Strings.Set]
				fmt.Fprintf(e.Stdout, "view %s\n  %s with %s (%v)\n", v, console.Plural(len(set.Kernels), "kernel"),
					console.Plural(len(set.Strings), "training string"), set.Alphabet)
			}
			continue
		}
		fmt.Fprintf(e.Stdout, "view %s\n", v)
		for _, line := range (plan.View{Columns: v.Features(), Left: v.Left}).Lines() {
			fmt.Fprintf(e.Stdout, "  %s\n", line)
		}
	}
}
