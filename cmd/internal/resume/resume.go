// Package resume keeps the state of a computation in a file, for the same command to go on from.
package resume

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
)

// magic begins the file; then come the key in a line and the journal.
const magic = "bmkl fit "

// Journal is a state in bytes: a journal of package mkl, or a journal of package vi.
type Journal interface {
	MarshalBinary() ([]byte, error)
	UnmarshalBinary(data []byte) error
	Sweeps() int
}

// File is the file of a journal. The journal is to call Write, or Save, when there is something to be kept.
type File struct {
	Path    string
	Flag    string // that named the path, for messages
	Key     string // a line that stands for the data and the settings
	Journal Journal
}

// Begin reads the file, if it exists, and arranges that an interruption writes it. Call ended at the end of the
// computation: it waits until an interruption has written the file.
func (f *File) Begin(e *console.Env) (ended func(), err error) {
	journal, err := f.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := atomicfile.Check(f.Path); err != nil {
			return nil, console.Input(err)
		}
	case err != nil:
		return nil, console.Input(err)
	default:
		if err := f.Journal.UnmarshalBinary(journal); err != nil {
			return nil, console.Inputf("%s %s: %w", f.Flag, f.Path, err)
		}
		if n := f.Journal.Sweeps(); n > 0 {
			fmt.Fprintf(e.Stderr, "going on from %s, after %s\n", f.Path, console.Plural(n, "sweep"))
		}
	}
	written := make(chan struct{})
	stop := context.AfterFunc(e.Ctx, func() {
		defer close(written)
		if err := f.Save(); err != nil {
			e.Kept = ""
			fmt.Fprintf(e.Stderr, "mkl: warning: %v\n", err)
		}
	})
	e.Kept = f.Path
	return func() {
		if !stop() {
			<-written
		}
	}, nil
}

// read returns the journal in the file. Of a file of something else, or of another fit, it reads no more
// than a line, and of what is no file, such as a pipe or a device, nothing.
func (f *File) read() (journal []byte, err error) {
	of := fmt.Sprintf("%s %s", f.Flag, f.Path)
	switch info, err := os.Stat(f.Path); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: it is no regular file, to be read and replaced", of)
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := bufio.NewReader(file)
	line, err := r.ReadSlice('\n')
	was, begins := bytes.CutPrefix(line, []byte(magic))
	switch was, ended := bytes.CutSuffix(was, []byte("\n")); {
	case err != nil && err != io.EOF && err != bufio.ErrBufferFull:
		return nil, err
	case !begins || !ended:
		return nil, fmt.Errorf("%s: the file is no state of a fit", of)
	case string(was) != f.Key:
		return nil, fmt.Errorf("%s: the file is the state of a fit of other data or with other flags", of)
	}
	return io.ReadAll(r)
}

// Save writes the present state.
func (f *File) Save() error {
	data, err := f.Journal.MarshalBinary()
	if err != nil {
		return err
	}
	return f.Write(data)
}

// Write writes a journal in bytes, whole or not at all.
func (f *File) Write(journal []byte) error {
	return atomicfile.Write(context.Background(), f.Path, func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "%s%s\n", magic, f.Key); err != nil {
			return err
		}
		_, err := w.Write(journal)
		return err
	})
}
