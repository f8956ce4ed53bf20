package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// residue is what a service holds when it rests.
type residue struct {
	goroutines int
	loaded     int     // models, from the start on
	refused    int     // files, from the start on
	files      int     // open files and connections
	mappings   int     // regions of memory
	temporary  int     // files in its folder for temporary files
	memory     float64 // resident, MiB
}

// soak lets a service live through days. In each it answers a burst of requests, and other requests break off. It gets a new
// model, whose file has a time of change in the future on even days and in the past on odd ones. It keeps its model when the
// file is damaged, and when the file is gone. At the end of a day it rests. What it holds then must not grow from day to day.
func (s settings) soak(ctx context.Context, out io.Writer, m *served, days int) error {
	want, files, err := s.two(ctx, m)
	if err != nil {
		return err
	}
	temporary := filepath.Join(s.keep, "temporary")
	if err := os.Mkdir(temporary, 0o777); err != nil {
		return err
	}
	s.environment = []string{"TMPDIR=" + temporary, fmt.Sprintf("GOMEMLIMIT=%dMiB", collect)}
	p, err := s.serve(ctx, m.file(s.keep, 1), "-poll", "20ms", "-wait", "30s")
	if err != nil {
		return err
	}
	defer p.kill()
	fmt.Fprintln(out, "| after day | requests | wrong answers | models served | files refused | goroutines | open files | mappings | temporary files | memory, MiB |")
	fmt.Fprintln(out, "| --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
	var first residue
	requests, wrong := 0, 0
	for day := 1; day <= days; day++ {
		old, next := (day+1)%2, day%2
		span, done := context.WithTimeout(ctx, s.time)
		shots := fire(span, p.address, s.clients, func(row int) []byte { return m.body(row, 1) }, true)
		done()
		requests += len(shots)
		wrong += count(shots, func(x shot) bool {
			return x.status != http.StatusOK || !bytes.Equal(x.answer, want[old][x.row%len(m.rows)])
		})
		if err := breakOff(p.address, s.clients); err != nil {
			return err
		}
		clock := time.Duration(1-2*next) * 400 * 24 * time.Hour
		if err := m.put(s.keep, files[next], time.Now().Add(clock)); err != nil {
			return err
		}
		if err := p.answersAs(m, want[next][0]); err != nil {
			return fmt.Errorf("day %d: new model: %w", day, err)
		}
		for _, damaged := range [][]byte{files[next][:len(files[next])/2], nil} {
			refused, err := p.refused()
			if err != nil {
				return err
			}
			if err := m.put(s.keep, damaged, time.Now()); err != nil {
				return err
			}
			err = until("the refusal of the file", func() (bool, error) {
				now, err := p.refused()
				return now > refused, err
			})
			if err != nil {
				return fmt.Errorf("day %d: %w", day, err)
			}
			if err := p.answersAs(m, want[next][0]); err != nil {
				return fmt.Errorf("day %d: damaged file: %w", day, err)
			}
		}
		if err := m.put(s.keep, files[next], time.Now()); err != nil {
			return err
		}
		now, err := p.rest(temporary, first)
		if err != nil {
			return fmt.Errorf("day %d: %w", day, err)
		}
		if day == 1 {
			first = now
		}
		if day == 1 || day == days || day%max(1, days/10) == 0 {
			fmt.Fprintf(out, "| %d | %d | %d | %d | %d | %d | %d | %d | %d | %.0f |\n", day, requests, wrong, now.loaded, now.refused, now.goroutines, now.files,
				now.mappings, now.temporary, now.memory)
		}
		if grown := now.exceeds(first); grown != "" {
			return fmt.Errorf("day %d: more %s than after day 1: %+v, %+v", day, grown, now, first)
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d answers were wrong", wrong, requests)
	}
	return nil
}

// exceeds names what has grown. Goroutines, files and temporary files are counted exactly. The runtime's heap keeps freed
// memory for a while: resident memory has half as much again to spare, and 16 MiB.
func (r residue) exceeds(first residue) string {
	switch {
	case r.goroutines > first.goroutines:
		return "goroutines"
	case r.files > first.files:
		return "open files"
	case r.temporary > first.temporary:
		return "temporary files"
	case r.memory > 1.5*first.memory+16:
		return "memory"
	}
	return ""
}

// put replaces the served file by other bytes, with a time of change; nil takes the file away.
func (m *served) put(folder string, file []byte, changed time.Time) error {
	path := m.file(folder, 1)
	if file == nil {
		return os.Remove(path)
	}
	if err := os.WriteFile(path+".new", file, 0o666); err != nil {
		return err
	}
	if err := os.Chtimes(path+".new", changed, changed); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// breakOff begins requests that never end: a part of a header, and a part of a body.
func breakOff(address string, clients int) error {
	host := strings.TrimPrefix(address, "http://")
	for c := range clients {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			return err
		}
		text := "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Le"
		if c%2 == 1 {
			text += "ngth: 1000\r\n\r\n{\"records\": ["
		}
		_, err = io.WriteString(conn, text)
		if err = errors.Join(err, conn.Close()); err != nil {
			return err
		}
	}
	return nil
}

// until asks again and again, for a minute, until f says yes.
func until(what string, f func() (bool, error)) error {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		ok, err := f()
		if ok {
			return nil
		}
		if time.Since(begin) > time.Minute {
			return fmt.Errorf("%s: not within a minute: %w", what, err)
		}
	}
}

// answersAs waits until the service gives an answer to the first row.
func (p *service) answersAs(m *served, want []byte) error {
	return until("the answer of the model", func() (bool, error) {
		x := post(http.DefaultClient, p.address, m.body(0, 1))
		return x.status == http.StatusOK && bytes.Equal(x.answer, want), x.err
	})
}

// refused counts the files that the service has refused.
func (p *service) refused() (int, error) {
	text, err := get(p.address + "/metrics")
	if err != nil {
		return 0, err
	}
	return gauge(text, `mkl_loads_total{.*result="refused"}`)
}

// gauge finds a number in the text of /metrics. The name is a regular expression.
func gauge(text, name string) (int, error) {
	found := regexp.MustCompile(`(?m)^` + name + ` (\d+)$`).FindStringSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("/metrics has no %s", name)
	}
	return strconv.Atoi(found[1])
}

// rest waits until the service holds no more than after the first day, for a minute at most, and returns what it holds.
func (p *service) rest(temporary string, first residue) (now residue, err error) {
	http.DefaultClient.CloseIdleConnections()
	err = until("rest", func() (bool, error) {
		var err error
		now, err = p.holds(temporary)
		return err == nil && (first == residue{} || now.exceeds(first) == ""), err
	})
	if err != nil && now != (residue{}) {
		return now, nil // exceeds names what is left
	}
	return now, err
}

// holds counts what the service holds.
func (p *service) holds(temporary string) (r residue, err error) {
	text, err := get(p.address + "/metrics")
	if err != nil {
		return r, err
	}
	http.DefaultClient.CloseIdleConnections()
	for name, value := range map[string]*int{
		"go_goroutines":                       &r.goroutines,
		`mkl_loads_total{.*result="loaded"}`:  &r.loaded,
		`mkl_loads_total{.*result="refused"}`: &r.refused,
	} {
		if *value, err = gauge(text, name); err != nil {
			return r, err
		}
	}
	err = r.count(p.cmd.Process.Pid, temporary)
	return r, err
}

// count counts the open files, mappings and memory of a process, by /proc, and its temporary files.
func (r *residue) count(process int, temporary string) error {
	folder := fmt.Sprintf("/proc/%d/", process)
	if fds, err := os.ReadDir(folder + "fd"); err == nil { // no such folder but on Linux
		r.files = len(fds)
	}
	if maps, err := os.ReadFile(folder + "maps"); err == nil {
		r.mappings = bytes.Count(maps, []byte("\n"))
	}
	left, err := os.ReadDir(temporary)
	r.temporary = len(left)
	r.memory, _ = memoryOf(process)
	return err
}

// get returns the text of a page of the service.
func get(url string) (string, error) {
	w, err := http.Get(url)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(w.Body)
	return string(text), errors.Join(err, w.Body.Close())
}
