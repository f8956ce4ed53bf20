package validation

import (
	"fmt"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl/choose"
)

// between is the least time between two lines of progress.
const between = 2 * time.Second

// progress shows how far a comparison is: a bar with the candidate and the fold on a terminal, lines elsewhere.
type progress struct {
	env     *console.Env
	bar     *console.Progress
	lines   bool
	folds   int
	workers int

	left  map[string]int // folds that have not ended, by candidate
	spent map[string]time.Duration
	ended map[string]int
	said  time.Time
	now   func() time.Time
}

// newProgress begins to show progress; quiet shows none.
func newProgress(e *console.Env, quiet bool, candidates []choose.Candidate, folds, workers int) *progress {
	p := &progress{
		env: e, bar: console.NewProgress(e, quiet, len(candidates)*folds, "fits"), lines: !quiet && !e.IsTerminal(), folds: folds, workers: workers,
		left: map[string]int{}, spent: map[string]time.Duration{}, ended: map[string]int{}, said: time.Now(), now: time.Now,
	}
	for _, c := range candidates {
		p.left[c.Name] = folds
	}
	return p
}

// step shows a step.
func (p *progress) step(s choose.Step) {
	what := fmt.Sprintf("%s, fold %d of %d", s.Candidate, s.Fold+1, p.folds)
	p.bar.Set(s.Done, s.Of, what)
	if !s.Ended {
		return
	}
	p.left[s.Candidate]--
	p.ended[s.Candidate]++
	p.spent[s.Candidate] += s.Took
	if now := p.now(); p.lines && now.Sub(p.said) >= between {
		p.said = now
		fmt.Fprintf(p.env.Stderr, "cv: %s: %v; %d of %s done%s\n", what, s.Took.Round(time.Second/10), s.Done, console.Plural(s.Of, "fit"), p.remaining(s.Of-s.Done))
	}
}

// remaining says how long the folds take that have not ended. Each takes the mean time of its candidate, or of all if none of the
// candidate has ended.
func (p *progress) remaining(folds int) string {
	if folds == 0 {
		return ""
	}
	var all time.Duration
	count := 0
	for name, d := range p.spent {
		all += d
		count += p.ended[name]
	}
	var need float64
	left := 0
	for name, n := range p.left {
		left += n
		if k := p.ended[name]; k > 0 {
			need += float64(n) * float64(p.spent[name]) / float64(k)
		} else {
			need += float64(n) * float64(all) / float64(count)
		}
	}
	need *= float64(folds) / float64(left) // the file of -resume may have some
	return fmt.Sprintf(", about %v left", time.Duration(need/float64(max(1, p.workers))).Round(time.Second))
}
