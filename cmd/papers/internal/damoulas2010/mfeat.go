package damoulas2010

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/picture"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// Mfeat is Tables 1.4 to 1.6 and Figure 1.9 of the paper: handwritten numerals from four feature
// spaces, by single machines, their votes, and combined kernels.
type Mfeat struct {
	flags    `embed:""`
	pictured `embed:""`

	Sweeps int    `default:"100" help:"Most sweeps of a fit (${default}, the paper's)."`
	Scale  string `default:"all" enum:"all,train" help:"Over which samples columns have mean 0 and deviation 1: all samples, or the samples of each training set, in which rare pixels hardly vary."`
	Gibbs  int    `placeholder:"DRAWS" help:"Sample the single machines, as the paper does, by so many draws after as many sweeps; by default they are variational as well."`
	Single bool   `help:"Leave out the combined kernels: Table 1.4 alone, the single machines and their votes."`
	Trials int    `default:"50" help:"Random splits into 20 training and 20 test samples of each digit (${default}, the paper's)."`
}

var mfeatSpaces = []struct{ name, file, paper string }{
	{"FR, Fourier", "mfeat-fou.csv", "27.3 ± 3.3 (Gibbs)"},
	{"KL, Karhunen-Loève", "mfeat-kar.csv", "11.0 ± 2.3 (Gibbs)"},
	{"PX, pixels", "mfeat-pix.csv", "7.3 ± 2.0 (Gibbs)"},
	{"ZM, Zernike", "mfeat-zer.csv", "25.2 ± 3.0 (Gibbs)"},
}

// mfeatCase is one way to combine the kernels, with a name and the paper's figure.
type mfeatCase struct {
	name, paper string
	rule        probit.Rule
	update      probit.WeightUpdate
}

var mfeatVotes = []struct{ name, paper string }{
	{"Prod", "5.1 ± 1.7 (Gibbs)"}, {"Sum", "5.3 ± 2.0 (Gibbs)"}, {"Max", "8.4 ± 2.3 (Gibbs)"}, {"Maj", "8.45 ± 2.2 (Gibbs)"},
}

var mfeatCombinations = []mfeatCase{
	{"Bin", "5.53 ± 1.7", probit.RuleBin, probit.WeightUpdatePlugIn},
	{"FixSum", "4.85 ± 1.5", probit.RuleFixSum, probit.WeightUpdatePlugIn},
	{"WSum", "6.1 ± 1.6", probit.RuleWSum, probit.WeightUpdatePlugIn},
	{"FixProd", "5.35 ± 1.4", probit.RuleFixProd, probit.WeightUpdatePlugIn},
	{"WProd", "6.43 ± 1.8", probit.RuleWProd, probit.WeightUpdatePlugIn},
	{"Bin, mean field", "5.53 ± 1.7", probit.RuleBin, probit.WeightUpdateMeanField},
	{"Bin, structured", "5.53 ± 1.7", probit.RuleBin, probit.WeightUpdateStructured},
	{"WSum, mean field", "6.1 ± 1.6", probit.RuleWSum, probit.WeightUpdateMeanField},
	{"WProd, mean field", "6.43 ± 1.8", probit.RuleWProd, probit.WeightUpdateMeanField},
}

// combinations are the ways to combine the kernels that are tried.
func (c *Mfeat) combinations() []mfeatCase {
	if c.Single {
		return nil
	}
	return mfeatCombinations
}

// vote combines the probabilities of several classifiers for one sample.
func vote(rule string, all [][]float64, r *rand.Rand) int {
	score := make([]float64, len(all[0]))
	for _, p := range all {
		for c, v := range p {
			switch rule {
			case "Prod":
				score[c] += math.Log(v)
			case "Sum":
				score[c] += v
			case "Max":
				score[c] = max(score[c], v)
			}
		}
		if rule == "Maj" {
			score[best(p)]++
		}
	}
	if rule == "Maj" { // ties at random
		for c := range score {
			score[c] += 0.5 * r.Float64()
		}
	}
	return best(score)
}

// Run runs the experiment.
func (c *Mfeat) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Sweeps < 1 || c.Trials < 1 || c.Gibbs < 0 {
		return console.Inputf("-sweeps and -trials are at least 1, -gibbs is not negative")
	}
	format, err := c.format()
	if err != nil {
		return err
	}
	if format != "" && c.Single {
		return console.Inputf("-o draws the weights of combined kernels, which -single leaves out")
	}
	var spaces []la.Matrix[float64]
	var class []int
	for _, s := range mfeatSpaces {
		x, labels, err := readMfeat(e, filepath.Join(c.Data, s.file))
		if err != nil {
			return err
		}
		if class != nil && len(labels) != len(class) {
			return console.Inputf("%s: %d rows where the others have %d", s.file, len(labels), len(class))
		}
		if c.Scale == "all" {
			multiclass.ScaleColumns(x, la.Matrix[float64]{})
		}
		spaces, class = append(spaces, x), labels
	}
	n := len(mfeatSpaces) + len(mfeatVotes) + len(c.combinations())
	rates := make([][]float64, n)
	sweeps := make([][]float64, n)
	weights := make([][][]float64, n)
	var mu sync.Mutex
	p := console.NewProgress(e, c.JSON, c.Trials, "splits")
	err = console.Each(e.Ctx, c.Workers, c.Trials, func(ctx context.Context, trial int) error {
		rate, sweep, beta, err := c.split(ctx, spaces, class, trial)
		if err != nil {
			return fmt.Errorf("split %d: %w", trial+1, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for i, v := range rate {
			rates[i] = append(rates[i], v)
			sweeps[i] = append(sweeps[i], sweep[i])
			weights[i] = append(weights[i], beta[i])
		}
		p.Step()
		return nil
	})
	p.Finish()
	if err != nil {
		return err
	}
	if err := c.picture(e.Ctx, format, weights); err != nil {
		return err
	}
	return c.print(e, rates, sweeps, weights)
}

// picture draws Figure 1.9, the weights of the weighted sum and of the weighted product.
func (c *Mfeat) picture(ctx context.Context, format string, weights [][][]float64) error {
	var panels []picture.BoxPanel
	for i, m := range c.combinations() {
		if m.update == probit.WeightUpdatePlugIn && (m.rule == probit.RuleWSum || m.rule == probit.RuleWProd) {
			panels = append(panels, panel(m.name, []string{"FR", "KL", "PX", "ZM"}, weights[len(mfeatSpaces)+len(mfeatVotes)+i]))
		}
	}
	return c.draw(ctx, format, panels...)
}

func (c *Mfeat) print(e *console.Env, rates, sweeps [][]float64, weights [][][]float64) error {
	var all []figures
	rows := [][]string{{"machine", "error %", "stated", "sweeps", "weights FR KL PX ZM"}}
	add := func(name, paper string) {
		i := len(all)
		f := newFigures(name, rates[i], paper)
		f.Sweeps, _ = measure.MeanSD(sweeps[i])
		all = append(all, f)
		text := ""
		if len(weights[i]) > 0 && weights[i][0] != nil {
			for s := range mfeatSpaces {
				var x []float64
				for _, w := range weights[i] {
					x = append(x, w[s])
				}
				mean, _ := measure.MeanSD(x)
				text += fmt.Sprintf("%.2f ", mean)
			}
		}
		sweep := ""
		if f.Sweeps > 0 {
			sweep = fmt.Sprintf("%.0f", f.Sweeps)
		}
		rows = append(rows, []string{name, fmt.Sprintf("%.2f ± %.2f", f.Mean, f.SD), paper, sweep, text})
	}
	for _, s := range mfeatSpaces {
		add(s.name, s.paper)
	}
	for _, v := range mfeatVotes {
		add(v.name, v.paper)
	}
	for _, m := range c.combinations() {
		add(m.name, m.paper)
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{"experiment": "mfeat", "error": all})
	}
	fmt.Fprintf(e.Stdout, "Handwritten numerals (Tables 1.4 to 1.6), %d splits: error %% ± deviation\n\n", len(rates[0]))
	if err := console.PrintTable(e.Stdout, "lrrrl", rows); err != nil {
		return err
	}
	return c.name(e)
}

// split draws a split and returns the error rates of all machines on it, their
// sweeps, and their weights where they are learned.
func (c *Mfeat) split(ctx context.Context, spaces []la.Matrix[float64], class []int, trial int) (rate, sweeps []float64, weights [][]float64, err error) {
	const each = 20
	seed := c.Seed + uint64(trial)
	r := rand.New(rand.NewPCG(seed, 2))
	members := map[int][]int{}
	for i, v := range class {
		members[v] = append(members[v], i)
	}
	var train, test []int
	for digit := range len(members) {
		m := members[digit]
		r.Shuffle(len(m), func(i, j int) { m[i], m[j] = m[j], m[i] })
		train, test = append(train, m[:each]...), append(test, m[each:2*each]...)
	}
	labels, truth := multiclass.At(class, train), multiclass.At(class, test)
	var ks, crosses []la.Matrix[float64]
	var probabilities []la.Matrix[float64]
	add := func(p probit.Model, k, cross []la.Matrix[float64]) error {
		dense, err := vi.NewDense(k...)
		if err != nil {
			return err
		}
		later, err := vi.NewDense(cross...)
		if err != nil {
			return err
		}
		if c.Gibbs > 0 && len(k) == 1 {
			probability, err := c.sample(ctx, p, dense, later, labels)
			if err != nil {
				return err
			}
			probabilities = append(probabilities, probability)
			rate, sweeps, weights = append(rate, errorRate(probability, truth)), append(sweeps, float64(2*c.Gibbs)), append(weights, nil)
			return nil
		}
		fit, probability, err := c.fit(ctx, p, dense, later, labels)
		if err != nil {
			return err
		}
		probabilities = append(probabilities, probability)
		rate, sweeps = append(rate, errorRate(probability, truth)), append(sweeps, float64(len(fit.Record.Trace)))
		var beta []float64
		if p.Rule.Learned() {
			beta = fit.Posterior.State().Beta
		}
		weights = append(weights, beta)
		return nil
	}
	for _, x := range spaces {
		inside, outside := x.TakeRows(train), x.TakeRows(test)
		if c.Scale == "train" {
			multiclass.ScaleColumns(inside, outside)
		}
		k, cross := rbfKernels(inside, outside)
		ks, crosses = append(ks, k), append(crosses, cross)
		if err := add(c.machine(probit.RuleFixSum, c.Sweeps, seed), []la.Matrix[float64]{k}, []la.Matrix[float64]{cross}); err != nil {
			return nil, nil, nil, err
		}
	}
	for _, v := range mfeatVotes {
		wrong := 0
		for i, want := range truth {
			var all [][]float64
			for s := range spaces {
				all = append(all, probabilities[s].Row(i))
			}
			if vote(v.name, all, r) != want {
				wrong++
			}
		}
		rate, sweeps, weights = append(rate, 100*float64(wrong)/float64(len(truth))), append(sweeps, 0), append(weights, nil)
	}
	for _, m := range c.combinations() {
		p := c.machine(m.rule, c.Sweeps, seed)
		p.Update = m.update
		if err := add(p, ks, crosses); err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return rate, sweeps, weights, nil
}

// sample samples the machine p and returns the probabilities of the test samples.
func (c *Mfeat) sample(ctx context.Context, p probit.Model, train, test vi.Kernels, labels []int) (la.Matrix[float64], error) {
	draws, err := mcmc.Probit{
		Rule: p.Rule, Alpha: p.Alpha,
		Sampling: mcmc.Sampling{Chains: 1, Draws: c.Gibbs, BurnIn: c.Gibbs, Seed: p.Seed, Workers: 1},
	}.Sample(ctx, train, labels)
	if err != nil {
		return la.Matrix[float64]{}, err
	}
	q, err := draws.Predict(ctx, test, vi.PredictOptions{Workers: 1})
	if err != nil {
		return la.Matrix[float64]{}, err
	}
	return q.Probability, nil
}

// readMfeat reads a feature space, whose last column is the digit.
func readMfeat(e *console.Env, path string) (x la.Matrix[float64], class []int, err error) {
	fs := &console.Files{Env: e}
	defer fs.Close()
	f, err := fs.Open(path)
	if err != nil {
		return x, nil, err
	}
	columns := multiclass.Sequence(0, len(f.Columns()))
	for _, j := range columns {
		f.Need(j, table.Number)
	}
	n, err := fs.Read()
	if err != nil {
		return x, nil, err
	}
	const each = 40 // samples of a digit that a split takes
	count := make([]int, 10)
	for i, v := range f.Data.Numbers[len(columns)-1] {
		if v != math.Trunc(v) || v < 0 || v > 9 {
			return x, nil, console.Inputf("%s: row %d: %g is not a digit", path, i+1, v)
		}
		class = append(class, int(v))
		count[int(v)]++
	}
	for digit, m := range count {
		if m < each {
			return x, nil, console.Inputf("%s: %d rows of digit %d among %d where %d are needed", path, m, digit, n, each)
		}
	}
	return f.Matrix(columns[:len(columns)-1]), class, nil
}
