package fitting

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/resume"
	"github.com/bmkl/bmkl/mkl"
)

// State is the file of mkl fit -resume. A nil state does nothing.
type State struct {
	file    resume.File
	journal *mkl.Journal
}

// NewState returns the state in a file, nil if the path is empty. key stands for the fit: see [Key].
func NewState(path, key string) *State {
	if path == "" {
		return nil
	}
	s := &State{}
	s.journal = &mkl.Journal{Save: s.file.Write}
	s.file = resume.File{Path: path, Flag: "-resume", Key: key, Journal: s.journal}
	return s
}

// Journal is the state of the fit; nil if the file keeps none.
func (s *State) Journal() *mkl.Journal {
	if s == nil {
		return nil
	}
	return s.journal
}

// Begin reads the file, if it is there, and lets an interruption write it. ended is to be called when the fit has
// ended: it waits for what an interruption writes.
func (s *State) Begin(e *console.Env) (ended func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	return s.file.Begin(e)
}

// End removes the file if the fit has no use for it any more, or else writes it.
func (s *State) End(finished bool) error {
	if s == nil {
		return nil
	}
	if !finished {
		return s.file.Save()
	}
	if err := os.Remove(s.file.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Key stands for flags and for the cells of files that were read.
func Key(flags any, files []*console.File) (string, error) {
	text, err := json.Marshal(flags)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write(text)
	for _, f := range files {
		for _, j := range slices.Sorted(maps.Keys(f.Data.Numbers)) {
			fmt.Fprintf(h, "\n%d:", j)
			for _, x := range f.Data.Numbers[j] {
				h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
			}
		}
		for _, j := range slices.Sorted(maps.Keys(f.Data.Labels)) {
			fmt.Fprintf(h, "\n%d:%q", j, f.Data.Labels[j])
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
