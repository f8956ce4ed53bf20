package sums

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// saveEvery is how often the sums so far are written.
const saveEvery = 10 * time.Second

// Adder adds tables, and the sums of other files, to the sums in a file. What is done is kept in the file: another adder goes
// on from there, also in the middle of a table. Standard output gets the sums at the end only.
type Adder struct {
	Sums  *Sums
	Added int    // tables and files of sums
	Part  string // names the only table, which is called as its file by default

	env     *console.Env
	columns Columns
	workers int
	before  *Sums             // with the parts that the file had at the beginning
	from    map[string]string // the files that parts came from
	planOf  string            // the file that the plan came from
	saved   time.Time
	changed bool // since then, by rows of tables
	merged  bool // since then, by other files
	fresh   bool // nothing was written, and no file is there
}

// NewAdder returns an adder to the sums that a file holds, or to none if the file is not there. The plan is in the file
// planPath; without a name it is the plan of the sums in the file or, without that file, of the first of the files to be
// added. NewAdder refuses sums of another plan.
func NewAdder(e *console.Env, path, planPath string, add []string, c Columns, workers int) (*Adder, error) {
	if err := e.CheckOutput(path, false); err != nil {
		return nil, err
	}
	a := &Adder{env: e, columns: c, workers: workers, from: map[string]string{}, planOf: planPath, saved: time.Now()}
	var plan *Plan
	var err error
	if planPath != "" {
		if plan, err = ReadPlan(planPath); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(path); path != console.Standard && err == nil {
		if a.Sums, err = Read(path); err != nil {
			return nil, err
		}
		if plan != nil && a.Sums.Plan.Hash() != plan.Hash() {
			return nil, console.Inputf("%s holds sums of another plan: remove it, or name another file", path)
		}
		if plan == nil {
			a.planOf = path
		}
		a.before = &Sums{Sums: &mkl.Sums{Parts: slices.Clone(a.Sums.Parts)}}
		return a, nil
	}
	if plan == nil {
		if !isSums(add[0]) {
			return nil, console.Inputf("-plan is needed: %s is not a file that mkl sum wrote", add[0])
		}
		first, err := Read(add[0])
		if err != nil {
			return nil, err
		}
		plan, a.planOf = first.Plan, add[0]
	}
	a.Sums, a.before, a.fresh = newSums(path, plan), &Sums{Sums: &mkl.Sums{}}, true
	return a, nil
}

// due reports whether it is time to save.
func (a *Adder) due() bool {
	return a.Sums.Path != console.Standard && time.Since(a.saved) >= saveEvery
}

// Save writes the sums at the end, unless the file has them.
func (a *Adder) Save() error {
	a.changed = a.changed || a.merged || a.fresh
	return a.save()
}

// save writes the sums if rows of tables have changed them, also after an interruption.
func (a *Adder) save() error {
	if !a.changed {
		return nil
	}
	if err := a.Sums.write(a.env); err != nil {
		return err
	}
	a.saved, a.changed, a.merged, a.fresh = time.Now(), false, false, false
	if a.Sums.Path != console.Standard {
		a.env.Kept = a.Sums.Path
	}
	return nil
}

// Add adds the rows of a table that are not there, if there are any, or the sums of a file, and now and then writes the sums. It
// calls show with the number of rows read so far. After an error the sums that are complete are written, but not to standard output.
func (a *Adder) Add(path string, show func(rows int)) error {
	if err := a.add(path, show); err != nil {
		if a.Sums.Path == console.Standard {
			return err
		}
		return errors.Join(err, a.save())
	}
	if a.due() {
		return a.save()
	}
	return nil
}

func (a *Adder) add(path string, show func(rows int)) error {
	if isSums(path) {
		s, err := Read(path)
		if err != nil {
			return err
		}
		return a.merge(s)
	}
	if path == console.Standard {
		return a.addStream("standard input", a.env.Stdin, show)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := a.env.Open(path)
		if err != nil {
			return console.Input(err)
		}
		defer f.Close()
		return a.addStream(path, f, show)
	}
	return a.addTable(path, show)
}

// merge adds the sums of another file, unless all parts of it were there at the beginning.
func (a *Adder) merge(s *Sums) error {
	if a.Sums.Plan.Hash() != s.Plan.Hash() {
		return console.Inputf("%s has another plan than %s", s.Path, a.planOf)
	}
	if a.Part != "" {
		return console.Inputf("-part names a table, and %s is a file of sums, whose parts have names already", s.Path)
	}
	switch there, some := a.before.holdAll(s.Sums); {
	case there:
		return nil
	case some:
		return console.Inputf("%s holds some of the parts of %s, and sums of a file can only be added whole", a.Sums.Path, s.Path)
	}
	if err := a.Sums.merge(s, a.from); err != nil {
		return err
	}
	a.Added, a.merged = a.Added+1, true
	return nil
}

// addTable adds a file that can be read again, from its front or from where it was interrupted.
func (a *Adder) addTable(path string, show func(rows int)) error {
	p, err := fingerprint(a.env, path)
	if err != nil {
		return err
	}
	if a.Part != "" {
		p.Name = a.Part
	}
	if there, err := a.Sums.hold(p); there || err != nil {
		return err
	}
	if open := a.Sums.Open; open == nil || open.SHA256 != p.SHA256 {
		a.Sums.Open = &mkl.OpenPart{SumsPart: p, Sums: &stat.Statistic{}}
	}
	t, err := openTable(a.env, a.columns, a.Sums.Plan, path)
	if err != nil {
		return err
	}
	defer t.Files.Close()
	b, err := newBuilder(a.Sums.Plan, a.workers)
	if err != nil {
		return err
	}
	rows := &adding{Adder: a, part: a.Sums.Open, builder: b, full: a.Sums.Open.Rows, keeps: a.Sums.Path != console.Standard}
	if err := rows.addAll(t, show); err != nil {
		return errors.Join(err, rows.takeFull())
	}
	open := a.Sums.Open
	if err := a.Sums.Sums.Add(open.SumsPart, open.Sums); err != nil {
		return console.Inputf("%s: %w", path, err)
	}
	a.Sums.Open = nil
	a.Added, a.changed = a.Added+1, true
	return nil
}

// adding is the open table, to which rows are being added. Only blocks that are full go there, until the table ends:
// a block has the same bits whenever it was begun.
type adding struct {
	*Adder
	part    *mkl.OpenPart
	builder builder
	keeps   bool // whether the sums of full blocks are written before the table ends
	full    int  // rows up to the end of the last full block
	pending int  // samples of the block that is not full
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
			if a.keeps && a.due() {
				if err := errors.Join(a.takeFull(), a.save()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// takeFull adds the blocks that are full to the open table.
func (a *adding) takeFull() error {
	if !a.keeps || a.full == a.part.Rows {
		return nil
	}
	a.part.Rows = a.full
	full, err := a.builder.take(false)
	return errors.Join(err, a.take(full))
}

// end adds all that is left.
func (a *adding) end() error {
	last, err := a.builder.take(true)
	if err != nil {
		return err
	}
	return a.take(last)
}

// take adds sums of samples of the table.
func (a *adding) take(s *stat.Statistic) error {
	if err := a.part.Sums.Merge(s); err != nil {
		return err
	}
	a.part.Samples += s.Samples()
	a.changed = a.changed || a.keeps
	return nil
}
