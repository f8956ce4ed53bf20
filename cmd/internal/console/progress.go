package console

import (
	"sync"

	"github.com/cheggaaa/pb/v3"
)

// Progress is a bar on a terminal, and nothing elsewhere.
type Progress struct {
	mu  sync.Mutex
	bar *pb.ProgressBar
}

// NewProgress begins a bar of so many steps of what; quiet shows none.
func NewProgress(e *Env, quiet bool, total int, what string) *Progress {
	p := &Progress{}
	if !quiet && e.IsTerminal() {
		p.bar = pb.New(total)
		p.bar.SetTemplateString(`{{counters . }} ` + what + ` {{bar . "[" "=" ">" " " "]"}} {{etime . }}{{rtime . " %s left"}}{{with string . "note"}}  {{.}}{{end}}`)
		p.bar.SetWriter(e.Stderr)
		p.bar.Start()
	}
	return p
}

// Step counts one more.
func (p *Progress) Step() { p.Add(1) }

// Add counts n more.
func (p *Progress) Add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Add(n)
	}
}

// Set shows that n are done of a total, 0 if that is not known, with a note.
func (p *Progress) Set(n, total int, note string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.SetTotal(int64(total))
		p.bar.SetCurrent(int64(n))
		p.bar.Set("note", note)
	}
}

// Total returns the total of done and of what is left, 0 where that is negative: not
// known.
func Total(done, left int) int {
	if left < 0 {
		return 0
	}
	return done + left
}

// Finish ends the bar; it can be called again.
func (p *Progress) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Finish()
		p.bar = nil
	}
}
