// Command load measures mkl serve under load, over connections of this machine. It runs in the root of the repository.
//
//	go run ./tool/load                            requests a second, times, memory, new models, interrupts
//	go run ./tool/load -seconds 2 -clients 4      a short look
//	go run ./tool/load -days 100 -seconds 1       what the service holds after days with bursts, new models and damaged files
//	go run ./tool/load -memory                    memory of fits that may have 512 MiB
//	go run ./tool/load -learn 2000                what the example that learns day by day holds, and its time for a day
//	go run ./tool/load -full FOLDER               what commands leave in a folder of a small disk that is full
//
// The generator shares the processors with the service: alone the service is faster. Exit status 1 means that an answer was
// wrong, or that the service did not end as it should.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// settings say what is measured.
type settings struct {
	time    time.Duration // of each measurement
	clients int           // connections at work
	mkl     string        // the command; built if it is empty
	keep    string        // folder of models; a new one if it is empty
	days    int           // of the soak; 0 measures load instead
	memory  bool          // whether to measure fits with little memory instead
	learn   int           // days of examples/online; 0 measures load instead
	full    string        // a folder of a small disk to fill; empty measures load instead

	environment []string // further variables of the service
}

func main() {
	var s settings
	seconds := flag.Float64("seconds", 10, "seconds of each measurement")
	flag.IntVar(&s.clients, "clients", 16, "connections at work")
	flag.StringVar(&s.mkl, "mkl", "", "the command mkl; by default it is built")
	flag.IntVar(&s.days, "days", 0, "days of a soak; 0 measures load")
	flag.BoolVar(&s.memory, "memory", false, "measure the memory of fits that may have 512 MiB")
	flag.IntVar(&s.learn, "learn", 0, "days of the example that learns day by day; 0 measures load")
	flag.StringVar(&s.full, "full", "", "a folder of a disk with at most 1 GiB of room, to be filled for a while")
	flag.Parse()
	s.time = time.Duration(*seconds * float64(time.Second))
	if err := run(context.Background(), s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// run builds the command, fits models and measures each in turn.
func run(ctx context.Context, s settings, out io.Writer) error {
	folder, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s.keep = folder
	if s.learn > 0 {
		return s.online(ctx, out)
	}
	if s.mkl == "" {
		s.mkl = filepath.Join(folder, "mkl")
		c := exec.CommandContext(ctx, "go", "build", "-C", "cmd", "-o", s.mkl, "./mkl")
		if said, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w: %s", err, said)
		}
	}
	switch {
	case s.days > 0:
		if err := models[0].fit(ctx, s, folder, 1); err != nil {
			return err
		}
		return s.soak(ctx, out, models[0], s.days)
	case s.memory:
		return s.frugal(ctx, out)
	case s.full != "":
		return s.fill(ctx, out)
	}
	fmt.Fprintln(out, "| model | records of a request | clients | requests/s | records/s | p50, ms | p99, ms | refused, % | memory before, MiB | after, MiB | highest, MiB |")
	fmt.Fprintln(out, "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
	for _, m := range models {
		if err := m.fit(ctx, s, folder, 1); err != nil {
			return err
		}
		for _, records := range []int{1, 100} {
			if err := s.steady(ctx, out, m, records, s.clients); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	if err := s.steady(ctx, out, models[0], 1000, 16*s.clients); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := s.swap(ctx, out, models[0]); err != nil {
		return fmt.Errorf("new models: %w", err)
	}
	return s.end(ctx, out, models[0])
}
