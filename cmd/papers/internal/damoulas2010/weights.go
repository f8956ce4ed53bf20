package damoulas2010

import (
	"context"
	"fmt"
	"io"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/picture"
)

// pictured is the flag of an experiment that draws the weights that it learns: Figures 1.9 and 1.10.
type pictured struct {
	Output string `short:"o" placeholder:"FILE" help:"Picture of the learned weights to write, .svg or .png."`
}

// format returns the format of the picture, empty without a picture, or why the picture cannot be written.
func (p pictured) format() (string, error) { return pictureFormat(p.Output) }

// pictureFormat returns the format of a picture of that path, nothing for none, or why it cannot be written.
func pictureFormat(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	format, err := picture.Format(path)
	if err == nil {
		err = atomicfile.Check(path)
	}
	if err != nil {
		return "", console.Input(err)
	}
	return format, nil
}

// panel is the boxes of the weights that were learned, a slice for each run, of sources of those names.
func panel(title string, names []string, runs [][]float64) picture.BoxPanel {
	p := picture.BoxPanel{Title: title, Names: names, Values: make([][]float64, len(names)), Marked: len(names)}
	for _, run := range runs {
		for i, w := range run {
			p.Values[i] = append(p.Values[i], w)
		}
	}
	return p
}

// name prints where the picture is, if there is one.
func (p pictured) name(e *console.Env) error { return namePicture(e, p.Output) }

// namePicture prints where the picture is, if there is one.
func namePicture(e *console.Env, path string) (err error) {
	if path != "" {
		_, err = fmt.Fprintf(e.Stdout, "\npicture: %s\n", path)
	}
	return err
}

// draw writes the picture.
func (p pictured) draw(ctx context.Context, format string, panels ...picture.BoxPanel) error {
	if format == "" {
		return nil
	}
	b := picture.Boxes{XLabel: "source", YLabel: "weight", Panels: panels}
	return atomicfile.Write(ctx, p.Output, func(w io.Writer) error { return b.Write(w, format) })
}
