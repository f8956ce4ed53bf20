package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/la"
)

// provenance is what is needed to make a model again.
type provenance struct {
	Command string     `json:"command"` // without the flags that do not change the model
	Version string     `json:"version"` // of the program
	Data    []dataNote `json:"data,omitempty"`
	Seed    uint64     `json:"seed"`
	Machine string     `json:"-"` // operating system, processor, instruction set: a model has the same bytes on all
}

// dataNote identifies a file that was read.
type dataNote struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // of its bytes
}

// provenanceOf is that of the command line and of the files, which were read.
func provenanceOf(e *console.Env, fs *console.Files, seed uint64) (*provenance, error) {
	p := &provenance{Command: commandLine(e.Args), Version: newVersion(buildInfo()).program(), Seed: seed}
	for _, f := range fs.All {
		note, err := noteOf(e, f.Path)
		if err != nil {
			return nil, err
		}
		if note != nil {
			p.Data = append(p.Data, *note)
		}
	}
	return p, nil
}

// used reports whether a file is one that the model was fitted to: false where that is not known.
func (p *provenance) used(e *console.Env, path string) (bool, error) {
	if p == nil {
		return false, nil
	}
	note, err := noteOf(e, path)
	if note == nil || err != nil {
		return false, err
	}
	return slices.ContainsFunc(p.Data, func(d dataNote) bool { return d.SHA256 == note.SHA256 }), nil
}

// noteOf identifies a file, unless it cannot be read twice, such as standard input.
func noteOf(e *console.Env, path string) (*dataNote, error) {
	if info, err := os.Stat(path); path == "-" || err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	_, hash, err := hashFile(e, path)
	if err != nil {
		return nil, err
	}
	return &dataNote{path, hash}, nil
}

// hashFile returns the size of a file and the SHA-256 of its bytes, in hexadecimal.
func hashFile(e *console.Env, path string) (bytes int64, hash string, err error) {
	f, err := e.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	if bytes, err = io.Copy(h, e.Reader(f)); err != nil {
		return 0, "", err
	}
	return bytes, hex.EncodeToString(h.Sum(nil)), nil
}

// commandLine is the command line as a shell would read it, without the flags that say where the
// model goes and how it is computed, but not which it is.
func commandLine(args []string) string {
	words := []string{"mkl"}
	for i := 0; i < len(args); i++ {
		name, _, whole := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		flag := strings.HasPrefix(args[i], "-")
		switch {
		case flag && slices.Contains([]string{"json", "q", "quiet", "samples"}, name):
		case flag && slices.Contains([]string{"o", "output", "workers", "memory", "resume"}, name):
			if !whole {
				i++ // its value
			}
		case flag && strings.HasPrefix(args[i], "-o") && !strings.HasPrefix(args[i], "--"): // -oFILE: no other flag begins so
		default:
			words = append(words, shellWord(args[i]))
		}
	}
	return strings.Join(words, " ")
}

// shellWord quotes an argument where a shell needs it.
func shellWord(arg string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,+@%", r)
	}
	if arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return !plain(r) }) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// machine says where the program runs, as far as it matters to the result.
func machine() string {
	return fmt.Sprintf("%s/%s, %s instructions", runtime.GOOS, runtime.GOARCH, la.InstructionSet())
}

// rows are the provenance as a table.
func (p *provenance) rows() [][]string {
	rows := [][]string{{"command", p.Command}, {"program", p.Version}, {"seed", strconv.FormatUint(p.Seed, 10)}}
	if p.Machine != "" {
		rows = append(rows, []string{"machine", p.Machine})
	}
	for _, d := range p.Data {
		rows = append(rows, []string{"SHA-256 of " + d.Path, d.SHA256})
	}
	return rows
}
