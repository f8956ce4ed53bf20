package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// served is a model of a file of testdata.
type served struct {
	name, data, target string
	flags              []string
	rows               []map[string]string // of the data, without the target
}

var models = []*served{
	{name: "motorcycle", data: "testdata/mcycle.csv", target: "accel"},
	{name: "iris", data: "testdata/iris.csv", target: "Species"},
}

// fit writes the model to NAME.mkl in a folder. Other seeds give other models, which learn from other kernels.
func (m *served) fit(ctx context.Context, s settings, folder string, version int) error {
	if err := m.read(); err != nil {
		return err
	}
	data, err := filepath.Abs(m.data)
	if err != nil {
		return err
	}
	next := filepath.Join(folder, m.name+".next")
	args := append([]string{"fit", data, "-target", m.target, "-q", "-o", next}, m.flags...)
	if version == 2 {
		args = append(args, "-model", "mgp", "-kernels", "rbf(width=1)")
	}
	c := exec.CommandContext(ctx, s.mkl, args...)
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("mkl fit: %w: %s", err, said)
	}
	return os.Rename(next, m.file(folder, version))
}

// file is the file of a version of the model; the first is the one that is served.
func (m *served) file(folder string, version int) string {
	if version == 1 {
		return filepath.Join(folder, m.name+".mkl")
	}
	return filepath.Join(folder, m.name+".mkl.2")
}

func (m *served) read() error {
	f, err := os.Open(m.data)
	if err != nil {
		return err
	}
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return err
	}
	m.rows = nil
	for _, cells := range table[1:] {
		row := map[string]string{}
		for j, name := range table[0] {
			if name != m.target {
				row[name] = cells[j]
			}
		}
		m.rows = append(m.rows, row)
	}
	return nil
}

// body is a request for the predictions of some records, the first of them at a row.
func (m *served) body(at, records int) []byte {
	if records == 1 {
		b, _ := json.Marshal(m.rows[at%len(m.rows)]) // texts
		return b
	}
	all := make([]map[string]string, records)
	for i := range all {
		all[i] = m.rows[(at+i)%len(m.rows)]
	}
	b, _ := json.Marshal(map[string]any{"records": all})
	return b
}

// service is a process of mkl serve.
type service struct {
	cmd     *exec.Cmd
	address string
	stderr  io.ReadCloser
	log     chan string // what it wrote after its address, when it has ended
}

// serve starts a service, and waits until it listens.
func (s settings) serve(ctx context.Context, file string, flags ...string) (*service, error) {
	p := &service{log: make(chan string, 1)}
	p.cmd = exec.CommandContext(ctx, s.mkl, append([]string{"serve", file, "-listen", "127.0.0.1:0"}, flags...)...)
	p.cmd.Env = append(os.Environ(), s.environment...)
	var err error
	if p.stderr, err = p.cmd.StderrPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(p.stderr)
	first, err := lines.ReadString('\n')
	_, address, ok := strings.Cut(strings.TrimSpace(first), " on ")
	if err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("mkl serve says %q", first), p.kill())
	}
	p.address = address
	go func() {
		rest, _ := io.ReadAll(lines)
		p.log <- string(rest)
	}()
	return p, nil
}

func (p *service) kill() error {
	if err := p.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = p.cmd.Wait() // it was killed
	return nil
}

// memory returns the resident memory of the process, now and at most, in MiB; 0 where the system does not say.
func (p *service) memory() (now, most float64) { return memoryOf(p.cmd.Process.Pid) }

func memoryOf(process int) (now, most float64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	if err != nil {
		return 0, 0
	}
	of := func(key string) float64 {
		_, rest, ok := strings.Cut(string(text), key+":")
		if !ok {
			return 0
		}
		kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
		return kib / 1024
	}
	return of("VmRSS"), of("VmHWM")
}
