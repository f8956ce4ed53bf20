package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// resumeMagic begins the file of mkl fit -resume; then come the key in a line and the journal.
const resumeMagic = "bmkl fit "

// resumption is the file of mkl fit -resume. A nil one does nothing.
type resumption struct {
	path, key string
	journal   *mkl.Journal
}

// newResumption returns that of a path, nil if there is none.
func newResumption(path string) *resumption {
	if path == "" {
		return nil
	}
	r := &resumption{path: path}
	r.journal = &mkl.Journal{Save: r.write}
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
	r.key = key
	data, err := os.ReadFile(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := atomicfile.Check(r.path); err != nil {
			return nil, console.Input(err)
		}
	case err != nil:
		return nil, console.Input(err)
	default:
		line, journal, ok := bytes.Cut(data, []byte("\n"))
		was, begins := bytes.CutPrefix(line, []byte(resumeMagic))
		if !ok || !begins {
			return nil, console.Inputf("-resume %s: the file is no state of a fit", r.path)
		}
		if string(was) != key {
			return nil, console.Inputf("-resume %s: the file is the state of a fit of other data or with other flags", r.path)
		}
		if err := r.journal.UnmarshalBinary(journal); err != nil {
			return nil, console.Inputf("-resume %s: %w", r.path, err)
		}
		if n := r.journal.Sweeps(); n > 0 {
			fmt.Fprintf(e.Stderr, "going on from %s, after %s\n", r.path, console.Plural(n, "sweep"))
		}
	}
	written := make(chan struct{})
	stop := context.AfterFunc(e.Ctx, func() {
		defer close(written)
		if err := r.save(); err != nil {
			e.Kept = ""
			fmt.Fprintf(e.Stderr, "mkl: warning: %v\n", err)
		}
	})
	e.Kept = r.path
	return func() {
		if !stop() {
			<-written
		}
	}, nil
}

// save writes the state as it is now.
func (r *resumption) save() error {
	data, err := r.journal.MarshalBinary()
	if err != nil {
		return err
	}
	return r.write(data)
}

// write writes a journal, whole or not at all.
func (r *resumption) write(journal []byte) error {
	return atomicfile.Write(context.Background(), r.path, func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "%s%s\n", resumeMagic, r.key); err != nil {
			return err
		}
		_, err := w.Write(journal)
		return err
	})
}

// end removes the file if the fit has no use for it any more, or writes it.
func (r *resumption) end(finished bool) error {
	if r == nil {
		return nil
	}
	if !finished {
		return r.save()
	}
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	flags.Workers, flags.Memory, flags.JSON, flags.Time, flags.Sweeps = 0, 0, false, 0, 0
	return p.key([]any{flags, p.Model, p.Kernels, p.MissingTargets})
}
