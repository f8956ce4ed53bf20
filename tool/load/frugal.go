package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// allowance is the memory of frugal's fits, in MiB.
const allowance = 512

// frugal fits tables of more and more rows with flag -memory. A fit has to end with no more memory than the flag allows, or
// to be refused at once with the bytes that it needs.
func (s settings) frugal(ctx context.Context, out io.Writer) error {
	fmt.Fprintln(out, "| target | rows | columns | outcome | memory at most, MiB | seconds |")
	fmt.Fprintln(out, "| --- | --: | --: | --- | --: | --: |")
	for _, classes := range []int{0, 3} {
		for _, rows := range []int{300, 1000, 2000, 20_000} {
			name, err := s.table(rows, 10, classes)
			if err != nil {
				return err
			}
			begin := time.Now()
			outcome, most, err := s.fitWithin(ctx, name)
			if err != nil {
				return fmt.Errorf("%d rows: %w", rows, err)
			}
			target := "number"
			if classes > 0 {
				target = fmt.Sprintf("%d classes", classes)
			}
			fmt.Fprintf(out, "| %s | %d | %d | %s | %.0f | %.1f |\n", target, rows, 10, outcome, most, time.Since(begin).Seconds())
			if most > allowance {
				return fmt.Errorf("%d rows took %.0f MiB", rows, most)
			}
		}
	}
	return nil
}

// fitWithin fits a table and returns what became of the fit, and the highest resident memory that was seen.
func (s settings) fitWithin(ctx context.Context, table string) (outcome string, most float64, err error) {
	c := exec.CommandContext(ctx, s.mkl, "fit", table, "-target", "y", "-q", "-time", "20s", "-memory", fmt.Sprintf("%dMiB", allowance), "-o",
		filepath.Join(s.keep, "frugal.mkl"))
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		return "", 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_, now := memoryOf(c.Process.Pid)
			most = max(most, now)
		case err := <-ended:
			var exit *exec.ExitError
			switch {
			case err == nil:
				return "fitted", most, nil
			case errors.As(err, &exit) && exit.ExitCode() == 2 && strings.Contains(said.String(), "of memory, more than"):
				return "refused", most, nil
			}
			return "", most, fmt.Errorf("%w: %s", err, said.String())
		}
	}
}

// table writes a table of normal numbers, whose target y depends on them, and returns its name.
func (s settings) table(rows, columns, classes int) (string, error) {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(classes)))
	var b bytes.Buffer
	for j := range columns {
		fmt.Fprintf(&b, "x%d,", j+1)
	}
	b.WriteString("y\n")
	for range rows {
		f := 0.0
		for j := range columns {
			x := rng.NormFloat64()
			f += math.Sin(float64(j+1)+x) / float64(j+1)
			fmt.Fprintf(&b, "%.6g,", x)
		}
		f += 0.2 * rng.NormFloat64()
		if classes > 0 {
			fmt.Fprintf(&b, "class %d\n", int(math.Abs(3*f))%classes)
		} else {
			fmt.Fprintf(&b, "%.6g\n", f)
		}
	}
	name := filepath.Join(s.keep, "table.csv")
	return name, os.WriteFile(name, b.Bytes(), 0o666)
}
