package main

import (
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/exploration"
)

// exploreCmd is mkl explore.
type exploreCmd struct {
	Output string `short:"o" placeholder:"FILE" help:"HTML file to write in place of the text; - is standard output."`

	exploration.Flags `embed:""`
	console.JSONFlag  `embed:""`
}

// Run looks at the table and prints what it found, or writes it as a page.
func (c *exploreCmd) Run(e *console.Env) error {
	if c.JSON && c.Output == console.Standard {
		return console.Inputf("-o -: with -json standard output holds the JSON")
	}
	if err := e.CheckOutput(c.Output, true); err != nil {
		return err
	}
	r, err := exploration.Run(e, &c.Flags)
	if err != nil {
		return err
	}
	if c.Output != "" {
		if err := e.Create(c.Output, r.Page(e).Write); err != nil {
			return err
		}
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, r)
	}
	if c.Output != "" {
		return nil
	}
	return r.Print(e.Stdout)
}
