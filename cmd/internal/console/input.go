package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"unicode/utf8"

	"github.com/bmkl/bmkl/cmd/internal/memory"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/la"
)

// Layout is the flags that say how text files are laid out.
type Layout struct {
	Header    string   `enum:"auto,yes,no" default:"auto" help:"Whether the first line of a text file holds names: auto, yes or no. Auto takes the line for names unless one of its cells is a number."`
	Separator string   `placeholder:"C" help:"Character between the cells of a text file, or the word tab or space. By default the most frequent of , ; and tab in the first line, or the space without these."`
	Decimal   string   `placeholder:"C" help:"Decimal sign of the numbers in a text file: . or ,. By default the comma if cells at the front of the file are numbers only with it."`
	NA        []string `name:"na" sep:"none" placeholder:"TEXT" help:"Text or number that stands for an empty cell, such as -na=-999, beside NA, NaN, NULL and others; can be repeated. A model remembers the texts of its fit."`
	Sheet     string   `placeholder:"NAME" help:"Sheet of an Excel file to read; by default the first."`
	Join      string   `placeholder:"COLUMN" help:"Column that every file has: rows with the same text in it are the same sample. Without -join rows in the same place are."`
}

// Options returns what the flags say.
func (l Layout) Options() (table.Options, error) {
	opt := table.Options{Memory: int64(memory.Available()), Sheet: l.Sheet, Blanks: l.NA, Header: map[string]table.Header{"auto": table.HeaderAuto, "yes": table.HeaderYes, "no": table.HeaderNo}[l.Header]}
	switch r, n := utf8.DecodeRuneInString(l.Separator); {
	case l.Separator == "":
	case l.Separator == "tab":
		opt.Separator = '\t'
	case l.Separator == "space":
		opt.Separator = ' '
	case n == len(l.Separator) && r != '"' && r != '\r' && r != '\n' && r != utf8.RuneError:
		opt.Separator = r
	default:
		return opt, Inputf("-separator %q: one character is needed", l.Separator)
	}
	switch l.Decimal {
	case "":
	case ".", ",":
		opt.Decimal = rune(l.Decimal[0])
	default:
		return opt, Inputf("-decimal %q: it is . or ,", l.Decimal)
	}
	return opt, nil
}

// Files are the tables that a command reads: opened first, for their columns,
// and read once when all of the columns wanted are known.
type Files struct {
	Env  *Env
	Opt  table.Options
	Join string  // the column by which rows of files belong together; empty: those in the same place do
	All  []*File // in the order in which they were opened

	// Alone reports for each row of the first file whether another file has no row for it.
	// The other file's columns then repeat some other row, and mean nothing. It is nil if no row is alone.
	Alone []bool
	lacks map[int]*File // by row that is alone: the first file that has no row for it
}

// File is a table.
type File struct {
	table.Source
	Path   string
	want   []table.Want // the columns that are needed
	needed map[int]bool // whether a column is
	Data   table.Data   // once they are read
	join   int          // the column of -join, or -1
	closer io.Closer    // nil of standard input
}

// Open returns the file at path, - being standard input. A file is opened once.
func (fs *Files) Open(path string) (*File, error) {
	for _, f := range fs.All {
		if f.Path == path {
			return f, nil
		}
	}
	f := &File{Path: path, join: -1}
	name, r, size := path, fs.Env.Stdin, int64(-1) // size: not known
	if path == "-" {
		name = "standard input"
	} else {
		osFile, err := fs.Env.Open(path)
		if err != nil {
			return nil, Input(err)
		}
		f.closer = osFile
		fs.All = append(fs.All, f) // to be closed, whatever it holds
		info, err := osFile.Stat()
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return nil, Inputf("%s is a folder", path)
		}
		if info.Mode().IsRegular() {
			size = info.Size()
		}
		r = osFile
	}
	r = fs.Env.Reader(r)
	if at, ok := f.closer.(io.ReaderAt); ok && size >= 0 {
		r = &contextFile{r, fs.Env.Ctx, at}
	}
	var err error
	if f.Source, err = table.New(name, r, size, fs.Opt); err != nil {
		return nil, Input(err)
	}
	if fs.Join != "" {
		if err := f.findJoin(fs.Join); err != nil {
			return nil, err
		}
	}
	if f.closer == nil {
		fs.All = append(fs.All, f)
	}
	return f, nil
}

// findJoin finds the column of -join and asks for it.
func (f *File) findJoin(column string) error {
	found, err := spec.Select(spec.Names([]string{column}), f.Columns(), nil)
	if err != nil {
		return Inputf("-join: %s: %w", f.Name(), err)
	}
	f.join = found[0]
	f.Need(f.join, table.OptionalLabel)
	return nil
}

// Need asks for a column. A column can be asked for again, as the same kind.
func (f *File) Need(column int, kind table.Kind) {
	f.Want(table.Want{Column: column, Kind: kind})
}

// Want is [File.Need] with all that can be said of a column.
func (f *File) Want(want table.Want) {
	if f.Needs(want.Column) {
		return
	}
	if f.needed == nil {
		f.needed = map[int]bool{}
	}
	f.needed[want.Column] = true
	f.want = append(f.want, want)
}

// Needs reports whether a column was asked for.
func (f *File) Needs(column int) bool { return f.needed[column] }

// Joins reports whether a column is the one of -join.
func (f *File) Joins(column int) bool { return column == f.join }

// Joined is the cells of the column of -join; nil without -join. The file must have been read.
func (f *File) Joined() []string {
	if f.join < 0 {
		return nil
	}
	return f.Data.Labels[f.join]
}

// JoinedCell says what is wrong with a cell of the column of -join.
func (f *File) JoinedCell(row int, msg string) error { return f.Data.Cell(row, f.join, msg) }

// Read reads what is needed of every file and returns the number of rows, which
// they share.
func (fs *Files) Read() (rows int, err error) {
	if fs.Join == "" {
		fs.askNames()
	}
	for i, f := range fs.All {
		if f.Data, err = table.Read(f.Source, f.want); err != nil {
			return 0, Input(err)
		}
		switch {
		case i == 0:
		case fs.Join != "":
			err = fs.align(f)
		default:
			if err = fs.sameOrder(f); err == nil && f.Data.Rows != rows {
				err = Inputf("%s has %d rows, %s has %d", fs.All[0].Name(), rows, f.Name(), f.Data.Rows)
			}
		}
		if err != nil {
			return 0, err
		}
		rows = f.Data.Rows
	}
	if rows == 0 {
		return 0, Inputf("%s has no rows", fs.All[0].Name())
	}
	return rows, nil
}

// ErrNoRows is wrapped by the error of [Files.Blocks] that a table has no rows.
var ErrNoRows = errors.New("no rows")

// Blocks reads the columns that are needed from the only file, in blocks of the given number of rows. Each block is the
// file's Data while its number of rows is handed on.
func (fs *Files) Blocks(rows int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		f, n := fs.All[0], 0
		for d, err := range f.Source.Blocks(f.want, rows) {
			f.Data = d
			if n += d.Rows; n == 0 && err == nil {
				err = fmt.Errorf("%s has %w", f.Name(), ErrNoRows)
			}
			if !yield(d.Rows, Input(err)) {
				return
			}
		}
	}
}

// align puts the rows of a file into the order of the first file's rows.
func (fs *Files) align(f *File) error {
	first := fs.All[0]
	at := make(map[string]int, f.Data.Rows)
	for i, id := range f.Data.Labels[f.join] {
		if _, twice := at[id]; twice && id != "" {
			return Input(f.Data.Cell(i, f.join, fmt.Sprintf("%q is there twice: -join needs one row for each", id)))
		}
		at[id] = i
	}
	if f.Data.Rows == 0 {
		return Inputf("%s has no rows", f.Name())
	}
	rows := make([]int, first.Data.Rows)
	for i, id := range first.Data.Labels[first.join] {
		row, ok := at[id]
		if !ok || id == "" {
			if fs.Alone == nil {
				fs.Alone, fs.lacks = make([]bool, len(rows)), map[int]*File{}
			}
			fs.Alone[i], row = true, 0
			if fs.lacks[i] == nil {
				fs.lacks[i] = f
			}
		}
		rows[i] = row
	}
	f.Data.Pick(rows)
	return nil
}

// AloneError says of a row of the first file that another file has no row for it.
func (fs *Files) AloneError(row int) error {
	first := fs.All[0]
	return first.JoinedCell(row, fmt.Sprintf("%s has no row for %q", fs.lacks[row].Name(), first.Joined()[row]))
}

// Remarks are what is to be said of the layouts of the files.
func (fs *Files) Remarks() (all []string) {
	for _, f := range fs.All {
		for _, text := range f.Remarks() {
			all = append(all, f.Name()+": "+text)
		}
	}
	return all
}

// Close closes the files.
func (fs *Files) Close() {
	for _, f := range fs.All {
		if f.closer != nil {
			_ = f.closer.Close()
		}
	}
}

// Matrix returns columns that were read, side by side.
func (f *File) Matrix(columns []int) la.Matrix[float64] {
	x := la.NewMatrix[float64](f.Data.Rows, len(columns))
	for k, j := range columns {
		for i, v := range f.Data.Numbers[j] {
			x.Set(i, k, v)
		}
	}
	return x
}

// Open opens a file for reading. The end of the context ends the wait for whoever
// writes to a named pipe.
func (e *Env) Open(path string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(path)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-e.Ctx.Done():
		return nil, context.Cause(e.Ctx)
	}
}

// Reader returns a reader of r that stops when the context ends, also while r waits for
// more to read.
func (e *Env) Reader(r io.Reader) io.Reader {
	return &contextReader{ctx: e.Ctx, r: r, read: make(chan part, 1)}
}

// contextFile reads a file from its front and by position.
type contextFile struct {
	io.Reader
	ctx context.Context
	at  io.ReaderAt
}

func (f *contextFile) ReadAt(p []byte, off int64) (int, error) {
	if f.ctx.Err() != nil {
		return 0, context.Cause(f.ctx)
	}
	return f.at.ReadAt(p, off)
}

// contextReader reads in a goroutine of its own, which the end of the context leaves
// behind if it waits: there is no other way to end a read of a pipe or a terminal.
type contextReader struct {
	ctx    context.Context
	r      io.Reader
	buffer []byte
	read   chan part
	part   // what was read and not yet handed on
}

type part struct {
	data []byte
	err  error
}

func (c *contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	if len(c.data) == 0 && c.err == nil && len(p) > 0 {
		if c.buffer == nil {
			c.buffer = make([]byte, 1<<16)
		}
		go func() {
			n, err := c.r.Read(c.buffer)
			c.read <- part{c.buffer[:n], err}
		}()
		select {
		case c.part = <-c.read:
		case <-c.ctx.Done():
			return 0, context.Cause(c.ctx)
		}
	}
	n := copy(p, c.data)
	if c.data = c.data[n:]; len(c.data) == 0 {
		return n, c.err
	}
	return n, nil
}

// Source is the columns of a file that a view is made of.
type Source struct {
	File    *File
	Columns []int  // positions in the file
	Named   []bool // by column, whether it was named, and not only matched by a pattern
}

// Resolve finds the columns that items name: columns of the file that they name, or else
// columns of main, where those in except are targets and cannot be named.
func (fs *Files) Resolve(items []spec.Item, main *File, except []int) (Source, error) {
	for _, it := range items {
		if it.File != "" && len(items) > 1 {
			return Source{}, fmt.Errorf("@%s is a view of its own: it cannot be joined with other columns", it.File)
		}
	}
	if items[0].File == "" {
		columns, err := spec.Select(items, main.Columns(), except)
		if err != nil {
			return Source{}, fmt.Errorf("%s: %w", main.Name(), err)
		}
		s, named := Source{File: main}, spec.Named(items, main.Columns())
		for _, j := range columns {
			if j != main.join || named[j] {
				s.Columns, s.Named = append(s.Columns, j), append(s.Named, named[j])
			}
		}
		return s, nil
	}
	f, err := fs.Open(items[0].File)
	if err != nil {
		return Source{}, err
	}
	s := Source{File: f}
	for j := range f.Columns() {
		if j != f.join {
			s.Columns, s.Named = append(s.Columns, j), append(s.Named, false)
		}
	}
	return s, nil
}

// Matrix returns the columns, which were read.
func (s Source) Matrix() la.Matrix[float64] { return s.File.Matrix(s.Columns) }

// Only returns the source with some of its columns.
func (s Source) Only(columns []int) Source {
	some, named := Source{File: s.File}, make(map[int]bool, len(s.Columns))
	for k, j := range s.Columns {
		named[j] = s.Named[k]
	}
	for _, j := range columns {
		some.Columns, some.Named = append(some.Columns, j), append(some.Named, named[j])
	}
	return some
}

// At returns the source with the columns at some places of its own.
func (s Source) At(places []int) Source {
	some := Source{File: s.File}
	for _, k := range places {
		some.Columns, some.Named = append(some.Columns, s.Columns[k]), append(some.Named, s.Named[k])
	}
	return some
}

// Names lists the names of the columns.
func (s Source) Names() []string {
	all := s.File.Columns()
	names := make([]string, len(s.Columns))
	for k, j := range s.Columns {
		names[k] = all[j]
	}
	return names
}

// ReadMatrix reads a whole file of numbers.
func ReadMatrix(e *Env, path string) (la.Matrix[float64], error) {
	fs := &Files{Env: e}
	defer fs.Close()
	f, err := fs.Open(path)
	if err != nil {
		return la.Matrix[float64]{}, err
	}
	var columns []int
	for j := range f.Columns() {
		columns = append(columns, j)
		f.Need(j, table.Number)
	}
	if _, err := fs.Read(); err != nil {
		return la.Matrix[float64]{}, err
	}
	return f.Matrix(columns), nil
}
