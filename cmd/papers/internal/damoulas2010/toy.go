package damoulas2010

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/picture"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// Toy is section 1.4.1 of the paper: Gibbs sampling and the variational approximation
// on two artificial sets, features in place of kernels. The paper gives neither the
// regressors, nor the points, nor the prior; those here are of our own, after its
// description.
type Toy struct {
	Points   int     `default:"100" help:"Points of the first set (${default}); the second has 400, as in the paper."`
	Draws    int     `default:"100000" help:"Gibbs draws of all chains together (${default}), as in the paper."`
	Chains   int     `default:"4" help:"Gibbs chains (${default})."`
	Sweeps   int     `default:"100" help:"Sweeps of the variational fit in the paper (${default}); a second fit goes on until the bound rises no more."`
	Limit    int     `default:"2000" help:"Most sweeps of the second variational fit (${default})."`
	Alpha    float64 `default:"1" help:"τ = ν of the prior of the precisions (${default})."`
	Seed     uint64  `default:"1" help:"Seed of points, starts and chains (${default})."`
	Pictures string  `placeholder:"DIR" help:"Write the pictures of the posteriors and of the decision boundaries to this folder."`
	Workers  int     `help:"Most goroutines at work; 0 means one for each processor."`
	JSON     bool    `name:"json" help:"Print JSON."`
}

// toyRegressors are the known regressors of the first set: of x1, x2 and 1.
var toyRegressors = [][]float64{{2, 0, 0}, {-1, 1.7, 0.3}, {-1, -1.7, -0.3}}

// boundary is the line between the first two classes, x2 = Slope·x1 + Intercept.
type boundary struct {
	Slope     float64 `json:"slope"`
	Intercept float64 `json:"intercept"`
}

func boundaryOf(w, v []float64) boundary {
	a, b, c := w[0]-v[0], w[1]-v[1], w[2]-v[2]
	return boundary{-a / b, -c / b}
}

// boundaryPosterior is what is known of the boundary.
type boundaryPosterior struct {
	Method     string        `json:"method"`
	Draws      int           `json:"draws"`
	Mean       boundary      `json:"mean"`
	MCSE       *boundary     `json:"mcse,omitempty"` // of the mean, of Gibbs draws
	Covariance [2][2]float64 `json:"covariance"`
	Middle     boundary      `json:"quartile_distance"` // of each marginal, which far draws do not move
	ESS        float64       `json:"least_bulk_ess,omitempty"`
	RHat       float64       `json:"largest_rhat,omitempty"`

	at []boundary
}

// toyOutcome is how a method did on the second set.
type toyOutcome struct {
	Method  string  `json:"method"`
	Sweeps  int     `json:"sweeps"`
	Error   float64 `json:"error_percent"`
	Seconds float64 `json:"seconds"` // training and test, wall clock
	Test    float64 `json:"test_seconds"`
}

type toyResult struct {
	Experiment string              `json:"experiment"`
	True       boundary            `json:"true_boundary"`
	Boundary   []boundaryPosterior `json:"boundary"`
	Outcomes   []toyOutcome        `json:"second_set"`
	Pictures   []string            `json:"pictures,omitempty"`
}

const (
	toyTrain = 400
	toyTest  = 2000
)

// Run runs the experiment.
func (c *Toy) Run(e *console.Env) error {
	if c.Points < 10 || c.Chains < 1 || c.Draws < 8*c.Chains || c.Sweeps < 1 || c.Limit < 1 || !(c.Alpha > 0) || math.IsInf(c.Alpha, 1) || c.Workers < 0 {
		return console.Inputf("probit-toy: -points is at least 10, -draws at least 8 for each of -chains, -sweeps and -limit at least 1, -alpha is positive, -workers is not negative")
	}
	p := console.NewProgress(e, c.JSON, 2*c.Chains*(c.Draws/c.Chains+c.burnIn()), "sweeps")
	defer p.Finish()
	out := &toyResult{Experiment: "probit-toy", True: boundaryOf(toyRegressors[0], toyRegressors[1])}
	if err := c.separable(e, p, out); err != nil {
		return err
	}
	if err := c.ellipse(e, p, out); err != nil {
		return err
	}
	p.Finish()
	if c.JSON {
		return console.PrintJSON(e.Stdout, out)
	}
	return c.print(e.Stdout, out)
}

func (c *Toy) prior() vi.Gamma { return vi.Gamma{Shape: c.Alpha, Scale: 1 / c.Alpha} }

// burnIn is a fifth of the draws.
func (c *Toy) burnIn() int { return c.Draws / c.Chains / 5 }

func (c *Toy) gibbs(p *console.Progress) mcmc.Probit {
	n := c.Draws / c.Chains
	return mcmc.Probit{Alpha: c.prior(), Sampling: mcmc.Sampling{
		Chains: c.Chains, Draws: n, BurnIn: c.burnIn(), Seed: c.Seed, Workers: c.Workers,
		Progress: func(mcmc.Progress) { p.Step() },
	}}
}

func (c *Toy) variational(longer bool) probit.Model {
	v := probit.Model{Alpha: c.prior(), Plain: true, Seed: c.Seed, Workers: c.Workers, Ascent: vi.Ascent{Tolerance: -1, MaxSweeps: c.Sweeps}}
	if longer {
		v.Ascent = vi.Ascent{Tolerance: 1e-7, MaxSweeps: c.Limit}
	}
	return v
}

// pointFeatures is the matrix whose columns are the features of points.
func pointFeatures(x []point, f func(p point) []float64) *vi.Dense {
	m := la.NewMatrix[float64](len(f(x[0])), len(x))
	for n, p := range x {
		for d, v := range f(p) {
			m.Set(d, n, v)
		}
	}
	k, err := vi.NewDense(m)
	if err != nil {
		panic(err) // finite points have finite features
	}
	return k
}

// point is one of the plane.
type point = [2]float64

// square draws points from the square (−1, 1)².
func square(r *rand.Rand, n int) []point {
	x := make([]point, n)
	for i := range x {
		x[i] = point{2*r.Float64() - 1, 2*r.Float64() - 1}
	}
	return x
}

func linear(p point) []float64 { return []float64{p[0], p[1], 1} }

func quadratic(p point) []float64 {
	return []float64{1, p[0], p[1], p[0] * p[0], p[0] * p[1], p[1] * p[1]}
}

// separable is the first set: points that known regressors tell apart without
// error, and the posterior of the line between two of the classes.
func (c *Toy) separable(e *console.Env, p *console.Progress, out *toyResult) error {
	x := square(rand.New(rand.NewPCG(c.Seed, 1)), c.Points)
	labels := make([]int, len(x))
	for n, q := range x {
		f := linear(q)
		labels[n] = best([]float64{la.Dot(toyRegressors[0], f), la.Dot(toyRegressors[1], f), la.Dot(toyRegressors[2], f)})
	}
	k := pointFeatures(x, linear)
	draws, err := c.gibbs(p).Sample(e.Ctx, k, labels)
	if err != nil {
		return err
	}
	gibbs := boundaryPosterior{Method: "Gibbs"}
	var slopes, intercepts [][]float64
	for chain := range draws.Chains() {
		var s, i []float64
		for t := range draws.Len() {
			w := draws.Value("W", chain, t)
			b := boundaryOf(w.Row(0), w.Row(1))
			gibbs.at = append(gibbs.at, b)
			s, i = append(s, b.Slope), append(i, b.Intercept)
		}
		slopes, intercepts = append(slopes, s), append(intercepts, i)
	}
	s, i := mcmc.Summarise(slopes), mcmc.Summarise(intercepts)
	gibbs.MCSE = &boundary{s.MCSE, i.MCSE}
	gibbs.ESS, gibbs.RHat = min(s.BulkESS, i.BulkESS), max(s.RHat, i.RHat)

	fit, err := c.variational(true).Fit(e.Ctx, k, labels)
	if err != nil {
		return err
	}
	at, err := drawBoundaries(fit.Posterior.State(), len(gibbs.at), c.Seed)
	if err != nil {
		return err
	}
	out.Boundary = []boundaryPosterior{gibbs, {Method: "VB", at: at}}
	for i := range out.Boundary {
		out.Boundary[i].measure()
		if c.Pictures == "" {
			continue
		}
		b := &out.Boundary[i]
		if err := c.drawPosterior(e, out, b); err != nil {
			return err
		}
	}
	if c.Pictures != "" {
		return c.write(e, out, "toy1-points.png", picture.Plane{
			Title: "First set: points and their classes", XLabel: "x1", YLabel: "x2",
			X: coordinate(x, 0), Y: coordinate(x, 1), Class: labels, Names: []string{"class 1", "class 2", "class 3"},
			Cells: cells(func(q point) int {
				f := linear(q)
				return best([]float64{la.Dot(toyRegressors[0], f), la.Dot(toyRegressors[1], f), la.Dot(toyRegressors[2], f)})
			}), Min: point{-1, -1}, Max: point{1, 1},
		})
	}
	return nil
}

// drawBoundaries draws regressors from the approximate posterior, N(w_c, (E[KKᵀ] +
// diag E[α_c])⁻¹) for each class, and returns the boundaries.
func drawBoundaries(s probit.State, n int, seed uint64) ([]boundary, error) {
	r := rand.New(rand.NewPCG(seed, 2))
	D := s.W.Cols
	factors := make([]la.Matrix[float64], 2)
	for c := range factors {
		factors[c] = s.Gram.Clone()
		for d, a := range s.Alpha.Row(c) {
			factors[c].Row(d)[d] += a
		}
		if err := la.Cholesky(nil, factors[c]); err != nil {
			return nil, err
		}
	}
	out := make([]boundary, n)
	w := [2][]float64{make([]float64, D), make([]float64, D)}
	for t := range out {
		for c := range w {
			for d := range w[c] {
				w[c][d] = r.NormFloat64()
			}
			la.Trsv(la.Transpose, factors[c], w[c])
			la.Axpy(1, s.W.Row(c), w[c])
		}
		out[t] = boundaryOf(w[0], w[1])
	}
	return out, nil
}

// measure computes the moments of the draws.
func (b *boundaryPosterior) measure() {
	n := float64(len(b.at))
	b.Draws = len(b.at)
	for _, v := range b.at {
		b.Mean.Slope += v.Slope / n
		b.Mean.Intercept += v.Intercept / n
	}
	s, i := make([]float64, len(b.at)), make([]float64, len(b.at))
	for t, v := range b.at {
		d := [2]float64{v.Slope - b.Mean.Slope, v.Intercept - b.Mean.Intercept}
		for j := range d {
			for k := range d {
				b.Covariance[j][k] += d[j] * d[k] / (n - 1)
			}
		}
		s[t], i[t] = v.Slope, v.Intercept
	}
	slices.Sort(s)
	slices.Sort(i)
	q := len(s) / 4
	b.Middle = boundary{s[len(s)-1-q] - s[q], i[len(i)-1-q] - i[q]}
}

// toyClass is the class of a point of the second set: inside an ellipse, below a
// line, and neither.
func toyClass(p point) int {
	switch {
	case (p[0]+0.2)*(p[0]+0.2)+p[1]*p[1] < 0.49:
		return 0
	case 0.4*p[0]+0.9*p[1] < -0.7:
		return 1
	}
	return 2
}

// ellipse is the second set.
func (c *Toy) ellipse(e *console.Env, p *console.Progress, out *toyResult) error {
	r := rand.New(rand.NewPCG(c.Seed, 3))
	x, test := square(r, toyTrain), square(r, toyTest)
	classes := func(x []point) []int {
		out := make([]int, len(x))
		for n, q := range x {
			out[n] = toyClass(q)
		}
		return out
	}
	labels, truth := classes(x), classes(test)
	k, cross := pointFeatures(x, quadratic), pointFeatures(test, quadratic)
	grid := pointFeatures(gridPoints(), quadratic)

	start := time.Now()
	draws, err := c.gibbs(p).Sample(e.Ctx, k, labels)
	if err != nil {
		return err
	}
	trained := time.Now()
	step := max(1, draws.Len()*draws.Chains()/1000)
	prediction, err := draws.Thin(step).Predict(e.Ctx, cross, vi.PredictOptions{Workers: c.Workers})
	if err != nil {
		return err
	}
	out.Outcomes = append(out.Outcomes, toyOutcome{
		"Gibbs", draws.Chains() * (draws.Len() + c.burnIn()), errorRate(prediction.Probability, truth),
		time.Since(start).Seconds(), time.Since(trained).Seconds(),
	})
	if c.Pictures != "" {
		prediction, err := draws.Thin(4*step).Predict(e.Ctx, grid, vi.PredictOptions{Workers: c.Workers})
		if err != nil {
			return err
		}
		if err := c.drawDecision(e, out, "toy2-gibbs.png", "Gibbs", x, labels, prediction.Probability); err != nil {
			return err
		}
	}
	for _, longer := range []bool{false, true} {
		start := time.Now()
		fit, err := c.variational(longer).Fit(e.Ctx, k, labels)
		if err != nil {
			return err
		}
		trained := time.Now()
		prediction, err := fit.Posterior.Predict(cross, vi.PredictOptions{Workers: c.Workers})
		if err != nil {
			return err
		}
		name, file := "VB", "toy2-vb.png"
		if longer {
			name, file = "VB, longer", "toy2-vb-longer.png"
		}
		out.Outcomes = append(out.Outcomes, toyOutcome{name, len(fit.Record.Trace), errorRate(prediction.Probability, truth), time.Since(start).Seconds(), time.Since(trained).Seconds()})
		if c.Pictures != "" {
			prediction, err := fit.Posterior.Predict(grid, vi.PredictOptions{Workers: c.Workers})
			if err != nil {
				return err
			}
			if err := c.drawDecision(e, out, file, name, x, labels, prediction.Probability); err != nil {
				return err
			}
		}
	}
	return nil
}

const gridSide = 80

// gridPoints are the centres of the cells of a grid over the square, row after row.
func gridPoints() []point {
	var x []point
	at := func(i int) float64 { return (2*float64(i)+1)/gridSide - 1 }
	for j := range gridSide {
		for i := range gridSide {
			x = append(x, point{at(i), at(j)})
		}
	}
	return x
}

// cells classifies the cells of the grid.
func cells(class func(point) int) [][]int {
	out := make([][]int, gridSide)
	for n, q := range gridPoints() {
		out[n/gridSide] = append(out[n/gridSide], class(q))
	}
	return out
}

func coordinate(x []point, j int) []float64 {
	out := make([]float64, len(x))
	for i, p := range x {
		out[i] = p[j]
	}
	return out
}

func (c *Toy) drawDecision(e *console.Env, out *toyResult, file, method string, x []point, labels []int, probability la.Matrix[float64]) error {
	n := -1
	return c.write(e, out, file, picture.Plane{
		Title: "Second set: the most probable class, by " + method, XLabel: "x1", YLabel: "x2",
		X: coordinate(x, 0), Y: coordinate(x, 1), Class: labels, Names: []string{"class 1", "class 2", "class 3"},
		Cells: cells(func(point) int {
			n++
			return best(probability.Row(n))
		}), Min: point{-1, -1}, Max: point{1, 1},
	})
}

// drawPosterior draws some of the boundaries, and the true one as a cross.
func (c *Toy) drawPosterior(e *console.Env, out *toyResult, b *boundaryPosterior) error {
	const most = 4000
	pl := picture.Plane{
		Title:  "First set: the line between classes 1 and 2, by " + b.Method,
		XLabel: "slope", YLabel: "intercept", Names: []string{"draws"}, Small: true,
		Cross: &[2]float64{out.True.Slope, out.True.Intercept},
		Min:   point{out.True.Slope - 2, out.True.Intercept - 1}, Max: point{out.True.Slope + 2, out.True.Intercept + 1},
	}
	for t := 0; t < len(b.at); t += max(1, len(b.at)/most) {
		if v := b.at[t]; math.Abs(v.Slope-out.True.Slope) < 2 && math.Abs(v.Intercept-out.True.Intercept) < 1 {
			pl.X, pl.Y, pl.Class = append(pl.X, v.Slope), append(pl.Y, v.Intercept), append(pl.Class, 0)
		}
	}
	name := map[string]string{"Gibbs": "toy1-gibbs.png", "VB": "toy1-vb.png"}[b.Method]
	return c.write(e, out, name, pl)
}

func (c *Toy) write(e *console.Env, out *toyResult, name string, p picture.Plane) error {
	if err := os.MkdirAll(c.Pictures, 0o777); err != nil {
		return console.Input(err)
	}
	path := filepath.Join(c.Pictures, name)
	out.Pictures = append(out.Pictures, path)
	return atomicfile.Write(e.Ctx, path, func(w io.Writer) error { return p.Write(w, "png") })
}

func (c *Toy) print(w io.Writer, r *toyResult) error {
	fmt.Fprintf(w, "First set: %d separable points; the line between classes 1 and 2, of true slope %.3f and intercept %.3f\n\n", c.Points, r.True.Slope, r.True.Intercept)
	rows := [][]string{{"", "draws", "mean slope", "mean intercept", "covariance", "", "", "quartile distances", "least ESS", "largest R̂", "paper's covariance"}}
	paper := map[string]string{"Gibbs": "0.16 0.18 0.22", "VB": "0.015 0.015 0.018"}
	for _, b := range r.Boundary {
		slope, intercept, ess, rhat := fmt.Sprintf("%.3f", b.Mean.Slope), fmt.Sprintf("%.3f", b.Mean.Intercept), "", ""
		if b.MCSE != nil {
			slope += fmt.Sprintf(" ± %.3f", b.MCSE.Slope)
			intercept += fmt.Sprintf(" ± %.3f", b.MCSE.Intercept)
			ess, rhat = fmt.Sprintf("%.0f", b.ESS), fmt.Sprintf("%.4f", b.RHat)
		}
		rows = append(rows, []string{
			b.Method, fmt.Sprint(b.Draws), slope, intercept,
			fmt.Sprintf("%.4f", b.Covariance[0][0]), fmt.Sprintf("%.4f", b.Covariance[0][1]), fmt.Sprintf("%.4f", b.Covariance[1][1]),
			fmt.Sprintf("%.3f %.3f", b.Middle.Slope, b.Middle.Intercept), ess, rhat, paper[b.Method],
		})
	}
	if err := console.PrintTable(w, "lrrrrrrrrrr", rows); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nSecond set: %d points in an ellipse, below a line, and elsewhere; %d test points, drawn alike\n\n", toyTrain, toyTest)
	rows = [][]string{{"", "sweeps", "error %", "paper", "seconds", "of them tests", "paper"}}
	stated := map[string][2]string{"Gibbs": {"2", "41720"}, "VB": {"2", "120.3"}}
	for _, o := range r.Outcomes {
		rows = append(rows, []string{o.Method, fmt.Sprint(o.Sweeps), fmt.Sprintf("%.2f", o.Error), stated[o.Method][0], console.Figure(o.Seconds), console.Figure(o.Test), stated[o.Method][1]})
	}
	if err := console.PrintTable(w, "lrrrrrr", rows); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nThe paper gives neither regressors, points nor prior: shapes and orders compare, figures do not.")
	for _, p := range r.Pictures {
		fmt.Fprintln(w, p)
	}
	return nil
}
