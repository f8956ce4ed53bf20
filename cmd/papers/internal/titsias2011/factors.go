package titsias2011

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/resume"
	"github.com/bmkl/bmkl/mkl"
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
func (c *factorFlags) fit(e *console.Env, name, what string, f mkl.FactorAnalysis, y mkl.Table) (*mkl.FactorAnalysisModel, error) {
	f.MaxSweeps, f.Tolerance, f.Seed, f.Workers = c.Sweeps, c.Tolerance, c.Seed, c.Workers
	ended := func() {}
	var state *resume.File
	if c.Checkpoint != "" {
		state = &resume.File{Path: filepath.Join(c.Checkpoint, name+".state"), Flag: "-checkpoint", Key: what}
		f.Journal = &mkl.Journal{Save: state.Write, Every: c.Every}
		state.Journal = f.Journal
		var err error
		if ended, err = state.Begin(e); err != nil {
			return nil, err
		}
	}
	bar := console.NewProgress(e, c.JSON, c.Sweeps, "sweeps at most, "+name)
	defer bar.Finish()
	f.Progress = func(p mkl.Progress) {
		bar.Set(p.Sweep, console.Total(p.Sweep, p.Left), fmt.Sprintf("bound %.6g (%+.1e)", p.Bound, p.Rise))
	}
	fit, err := f.Fit(e.Ctx, y)
	ended()
	if fit == nil {
		return nil, console.Input(err)
	}
	if state != nil {
		err = errors.Join(err, state.Save())
	}
	return fit, err
}

// sweepsOf says how many sweeps a fit took and whether it converged.
func sweepsOf(m *mkl.FactorAnalysisModel) string {
	t := m.Trace()
	s := fmt.Sprint(t.Sweeps)
	if !t.Converged {
		s += ", not converged"
	}
	return s
}
