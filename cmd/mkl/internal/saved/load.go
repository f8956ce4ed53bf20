// Package saved opens model files, and predicts with them the rows of tables.
package saved

import (
	"io"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/mkl"
)

// Model is a model that was read from a file.
type Model struct {
	mkl.Model
	Estimator *model.Estimator // that fitted it
	Notes     *notes.Notes
}

// Load reads a model file. The error is a mistake in the command line: the file is not there, is damaged, or holds a
// model that no estimator of the command makes.
func Load(e *console.Env, path string) (*Model, error) { return LoadTo(e, path, io.Discard) }

// LoadTo is [Load], and writes what was read to a copy.
func LoadTo(e *console.Env, path string, file io.Writer) (*Model, error) {
	in := e.Stdin
	if path != console.Standard {
		f, err := e.Open(path)
		if err != nil {
			return nil, console.Input(err)
		}
		defer f.Close()
		in = f
	}
	m, err := mkl.Load(io.TeeReader(e.Reader(in), file))
	if err != nil {
		return nil, console.Inputf("%s: %s", path, strings.TrimPrefix(err.Error(), "mkl: load: "))
	}
	est := model.Of(m.Kind())
	if est == nil {
		return nil, console.Inputf("%s: a model of a kind that the command does not know: %v", path, m)
	}
	return &Model{m, est, NotesOf(est, m)}, nil
}

// NotesOf returns the notes of a model that an estimator fitted.
func NotesOf(est *model.Estimator, m mkl.Model) *notes.Notes {
	targets := len(m.Outputs())
	if est.Form == dataset.Classes {
		targets = 1
	}
	return notes.Of(m, est.TaskOf(m), targets)
}

// RefuseTables refuses a model of factors or of pairs, which the named command is not for.
func (m *Model) RefuseTables(command string) error {
	switch {
	case m.Estimator.Pairs:
		return console.Inputf("%s is not for models of pairs, which predict from the features of a row and of a column: "+
			"mkl inspect shows what they hold, and mkl evaluate how well they predict", command)
	case m.Estimator.OfTable():
		return console.Inputf("%s is not for models of factors, which have neither kernels nor targets beside their table: "+
			"mkl inspect shows what they hold, and mkl evaluate how well they predict", command)
	}
	return nil
}
