package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// collect is the memory limit of the garbage collector of a watched process, in MiB.
const collect = 64

// online runs examples/online for many simulated days. The example learns anew on each day, and prints a line on every tenth day. The
// files, temporary files and memory that the process holds must not grow: see [residue.exceeds].
func (s settings) online(ctx context.Context, out io.Writer) error {
	learner := filepath.Join(s.keep, "online")
	if said, err := exec.CommandContext(ctx, "go", "build", "-o", learner, "./examples/online").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, said)
	}
	temporary := filepath.Join(s.keep, "temporary")
	if err := os.Mkdir(temporary, 0o777); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, learner, "-days", fmt.Sprint(s.learn))
	c.Env = append(os.Environ(), "TMPDIR="+temporary, fmt.Sprintf("GOMEMLIMIT=%dMiB", collect))
	c.Stderr = os.Stderr
	said, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	err = s.watchLearner(out, said, c.Process.Pid, temporary)
	if err != nil {
		_ = c.Process.Kill()
	}
	return errors.Join(err, c.Wait())
}

// watchLearner counts what a process holds after each tenth of its days, which it sees by the lines that the process writes.
func (s settings) watchLearner(out io.Writer, said io.Reader, process int, temporary string) error {
	fmt.Fprintln(out, "| after day | error of the last month's model | open files | mappings | temporary files | memory, MiB | ms a day |")
	fmt.Fprintln(out, "| --: | --: | --: | --: | --: | --: | --: |")
	lines := bufio.NewScanner(said)
	lines.Scan() // the header
	lines.Scan() // the first month's model, on the first day
	days := max(10, s.learn/10/10*10)
	var first residue
	begin := time.Now()
	for tenth := 1; lines.Scan(); tenth++ {
		if 10*tenth%days != 0 {
			continue
		}
		now := residue{}
		if err := now.count(process, temporary); err != nil {
			return err
		}
		words := strings.Fields(lines.Text())
		fmt.Fprintf(out, "| %s | %s | %d | %d | %d | %.0f | %.1f |\n", words[0], words[1], now.files, now.mappings, now.temporary, now.memory,
			float64(time.Since(begin).Milliseconds())/float64(days))
		begin = time.Now()
		if first == (residue{}) {
			first = now
			first.memory = max(first.memory, collect) // below its limit the collector may put work off
		}
		if grown := now.exceeds(first); grown != "" {
			return fmt.Errorf("day %s: more %s than at first: %+v, %+v", words[0], grown, now, first)
		}
	}
	return lines.Err()
}
