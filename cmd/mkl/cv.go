package main

import (
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/validation"
)

// cvCmd is mkl cv.
type cvCmd struct {
	validation.Flags `embed:""`
	console.JSONFlag `embed:""`
}

// Run compares the candidates, and prints their ranking.
func (c *cvCmd) Run(e *console.Env) error {
	out, err := validation.Run(e, &c.Flags, c.JSON)
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, out)
	}
	return out.Print(e.Stdout)
}
