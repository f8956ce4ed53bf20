package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

// steady measures requests of one size, for a time.
func (s settings) steady(ctx context.Context, out io.Writer, m *served, records, clients int) error {
	p, err := s.serve(ctx, m.file(s.keep, 1))
	if err != nil {
		return err
	}
	defer p.kill()
	body := func(row int) []byte { return m.body(row, records) }
	warm, done := context.WithTimeout(ctx, s.time/10)
	fire(warm, p.address, clients, body, false)
	done()
	before, _ := p.memory()
	span, done := context.WithTimeout(ctx, s.time)
	defer done()
	begin := time.Now()
	shots := fire(span, p.address, clients, body, false)
	seconds := time.Since(begin).Seconds()
	after, most := p.memory()
	ok := count(shots, func(x shot) bool { return x.status == http.StatusOK && x.err == nil })
	refused := count(shots, func(x shot) bool { return x.status == http.StatusServiceUnavailable })
	if ok == 0 || ok+refused != len(shots) {
		return fmt.Errorf("%d requests had %d answers and %d refusals", len(shots), ok, refused)
	}
	p50, p99 := times(shots)
	fmt.Fprintf(out, "| %s | %d | %d | %.0f | %.0f | %.2f | %.2f | %.1f | %.0f | %.0f | %.0f |\n", m.name, records, clients, float64(ok)/seconds,
		float64(ok*records)/seconds, p50, p99, 100*float64(refused)/float64(len(shots)), before, after, most)
	return nil
}

// answers are what a model answers to each row, by a service of its own.
func (s settings) answers(ctx context.Context, m *served, version int) ([][]byte, error) {
	file := m.file(s.keep, version)
	if version > 1 { // the model has the name of its file
		folder, err := os.MkdirTemp(s.keep, "alone")
		if err != nil {
			return nil, err
		}
		if err := os.Link(file, m.file(folder, 1)); err != nil {
			return nil, err
		}
		file = m.file(folder, 1)
	}
	p, err := s.serve(ctx, file)
	if err != nil {
		return nil, err
	}
	defer p.kill()
	all := make([][]byte, len(m.rows))
	for i := range all {
		x := post(http.DefaultClient, p.address, m.body(i, 1))
		if x.err != nil || x.status != http.StatusOK {
			return nil, fmt.Errorf("row %d has the status %d: %w", i+1, x.status, x.err)
		}
		all[i] = x.answer
	}
	return all, nil
}

// two fits the second version of a model. It returns what each version answers to each row, and its file.
func (s settings) two(ctx context.Context, m *served) (answers [2][][]byte, files [2][]byte, err error) {
	if err := m.fit(ctx, s, s.keep, 2); err != nil {
		return answers, files, err
	}
	for v := range answers {
		if answers[v], err = s.answers(ctx, m, v+1); err != nil {
			return answers, files, err
		}
		if files[v], err = os.ReadFile(m.file(s.keep, v+1)); err != nil {
			return answers, files, err
		}
	}
	return answers, files, nil
}

// swap replaces the model under load, ten times. Each answer has to be an answer of one of both models.
func (s settings) swap(ctx context.Context, out io.Writer, m *served) error {
	want, files, err := s.two(ctx, m)
	if err != nil {
		return err
	}
	p, err := s.serve(ctx, m.file(s.keep, 1), "-poll", "20ms", "-wait", "30s")
	if err != nil {
		return err
	}
	defer p.kill()
	const swaps = 10
	span, done := context.WithCancel(ctx)
	defer done()
	replaced := make(chan error, 1)
	go func() {
		defer done()
		replaced <- s.replace(p, m, files, want, swaps)
	}()
	shots := fire(span, p.address, s.clients, func(row int) []byte { return m.body(row, 1) }, true)
	if err := <-replaced; err != nil {
		return err
	}
	of := func(v int) int {
		return count(shots, func(x shot) bool {
			return x.status == http.StatusOK && bytes.Equal(x.answer, want[v][x.row%len(m.rows)])
		})
	}
	old, next := of(0), of(1)
	if old == 0 || next == 0 || old+next != len(shots) {
		return fmt.Errorf("of %d answers %d are of the first model and %d of the second", len(shots), old, next)
	}
	_, p99 := times(shots)
	now, most := p.memory()
	if err := p.kill(); err != nil {
		return err
	}
	served := strings.Count(<-p.log, "a new model is served")
	fmt.Fprintln(out, "| new models | served | requests | wrong answers | p99, ms | memory after, MiB | highest, MiB |")
	fmt.Fprintln(out, "| --: | --: | --: | --: | --: | --: | --: |")
	fmt.Fprintf(out, "| %d | %d | %d | %d | %.2f | %.0f | %.0f |\n\n", swaps, served, len(shots), len(shots)-old-next, p99, now, most)
	if served != swaps {
		return fmt.Errorf("%d of %d new models were served", served, swaps)
	}
	return nil
}

// replace puts one file after the other in the place of the served one, and waits each time until the service answers by it.
func (s settings) replace(p *service, m *served, files [2][]byte, want [2][][]byte, times int) error {
	for n := range times {
		time.Sleep(s.time / time.Duration(times+1))
		v := (n + 1) % 2
		if err := m.put(s.keep, files[v], time.Now()); err != nil {
			return err
		}
		if err := p.answersAs(m, want[v][0]); err != nil {
			return err
		}
	}
	return nil
}

// end interrupts a service under load, and kills one. The interrupted service has to answer what it has begun and to end
// with status 0; after a kill the next one has to answer.
func (s settings) end(ctx context.Context, out io.Writer, m *served) error {
	fmt.Fprintln(out, "| signal | answers | half answers | requests without an answer | connections refused | service ended after, ms | next service answers after, ms |")
	fmt.Fprintln(out, "| --- | --: | --: | --: | --: | --: | --: |")
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		p, err := s.serve(ctx, m.file(s.keep, 1))
		if err != nil {
			return err
		}
		shots := make(chan []shot, 1)
		go func() {
			shots <- fire(ctx, p.address, s.clients, func(row int) []byte { return m.body(row, 100) }, false)
		}()
		time.Sleep(s.time / 4)
		begin := time.Now()
		if err := p.cmd.Process.Signal(sig); err != nil {
			return err
		}
		all := <-shots
		<-p.log
		err = p.cmd.Wait()
		ended := time.Since(begin)
		if sig == syscall.SIGTERM && err != nil {
			return fmt.Errorf("after %v: %w", sig, err)
		}
		begin = time.Now()
		again, err := s.serve(ctx, m.file(s.keep, 1))
		if err != nil {
			return err
		}
		x := post(http.DefaultClient, again.address, m.body(0, 1))
		next := time.Since(begin)
		if err := errors.Join(x.err, again.kill()); err != nil || x.status != http.StatusOK {
			return fmt.Errorf("the next service: status %d: %w", x.status, err)
		}
		half := count(all, func(x shot) bool { return x.status != 0 && x.err != nil })
		refused := count(all, func(x shot) bool { return errors.Is(x.err, syscall.ECONNREFUSED) })
		without := count(all, func(x shot) bool { return x.status == 0 }) - refused
		fmt.Fprintf(out, "| %v | %d | %d | %d | %d | %.0f | %.0f |\n", sig, len(all)-without-refused, half, without, refused, ended.Seconds()*1000,
			next.Seconds()*1000)
		if sig == syscall.SIGTERM && half > 0 {
			return fmt.Errorf("%d answers were cut off", half)
		}
	}
	return nil
}
