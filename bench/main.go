// Command bench measures la and the models against the machine's limits and against
// other libraries. The contenders take turns in one process, so that what disturbs the
// machine disturbs them alike.
//
//	go run ./bench                  # against gonum
//	go run -tags openblas ./bench   # and OpenBLAS (needs cgo and libopenblas-dev)
//
// It writes a table to standard output, or with -json one object for each comparison. With
// -markdown FILE it puts the table into a page that has one for each kind of machine, and replaces
// the table for machines like this:
//
//	go run -tags openblas ./bench -markdown docs/lab/bench.md
//
// Other programs take part in the rows "time to the same …" if flags say where they are:
//
//	go run ./bench -run 'time to' -data DIR -octave octave-cli -authors DIR -python python3
//
// -octave is Octave and -authors the folder of the MATLAB code of BEMKL's author; -python has
// scikit-learn. -data is a folder of more sets for these rows, diabetes.csv, boston.csv,
// ionosphere.csv and sonar.csv, each a line of names and then numbers, with the target or label
// in the last column.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/bmkl/bmkl/bench/internal/peak"
	"github.com/bmkl/bmkl/la"
)

func main() {
	if _, err := la.InstructionSet(); err != nil { // every routine of la would panic with it
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
	markdown := flag.String("markdown", "", "put the table into this `file`, and replace its table for machines like this")
	only := flag.String("run", "", "measure only the rows whose name matches this regular `expression`")
	rounds := flag.Int("rounds", 11, "how often each contender takes its turn")
	budget := flag.Duration("time", 20*time.Millisecond, "how long a turn lasts, about")
	large := flag.Bool("large", false, "predictions from the pivots of dense models of 10 000 samples, too (4 GB, a minute)")
	var answers answerOptions
	flag.StringVar(&answers.data, "data", "", "`folder` of more sets for the rows of times to an answer")
	flag.DurationVar(&answers.patience, "patience", 30*time.Second, "processor time for the fits of a learner in these rows")
	flag.StringVar(&answers.outside.octave, "octave", "", "`command` of Octave")
	flag.StringVar(&answers.outside.authors, "authors", "", "`folder` of the code of BEMKL's author, for Octave")
	flag.StringVar(&answers.outside.python, "python", "", "`command` of a Python that has scikit-learn")
	flag.Parse()
	pick, err := regexp.Compile(*only)
	if err != nil {
		return err
	}

	var before []byte
	if *markdown != "" { // now, since measuring takes long
		if before, err = os.ReadFile(*markdown); err != nil {
			return err
		}
	}

	start, busy := time.Now(), load()
	var machine, table strings.Builder
	var out sink = jsonSink{json.NewEncoder(os.Stdout)}
	if !*asJSON {
		var w, top io.Writer = os.Stdout, os.Stdout
		if *markdown != "" {
			w, top = &table, &machine
		}
		set, _ := la.InstructionSet() // main has checked the error
		fmt.Fprintf(top, "%s, %s/%s, instruction set %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, set)
		fmt.Fprintf(top, "one core: FMA peak %.1f GFLOP/s (float32 %.1f), read bandwidth %.1f GB/s at best; OpenBLAS: %s\n\n",
			peak.FMA64(), peak.FMA32(), peak.ReadBandwidth(32<<20), openblasVersion())
		out = newTableSink(w)
	}
	limits := newLimits()
	for _, r := range slices.Concat(laRows(limits), modelRows(limits, *large), answerRows(answers)) {
		if !pick.MatchString(r.name) {
			continue
		}
		if err := out.put(r.build().measure(*rounds, *budget)); err != nil {
			return err
		}
	}
	if err := out.close(); err != nil || *markdown == "" {
		return err
	}
	measured := fmt.Sprintf(origin, start.Format(time.DateOnly), commit(), busy, openblasFlag, flags(), max(1, time.Since(start).Seconds()))
	section := machine.String() + measured + table.String()
	return os.WriteFile(*markdown, []byte(replaceSection(string(before), cpuid.CPU.BrandName, section)), 0o644)
}

// origin is the comment above a machine's table, which tool/lab reads: places for the date, the commit, the
// load, the flags of the build and of the command, and the seconds.
const origin = `<!-- lab
measured: %s, commit %s%s
command: go run%s ./bench%s
seconds: %.0f
-->
`

// flags returns the flags that are set. Files, folders and commands of this machine stay unnamed.
func flags() (all string) {
	flag.Visit(func(f *flag.Flag) {
		switch kind, _ := flag.UnquoteUsage(f); kind {
		case "": // a switch
			all += " -" + f.Name
		case "file", "folder", "command":
			all += " -" + f.Name + " " + strings.ToUpper(kind)
		default:
			all += fmt.Sprintf(" -%s '%s'", f.Name, f.Value)
		}
	})
	return all
}

// load says how busy the machine is, on systems that measure it.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	average, _, found := strings.Cut(string(text), " ")
	if err != nil || !found {
		return ""
	}
	return fmt.Sprintf(", %s programs at work on %d processors in the minute before", average, runtime.NumCPU())
}

// replaceSection returns text with the body of the section of that title replaced, or with the
// section after all others if it has none.
func replaceSection(text, title, body string) string {
	head := "## " + title + "\n"
	section := head + "\n" + strings.TrimRight(body, "\n") + "\n"
	before, rest, found := strings.Cut(text, head)
	if !found {
		return strings.TrimRight(text, "\n") + "\n\n" + section
	}
	if _, after, more := strings.Cut(rest, "\n## "); more {
		section += "\n## " + after
	}
	return before + section
}

// commit returns git's name of the commit that is checked out, or "unknown".
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
