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
	for _, c := range []struct {
		file string
		args []string
	}{
		{"new.mkl", []string{"fit", data, "-target", m.target, "-o"}},
		{"state", []string{"fit", data, "-target", m.target, "-model", "bmkl", "-o", filepath.Join(s.keep, "resumed.mkl"), "-resume"}},
		{"", []string{"fit", data, "-target", m.target, "-model", "bmkl", "-o", filepath.Join(s.keep, "stored.mkl"), "-store"}},
		{"rows.csv", []string{"predict", model, data, "-o"}},
		{"rows.parquet", []string{"predict", model, data, "-o"}},
		{"rows.xlsx", []string{"predict", model, data, "-o"}},
		{"page.html", []string{"report", model, "-data", data, "-o"}},
		{"model.onnx", []string{"export", model, "-o"}},
		{"", []string{"plot", model, "-data", data, "-o"}},
		{"plan", []string{"plan", data, "-target", m.target, "-o"}},
		{"cv.state", []string{"cv", data, "-target", m.target, "-models", "mgp", "-resume"}},
	} {
		if err := s.withoutRoom(ctx, out, c.file, c.args); err != nil {
			return fmt.Errorf("mkl %s: %w", strings.Join(c.args, " "), err)
		}
	}
	return nil
}

// withoutRoom runs a command on the full disk, and again with room. An empty name stands for the folder itself.
func (s settings) withoutRoom(ctx context.Context, out io.Writer, name string, args []string) (err error) {
	folder, err := os.MkdirTemp(s.full, "full")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, name)
	old := []byte("the file that was there\n")
	state := strings.HasSuffix(name, "state") // a fit goes on from a state, and refuses any other file
	if name != "" && !state {
		if err := os.WriteFile(path, old, 0o666); err != nil {
			return err
		}
	}
	if name == "" {
		path += string(filepath.Separator)
	}
	filler := filepath.Join(folder, "filler")
	if err := pour(filler); err != nil {
		return err
	}
	command := func() (int, string) {
		c := exec.CommandContext(ctx, s.mkl, append(slices.Clone(args), path)...)
		said, _ := c.CombinedOutput()
		return c.ProcessState.ExitCode(), string(said)
	}
	status, said := command()
	named := strings.Contains(said, folder) && strings.Contains(said, syscall.ENOSPC.Error())
	kept := "none"
	if name != "" && !state {
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
	if kept != "none" {
		others--
	}
	if err := os.Remove(filler); err != nil {
		return err
	}
	again, saidAgain := command()
	what := args[0] + " " + args[len(args)-1]
	fmt.Fprintf(out, "| mkl %s %s | %d | %v | %s | %d | %d |\n", what, name, status, named, kept, others, again)
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
