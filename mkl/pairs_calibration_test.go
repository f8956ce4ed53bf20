package mkl

import (
	"context"
	"flag"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
)

var pairSets = flag.Int("pairs.sets", 2, "sets that TestPairsAreCalibrated simulates")

// TestPairsAreCalibrated simulates tables and counts how many pairs that were not observed lie in
// their 90 % intervals, healed and not, and compares probabilities with frequencies. docs/lab/pairs.md
// has its counts for more sets.
func TestPairsAreCalibrated(t *testing.T) {
	testkit.NotShort(t)
	const n, m, more = 45, 40, 20
	places := []string{"pairs left out of the table", "new rows", "new columns", "new rows and columns", "new rows near the table", "new rows far from it"}
	var pairs [6]float64
	var inside, squares, brier [6][2]float64 // healed, and not
	var said, had, chances [5]float64        // by fifths of the probability, of pairs with a new row or column
	for seed := range uint64(*pairSets) {
		rows, columns, y, has := somePairs(seed+50, n+more, m+more)
		r, c, values, newRows, newColumns := firstPairs(rows, columns, y, n, m)
		_, _, labels, _, _ := firstPairs(rows, columns, has, n, m)
		seen, seenLabels := DenseTable{}, DenseTable{}
		for i := range n {
			seen, seenLabels = append(seen, append([]float64(nil), values[i]...)), append(seenLabels, append([]float64(nil), labels[i]...))
			for j := range m {
				if leftOut(i, j) {
					seen[i][j], seenLabels[i][j] = math.NaN(), math.NaN()
				}
			}
		}
		model, err := PairRegression{Components: 3}.Fit(context.Background(), r, c, seen)
		require.NoError(t, err)
		classifier, err := PairClassifier{Components: 3}.Fit(context.Background(), r, c, seenLabels)
		require.NoError(t, err)
		for k, s := range [][2]PairSide{{}, {newRows, {}}, {{}, newColumns}, {newRows, newColumns}} {
			for way, opt := range []PredictOptions{{}, {Unhealed: true}} {
				v, err := model.PredictPairs(context.Background(), opt, s[0], s[1])
				require.NoError(t, err)
				p, err := classifier.PredictPairs(context.Background(), opt, s[0], s[1])
				require.NoError(t, err)
				for i := range v.Mean {
					for j, mean := range v.Mean[i] {
						row, column := i, j
						if s[0].X != nil {
							row += n
						}
						if s[1].X != nil {
							column += m
						}
						want, label, probability := y[row][column], has[row][column], p.Probability[i][j]
						if math.IsNaN(want) || k == 0 && !leftOut(i, j) {
							continue
						}
						count := func(k int) {
							if way == 0 {
								pairs[k]++
							}
							if math.Abs(mean-want) < 1.6449*math.Sqrt(v.Variance[i][j]) {
								inside[k][way]++
							}
							squares[k][way] += (mean - want) * (mean - want)
							brier[k][way] += (probability - label) * (probability - label)
						}
						count(k)
						if k == 1 {
							count(4 + farFrom(rows[0].X, row, n))
						}
						if k > 0 && way == 0 {
							b := min(4, int(5*probability))
							said[b], had[b], chances[b] = said[b]+probability, had[b]+label, chances[b]+1
						}
					}
				}
			}
		}
	}
	for k, place := range places {
		for way, how := range []string{"healed", "not healed"} {
			share, score := inside[k][way]/pairs[k], brier[k][way]/pairs[k]
			t.Logf("%s, %s: %.1f %% of %g in their 90 %% intervals, RMSE %.3f, Brier score %.4f", place, how, 100*share, pairs[k], math.Sqrt(squares[k][way]/pairs[k]), score)
		}
		if k < 4 {
			assert.InDelta(t, 0.88, inside[k][0]/pairs[k], 0.09, place)
			assert.Less(t, brier[k][0]/pairs[k], 0.15, place) // predicting the base rate scores 0.24
		}
	}
	for b := range said {
		t.Logf("probabilities of %.1f to %.1f: %.3f, and %.3f of %g had the label", 0.2*float64(b), 0.2*float64(b+1), said[b]/chances[b], had[b]/chances[b], chances[b])
		assert.InDelta(t, said[b]/chances[b], had[b]/chances[b], 0.15)
	}
}

// leftOut reports whether a pair of the table is kept from the fit: one in ten.
func leftOut(i, j int) bool { return (7*i+3*j)%10 == 0 }

// farFrom returns 0 if one of the first n rows of x is within 0.35 of the given one, else 1.
func farFrom(x Features, row, n int) int {
	for i := range n {
		var square float64
		for c, v := range x.Row(row) {
			square += (v - x.At(i, c)) * (v - x.At(i, c))
		}
		if square < 0.35*0.35 {
			return 0
		}
	}
	return 1
}
