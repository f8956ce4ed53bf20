package mkl

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/bmkl/bmkl/stat"
)

// A file of sums is a ZIP archive whose members are stored as they are, in this order; the last two are there if a part is open.
// docs/theory/model-file.md describes it.
const (
	memberPlan     = "plan"           // the file of the plan
	memberParts    = "parts.json"     // a list of SumsPart
	memberSums     = "statistic"      // the bytes of the total
	memberOpen     = "open.json"      // an OpenPart
	memberOpenSums = "open.statistic" // the bytes of its sums
)

var membersOfSums = []string{memberPlan, memberParts, memberSums, memberOpen, memberOpenSums}

// sumsHead is how many bytes [BeginsSums] looks at.
const sumsHead = 30 + len(memberPlan)

// BeginsSums reports whether the first bytes of a file, 34 or more, are the first bytes of a file of sums: a ZIP archive
// whose first member is the plan.
func BeginsSums(head []byte) bool {
	return len(head) >= sumsHead && string(head[:4]) == "PK\x03\x04" && head[26] == byte(len(memberPlan)) && head[27] == 0 &&
		string(head[30:sumsHead]) == memberPlan
}

// Save writes a file that [ReadSums] reads. It returns an error, before it writes, if Parts and Total do not belong to Plan.
func (s *Sums) Save(w io.Writer) error {
	err := s.check()
	if err == nil {
		err = s.write(w)
	}
	if err != nil {
		return fmt.Errorf("mkl: save sums: %w", err)
	}
	return nil
}

func (s *Sums) write(w io.Writer) error {
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
		if t == nil {
			t = &stat.Statistic{}
		}
		return member(name, func(w io.Writer) error { _, err := t.WriteTo(w); return err })
	}
	err := errors.Join(member(memberPlan, s.Plan.Save), text(memberParts, s.Parts), statistic(memberSums, s.Total))
	if s.Open != nil {
		err = errors.Join(err, text(memberOpen, s.Open), statistic(memberOpenSums, s.Open.Sums))
	}
	return errors.Join(err, z.Close())
}

// ReadSums reads a file of sums to its end. Its plan is a *[Plan] or a *[ClassPlan] of strings; classes that were not strings
// become their JSON text. The file need not be trusted: ReadSums checks all of it. The error names the member that is damaged.
func ReadSums(r io.Reader) (*Sums, error) {
	s, err := readSums(r)
	if err != nil {
		return nil, fmt.Errorf("mkl: sums: %w", err)
	}
	return s, nil
}

func readSums(r io.Reader) (*Sums, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("they are not a file of sums, or it is damaged: %w", err)
	}
	members := map[string][]byte{}
	for i, f := range z.File {
		if i >= len(membersOfSums) || f.Name != membersOfSums[i] || f.Method != zip.Store {
			return nil, fmt.Errorf("member %d is called %q: they are not a file of sums", i, f.Name)
		}
		if members[f.Name], err = storedMember(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	if n := len(z.File); n != slices.Index(membersOfSums, memberOpen) && n != len(membersOfSums) {
		return nil, fmt.Errorf("%d members: the file is cut short", n)
	}
	s := &Sums{Total: &stat.Statistic{}}
	if s.Plan, err = readPlan(members[memberPlan]); err != nil {
		return nil, fmt.Errorf("%s: %w", memberPlan, err)
	}
	if err := json.Unmarshal(members[memberParts], &s.Parts); err != nil {
		return nil, fmt.Errorf("%s: %w", memberParts, err)
	}
	if err := s.Total.UnmarshalBinary(members[memberSums]); err != nil {
		return nil, fmt.Errorf("%s: %w", memberSums, err)
	}
	if text := members[memberOpen]; text != nil {
		s.Open = &OpenPart{Sums: &stat.Statistic{}}
		if err := json.Unmarshal(text, s.Open); err != nil {
			return nil, fmt.Errorf("%s: %w", memberOpen, err)
		}
		if err := s.Open.Sums.UnmarshalBinary(members[memberOpenSums]); err != nil {
			return nil, fmt.Errorf("%s: %w", memberOpenSums, err)
		}
	}
	return s, s.check()
}

// storedMember returns the bytes of a member that is not compressed.
func storedMember(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// ReadPlan reads a plan of either kind: a *[Plan], or a *[ClassPlan] of strings. Classes that were not strings become their JSON text.
func ReadPlan(r io.Reader) (SamplePlan, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, loadError(err)
	}
	return readPlan(data)
}

func readPlan(data []byte) (SamplePlan, error) {
	numbers, err := LoadAs[*Plan](bytes.NewReader(data))
	if err == nil {
		return numbers, nil
	}
	if _, other := errors.AsType[*KindError](err); !other {
		return nil, err
	}
	classes, err := LoadAs[*ClassPlan[string]](bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return classes, nil
}
