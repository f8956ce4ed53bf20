package mkl

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/stat"
)

// SamplePlan is a *[Plan] or a *[ClassPlan].
type SamplePlan interface {
	Saved

	// Hash returns a hash of the whole plan.
	Hash() [sha256.Size]byte

	// Inputs describes the matrices that builders take.
	Inputs() []ModelInput

	// Kernels names the kernels of the views.
	Kernels() []string

	// Features returns the number of features of each view.
	Features() []int

	// Notes returns the notes given to Begin.
	Notes() map[string]string

	// String describes the plan in one line.
	String() string
}

// Sums are the sums of some parts of a data set, with their plan and the names of the parts. mkl sum writes
// them to a file, as do Save and the packages scale/beam and scale/nats; [ReadSums], mkl sum and mkl fit read all of these files:
//
//	sums := mkl.Sums{Plan: plan}
//	err := sums.Add(mkl.SumsPart{Name: "monday"}, part)   // a *stat.Statistic of a builder of the plan
//	err = sums.Merge(other)                               // of another file
//	err = sums.Save(file)
//
// Each part counts once: Add and Merge refuse a part that the sums hold already. Merging is exact. Sums of the same parts have the
// same bytes, whatever the order and grouping of the merges.
type Sums struct {
	Plan  SamplePlan
	Parts []SumsPart      // whose samples are in Total, ascending by name
	Total *stat.Statistic // nil stands for no samples
	Open  *OpenPart       // a part that is not in Total, because only some of its rows were summed; nil without one
}

// SumsPart is a part of a data set, such as a table.
type SumsPart struct {
	Name    string `json:"name"`    // of no other part
	Bytes   int64  `json:"bytes"`   // of the table's file; 0 where that is not known
	SHA256  string `json:"sha256"`  // of these bytes, in hexadecimal; empty where that is not known
	Samples int64  `json:"samples"` // that were summed
}

// OpenPart is a part that is summed up to some row.
type OpenPart struct {
	SumsPart
	Rows int             `json:"rows"` // up to there; a block of samples ends with the last of them
	Sums *stat.Statistic `json:"-"`    // of these rows
}

// PartError says that samples cannot be added, because sums hold the same part.
type PartError struct {
	Part  SumsPart // to be added
	There SumsPart // the part that is there
}

// Error implements error.
func (e *PartError) Error() string {
	switch {
	case e.Part.Name != e.There.Name:
		return fmt.Sprintf("mkl: sums: part %q has the bytes of part %q, which is there", e.Part.Name, e.There.Name)
	case e.Part.SHA256 != e.There.SHA256:
		return fmt.Sprintf("mkl: sums: part %q is there, with other bytes", e.Part.Name)
	}
	return fmt.Sprintf("mkl: sums: part %q is there", e.Part.Name)
}

// Same reports whether two parts cannot both be in sums: they have the same name, or the same bytes and a sample.
func (p SumsPart) Same(q SumsPart) bool {
	return p.Name == q.Name || p.SHA256 != "" && p.SHA256 == q.SHA256 && p.Samples > 0
}

// Samples returns the number of samples in Total.
func (s *Sums) Samples() int64 {
	if s.Total == nil {
		return 0
	}
	return s.Total.Samples()
}

// Add adds the sums of a part, which it does not change. It counts the part's samples itself. If the sums are of
// another plan, or the part is there (a *[PartError]), it returns an error and leaves s unchanged.
func (s *Sums) Add(p SumsPart, of *stat.Statistic) error {
	p.Samples = of.Samples()
	return s.Merge(&Sums{Plan: s.Plan, Parts: []SumsPart{p}, Total: of})
}

// Merge adds the parts of other, which it does not change, exactly. If the plans differ, a part of other is there (a
// *[PartError]), or other has an open part, it returns an error and leaves s unchanged.
func (s *Sums) Merge(other *Sums) error {
	if s.Plan.Hash() != other.Plan.Hash() {
		a, b := s.Plan.Hash(), other.Plan.Hash()
		return fmt.Errorf("mkl: sums: of the plan %x…, and not of %x…", b[:4], a[:4])
	}
	if o := other.Open; o != nil {
		return fmt.Errorf("mkl: sums: part %q is summed up to row %d only", o.Name, o.Rows)
	}
	for _, p := range other.Parts {
		if at := slices.IndexFunc(s.Parts, p.Same); at >= 0 {
			return &PartError{p, s.Parts[at]}
		}
	}
	if other.Samples() > 0 {
		if other.Total.Layout().Plan != s.Plan.Hash() {
			return errors.New("mkl: sums: the samples were summed by another plan")
		}
		if s.Total == nil {
			s.Total = &stat.Statistic{}
		}
		if err := s.Total.Merge(other.Total); err != nil {
			return fmt.Errorf("mkl: sums: %w", err)
		}
	}
	s.Parts = slices.Concat(s.Parts, other.Parts)
	slices.SortFunc(s.Parts, func(a, b SumsPart) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// check returns an error if plan, parts and sums do not belong together.
func (s *Sums) check() error {
	if s.Plan == nil {
		return errors.New("there is no plan")
	}
	var samples int64
	for i, p := range s.Parts {
		if i > 0 && s.Parts[i-1].Name >= p.Name {
			return fmt.Errorf("parts %q and %q are not in order", s.Parts[i-1].Name, p.Name)
		}
		if p.Samples < 0 || p.Samples > stat.MaxSamples || p.Bytes < 0 {
			return fmt.Errorf("part %q: %d samples of %d bytes", p.Name, p.Samples, p.Bytes)
		}
		samples += p.Samples
	}
	if s.Samples() != samples || samples > 0 && s.Total.Layout().Plan != s.Plan.Hash() {
		return errors.New("plan, parts and sums do not belong together")
	}
	if o := s.Open; o != nil && (o.Sums == nil || o.Sums.Samples() != o.Samples || o.Samples > 0 && o.Sums.Layout().Plan != s.Plan.Hash()) {
		return errors.New("plan and the part that is open do not belong together")
	}
	return nil
}
