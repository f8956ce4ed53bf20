package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
)

// asCommand, in the environment, makes the program of these tests the command: shells of the tests run it.
const asCommand = "MKL_TEST_IS_MKL"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(program().Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// script is a block of commands of a page, and lines that they print; none if the page does not say.
type script struct{ text, prints string }

// scripts are the command lines of a page, in their order: the blocks marked sh, each with the block marked
// text behind it, and the lines that are indented and begin with mkl.
func scripts(page string) (all []script) {
	var block strings.Builder
	kind := "" // of the block
	for line := range strings.Lines(strings.ReplaceAll(page, "\r\n", "\n")) {
		mark, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && kind == "":
			kind = "other"
			if mark = strings.TrimSpace(mark); mark != "" {
				kind = mark
			}
		case fence:
			switch kind {
			case "sh":
				all = append(all, script{text: block.String()})
			case "text":
				all[len(all)-1].prints = block.String()
			}
			block.Reset()
			kind = ""
		case kind != "":
			block.WriteString(line)
		case strings.HasPrefix(line, "    mkl "):
			all = append(all, script{text: strings.TrimSpace(line) + "\n"})
		}
	}
	return all
}

// listing is a block of a page in a language: a script, a program or a manifest.
type listing struct{ language, text string }

// listings are the blocks of a page that are marked with a language, in their order.
func listings(page string) (all []listing) {
	inside := false
	for line := range strings.Lines(strings.ReplaceAll(page, "\r\n", "\n")) {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !inside:
			all = append(all, listing{language: strings.TrimSpace(language)})
			inside = true
		case fence:
			inside = false
		case inside:
			all[len(all)-1].text += line
		}
	}
	return all
}

// file is the name of the file that a script is to be kept in, which its first line says: # NAME.sh: what it does.
func (l listing) file() string {
	name, _, ok := strings.Cut(strings.TrimPrefix(l.text, "# "), ": ")
	if ok && l.language == "bash" && strings.HasSuffix(name, ".sh") && !strings.ContainsAny(name, " /\n") {
		return name
	}
	return ""
}

// TestManualListings checks what no test runs: the syntax of scripts, programs in Python, and manifests.
func TestManualListings(t *testing.T) {
	checked := map[string]int{}
	check := func(page string, l listing, name string, args ...string) {
		if _, err := exec.LookPath(name); err != nil {
			return
		}
		c := exec.CommandContext(t.Context(), name, args...)
		c.Stdin = strings.NewReader(l.text)
		out, err := c.CombinedOutput()
		assert.NoError(t, err, "%s:\n%s\n%s", page, l.text, out)
	}
	for page, text := range manuals(t) {
		for _, l := range listings(text) {
			checked[l.language]++
			switch l.language {
			case "bash":
				check(page, l, "bash", "-n")
			case "python":
				check(page, l, "python3", "-c", "import ast, sys; ast.parse(sys.stdin.read())")
			case "yaml":
				assert.YAMLEq(t, l.text, l.text, page)
				assert.NotContains(t, l.text, "\t", page)
			}
		}
	}
	assert.Positive(t, checked["yaml"])
	assert.GreaterOrEqual(t, checked["bash"], 6)
}

// estate is the files that the manuals speak of.
func estate() map[string]string {
	var houses, prices, sizes, places, sample, sites, proteins strings.Builder
	houses.WriteString("id,area,rooms,garden,x,y,zip,sold,note_a,price\n")
	prices.WriteString("id,price\n")
	sizes.WriteString("id,area,rooms\n")
	places.WriteString("id,x,y\n")
	for i := range 36 {
		area, rooms, x, y := 50+i*7%90, 1+i%4, i%6, i/6
		price := 3*area + 10*rooms - 5*x*x + i%3
		fmt.Fprintf(&houses, "h%d,%d,%d,%d,%d,%d,%05d,%d/%d/2025,n,%d\n", i, area, rooms, i*i%11, x, y, 1000+i%3, 1+i%12, 13+i%15, price)
		fmt.Fprintf(&prices, "h%d,%d\n", i, price)
		fmt.Fprintf(&sizes, "h%d,%d,%d\n", i, area, rooms)
		fmt.Fprintf(&places, "h%d,%d,%d\n", i, x, y)
	}
	sample.WriteString("area,rooms,price\n")
	for i := range 60 {
		fmt.Fprintf(&sample, "%d,%d,%d\n", 50+i*7%90, 1+i%4, 3*(50+i*7%90)+10*(1+i%4)+i%5)
	}
	sites.WriteString("dna,size,charge,bound\n")
	for i := range 24 {
		dna, protein, bound := []byte("ACGTTGCAACGGTCATTGCA"), []byte("MKVLAAGIVGLCAKAYGWLE"), "no"
		dna[i%20], protein[i%20] = "ACGT"[i%4], "ARND"[i%4]
		if i%2 == 0 {
			copy(dna[5:], "TATAAA")
			copy(protein[9:], "HHHHHH")
			bound = "yes"
		}
		fmt.Fprintf(&sites, "%s,%d,%d,%s\n", dna, i*i%13, i%5, bound)
		fmt.Fprintf(&proteins, ">p%d %s\n%s\n", i, bound, protein)
	}
	all := map[string]string{
		"water.csv": water(), "trials.csv": trials(),
		"sites.csv": sites.String(), "proteins.fasta": proteins.String(),
		"houses.csv": houses.String(), "new.csv": houses.String(), "train.csv": houses.String(), "test.csv": houses.String(),
		"prices.csv": prices.String(), "sizes.csv": sizes.String(), "places.parquet": places.String(), // told by what they hold
		"survey.csv": answers(0, 40), "others.csv": answers(40, 52), "ratings.csv": ratings(1), "wanted.csv": ratings(0),
		"sample.csv": sample.String(), "part-1.csv": sample.String(), "part-2.csv": strings.Replace(sample.String(), ",1,", ",2,", 1),
	}
	for _, more := range []map[string]string{pharmacy(), school(), cellar()} {
		for name, text := range more {
			all[name] = text
		}
	}
	return all
}

// school is the grades of pupils, and kernels between them from two sources, whose rows and columns have another order. The
// kernels of new pupils have a row for each row of pupils.csv.
func school() map[string]string {
	const pupils, others = 20, 5
	var grades strings.Builder
	grades.WriteString("who,y\n")
	for i := range pupils {
		fmt.Fprintf(&grades, "s%d,%d\n", i, i*i%7)
	}
	kernels := func(source, rows int, name string) string {
		var b strings.Builder
		b.WriteString("who")
		for j := range pupils {
			fmt.Fprintf(&b, ",s%d", pupils-1-j)
		}
		for i := range rows {
			fmt.Fprintf(&b, "\n%s%d", name, i)
			for j := range pupils {
				d := float64(i%pupils*source%7 - (pupils-1-j)*source%7)
				fmt.Fprintf(&b, ",%.6f", math.Exp(-d*d/2))
			}
		}
		return b.String() + "\n"
	}
	return map[string]string{
		"pupils.csv": "who\nt0\nt1\nt2\nt3\nt4\n", "grades.csv": grades.String(), "kg.csv": kernels(1, pupils, "s"), "ki.csv": kernels(3, pupils, "s"),
		"kg_new.csv": kernels(1, others, "t"), "ki_new.csv": kernels(3, others, "t"),
	}
}

// cellar is wines of three grapes, measurements of samples of wine in three views with two causes, and a study of two arms.
func cellar() map[string]string {
	var wine, samples strings.Builder
	wine.WriteString("acid_a,acid_b,hue,intensity,grape\n")
	samples.WriteString("sample,gene_1,gene_2,gene_3,prot_1,prot_2,prot_3,age,bmi,mut_1,mut_2,n_1,n_2\n")
	for i := range 36 {
		grape := i % 3
		fmt.Fprintf(&wine, "%d,%d,%d,%d,%s\n", 4*grape+i*i%5, i%7, 3*(2-grape)+i%4, i*i%11, []string{"Riesling", "Silvaner", "Merlot"}[grape])
		a, b := i%9-4, i*i%11-5
		fmt.Fprintf(&samples, "w%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", i, 3*a+i%2, 2*a-i%3, a, a+b, 2*b+i%2, b, 40+b, 20+i%5,
			min(1, max(0, a+i%3)), min(1, max(0, b+i%2)), max(0, a), max(0, b+i%3))
	}
	arms := strings.Replace(study(0, 60, "control", "treated"), "a1,a2,a3,a4,b1,b2,b3,b4", "gene_1,gene_2,gene_3,gene_4,prot_1,prot_2,prot_3,prot_4", 1)
	return map[string]string{"wine.csv": wine.String(), "samples.csv": samples.String(), "study.csv": arms}
}

// trials is the effects that trials found, with their standard errors, and the expected effects.
func trials() string {
	var b strings.Builder
	b.WriteString("age,dose,patients,se,expected,effect\n")
	for i := range 30 {
		age, dose, n := 30+i*7%40, i%5, 4+i*i%30
		effect := 0.1*float64(age) - float64(dose*dose) + float64(i%3-1)*6/math.Sqrt(float64(n))
		fmt.Fprintf(&b, "%d,%d,%d,%.4f,%.1f,%.3f\n", age, dose, n, 5/math.Sqrt(float64(n)), 0.1*float64(age), effect)
	}
	return b.String()
}

// water is concentrations. Some are below a limit of detection, or between two readings.
func water() string {
	var b strings.Builder
	b.WriteString("depth,flow,from,to\n")
	for i := range 30 {
		depth, flow := i%6, i*i%7
		c := 2 + depth*depth + flow
		switch {
		case c < 6:
			fmt.Fprintf(&b, "%d,%d,,6\n", depth, flow)
		case i%5 == 0:
			fmt.Fprintf(&b, "%d,%d,%d,%d\n", depth, flow, c-1, c+1)
		default:
			fmt.Fprintf(&b, "%d,%d,%d,%d\n", depth, flow, c, c)
		}
	}
	return b.String()
}

// manuals are the pages of docs and the README, by their names.
func manuals(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*", "*.md"))
	require.NoError(t, err)
	commands, err := filepath.Glob(filepath.Join(root, "docs", "guide", "command", "*.md"))
	require.NoError(t, err)
	all := map[string]string{}
	for _, page := range slices.Concat(pages, commands, []string{filepath.Join(root, "README.md")}) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		all[filepath.Base(filepath.Dir(page))+" "+filepath.Base(page)] = string(text)
	}
	return all
}

// TestManualCommands runs every command of the manuals and of the README as a shell does, and looks for what
// they are said to print, except those that another test runs.
func TestManualCommands(t *testing.T) {
	testkit.NotShort(t)
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell here")
	}
	binary, err := os.Executable()
	require.NoError(t, err)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	iris, err := os.ReadFile(filepath.Join(root, "testdata", "iris.csv"))
	require.NoError(t, err)
	elsewhere := []string{
		"mkl serve ", "curl ", // TestServe: a service does not end
		"mkl fit diamonds.csv", "mkl fit samples.csv -target class", // tables that are not here
		"go ", // TestModelsFit, the stage readme of .ci/run, and tool/release
		"mkl cv testdata/mcycle.csv -target accel -models auto,mgp,bmkl -repeats 2", // TestCVManual
	}
	bin, estateDir := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(binary, filepath.Join(bin, "mkl")))
	shell := func(t *testing.T, dir string, s script) {
		c := exec.CommandContext(t.Context(), "sh", "-e", "-c", s.text)
		c.Dir = dir
		c.Env = append(os.Environ(), asCommand+"=1", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		assert.NoError(t, err, "%s\n%s", s.text, out)
		for line := range strings.Lines(s.prints) {
			assert.Contains(t, "\n"+string(out), "\n"+line, s.text)
		}
	}
	require.NoError(t, os.CopyFS(filepath.Join(estateDir, "testdata"), os.DirFS(filepath.Join(root, "testdata"))))
	files := estate()
	files["iris.csv"] = strings.Replace(every(string(iris), 5), "Species", "species", 1)
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(estateDir, name), []byte(text), 0o666))
	}
	shell(t, estateDir, script{text: "mkl fit houses.csv -target price -as zip=none -as sold=none -o houses.mkl -q; cp houses.mkl a.mkl\n" +
		"mkl fit houses.csv -target price -view area,rooms,x -model mgp -o b.mkl -q"})
	ran := 0
	for page, text := range manuals(t) {
		all := slices.DeleteFunc(scripts(text), func(s script) bool {
			return slices.ContainsFunc(elsewhere, func(begin string) bool { return strings.HasPrefix(s.text, begin) })
		})
		if len(all) == 0 {
			continue
		}
		ran += len(all)
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(estateDir)))
			for _, l := range listings(text) {
				if name := l.file(); name != "" {
					require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(l.text), 0o666))
				}
			}
			for _, s := range all {
				shell(t, dir, s)
			}
		})
	}
	assert.GreaterOrEqual(t, ran, 23)
}

// every returns the first line of a text and one of so many of the others.
func every(text string, n int) string {
	var b strings.Builder
	i := 0
	for line := range strings.Lines(text) {
		if i == 0 || i%n == 1 {
			b.WriteString(line)
		}
		i++
	}
	return b.String()
}
