// Command mkl fits Bayesian multiple kernel models to tables and predicts with
// them. docs/command.md describes it; mkl -help lists its commands.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/reproduce"
)

// commands is the command line: each command is a struct of flags with a method Run.
type commands struct {
	Demo      demoCmd               `cmd:"" help:"Fit the Motorcycle data, show what was found and draw it."`
	Fit       fitCmd                `cmd:"" help:"Fit a model to a table."`
	Predict   predictCmd            `cmd:"" help:"Predict the rows of a file with a model."`
	Evaluate  evaluateCmd           `cmd:"" help:"Measure a model's predictions against the truth."`
	Report    reportCmd             `cmd:"" help:"Write a page on a model: what it learned, how well it predicts, and what predictions lean on."`
	Plot      plotCmd               `cmd:"" help:"Write the pictures of mkl report as SVG files."`
	Inspect   inspectCmd            `cmd:"" help:"Show what a model file holds."`
	Reproduce reproduce.Experiments `cmd:"" help:"Repeat an experiment of a paper and compare."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program as if it had no handler
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run runs the command line and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return console.Run(ctx, new(commands), flagVars(), args, stdin, stdout, stderr)
}
