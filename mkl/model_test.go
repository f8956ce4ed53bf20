package mkl

import (
	"bytes"
	"context"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	_ TargetModel        = (*RegressionModel)(nil)
	_ TargetModel        = (*SharedRegressionModel)(nil)
	_ TargetModel        = (*TaskRegressionModel)(nil)
	_ TargetModel        = (*MultiGPModel)(nil)
	_ TargetModel        = (*MultiTaskModel)(nil)
	_ TargetModel        = (*SpikeSlabModel)(nil)
	_ ClassModel[string] = (*ClassifierModel[string])(nil)
	_ ClassModel[string] = (*MultiGPClassifierModel[string])(nil)
	_ ClassModel[string] = (*LandmarkClassifierModel[string])(nil)
	_ ClassModel[string] = (*ProbitClassifierModel[string])(nil)
	_ LabelModel         = (*MultiLabelModel)(nil)
	_ LabelModel         = (*TaskClassifierModel)(nil)
	_ Model              = (*FactorAnalysisModel)(nil)
	_ Model              = (*PairRegressionModel)(nil)
	_ Model              = (*PairClassifierModel)(nil)
	_ TargetModel        = (*AutoTargetsModel)(nil)
	_ Model              = (*SurvivalModel)(nil)
	_ Model              = (*CountModel)(nil)
	_ ClassModel[string] = (*OrdinalModel[string])(nil)
)

// oneOfEach fits a small model of each kind.
func oneOfEach(t *testing.T, f fitting) []Model {
	t.Helper()
	ctx := context.Background()
	views, y, a, b := twoInputs(4, 24)
	views = []View{views[0], views[2], views[3]}
	second := slices.Clone(y)
	var classes []string
	labels := make([][]bool, 2)
	for i, k := range parts(y, 3) {
		second[i] = a.At(i, 1) + float64(k)
		classes = append(classes, []string{"low", "middle", "high"}[k])
		labels[0], labels[1] = append(labels[0], k > 0), append(labels[1], k > 1)
	}
	table := make(DenseTable, b.Rows)
	for i := range table {
		table[i] = b.Row(i)
	}
	var all []Model
	keep := func(m Model, err error) {
		t.Helper()
		require.NoError(t, err)
		all = append(all, m)
	}
	keep(orNil(Regression{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates}.Fit(ctx, views, y, second)))
	keep(orNil(SharedRegression{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates}.Fit(ctx, views, y, second)))
	third := slices.Clone(second)
	third[5], third[7] = math.NaN(), math.NaN()
	keep(orNil(TaskRegression{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, MissingTargets: true}.Fit(ctx, views, y, third)))
	keep(orNil(Classifier[string]{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates}.Fit(ctx, views, classes)))
	keep(orNil(MultiLabel{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates}.Fit(ctx, views, allLabels(labels)...)))
	keep(orNil(TaskClassifier{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates}.Fit(ctx, views, known(labels, 5)...)))
	keep(orNil(MultiGP{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, views, y)))
	keep(orNil(MultiGPClassifier[string]{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, views, classes)))
	keep(orNil(ProbitClassifier[string]{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates}.Fit(ctx, views, classes)))
	keep(orNil(MultiTask{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(ctx, views, y, second)))
	keep(orNil(SpikeSlab{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(ctx, b, y)))
	keep(orNil(FactorAnalysis{Fitting: f.Fitting, Ascent: f.Ascent, Factors: 2}.Fit(ctx, table)))
	keep(orNil(Auto{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, []View{{X: a, Input: "x1"}, {X: b, Input: "x2"}}, y)))
	keep(orNil(AutoTargets{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, []View{{X: a, Input: "x1"}, {X: b, Input: "x2"}}, y, second)))
	keep(orNil(AutoClassifier[string]{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, []View{{X: a, Input: "x1"}, {X: b, Input: "x2"}}, classes)))
	keep(orNil(LandmarkGP{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, []View{{X: a, Input: "x1"}, {X: b, Input: "x2"}}, y)))
	keep(orNil(LandmarkClassifier[string]{Fitting: f.Fitting, MinRise: f.Tolerance, MaxPasses: f.MaxSweeps}.Fit(ctx, []View{{X: a, Input: "x1"}, {X: b, Input: "x2"}}, classes)))
	rows, columns, values, has := somePairs(3, 10, 8)
	keep(orNil(PairRegression{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, Components: 2}.Fit(ctx, rows, columns, values)))
	keep(orNil(PairClassifier{Fitting: f.Fitting, Ascent: f.Ascent, AllowDuplicates: f.allowDuplicates, Components: 2}.Fit(ctx, rows, columns, has)))
	keep(orNil(Survival{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, views, someLifetimes(y))))
	keep(orNil(Counts{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, views, someCounts(y))))
	keep(orNil(Ordinal[string]{Fitting: f.Fitting, Climb: f.climb(), Grades: []string{"low", "middle", "high"}}.Fit(ctx, views, someGrades(y))))
	return all
}

// known converts labels to Labels; the first unknown labels of the first list become LabelUnknown.
func known(labels [][]bool, unknown int) (out [][]Label) {
	for o, label := range labels {
		out = append(out, make([]Label, len(label)))
		for i, has := range label {
			switch {
			case o == 0 && i < unknown:
			case has:
				out[o][i] = LabelPresent
			default:
				out[o][i] = LabelAbsent
			}
		}
	}
	return out
}

// Every kind answers the same questions, and a file of each is read as what it is.
func TestModels(t *testing.T) {
	want := []struct {
		kind             string
		samples, outputs int
		noise, active    bool // of the outputs
	}{
		{"regression", 24, 2, true, true},
		{"shared-regression", 24, 2, true, true},
		{"task-regression", 24, 2, true, true},
		{"classifier", 24, 3, false, true},
		{"multilabel", 24, 2, false, true},
		{"task-classifier", 24, 2, false, true},
		{"multigp", 24, 1, true, false},
		{"multigp-classifier", 24, 3, false, false},
		{"probit-classifier", 24, 3, false, true},
		{"multi-task", 24, 2, true, false},
		{"spike-slab", 0, 1, true, false},
		{"factors", 24, 3, true, false},
		{"pool", 24, 1, true, false},
		{"pools", 24, 2, true, false},
		{"pool-classifier", 24, 3, false, false},
		{"landmarks", 24, 1, true, false},
		{"landmark-classifier", 24, 3, false, false},
		{"pair-regression", 18, 1, true, false},
		{"pair-classifier", 18, 1, false, false},
		{"survival", 24, 1, false, false},
		{"counts", 24, 1, false, false},
		{"ordinal", 24, 1, false, false},
	}
	models := oneOfEach(t, fitting{Fitting: Fitting{Notes: map[string]string{"by": "a test"}}, Ascent: Ascent{MaxSweeps: 8}})
	require.Len(t, models, len(want))
	require.Len(t, kinds(), len(want), "the kinds that files hold")
	for i, m := range models {
		w := want[i]
		assert.Equal(t, w.kind, m.Kind())
		assert.Equal(t, w.samples, m.Samples(), w.kind)
		assert.Len(t, m.Outputs(), w.outputs, w.kind)
		weights := m.KernelWeights()
		for o, out := range m.Outputs() {
			assert.Equal(t, w.noise, out.NoiseSD > 0, w.kind)
			assert.Equal(t, w.active, out.Active != nil, w.kind)
			if out.Weights != nil {
				assert.Len(t, out.Weights, len(weights), w.kind)
			}
			if out.Inclusion != nil {
				assert.Len(t, out.Inclusion, len(weights), w.kind)
			}
			if m, ok := m.(TargetModel); ok {
				assert.Equal(t, w.outputs, m.Targets(), w.kind)
				assert.Equal(t, m.NoiseSD()[o], out.NoiseSD, w.kind)
			}
		}
		var file, again bytes.Buffer
		require.NoError(t, m.Save(&file))
		loaded, err := Load(bytes.NewReader(file.Bytes()))
		require.NoError(t, err, w.kind)
		assert.IsType(t, m, loaded)
		assert.Equal(t, m.Outputs(), loaded.Outputs(), w.kind)
		assert.Equal(t, m.Samples(), loaded.Samples(), w.kind)
		require.NoError(t, loaded.Save(&again))
		assert.Equal(t, file.Bytes(), again.Bytes(), w.kind)
		for j, load := range []func(io.Reader) (Model, error){
			asModel[*RegressionModel], asModel[*SharedRegressionModel], asModel[*TaskRegressionModel], asModel[*ClassifierModel[string]], asModel[*MultiLabelModel], asModel[*TaskClassifierModel],
			asModel[*MultiGPModel], asModel[*MultiGPClassifierModel[string]], asModel[*ProbitClassifierModel[string]],
			asModel[*MultiTaskModel], asModel[*SpikeSlabModel], asModel[*FactorAnalysisModel],
		} {
			loaded, err := load(bytes.NewReader(file.Bytes()))
			if i != j {
				assert.ErrorContains(t, err, "the file holds", "%s as %s", w.kind, want[j].kind)
				continue
			}
			require.NoError(t, err, w.kind)
			assert.Equal(t, m.Summary(), loaded.Summary())
		}
	}
}

// asModel is LoadAs with a result of one type.
func asModel[M interface {
	*T
	Model
}, T any](r io.Reader) (Model, error) {
	m, err := LoadAs[M](r)
	return m, err
}

// A limit below the estimate refuses a fit of any kind, and one at the estimate does
// not.
func TestMemoryLimits(t *testing.T) {
	size := FitSize{Samples: 10, Kernels: 2, Outputs: 2}
	for name, need := range map[string]func(FitSize) int64{
		"regression": Regression{}.EstimateMemory, "shared": SharedRegression{}.EstimateMemory, "tasks": TaskRegression{}.EstimateMemory,
		"classifier": Classifier[int]{}.EstimateMemory, "multilabel": MultiLabel{}.EstimateMemory, "task classifier": TaskClassifier{}.EstimateMemory,
		"multigp": MultiGP{}.EstimateMemory, "multigp classifier": MultiGPClassifier[int]{}.EstimateMemory,
		"probit": ProbitClassifier[int]{}.EstimateMemory, "multi-task": MultiTask{}.EstimateMemory,
		"spike and slab": SpikeSlab{}.EstimateMemory,
	} {
		assert.Positive(t, need(size), name)
		larger := size
		larger.Samples *= 1000
		assert.Greater(t, need(larger), 10*need(size), name)
		assert.Positive(t, need(FitSize{Samples: math.MaxInt32, Basis: math.MaxInt32, Kernels: 40, Outputs: 9}), name)
	}
	x, y := slabProblem(10, 3)
	table := DenseTable{{1, 2, 3}, {2, 4, 7}, {3, 1, 5}}
	for _, limit := range []int64{100, 1 << 30} {
		f := fitting{Fitting: Fitting{MemoryLimit: limit}, Ascent: Ascent{MaxSweeps: 2}}
		_, slabErr := SpikeSlab{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(context.Background(), x, y)
		_, factorErr := FactorAnalysis{Fitting: f.Fitting, Ascent: f.Ascent, Factors: 1}.Fit(context.Background(), table)
		for _, err := range []error{slabErr, factorErr} {
			if limit > 100 {
				assert.NoError(t, err)
				continue
			}
			var refused *MemoryError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, limit, refused.Limit)
		}
	}
}

// Restarts counts further starts: with two of them, three are made, and the best
// is kept.
func TestRestarts(t *testing.T) {
	views, y, _, _ := twoInputs(4, 20)
	var best float64
	for seed := range uint64(3) {
		m, err := Regression{Fitting: Fitting{Seed: 7 + seed}, Ascent: Ascent{MaxSweeps: 6}}.Fit(context.Background(), views, y)
		require.NoError(t, err)
		if seed == 0 || m.Bound() > best {
			best = m.Bound()
		}
	}
	starts := map[int]int{}
	m, err := Regression{Fitting: Fitting{Seed: 7, Progress: func(p Progress) {
		starts[p.Start]++
		assert.Equal(t, 3, p.Starts)
	}}, Ascent: Ascent{Restarts: 2, MaxSweeps: 6}}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	assert.Equal(t, map[int]int{1: 6, 2: 6, 3: 6}, starts)
	assert.Equal(t, best, m.Bound())
}
