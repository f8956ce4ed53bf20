package sums

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// Sums are the sums of a file, with the notes of their plan.
type Sums struct {
	*mkl.Sums
	Plan *Plan
	Path string
}

// newSums are sums of nothing.
func newSums(path string, plan *Plan) *Sums {
	return &Sums{&mkl.Sums{Plan: plan.SamplePlan, Total: &stat.Statistic{}}, plan, path}
}

// hold reports whether the sums hold a table already. A table of the same name but with other bytes is an error.
func (s *Sums) hold(p mkl.SumsPart) (bool, error) {
	for _, old := range s.Parts {
		switch {
		case old.SHA256 == p.SHA256:
			return true, nil
		case old.Name == p.Name:
			return false, console.Inputf("%s has changed since %s was made: remove the file of sums to begin again", p.Name, s.Path)
		}
	}
	return false, nil
}

// holdAll reports whether the sums hold all parts of other sums already; some says whether they hold at least one.
func (s *Sums) holdAll(other *mkl.Sums) (all, some bool) {
	all = len(other.Parts) > 0
	for _, p := range other.Parts {
		if slices.Contains(s.Parts, p) {
			some = true
		} else {
			all = false
		}
	}
	return all, some
}

// merge adds the sums of another file. from maps the name of each part in the sums to the file that it came from.
func (s *Sums) merge(other *Sums, from map[string]string) error {
	err := s.Merge(other.Sums)
	if twice, ok := errors.AsType[*mkl.PartError](err); ok {
		there := s.Path
		if path, ok := from[twice.There.Name]; ok {
			there = path
		}
		switch {
		case twice.Part.Name != twice.There.Name:
			return console.Inputf("%s and %s both hold the rows of %s, which %s calls %s", there, other.Path, twice.There.Name, other.Path, twice.Part.Name)
		case twice.Part.SHA256 != twice.There.SHA256:
			return console.Inputf("%s and %s hold parts of other bytes that are both called %s: sum one of them under another name, by -part", there, other.Path, twice.Part.Name)
		}
		return console.Inputf("%s and %s both hold the rows of %s", there, other.Path, twice.Part.Name)
	}
	if err != nil {
		return console.Inputf("%s: %w", other.Path, err)
	}
	for _, p := range other.Parts {
		from[p.Name] = other.Path
	}
	return nil
}

// samePlan returns an error if two files have different plans.
func (s *Sums) samePlan(other *Sums) error {
	if s.Plan.Hash() != other.Plan.Hash() {
		return console.Inputf("%s and %s are sums of different plans", s.Path, other.Path)
	}
	return nil
}

// headBytes is how many first bytes of a file tell what it is.
const headBytes = 64

// isSums reports whether a regular file is a file of sums.
func isSums(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := bufio.NewReaderSize(f, headBytes).Peek(headBytes)
	return err == nil && mkl.BeginsSums(head)
}

// OpenAll reads files of sums; none if the first is something else. All are of one plan,
// and no table is in two of them.
func OpenAll(paths []string) (all []*Sums, err error) {
	if paths[0] == console.Standard || !isSums(paths[0]) {
		return nil, nil
	}
	var total *Sums
	from := map[string]string{}
	for _, path := range paths {
		s, err := Read(path)
		if err != nil {
			return nil, err
		}
		if all = append(all, s); total == nil {
			total = newSums(path, s.Plan)
		}
		if err := total.samePlan(s); err != nil {
			return nil, err
		}
		parts := &Sums{&mkl.Sums{Plan: s.Plan.SamplePlan, Parts: s.Parts}, s.Plan, path} // without the sums: only names and bytes are compared
		if err := total.merge(parts, from); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Read reads a file of sums.
func Read(path string) (*Sums, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, console.Input(err)
	}
	defer f.Close()
	return read(path, f)
}

func read(path string, r io.Reader) (*Sums, error) {
	b := bufio.NewReader(r)
	if head, err := b.Peek(headBytes); err == nil && !mkl.BeginsSums(head) || err == io.EOF {
		return nil, console.Inputf("%s: mkl sum did not write the file", path)
	}
	s, err := mkl.ReadSums(b)
	if err != nil {
		return nil, console.Inputf("%s: %w", path, err)
	}
	return &Sums{s, newPlan(s.Plan), path}, nil
}

// write writes the file.
func (s *Sums) write(e *console.Env) error {
	env := *e
	env.Ctx = context.WithoutCancel(e.Ctx)
	out := s.Sums
	if out.Open != nil && out.Open.Rows == 0 {
		whole := *out
		whole.Open, out = nil, &whole
	}
	return env.Create(s.Path, out.Save)
}

// fingerprint returns name, size and hash of a file.
func fingerprint(e *console.Env, path string) (p mkl.SumsPart, err error) {
	bytes, hash, err := provenance.Hash(e, path)
	if err != nil {
		return p, console.Input(err)
	}
	return mkl.SumsPart{Name: path, Bytes: bytes, SHA256: hash}, nil
}

// nameOf is the name of a part that nobody named.
func nameOf(sha256 string) string {
	const digits = 16
	return fmt.Sprintf("sha256:%s", sha256[:digits])
}
