// Package siege runs attacks: cases that are made of a seed, judged, counted and timed.
// Commands that try to break something are lists of attacks and this.
package siege

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/bmkl/bmkl/internal/cputime"
)

// Attack is one kind of hostile cases. Run makes the case of a generator.
type Attack struct {
	Name string
	Run  func(r *rand.Rand) Case
}

// Case is what became of a case.
type Case struct {
	Outcome
	Wrong []string // what is wrong
	Print uint64   // a hash of what was tried, 0 if nothing but its seed is known
}

// Outcome distinguishes what was attacked from what refused.
type Outcome int

// Outcomes.
const (
	Refused Outcome = iota // an error said why not
	Held                   // something was made of it, which held its promises
)

// Tally counts what became of the cases of an attack.
type Tally struct {
	Cases, Held, Refused, Found int
	Slow                        time.Duration // processor time above which a case is a finding; 0: none is
	Slowest                     time.Duration // in processor time where the system measures it

	prints []uint64
}

// All cases are small: one that takes slow of the processor is a finding of the command, and one
// that is not done after hung is reported while it goes on.
const (
	slow = 5 * time.Second
	hung = time.Minute
)

// Main is the main function of a command, whose flags choose among the attacks. It does
// not return.
func Main(attacks []Attack) {
	long := flag.Duration("for", time.Minute, "how long to go on")
	seed := flag.Uint64("seed", 1, "of the first case of each attack; those after it count on")
	count := flag.Int("count", 0, "cases of each attack, at most; 0 means as many as there is time for")
	only := flag.String("only", "", "attacks, a pattern such as 'forged *'; empty means all")
	flag.Parse()
	debug.SetGCPercent(1000) // cases are small and many: most of the time would be the collector's
	chosen, err := Choose(attacks, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(2)
	}
	ctx, stop := context.WithTimeout(context.Background(), *long)
	defer stop()
	ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if !run(ctx, os.Stdout, chosen, *seed, *count) {
		os.Exit(1)
	}
	os.Exit(0)
}

// Choose returns the attacks whose names match a pattern, all if it is empty.
func Choose(all []Attack, pattern string) ([]Attack, error) {
	if pattern == "" {
		return all, nil
	}
	var chosen []Attack
	for _, a := range all {
		matches, err := path.Match(pattern, a.Name)
		if err != nil {
			return nil, fmt.Errorf("-only %q: %w", pattern, err)
		}
		if matches {
			chosen = append(chosen, a)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-only %q: no such attack", pattern)
	}
	return chosen, nil
}

// run makes the attacks in turn until the context ends and reports whether nothing was
// found.
func run(ctx context.Context, w io.Writer, attacks []Attack, seed uint64, count int) bool {
	tallies := make([]Tally, len(attacks))
	for j := range tallies {
		tallies[j].Slow = slow
	}
	for i := 0; (count == 0 || i < count) && ctx.Err() == nil; i++ {
		for j, a := range attacks {
			tallies[j].Add(w, a, seed+uint64(i))
		}
	}
	return table(w, attacks, tallies)
}

// Add makes the case of a seed, counts it, and prints what it found.
func (t *Tally) Add(w io.Writer, a Attack, seed uint64) {
	start := cputime.Total()
	// A case that hangs cannot be ended from here; its seed can be told.
	hangs := time.AfterFunc(hung, func() { fmt.Fprintf(w, "%s, seed %d: not done after %v\n", a.Name, seed, hung) })
	c := Try(a, seed)
	hangs.Stop()
	took := cputime.Total() - start
	if t.Slow > 0 && took > t.Slow {
		c.Wrong = append(c.Wrong, fmt.Sprintf("slow: %.1f s", took.Seconds()))
	}
	t.Slowest = max(t.Slowest, took)
	t.Cases++
	if c.Print != 0 {
		t.prints = append(t.prints, c.Print)
	}
	switch {
	case len(c.Wrong) > 0:
		t.Found++
		fmt.Fprintf(w, "%s, seed %d: %s\n", a.Name, seed, strings.Join(c.Wrong, "; "))
	case c.Outcome == Held:
		t.Held++
	default:
		t.Refused++
	}
}

// distinct returns how many of the cases were like none before them, by their prints.
func (t *Tally) distinct() int {
	slices.Sort(t.prints)
	t.prints = slices.Compact(t.prints)
	return len(t.prints)
}

// Try makes a case; a panic is wrong.
func Try(a Attack, seed uint64) (c Case) {
	defer func() {
		if e := recover(); e != nil {
			c.Wrong = append(c.Wrong, fmt.Sprintf("panic: %v\n%s", e, debug.Stack()))
		}
	}()
	return a.Run(rand.New(rand.NewPCG(seed, 77)))
}

// table prints the counts and reports whether there are no findings. Only files have prints: of
// them it says how many are distinct.
func table(w io.Writer, attacks []Attack, tallies []Tally) bool {
	fmt.Fprintln(w, "| attack | cases | distinct files | held | refused | findings | slowest |")
	fmt.Fprintln(w, "| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
	var all Tally
	files := 0
	row := func(name string, distinct int, t Tally) {
		count := ""
		if distinct > 0 {
			count = fmt.Sprint(distinct)
		}
		fmt.Fprintf(w, "| %s | %d | %s | %d | %d | %d | %.2g s |\n",
			name, t.Cases, count, t.Held, t.Refused, t.Found, t.Slowest.Seconds())
	}
	for i, t := range tallies {
		n := t.distinct()
		row(attacks[i].Name, n, t)
		files += n
		all.Cases += t.Cases
		all.Held += t.Held
		all.Refused += t.Refused
		all.Found += t.Found
		all.Slowest = max(all.Slowest, t.Slowest)
	}
	row("all", files, all)
	return all.Found == 0
}
