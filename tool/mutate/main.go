// Command mutate measures how well the tests of packages notice errors: it changes one operator or number of a package at a
// time and runs the package's tests. A change that no test notices has survived. The mutation score is the share of
// changes that made a test fail.
//
//	go run ./tool/mutate -sample 100 ./stat ./vi/mgp
//
// With -files it changes only the files of a package whose names match, and with -run it runs only tests that match, as go test does:
//
//	go run ./tool/mutate -files 'onetable*.go' -run TestTable ./mkl
//
// Source of the method: R. A. DeMillo, R. J. Lipton, F. G. Sayward, "Hints on test data selection: help for the practicing
// programmer", Computer 11 (1978).
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"
)

func main() {
	log.SetFlags(0)
	sample := flag.Int("sample", 50, "mutants of each package, drawn without replacement; 0 takes all")
	seed := flag.Uint64("seed", 1, "seed of the draw")
	workers := flag.Int("workers", 2, "mutants that are tested at once")
	short := flag.Bool("short", true, "run the tests with -short")
	files := flag.String("files", "*", "files that are changed, a pattern of their names")
	tests := flag.String("run", "", "tests that are run, a pattern as in go test -run; empty means all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	d := drawing{sample: *sample, seed: *seed, files: *files}
	if err := run(ctx, flag.Args(), d, suite{short: *short, run: *tests}, *workers); err != nil {
		log.Fatal(err)
	}
}

// run prints one row of a table for each package on standard output, and each mutant that survived on standard error.
func run(ctx context.Context, patterns []string, d drawing, tests suite, workers int) error {
	packages, err := list(ctx, patterns)
	if err != nil {
		return err
	}
	fmt.Println("| package | possible mutants | tested | noticed | survived | score (%) | time (s) |")
	fmt.Println("| --- | --: | --: | --: | --: | --: | --: |")
	for _, p := range packages {
		start := time.Now()
		all, err := p.mutants(d.files)
		if err != nil {
			return err
		}
		if !p.tested() {
			fmt.Printf("| %s, no tests of its own | %d | | | | | |\n", p.ImportPath, len(all))
			continue
		}
		t, err := newTester(ctx, p, tests)
		if err != nil {
			return err
		}
		verdicts := t.all(ctx, draw(all, d.sample, d.seed), workers)
		if err := ctx.Err(); err != nil {
			return err
		}
		noticed, survived := 0, 0
		for _, v := range verdicts {
			switch v.verdict {
			case killed:
				noticed++
			case alive:
				survived++
				fmt.Fprintln(os.Stderr, v.mutant)
			}
		}
		fmt.Printf("| %s | %d | %d | %d | %d | %s | %.0f |\n",
			p.ImportPath, len(all), noticed+survived, noticed, survived, score(noticed, survived), time.Since(start).Seconds())
	}
	return nil
}

// score is the share of mutants that were noticed, in per cent; it is empty without mutants.
func score(noticed, survived int) string {
	if noticed+survived == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f", 100*float64(noticed)/float64(noticed+survived))
}
