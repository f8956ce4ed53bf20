package main

import (
	"fmt"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
)

// versionCmd is mkl version.
type versionCmd struct {
	console.JSONFlag `embed:""`
}

// Run prints the version.
func (c *versionCmd) Run(e *console.Env) error {
	v := provenance.Build()
	if c.JSON {
		return console.PrintJSON(e.Stdout, v)
	}
	_, err := fmt.Fprintln(e.Stdout, v)
	return err
}
