// Command man writes a man page for each page of docs/guide/command, and one for the program. It runs in the root of the
// repository.
//
//	go run ./tool/man -o dist/man       mkl.1, mkl-fit.1, …
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
)

func main() {
	out := flag.String("o", "dist/man", "folder to write to")
	flag.Parse()
	if err := write(".", *out); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// write writes the pages of the repository at root to a folder.
func write(root, out string) error {
	guide := filepath.Join(root, "docs", "guide")
	pages, err := filepath.Glob(filepath.Join(guide, "command", "*.md"))
	if err != nil {
		return err
	}
	if pages == nil {
		return fmt.Errorf("%s has no pages of commands", guide)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	for _, page := range append(pages, filepath.Join(guide, "command.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		name := "mkl-" + strings.TrimSuffix(filepath.Base(page), ".md")
		if name == "mkl-command" {
			name = "mkl"
		}
		roff, err := manual(name, string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", page, err)
		}
		if err := os.WriteFile(filepath.Join(out, name+".1"), roff, 0o666); err != nil {
			return err
		}
	}
	return nil
}

var (
	comment = regexp.MustCompile(`(?s)<!--.*?-->\n?`)
	link    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	flags   = regexp.MustCompile(`(?m)^\| flag \| default \| \|\n.*\n((?:^\|.*\n?)+)`)
	heading = regexp.MustCompile(`(?m)^## (.*)$`)
)

// manual makes a man page of a page in Markdown, whose first paragraph becomes the description of its name.
func manual(name, page string) ([]byte, error) {
	page = comment.ReplaceAllString(strings.ReplaceAll(page, "\r\n", "\n"), "")
	page = link.ReplaceAllString(page, "$1")
	page = flags.ReplaceAllStringFunc(page, definitions)
	_, rest, ok := strings.Cut(page, "\n\n")
	if !ok || !strings.HasPrefix(page, "# ") {
		return nil, fmt.Errorf("the page does not begin with a title and a paragraph")
	}
	first, rest, _ := strings.Cut(rest, "\n\n")
	sentence, more, _ := strings.Cut(strings.ReplaceAll(first, "\n", " "), ". ")
	rest = heading.ReplaceAllStringFunc(rest, func(h string) string { return strings.ToUpper(h[1:]) })
	text := fmt.Sprintf("%s 1 \"\" bmkl \"Manual of mkl\"\n===\n\n# NAME\n\n%s - %s\n\n# DESCRIPTION\n\n%s\n\n%s", strings.ToUpper(name), name,
		strings.TrimSuffix(sentence, "."), more, rest)
	return md2man.Render([]byte(text)), nil
}

// definitions makes a list of a table of flags, which would be too wide for a terminal.
func definitions(table string) string {
	var b strings.Builder
	for _, row := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		cells := strings.SplitN(strings.Trim(row, "| "), " | ", 3)
		if len(cells) < 3 {
			cells = append(cells, "", "")
		}
		text := strings.TrimSpace(cells[2])
		if value := strings.TrimSpace(cells[1]); value != "" {
			text += "; by default " + value
		}
		fmt.Fprintf(&b, "%s\n: %s\n\n", cells[0], text)
	}
	return b.String()
}
