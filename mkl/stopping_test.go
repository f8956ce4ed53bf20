package mkl

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/vi"
)

var (
	stopTable  = flag.Bool("stoptable", false, "print the table of docs/lab/stopping.md (minutes)")
	stopData   = flag.String("data", "", "folder of the tables NAME.csv: a line of names, numbers, the target or class in the last column")
	stopSets   = flag.String("stopsets", "mcycle,diabetes,boston,energy,kin8nm,wine,glass,sonar,liver,ionosphere", "the tables, separated by commas")
	stopModels = flag.String("stopmodels", "", "rows of the table, separated by semicolons; empty means all")
)

// stopSet is a table of the data: every third row is for testing.
type stopSet struct {
	train, test Features
	y           []float64 // of the rows for training
	labels      []string
}

// readStopSet reads a table with at most most rows for training.
func readStopSet(t *testing.T, name string, most int) (s stopSet) {
	f, err := os.Open(filepath.Join(*stopData, name+".csv"))
	require.NoError(t, err)
	defer f.Close()
	var rows [2][][]float64
	lines := bufio.NewScanner(f)
	lines.Scan()
	for i := 0; lines.Scan() && len(s.y) < most; i++ {
		cells := strings.Split(lines.Text(), ",")
		last := len(cells) - 1
		row := make([]float64, last)
		for j := range row {
			row[j], err = strconv.ParseFloat(cells[j], 64)
			require.NoError(t, err)
		}
		if i%3 == 2 {
			rows[1] = append(rows[1], row)
			continue
		}
		rows[0] = append(rows[0], row)
		y, _ := strconv.ParseFloat(cells[last], 64)
		s.y, s.labels = append(s.y, y), append(s.labels, cells[last])
	}
	require.NoError(t, lines.Err())
	s.train, err = FromRows(rows[0])
	require.NoError(t, err)
	s.test, err = FromRows(rows[1])
	require.NoError(t, err)
	return s
}

// stopModel is a row of the table: fits, and predicts the rows for testing.
type stopModel struct {
	name    string
	classes bool
	fit     func(ctx context.Context, f fitting, views []View, s stopSet) (Trace, *vi.Predictions, error)
}

// ofTargets returns the predictions of a model of targets for the test rows.
func ofTargets(m interface {
	Trace() Trace
	Predict(...Features) ([]float64, []float64, error)
}, s stopSet, err error) (Trace, *vi.Predictions, error) {
	if err != nil {
		return Trace{}, nil, err
	}
	p := &vi.Predictions{}
	var variance []float64
	p.Mean, variance, err = m.Predict(s.test)
	for _, v := range variance {
		p.SD = append(p.SD, math.Sqrt(v))
	}
	return m.Trace(), p, err
}

// ofClasses returns the predictions of a classifier for the test rows.
func ofClasses(m interface {
	Trace() Trace
	Predict(...Features) ([]string, [][]float64, error)
}, s stopSet, err error) (Trace, *vi.Predictions, error) {
	if err != nil {
		return Trace{}, nil, err
	}
	_, probability, err := m.Predict(s.test)
	p := &vi.Predictions{Probabilities: true}
	for _, row := range probability {
		p.Mean = append(p.Mean, row...)
	}
	p.SD = slices.Repeat([]float64{1}, len(p.Mean))
	return m.Trace(), p, err
}

var stopRows = []stopModel{
	{"Regression", false, func(ctx context.Context, f fitting, v []View, s stopSet) (Trace, *vi.Predictions, error) {
		m, err := Regression{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(ctx, v, s.y)
		return ofTargets(m, s, err)
	}},
	{"MultiGP, factorised", false, func(ctx context.Context, f fitting, v []View, s stopSet) (Trace, *vi.Predictions, error) {
		m, err := FactorisedGP{Fitting: f.Fitting, Tolerance: f.Tolerance, MaxSweeps: f.MaxSweeps}.Fit(ctx, v, s.y)
		return ofTargets(m, s, err)
	}},
	{"SpikeSlab", false, func(ctx context.Context, f fitting, _ []View, s stopSet) (Trace, *vi.Predictions, error) {
		m, err := SpikeSlab{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(ctx, s.train, s.y)
		return ofTargets(m, s, err)
	}},
	{"Classifier", true, func(ctx context.Context, f fitting, v []View, s stopSet) (Trace, *vi.Predictions, error) {
		m, err := Classifier[string]{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(ctx, v, s.labels)
		return ofClasses(m, s, err)
	}},
	{"MultiGPClassifier, factorised", true, func(ctx context.Context, f fitting, v []View, s stopSet) (Trace, *vi.Predictions, error) {
		m, err := FactorisedGPClassifier[string]{Fitting: f.Fitting, Tolerance: f.Tolerance, MaxSweeps: f.MaxSweeps}.Fit(ctx, v, s.labels)
		return ofClasses(m, s, err)
	}},
	{"ProbitClassifier, FixSum", true, func(ctx context.Context, f fitting, v []View, s stopSet) (Trace, *vi.Predictions, error) {
		m, err := ProbitClassifier[string]{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(ctx, v, s.labels)
		return ofClasses(m, s, err)
	}},
	{"ProbitClassifier, WSum", true, func(ctx context.Context, f fitting, v []View, s stopSet) (Trace, *vi.Predictions, error) {
		m, err := ProbitClassifier[string]{Fitting: f.Fitting, Ascent: f.Ascent, Rule: WeightedSum{}}.Fit(ctx, v, s.labels)
		return ofClasses(m, s, err)
	}},
}

// TestStopTable prints after how many sweeps fits stop, and how far their predictions of
// new rows are from the predictions of converged fits.
func TestStopTable(t *testing.T) {
	if !*stopTable {
		t.Skip("a table of long fits, asked for with -stoptable -data DIR")
	}
	const most, converged = 300, 1500
	fmt.Println("| data | model | within 1 % after | default stops after | distance then | with Tolerance 1e-5 | distance then |")
	fmt.Println("| --- | --- | --: | --: | --: | --: | --: |")
	for _, name := range strings.Split(*stopSets, ",") {
		s := readStopSet(t, name, most)
		classes := strings.HasPrefix(s.labels[0], "c")
		views, _, err := defaultViews(KernelsBroad, View{X: s.train})
		require.NoError(t, err)
		for _, row := range stopRows {
			if row.classes != classes || *stopModels != "" && !slices.Contains(strings.Split(*stopModels, "; "), row.name) {
				continue
			}
			var whole *vi.Predictions
			fit := func(tolerance float64, sweeps int) (int, float64) {
				trace, p, err := row.fit(t.Context(), fitting{Ascent: Ascent{Tolerance: tolerance, MaxSweeps: sweeps}}, views, s)
				require.NoError(t, err, "%s, %s", name, row.name)
				if whole == nil {
					whole = p
				}
				return trace.Sweeps, p.Distance(whole)
			}
			fit(-1, converged)
			near := 1
			for _, d := fit(-1, near); d > 0.01; _, d = fit(-1, near) {
				near += max(1, near/10)
			}
			now, d := fit(0, 0)
			before, e := fit(1e-5, 0)
			fmt.Printf("| %s | %s | %d | %d | %.4f | %d | %.4f |\n", name, row.name, near, now, d, before, e)
		}
	}
}
