package sums

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
	"github.com/bmkl/bmkl/stat"
)

// Sums is what mkl sum writes: the sums of some tables, with their plan. The file is a ZIP archive of three members,
// and two more if a table is summed in part.
type Sums struct {
	Path  string
	Plan  *Plan
	Parts []Part
	Total *stat.Statistic // of the parts
	Open  *OpenPart       // nil without an open part
}

// Part is a table whose rows are in sums.
type Part struct {
	Name    string `json:"name"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Samples int64  `json:"samples"` // its rows, but for those left out
}

// OpenPart is a table that is summed up to some row, and not yet in the sums of all.
type OpenPart struct {
	Part
	Rows int             `json:"rows"` // up to there; a block of samples ends with the last of them
	Sums *stat.Statistic `json:"-"`
}

// hold reports whether the rows of a table are there. A table of the same name but with other bytes is an error.
func (s *Sums) hold(p Part) (bool, error) {
	for _, old := range s.Parts {
		switch {
		case old.SHA256 == p.SHA256:
			return true, nil
		case old.Name == p.Name:
			return false, console.Inputf("%s has changed since %s was made: remove that to begin anew", p.Name, s.Path)
		}
	}
	return false, nil
}

// finish adds the table that is open, summed to its end. Tables are in the order of their names.
func (s *Sums) finish() error {
	if err := s.Total.Merge(s.Open.Sums); err != nil {
		return err
	}
	at, _ := slices.BinarySearchFunc(s.Parts, s.Open.Part, func(a, b Part) int { return cmp.Compare(a.Name, b.Name) })
	s.Parts, s.Open = slices.Insert(s.Parts, at, s.Open.Part), nil
	return nil
}

// Members of the archive.
const (
	memberPlan  = "plan"
	memberParts = "parts.json"
	memberSums  = "statistic"

	memberOpen     = "open.json"
	memberOpenSums = "open.statistic"
)

// mostSums is the most bytes of a member that are read.
const mostSums = 16 << 30

// isSums reports whether a file is an archive of sums.
func isSums(path string) bool {
	z, err := zip.OpenReader(path)
	if err != nil {
		return false
	}
	defer z.Close()
	return slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == memberSums })
}

// OpenAll reads files of sums; none if the first is something else. All are of one plan,
// and no table is in two of them.
func OpenAll(paths []string) (all []*Sums, err error) {
	if paths[0] == "-" || !isSums(paths[0]) {
		return nil, nil
	}
	in := map[string]*Sums{}
	for _, path := range paths {
		s, err := Read(path)
		if err != nil {
			return nil, err
		}
		if all != nil && s.Plan.Hash() != all[0].Plan.Hash() {
			return nil, console.Inputf("%s and %s are sums of different plans", all[0].Path, path)
		}
		for _, p := range s.Parts {
			if other := in[p.SHA256]; other != nil {
				return nil, console.Inputf("%s and %s both hold the rows of %s", other.Path, path, p.Name)
			}
			in[p.SHA256] = s
		}
		all = append(all, s)
	}
	return all, nil
}

// Read reads a file of sums.
func Read(path string) (*Sums, error) {
	fail := func(err error) (*Sums, error) { return nil, console.Inputf("%s: %w", path, err) }
	z, err := zip.OpenReader(path)
	if errors.Is(err, zip.ErrFormat) {
		return fail(errors.New("mkl sum did not write the file"))
	}
	if err != nil {
		return nil, console.Input(err)
	}
	defer z.Close()
	member := func(name string) ([]byte, error) {
		f, err := z.Open(name)
		if err != nil {
			return nil, fmt.Errorf("mkl sum did not write the file: %w", err)
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, mostSums))
	}
	s := &Sums{Path: path, Total: &stat.Statistic{}}
	text, err := member(memberPlan)
	if err != nil {
		return fail(err)
	}
	if s.Plan, err = load(bytes.NewReader(text)); err != nil {
		return fail(err)
	}
	if text, err = member(memberParts); err != nil {
		return fail(err)
	}
	if err := json.Unmarshal(text, &s.Parts); err != nil {
		return fail(fmt.Errorf("%s: %w", memberParts, err))
	}
	if text, err = member(memberSums); err != nil {
		return fail(err)
	}
	if err := s.Total.UnmarshalBinary(text); err != nil {
		return fail(err)
	}
	var samples int64
	for _, p := range s.Parts {
		samples += p.Samples
	}
	if s.Total.Samples() != samples || samples > 0 && s.Total.Layout().Plan != s.Plan.Hash() {
		return fail(errors.New("plan, parts and sums do not belong together"))
	}
	if text, err = member(memberOpen); errors.Is(err, fs.ErrNotExist) {
		return s, nil
	} else if err != nil {
		return fail(err)
	}
	s.Open = &OpenPart{Sums: &stat.Statistic{}}
	if err := json.Unmarshal(text, s.Open); err != nil {
		return fail(fmt.Errorf("%s: %w", memberOpen, err))
	}
	if text, err = member(memberOpenSums); err != nil {
		return fail(err)
	}
	if err := s.Open.Sums.UnmarshalBinary(text); err != nil {
		return fail(err)
	}
	if s.Open.Sums.Layout().Plan != s.Plan.Hash() || s.Open.Sums.Samples() != s.Open.Samples {
		return fail(errors.New("plan and the table that is open do not belong together"))
	}
	return s, nil
}

// Write writes the file.
func (s *Sums) Write(ctx context.Context) error {
	return atomicfile.Write(ctx, s.Path, func(w io.Writer) error {
		z := zip.NewWriter(w)
		member := func(name string, write func(io.Writer) error) error {
			m, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err == nil {
				err = write(m)
			}
			return err
		}
		text := func(name string, v any) error {
			return member(name, func(w io.Writer) error { return json.NewEncoder(w).Encode(v) })
		}
		statistic := func(name string, t *stat.Statistic) error {
			return member(name, func(w io.Writer) error { _, err := t.WriteTo(w); return err })
		}
		err := errors.Join(member(memberPlan, s.Plan.Save), text(memberParts, s.Parts), statistic(memberSums, s.Total))
		if s.Open != nil && s.Open.Rows > 0 {
			err = errors.Join(err, text(memberOpen, s.Open), statistic(memberOpenSums, s.Open.Sums))
		}
		return errors.Join(err, z.Close())
	})
}

// fingerprint returns name, size and hash of a file.
func fingerprint(e *console.Env, path string) (p Part, err error) {
	bytes, hash, err := provenance.Hash(e, path)
	if err != nil {
		return p, console.Input(err)
	}
	return Part{Name: path, Bytes: bytes, SHA256: hash}, nil
}
