package table

import (
	"archive/zip"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/matfile"
)

// namedArray is an array of a file that holds several. A matrix has a column for each of its
// columns, called after both, as in X.3; a stack of matrices one for each column of each, as in K.2.3.
type namedArray struct {
	name          string
	rows, columns int
	pages         int // matrices of a stack; 0 if the array is no stack

	// read reads the array's columns. The source has the same columns at the same places.
	read func(columns map[int]*columnCells) error

	// verify reads the array without keeping it, for its checksum; nil if that has been done.
	verify func() error
}

// column is the name of a column of the array, counted from 0.
func (a namedArray) column(j int) string {
	switch {
	case a.pages > 0:
		return fmt.Sprintf("%s.%d.%d", a.name, j/a.columns+1, j%a.columns+1)
	case a.columns == 1:
		return a.name
	}
	return a.name + "." + strconv.Itoa(j+1)
}

func (a namedArray) width() int { return a.columns * max(1, a.pages) }

// beside makes a table of arrays with as many rows as the one with most numbers.
func beside(name string, arrays []namedArray, opt Options) (Source, error) {
	if len(arrays) == 0 {
		return nil, fmt.Errorf("%s: the file has no array of numbers or text that is a vector or a matrix", name)
	}
	largest := slices.MaxFunc(arrays, func(a, b namedArray) int { return a.rows*a.width() - b.rows*b.width() })
	s := &columnar{name: name, rows: largest.rows, whole: true}
	var left []string
	var all, out []namedArray
	columns := 0
	for _, a := range arrays {
		if a.rows != largest.rows {
			left = append(left, fmt.Sprintf("%s (%d)", a.name, a.rows))
			out = append(out, a)
			continue
		}
		if columns += a.width(); columns > opt.columns() {
			return nil, fmt.Errorf("%s: %w", name, tooMany(opt.columns()))
		}
		all = append(all, a)
		for j := range a.width() {
			s.columns = append(s.columns, a.column(j))
		}
	}
	if left != nil {
		s.remarks = append(s.remarks, fmt.Sprintf("arrays without %d rows are left out: %s", s.rows, few(left)))
	}
	s.distinct()
	s.read = func(columns []*columnCells, _ int) error {
		for _, a := range out { // for a damaged shape, too, leaves an array out
			if a.verify == nil {
				continue
			}
			if err := a.verify(); err != nil {
				return err
			}
		}
		wanted := make(map[int]*columnCells, len(columns))
		for _, c := range columns {
			wanted[c.column] = c
		}
		at := 0
		for _, a := range all {
			own := map[int]*columnCells{}
			for j := range a.width() {
				if c := wanted[at+j]; c != nil {
					own[j] = c
				}
			}
			at += a.width()
			if len(own) == 0 {
				continue
			}
			if err := a.read(own); err != nil {
				return err
			}
		}
		return nil
	}
	return s, nil
}

// newZip opens an archive of NPY files, as NumPy's savez writes it, or an Excel file, or says what other archive it is.
func newZip(name string, r io.ReaderAt, size int64, opt Options) (Source, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var arrays []namedArray
	for _, f := range z.File {
		switch {
		case f.Name == "xl/workbook.xml":
			return newXLSX(name, z, opt)
		case f.Name == "content.xml":
			return nil, fmt.Errorf("%s is a spreadsheet of LibreOffice (.ods): save it as CSV", name)
		case path.Ext(f.Name) != ".npy":
			continue
		}
		a, err := npzArray(f, opt)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		arrays = append(arrays, a)
	}
	if arrays == nil {
		return nil, fmt.Errorf("%s is a zip archive without NPY files: unzip unpacks it", name)
	}
	return beside(name, arrays, opt)
}

// npzArray reads the header of an array in an archive.
func npzArray(f *zip.File, opt Options) (namedArray, error) {
	open := func() (*npySource, io.Closer, error) {
		r, err := f.Open()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", short(f.Name), err)
		}
		size := int64(-1)
		if f.UncompressedSize64 < 1<<62 {
			size = int64(f.UncompressedSize64)
		}
		var head [len(npyMagic)]byte
		if _, err := io.ReadFull(r, head[:]); err != nil || string(head[:]) != npyMagic {
			_ = r.Close()
			return nil, nil, fmt.Errorf("%s is not an NPY file", short(f.Name))
		}
		s, err := newNPY(f.Name, io.MultiReader(strings.NewReader(npyMagic), r), size, opt)
		if err != nil {
			_ = r.Close()
			return nil, nil, err
		}
		return s.(*npySource), r, nil
	}
	s, closer, err := open()
	if err != nil {
		return namedArray{}, err
	}
	_ = closer.Close()
	a := namedArray{name: strings.TrimSuffix(f.Name, ".npy"), rows: s.rows, columns: s.cols}
	a.read = func(columns map[int]*columnCells) error {
		s, closer, err := open()
		if err != nil {
			return err
		}
		defer closer.Close()
		for _, c := range columns { // which have taken room for numbers
			if err := c.take(s.rows, 1, s.dtype.memory()-numberBytes); err != nil {
				return err
			}
		}
		err = s.each(s.rows, func(j int, b []byte) error {
			if c := columns[j]; c != nil {
				c.set(s.any(&c.any, b))
			}
			return nil
		})
		if err != nil {
			return err
		}
		return s.end()
	}
	a.verify = func() error { return a.read(nil) }
	return a, nil
}

// newMAT opens a MAT-file of level 5.
func newMAT(name string, r io.ReaderAt, size int64, opt Options) (Source, error) {
	// only visits the array called name, or all if it is empty.
	only := func(wanted string, visit func(matfile.Array) (matfile.Sink, error)) error {
		return matfile.Read(io.NewSectionReader(r, 0, size), func(a matfile.Array) (matfile.Sink, error) {
			if wanted != "" && a.Name != wanted {
				return nil, nil
			}
			return visit(a)
		})
	}
	var arrays []namedArray
	var found []matfile.Array
	err := only("", func(a matfile.Array) (matfile.Sink, error) {
		if !a.Complex && len(a.Dims) <= 3 && a.Len() > 0 {
			found = append(found, a)
		}
		return nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	const mostPacked = 1032 // bytes that a compressed one can stand for
	for _, a := range found {
		if int64(a.Len())/mostPacked > size {
			return nil, fmt.Errorf("%s: %s: %d elements are more than %d bytes can hold", name, short(a.Name), a.Len(), size)
		}
		n := namedArray{name: a.Name, rows: a.Dims[0], columns: a.Dims[1]}
		if len(a.Dims) == 3 {
			n.pages = a.Dims[2]
		}
		if n.rows == 1 && n.pages == 0 { // a row vector has a value for each sample
			n.rows, n.columns = n.columns, 1
		}
		n.read = func(columns map[int]*columnCells) error {
			return only(a.Name, func(matfile.Array) (matfile.Sink, error) {
				return func(first int, x []float64) error {
					for k, v := range x {
						if c := columns[(first+k)/n.rows]; c != nil {
							c.number(v)
						}
					}
					return nil
				}, nil
			})
		}
		arrays = append(arrays, n)
	}
	return beside(name, arrays, opt)
}
