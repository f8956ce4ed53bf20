package gonen2012

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
	"github.com/bmkl/bmkl/internal/testkit"
)

// somePharmacy returns the files of a set: 20 drugs and 15 targets on a line each, which interact where they are
// close, and which are alike where they are near each other on their line.
func somePharmacy(set string) map[string]string {
	drug := func(i int) float64 { return float64(7*i%20) / 20 }
	target := func(j int) float64 { return float64(4*j%15) / 15 }
	named := func(rows, columns int, row, column string, value func(i, j int) float64) string {
		var b strings.Builder
		for j := range columns {
			fmt.Fprintf(&b, "\t%s%d", column, j)
		}
		for i := range rows {
			fmt.Fprintf(&b, "\n%s%d", row, i)
			for j := range columns {
				fmt.Fprintf(&b, "\t%g", value(i, j))
			}
		}
		return b.String() + "\n"
	}
	alike := func(at func(int) float64) func(i, j int) float64 {
		return func(i, j int) float64 { return math.Exp(-20 * (at(i) - at(j)) * (at(i) - at(j))) }
	}
	return map[string]string{
		set + "_admat_dgc.txt": named(15, 20, "hsa", "D", func(i, j int) float64 {
			if math.Abs(target(i)-drug(j)) < 0.15 {
				return 1
			}
			return 0
		}),
		set + "_simmat_dc.txt": named(20, 20, "D", "D", alike(drug)),
		set + "_simmat_dg.txt": named(15, 15, "hsa", "hsa", alike(target)),
	}
}

func TestReproduceDrugTargets(t *testing.T) {
	testkit.NotShort(t)
	consoletest.InFolder(t, somePharmacy("nr"))
	args := []string{"-data", ".", "-folds", "3", "-repeats", "2", "-components", "2", "-sweeps", "25"}
	for _, held := range []string{"drugs", "targets", "pairs"} {
		status, stdout, stderr := consoletest.Run(t, new(DrugTargets), nil, append(args, "-held-out", held, "-json")...)
		require.Equal(t, console.StatusOK, status, stderr)
		var got struct{ Sets []interactionResult }
		require.NoError(t, json.Unmarshal([]byte(stdout), &got))
		require.Len(t, got.Sets, 1)
		r := got.Sets[0]
		assert.Equal(t, "nuclear receptors", r.Set)
		assert.Equal(t, [3]int{20, 15, 6}, [3]int{r.Drugs, r.Targets, r.Folds})
		assert.Greater(t, r.Mean["AUC"], 0.75, held)
		share := float64(r.Interactions) / 300
		assert.Greater(t, r.Mean["AUPR"], 1.5*share, held)
		assert.Less(t, r.Mean["log loss"], -share*math.Log(share)-(1-share)*math.Log(1-share), held)
	}
	status, stdout, stderr := consoletest.Run(t, new(DrugTargets), nil, append(args, "-no-bias", "-sets", "nr")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "drugs held out, 3 folds, 2 times, 2 components")
	assert.Contains(t, stdout, "nuclear receptors")
}

func TestDrugTargetsMistakes(t *testing.T) {
	other := somePharmacy("gpcr")
	other["gpcr_simmat_dg.txt"] = strings.Replace(other["gpcr_simmat_dg.txt"], "hsa3", "hsa99", 1)
	odd := somePharmacy("ic")
	odd["ic_admat_dgc.txt"] = strings.Replace(odd["ic_admat_dgc.txt"], "\t1", "\t2", 1)
	none := somePharmacy("e")
	none["e_admat_dgc.txt"] = strings.ReplaceAll(none["e_admat_dgc.txt"], "\t1", "\t0")
	for _, tt := range []struct {
		name  string
		files map[string]string
		args  []string
		want  string
	}{
		{"no files", map[string]string{"notes.txt": ""}, nil, "nr_admat_dgc.txt"},
		{"a set whose files are not there", somePharmacy("nr"), []string{"-sets", "e"}, "e_admat_dgc.txt"},
		{"no set", somePharmacy("nr"), []string{"-sets", "kinases"}, "-sets"},
		{"other ids", other, nil, "gpcr_simmat_dg.txt: its ids"},
		{"neither known nor not", odd, nil, "neither 0 nor 1"},
		{"no interactions", none, nil, "enzymes: 0 of 300 pairs are known to interact"},
		{"folds of one pair each", somePharmacy("nr"), []string{"-held-out", "pairs", "-folds", "300", "-repeats", "1", "-sweeps", "1"}, "no fold has"},
		{"one fold", somePharmacy("nr"), []string{"-folds", "1"}, "-folds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, _, stderr := consoletest.Run(t, new(DrugTargets), tt.files, append([]string{"-data", "."}, tt.args...)...)
			assert.Equal(t, console.StatusInput, status)
			assert.Contains(t, stderr, tt.want)
		})
	}
}

// Every drug, target or pair is held out once, and folds differ by one at most.
func TestInteractionFolds(t *testing.T) {
	x := &interactions{}
	x.drugs.Rows, x.targets.Rows = 7, 3
	for held, n := range map[string]int{"drugs": 7, "targets": 3, "pairs": 21} {
		c := &DrugTargets{HeldOut: held, Folds: 2, Seed: 1}
		folds := c.deal(x, 0)
		all := slices.Concat(folds...)
		slices.Sort(all)
		assert.Equal(t, multiclass.Sequence(0, n), all, held)
		assert.InDelta(t, n/2, len(folds[0]), 1, held)
		assert.NotEqual(t, folds, (&DrugTargets{HeldOut: held, Folds: 2, Seed: 5}).deal(x, 0), held)
	}
}

// The figures of scores in a known order: positive, negative, positive, negative.
func TestInteractionFigures(t *testing.T) {
	got, err := interactionFigures([]bool{true, false, true, false}, []float64{4, 3, 2, 1})
	require.NoError(t, err)
	assert.InDelta(t, 3.0/4, got["AUC"], 1e-15)
	assert.InDelta(t, (1+2.0/3)/2, got["AUPR"], 1e-15)
}
