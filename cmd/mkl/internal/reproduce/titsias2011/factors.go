package titsias2011

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/vi"
)

// factorFlags are the flags of the experiments with factor models.
type factorFlags struct {
	Sweeps     int           `default:"10000" help:"Most sweeps of a fit (${default})."`
	Tolerance  float64       `default:"1e-5" help:"Relative rise of the bound that counts as none (${default})."`
	Seed       uint64        `default:"1" help:"Seed of noise and random starts (${default})."`
	Workers    int           `help:"Most goroutines at work; 0 means one for each processor."`
	Checkpoint string        `placeholder:"DIR" help:"Folder to keep every fit's state in. A run that was stopped goes on from there, and a fit that is there complete is not repeated."`
	Every      time.Duration `default:"1m" help:"How often to write the state (${default})."`
	JSON       bool          `name:"json" help:"Print JSON."`
}

func (c *factorFlags) check() error {
	if c.Sweeps < 1 || c.Workers < 0 || !(c.Tolerance >= 0 && c.Tolerance < 1) {
		return console.Inputf("-sweeps is at least 1, -workers is not negative, -tolerance is between 0 and 1")
	}
	if c.Checkpoint != "" {
		if err := atomicfile.Check(filepath.Join(c.Checkpoint, "probe")); err != nil {
			return console.Input(err)
		}
	}
	return nil
}

// fit fits a model, shows its sweeps, and keeps its state in a file of that name. what
// says in words what is fitted; it is noted in the file, and a file with another note is
// refused.
func (c *factorFlags) fit(e *console.Env, name, what string, f mkl.FactorModel, y mkl.Table) (*mkl.FactorFit, error) {
	f.MaxSweeps, f.Tolerance, f.Seed, f.Workers = c.Sweeps, c.Tolerance, c.Seed, c.Workers
	tolerance := fmt.Sprint(c.Tolerance)
	f.Notes = map[string]string{"experiment": what, "tolerance": tolerance}
	path := ""
	if c.Checkpoint != "" {
		path = filepath.Join(c.Checkpoint, name+".model")
		from, err := readFactorFit(path)
		if err != nil {
			return nil, console.Input(err)
		}
		if from != nil {
			if had := from.Notes()["experiment"]; had != what {
				return nil, console.Inputf("%s holds the state of another experiment: %s, not %s", path, had, what)
			}
			// What converged to another tolerance goes on, if only to find that it has.
			if t := from.Trace(); t.Converged && from.Notes()["tolerance"] == tolerance || t.Sweeps >= c.Sweeps {
				return from, nil
			}
			f.From = from
		}
		f.CheckpointEvery = c.Every
		f.Checkpoint = func(m *mkl.FactorFit) error { return atomicfile.Write(context.Background(), path, m.Save) }
	}
	bar := console.NewProgress(e, c.JSON, c.Sweeps, "sweeps at most, "+name)
	defer bar.Finish()
	f.Progress = func(p mkl.Progress) {
		bar.Set(p.Sweep, console.Total(p.Sweep, p.Left), fmt.Sprintf("bound %.6g (%+.1e)", p.Bound, p.Rise))
	}
	fit, err := f.Fit(e.Ctx, y)
	var fell *vi.BoundError
	switch {
	case fit == nil && err != nil:
		return nil, console.Input(err)
	case path != "" && !errors.As(err, &fell):
		if serr := atomicfile.Write(context.Background(), path, fit.Save); serr != nil {
			return nil, errors.Join(err, serr)
		}
		e.Kept = path
	}
	return fit, err
}

// readFactorFit returns nil if there is no such file.
func readFactorFit(path string) (*mkl.FactorFit, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := mkl.LoadAs[*mkl.FactorFit](f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// sweepsOf says how many sweeps a fit took and whether it converged.
func sweepsOf(m *mkl.FactorFit) string {
	t := m.Trace()
	s := fmt.Sprint(t.Sweeps)
	if !t.Converged {
		s += ", not converged"
	}
	return s
}
