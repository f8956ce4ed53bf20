// Command papers repeats the experiments of the papers that bmkl implements, and prints its figures
// beside the papers' figures. Each paper has a package below internal; package multiclass holds
// what several of them share. docs/lab/experiments.md lists them, with the pages that have the results.
//
//	go run ./cmd/papers motorcycle
//	go run ./cmd/papers help
package main

import "github.com/bmkl/bmkl/cmd/internal/console"

// helpCmd is papers help.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Experiment to describe."`
}

// Run prints the help.
func (c *helpCmd) Run(e *console.Env) error { return e.Help(c.Command) }

func main() {
	console.Program{
		Name: "papers", Description: "The experiments of the papers, with the papers' figures beside the measured ones.",
		Commands: new(experiments),
	}.Main()
}
