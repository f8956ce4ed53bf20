// Command scale measures one pass over any number of generated samples and the fits to its
// sums, and compares their predictions with a ridge regression's on the same sums
// whose penalty is the best for the test samples:
//
//	go run ./bench/scale -n 1000000 -d 200 -p 5
//
// With -labels it classifies by passes, and says after how many of them the log loss of new samples is
// what it will be. With -default and -classes it fits the regression and the classifier of package mkl by
// their default settings. With -store it fits, in place of landmarks, with the kernels between all
// samples, and says what a sweep takes of time and memory.
//
// The samples are uniform on [−1, 1]⁸, where two coordinates do not matter, and
//
//	y = sin(3x₀)·x₁ + cos(4x₂x₃) + x₄²/2 − 3x₅/10 + noise.
//
// Kernels are Gaussian, of widths in geometric steps from 0.5 to 6; landmarks are drawn like
// samples. Errors are errors of the function without noise, on 5000 new samples.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/bmkl/bmkl/internal/cputime"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
	"github.com/bmkl/bmkl/vi/mgp"
)

type matrix = la.Matrix[float64]

const (
	inputs      = 8
	testSamples = 5000
	piece       = 1024 // samples whose kernels are in memory at a time
)

// generator draws samples.
type generator struct {
	src    *rand.Rand
	noise  float64
	detail float64 // the amplitude of the local detail
}

// draw fills the rows of x and returns targets, and the function without noise.
func (g generator) draw(x matrix) (y, f []float64) {
	for i := range x.Rows {
		r := x.Row(i)
		for j := range r {
			r[j] = 2*g.src.Float64() - 1
		}
		v := math.Sin(3*r[0])*r[1] + math.Cos(4*r[2]*r[3]) + 0.5*r[4]*r[4] - 0.3*r[5] + g.detail*math.Sin(12*r[0])*math.Sin(12*r[1])
		f, y = append(f, v), append(y, v+g.noise*g.src.NormFloat64())
	}
	return y, f
}

// plan is what fixes the kernels.
type plan struct {
	landmarks matrix
	widths    []float64
	features  []stat.Features // of each view
	before    bool            // sum features, not kernels
}

// newPlan draws landmarks and makes features of the kernels among them.
func newPlan(ws *la.Workspace, g generator, landmarks, kernels int, tolerance float64) (p plan, err error) {
	p.landmarks = la.NewMatrix[float64](landmarks, inputs)
	g.draw(p.landmarks)
	among := la.NewMatrix[float64](landmarks, landmarks)
	for i := range kernels {
		p.widths = append(p.widths, 0.5*math.Pow(12, float64(i)/float64(max(1, kernels-1))))
		p.kernel(ws, i, p.landmarks, among)
		f, err := stat.Whiten(ws, among, tolerance)
		if err != nil {
			return p, err
		}
		p.features = append(p.features, f)
	}
	return p, nil
}

// kernel fills k with kernel i between the landmarks and the rows of x.
func (p plan) kernel(ws *la.Workspace, i int, x, k matrix) {
	la.RBF(ws, 1/(2*p.widths[i]*p.widths[i]), p.landmarks, x, k)
}

// featuresOf returns the features of kernel i for the rows of x.
func (p plan) featuresOf(ws *la.Workspace, i int, x matrix) matrix {
	k, phi := la.NewMatrix[float64](p.landmarks.Rows, x.Rows), la.NewMatrix[float64](p.features[i].By.Rows, x.Rows)
	p.kernel(ws, i, x, k)
	la.Gemm(ws, la.NoTrans, la.NoTrans, 1, p.features[i].By, k, 0, phi)
	return phi
}

// entries returns what is summed of kernel i for the rows of x.
func (p plan) entries(ws *la.Workspace, i int, x matrix) matrix {
	if p.before {
		return p.featuresOf(ws, i, x)
	}
	k := la.NewMatrix[float64](p.landmarks.Rows, x.Rows)
	p.kernel(ws, i, x, k)
	return k
}

// layout returns the layout of the sums.
func (p plan) layout() stat.Layout {
	l := stat.Layout{Outputs: 1}
	for i := range p.widths {
		d := p.landmarks.Rows
		if p.before {
			d = p.features[i].By.Rows
		}
		l.Views = append(l.Views, d)
	}
	return l
}

// clock measures a step by the wall and by processor time.
type clock struct {
	wall time.Time
	user float64
}

func start() clock { return clock{time.Now(), cputime.User()} }

// String returns the time since the start.
func (c clock) String() string {
	return fmt.Sprintf("%.2f s, user %.2f s", time.Since(c.wall).Seconds(), cputime.User()-c.user)
}

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal("scale: ", err)
	}
}

func run() error {
	n := flag.Int("n", 100_000, "samples")
	d := flag.Int("d", 200, "landmarks of each kernel")
	p := flag.Int("p", 5, "kernels")
	noise := flag.Float64("noise", 0.1, "standard deviation of the noise")
	sweeps := flag.Int("sweeps", 40, "most sweeps of the multiple kernel regression, 0 being none, or with -store as many as it takes; most passes of -labels")
	workers := flag.Int("workers", 0, "goroutines at work; 0: as many as processors")
	whitening := flag.Float64("whitening", 0, "tolerance of whitening; 0: the default")
	before := flag.Bool("before", true, "make features of the kernels in the pass, and not of the sums after it")
	file := flag.String("statistic", "", "`file` of the sums: read in place of the pass if it exists, and else written")
	labels := flag.Bool("labels", false, "classify: labels in place of targets, by passes")
	defaults := flag.String("default", "", "fit mkl.LandmarkGP (landmarks; d of them, 0 being the default) or mkl.Auto (auto) with no kernel named; of the other flags n, noise, workers and seed count")
	classes := flag.Int("classes", 0, "fit mkl.LandmarkClassifier to so many classes; of the other flags n, d, passes, exact, workers and seed count")
	passes := flag.String("passes", "0,1,2,4,6,8,10", "with -classes: after how many passes to look, each in a fit of its own; 0: after as many as it takes")
	exact := flag.Int("exact", 0, "with -classes: samples of an exact classifier beside it; 0: none")
	seed := flag.Uint64("seed", 1, "of the samples")
	storage := flag.String("store", "", "fit a regression with the kernels between all samples, held as float64, float32 or in a file of the `directory`")
	process := flag.Bool("process", false, "with -store: fit mkl.MultiGP in place of mkl.Regression")
	journal := flag.String("journal", "", "with -store: the `file` of a journal, from which the fit goes on if it exists")
	detail := flag.Float64("detail", 0.5, "with -write: amplitude of the local detail")
	table := flag.String("write", "", "write the samples as `file`.csv, and new ones as file.test.csv, in place of all else; of the other flags n, noise, detail and seed count")
	figures := flag.String("draw", "", "draw the errors in this `file` of samples,limit,rmse, in place of all else; of the other flags noise and o count")
	picture := flag.String("o", "errors.svg", "with -draw: the picture's `file`")
	flag.Parse()
	if *figures != "" {
		return draw(*figures, *picture, *noise)
	}
	if *table != "" {
		return writeTables(*table, *seed, *n, *noise, *detail)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	if *defaults != "" {
		return learnDefaults(ctx, *defaults, *seed, *n, *d, *workers, *noise)
	}
	if *classes != 0 {
		var most []int
		for _, text := range strings.Split(*passes, ",") {
			k, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("-passes: %w", err)
			}
			most = append(most, k)
		}
		return learnClasses(ctx, *seed, *n, *d, *classes, most, *exact, *workers)
	}
	if *storage != "" {
		return store(ctx, *storage, *process, *journal, *seed, *n, *p, *sweeps, *workers, *noise)
	}
	ws := &la.Workspace{Workers: *workers}
	pl, err := newPlan(ws, generator{src: rand.New(rand.NewPCG(*seed, 1))}, *d, *p, *whitening)
	if err != nil {
		return err
	}
	if *labels {
		return classify(ctx, pl, *seed, *n, *sweeps, *workers)
	}
	pl.before = *before
	layout := pl.layout()

	t := start()
	s, err := sums(ws, *file, pl, generator{src: rand.New(rand.NewPCG(*seed, 2)), noise: *noise}, *n)
	if err != nil {
		return err
	}
	entries := float64(layout.Entries())
	fmt.Printf("%d samples, %d kernels, %d landmarks each\n", *n, *p, *d)
	fmt.Printf("pass: %v, %.1f GFLOP/s of products by the wall; hash %x\n",
		t, float64(*n)*entries*entries/time.Since(t.wall).Seconds()/1e9, s.Hash())

	t = start()
	e, err := prepare(ws, pl, s)
	if err != nil {
		return err
	}
	fmt.Printf("map and factor: %v; %d features of %d landmarks, %d pseudo-samples\n", t, e.features(), *p**d, len(e.pseudo.Ones))
	fmt.Printf("share of each kernel beyond its landmarks: %.2g\n", e.beyond)

	e.test(ws, pl, generator{src: rand.New(rand.NewPCG(*seed, 3)), noise: *noise})
	fits := []func(context.Context) (*result, error){
		e.ridge,
		func(ctx context.Context) (*result, error) { return e.processes(ctx, *workers) },
	}
	if *sweeps > 0 {
		fits = append(fits, func(ctx context.Context) (*result, error) { return e.regression(ctx, *sweeps, *workers) })
	}
	for _, f := range fits {
		t = start()
		r, err := f(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %v; RMSE of f %.4f, of y %.4f, 95%% intervals hold %.3f\n",
			r.name, t, e.rmse(r.mean, e.f), e.rmse(r.mean, e.y), e.coverage(r))
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("memory from the system: %d MB\n", m.Sys>>20)
	return nil
}

// sums reads the sums of n samples from a file, or forms them and writes the file.
func sums(ws *la.Workspace, file string, pl plan, g generator, n int) (*stat.Statistic, error) {
	if file == "" {
		return pass(ws, pl, g, n)
	}
	s := &stat.Statistic{}
	if data, err := os.ReadFile(file); err == nil {
		return s, s.UnmarshalBinary(data)
	}
	s, err := pass(ws, pl, g, n)
	if err != nil {
		return nil, err
	}
	data, err := s.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return s, os.WriteFile(file, data, 0o666)
}

// pass sums n samples.
func pass(ws *la.Workspace, pl plan, g generator, n int) (*stat.Statistic, error) {
	b, err := stat.NewBuilder(pl.layout(), ws.Workers)
	if err != nil {
		return nil, err
	}
	x := la.NewMatrix[float64](piece, inputs)
	for first := 0; first < n; first += piece {
		m := min(piece, n-first)
		y, _ := g.draw(x.Slice(0, m, 0, inputs))
		part := stat.Samples{Targets: la.MatrixOf(1, m, y)}
		for i := range pl.widths {
			part.Kernels = append(part.Kernels, pl.entries(ws, i, x.Slice(0, m, 0, inputs)))
		}
		if err := b.Add(part); err != nil {
			return nil, err
		}
	}
	return b.Finish(), nil
}

// experiment is the whitened, standardised problem with its test samples.
type experiment struct {
	moments *stat.Moments
	pseudo  *stat.PseudoSamples
	maps    stat.Map  // whitening, then means, as one map
	beyond  []float64 // trace error of each view
	mean    float64   // of the targets
	scale   float64   // of the targets
	tests   []matrix  // features of the test samples
	y, f    []float64
}

// prepare maps the sums to features, standardises them and factors them.
func prepare(ws *la.Workspace, pl plan, s *stat.Statistic) (*experiment, error) {
	m, err := s.Moments()
	if err != nil {
		return nil, err
	}
	e := &experiment{maps: m.All()}
	for i, f := range pl.features {
		by := f.By
		if pl.before {
			by = la.NewMatrix[float64](f.By.Rows, f.By.Rows)
			for d := range by.Rows {
				by.Set(d, d, 1)
			}
		} else {
			e.maps.Views[i].By = by
		}
		beyond, err := m.TraceError(ws, i, by)
		if err != nil {
			return nil, err
		}
		e.beyond = append(e.beyond, beyond)
	}
	_, e.mean, e.scale = m.Target(0)
	if m, err = m.Apply(ws, e.maps); err != nil {
		return nil, err
	}
	standard := m.Standard()
	if e.moments, err = m.Apply(ws, standard); err != nil {
		return nil, err
	}
	for i := range e.maps.Views {
		e.maps.Views[i].Shift = standard.Views[i].Shift
	}
	e.pseudo, err = e.moments.PseudoSamples(ws, 0)
	return e, err
}

// features returns their number.
func (e *experiment) features() (n int) {
	for _, d := range e.moments.Views {
		n += d
	}
	return n
}

// test draws the test samples and computes their features.
func (e *experiment) test(ws *la.Workspace, pl plan, g generator) {
	x := la.NewMatrix[float64](testSamples, inputs)
	e.y, e.f = g.draw(x)
	for i, v := range e.maps.Views {
		phi := pl.featuresOf(ws, i, x)
		for r, c := range v.Shift {
			row := phi.Row(r)
			for j := range row {
				row[j] += c
			}
		}
		e.tests = append(e.tests, phi)
	}
}

// result is predictions of the test samples.
type result struct {
	name     string
	mean     []float64
	variance []float64 // nil if the model has none
}

func (e *experiment) rmse(a, b []float64) float64 {
	var s float64
	for i := range a {
		s += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(s / float64(len(a)))
}

// coverage returns the share of the test targets inside their 95 % intervals.
func (e *experiment) coverage(r *result) float64 {
	if r.variance == nil {
		return math.NaN()
	}
	var in float64
	for i, v := range r.variance {
		if math.Abs(e.y[i]-r.mean[i]) < 1.959964*math.Sqrt(v) {
			in++
		}
	}
	return in / float64(len(e.y))
}

// unit takes predictions back to the targets' unit.
func (e *experiment) unit(name string, mean, variance []float64) *result {
	for i := range mean {
		mean[i] = e.mean + e.scale*mean[i]
	}
	for i := range variance {
		variance[i] *= e.scale * e.scale
	}
	return &result{name, mean, variance}
}

// ridge is ridge regression on the features, of the penalty that is best for the test samples.
func (e *experiment) ridge(context.Context) (*result, error) {
	ws, n := &la.Workspace{}, e.features()
	sums := e.moments.Groups[0].Sums
	var best *result
	for power := -9.0; power <= 0; power++ {
		a, w := sums.Slice(0, n, 0, n).Clone(), make([]float64, n)
		for i := range n {
			a.Set(i, i, a.At(i, i)+math.Pow(10, power))
		}
		copy(w, sums.Row(n + 1)[:n])
		if err := la.Cholesky(ws, a); err != nil {
			continue
		}
		la.CholeskySolveVec(a, w)
		mean, first := make([]float64, testSamples), 0
		for _, f := range e.tests {
			la.Gemv(ws, la.Transpose, 1, f, w[first:first+f.Rows], 1, mean)
			first += f.Rows
		}
		r := e.unit(fmt.Sprintf("ridge, penalty 1e%g of 10 the best for the test", power), mean, nil)
		if best == nil || e.rmse(r.mean, e.y) < e.rmse(best.mean, e.y) {
			best = r
		}
	}
	if best == nil {
		return nil, fmt.Errorf("ridge: no penalty makes the sums positive definite")
	}
	return best, nil
}

// regression is multiple kernel learning with sample weights for every feature.
func (e *experiment) regression(ctx context.Context, sweeps, workers int) (*result, error) {
	k, err := vi.NewStacked(e.pseudo.Views...)
	if err != nil {
		return nil, err
	}
	c, err := vi.NewCompressed(k, e.pseudo.Ones)
	if err != nil {
		return nil, err
	}
	r := bemkl.Regression{Workers: workers, Ascent: vi.Ascent{MaxSweeps: sweeps}}
	fit, err := r.Fit(ctx, c, e.pseudo.Targets)
	if err != nil {
		return nil, err
	}
	tests, err := vi.NewStacked(e.tests...)
	if err != nil {
		return nil, err
	}
	out, err := fit.Posterior.Predict(tests, vi.PredictOptions{Workers: workers})
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("stacked BEMKL, %d sweeps (%v), bound %.6f", len(fit.Record.Trace), fit.Record.Reason, fit.Record.Bound())
	return e.unit(name, out.Mean.Row(0), out.Variance.Row(0)), nil
}

// processes is a sum of Gaussian processes by the evidence.
func (e *experiment) processes(ctx context.Context, workers int) (*result, error) {
	fit, err := mgp.Evidence{Workers: workers}.FitFeatures(ctx, mgp.Features{
		Blocks: e.pseudo.Views, Targets: e.pseudo.Targets.Row(0), Samples: e.moments.Samples(),
	})
	if err != nil {
		return nil, err
	}
	mean, variance, err := fit.Posterior.Predict(e.tests, matrix{}, false, workers)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("sum of Gaussian processes, %d steps (%v), log evidence %.6f",
		len(fit.Record.Trace), fit.Record.Reason, fit.LogEvidence)
	return e.unit(name, mean, variance), nil
}
