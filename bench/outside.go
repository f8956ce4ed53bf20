package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/bmkl/bmkl/la"
)

// Other programs get a set as files of float64 in a folder, and print a line of JSON for each
// answer.

//go:embed peers/authors.m
var authorsScript string

//go:embed peers/scikit-learn.py
var sklearnScript string

// outside are the commands of other programs, "" for those that are not to run.
type outside struct {
	octave  string // runs the code of BMKLR's and BEMKL's author
	authors string // the folder of that code
	python  string // has scikit-learn
}

// learners returns the learners of a program, each with its answers about a set. The program
// runs when the first of them is asked.
func (o outside) learners(names []string, run func() ([]answer, error)) (ls []learner) {
	once := sync.OnceValues(run)
	for _, name := range names {
		ls = append(ls, learner{name: name, course: func() ([]answer, error) {
			all, err := once()
			if err != nil {
				return nil, err
			}
			var course []answer
			for _, a := range all {
				if a.Learner == name {
					course = append(course, a)
				}
			}
			if len(course) == 0 {
				return nil, errors.New("it gave no answer")
			}
			return course, nil
		}})
	}
	return ls
}

// ofAuthors returns the author's code as a learner of s.
func (o outside) ofAuthors(s *set) []learner {
	return o.learners([]string{"the author's code"}, func() ([]answer, error) {
		if o.octave == "" || o.authors == "" {
			return nil, errors.New("-octave and -authors do not say where it is")
		}
		task := "regression"
		if s.labels {
			task = "classification"
		}
		files := map[string][]float64{"k": flat(s.kernels(s.x)), "test": flat(s.kernels(s.test)), "y": s.y, "want": s.want}
		authors, err := filepath.Abs(o.authors)
		if err != nil {
			return nil, err
		}
		var steps []string
		for sweeps := 1; sweeps < paperSweeps; sweeps = more(sweeps) {
			steps = append(steps, strconv.Itoa(sweeps))
		}
		steps = append(steps, strconv.Itoa(paperSweeps))
		return call(o.octave, []string{"--quiet", "--no-init-file"}, "authors.m", authorsScript, files,
			authors, task, strconv.Itoa(len(s.y)), strconv.Itoa(len(s.want)), strconv.Itoa(len(widths)),
			strings.Join(steps, " "))
	})
}

// ofSklearn returns scikit-learn's learners of s.
func (o outside) ofSklearn(s *set) []learner {
	names, task := []string{"GaussianProcessRegressor"}, "regression"
	if s.labels {
		names, task = []string{"GaussianProcessClassifier", "SVC"}, "classification"
	}
	return o.learners(names, func() ([]answer, error) {
		if o.python == "" {
			return nil, errors.New("-python does not say where scikit-learn is")
		}
		files := map[string][]float64{"x": s.x.Data, "test": s.test.Data, "y": s.y, "want": s.want}
		return call(o.python, nil, "scikit-learn.py", sklearnScript, files, task, strconv.Itoa(s.x.Cols))
	})
}

// flat returns the entries of matrices one after another.
func flat(ms []la.Matrix[float64]) (all []float64) {
	for _, m := range ms {
		all = append(all, m.Data...)
	}
	return all
}

// call writes a script and files NAME.f64 to a folder of its own, runs the command there with
// one thread, and returns the answers that it prints.
func call(command string, flags []string, script, text string, files map[string][]float64, arguments ...string) ([]answer, error) {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, script), []byte(text), 0o600); err != nil {
		return nil, err
	}
	for name, values := range files {
		var b bytes.Buffer
		if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(folder, name+".f64"), b.Bytes(), 0o600); err != nil {
			return nil, err
		}
	}
	words := append(strings.Fields(command), flags...)
	words = append(append(words, script), arguments...)
	c := exec.Command(words[0], words[1:]...)
	c.Dir = folder
	c.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(complaint.String()), "\n")
		return nil, fmt.Errorf("%s: %w: %s", words[0], err, lines[len(lines)-1])
	}
	return parseAnswers(bytes.NewReader(out))
}

// parseAnswers reads the lines that are JSON objects; programs print others, such as their
// progress.
func parseAnswers(r io.Reader) (out []answer, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if !strings.HasPrefix(text, "{") {
			continue
		}
		var a answer
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			return nil, fmt.Errorf("answer %q: %w", text, err)
		}
		if a.Learner == "" || !(a.Seconds > 0) {
			return nil, fmt.Errorf("answer %q: it has no learner, or no time", text)
		}
		out = append(out, a)
	}
	return out, lines.Err()
}
