package sums

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// saveEvery is how often the sums so far are written.
const saveEvery = 10 * time.Second

// Adder adds tables to the sums in a file. What is done is kept in the file: another adder goes on from there, also
// in the middle of a table.
type Adder struct {
	Sums  *Sums
	Added int // tables

	env     *console.Env
	layout  console.Layout
	workers int
	saved   time.Time
	changed bool // since then
}

// NewAdder returns an adder to the sums that a file holds, or to none if the file is not there. It refuses sums of
// another plan.
func NewAdder(e *console.Env, path string, plan *Plan, layout console.Layout, workers int) (*Adder, error) {
	if err := atomicfile.Check(path); err != nil {
		return nil, console.Input(err)
	}
	a := &Adder{env: e, layout: layout, workers: workers, saved: time.Now()}
	if _, err := os.Stat(path); err != nil {
		a.Sums = &Sums{Path: path, Plan: plan, Total: &stat.Statistic{}}
		return a, nil
	}
	s, err := Read(path)
	if err != nil {
		return nil, err
	}
	if s.Plan.Hash() != plan.Hash() {
		return nil, console.Inputf("%s holds sums of another plan: remove it, or name another file", path)
	}
	a.Sums = s
	return a, nil
}

// due reports whether it is time to save.
func (a *Adder) due() bool { return time.Since(a.saved) >= saveEvery }

// Save writes the sums if they have changed, also after an interruption.
func (a *Adder) Save() error {
	if !a.changed {
		return nil
	}
	if err := a.Sums.Write(context.WithoutCancel(a.env.Ctx)); err != nil {
		return err
	}
	a.saved, a.changed, a.env.Kept = time.Now(), false, a.Sums.Path
	return nil
}

// Add adds the rows of a table that are not there, if there are any, and now and then writes the sums. It calls show
// with the number of rows read so far. After an error the sums that are complete are written.
func (a *Adder) Add(path string, show func(rows int)) error {
	if err := a.add(path, show); err != nil {
		return errors.Join(err, a.Save())
	}
	if a.due() {
		return a.Save()
	}
	return nil
}

func (a *Adder) add(path string, show func(rows int)) error {
	if path == console.Standard {
		return console.Inputf("standard input cannot be summed: there is no way to know whether it was summed before")
	}
	p, err := fingerprint(a.env, path)
	if err != nil {
		return err
	}
	if there, err := a.Sums.hold(p); there || err != nil {
		return err
	}
	if open := a.Sums.Open; open == nil || open.SHA256 != p.SHA256 {
		a.Sums.Open = &OpenPart{Part: p, Sums: &stat.Statistic{}}
	}
	t, err := openTable(a.env, a.layout, a.Sums.Plan, path)
	if err != nil {
		return err
	}
	defer t.Files.Close()
	b, err := newBuilder(a.Sums.Plan, a.workers)
	if err != nil {
		return err
	}
	rows := &adding{Adder: a, part: a.Sums.Open, builder: b, full: a.Sums.Open.Rows}
	if err := rows.addAll(t, show); err != nil {
		return errors.Join(err, rows.takeFull())
	}
	a.Added++
	return nil
}

// adding is the open table, to which rows are being added. Only blocks that are full go there, until the table ends:
// a block has the same bits whenever it was begun.
type adding struct {
	*Adder
	part    *OpenPart
	builder builder
	full    int // rows up to the end of the last full block
	pending int // samples of the block that is not full
}

// addAll adds the rows of the table that are not in the sums yet, to its end.
func (a *adding) addAll(t *tableFile, show func(rows int)) error {
	start := a.part.Rows // those before are in the sums
	gaps := dataset.Shortfall{Rows: start}
	read, noTarget := 0, 0
	for rows, err := range t.Files.Blocks(stat.BlockSamples) {
		if err != nil {
			return err
		}
		first := read
		if read += rows; read <= start {
			continue
		}
		if first < start {
			left := make([]int, read-start)
			for i := range left {
				left[i] = start - first + i
			}
			t.main.Data.Pick(left)
			rows, first = len(left), start
		}
		b, err := t.samples(a.env.Ctx, rows, first, a.workers, &gaps)
		if err != nil {
			return err
		}
		noTarget += b.lacking
		if err := a.addBlock(b); err != nil {
			return console.Inputf("%s: %w", t.main.Name(), err)
		}
		show(read)
	}
	if err := gaps.Warn(a.env, t.Plans(), "summed"); err != nil {
		return err
	}
	if noTarget > 0 {
		fmt.Fprintf(a.env.Stderr, "mkl: warning: %s: %d of %s have no target\n", t.main.Name(), noTarget, console.Plural(gaps.Rows-gaps.Missing, "row"))
	}
	if err := a.end(); err != nil {
		return console.Inputf("%s: %w", t.main.Name(), err)
	}
	return nil
}

// addSamples is how many samples are added before the context is asked again.
const addSamples = 1024

// addBlock adds the samples of a block.
func (a *adding) addBlock(b block) error {
	ctx := a.env.Ctx
	for first := 0; first < len(b.at); {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := min(addSamples, len(b.at)-first, stat.BlockSamples-a.pending)
		part := make([]mkl.Features, len(b.x))
		for i, x := range b.x {
			part[i] = x.Slice(first, first+n, 0, x.Cols)
		}
		if err := a.builder.add(b.y.slice(first, first+n), part); err != nil {
			return fmt.Errorf("row %d and those after it: %w", b.at[first]+1, err)
		}
		first, a.pending = first+n, a.pending+n
		if a.pending == stat.BlockSamples {
			a.pending, a.full = 0, b.at[first-1]+1
			if a.due() {
				if err := errors.Join(a.takeFull(), a.Save()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// takeFull adds the blocks that are full to the open table.
func (a *adding) takeFull() error {
	if a.full == a.part.Rows {
		return nil
	}
	a.part.Rows = a.full
	full, err := a.builder.take(false)
	return errors.Join(err, a.take(full))
}

// end adds all that is left: the table is then among the others.
func (a *adding) end() error {
	last, err := a.builder.take(true)
	if err != nil {
		return err
	}
	if err := a.take(last); err != nil {
		return err
	}
	return a.Sums.finish()
}

// take adds sums of samples of the table.
func (a *adding) take(s *stat.Statistic) error {
	if err := a.part.Sums.Merge(s); err != nil {
		return err
	}
	a.part.Samples += s.Samples()
	a.changed = true
	return nil
}
