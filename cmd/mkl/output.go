package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/cheggaaa/pb/v3"
)

// printTable prints rows in columns two spaces apart; align has l or r for each
// column.
func printTable(w io.Writer, align string, rows [][]string) error {
	width := make([]int, len(align))
	for _, row := range rows {
		for j, cell := range row {
			width[j] = max(width[j], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for j, cell := range row {
			space := strings.Repeat(" ", width[j]-utf8.RuneCountInString(cell))
			if j > 0 {
				line.WriteString("  ")
			}
			if align[j] == 'r' {
				line.WriteString(space + cell)
			} else {
				line.WriteString(cell + space)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// figure prints a number with four digits.
func figure(x float64) string {
	if a := math.Abs(x); a >= 1e-3 && a < 1e5 {
		digits := max(0, 3-int(math.Floor(math.Log10(a))))
		return fmt.Sprintf("%.*f", digits, x)
	}
	return fmt.Sprintf("%.3g", x)
}

// printJSON prints v for machines: one indented value.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// processors is the number of workers: n, or one for each processor if n is 0.
func processors(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct {
	mu  sync.Mutex
	bar *pb.ProgressBar
}

func newProgress(e *env, quiet bool, total int, what string) *progress {
	p := &progress{}
	if !quiet && e.terminal() {
		p.bar = pb.New(total)
		p.bar.SetTemplateString(`{{counters . }} ` + what + ` {{bar . "[" "=" ">" " " "]"}} {{etime . }}{{with string . "note"}}  {{.}}{{end}}`)
		p.bar.SetWriter(e.stderr)
		p.bar.Start()
	}
	return p
}

// step counts one more.
func (p *progress) step() { p.add(1) }

// set shows that n are done, with a note.
func (p *progress) set(n int, note string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.SetCurrent(int64(n))
		p.bar.Set("note", note)
	}
}

// finish ends the bar; it can be called again.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Finish()
		p.bar = nil
	}
}

// add counts n more.
func (p *progress) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Add(n)
	}
}
