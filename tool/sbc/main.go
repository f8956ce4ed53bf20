// Command sbc calibrates estimators by simulation: it draws parameters from the prior and data from the model, and finds
// the place of the true parameters in the posterior. The places are uniform if the posterior is right.
//
//	go run ./tool/sbc -pictures DIR
//
// Source: S. Talts et al., "Validating Bayesian inference algorithms with simulation-based calibration" (2018); the
// quantities that depend on the data follow M. Modrák et al., "Simulation-based calibration checking for Bayesian
// computation: the choice of test quantities shapes sensitivity" (2023).
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	log.SetFlags(0)
	only := flag.String("only", ".", "run the studies whose names match this regular expression")
	seed := flag.Uint64("seed", 1, "seed of the simulations")
	share := flag.Float64("share", 1, "share of the simulations to run")
	pictures := flag.String("pictures", "", "folder for an SVG picture of each study")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *only, *seed, *share, *pictures); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, only string, seed uint64, share float64, pictures string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	fmt.Println("| study | quantity | exact | simulations | below 0.05 (%) | above 0.95 (%) | SD ÷ sampler's SD | p |")
	fmt.Println("| --- | --- | --- | --: | --: | --: | --: | --: |")
	for _, s := range studies {
		if !wanted.MatchString(s.name) {
			continue
		}
		out, err := s.run(ctx, seed, max(1, int(share*float64(s.runs))), 0)
		if err != nil {
			return err
		}
		for _, o := range out {
			fmt.Println(s.record(o).row())
		}
		if pictures != "" {
			path := filepath.Join(pictures, s.name+".svg")
			if err := os.WriteFile(path, []byte(s.picture(out)), 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

// row is the record as a row of a table in Markdown.
func (r record) row() string {
	exact, ratio := "no", ""
	if r.Exact {
		exact = "yes"
	}
	if r.Ratio > 0 {
		ratio = fmt.Sprintf("%.2f", r.Ratio)
	}
	cells := []string{
		r.Model, r.Quantity, exact, fmt.Sprint(r.Simulations), fmt.Sprintf("%.1f", r.Low), fmt.Sprintf("%.1f", r.High),
		ratio, fmt.Sprintf("%.2g", r.P),
	}
	return "| " + strings.Join(cells, " | ") + " |"
}
