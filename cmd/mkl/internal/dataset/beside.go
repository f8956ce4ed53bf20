package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// BesideFlags name columns that belong to the target: they are in no view.
type BesideFlags struct {
	Event    string `placeholder:"COLUMN" help:"Of -task survival: the column that says whether the event happened at the time of the target (1, true or yes), or had not happened by then (0, false or no). With COLUMN=VALUE it happened where the cell is VALUE. Without -event and -upper all events happened at their times."`
	Upper    string `placeholder:"COLUMN" help:"Of -task survival: the event happened between the time of the target and the time in this column. Where this cell is empty it was later than the target, where the target is empty it was earlier than this."`
	Exposure string `placeholder:"COLUMN" help:"Of -task counts: the column of what a count is proportional to, such as the time under observation."`
}

// Beside are the columns of the main file that belong to the target.
type Beside struct {
	Event, Upper, Exposure int    // −1 without such a column
	Happened               string // the cell of an event that happened; if empty, 1, true or yes
}

// FindBeside finds the columns that the flags name. None of them may be a target.
func FindBeside(main *console.File, f BesideFlags, targets []int) (b Beside, err error) {
	if f.Event != "" && f.Upper != "" {
		return b, console.Inputf("-event excludes -upper: where an event had not happened by the time of the target, the cell of -upper is empty")
	}
	event := f.Event
	if at := strings.LastIndex(event, "="); at > 0 && at < len(event)-1 && !slices.Contains(main.Columns(), event) {
		event, b.Happened = event[:at], event[at+1:]
	}
	except := slices.Clone(targets)
	for _, one := range []struct {
		flag, name string
		to         *int
	}{{"-event", event, &b.Event}, {"-upper", f.Upper, &b.Upper}, {"-exposure", f.Exposure, &b.Exposure}} {
		if *one.to, err = OneColumn(main, one.flag, one.name, nil); err != nil {
			return b, err
		}
		if j := *one.to; j >= 0 && slices.Contains(except, j) {
			return b, console.Inputf("%s %s: the column has another part already, as the target or beside it", one.flag, one.name)
		}
		except = append(except, *one.to)
	}
	return b, nil
}

// columns are the columns that there are.
func (b Beside) columns() (all []int) {
	for _, j := range []int{b.Event, b.Upper, b.Exposure} {
		if j >= 0 {
			all = append(all, j)
		}
	}
	return all
}

// Need asks a file for the columns.
func (b Beside) Need(main *console.File) {
	if b.Event >= 0 {
		main.Need(b.Event, table.OptionalLabel)
	}
	for _, j := range []int{b.Upper, b.Exposure} {
		if j >= 0 {
			main.Need(j, table.Optional)
		}
	}
}

// Lifetimes reads what a file says of times: of the column target, and of the columns beside it. Where nothing is said
// both ends are NaN.
func (b Beside) Lifetimes(f *console.File, target int) ([]mkl.Lifetime, error) {
	out := make([]mkl.Lifetime, f.Data.Rows)
	for i, t := range f.Data.Numbers[target] {
		one := mkl.EventAt(t)
		var err error
		switch {
		case b.Upper >= 0:
			one, err = b.between(f, i, target)
		case b.Event >= 0:
			var happened mkl.Label
			if happened, err = b.happened(f, i); happened == mkl.LabelUnknown {
				one = mkl.EventAt(math.NaN())
			} else if happened == mkl.LabelAbsent {
				one = mkl.EventAfter(t)
			}
		}
		if err != nil {
			return nil, err
		}
		if math.IsNaN(t) && b.Upper < 0 {
			one = mkl.EventAt(math.NaN())
		}
		if err := checkLifetime(f, i, target, one); err != nil {
			return nil, err
		}
		out[i] = one
	}
	return out, nil
}

// between is what two bounds say.
func (b Beside) between(f *console.File, i, target int) (mkl.Lifetime, error) {
	from, to := f.Data.Numbers[target][i], f.Data.Numbers[b.Upper][i]
	switch {
	case math.IsNaN(from) && math.IsNaN(to):
		return mkl.EventAt(math.NaN()), nil
	case math.IsNaN(from):
		return mkl.EventBefore(to), nil
	case math.IsNaN(to):
		return mkl.EventAfter(from), nil
	case from > to:
		return mkl.Lifetime{}, console.Input(f.Data.Cell(i, b.Upper, fmt.Sprintf("%g is below %g, the other end of the time", to, from)))
	}
	return mkl.EventBetween(from, to), nil
}

// checkLifetime refuses times that there cannot be.
func checkLifetime(f *console.File, i, target int, t mkl.Lifetime) error {
	wrong := ""
	switch {
	case math.IsNaN(t.From):
	case t.From < 0 || t.To <= 0:
		wrong = "times are positive: set it to a part of the least that is measured"
	case math.IsInf(t.From, 1), t.From == 0 && math.IsInf(t.To, 1):
		wrong = "the cell says nothing of the time"
	}
	if wrong == "" {
		return nil
	}
	return console.Input(f.Data.Cell(i, target, wrong))
}

// happened says whether the event of a row happened.
func (b Beside) happened(f *console.File, i int) (mkl.Label, error) {
	text := f.Data.Labels[b.Event][i]
	switch {
	case text == "":
		return mkl.LabelUnknown, nil
	case b.Happened == "":
		return labelOf(f, i, b.Event, " (-event COLUMN=VALUE says which cells mean that it happened)")
	case text == b.Happened:
		return mkl.LabelPresent, nil
	}
	return mkl.LabelAbsent, nil
}

// Exposures reads the column of exposures; nil without such a column. An empty cell is NaN.
func (b Beside) Exposures(f *console.File) ([]float64, error) {
	if b.Exposure < 0 {
		return nil, nil
	}
	for i, v := range f.Data.Numbers[b.Exposure] {
		if v <= 0 || math.IsInf(v, 1) {
			return nil, console.Input(f.Data.Cell(i, b.Exposure, fmt.Sprintf("the exposure is %g: exposures are positive", v)))
		}
	}
	return f.Data.Numbers[b.Exposure], nil
}

// ofBeside notes the rows that lack what belongs to the target.
func (why obstacles) ofBeside(d *table.Data, targets []int, b Beside) {
	switch {
	case b.Upper >= 0:
		for i, to := range d.Numbers[b.Upper] {
			if from := d.Numbers[targets[0]][i]; from != from && to != to {
				why[i] = d.Cell(i, targets[0], "both ends of the time are missing")
			}
		}
	default:
		for _, j := range targets {
			why.ofTarget(d, j)
		}
	}
	if b.Event >= 0 {
		for i, text := range d.Labels[b.Event] {
			why.ifEmpty(text == "", d, i, b.Event)
		}
	}
	if b.Exposure >= 0 {
		for i, v := range d.Numbers[b.Exposure] {
			why.ifEmpty(v != v, d, i, b.Exposure)
		}
	}
}
