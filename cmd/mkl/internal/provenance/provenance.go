// Package provenance says how a model was made: by which command line, which program, from which files.
package provenance

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

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/la"
)

// Made is what is needed to make a model again.
type Made struct {
	Command string `json:"command"` // without the flags that do not change the model
	Version string `json:"version"` // of the program
	Data    []File `json:"data,omitempty"`
	Seed    uint64 `json:"seed"`
	Machine string `json:"-"` // operating system, processor, instruction set: a model has the same bytes on all
}

// File identifies a file that was read.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // of its bytes
}

// Of is how a command makes a model: its command line, the version of the program and the files, which were read.
func Of(e *console.Env, files []*console.File, seed uint64) (*Made, error) {
	m := &Made{Command: CommandLine(e.Args), Version: Build().Program(), Seed: seed}
	for _, f := range files {
		if err := m.Add(e, f.Path); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Add adds a file, unless it cannot be read twice.
func (m *Made) Add(e *console.Env, path string) error {
	f, err := fileOf(e, path)
	if f != nil {
		m.Data = append(m.Data, *f)
	}
	return err
}

// Used reports whether the model was fitted to a file: false where that is not known, as for a nil m.
func (m *Made) Used(e *console.Env, path string) (bool, error) {
	if m == nil {
		return false, nil
	}
	file, err := fileOf(e, path)
	if file == nil || err != nil {
		return false, err
	}
	return slices.ContainsFunc(m.Data, func(d File) bool { return d.SHA256 == file.SHA256 }), nil
}

// fileOf identifies a file, unless it cannot be read twice, such as standard input.
func fileOf(e *console.Env, path string) (*File, error) {
	if info, err := os.Stat(path); path == "-" || err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	_, hash, err := Hash(e, path)
	if err != nil {
		return nil, err
	}
	return &File{path, hash}, nil
}

// Hash returns the size of a file and the SHA-256 of its bytes, in hexadecimal.
func Hash(e *console.Env, path string) (bytes int64, hash string, err error) {
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

// CommandLine is the command line as a shell would read it, without the flags that say where the
// model goes and how it is computed, but not which it is.
func CommandLine(args []string) string {
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

// Machine says where the program runs, as far as it matters to the result.
func Machine() string {
	set, _ := la.InstructionSet() // console has checked the error
	return fmt.Sprintf("%s/%s, %s instructions", runtime.GOOS, runtime.GOARCH, set)
}

// Rows are the provenance as a table.
func (m *Made) Rows() [][]string {
	rows := [][]string{{"command", m.Command}, {"program", m.Version}, {"seed", strconv.FormatUint(m.Seed, 10)}}
	if m.Machine != "" {
		rows = append(rows, []string{"machine", m.Machine})
	}
	for _, d := range m.Data {
		rows = append(rows, []string{"SHA-256 of " + d.Path, d.SHA256})
	}
	return rows
}
