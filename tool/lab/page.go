package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// page is a page of docs/lab.
type page struct {
	file   string
	lines  []string
	tables []*table
}

// table is a table of a page.
type table struct {
	page    *page
	line    int // of its header, from 0
	header  []string
	body    [][]string // the cells of the lines from line + 2 on
	origin  *origin    // nil if no comment names it
	touched bool       // some cells are new
}

// origin is what the comment above a table says.
type origin struct {
	measured, command, from string
	time                    time.Duration
	rows                    string
	keys, columns           []query
	besides                 int
}

// query is a jq expression for the cells of a column.
type query struct {
	column, text string
	within       float64 // largest deviation of a number; 0: none
}

// readPages reads the pages of a folder, and of the folders in it.
func readPages(folder string) ([]*page, error) {
	var all []*page
	files, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no pages", folder)
	}
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		p, err := parse(file, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// parse finds the tables of a page and the comments above them.
func parse(file, text string) (*page, error) {
	p := &page{file: file, lines: strings.Split(text, "\n")}
	fenced := false
	var above *origin
	for i := 0; i < len(p.lines); i++ {
		line := p.lines[i]
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced:
		case line == "<!-- lab":
			end := slices.Index(p.lines[i:], "-->")
			if end < 0 {
				return nil, fmt.Errorf("%s:%d: the comment does not end", file, i+1)
			}
			o, err := parseOrigin(p.lines[i+1 : i+end])
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
			}
			if above != nil {
				return nil, fmt.Errorf("%s:%d: a comment of no table stands before this one", file, i+1)
			}
			above = o
			i += end
		case isTable(p.lines, i):
			t := &table{page: p, line: i, header: cells(line), origin: above}
			above = nil
			for i += 2; i < len(p.lines) && strings.HasPrefix(strings.TrimSpace(p.lines[i]), "|"); i++ {
				t.body = append(t.body, cells(p.lines[i]))
			}
			p.tables = append(p.tables, t)
		}
	}
	if above != nil {
		return nil, fmt.Errorf("%s: the last comment is of no table", file)
	}
	return p, nil
}

// isTable reports whether a table begins at a line: the next one is the rule below a header.
func isTable(lines []string, i int) bool {
	return strings.HasPrefix(strings.TrimSpace(lines[i]), "|") && i+1 < len(lines) &&
		strings.HasPrefix(strings.TrimSpace(lines[i+1]), "|") && strings.Trim(lines[i+1], " |-:") == ""
}

// cells splits a line of a table.
func cells(line string) (all []string) {
	inner := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	for _, c := range strings.Split(strings.ReplaceAll(inner, `\|`, "\x00"), "|") {
		all = append(all, strings.TrimSpace(strings.ReplaceAll(c, "\x00", `\|`)))
	}
	return all
}

// joined is a line of a table.
func joined(cells []string) string {
	line := "|"
	for _, c := range cells {
		if c != "" {
			line += " " + c
		}
		line += " |"
	}
	return line
}

// parseOrigin reads the lines of a comment.
func parseOrigin(lines []string) (*origin, error) {
	o := &origin{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("%q is no field and value", line)
		}
		value = strings.TrimSpace(value)
		var err error
		switch field, column, _ := strings.Cut(name, " "); field {
		case "measured":
			o.measured = value
		case "command":
			o.command = value
		case "origin":
			o.from = value
		case "seconds":
			var s float64
			s, err = strconv.ParseFloat(value, 64)
			o.time = time.Duration(s * float64(time.Second))
		case "rows":
			o.rows = value
		case "besides":
			o.besides, err = strconv.Atoi(value)
		case "key":
			o.keys = append(o.keys, query{column: column, text: value})
		case "column":
			q := query{column: column, text: value}
			if before, within, ok := strings.Cut(value, " ± "); ok {
				q.text = before
				q.within, err = strconv.ParseFloat(within, 64)
			}
			o.columns = append(o.columns, q)
		default:
			err = fmt.Errorf("%q is no field", field)
		}
		if err != nil {
			return nil, err
		}
	}
	return o, o.check()
}

// check asks for the fields that a comment must have.
func (o *origin) check() error {
	switch {
	case (o.command == "") == (o.from == ""):
		return errors.New("a table has a command or an origin")
	case o.command != "" && o.time <= 0:
		return errors.New("seconds of the command are missing")
	case o.measured == "" && o.command != "":
		return errors.New("measured is missing: date, commit, machine")
	case o.rows != "" && (len(o.keys) == 0 || len(o.columns) == 0 || o.command == ""):
		return errors.New("rows come with a command, keys and columns")
	case o.rows == "" && (len(o.keys) > 0 || len(o.columns) > 0 || o.besides > 0):
		return errors.New("keys, columns and besides come with rows")
	}
	return nil
}

// writePages writes the pages that have new cells.
func writePages(pages []*page) error {
	for _, p := range pages {
		changed := false
		for _, t := range p.tables {
			if !t.touched {
				continue
			}
			changed = true
			for i, row := range t.body {
				p.lines[t.line+2+i] = joined(row)
			}
		}
		if !changed {
			continue
		}
		if err := os.WriteFile(p.file, []byte(strings.Join(p.lines, "\n")), 0o666); err != nil {
			return err
		}
	}
	return nil
}
