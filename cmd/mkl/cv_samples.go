package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl/choose"
)

// read finds the columns, reads them and makes the plan of the views by all rows: it says which columns are
// features and which rows are complete.
func (v *crossValidation) read(fs *console.Files) error {
	p := v.p
	if err := p.findTargets(); err != nil {
		return err
	}
	guess := p.task == ""
	if guess {
		p.main.Need(p.targets[0], table.Undecided)
	} else if err := v.setForm(); err != nil {
		return err
	} else {
		for _, j := range p.targets {
			p.main.Need(j, p.targetKind())
		}
	}
	group, err := oneColumn(p.main, "-group", v.Group, p.targets)
	if err != nil {
		return err
	}
	order, err := oneColumn(p.main, "-order", v.Order, p.targets)
	if err != nil {
		return err
	}
	except := p.targets
	if group >= 0 {
		p.main.Need(group, table.Label)
		except = append(slices.Clone(except), group)
	}
	if p.views, err = p.fitCmd.views(fs, p.main, except); err != nil {
		return err
	}
	if order >= 0 {
		p.main.Want(table.Want{Column: order, Kind: table.Any})
	}
	if _, err := fs.Read(); err != nil {
		return p.hint(err)
	}
	if guess {
		if err := p.guess(v.setForm); err != nil {
			return err
		}
	}
	lines, err := p.makePlan(fs)
	if err != nil {
		return err
	}
	if err := p.compare(v.env.Ctx); err != nil {
		return err
	}
	d, err := p.learnTargets()
	if err != nil {
		return err
	}
	for _, line := range slices.Concat(fs.Remarks(), lines, p.doubtsAndTask(d)) {
		fmt.Fprintln(v.env.Stderr, line)
	}
	switch {
	case v.several():
		for _, y := range d.numbers {
			v.truth.Targets = append(v.truth.Targets, choose.Truth{Numbers: y})
		}
		for _, has := range d.labels {
			v.truth.Targets = append(v.truth.Targets, choose.Truth{Classes: truthOfLabels(has)})
		}
	case d.classes != nil:
		v.classes = d.classes
		for _, label := range d.class {
			v.truth.Classes = append(v.truth.Classes, slices.Index(d.classes, label))
		}
	default:
		v.truth.Numbers = d.numbers[0]
	}
	return v.readDivision(group, order)
}

// setForm refuses tasks that do not fit the targets, and says what these are; the default
// estimator stands in until the candidates are known.
func (v *crossValidation) setForm() (err error) {
	p := v.p
	single := slices.Contains([]string{taskRegression, taskBinary, taskMulticlass}, p.task)
	switch {
	case !v.several() && !single:
		return console.Inputf("mkl cv is for -task %s, %s and %s of one target, not %s: the others need several", taskRegression, taskBinary, taskMulticlass, p.task)
	case v.several() && single && p.task != taskRegression:
		return console.Inputf("-task %s needs one target, the column of labels, not %d", p.task, len(p.targets))
	case !v.several() && p.MissingTargets:
		return console.Inputf("-missing-targets is for several targets")
	case p.Missing == missingViews:
		return console.Inputf("-missing views is not for mkl cv")
	}
	if v.several() && p.task == taskRegression {
		p.task = taskMultioutput
	}
	p.est, err = p.estimator(len(p.targets))
	return err
}

// form is what the targets are.
func (v *crossValidation) form() form { return v.p.est.form }

// readDivision reads what the columns of -group and -order say.
func (v *crossValidation) readDivision(group, order int) error {
	d := &v.p.main.Data
	if group >= 0 {
		names := table.Classes(d.Labels[group])
		at := make(map[string]int, len(names))
		for k, name := range names {
			at[name] = k
		}
		for _, name := range d.Labels[group] {
			v.groups = append(v.groups, at[name])
		}
	}
	if order >= 0 {
		if d.Types[order] == table.Text {
			return console.Inputf("-order %s: the column is text: dates or numbers are needed", v.Order)
		}
		v.order = d.Numbers[order]
		if i := slices.IndexFunc(v.order, math.IsNaN); i >= 0 {
			return console.Input(d.Cell(i, order, "the cell is empty: -order needs all of them"))
		}
	}
	return nil
}

// split divides the rows.
func (v *crossValidation) split() ([]choose.Fold, error) {
	p := choose.Plan{Folds: v.Folds, Repeats: v.Repeats, Seed: v.Seed, Groups: v.groups, Time: v.order}
	if v.Stratify && v.order == nil {
		p.Strata = v.truth.Classes
	}
	return choose.Split(v.p.main.Data.Rows, p)
}
