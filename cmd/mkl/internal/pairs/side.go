package pairs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
)

// sideFile is a file with a view of rows, or of columns, which its ids name.
type sideFile struct {
	*console.Files
	file   *console.File
	column int // the column of the ids
}

// openSide opens a file and asks for its ids: they are in the column of a name, or else in the first column.
func openSide(e *console.Env, opt table.Options, path, ids string) (*sideFile, error) {
	s := &sideFile{Files: &console.Files{Env: e, Opt: opt}}
	var err error
	if s.file, err = s.Open(path); err != nil {
		s.Close()
		return nil, err
	}
	s.column = max(0, slices.Index(s.file.Columns(), ids))
	s.file.Need(s.column, table.Label)
	return s, nil
}

// others are the columns that are not the ids.
func (s *sideFile) others() console.Source {
	all := console.Source{File: s.file}
	for j := range s.file.Columns() {
		if j != s.column {
			all.Columns, all.Named = append(all.Columns, j), append(all.Named, false)
		}
	}
	return all
}

// read reads the columns that were asked for, and returns where each id stands.
func (s *sideFile) read() (at map[string]int, err error) {
	n, err := s.Read()
	if err != nil {
		return nil, err
	}
	at = make(map[string]int, n)
	for i, id := range s.ids() {
		if _, twice := at[id]; twice {
			return nil, console.Input(s.file.Data.Cell(i, s.column, fmt.Sprintf("%q is there twice: an id has one row", id)))
		}
		at[id] = i
	}
	return at, nil
}

// ids are the ids of a file that was read, in its order.
func (s *sideFile) ids() []string { return s.file.Data.Labels[s.column] }

// order puts the rows into the order of ids; at says where the row of an id stands.
func (s *sideFile) order(at map[string]int, ids []string, of string) error {
	rows := make([]int, len(ids))
	for k, id := range ids {
		i, ok := at[id]
		if !ok {
			return fmt.Errorf("%s has no row for %q, which %s has", s.file.Name(), id, of)
		}
		rows[k] = i
	}
	s.file.Data.Pick(rows)
	return nil
}

// parseSide reads NAME=FILE:KERNELS, in which the name and the kernels can be left out.
func parseSide(flag, text string) (v spec.View, path string, err error) {
	name, file, named := strings.Cut(text, "=")
	if named && strings.ContainsAny(name, `:,"'@#`) || !named { // an equals sign in a kernel
		name, file = "", text
	}
	if !strings.HasPrefix(strings.TrimSpace(file), "@") {
		file = "@" + file
	}
	if v, err = spec.ParseView(file); err != nil {
		return v, "", console.Inputf("-%s %w", flag, err)
	}
	if v.Parts != nil || len(v.Columns) != 1 || v.Columns[0].File == "" || v.Columns[0].File == console.Standard {
		return v, "", console.Inputf("-%s %s: a view is the path of one file, with its name before it and its kernels behind, as in chem=drugs.csv:rbf", flag, text)
	}
	v.Name = strings.TrimSpace(name)
	return v, v.Columns[0].File, nil
}
