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
	Fit       fitCmd                `cmd:"" help:"Fit a model to a table, or to sums of tables."`
	CV        cvCmd                 `cmd:"" name:"cv" help:"Compare models and kernels by cross-validation."`
	Plan      planCmd               `cmd:"" help:"Plan a fit to any number of samples by some of them."`
	Sum       sumCmd                `cmd:"" help:"Sum tables by a plan, for mkl fit."`
	Predict   predictCmd            `cmd:"" help:"Predict the rows of a file with a model."`
	Complete  completeCmd           `cmd:"" help:"Fill in the missing entries of a table by a model of factors."`
	Transform transformCmd          `cmd:"" help:"Tell the rows of a table by the factors of a model."`
	Evaluate  evaluateCmd           `cmd:"" help:"Measure a model's predictions against the truth."`
	Compare   compareCmd            `cmd:"" help:"Compare models by what they predict of the same new rows."`
	Report    reportCmd             `cmd:"" help:"Write a page on a model: what it learned, how well it predicts, and what predictions lean on."`
	Plot      plotCmd               `cmd:"" help:"Write the pictures of mkl report as SVG files."`
	Inspect   inspectCmd            `cmd:"" help:"Show what a model file holds."`
	Export    exportCmd             `cmd:"" help:"Write a model as an ONNX graph, for programs that are not written in Go."`
	Reproduce reproduce.Experiments `cmd:"" help:"Repeat an experiment of a paper and compare."`
	Help      helpCmd               `cmd:"" help:"Show what there is, or the flags of a command."`
	Version   versionCmd            `cmd:"" help:"Show what the program was built from, and what it runs on."`

	Completion completionCmd `cmd:"" help:"Print the script by which a shell completes command lines."`
	Words      wordsCmd      `cmd:"" hidden:"" help:"List the words that can stand next on a command line."`

	Quiet console.Quiet `short:"q" help:"Print results and errors only: no notes, warnings or progress."`
}

// helpCmd is mkl help.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command to describe."`
}

// Run prints the help.
func (c *helpCmd) Run(e *console.Env) error { return e.Help(c.Command) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program as if it had no handler
	ctx, ended := console.EndWithin(ctx, os.Stderr, os.Exit)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	ended()
	stop()
	os.Exit(status)
}

// run runs the command line and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return console.Run(ctx, new(commands), flagVars(), args, stdin, stdout, stderr)
}
