// Command bench measures la and the models against the machine's limits and against
// other libraries. The contenders take turns in one process, so that what disturbs the
// machine disturbs them alike.
//
//	go run ./bench                  # against gonum
//	go run -tags openblas ./bench   # and OpenBLAS (needs cgo and libopenblas-dev)
//
// It writes a table to standard output; with -json one object for each comparison, and
// with -markdown the whole of RESULTS.md:
//
//	go run -tags openblas ./bench -markdown >RESULTS.md && mv RESULTS.md bench/
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/bmkl/bmkl/internal/peak"
	"github.com/bmkl/bmkl/la"
)

func main() {
	if err := la.InstructionSetError(); err != nil { // every routine of la would panic with it
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	if done, err := bestOpenBLAS(); done || err != nil {
		return err
	}
	asJSON := flag.Bool("json", false, "write one JSON object a comparison")
	asMarkdown := flag.Bool("markdown", false, "write RESULTS.md")
	only := flag.String("run", "", "measure only the rows whose name matches this regular `expression`")
	rounds := flag.Int("rounds", 11, "how often each contender takes its turn")
	budget := flag.Duration("time", 20*time.Millisecond, "how long a turn lasts, about")
	flag.Parse()
	pick, err := regexp.Compile(*only)
	if err != nil {
		return err
	}

	var out sink = jsonSink{json.NewEncoder(os.Stdout)}
	if !*asJSON {
		if *asMarkdown {
			fmt.Printf(preface, time.Now().Format(time.DateOnly), commit(), openblasFlag)
		}
		fmt.Printf("%s, %s, %s/%s, instruction set %s\n", cpuid.CPU.BrandName, runtime.Version(), runtime.GOOS, runtime.GOARCH, la.Config())
		fmt.Printf("one core: FMA peak %.1f GFLOP/s (float32 %.1f), read bandwidth %.1f GB/s at best; OpenBLAS: %s\n\n",
			peak.FMA64(), peak.FMA32(), peak.ReadBandwidth(32<<20), openblasVersion())
		out = newTableSink(os.Stdout)
	}
	limits := newLimits()
	for _, rows := range []iter.Seq2[string, func() measurer]{laRows(limits), modelRows(limits)} {
		for name, build := range rows {
			if !pick.MatchString(name) {
				continue
			}
			if err := out.put(build().measure(*rounds, *budget)); err != nil {
				return err
			}
		}
	}
	return out.close()
}

// preface is the beginning of RESULTS.md, with places for the date, the commit and the
// flag that builds OpenBLAS in.
const preface = `# Results

Measured on %s, commit %s, with ` + "`go run%s ./bench -markdown`" + `: medians of turns taken in one process, ± the
distance between the quartiles over the median. A ratio above 1 means that ours is faster; next to a limit of the
machine it is the share of the limit that we reach. What keeps a row from its goal stands in [LIMITS.md](LIMITS.md).

`

// commit returns git's name of the commit that is checked out, or "unknown".
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
