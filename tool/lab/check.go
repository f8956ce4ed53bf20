package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/itchyny/gojq"
)

// checker runs the commands of tables and compares figures.
type checker struct {
	root, data string
	most       time.Duration
	pick       *regexp.Regexp
	out        io.Writer
	stale      int
	outputs    map[string]any // what commands printed: JSON, or an array of lines
}

// list prints each table with what made it.
func (c *checker) list(pages []*page) {
	for _, p := range pages {
		for _, t := range p.tables {
			what := "nothing names its origin"
			switch o := t.origin; {
			case o == nil:
			case o.command == "":
				what = o.from
			case o.rows == "":
				what = fmt.Sprintf("%s (%v, not compared)", o.command, o.time)
			default:
				what = fmt.Sprintf("%s (%v)", o.command, o.time)
			}
			fmt.Fprintf(c.out, "%s:%d: %s\n", p.file, t.line+1, what)
		}
	}
}

// check compares the tables of all pages and counts the figures that are stale.
func (c *checker) check(ctx context.Context, pages []*page) error {
	if c.outputs == nil {
		c.outputs = map[string]any{}
	}
	compared, left := 0, map[string]int{}
	for _, p := range pages {
		for _, t := range p.tables {
			if t.origin == nil {
				return fmt.Errorf("%s:%d: no comment names the command of this table", p.file, t.line+1)
			}
			switch o := t.origin; {
			case o.command == "":
				left["of no command"]++
			case o.rows == "":
				left["that do not say how to compare them"]++
			case !c.pick.MatchString(o.command):
				left["not chosen"]++
			case o.time > c.most:
				left[fmt.Sprintf("that take more than %v", c.most)]++
			case c.data == "" && strings.Contains(o.command, "$DATA"):
				left["that need -data"]++
			default:
				printed, err := c.run(ctx, o.command)
				if err == nil {
					err = c.compare(t, printed)
				}
				if err != nil {
					return fmt.Errorf("%s:%d: %s: %w", p.file, t.line+1, o.command, err)
				}
				compared++
			}
		}
	}
	fmt.Fprintf(c.out, "%d tables compared, %d figures stale\n", compared, c.stale)
	for _, why := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(c.out, "%d tables %s\n", left[why], why)
	}
	return nil
}

// run returns what a command prints, and runs it once for all its tables.
func (c *checker) run(ctx context.Context, command string) (any, error) {
	if v, ok := c.outputs[command]; ok {
		return v, nil
	}
	start := time.Now()
	run := exec.CommandContext(ctx, "sh", "-e", "-c", command)
	run.Dir = c.root
	run.Env = append(os.Environ(), "DATA="+c.data)
	var stdout, stderr bytes.Buffer
	run.Stdout, run.Stderr = &stdout, &stderr
	if err := run.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, stderr.String())
	}
	var v any
	if json.Unmarshal(stdout.Bytes(), &v) != nil {
		lines := []any{}
		for line := range strings.Lines(stdout.String()) {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
		v = lines
	}
	fmt.Fprintf(c.out, "%s: %v\n", command, time.Since(start).Round(100*time.Millisecond))
	c.outputs[command] = v
	return v, nil
}

// compare finds the row of each record and compares its figures.
func (c *checker) compare(t *table, printed any) error {
	records, err := values(t.origin.rows, printed)
	if err != nil {
		return err
	}
	of := map[int]bool{} // rows that have a record
	for _, r := range records {
		row, err := t.row(r)
		if err != nil {
			return err
		}
		of[row] = true
		for _, q := range t.origin.columns {
			j := slices.Index(t.header, q.column)
			if j < 0 || j >= len(t.body[row]) {
				return fmt.Errorf("the table has no column %q", q.column)
			}
			v, err := value(q.text, r)
			if err != nil {
				return err
			}
			is := t.body[row][j]
			now, differs := q.differs(is, v)
			if !differs {
				continue
			}
			c.stale++
			fmt.Fprintf(c.out, "%s:%d: %s: %s is %s, now %s\n", t.page.file, t.line+3+row, strings.Join(t.keys(row), ", "), q.column, is, now)
			t.body[row][j] = now
			t.touched = true
		}
	}
	if others := len(t.body) - len(of); others != t.origin.besides {
		return fmt.Errorf("%d rows of the table are of no record, where %d were expected", others, t.origin.besides)
	}
	return nil
}

// keys are the cells that say which record a row is.
func (t *table) keys(row int) (all []string) {
	for _, q := range t.origin.keys {
		if j := slices.Index(t.header, q.column); j >= 0 && j < len(t.body[row]) {
			all = append(all, t.body[row][j])
		}
	}
	return all
}

// row returns the row of a record.
func (t *table) row(record any) (int, error) {
	var want []string
	for _, q := range t.origin.keys {
		v, err := value(q.text, record)
		if err != nil {
			return 0, err
		}
		want = append(want, fmt.Sprint(v))
	}
	for i := range t.body {
		have := t.keys(i)
		if len(have) < len(want) {
			return 0, fmt.Errorf("the table lacks a column of its keys, or row %d has too few cells", i+1)
		}
		if slices.EqualFunc(want, have, func(w, h string) bool { return w == plain(h) }) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("no row of the table is %s", strings.Join(want, ", "))
}

// values are all results of a query.
func values(text string, of any) (all []any, err error) {
	q, err := gojq.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	for iter := q.Run(of); ; {
		v, ok := iter.Next()
		if !ok {
			return all, nil
		}
		if err, ok := v.(error); ok {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		all = append(all, v)
	}
}

// value is the result of a query that has one.
func value(text string, of any) (any, error) {
	all, err := values(text, of)
	if err == nil && (len(all) != 1 || all[0] == nil) {
		err = errors.New("is not one value")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return all[0], nil
}
