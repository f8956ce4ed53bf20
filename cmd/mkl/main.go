// Command mkl fits Bayesian multiple kernel models to tables and predicts with
// them. docs/guide/command.md describes it; mkl -help lists its commands.
package main

import (
	"maps"

	"github.com/alecthomas/kong"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
)

// commands is the command line: each command is a struct of flags with a method Run.
type commands struct {
	Pictures  pictures     `embed:""` // mkl demo, where there is a disk
	Explore   exploreCmd   `cmd:"" help:"Look at a table before a fit: types, gaps, outliers, repeated rows, leaks."`
	Fit       fitCmd       `cmd:"" help:"Fit a model to a table, or to sums of tables."`
	CV        cvCmd        `cmd:"" name:"cv" help:"Compare models and kernels by cross-validation."`
	Plan      planCmd      `cmd:"" help:"Plan a fit to any number of samples, from a part of them."`
	Sum       sumCmd       `cmd:"" help:"Sum tables by a plan, for mkl fit."`
	Predict   predictCmd   `cmd:"" help:"Predict the rows of a file with a model."`
	Complete  completeCmd  `cmd:"" help:"Fill in the missing entries of a table by a model of factors."`
	Transform transformCmd `cmd:"" help:"Describe the rows of a table by the factors of a model."`
	Evaluate  evaluateCmd  `cmd:"" help:"Measure a model's predictions against the truth."`
	Compare   compareCmd   `cmd:"" help:"Compare the predictions of models on the same new rows."`
	Report    reportCmd    `cmd:"" help:"Write a page on a model: what it learned, how well it predicts, and which columns matter."`
	Plot      plotCmd      `cmd:"" help:"Write the pictures of mkl report as SVG files."`
	Inspect   inspectCmd   `cmd:"" help:"Show what a model file holds."`
	Compile   compileCmd   `cmd:"" help:"Prepare single predictions, and keep the preparation in the model's file."`
	Export    exportCmd    `cmd:"" help:"Write a model as an ONNX graph, for programs that are not written in Go."`
	Network   network      `embed:""` // mkl serve, but not in lean builds
	Help      helpCmd      `cmd:"" help:"List the commands, or the flags of a command."`
	Version   versionCmd   `cmd:"" help:"Show what the program was built from, and what it runs on."`

	Completion completionCmd `cmd:"" help:"Print a script for a shell that completes command lines."`
	Words      wordsCmd      `cmd:"" hidden:"" help:"List the words that can stand next on a command line."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`

	Quiet console.Quiet `short:"q" help:"Print results and errors only: no notes, warnings or progress."`
}

// helpCmd is mkl help.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command to describe."`
}

// Run prints the help.
func (c *helpCmd) Run(e *console.Env) error { return e.Help(c.Command) }

// vars are the variables of the flags' texts, and what -version prints.
func vars() map[string]string {
	all := maps.Clone(model.Vars())
	all["version"] = provenance.Build().String()
	return all
}

func main() { program().Main() }

// program returns the program with its commands.
func program() console.Program {
	return console.Program{
		Name: "mkl", Description: "Bayesian multiple kernel learning.", Commands: new(commands), Vars: vars(), Groups: model.Groups(),
	}
}
