package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// roomAtMost is the largest room, in bytes, of a disk that fill fills.
const roomAtMost = 1 << 30

// fill runs commands that write into a folder of a full disk. Each command has to end with exit status 1, to name the file and the
// cause, to keep the file that was there, and to leave no other file. With room again, the same command has to end well.
func (s settings) fill(ctx context.Context, out io.Writer) error {
	m := models[0]
	if err := m.fit(ctx, s, s.keep, 1); err != nil {
		return err
	}
	model, data := m.file(s.keep, 1), filepath.Join(s.keep, "data.csv")
	text, err := os.ReadFile(m.data)
	if err != nil {
		return err
	}
	if err := os.WriteFile(data, text, 0o666); err != nil {
		return err
	}
	fmt.Fprintln(out, "| command | exit status | names the file and the cause | old file | other files | exit status with room |")
	fmt.Fprintln(out, "| --- | --: | --- | --- | --: | --: |")
	fit := []string{"fit", data, "-target", m.target}
	bmkl := append(slices.Clone(fit), "-model", "bmkl", "-o", filepath.Join(s.keep, "other.mkl"))
	for _, c := range []writer{
		{"new.mkl", true, append(slices.Clone(fit), "-o")},
		{"state", false, append(slices.Clone(bmkl), "-resume")},
		{"", false, append(slices.Clone(bmkl), "-store")},
		{"rows.csv", true, []string{"predict", model, data, "-o"}},
		{"rows.parquet", true, []string{"predict", model, data, "-o"}},
		{"rows.xlsx", true, []string{"predict", model, data, "-o"}},
		{"page.html", true, []string{"report", model, "-data", data, "-o"}},
		{"model.onnx", true, []string{"export", model, "-o"}},
		{"", false, []string{"plot", model, "-data", data, "-o"}},
		{"plan", true, []string{"plan", data, "-target", m.target, "-o"}},
		{"cv.state", false, []string{"cv", data, "-target", m.target, "-models", "mgp", "-resume"}},
	} {
		if err := s.withoutRoom(ctx, out, c); err != nil {
			return fmt.Errorf("mkl %s: %w", strings.Join(c.args, " "), err)
		}
	}
	return nil
}

// writer is a command that writes.
type writer struct {
	file     string   // its name; empty if the command is given a folder
	replaces bool     // whether another file may be there before
	args     []string // of the command; the file or the folder comes after them
}

// withoutRoom runs a command on the full disk, and again with room.
func (s settings) withoutRoom(ctx context.Context, out io.Writer, w writer) (err error) {
	folder, err := os.MkdirTemp(s.full, "full")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, w.file)
	if w.file == "" {
		path += string(filepath.Separator)
	}
	old := []byte("the file that was there\n")
	if w.replaces {
		if err := os.WriteFile(path, old, 0o666); err != nil {
			return err
		}
	}
	filler := filepath.Join(folder, "filler")
	if err := pour(filler); err != nil {
		return err
	}
	command := func() (int, string) {
		c := exec.CommandContext(ctx, s.mkl, append(slices.Clone(w.args), path)...)
		said, _ := c.CombinedOutput()
		return c.ProcessState.ExitCode(), string(said)
	}
	status, said := command()
	named := strings.Contains(said, folder) && strings.Contains(said, syscall.ENOSPC.Error())
	kept := "none"
	if w.replaces {
		now, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		kept = map[bool]string{true: "kept", false: "changed"}[bytes.Equal(now, old)]
	}
	left, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	others := len(left) - 1 // the filler
	if w.replaces {
		others--
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	again, saidAgain := command()
	what := w.args[0] + " " + w.args[len(w.args)-1]
	fmt.Fprintf(out, "| mkl %s %s | %d | %v | %s | %d | %d |\n", what, w.file, status, named, kept, others, again)
	if status != 1 || !named || kept == "changed" || others > 0 || again != 0 {
		return fmt.Errorf("%s; with room: %s", said, saidAgain)
	}
	return nil
}

// pour writes zeros to a file until the disk has no room. A disk with more room than roomAtMost is an error.
func pour(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 1 << 20; ; {
		n, err := f.Write(make([]byte, size))
		switch at, _ := f.Seek(0, io.SeekCurrent); {
		case at > roomAtMost:
			return errors.Join(fmt.Errorf("the disk of %s has room for more than %d bytes", name, roomAtMost), os.Remove(name))
		case errors.Is(err, syscall.ENOSPC) && size > 1:
			size /= 2
		case errors.Is(err, syscall.ENOSPC):
			return nil
		case err != nil:
			return fmt.Errorf("after %d bytes: %w", n, err)
		}
	}
}
