package main

import (
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/saved"
)

// evaluateCmd is mkl evaluate.
type evaluateCmd struct {
	Target string `placeholder:"COLUMNS" help:"Columns that hold the truth, if they have other names than in the fit."`
	Bins   int    `default:"10" help:"Number of rows of a classifier's calibration table (${default}); 0 leaves the table out."`

	console.JSONFlag `embed:""`
	saved.Input      `embed:""`
}

// Run predicts the rows and measures the predictions.
func (c *evaluateCmd) Run(e *console.Env) error {
	t, err := evaluation.Test(e, &c.Input, c.Target, c.Bins)
	if err != nil {
		return err
	}
	defer t.Files.Close()
	if c.JSON {
		return console.PrintJSON(e.Stdout, t.Evaluation)
	}
	return t.Print(e.Stdout)
}
