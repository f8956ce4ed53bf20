package pivot

import (
	"errors"

	"github.com/bmkl/bmkl/internal/archive"
)

// Archive describes the fields of so many forms of n coordinates.
func (f *Forms) Archive(a *archive.Archive, n, forms int) {
	rank := f.inner.Rows
	if a.Int(&rank); rank < 0 || rank > n {
		a.Fail(errors.New("forms have more combinations than coordinates"))
	}
	if a.Err() != nil {
		return
	}
	a.Matrix32(&f.combine, n, rank)
	a.Matrix32(&f.inner, rank, forms*rank)
	a.Vector(&f.thin, n)
	a.Vector(&f.Size, forms)
	a.Vector(&f.Off, forms)
}
