package titsias2011

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/papers/internal/patches"
	"github.com/bmkl/bmkl/mkl"
)

// paperPSNR is Table 4, by the deviation of the noise: of the noisy picture, and
// restored with white and with exponential covariance.
var paperPSNR = map[float64][3]float64{15: {24.66, 33.98, 34.29}, 25: {20.22, 30.98, 31.88}, 50: {14.20, 26.14, 28.08}}

// pictureFlags are the flags of both experiments with pictures. Every overlapping block
// of 8×8 pixels is a task, the pixels of a block are the inputs, and the latent functions
// are the dictionary. The mean of the picture as given is subtracted; each restored pixel
// is the mean over its blocks.
type pictureFlags struct {
	Image  string `required:"" placeholder:"FILE" help:"The picture, a PNG file."`
	Output string `short:"o" default:"." placeholder:"DIR" help:"Folder for the pictures and the dictionary (${default})."`
	Stride int    `default:"1" help:"Pixels from one block to the next (${default}); more is faster and worse."`
	First  int    `default:"0" help:"Fit blocks so many pixels apart first, and all of them from there; 0 begins with all. Faster, but elements that few blocks need are lost."`

	Pi      float64 `default:"0.5" help:"Probability of a weight to be on, to start from (${default})."`
	Offsets bool    `help:"Give each block an offset, which the paper's model has not."`

	factorFlags `embed:""`
}

const blockSize = 8

// open reads the picture and checks the flags.
func (c *pictureFlags) open() (p patches.Picture, err error) {
	if err := c.check(); err != nil {
		return p, err
	}
	if !(c.Pi > 0 && c.Pi < 1) {
		return p, console.Inputf("-pi: %g is not between 0 and 1", c.Pi)
	}
	if err := atomicfile.Check(filepath.Join(c.Output, "probe")); err != nil {
		return p, console.Input(err)
	}
	f, err := os.Open(c.Image)
	if err != nil {
		return p, console.Input(err)
	}
	defer f.Close()
	if p, err = patches.Read(f); err != nil {
		return p, console.Inputf("%s: %w", c.Image, err)
	}
	return p, nil
}

// restored is what one restoration found.
type restored struct {
	Damage     string  `json:"damage"`
	Covariance string  `json:"covariance"`
	Given      float64 `json:"psnr_given,omitempty"`
	PSNR       float64 `json:"psnr"`
	Noise      float64 `json:"noise"` // σ, as learned
	Pi         float64 `json:"pi"`
	Bound      float64 `json:"bound"`
	Sweeps     string  `json:"sweeps"`
	Seconds    float64 `json:"seconds"`
	Paper      float64 `json:"paper,omitempty"`
}

// restore fits the dictionary to the observed values of p (all, if observed is
// nil) and writes the restored picture and the dictionary.
func (c *pictureFlags) restore(e *console.Env, name, what string, truth, p patches.Picture, observed []bool, f mkl.FactorAnalysis) (r restored, err error) {
	begin := time.Now()
	var mean, count float64
	for i, v := range p.Pix {
		if observed == nil || observed[i] {
			mean, count = mean+v, count+1
		}
	}
	mean /= count
	f.SharedNoise, f.NoOffsets, f.Prior.Pi = true, !c.Offsets, c.Pi
	what = fmt.Sprintf("%s, %s, seed %d, %d factors, %g on, offsets %t", filepath.Base(c.Image), what, c.Seed, f.Factors, c.Pi, c.Offsets)
	var fit *mkl.FactorAnalysisModel
	var grid patches.Grid
	var sweeps []string
	strides := []int{c.Stride}
	if c.First > c.Stride {
		strides = []int{c.First, c.Stride}
	}
	for _, stride := range strides {
		if grid, err = patches.Cut(p, blockSize, stride); err != nil {
			return r, console.Input(err)
		}
		f.Like = fit
		stage := fmt.Sprintf("%s-every-%d", name, stride)
		if fit, err = c.fit(e, stage, fmt.Sprintf("%s, blocks every %d pixels, first every %d", what, stride, c.First), f, blocks(grid, observed, mean)); err != nil {
			return r, err
		}
		sweeps = append(sweeps, sweepsOf(fit))
	}
	post := fit.Posterior()
	q := grid.Assemble(func(task int, v []float64) {
		for i := range v {
			m, _ := post.Entry(i, task)
			v[i] = mean + m
		}
	})
	if err := atomicfile.Write(e.Ctx, filepath.Join(c.Output, name+".png"), q.Write); err != nil {
		return r, err
	}
	energy := fit.Energy()
	order := make([]int, len(energy))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(energy[b], energy[a]) })
	dictionary := grid.Mosaic(post.State().Mean, order, 3)
	if err := atomicfile.Write(e.Ctx, filepath.Join(c.Output, name+"-dictionary.png"), dictionary.Write); err != nil {
		return r, err
	}
	return restored{
		PSNR: patches.PSNR(truth, q), Noise: fit.NoiseSD()[0], Pi: post.State().Prior.Pi, Bound: fit.Bound(),
		Sweeps: strings.Join(sweeps, "; "), Seconds: time.Since(begin).Seconds(),
	}, nil
}

// blocks is the table of a picture's blocks: pixels × blocks.
func blocks(grid patches.Grid, observed []bool, mean float64) mkl.Table {
	values, tasks := grid.Dims()
	if observed == nil {
		y := make(mkl.DenseTable, values)
		for i := range y {
			y[i] = make([]float64, tasks)
		}
		grid.Each(func(task int, at []int) {
			for i, a := range at {
				y[i][task] = grid.Pix[a] - mean
			}
		})
		return y
	}
	y := mkl.SparseTable{Rows: values, Cols: tasks}
	grid.Each(func(task int, at []int) {
		for i, a := range at {
			if observed[a] {
				y.Entries = append(y.Entries, mkl.TableEntry{TableCell: mkl.TableCell{Row: i, Col: task}, Value: grid.Pix[a] - mean})
			}
		}
	})
	return y
}

func (c *pictureFlags) print(e *console.Env, title string, all []restored, remarks ...string) error {
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{"experiment": title, "remarks": remarks, "restored": all})
	}
	fmt.Fprintln(e.Stdout, title)
	for _, r := range remarks {
		fmt.Fprintln(e.Stdout, r)
	}
	fmt.Fprintln(e.Stdout)
	rows := [][]string{{"damage", "covariance", "given dB", "restored dB", "paper dB", "noise", "weights on", "bound", "sweeps", "seconds"}}
	for _, r := range all {
		given := ""
		if r.Given > 0 {
			given = fmt.Sprintf("%.2f", r.Given)
		}
		paper := ""
		if r.Paper > 0 {
			paper = fmt.Sprintf("%.2f", r.Paper)
		}
		rows = append(rows, []string{
			r.Damage, r.Covariance, given, fmt.Sprintf("%.2f", r.PSNR), paper, fmt.Sprintf("%.2f", r.Noise),
			fmt.Sprintf("%.1f %%", 100*r.Pi), fmt.Sprintf("%.6g", r.Bound), r.Sweeps, fmt.Sprintf("%.0f", r.Seconds),
		})
	}
	return console.PrintTable(e.Stdout, "llrrrrrrlr", rows)
}

// Denoise is Table 4 of the paper: pictures with noise are restored.
type Denoise struct {
	pictureFlags `embed:""`
	Sigma        []float64 `default:"15,25,50" help:"Standard deviations of the noise (${default})."`
	Factors      int       `default:"64" help:"Elements of the dictionary (${default})."`
	Covariance   []string  `default:"white,exponential" enum:"white,exponential" help:"Covariances of the dictionary's elements over the block (${default})."`
}

// Run runs the experiment.
func (c *Denoise) Run(e *console.Env) error {
	truth, err := c.open()
	if err != nil {
		return err
	}
	var all []restored
	for _, sigma := range c.Sigma {
		if !(sigma > 0) || math.IsInf(sigma, 1) {
			return console.Inputf("-sigma: %g is not positive", sigma)
		}
		src := rand.New(rand.NewPCG(c.Seed, math.Float64bits(sigma)))
		noisy := truth.Clone()
		for i := range noisy.Pix {
			noisy.Pix[i] += sigma * src.NormFloat64()
		}
		name := fmt.Sprintf("denoise-%g", sigma)
		if err := atomicfile.Write(e.Ctx, filepath.Join(c.Output, name+"-given.png"), noisy.Write); err != nil {
			return err
		}
		var square float64
		for i, v := range noisy.Pix {
			d := v - truth.Pix[i]
			square += float64(d*d) / float64(len(noisy.Pix))
		}
		for _, covariance := range c.Covariance {
			f := mkl.FactorAnalysis{Factors: c.Factors}
			paper := paperPSNR[sigma][1]
			if covariance == "exponential" {
				paper = paperPSNR[sigma][2]
				grid, err := patches.Cut(truth, blockSize, c.Stride)
				if err != nil {
					return console.Input(err)
				}
				f.RowDistances = grid.Distances()
			}
			r, err := c.restore(e, name+"-"+covariance, fmt.Sprintf("noise of %g, %s covariance", sigma, covariance), truth, noisy, nil, f)
			if err != nil {
				return err
			}
			r.Damage, r.Covariance = fmt.Sprintf("noise of %g", sigma), covariance
			r.Given, r.Paper = 10*math.Log10(255*255/square), paper
			all = append(all, r)
		}
	}
	return c.print(e, "Denoising: every 8×8 block is a task; noise is not cut off at black and white", all)
}

// Inpaint restores a picture whose values are mostly missing.
type Inpaint struct {
	pictureFlags `embed:""`
	Missing      float64 `default:"0.8" help:"Share of the values that are missing (${default})."`
	Factors      int     `default:"100" help:"Elements of the dictionary (${default})."`
}

// Run runs the experiment.
func (c *Inpaint) Run(e *console.Env) error {
	truth, err := c.open()
	if err != nil {
		return err
	}
	if !(c.Missing >= 0 && c.Missing < 1) {
		return console.Inputf("-missing: %g is not between 0 and 1", c.Missing)
	}
	src := rand.New(rand.NewPCG(c.Seed, 0))
	damaged := truth.Clone()
	observed := make([]bool, len(damaged.Pix))
	for i := range observed {
		if observed[i] = src.Float64() >= c.Missing; !observed[i] {
			damaged.Pix[i] = 0
		}
	}
	if err := atomicfile.Write(e.Ctx, filepath.Join(c.Output, "inpaint-given.png"), damaged.Write); err != nil {
		return err
	}
	damage := fmt.Sprintf("%g %% of the values missing", 100*c.Missing)
	r, err := c.restore(e, "inpaint", damage, truth, damaged, observed, mkl.FactorAnalysis{Factors: c.Factors})
	if err != nil {
		return err
	}
	r.Damage, r.Covariance = damage, "white"
	if c.Missing == 0.8 {
		r.Paper = 28.94
	}
	return c.print(e, "Inpainting: every 8×8 block with its colours is a task", []restored{r})
}
