package main

import (
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/exploration"
)

// exploreCmd is mkl explore.
type exploreCmd struct {
	exploration.Flags `embed:""`
	console.JSONFlag  `embed:""`
}

// Run looks at the table and prints what it found.
func (c *exploreCmd) Run(e *console.Env) error {
	r, err := exploration.Run(e, &c.Flags)
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, r)
	}
	return r.Print(e.Stdout)
}
