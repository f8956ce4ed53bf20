package archambeau2010

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/picture"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Toy is the toy regression of section 5 of the paper: Table 1 and Figure 2. The
// paper says that the functions are from the Hilbert spaces of ten Laplacian kernels,
// with Gaussian noise, and nothing of what the flags choose.
type Toy struct {
	Realisations int     `default:"100" help:"Data sets of each kind (${default})."`
	Samples      int     `default:"100" help:"Training samples (${default})."`
	Test         int     `default:"1000" help:"Test samples, on whose function without noise the error is measured (${default})."`
	Noise        float64 `default:"0.1" help:"Standard deviation of the noise, where the function's is 1 (${default})."`
	Width        float64 `default:"0.5" help:"Width of the Laplacian kernels exp(-|x-z|/width) on inputs between 0 and 1 (${default})."`
	Centres      int     `default:"10" help:"Centres of each function (${default})."`
	Seed         uint64  `default:"1" help:"Seed of the data (${default})."`
	Output       string  `short:"o" placeholder:"FILE" help:"Picture of the weights to write, .svg or .png."`
	Workers      int     `help:"Most data sets at a time; 0 means one for each processor."`
	JSON         bool    `name:"json" help:"Print JSON."`
}

// source cites the paper.
const source = "Archambeau and Bach (2010)"

const toyKernels = 10

// toyActive are the numbers of kernels that make the targets.
var toyActive = []int{1, 3, 10}

// toyMethod is a row of the table.
type toyMethod struct {
	Name  string    `json:"method"`
	Paper [3]string `json:"paper"` // by number of active kernels

	family mgp.Family
	norm   float64 // of MKL; 0 for a multiple Gaussian process
}

// The paper's norms can be read as norms of the functions, or of the kernels'
// weights. Norms 1, 4/3, 2 of the functions are norms 1, 2, ∞ of the weights;
// norm 4/3 of the weights is 8/7 of the functions.
var toyMethods = []toyMethod{
	{"Student-t", [3]string{".033 ± .027", ".067 ± .032", ".719 ± .221"}, mgp.FamilyStudentT, 0},
	{"Laplace", [3]string{".034 ± .028", ".076 ± .035", ".704 ± .204"}, mgp.FamilyLaplace, 0},
	{"gamma-variance", [3]string{".033 ± .027", ".067 ± .032", ".719 ± .223"}, mgp.FamilyGammaVariance, 0},
	{"general GIG", [3]string{}, mgp.FamilyGIG, 0},
	{"ARD", [3]string{".033 ± .027", ".066 ± .031", ".746 ± .223"}, mgp.FamilyFlat, 0},
	{"MKL l1", [3]string{".037 ± .032", ".066 ± .030", ".720 ± .203"}, 0, 1},
	{"MKL l2", [3]string{".830 ± .655", ".831 ± .399", ".762 ± .251"}, 0, 2},
	{"MKL l4/3", [3]string{".097 ± .062", ".233 ± .098", ".719 ± .238"}, 0, 4. / 3},
	{"MKL l4/3 of weights", [3]string{}, 0, 8. / 7},
}

// toyRun is what a method found on a data set.
type toyRun struct {
	RMSE    float64   `json:"rmse"`
	Weights []float64 `json:"weights"` // of the kernels, as shares of their sum

	// Of multiple Gaussian processes.
	Omega     float64 `json:"omega,omitempty"`
	Limit     bool    `json:"gp_limit,omitempty"`
	Collapsed bool    `json:"collapsed,omitempty"`
	Sweeps    int     `json:"sweeps,omitempty"`
	Converged bool    `json:"converged,omitempty"`
}

// toyColumn holds the runs of the data sets with one number of active kernels.
type toyColumn struct {
	Active int        `json:"active"`
	Runs   [][]toyRun `json:"runs"` // by method and data set
}

// Run runs the experiment.
func (c *Toy) Run(e *console.Env) error {
	if c.Realisations < 1 || c.Samples < 2*normFolds || c.Test < 2 || c.Centres < 1 || c.Workers < 0 {
		return console.Inputf("mgp-toy: -realisations and -centres are at least 1, -samples at least %d, -test at least 2, -workers is not negative", 2*normFolds)
	}
	if !(c.Noise > 0) || !(c.Width > 0) || math.IsInf(c.Noise, 0) || math.IsInf(c.Width, 0) {
		return console.Inputf("mgp-toy: -noise and -width are positive")
	}
	var format string
	if c.Output != "" {
		var err error
		if format, err = picture.Format(c.Output); err != nil {
			return console.Input(err)
		}
		if err := atomicfile.Check(c.Output); err != nil {
			return console.Input(err)
		}
	}
	columns := make([]toyColumn, len(toyActive))
	progress := console.NewProgress(e, c.JSON, len(toyActive)*c.Realisations*len(toyMethods), "fits")
	defer progress.Finish()
	for a, active := range toyActive {
		columns[a] = toyColumn{active, make([][]toyRun, len(toyMethods))}
		for m := range toyMethods {
			columns[a].Runs[m] = make([]toyRun, c.Realisations)
		}
	}
	err := console.Each(e.Ctx, c.Workers, len(toyActive)*c.Realisations, func(ctx context.Context, i int) error {
		a, r := i/c.Realisations, i%c.Realisations
		d := c.draw(toyActive[a], r)
		for m, method := range toyMethods {
			if err := ctx.Err(); err != nil {
				return err
			}
			run, err := method.run(ctx, d)
			if err != nil {
				return fmt.Errorf("%d active, data set %d: %s: %w", toyActive[a], r+1, method.Name, err)
			}
			columns[a].Runs[m][r] = run
			progress.Step()
		}
		return nil
	})
	if err != nil {
		return err
	}
	progress.Finish()
	if c.Output != "" {
		if err := atomicfile.Write(e.Ctx, c.Output, func(w io.Writer) error { return toyPicture(columns).Write(w, format) }); err != nil {
			return err
		}
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{
			"experiment": "mgp-toy", "source": source, "chosen": c.chosen(),
			"methods": toyMethods, "columns": columns,
		})
	}
	return c.print(e.Stdout, columns)
}

// toyData is a data set.
type toyData struct {
	kernels, cross []la.Matrix[float64] // N×N, and N×T between training and test samples
	y              []float64            // N targets
	function       []float64            // T, without noise
}

// draw makes a data set, which depends on the seed, the number of active kernels
// and its own number alone.
func (c *Toy) draw(active, realisation int) *toyData {
	src := rand.New(rand.NewPCG(c.Seed, uint64(active)<<32|uint64(realisation)))
	uniform := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = src.Float64()
		}
		return x
	}
	kernel := func(x, z []float64) la.Matrix[float64] {
		k := la.NewMatrix[float64](len(x), len(z))
		for i, v := range x {
			row := k.Row(i)
			for j, u := range z {
				row[j] = -math.Abs(v-u) / c.Width
			}
			la.Exp(row, row)
		}
		return k
	}
	d := &toyData{y: make([]float64, c.Samples), function: make([]float64, c.Test)}
	ws := &la.Workspace{Workers: 1}
	for p := range toyKernels {
		x, test := uniform(c.Samples), uniform(c.Test)
		d.kernels = append(d.kernels, kernel(x, x))
		d.cross = append(d.cross, kernel(x, test))
		if p >= active {
			continue
		}
		centres, a := uniform(c.Centres), make([]float64, c.Centres)
		for i := range a {
			a[i] = src.NormFloat64()
		}
		la.Gemv(ws, la.NoTrans, 1, kernel(x, centres), a, 1, d.y)
		la.Gemv(ws, la.NoTrans, 1, kernel(test, centres), a, 1, d.function)
	}
	mean, sd := measure.MeanSD(d.function)
	for _, f := range [][]float64{d.y, d.function} {
		for i := range f {
			f[i] = (f[i] - mean) / sd
		}
	}
	for i := range d.y {
		d.y[i] += float64(c.Noise * src.NormFloat64())
	}
	return d
}

// run fits the method to a data set and measures it.
func (m toyMethod) run(ctx context.Context, d *toyData) (toyRun, error) {
	var r toyRun
	var prediction []float64
	if m.norm > 0 {
		var err error
		if prediction, r.Weights, err = (normMKL{m.norm}).learn(d.kernels, d.cross, d.y); err != nil {
			return r, err
		}
	} else {
		y := slices.Clone(d.y)
		mean := centre(y)
		k, err := vi.NewDense(d.kernels...)
		if err != nil {
			return r, err
		}
		cross, err := vi.NewDense(d.cross...)
		if err != nil {
			return r, err
		}
		fit, err := mgp.Model{Family: m.family, Workers: 1, Ascent: vi.Ascent{Tolerance: 1e-5}}.Fit(ctx, k, y)
		if err != nil {
			return r, err
		}
		p, err := fit.Posterior.Predict(cross, la.Matrix[float64]{}, vi.PredictOptions{MeanOnly: true, Workers: 1})
		if err != nil {
			return r, err
		}
		for _, f := range p.Mean {
			prediction = append(prediction, mean+f)
		}
		r.Weights, _ = fit.Posterior.KernelWeights()
		r.Omega = fit.Posterior.State().Prior.Omega
		r.Limit, r.Collapsed = fit.GPLimit, fit.Collapsed
		r.Sweeps, r.Converged = len(fit.Record.Trace), fit.Record.Reason == vi.Converged
	}
	var square, sum float64
	for i, f := range prediction {
		square += float64((f - d.function[i]) * (f - d.function[i]))
	}
	r.RMSE = math.Sqrt(square / float64(len(prediction)))
	for _, w := range r.Weights {
		sum += w
	}
	for p := range r.Weights {
		r.Weights[p] /= sum
	}
	return r, nil
}

// chosen says in words what the paper leaves open and how it was chosen.
func (c *Toy) chosen() []string {
	return []string{
		fmt.Sprintf("each kernel has an input of its own, uniform between 0 and 1, and is exp(-|x-z|/%g)", c.Width),
		fmt.Sprintf("a function is a sum of %s at uniform places with standard normal coefficients", console.Plural(c.Centres, "kernel")),
		fmt.Sprintf("the sum of the active functions has mean 0 and deviation 1 over the test samples, the noise deviation %g", c.Noise),
		fmt.Sprintf("%d training and %d test samples; the error is measured from the function without noise", c.Samples, c.Test),
		"multiple Gaussian processes start from equal weights and a weak prior, learned once the bound has settled; the noise is learned",
		fmt.Sprintf("MKL is kernel ridge regression; the norm is the functions' norm, lambda is chosen from 10 … 1e-4 by %d-fold cross-validation", normFolds),
	}
}

func (c *Toy) print(out io.Writer, columns []toyColumn) error {
	fmt.Fprintf(out, "Toy regression, Table 1 of %s: root mean square error ± deviation over %s\n", source, console.Plural(c.Realisations, "data set"))
	fmt.Fprintln(out, "What the paper leaves open and was chosen here:")
	for _, s := range c.chosen() {
		fmt.Fprintln(out, "  "+s)
	}
	fmt.Fprintln(out)
	head := []string{"active kernels"}
	for _, col := range columns {
		head = append(head, fmt.Sprintf("%d of %d", col.Active, toyKernels), "paper")
	}
	rows := [][]string{head}
	for m, method := range toyMethods {
		row := []string{method.Name}
		for a, col := range columns {
			var all []float64
			for _, r := range col.Runs[m] {
				all = append(all, r.RMSE)
			}
			mean, sd := measure.MeanSD(all)
			row = append(row, short(mean)+" ± "+short(sd), method.Paper[a])
		}
		rows = append(rows, row)
	}
	if err := console.PrintTable(out, "lrrrrrr", rows); err != nil {
		return err
	}

	fmt.Fprintf(out, "\nThe processes' weights E[1/γ], in shares of their sum: the median of an active and of another kernel\n\n")
	rows = [][]string{{"", "active", "share", "others", "omega", "plain GPs", "empty", "sweeps", "not converged"}}
	for m, method := range toyMethods {
		if method.norm > 0 {
			continue
		}
		for a, col := range columns {
			row := make([]string, 9)
			if a == 0 {
				row[0] = method.Name
			}
			var active, other, omega, sweeps []float64
			limit, collapsed, stopped := 0, 0, 0
			for _, r := range col.Runs[m] {
				active, other = append(active, r.Weights[:col.Active]...), append(other, r.Weights[col.Active:]...)
				omega, sweeps = append(omega, r.Omega), append(sweeps, float64(r.Sweeps))
				limit, collapsed, stopped = limit+count(r.Limit), collapsed+count(r.Collapsed), stopped+count(!r.Converged)
			}
			row[1], row[2] = fmt.Sprint(col.Active), console.Figure(median(active))
			if len(other) > 0 {
				row[3] = console.Figure(median(other))
			}
			if method.family != mgp.FamilyFlat {
				row[4] = console.Figure(median(omega))
			}
			row[5], row[6], row[7], row[8] = fmt.Sprint(limit), fmt.Sprint(collapsed), fmt.Sprint(median(sweeps)), fmt.Sprint(stopped)
			rows = append(rows, row)
		}
	}
	if err := console.PrintTable(out, "lrrrrrrrr", rows); err != nil {
		return err
	}
	if c.Output != "" {
		fmt.Fprintf(out, "\npicture: %s\n", c.Output)
	}
	return nil
}

// toyPicture is Figure 2: the weights of the Student-t process.
func toyPicture(columns []toyColumn) picture.Boxes {
	b := picture.Boxes{XLabel: "kernel", YLabel: "share of the weights", Top: 1}
	for _, col := range columns {
		panel := picture.BoxPanel{Title: console.Plural(col.Active, "active kernel"), Values: make([][]float64, toyKernels), Marked: col.Active}
		for _, r := range col.Runs[0] {
			for p, w := range r.Weights {
				panel.Values[p] = append(panel.Values[p], w)
			}
		}
		b.Panels = append(b.Panels, panel)
	}
	return b
}

// short prints a number below 1 as the paper does: .033.
func short(x float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", x), "0") }

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// median returns the middle value, or the mean of the two in the middle.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
