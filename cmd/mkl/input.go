package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/la"
)

// layout is how text files are laid out.
type layout struct {
	Header    string `enum:"auto,yes,no" default:"auto" help:"Whether the first line of a text file holds names: auto, yes or no. Auto takes it for names unless one of them reads as a number."`
	Separator string `placeholder:"C" help:"What separates the cells of a text file; tab and space are called so. By default the one of , ; and tab that the first line has most of."`
}

func (l layout) options() (table.Options, error) {
	opt := table.Options{Header: map[string]table.Header{"auto": table.HeaderAuto, "yes": table.HeaderYes, "no": table.HeaderNo}[l.Header]}
	switch r, n := utf8.DecodeRuneInString(l.Separator); {
	case l.Separator == "":
	case l.Separator == "tab":
		opt.Separator = '\t'
	case l.Separator == "space":
		opt.Separator = ' '
	case n == len(l.Separator) && r != '"' && r != '\r' && r != '\n' && r != utf8.RuneError:
		opt.Separator = r
	default:
		return opt, inputf("-separator %q: one character is needed", l.Separator)
	}
	return opt, nil
}

// files are the tables that a command reads: opened first, for their columns,
// and read once when all of the columns wanted are known.
type files struct {
	env *env
	opt table.Options
	all []*file
}

type file struct {
	table.Source
	path   string
	want   []table.Want
	data   table.Data
	closer io.Closer
}

// open returns the file at path, - being standard input. A file is opened once.
func (fs *files) open(path string) (*file, error) {
	for _, f := range fs.all {
		if f.path == path {
			return f, nil
		}
	}
	f := &file{path: path}
	name, r, size := path, fs.env.stdin, int64(-1)
	if path == "-" {
		name = "standard input"
	} else {
		osFile, err := os.Open(path)
		if err != nil {
			return nil, input(err)
		}
		f.closer = osFile
		fs.all = append(fs.all, f)
		info, err := osFile.Stat()
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return nil, inputf("%s is a folder", path)
		}
		if info.Mode().IsRegular() {
			size = info.Size()
		}
		r = osFile
	}
	var err error
	if f.Source, err = table.New(name, &contextReader{fs.env.ctx, r}, size, fs.opt); err != nil {
		return nil, input(err)
	}
	if f.closer == nil {
		fs.all = append(fs.all, f)
	}
	return f, nil
}

// need asks for a column. A column can be asked for again, as the same kind.
func (f *file) need(column int, kind table.Kind) {
	for _, w := range f.want {
		if w.Column == column {
			return
		}
	}
	f.want = append(f.want, table.Want{Column: column, Kind: kind})
}

// read reads what is needed of every file and returns the number of rows, which
// they share.
func (fs *files) read() (rows int, err error) {
	for i, f := range fs.all {
		if f.data, err = f.Read(f.want); err != nil {
			return 0, input(err)
		}
		if i > 0 && f.data.Rows != rows {
			return 0, inputf("%s has %d rows, %s has %d", fs.all[0].Name(), rows, f.Name(), f.data.Rows)
		}
		rows = f.data.Rows
	}
	if rows == 0 {
		return 0, inputf("%s has no rows", fs.all[0].Name())
	}
	return rows, nil
}

func (fs *files) close() {
	for _, f := range fs.all {
		if f.closer != nil {
			_ = f.closer.Close()
		}
	}
}

// matrix returns columns that were read, side by side.
func (f *file) matrix(columns []int) la.Matrix[float64] {
	x := la.NewMatrix[float64](f.data.Rows, len(columns))
	for k, j := range columns {
		for i, v := range f.data.Numbers[j] {
			x.Set(i, k, v)
		}
	}
	return x
}

// contextReader stops reading when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// source says which columns of which file a view is made of.
type source struct {
	file    *file
	columns []int // positions in the file
}

// resolve finds the columns that items name: of the file they name, or else of
// main, where the columns in except are targets.
func (fs *files) resolve(items []spec.Item, main *file, except []int) (source, error) {
	for _, it := range items {
		if it.File != "" && len(items) > 1 {
			return source{}, fmt.Errorf("@%s is a view of its own: it cannot be joined with other columns", it.File)
		}
	}
	if items[0].File == "" {
		columns, err := spec.Select(items, main.Columns(), except)
		if err != nil {
			return source{}, fmt.Errorf("%s: %w", main.Name(), err)
		}
		return source{main, columns}, nil
	}
	f, err := fs.open(items[0].File)
	if err != nil {
		return source{}, err
	}
	s := source{file: f}
	for j := range f.Columns() {
		s.columns = append(s.columns, j)
	}
	return s, nil
}

// matrix returns the source's columns, which were read.
func (s source) matrix() la.Matrix[float64] { return s.file.matrix(s.columns) }

// names lists the names of a source's columns.
func (s source) names() []string {
	all := s.file.Columns()
	names := make([]string, len(s.columns))
	for k, j := range s.columns {
		names[k] = all[j]
	}
	return names
}

// plural is n with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
