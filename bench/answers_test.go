package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

func TestParseAnswers(t *testing.T) {
	got, err := parseAnswers(strings.NewReader(`.......... 10
{"learner": "the author's code", "sweeps": 10, "seconds": 0.25, "loss": 0.5, "bound": -12.5}
..warning: {not an answer}
 {"learner": "SVC", "seconds": 2, "loss": 0.125}
`))
	require.NoError(t, err)
	assert.Equal(t, []answer{
		{Learner: "the author's code", Sweeps: 10, Seconds: .25, Loss: .5, Bound: -12.5},
		{Learner: "SVC", Seconds: 2, Loss: .125},
	}, got)
	for text, want := range map[string]string{
		`{"learner": "SVC", "seconds": NaN}`:        "answer",
		`{"learner": "SVC", "loss": 1}`:             "no time",
		`{"seconds": 1, "loss": 1}`:                 "no learner",
		`{"learner": "SVC", "seconds": -1}`:         "no time",
		`{"learner": "SVC", "seconds": 1, "loss":1`: "answer",
	} {
		_, err := parseAnswers(strings.NewReader(text))
		assert.ErrorContains(t, err, want, text)
	}
}

// TestReached holds that a value that a course has once and loses again does not count.
func TestReached(t *testing.T) {
	course := []answer{{Sweeps: 1, Loss: .4}, {Sweeps: 2, Loss: .9}, {Sweeps: 3, Loss: .52}, {Sweeps: 4, Loss: .5}}
	for _, c := range []struct {
		target float64
		sweeps int
	}{{1, 1}, {.6, 3}, {.51, 4}, {.5, 4}, {.45, 0}, {math.NaN(), 0}} {
		a, ok := byRMSE.reached(course, c.target)
		assert.Equal(t, c.sweeps, a.Sweeps, "%g", c.target)
		assert.Equal(t, c.sweeps > 0, ok, "%g", c.target)
	}
	a, ok := byBound.reached([]answer{{Sweeps: 1, Bound: -20}, {Sweeps: 2, Bound: -10}}, 15)
	assert.True(t, ok)
	assert.Equal(t, 2, a.Sweeps)
}

func known(name string, course ...answer) learner {
	return learner{name: name, course: func() ([]answer, error) { return course, nil }}
}

func TestRace(t *testing.T) {
	r := race{name: "row", by: byRMSE, ours: known("", answer{Sweeps: 1, Seconds: 1, Loss: .9}, answer{Sweeps: 2, Seconds: 2, Loss: .5}), peers: []learner{
		known("better in the end", answer{Sweeps: 1, Seconds: 3, Loss: .8}, answer{Sweeps: 2, Seconds: 5, Loss: .5005}, answer{Sweeps: 3, Seconds: 9, Loss: .4}),
		known("worse in the end", answer{Sweeps: 1, Seconds: 4, Loss: .95}),
		known("no number", answer{Sweeps: 1, Seconds: 4, Loss: math.NaN()}),
		{name: "absent", course: func() ([]answer, error) { return nil, errors.New("not there") }},
	}}
	got := r.measure(3, 0)
	require.Len(t, got, 2)
	assert.Equal(t, result{Name: "row", Unit: "s", Value: 2, Peer: "better in the end, to 0.501 SD", PeerValue: 5, Ratio: 2.5}, got[0])
	assert.Equal(t, result{Name: "row", Unit: "s", Value: 1, Peer: "worse in the end, to 0.951 SD", PeerValue: 4, Ratio: 4}, got[1])
}

// TestFits holds that a course ends where a fit has stopped, or has taken too long.
func TestFits(t *testing.T) {
	stops := fits("stops", 1e9, func(sweeps int) answer { return answer{Seconds: 1e-3, done: sweeps >= 9} })
	course, err := stops.course()
	require.NoError(t, err)
	last := course[len(course)-1]
	assert.True(t, last.done)
	assert.Equal(t, 9, last.Sweeps)
	assert.Equal(t, "stops", last.Learner)

	slow := fits("slow", 1e9, func(int) answer { return answer{Seconds: .4} })
	course, err = slow.course()
	require.NoError(t, err)
	assert.Len(t, course, 3)
	for sweeps := 1; sweeps < 1000; sweeps = more(sweeps) {
		assert.LessOrEqual(t, float64(more(sweeps)), max(1.2*float64(sweeps), float64(sweeps+1)))
	}
}

// TestCall lets this program take the place of another: see TestCalled.
func TestCall(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	if strings.ContainsAny(self, " ") {
		t.Skip("commands are split at spaces")
	}
	files := map[string][]float64{"y": {1.5, -2}}
	t.Setenv("BENCH_CALLED", "answer")
	got, err := call(self, []string{"-test.run=TestCalled"}, "x.py", "the script", files, "an argument")
	require.NoError(t, err)
	assert.Equal(t, []answer{{Learner: "x.py|an argument|the script|1", Sweeps: 16, Seconds: 1}}, got)

	t.Setenv("BENCH_CALLED", "fail")
	_, err = call(self, []string{"-test.run=TestCalled"}, "x.py", "", nil)
	assert.ErrorContains(t, err, "the last words")
	_, err = call(filepath.Join(t.TempDir(), "absent"), nil, "x.py", "", nil)
	assert.Error(t, err)
}

// TestCalled is not a test: it answers TestCall with what it was given.
func TestCalled(t *testing.T) {
	switch os.Getenv("BENCH_CALLED") {
	case "answer":
		at := slices.Index(os.Args, "x.py")
		script, err := os.ReadFile(os.Args[at])
		require.NoError(t, err)
		y, err := os.Stat("y.f64")
		require.NoError(t, err)
		fmt.Printf("{\"learner\": %q, \"sweeps\": %d, \"seconds\": 1}\n",
			strings.Join(append(os.Args[at:], string(script), os.Getenv("OMP_NUM_THREADS")), "|"), y.Size())
	case "fail":
		fmt.Fprintln(os.Stderr, "traceback\nthe last words")
		os.Exit(3)
	}
}

// TestAbsent holds that a program for which there is no flag is an error that names the flag.
func TestAbsent(t *testing.T) {
	s := &set{labels: true}
	for flag, learners := range map[string][]learner{"-authors": outside{octave: "octave"}.ofAuthors(s), "-python": outside{}.ofSklearn(s)} {
		for _, l := range learners {
			_, err := l.course()
			assert.ErrorContains(t, err, flag, l.name)
		}
	}
}

func TestReadSet(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "set.csv"), []byte(text), 0o600))
	}
	write("a,b,y\n1,7,good\n3,7,bad\n9,8,good\n1,7,bad\n3,7,good\n9,6,bad\n")
	s, err := readSet(dir, "set", true)
	require.NoError(t, err)
	assert.Equal(t, []float64{-1, 0, 1, 0, -1, 0, 1, 0}, s.x.Data) // a feature of one value stays there
	assert.Equal(t, []float64{7, 1, 7, -1}, s.test.Data)
	assert.Equal(t, []float64{-1, 1, 1, -1}, s.y)
	assert.Equal(t, []float64{-1, 1}, s.want)
	assert.Equal(t, []bool{false, true, true, false}, s.classes())

	write("a,y\n1,10\n3,30\n9,50\n1,10\n3,30\n9,10\n")
	s, err = readSet(dir, "set", false)
	require.NoError(t, err)
	assert.Equal(t, []float64{-1, 1, -1, 1}, s.y)
	assert.Equal(t, []float64{3, -1}, s.want)

	for text, want := range map[string]string{"a,y\n1,2\n": "1 rows", "a,y\n1,2\n1\n": "row 2 has 1 cells", "a,y\nx,2\n": "row 1"} {
		write(text)
		_, err := readSet(dir, "set", false)
		assert.ErrorContains(t, err, want)
	}
	_, err = readSet(dir, "absent", false)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestLosses(t *testing.T) {
	s := set{want: []float64{1, -1}}
	assert.InDelta(t, math.Sqrt(2.5), s.rmse([]float64{2, 1}), 1e-15)
	assert.InDelta(t, -(math.Log(.25)+math.Log(.5))/2, s.logLoss([]float64{.25, .5}), 1e-15)
	// Densities of N(0, 4) at 1 and N(−1, 1) at −1.
	assert.InDelta(t, -(math.Log(math.Exp(-.125)/math.Sqrt(8*math.Pi))+math.Log(1/math.Sqrt(2*math.Pi)))/2,
		s.nlpd([]float64{0, -1}, []float64{4, 1}), 1e-15)
}

// TestPaperPredict compares with the sums that the paper writes: b + Σ_m e_m·Σ_i a_i·k_m(x_i, x).
func TestPaperPredict(t *testing.T) {
	s := madeSet(false)
	var k, test []*mat.Dense
	for m, km := range s.kernels(s.x) {
		k = append(k, mat.NewDense(km.Rows, km.Cols, km.Data).Slice(0, 20, 0, 20).(*mat.Dense))
		tm := s.kernels(s.test)[m]
		test = append(test, mat.NewDense(tm.Rows, tm.Cols, tm.Data).Slice(0, 5, 0, 20).(*mat.Dense))
	}
	one := gammaPrior{1, 1}
	r := newPaperRegression(paperPriors{one, one, one, one, one}, k, s.y[:20], random(1, 20, 3).Data, mat.NewDense(len(k), 20, random(len(k), 20, 4).Data))
	r.sweep()
	for i, got := range r.predict(test) {
		want := r.be.AtVec(0)
		for m := range k {
			for j := range 20 {
				want += r.be.AtVec(m+1) * r.a.AtVec(j) * test[m].At(i, j)
			}
		}
		assert.InDelta(t, want, got, 1e-12)
	}
}

func TestReplaceSection(t *testing.T) {
	const text = "# Results\n\nwords\n\n## One\n\nold\n\n## Two\n\nkept\n"
	assert.Equal(t, "# Results\n\nwords\n\n## One\n\nnew\n\n## Two\n\nkept\n", replaceSection(text, "One", "new\n\n"))
	assert.Equal(t, "# Results\n\nwords\n\n## One\n\nold\n\n## Two\n\nnew\n", replaceSection(text, "Two", "new"))
	assert.Equal(t, text+"\n## Three\n\nnew\n", replaceSection(text, "Three", "new\n"))
}
