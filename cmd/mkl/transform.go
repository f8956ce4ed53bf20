package main

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// transformCmd is mkl transform.
type transformCmd struct {
	SD bool `name:"sd" help:"Add a column with the standard deviation of each factor."`

	factorInput `embed:""`
}

// Run writes the factors of each row.
func (c *transformCmd) Run(e *console.Env) error {
	t, out, err := c.open(e, "mkl transform")
	if err != nil {
		return err
	}
	s, err := t.Scores(e)
	if err != nil {
		return err
	}
	if s.Names != nil {
		out.Add(t.EntryNames()[0], func(i int) string { return s.Names[i] })
	}
	for k := range s.Factors {
		name := fmt.Sprintf("factor%d", k+1)
		out.AddNumber(name, func(i int) float64 { return s.Mean[i][k] })
		if c.SD {
			out.AddNumber(name+"_sd", func(i int) float64 { return math.Sqrt(s.Variance[i][k]) })
		}
	}
	return out.Write(e, c.Output, s.Rows, c.JSON)
}
