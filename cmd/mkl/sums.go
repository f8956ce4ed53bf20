package main

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
	"os"
	"slices"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// sums is what mkl sum writes: the sums of some tables, with their plan. The file is a ZIP
// archive of three members, and two more if a table is summed in part.
type sums struct {
	path  string
	plan  samplePlan
	parts []part
	total *stat.Statistic // of the parts
	open  *openPart       // nil if there is none
}

// samplePlan is a *[mkl.Plan] or a *[mkl.ClassPlan] of strings.
type samplePlan interface {
	Hash() [32]byte
	Inputs() []mkl.Input
	Notes() map[string]string
	Save(w io.Writer) error
}

// loadPlan reads a plan of either kind.
func loadPlan(r io.ReadSeeker) (samplePlan, error) {
	p, err := mkl.LoadPlan(r)
	if _, other := errors.AsType[*mkl.KindError](err); !other {
		return p, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return mkl.LoadClassPlan[string](r)
}

// part is a table whose rows are in sums.
type part struct {
	Name    string `json:"name"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Samples int64  `json:"samples"` // its rows, but for those left out
}

// openPart is a table that is summed up to some row, and not yet in the sums of all.
type openPart struct {
	part
	Rows int `json:"rows"` // up to there; a block of samples ends with the last of them
	sums *stat.Statistic
}

// hold reports whether the rows of a table are there. A table of the same name but with other bytes is an error.
func (s *sums) hold(p part) (bool, error) {
	for _, old := range s.parts {
		switch {
		case old.SHA256 == p.SHA256:
			return true, nil
		case old.Name == p.Name:
			return false, console.Inputf("%s has changed since %s was made: remove that to begin anew", p.Name, s.path)
		}
	}
	return false, nil
}

// finish adds the table that is open, summed to its end. Tables are in the order of their names.
func (s *sums) finish() error {
	if err := s.total.Merge(s.open.sums); err != nil {
		return err
	}
	at, _ := slices.BinarySearchFunc(s.parts, s.open.part, func(a, b part) int { return cmp.Compare(a.Name, b.Name) })
	s.parts, s.open = slices.Insert(s.parts, at, s.open.part), nil
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

// openSums reads files of sums; none if the first is something else. All are of one plan,
// and no table is in two of them.
func openSums(paths []string) (all []*sums, err error) {
	if paths[0] == "-" || !isSums(paths[0]) {
		return nil, nil
	}
	in := map[string]*sums{}
	for _, path := range paths {
		s, err := readSums(path)
		if err != nil {
			return nil, err
		}
		if all != nil && s.plan.Hash() != all[0].plan.Hash() {
			return nil, console.Inputf("%s and %s are sums of different plans", all[0].path, path)
		}
		for _, p := range s.parts {
			if other := in[p.SHA256]; other != nil {
				return nil, console.Inputf("%s and %s both hold the rows of %s", other.path, path, p.Name)
			}
			in[p.SHA256] = s
		}
		all = append(all, s)
	}
	return all, nil
}

// readSums reads a file of sums.
func readSums(path string) (*sums, error) {
	fail := func(err error) (*sums, error) { return nil, console.Inputf("%s: %w", path, err) }
	z, err := zip.OpenReader(path)
	if errors.Is(err, zip.ErrFormat) {
		return fail(errors.New("the file is none that mkl sum wrote"))
	}
	if err != nil {
		return nil, console.Input(err)
	}
	defer z.Close()
	member := func(name string) ([]byte, error) {
		f, err := z.Open(name)
		if err != nil {
			return nil, fmt.Errorf("the file is none that mkl sum wrote: %w", err)
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, mostSums))
	}
	s := &sums{path: path, total: &stat.Statistic{}}
	text, err := member(memberPlan)
	if err != nil {
		return fail(err)
	}
	if s.plan, err = loadPlan(bytes.NewReader(text)); err != nil {
		return fail(err)
	}
	if text, err = member(memberParts); err != nil {
		return fail(err)
	}
	if err := json.Unmarshal(text, &s.parts); err != nil {
		return fail(fmt.Errorf("%s: %w", memberParts, err))
	}
	if text, err = member(memberSums); err != nil {
		return fail(err)
	}
	if err := s.total.UnmarshalBinary(text); err != nil {
		return fail(err)
	}
	var samples int64
	for _, p := range s.parts {
		samples += p.Samples
	}
	if s.total.Samples() != samples || samples > 0 && s.total.Layout().Plan != s.plan.Hash() {
		return fail(errors.New("plan, parts and sums do not belong together"))
	}
	if text, err = member(memberOpen); errors.Is(err, fs.ErrNotExist) {
		return s, nil
	} else if err != nil {
		return fail(err)
	}
	s.open = &openPart{sums: &stat.Statistic{}}
	if err := json.Unmarshal(text, s.open); err != nil {
		return fail(fmt.Errorf("%s: %w", memberOpen, err))
	}
	if text, err = member(memberOpenSums); err != nil {
		return fail(err)
	}
	if err := s.open.sums.UnmarshalBinary(text); err != nil {
		return fail(err)
	}
	if s.open.sums.Layout().Plan != s.plan.Hash() || s.open.sums.Samples() != s.open.Samples {
		return fail(errors.New("plan and the table that is open do not belong together"))
	}
	return s, nil
}

// write writes the file of the sums.
func (s *sums) write(ctx context.Context) error {
	return atomicfile.Write(ctx, s.path, func(w io.Writer) error {
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
		err := errors.Join(member(memberPlan, s.plan.Save), text(memberParts, s.parts), statistic(memberSums, s.total))
		if s.open != nil && s.open.Rows > 0 {
			err = errors.Join(err, text(memberOpen, s.open), statistic(memberOpenSums, s.open.sums))
		}
		return errors.Join(err, z.Close())
	})
}

// fingerprint returns name, size and hash of a file.
func fingerprint(e *console.Env, path string) (p part, err error) {
	bytes, hash, err := hashFile(e, path)
	if err != nil {
		return p, console.Input(err)
	}
	return part{Name: path, Bytes: bytes, SHA256: hash}, nil
}

// readPlan reads a plan file.
func readPlan(path string) (samplePlan, *notes, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, console.Input(err)
	}
	defer f.Close()
	p, err := loadPlan(f)
	if err != nil {
		return nil, nil, console.Inputf("%s: %w", path, err)
	}
	n, err := planNotes(p)
	if err != nil {
		return nil, nil, console.Inputf("%s: %w", path, err)
	}
	return p, n, nil
}

// planNotes reads the notes of a plan, which say where its columns are.
func planNotes(p samplePlan) (*notes, error) {
	n := &notes{}
	text, ok := p.Notes()[notesKey]
	if !ok || json.Unmarshal([]byte(text), n) != nil || len(n.Views) != len(p.Inputs()) || len(n.Targets) != 1 {
		return nil, errors.New("the plan was not made by mkl plan: it does not say where its columns are")
	}
	return n, nil
}
