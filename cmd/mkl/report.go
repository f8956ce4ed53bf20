package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/sections"
)

// reportCmd is mkl report.
type reportCmd struct {
	Output  string `short:"o" placeholder:"FILE" help:"HTML file to write; - and by default standard output."`
	Explain []int  `placeholder:"ROWS" help:"Explain the predictions of these rows of -data, counted from 1, with commas between: the page shows what each view adds. The models auto and mgp can."`

	sections.Flags `embed:""`
}

// Run writes the page.
func (c *reportCmd) Run(e *console.Env) error {
	if err := e.CheckOutput(c.Output, true); err != nil {
		return err
	}
	p, err := c.Page(e, c.Explain)
	if err != nil {
		return err
	}
	return e.Create(cmp.Or(c.Output, console.Standard), p.Write)
}

// plotCmd is mkl plot.
type plotCmd struct {
	Output string `short:"o" required:"" placeholder:"FOLDER" help:"Folder for the pictures; made if it is not there."`

	sections.Flags `embed:""`
}

// Run writes the pictures of the page, each as a file.
func (c *plotCmd) Run(e *console.Env) error {
	p, err := c.Page(e, nil)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Output, 0o777); err != nil {
		return err
	}
	for _, s := range p.Sections {
		for _, picture := range s.Pictures {
			path := filepath.Join(c.Output, picture.Name+".svg")
			if err := atomicfile.Write(e.Ctx, path, picture.Write); err != nil {
				return err
			}
			fmt.Fprintf(e.Stdout, "%s: %s\n", path, picture.Title)
		}
	}
	return nil
}
