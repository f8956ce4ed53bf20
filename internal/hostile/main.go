// Command hostile tries to break package mkl: it fits every estimator to hostile data,
// reads forged files, and asks models and predictors for hostile samples. Whatever
// comes of it must be an error or a model that holds its promises.
//
//	go run ./internal/hostile -for 8h
//
// A finding is printed with its attack and its seed; -only and -seed repeat it. At the
// end, or when it is interrupted, stands the table of docs/trust.md.
package main

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
	"strings"
	"time"
)

// attack is one kind of hostile cases. It runs the case of a generator and returns what
// became of it, a word for the table, and what is wrong.
type attack struct {
	name string
	run  func(r *rand.Rand) (outcome string, wrong []string)
}

// tally counts what became of the cases of an attack.
type tally struct {
	cases, held, refused, found int
	slowest                     time.Duration
}

// Outcomes.
const (
	held    = "held"    // a model was made, and held its promises
	refused = "refused" // an error said why not
)

// slow is how long a case may take: all are small.
const slow = 20 * time.Second

func main() {
	long := flag.Duration("for", time.Minute, "how long to go on")
	seed := flag.Uint64("seed", 1, "of the first case of each attack; those after it count on")
	count := flag.Int("count", 0, "cases of each attack, at most; 0 means as many as there is time for")
	only := flag.String("only", "", "attacks, a pattern such as 'forged *'; empty means all")
	flag.Parse()
	chosen, err := choose(*only)
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
}

// choose returns the attacks whose names match a pattern, all if it is empty.
func choose(pattern string) ([]attack, error) {
	all := attacks()
	if pattern == "" {
		return all, nil
	}
	var chosen []attack
	for _, a := range all {
		matches, err := path.Match(pattern, a.name)
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
func run(ctx context.Context, w io.Writer, attacks []attack, seed uint64, count int) bool {
	tallies := make([]tally, len(attacks))
	for i := 0; (count == 0 || i < count) && ctx.Err() == nil; i++ {
		for j, a := range attacks {
			tallies[j].add(w, a, seed+uint64(i))
		}
	}
	return table(w, attacks, tallies)
}

// add runs a case and counts it.
func (t *tally) add(w io.Writer, a attack, seed uint64) {
	start := time.Now()
	// A case that hangs cannot be ended from here; its seed can be told.
	hangs := time.AfterFunc(slow, func() { fmt.Fprintf(w, "%s, seed %d: not done after %v\n", a.name, seed, slow) })
	outcome, wrong := safely(a, seed)
	if !hangs.Stop() {
		wrong = append(wrong, "slow")
	}
	t.slowest = max(t.slowest, time.Since(start))
	t.cases++
	switch {
	case len(wrong) > 0:
		t.found++
		fmt.Fprintf(w, "%s, seed %d: %s\n", a.name, seed, strings.Join(wrong, "; "))
	case outcome == held:
		t.held++
	default:
		t.refused++
	}
}

// safely runs a case; a panic is a finding.
func safely(a attack, seed uint64) (outcome string, wrong []string) {
	defer func() {
		if e := recover(); e != nil {
			wrong = append(wrong, fmt.Sprintf("panic: %v\n%s", e, debug.Stack()))
		}
	}()
	return a.run(rand.New(rand.NewPCG(seed, 77)))
}

// table prints the counts and reports whether there are no findings.
func table(w io.Writer, attacks []attack, tallies []tally) bool {
	fmt.Fprintln(w, "| attack | cases | held | refused | findings | slowest |")
	fmt.Fprintln(w, "| --- | ---: | ---: | ---: | ---: | ---: |")
	all := tally{}
	row := func(name string, t tally) {
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %.2g s |\n", name, t.cases, t.held, t.refused, t.found, t.slowest.Seconds())
	}
	for i, t := range tallies {
		row(attacks[i].name, t)
		all.cases += t.cases
		all.held += t.held
		all.refused += t.refused
		all.found += t.found
		all.slowest = max(all.slowest, t.slowest)
	}
	row("all", all)
	return all.found == 0
}
