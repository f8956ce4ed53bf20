package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// source is a package as "go list -json" prints it.
type source struct {
	Dir, ImportPath                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

// tested reports whether the package has tests of its own.
func (p source) tested() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// list finds the packages of the patterns.
func list(ctx context.Context, patterns []string) ([]source, error) {
	out, err := exec.CommandContext(ctx, "go", append([]string{"list", "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles"}, patterns...)...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list: %s", bytes.TrimSpace(exit.Stderr))
		}
		return nil, err
	}
	var all []source
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p source
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// verdict says what the tests made of a mutant.
type verdict int

const (
	invalid verdict = iota // the mutant does not compile
	killed                 // a test failed or did not end
	alive                  // all tests passed
)

type judged struct {
	mutant
	verdict
}

// suite says which tests of a package are run.
type suite struct {
	short bool
	run   string // pattern of their names, as in go test -run; empty for all
}

// tester runs the tests of one package.
type tester struct {
	source
	flags []string
	limit time.Duration // for one mutant, a multiple of the time that the unchanged package takes
}

// newTester runs the tests of the unchanged package: they must pass, and their time sets the limit for mutants.
func newTester(ctx context.Context, p source, tests suite) (*tester, error) {
	t := &tester{source: p, flags: []string{"test", "-count=1", "-vet=off", "-failfast"}, limit: 10 * time.Minute}
	if tests.short {
		t.flags = append(t.flags, "-short")
	}
	if tests.run != "" {
		t.flags = append(t.flags, "-run="+tests.run)
	}
	start := time.Now()
	if out, err := t.test(ctx); err != nil {
		return nil, fmt.Errorf("the tests of %s fail without a change: %w\n%s", p.ImportPath, err, out)
	}
	t.limit = 10*time.Second + 4*time.Since(start)
	return t, nil
}

// test runs the tests with further flags of go test.
func (t *tester) test(ctx context.Context, flags ...string) ([]byte, error) {
	args := append(append([]string{}, t.flags...), "-timeout="+t.limit.String())
	return exec.CommandContext(ctx, "go", append(append(args, flags...), t.ImportPath)...).CombinedOutput()
}

// all tests the mutants, several at once.
func (t *tester) all(ctx context.Context, mutants []mutant, workers int) []judged {
	out := make([]judged, len(mutants))
	var group sync.WaitGroup
	next := make(chan int)
	for range max(1, workers) {
		group.Go(func() {
			for i := range next {
				out[i] = judged{mutants[i], t.one(ctx, mutants[i])}
			}
		})
	}
	for i := range mutants {
		next <- i
	}
	close(next)
	group.Wait()
	return out
}

// one tests one mutant. The compiler reads the changed file through an overlay; it changes no file of the tree.
func (t *tester) one(ctx context.Context, m mutant) verdict {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return invalid
	}
	defer os.RemoveAll(dir)
	changed, err := m.apply()
	if err != nil {
		return invalid
	}
	file, overlay := filepath.Join(dir, filepath.Base(m.path)), filepath.Join(dir, "overlay.json")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {m.path: file}})
	if err != nil {
		return invalid
	}
	if errors.Join(os.WriteFile(file, changed, 0o600), os.WriteFile(overlay, replaced, 0o600)) != nil {
		return invalid
	}
	out, err := t.test(ctx, "-overlay="+overlay)
	switch {
	case err == nil:
		return alive
	case strings.Contains(string(out), "[build failed]"), strings.Contains(string(out), "[setup failed]"):
		return invalid
	}
	return killed
}
