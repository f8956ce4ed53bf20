package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// sumCmd is mkl sum.
type sumCmd struct {
	Data    []string `arg:"" help:"Tables with a row for each sample, columns called as in the plan."`
	Plan    string   `required:"" placeholder:"FILE" help:"Plan, as mkl plan made it."`
	Output  string   `short:"o" required:"" placeholder:"FILE" help:"File of the sums to write. If it is there, tables that are in it are passed over, and others added."`
	Workers int      `help:"Most goroutines at work; 0 means one for each processor."`

	console.Layout `embed:""`
}

// saveEvery is how often the sums so far are written.
const saveEvery = 10 * time.Second

// Run sums the tables one by one, block by block. What is done is kept in the file: the same
// command goes on from there, also in the middle of a table.
func (c *sumCmd) Run(e *console.Env) error {
	if c.Workers < 0 {
		return console.Inputf("-workers %d is negative", c.Workers)
	}
	if err := atomicfile.Check(c.Output); err != nil {
		return console.Input(err)
	}
	plan, notes, err := readPlan(c.Plan)
	if err != nil {
		return err
	}
	s, err := c.begin(plan)
	if err != nil {
		return err
	}
	bar := console.NewProgress(e, false, len(c.Data), "tables")
	defer bar.Finish()
	e.Hold()
	begin := time.Now()
	k := &keeper{env: e, sums: s, saved: begin}
	added := 0
	for done, path := range c.Data {
		show := func(rows int) { bar.Set(done, len(c.Data), fmt.Sprintf("%s: %s", path, console.Plural(rows, "row"))) }
		isNew, err := c.add(e, k, notes, path, show)
		if err != nil {
			return errors.Join(err, k.save())
		}
		if isNew {
			added++
		}
		if k.due() {
			if err := k.save(); err != nil {
				return err
			}
		}
	}
	if err := k.save(); err != nil {
		return err
	}
	bar.Finish()
	hash := s.total.Hash()
	fmt.Fprintf(e.Stdout, "%s: %s of %s, %d of them added in %.1f s; hash %x\n", c.Output, console.Plural(int(s.total.Samples()), "sample"),
		console.Plural(len(s.parts), "table"), added, time.Since(begin).Seconds(), hash[:8])
	return nil
}

// keeper writes sums now and then.
type keeper struct {
	env     *console.Env
	sums    *sums
	saved   time.Time
	changed bool // since then
}

// due reports whether it is time to save.
func (k *keeper) due() bool { return time.Since(k.saved) >= saveEvery }

// save writes the sums if they have changed, also after an interruption.
func (k *keeper) save() error {
	if !k.changed {
		return nil
	}
	if err := k.sums.write(context.WithoutCancel(k.env.Ctx)); err != nil {
		return err
	}
	k.saved, k.changed, k.env.Kept = time.Now(), false, k.sums.path
	return nil
}

// begin returns the sums that the output holds, or none. It refuses those of another plan.
func (c *sumCmd) begin(plan samplePlan) (*sums, error) {
	if _, err := os.Stat(c.Output); err != nil {
		return &sums{path: c.Output, plan: plan, total: &stat.Statistic{}}, nil
	}
	s, err := readSums(c.Output)
	if err != nil {
		return nil, err
	}
	if s.plan.Hash() != plan.Hash() {
		return nil, console.Inputf("%s holds sums of another plan: remove it, or name another file", c.Output)
	}
	return s, nil
}

// add adds the rows of a table that are not there, if there are any. It calls show with the number
// of rows read so far.
func (c *sumCmd) add(e *console.Env, k *keeper, n *notes, path string, show func(rows int)) (added bool, err error) {
	if path == console.Standard {
		return false, console.Inputf("standard input cannot be summed: it could not be told whether it was before")
	}
	p, err := fingerprint(e, path)
	if err != nil {
		return false, err
	}
	if there, err := k.sums.hold(p); there || err != nil {
		return false, err
	}
	if open := k.sums.open; open == nil || open.SHA256 != p.SHA256 {
		k.sums.open = &openPart{part: p, sums: &stat.Statistic{}}
	}
	o, err := openTable(e, &c.Layout, n, k.sums.plan, path)
	if o != nil {
		defer o.files.Close()
	}
	if err != nil {
		return false, err
	}
	b, err := newBuilder(k.sums.plan, c.Workers)
	if err != nil {
		return false, err
	}
	a := &adding{keeper: k, openPart: k.sums.open, builder: b, full: k.sums.open.Rows}
	if err := c.addRows(e, a, o, show); err != nil {
		return false, errors.Join(err, a.takeFull())
	}
	return true, nil
}

// addRows adds the rows of the open table that are not in the sums yet, to its end.
func (c *sumCmd) addRows(e *console.Env, a *adding, o *opening, show func(rows int)) error {
	start := a.Rows // those before are in the sums
	gaps := shortfall{rows: start}
	read, noTarget := 0, 0
	for rows, err := range o.files.Blocks(stat.BlockSamples) {
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
			o.main.Data.Pick(left)
			rows, first = len(left), start
		}
		x, y, at, left, err := o.samples(e.Ctx, rows, first, c.Workers, &gaps)
		if err != nil {
			return err
		}
		noTarget += left
		if err := a.add(e.Ctx, x, y, at); err != nil {
			return console.Inputf("%s: %w", o.main.Name(), err)
		}
		show(read)
	}
	if err := gaps.tell(e, o.inputs, "summed"); err != nil {
		return err
	}
	if noTarget > 0 {
		fmt.Fprintf(e.Stderr, "mkl: warning: %s: %d of %s have no target\n", o.main.Name(), noTarget, console.Plural(gaps.rows-gaps.missing, "row"))
	}
	if err := a.end(); err != nil {
		return console.Inputf("%s: %w", o.main.Name(), err)
	}
	return nil
}

// targets are those of some rows: numbers, or labels if they are not nil.
type targets struct {
	numbers []float64
	labels  []string
}

// slice returns some of them.
func (t targets) slice(first, last int) targets {
	if t.labels != nil {
		return targets{labels: t.labels[first:last]}
	}
	return targets{numbers: t.numbers[first:last]}
}

// builder sums samples by a plan of either kind.
type builder struct {
	numbers *mkl.PlanBuilder
	labels  *mkl.ClassPlanBuilder[string] // nil if there are numbers
}

func newBuilder(plan samplePlan, workers int) (b builder, err error) {
	switch p := plan.(type) {
	case *mkl.ClassPlan[string]:
		b.labels, err = p.Builder(workers)
	case *mkl.Plan:
		b.numbers, err = p.Builder(workers)
	}
	return b, err
}

func (b builder) add(t targets, x []mkl.Features) error {
	if b.labels != nil {
		return b.labels.Add(t.labels, x...)
	}
	return b.numbers.Add(t.numbers, x...)
}

// take returns the sums of the blocks that have ended, or of all samples at the end.
func (b builder) take(end bool) (*stat.Statistic, error) {
	var s interface {
		Take() *stat.Statistic
		Finish() (*stat.Statistic, error)
	} = b.numbers
	if b.labels != nil {
		s = b.labels
	}
	if end {
		return s.Finish()
	}
	return s.Take(), nil
}

// opening is a table that is to be summed, or passed over.
type opening struct {
	*opened
	main   *console.File
	target int // column
	labels bool
}

// samples returns features and targets of the rows that were read which have both, and which rows of the
// table they are, first being that of the first one read; left is how many lack nothing but a target.
func (o *opening) samples(
	ctx context.Context, rows, first, workers int, gaps *shortfall,
) (x []mkl.Features, y targets, at []int, left int, err error) {
	x, kept, err := o.features(ctx, rows, workers, gaps)
	if err != nil {
		return nil, y, nil, 0, err
	}
	if o.labels {
		y.labels = []string{}
	}
	var known []int // places among those kept
	for i, row := range kept {
		if o.labels {
			if v := o.main.Data.Labels[o.target][row]; v != "" {
				y.labels, at, known = append(y.labels, v), append(at, first+row), append(known, i)
			}
		} else if v := o.main.Data.Numbers[o.target][row]; v == v {
			y.numbers, at, known = append(y.numbers, v), append(at, first+row), append(known, i)
		}
	}
	if left = len(kept) - len(known); left > 0 {
		for i := range x {
			x[i] = x[i].TakeRows(known)
		}
	}
	return x, y, at, left, nil
}

// openTable opens a table and asks for its columns. What it returns is to be closed, also with an error.
func openTable(e *console.Env, layout *console.Layout, n *notes, plan samplePlan, path string) (o *opening, err error) {
	opt, err := layout.Options()
	if err != nil {
		return nil, err
	}
	for _, v := range n.Views {
		opt.Sparse = append(opt.Sparse, v.Columns...)
	}
	o = &opening{opened: &opened{files: &console.Files{Env: e, Opt: opt, Join: cmp.Or(layout.Join, n.Join)}}}
	in := &modelInput{Data: path}
	if o.inputs, err = in.inputs(o.files, n, plan.Inputs()); err != nil {
		return o, err
	}
	o.main = o.files.All[0]
	found, err := spec.Select(spec.Names(n.Targets), o.main.Columns(), nil)
	if err != nil {
		return o, console.Inputf("target: %s: %w", o.main.Name(), err)
	}
	o.target = found[0]
	kind := table.Optional
	if _, o.labels = plan.(*mkl.ClassPlan[string]); o.labels {
		kind = table.OptionalLabel
	}
	o.main.Need(o.target, kind)
	return o, nil
}

// adding is the open table, to which rows are being added. Only blocks that are full go there, until
// the table ends: a block has the same bits whenever it was begun.
type adding struct {
	*keeper
	*openPart
	builder builder
	full    int // rows up to the end of the last full block
	pending int // samples of the block that is not full
}

// addSamples is how many samples are added before the context is asked again.
const addSamples = 1024

// add adds samples, of which at holds the rows.
func (a *adding) add(ctx context.Context, x []mkl.Features, y targets, at []int) error {
	for first := 0; first < len(at); {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := min(addSamples, len(at)-first, stat.BlockSamples-a.pending)
		part := make([]mkl.Features, len(x))
		for i := range x {
			part[i] = x[i].Slice(first, first+n, 0, x[i].Cols)
		}
		if err := a.builder.add(y.slice(first, first+n), part); err != nil {
			return fmt.Errorf("row %d and those after it: %w", at[first]+1, err)
		}
		first, a.pending = first+n, a.pending+n
		if a.pending == stat.BlockSamples {
			a.pending, a.full = 0, at[first-1]+1
			if a.due() {
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
	if a.full == a.Rows {
		return nil
	}
	a.Rows = a.full
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
	return a.keeper.sums.finish()
}

// take adds sums of samples of the table.
func (a *adding) take(s *stat.Statistic) error {
	if err := a.openPart.sums.Merge(s); err != nil {
		return err
	}
	a.Samples += s.Samples()
	a.changed = true
	return nil
}
