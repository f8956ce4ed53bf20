package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/siege"
)

var (
	hostileSeed  = flag.Uint64("hostile.seed", 0, "seed of the first case of TestHostileTables")
	hostileCases = flag.Uint64("hostile.cases", 40, "cases of TestHostileTables")
	hostileLarge = flag.Uint64("hostile.large", 2, "cases of TestHostileLargeTables")
)

// TestHostileTables fits small tables of strange columns, with flags drawn at random, and asks the models for predictions. Whatever comes
// of a command must be one line that says what is wrong, or an output that keeps the promises of the guide.
func TestHostileTables(t *testing.T) {
	testkit.NotShort(t)
	besieges(t, *hostileCases, smallTable)
}

// TestHostileLargeTables does the same with tables of more than 3000 rows, which have models of their own. One column holds many codes, whose
// effects these models learn. A fit has a time limit of one second.
func TestHostileLargeTables(t *testing.T) {
	testkit.NotShort(t)
	besieges(t, *hostileLarge, largeTable)
}

// besieges makes cases of a kind of tables, from the seed of the flag on.
func besieges(t *testing.T, cases uint64, draw func(r *rand.Rand) (columns []hostileColumn, args []string, N int)) {
	var out strings.Builder
	dir := t.TempDir()
	attack := siege.Attack{Name: "tables through the command", Run: func(r *rand.Rand) siege.Case {
		columns, args, N := draw(r)
		return besiege(t.Context(), dir, r, columns, args, N)
	}}
	tally := siege.Tally{Slow: 30 * time.Second}
	for i := range cases {
		tally.Add(&out, attack, *hostileSeed+i)
	}
	assert.Empty(t, out.String())
	assert.Positive(t, tally.Held)
	t.Logf("%d cases, %d held, %d refused, %d findings, slowest %.2g s", tally.Cases, tally.Held, tally.Refused, tally.Found, tally.Slowest.Seconds())
}

// smallTable draws a table of up to 60 rows and the flags of a fit.
func smallTable(r *rand.Rand) (columns []hostileColumn, args []string, N int) {
	N = pick(r, 1, 2, 3, 4, 6, 10, 10, 25, 25, 60)
	columns = hostileColumns(r, N)
	return columns, hostileFlags(r, columns), N
}

// largeTable draws a table of more than 3000 rows with a column of codes, and the flags of a fit.
func largeTable(r *rand.Rand) (columns []hostileColumn, args []string, N int) {
	N = 3001 + r.IntN(100)
	columns = hostileColumns(r, N)
	args = hostileFlags(r, columns)
	codes := pick(r, 31, 40, 200, 900)
	columns[0].cell = each(func(r *rand.Rand) string {
		return "k" + strconv.Itoa(int(float64(codes)*r.Float64()*r.Float64())) // some codes are rare
	})(r)
	if !slices.Contains(args, "factors") {
		args = append(args, "-time", "1s")
	}
	return columns, args, N
}

// besiege fits a table of N rows and judges the commands that follow.
func besiege(ctx context.Context, dir string, r *rand.Rand, columns []hostileColumn, args []string, N int) (c siege.Case) {
	s := &session{ctx: ctx, dir: dir}
	defer func() { c.Wrong = s.wrong }()
	s.write("train.csv", columns, N)
	s.line = strings.Join(args, " ")
	status, _, _ := s.run(append([]string{"fit", s.path("train.csv"), "-o", s.path("m.mkl")}, args...)...)
	if status != console.StatusOK {
		return c
	}
	c.Outcome = siege.Held
	s.must("inspect", s.path("m.mkl"), "-json")
	if slices.Contains(args, "factors") {
		s.must("complete", s.path("m.mkl"), s.path("train.csv"))
		s.must("transform", s.path("m.mkl"), s.path("train.csv"), "-json")
		for i := range columns { // a row may lack its group, or be of a group that the fit does not have
			if r.IntN(4) == 0 {
				columns[i].cell = pick(r, strangeCells...).make(r)
			}
		}
		s.write("new.csv", columns, pick(r, 1, 2, 7))
		s.run("complete", s.path("m.mkl"), s.path("new.csv"))
		s.run("transform", s.path("m.mkl"), s.path("new.csv"))
		return c
	}
	rows := rowsOf(s.must("predict", s.path("m.mkl"), s.path("train.csv"), "-json"))
	s.judge(s.must("predict", s.path("m.mkl"), s.path("train.csv")), rows)
	M := pick(r, 1, 2, 7)
	for i := range columns { // what new rows hold is as strange, and may be of another kind
		if r.IntN(4) == 0 {
			columns[i].cell = pick(r, strangeCells...).make(r)
		}
	}
	s.write("new.csv", columns, M)
	if status, text, _ := s.run("predict", s.path("m.mkl"), s.path("new.csv")); status == console.StatusOK {
		s.judge(text, -1)
	}
	more := [][]string{
		{"evaluate", s.path("m.mkl"), s.path("train.csv"), "-json"},
		{"evaluate", s.path("m.mkl"), s.path("new.csv")},
		{"predict", s.path("m.mkl"), s.path("new.csv"), "-novelty", "-json"},
		{"predict", s.path("m.mkl"), s.path("train.csv"), "-views"},
		{"predict", s.path("m.mkl"), s.path("train.csv"), "-mean"},
		{"report", s.path("m.mkl"), "-data", s.path("train.csv"), "-o", s.path("r.html")},
		{"compile", s.path("m.mkl"), "-o", s.path("c.mkl")},
		{"export", s.path("m.mkl"), "-o", s.path("m.onnx")},
		{"explore", s.path("train.csv"), "-json"},
	}
	for range 3 {
		s.run(pick(r, more...)...)
	}
	return c
}

func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// session runs commands in a folder and notes what is wrong.
type session struct {
	ctx   context.Context
	dir   string
	line  string // the flags of the fit
	wrong []string
}

func (s *session) path(name string) string { return filepath.Join(s.dir, name) }

func (s *session) complain(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...)+" after fit "+s.line)
}

func (s *session) write(name string, columns []hostileColumn, N int) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	record := make([]string, len(columns))
	for j, c := range columns {
		record[j] = c.name
	}
	_ = w.Write(record)
	for n := range N {
		for j, c := range columns {
			record[j] = c.cell(n)
		}
		_ = w.Write(record)
	}
	w.Flush()
	if err := os.WriteFile(s.path(name), b.Bytes(), 0o600); err != nil {
		panic(err)
	}
}

// Words that only a defect lets through: into any text, and into outputs.
var (
	leak     = regexp.MustCompile(`%!|runtime error|goroutine |<nil>|strconv\.`)
	noNumber = regexp.MustCompile(`%!|\bNaN\b|\+Inf\b`)
)

// run runs a command and judges how it ends. last is the last line of standard error.
func (s *session) run(args ...string) (status int, stdout, last string) {
	var out, errs bytes.Buffer
	command := args[0]
	defer func() {
		if e := recover(); e != nil {
			s.complain("%s: panic: %v\n%s", strings.Join(args, " "), e, debug.Stack())
		}
	}()
	status = program().Run(s.ctx, args, strings.NewReader(""), &out, &errs)
	lines := strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n")
	last = lines[len(lines)-1]
	switch {
	case status == console.StatusOK:
		// A time may be beyond all numbers, and so may be the error of a prediction of 1e308.
		if found := noNumber.FindString(out.String()); found != "" && command != "evaluate" && !strings.Contains(s.line, "survival") {
			s.complain("%s: output with %q", command, found)
		}
		if slices.Contains(args, "-json") && !json.Valid(out.Bytes()) {
			s.complain("%s: output that is not JSON", command)
		}
	case status == 1 && strings.HasSuffix(last, "holds the model of the sweeps before") && strings.Contains(last, "too ill-conditioned"):
	case status != console.StatusInput: // no other computation has a reason to fail
		s.complain("%s: exit status %d: %s", command, status, last)
	case slices.Contains(args, "-json") && !json.Valid([]byte(last)):
		s.complain("%s: an error that is not JSON: %s", command, last)
	case !slices.Contains(args, "-json") && !strings.HasPrefix(last, "mkl: "):
		s.complain("%s: an error that does not begin with mkl: %s", command, last)
	case len(last) > 1000:
		s.complain("%s: an error of %d bytes: %.200s", command, len(last), last)
	case leak.MatchString(last):
		s.complain("%s: %s", command, last)
	}
	return status, out.String(), last
}

// must runs a command that has no reason to fail.
func (s *session) must(args ...string) string {
	status, text, last := s.run(args...)
	if status != console.StatusOK {
		s.complain("%s refused: %s", args[0], last)
	}
	return text
}

// rowsOf returns how many objects a list in JSON has.
func rowsOf(text string) int {
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil {
		return -1
	}
	return len(list)
}

// judge holds predictions to what the guide says of them. There must be the given number of rows, or any if it is negative.
func (s *session) judge(text string, rows int) {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) == 0 {
		if text != "" {
			s.complain("predict: no table: %v", err)
		}
		return
	}
	if got := len(records) - 1; rows >= 0 && got != rows {
		s.complain("predict: %d rows in CSV and %d in JSON", got, rows)
	}
	header := records[0]
	numbers := func(record []string) map[string]float64 {
		of := map[string]float64{}
		for j, name := range header {
			if v, err := strconv.ParseFloat(record[j], 64); err == nil && name != "label" {
				of[name] = v
			}
		}
		return of
	}
	isProbability := func(name string) bool { return strings.HasPrefix(name, "p_") }
	ofClass := func(name string) bool { return isProbability(name) && !strings.HasPrefix(name, "p_to_") }
	for n, record := range records[1:] {
		sum, of := 0.0, numbers(record)
		for name, v := range of {
			if math.IsNaN(v) || math.IsInf(v, 0) && !strings.Contains(s.line, "survival") {
				s.complain("predict: row %d: %s is %g", n+1, name, v)
			}
			if (name == "sd" || strings.HasSuffix(name, "_sd")) && v < 0 {
				s.complain("predict: row %d: %s is %g", n+1, name, v)
			}
			if isProbability(name) && (v < 0 || v > 1) {
				s.complain("predict: row %d: %s is %g", n+1, name, v)
			}
			if ofClass(name) {
				sum += v
			}
			if lower, ok := strings.CutSuffix(name, "upper"); ok && of[lower+"lower"] > v {
				s.complain("predict: row %d: the interval from %g to %g", n+1, of[lower+"lower"], v)
			}
		}
		if j := slices.Index(header, "label"); j >= 0 && record[j] != "" && math.Abs(sum-1) > 1e-9 {
			s.complain("predict: row %d: probabilities add up to %g", n+1, sum)
		}
	}
}

// hostileColumn is a column of a table; cell returns what row n holds.
type hostileColumn struct {
	name string
	cell func(n int) string
}

// hostileCells is a kind of cells; make draws a column of them.
type hostileCells struct {
	kind string
	make func(r *rand.Rand) func(n int) string
}

// each returns cells that are drawn one by one.
func each(draw func(r *rand.Rand) string) func(r *rand.Rand) func(int) string {
	return func(r *rand.Rand) func(int) string {
		drawn := map[int]string{} // a cell is the same whenever it is asked for
		return func(n int) string {
			if _, has := drawn[n]; !has {
				drawn[n] = draw(r)
			}
			return drawn[n]
		}
	}
}

var strangeCells = []hostileCells{
	{"normal", each(func(r *rand.Rand) string { return number(r.NormFloat64()) })},
	{"short", each(func(r *rand.Rand) string { return fmt.Sprintf("%.2f", 10+r.NormFloat64()) })},
	{"wide", each(func(r *rand.Rand) string { return number(math.Exp(100*r.NormFloat64()) * r.NormFloat64()) })},
	{"widest", each(func(r *rand.Rand) string {
		return pick(r, "1.7e308", "-1.7e308", "5e-324", "0", "-0", number(math.Exp(700*(2*r.Float64()-1))))
	})},
	{"Cauchy", each(func(r *rand.Rand) string { return number(r.NormFloat64() / r.NormFloat64()) })},
	{"constant", func(r *rand.Rand) func(int) string {
		v := pick(r, "0", "1", "-3.5", "1e300", "a", "")
		return func(int) string { return v }
	}},
	{"nearly constant", each(func(r *rand.Rand) string {
		return number(1e6 * (1 + float64(r.IntN(3))*0x1p-52))
	})},
	{"one differs", func(r *rand.Rand) func(int) string {
		at, v := r.IntN(8), pick(r, "1", "1e9", "a", "")
		return func(n int) string {
			if n == at {
				return v
			}
			return "0"
		}
	}},
	{"row number", func(*rand.Rand) func(int) string { return strconv.Itoa }},
	{"alternating", func(r *rand.Rand) func(int) string {
		groups := 2 + r.IntN(2)
		return func(n int) string { return "g" + strconv.Itoa(n%groups) }
	}},
	{"bits", each(func(r *rand.Rand) string { return strconv.Itoa(r.IntN(2)) })},
	{"counts", each(func(r *rand.Rand) string { return strconv.Itoa(int(math.Exp(1 + r.NormFloat64()))) })},
	{"huge counts", each(func(r *rand.Rand) string { return strconv.FormatInt(r.Int64N(1<<53), 10) })},
	{"grades", each(func(r *rand.Rand) string { return strconv.Itoa(1 + r.IntN(4)) })},
	{"yes", each(func(r *rand.Rand) string { return pick(r, "yes", "no") })},
	{"words", each(func(r *rand.Rand) string { return pick(r, "red", "green", "blue", "") })},
	{"names", func(*rand.Rand) func(int) string { return func(n int) string { return "s" + strconv.Itoa(n) } }},
	{"sequences", each(func(r *rand.Rand) string {
		b := make([]byte, r.IntN(30))
		for i := range b {
			b[i] = pick(r, []byte("ACGT")...)
		}
		return string(b)
	})},
	{"prose", each(func(r *rand.Rand) string {
		var words []string
		for range r.IntN(12) {
			words = append(words, pick(r, "the", "cold", "rain", "falls", "mainly", "ü", "日本", "a,b", "\"q\"", "x\ny"))
		}
		return strings.Join(words, " ")
	})},
	{"dates", each(func(r *rand.Rand) string {
		return time.Date(2020, 1, 1+r.IntN(2000), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	})},
	{"gaps", each(func(r *rand.Rand) string {
		return pick(r, number(r.NormFloat64()), "", "NA", "nan", "?")
	})},
	{"dirt", each(func(r *rand.Rand) string {
		return pick(r, number(r.NormFloat64()), "inf", "-Inf", "1e400", "1_000", "0x10", "=1+1", "\x1b[31m", "\u202e", "\xff", "true", "2020-13-45", "1,5")
	})},
	{"booleans", each(func(r *rand.Rand) string { return pick(r, "true", "false", "TRUE") })},
	{"times", each(func(r *rand.Rand) string { return number(r.ExpFloat64()) })},
}

// hostileColumns draws the columns of a table of N rows: features, a target y, and a column e of other parts.
func hostileColumns(r *rand.Rand, N int) (columns []hostileColumn) {
	for j := range 1 + r.IntN(5) {
		name := "x" + strconv.Itoa(j+1)
		if r.IntN(20) == 0 {
			name = pick(r, "a b", "", "x,y", "=2", "ä", "#1", "mean", "y ", strings.Repeat("long", 80))
		}
		columns = append(columns, hostileColumn{name, pick(r, strangeCells...).make(r)})
	}
	if r.IntN(4) == 0 { // a copy
		columns = append(columns, hostileColumn{"copy", columns[0].cell})
	}
	target := pick(r, strangeCells...).make(r)
	if r.IntN(3) == 0 { // a target that can be learned
		noise := strangeCells[0].make(r)
		target = func(n int) string {
			v, err := strconv.ParseFloat(columns[0].cell(n), 64)
			if err != nil || v-v != 0 {
				v = 0
			}
			e, _ := strconv.ParseFloat(noise(n), 64)
			return number(v + e/10)
		}
	}
	columns = append(columns, hostileColumn{"y", target}, hostileColumn{"e", pick(r, strangeCells...).make(r)})
	if r.IntN(5) == 0 { // rows that occur again
		for j := range columns {
			cell := columns[j].cell
			columns[j].cell = func(n int) string { return cell(n % max(1, N/2)) }
		}
	}
	return columns
}

// kindsOfTargets are the tasks of mkl fit, "" for none that is named, and the kinds of cells that mostly are their targets.
var kindsOfTargets = map[string][]string{
	"":           {"normal", "short", "Cauchy", "wide", "counts", "bits", "grades", "yes", "words", "one differs", "gaps", "booleans", "huge counts", "nearly constant"},
	"regression": {"normal", "short", "wide", "counts", "gaps", "nearly constant", "widest", "one differs", "dates", "huge counts"},
	"binary":     {"bits", "yes", "booleans", "one differs"}, "multiclass": {"grades", "words", "yes", "counts", "sequences"},
	"counts": {"counts", "bits", "grades", "huge counts", "one differs"}, "survival": {"times", "counts", "wide"}, "ordinal": {"grades", "counts", "bits"},
	"multilabel": {"bits", "yes", "booleans"}, "tasklabels": {"bits"}, "factors": {"normal"},
	"multioutput": {"normal", "counts", "wide"}, "shared": {"normal", "gaps"}, "tasks": {"normal", "gaps"}, "multitask": {"normal", "gaps", "wide"},
}

// cellsCalled returns the cells of a kind.
func cellsCalled(kind string) hostileCells {
	return strangeCells[slices.IndexFunc(strangeCells, func(c hostileCells) bool { return c.kind == kind })]
}

// hostileFlags draws the flags of a fit. It mostly makes the columns y and e what the task needs.
func hostileFlags(r *rand.Rand, columns []hostileColumn) (args []string) {
	add := func(one ...string) { args = append(args, one...) }
	task := ""
	if r.IntN(2) == 0 {
		task = pick(r, slices.Sorted(maps.Keys(kindsOfTargets))...)
	}
	y := slices.IndexFunc(columns, func(c hostileColumn) bool { return c.name == "y" })
	fits := r.IntN(6) > 0
	if fits && r.IntN(3) > 0 {
		columns[y].cell = cellsCalled(pick(r, kindsOfTargets[task]...)).make(r)
	}
	several := []string{"multilabel", "multioutput", "shared", "tasks", "tasklabels", "multitask"}
	switch {
	case task == "factors" && r.IntN(2) == 0:
		if add("-groups", "e"); fits {
			columns[len(columns)-1].cell = cellsCalled(pick(r, "bits", "yes", "grades", "words", "alternating", "alternating")).make(r)
		}
	case task == "factors":
	case slices.Contains(several, task):
		if columns[len(columns)-1].cell = columns[y].cell; fits {
			columns[len(columns)-1].cell = cellsCalled(pick(r, kindsOfTargets[task]...)).make(r)
		}
		add("-target", "y,e")
	default:
		add("-target", "y")
	}
	if task != "" {
		add("-task", task)
	}
	role, kind := "", ""
	switch {
	case !fits && r.IntN(4) == 0:
		role = pick(r, "-event", "-upper", "-exposure", "-weights", "-noise-sd", "-offset")
	case task == "survival" && r.IntN(3) == 0:
		role, kind = "-upper", "times"
	case task == "survival":
		role, kind = "-event", "bits"
	case task == "counts" && r.IntN(2) == 0:
		role, kind = "-exposure", pick(r, "times", "counts", "wide")
	case task == "regression" && r.IntN(2) == 0:
		role, kind = pick(r, "-weights", "-noise-sd", "-offset"), pick(r, "times", "counts", "normal", "wide")
	}
	if role != "" {
		if add(role, "e"); kind != "" {
			columns[len(columns)-1].cell = cellsCalled(kind).make(r)
		}
	}
	if often := task == "survival" || task == "counts" || task == "ordinal"; len(columns) > 4 && task != "factors" && (r.IntN(5) == 0 || often && r.IntN(2) == 0) {
		add("-view", "a="+pick(r, "x1", "x1,x3"), "-view", "b="+pick(r, "x2", "#2"))
		if r.IntN(2) == 0 {
			add("-view-group", pick(r, "one=a", "other=b", "other=b", "both=a,b", "none=c", "=a", "twice=a,a"))
		}
	}
	if r.IntN(12) == 0 {
		add("-as", pick(r, "x1=text", "x1=number", "x1=none", "y=number", "y=text", "e=text", "x1=date(y-m-d)", "x*=text", "x1=nothing", "none=number", "x1"))
	}
	switch {
	case task == "counts" && r.IntN(2) == 0:
		add("-law", pick(r, "poisson", "negative-binomial", "double-poisson", "double-poisson", "normal"))
	case task == "survival" && r.IntN(3) == 0:
		add("-law", pick(r, "log-normal", "weibull", "poisson"))
	}
	if r.IntN(4) == 0 && task != "factors" {
		add("-missing", pick(r, "impute", "drop", "refuse", "views"))
	}
	if r.IntN(8) == 0 {
		add("-model", pick(r, "auto", "bmkl", "mgp", "probit", "landmarks", "spikeslab"))
	}
	if r.IntN(8) == 0 {
		add("-kernels", pick(r, "linear", "rbf", "rbf(medians=1),linear", "matern(nu=1.5)", "categorical", "polynomial(degree=2)", "constant", "interaction", "spectrum(k=3)"))
	}
	if r.IntN(8) == 0 {
		add(pick(r, "-raw-columns", "-missing-targets", "-plain", "-text=onehot", "-text=category", "-dates=trend", "-seed=7", "-restarts=1", "-tolerance=0.001"))
	}
	return args
}

// TestHostileTablesFound repeats the findings of TestHostileTables, which are mended.
func TestHostileTablesFound(t *testing.T) {
	files := map[string]string{
		"flat.csv":   "a,y\n1,3\n1,4\n1,6\n",
		"line.csv":   "x,y\n1,1.1\n2,1.9\n3,3.2\n4,3.8\n5,5.1\n6,5.9\n",
		"wild.csv":   "x,y\n1e300,\n2,\n",
		"apart.csv":  "x,z,y\n1.7e308,1,1\n-1.7e308,2,3\n1.7e308,3,4\n-1.7e308,4,7\n",
		"yes.csv":    "a,b,c\nyes,1,2\nno,2,3\nyes,3,5\nno,4,\n",
		"huge.csv":   "x,y\n1,1000000000000000\n2,3000000000000000\n3,2000000000000000\n4,10\n5,7000000000000000\n",
		"minus.csv":  "x,y\n1,2\n2,-1\n3,4\n",
		"large.csv":  "x,y\n1000000,1e-5\n1000001,1e44\n1000002,-6e139\n1000000,1300\n1000001,3e-64\n",
		"far.csv":    "x,y\n1000000,1\n1e300,1\n1000001,2\n",
		"beyond.csv": "x\n1e300\n1e300\n",
	}
	all := files
	for i, c := range []struct{ args, want string }{
		{"fit flat.csv -target y -missing views", "no column is left: left out: a (always 1)"},
		{"fit line.csv -target y -o line.mkl", ""},
		{"predict line.mkl wild.csv", ""},
		{"evaluate line.mkl wild.csv", `wild.csv: column "y": no row has a truth that predictions could be compared with`},
		{"fit apart.csv -target y -o apart.mkl", ""},
		{"fit apart.csv -task factors", `apart.csv: column "x": the squares of its numbers are beyond the range of floating-point numbers`},
		{"fit yes.csv -task factors -o yes.mkl", ""},
		{"complete yes.mkl yes.csv", ""},
		{"fit huge.csv -target y -task counts -o huge.mkl", ""},
		{"report huge.mkl -data huge.csv -o huge.html", ""},
		{"fit minus.csv -target y -task counts", `row 2 (line 3), column 2 "y": -1 is none of the counts 0, 1, 2, …`},
		{"fit large.csv -target y -kernels linear -o large.mkl", ""},
		{"predict large.mkl far.csv", ""},
		{"evaluate large.mkl far.csv", ""},
		{"fit line.csv -target y -raw-columns -kernels linear -o raw.mkl", ""},
		{"predict raw.mkl far.csv", ""}, // but for row 2
		{"evaluate raw.mkl far.csv", ""},
		{"predict raw.mkl beyond.csv", "none of 2 rows can be predicted: beyond.csv: row 1 (line 2): the prediction has mean"},
	} {
		if i > 0 {
			files = nil
		}
		status, out, errs := command(t, files, "", strings.Fields(c.args)...)
		if c.want == "" {
			require.Equal(t, console.StatusOK, status, "%s: %s", c.args, errs)
		} else {
			require.Equal(t, console.StatusInput, status, c.args)
			require.Contains(t, errs, c.want, c.args)
		}
		switch strings.Fields(c.args)[0] {
		case "predict":
			if c.want != "" {
				break
			}
			if strings.Contains(c.args, "raw.mkl") {
				require.Contains(t, errs, "1 of 3 rows cannot be predicted, the first: far.csv: row 2 (line 3): the prediction has mean")
			}
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			require.Len(t, lines, len(strings.Split(strings.TrimSuffix(all[strings.Fields(c.args)[2]], "\n"), "\n")), c.args)
			for i, line := range lines {
				require.Equal(t, strings.Contains(c.args, "raw.mkl") && i == 2, line == ",,,", "%s: row %d", c.args, i)
			}
		case "complete":
			require.Contains(t, out, "a,b,c\n1,1,2\n0,2,3\n1,3,5\n0,4,")
		}
		if strings.HasPrefix(c.args, "fit apart.csv -target") {
			require.Contains(t, errs, "left out: x (its numbers from -1.7e+308 to 1.7e+308 are too far apart for floating-point numbers)")
		}
	}
}

// TestHostileCells holds the cells to their contract: a cell is the same whenever it is asked for.
func TestHostileCells(t *testing.T) {
	for _, c := range strangeCells {
		cell := c.make(rand.New(rand.NewPCG(1, 2)))
		for n := range 20 {
			require.Equal(t, cell(n), cell(n), c.kind)
		}
	}
}

// A wild row of a model of counts is left out with a warning, and the others are predicted.
func TestWildRowOfCounts(t *testing.T) {
	var rows strings.Builder
	for i := range 20 {
		fmt.Fprintf(&rows, "%g,%g\n", 1e-3*float64(i), math.Floor(math.Exp(float64(i)/3)))
	}
	files := map[string]string{"rise.csv": "x,y\n" + rows.String(), "edge.csv": "x\n0.005\n1.3e154\n0.001\n"}
	status, _, errs := command(t, files, "", strings.Fields("fit rise.csv -target y -task counts -raw-columns -kernels linear -o rise.mkl")...)
	require.Equal(t, console.StatusOK, status, errs)
	status, out, errs := command(t, nil, "", "predict", "rise.mkl", "edge.csv")
	require.Equal(t, console.StatusOK, status, errs)
	require.Contains(t, errs, "1 of 3 rows cannot be predicted, the first: edge.csv: row 2 (line 3): its function has mean")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	require.Len(t, lines, 4)
	require.Equal(t, ",,,", lines[2])
	require.NotContains(t, lines[1]+lines[3], ",,")
}
