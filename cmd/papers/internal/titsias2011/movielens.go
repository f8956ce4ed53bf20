package titsias2011

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// Movielens is the paper's collaborative filtering: users are rows, films are columns,
// and ten ratings of each user are for testing.
type Movielens struct {
	Data    string   `required:"" placeholder:"DIR" help:"Folder of a MovieLens set, 100K, 1M or 10M, unpacked."`
	Factors int      `default:"20" help:"Factors (${default})."`
	Models  []string `default:"published,offsets" enum:"published,offsets" help:"published: the model of the paper, on ratings less their mean. offsets: with an offset for each film and a prior that holds the films' noise together."`

	factorFlags `embed:""`
}

// movieSplits are the files of the splits that come with the sets.
var movieSplits = []struct{ name, train, test string }{
	{"ua", "ua.base", "ua.test"}, {"ub", "ub.base", "ub.test"}, // 100K
	{"ra", "ra.train", "ra.test"}, {"rb", "rb.train", "rb.test"}, // 10M
}

// rating is a line of a file.
type rating struct {
	user, film int32
	value      float64
}

// readRatings reads lines user, film, rating, time, separated by tabs or by "::".
func readRatings(path string) (out []rating, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		sep := "\t"
		if strings.Contains(text, "::") {
			sep = "::"
		}
		field := strings.Split(text, sep)
		bad := func(what string) ([]rating, error) {
			return nil, console.Inputf("%s: line %d: %s in %q", path, n, what, text)
		}
		if len(field) < 3 {
			return bad("fewer than three fields")
		}
		user, err1 := strconv.ParseInt(field[0], 10, 32)
		film, err2 := strconv.ParseInt(field[1], 10, 32)
		value, err3 := strconv.ParseFloat(field[2], 64)
		if err1 != nil || err2 != nil || err3 != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			return bad("no rating")
		}
		out = append(out, rating{int32(user), int32(film), value})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(out) == 0 {
		return nil, console.Inputf("%s: it is empty", path)
	}
	return out, nil
}

// movieSplit is one split into training and test ratings.
type movieSplit struct {
	name        string
	train, test []rating
}

// splits reads the splits that the folder has, or makes one of all ratings: ten of
// each user who gave more are for testing.
func (c *Movielens) splits() (all []movieSplit, err error) {
	for _, s := range movieSplits {
		train, err := readRatings(filepath.Join(c.Data, s.train))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		test, err := readRatings(filepath.Join(c.Data, s.test))
		if err != nil {
			return nil, console.Input(err)
		}
		all = append(all, movieSplit{s.name, train, test})
	}
	if all != nil {
		return all, nil
	}
	for _, name := range []string{"ratings.dat", "u.data"} {
		ratings, err := readRatings(filepath.Join(c.Data, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return []movieSplit{splitRatings(ratings, c.Seed)}, nil
	}
	return nil, console.Inputf("%s: there is neither ratings.dat nor u.data nor a split of them", c.Data)
}

func splitRatings(ratings []rating, seed uint64) movieSplit {
	const test = 10
	s := movieSplit{name: "ten ratings a user"}
	left := map[int32]int{}
	for _, r := range ratings {
		left[r.user]++
	}
	need := map[int32]int{}
	for u, n := range left {
		if n > test {
			need[u] = test
		}
	}
	src := rand.New(rand.NewPCG(seed, 1))
	for _, r := range ratings {
		// Selection sampling: each set of ten is equally likely.
		if src.IntN(left[r.user]) < need[r.user] {
			need[r.user]--
			s.test = append(s.test, r)
		} else {
			s.train = append(s.train, r)
		}
		left[r.user]--
	}
	return s
}

// movieOutcome is how a model did on a split.
type movieOutcome struct {
	Model   string  `json:"model"`
	Split   string  `json:"split"`
	RMSE    float64 `json:"rmse"`
	MAE     float64 `json:"mae"`
	Within  float64 `json:"within_2sd"` // share of the test ratings within two predictive deviations
	Active  int     `json:"active"`     // factors with a thousandth of the power
	Bound   float64 `json:"bound"`
	Sweeps  string  `json:"sweeps"`
	Seconds float64 `json:"seconds"`
}

// Run runs the experiment.
func (c *Movielens) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Factors < 1 {
		return console.Inputf("-factors: %d", c.Factors)
	}
	splits, err := c.splits()
	if err != nil {
		return err
	}
	var all []movieOutcome
	var size string
	for _, s := range splits {
		size = fmt.Sprintf("%d training ratings", len(s.train))
		for _, model := range c.Models {
			o, err := c.run(e, &s, model)
			if err != nil {
				return err
			}
			all = append(all, o)
		}
	}
	title := "MovieLens: sparse factor analysis of " + size
	if c.JSON {
		return console.PrintJSON(e.Stdout, map[string]any{"experiment": title, "outcomes": all})
	}
	fmt.Fprintln(e.Stdout, title)
	fmt.Fprintln(e.Stdout, "predictions are cut off at the lowest and highest rating; RMSE of the paper on 10M: 0.88 on ra, 0.85 on rb")
	fmt.Fprintln(e.Stdout)
	rows := [][]string{{"model", "split", "RMSE", "MAE", "within 2 SD", "factors in use", "bound", "sweeps", "seconds"}}
	for _, o := range all {
		rows = append(rows, []string{
			o.Model, o.Split, fmt.Sprintf("%.4f", o.RMSE), fmt.Sprintf("%.4f", o.MAE), fmt.Sprintf("%.1f %%", 100*o.Within),
			fmt.Sprint(o.Active), fmt.Sprintf("%.6g", o.Bound), o.Sweeps, fmt.Sprintf("%.0f", o.Seconds),
		})
	}
	return console.PrintTable(e.Stdout, "llrrrrrlr", rows)
}

func (c *Movielens) run(e *console.Env, s *movieSplit, model string) (o movieOutcome, err error) {
	begin := time.Now()
	var mean float64
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range s.train {
		mean += r.value / float64(len(s.train))
		low, high = min(low, r.value), max(high, r.value)
	}
	f := mkl.FactorAnalysis{Factors: c.Factors}
	if model == "published" {
		f.NoOffsets, f.NoiseWeight = true, -1
	} else {
		mean = 0
	}
	var y mkl.Ratings[int32, int32]
	for _, r := range s.train {
		y.Add(r.user, r.film, r.value-mean)
	}
	var cells []mkl.TableCell // films that nobody rated in training are columns without entries
	for _, r := range s.test {
		cells = append(cells, y.At(r.user, r.film))
	}
	name := "movielens-" + strings.ReplaceAll(s.name, " ", "-") + "-" + model
	fit, err := c.fit(e, name, fmt.Sprintf("%s, %d ratings, %d factors, seed %d", name, len(s.train), c.Factors, c.Seed), f, &y)
	if err != nil {
		return o, err
	}
	p, variance, err := fit.Complete(cells...)
	if err != nil {
		return o, err
	}
	for i, r := range s.test {
		d := r.value - min(max(p[i]+mean, low), high)
		o.RMSE += float64(d*d) / float64(len(s.test))
		o.MAE += math.Abs(d) / float64(len(s.test))
		if d = r.value - p[i] - mean; float64(d*d) <= 4*variance[i] {
			o.Within += 1 / float64(len(s.test))
		}
	}
	for _, v := range fit.Energy() {
		if v > 1e-3 {
			o.Active++
		}
	}
	o.RMSE = math.Sqrt(o.RMSE)
	o.Model, o.Split, o.Bound, o.Sweeps, o.Seconds = model, s.name, fit.Bound(), sweepsOf(fit), time.Since(begin).Seconds()
	return o, nil
}
