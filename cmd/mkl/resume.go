package main

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

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/resume"
	"github.com/bmkl/bmkl/mkl"
)

// resumption is the file of mkl fit -resume. A nil one does nothing.
type resumption struct {
	file    resume.File
	journal *mkl.Journal
}

// newResumption returns that of a path, nil if there is none.
func newResumption(path string) *resumption {
	if path == "" {
		return nil
	}
	r := &resumption{}
	r.journal = &mkl.Journal{Save: r.file.Write}
	r.file = resume.File{Path: path, Flag: "-resume", Journal: r.journal}
	return r
}

// of returns the journal, nil if none is kept.
func (r *resumption) of() *mkl.Journal {
	if r == nil {
		return nil
	}
	return r.journal
}

// begin reads the file, if it is there, for the fit that key stands for, and lets an interruption
// write it. ended is to be called when the fit has: it waits for what an interruption writes.
func (r *resumption) begin(e *console.Env, key string) (ended func(), err error) {
	if r == nil {
		return func() {}, nil
	}
	r.file.Key = key
	return r.file.Begin(e)
}

// end removes the file if the fit has no use for it any more, or writes it.
func (r *resumption) end(finished bool) error {
	if r == nil {
		return nil
	}
	if !finished {
		return r.file.Save()
	}
	if err := os.Remove(r.file.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// key stands for flags and for the data of the views that were read.
func (p *problem) key(flags any) (string, error) {
	text, err := json.Marshal(flags)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write(text)
	seen := map[*console.File]bool{}
	for _, view := range p.views {
		f := view.source.File
		if seen[f] {
			continue
		}
		seen[f] = true
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

// fitKey is the key of a fit: of all flags but those of how, how far and for how long it is made.
func (p *problem) fitKey() (string, error) {
	flags := p.learnFlags
	flags.Workers, flags.Memory, flags.JSON, flags.Time = 0, 0, false, 0
	if p.est.model != modelLandmarks { // where they bound what learns widths before
		flags.Sweeps = 0
	}
	return p.key([]any{flags, p.Model, p.Kernels, p.MissingTargets, p.factorFlags, p.pairFlags})
}
