package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// BesideFlags name columns that belong to the target: they are in no view.
type BesideFlags struct {
	Event    string `placeholder:"COLUMN" help:"Column that says whether the event happened, for -task survival: 1, true or yes if it happened at the time of the target, 0, false or no if it had not happened by then. With COLUMN=VALUE it happened in the rows whose cell is VALUE. Without -event and -upper all events happened at their times."`
	Upper    string `placeholder:"COLUMN" help:"Column with the latest possible time of the event, for -task survival; the target holds the earliest. If this cell is empty, the event is later than the target; if the target is empty, the event is earlier than this cell."`
	Exposure string `placeholder:"COLUMN" help:"Column of what a count is proportional to, for -task counts, such as the time under observation."`

	Weights string `placeholder:"COLUMN" help:"Column that says how precise the target of each row is, for a regression. A target of weight w is as precise as the mean of w targets of weight 1; a row of weight 0 is left out."`
	NoiseSD string `name:"noise-sd" placeholder:"NUMBER|COLUMN" help:"Known standard deviation of the noise, for a regression, in the target's units, or the column that holds it for each row; by default it is learned."`
	Offset  string `placeholder:"COLUMN" help:"Column that holds a known part of the target, for a regression. The fit learns the rest; a prediction adds the same column of its rows."`
}

// noBeside is a target without columns beside it.
var noBeside = Beside{Event: -1, Upper: -1, Exposure: -1, Weights: -1, Noise: -1, Offset: -1}

// KnownNoise returns the number of -noise-sd; 0 without -noise-sd, or if it names a column. A number is never the name of a column.
func (f BesideFlags) KnownNoise() float64 {
	sd, err := strconv.ParseFloat(f.NoiseSD, 64)
	if err != nil {
		return 0
	}
	return sd
}

// Beside are the columns of the main file that belong to the target.
type Beside struct {
	Event, Upper, Exposure int // −1 without such a column, as the next three
	Weights, Noise, Offset int
	Happened               string  // the cell of an event that happened; if empty, 1, true or yes
	KnownNoise             float64 // standard deviation of the noise of every row, if it is known; else 0
}

// FindBeside finds the columns that the flags name. None of them may be a target.
func FindBeside(main *console.File, f BesideFlags, targets []int) (b Beside, err error) {
	b = noBeside
	noise := f.NoiseSD
	if sd, err := strconv.ParseFloat(noise, 64); err == nil {
		if !(sd > 0 && sd <= math.MaxFloat64) {
			return b, console.Inputf("-noise-sd %s is not a positive number", noise)
		}
		b.KnownNoise, noise = sd, ""
	}
	if noise != "" && f.Weights != "" {
		return b, console.Inputf("-weights excludes -noise-sd COLUMN: weights are one over the squares of such standard deviations")
	}
	if f.Event != "" && f.Upper != "" {
		return b, console.Inputf("-event excludes -upper: if an event had not happened by the time of the target, leave its cell of -upper empty")
	}
	event := f.Event
	if at := strings.LastIndex(event, "="); at > 0 && at < len(event)-1 && !slices.Contains(main.Columns(), event) {
		event, b.Happened = event[:at], event[at+1:]
	}
	except := slices.Clone(targets)
	for _, one := range []struct {
		flag, name string
		to         *int
	}{{"-event", event, &b.Event}, {"-upper", f.Upper, &b.Upper}, {"-exposure", f.Exposure, &b.Exposure},
		{"-weights", f.Weights, &b.Weights}, {"-noise-sd", noise, &b.Noise}, {"-offset", f.Offset, &b.Offset}} {
		if *one.to, err = OneColumn(main, one.flag, one.name, nil); err != nil {
			return b, err
		}
		if j := *one.to; j >= 0 && slices.Contains(except, j) {
			return b, console.Inputf("%s %s: the column has another role already, such as the target", one.flag, one.name)
		}
		except = append(except, *one.to)
	}
	return b, nil
}

// columns are the columns that there are.
func (b Beside) columns() (all []int) {
	for _, j := range []int{b.Event, b.Upper, b.Exposure, b.Weights, b.Noise, b.Offset} {
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
	for _, j := range []int{b.Upper, b.Exposure, b.Weights, b.Noise, b.Offset} {
		if j >= 0 {
			main.Need(j, table.Optional)
		}
	}
}

// Lifetimes reads times from the column target and the columns of -event and -upper. Both ends of a time are NaN if its
// cells are empty. A time of 0 counts as ZeroTime.
func (b Beside) Lifetimes(f *console.File, target int) ([]mkl.Lifetime, error) {
	zero := b.ZeroTime(f, target)
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
		if one.From == 0 && (one.To == 0 || math.IsInf(one.To, 1)) {
			one = mkl.Lifetime{From: zero, To: max(zero, one.To)}
		}
		if err := checkLifetime(f, i, target, one); err != nil {
			return nil, err
		}
		out[i] = one
	}
	return out, nil
}

// ZeroTime returns what a time of 0 counts as: half of the least positive time in the columns of the times, and 0 without a positive time. Most
// times are in whole days or months. A time of 0 then says that the event happened, or the observation ended, within the first of them.
func (b Beside) ZeroTime(f *console.File, target int) float64 {
	least := math.Inf(1)
	for _, j := range []int{target, b.Upper} {
		if j < 0 {
			continue
		}
		for _, t := range f.Data.Numbers[j] {
			if t > 0 && t < least {
				least = t
			}
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least / 2
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
		wrong = "a time must not be negative, and the column must have a positive one"
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
	case text == b.Happened || table.SameNumber(text, b.Happened):
		return mkl.LabelPresent, nil
	}
	return mkl.LabelAbsent, nil
}

// Events says by row whether the event happened, by the column of -event.
func (b Beside) Events(f *console.File) (all []mkl.Label, err error) {
	all = make([]mkl.Label, f.Data.Rows)
	for i := range all {
		if all[i], err = b.happened(f, i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// SomeEvent refuses times of -event without a single event: they bound the lengths of no time.
func (b Beside) SomeEvent(f *console.File, times []mkl.Lifetime) error {
	if b.Event < 0 || slices.ContainsFunc(times, func(t mkl.Lifetime) bool { return t.From == t.To }) {
		return nil
	}
	name := f.Columns()[b.Event]
	if b.Happened == "" {
		return console.Inputf("%s: column %q: the event happened in no row, and a fit needs rows where it did", f.Name(), name)
	}
	return console.Inputf("%s: column %q: no cell is %q, so the event happened in no row; the cells are %s", f.Name(), name, b.Happened,
		console.Few(table.Classes(f.Data.Labels[b.Event])))
}

// Exposures reads the column of exposures; nil without such a column. An empty cell is NaN.
func (b Beside) Exposures(f *console.File) ([]float64, error) {
	return ExposuresOf(f, b.Exposure)
}

// ExposuresOf reads a column of exposures as [NumbersBeside] does, within the limits of [mkl.Counts].
func ExposuresOf(f *console.File, column int) ([]float64, error) {
	all, err := NumbersBeside(f, column, "exposure", false)
	for i, v := range all {
		switch {
		case v <= 0:
			return nil, console.Input(f.Data.Cell(i, column,
				fmt.Sprintf("the exposure is %g: it must be positive; leave out the row, or leave this cell empty", v)))
		case v < mkl.LeastExposure || v > mkl.MostExposure:
			return nil, console.Input(f.Data.Cell(i, column, fmt.Sprintf("the exposure is %g: it must be from %g to %g", v, mkl.LeastExposure, mkl.MostExposure)))
		}
	}
	return all, err
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
	for _, j := range []int{b.Exposure, b.Weights, b.Noise, b.Offset} {
		if j < 0 {
			continue
		}
		for i, v := range d.Numbers[j] {
			why.ifEmpty(v != v, d, i, j)
			if j == b.Weights && v == 0 && why[i] == nil {
				why[i] = d.Cell(i, j, "the weight is 0")
			}
		}
	}
}

// NumbersBeside reads a column of finite numbers that belong to the target; nil without such a column. An empty cell is NaN.
func NumbersBeside(f *console.File, column int, name string, positive bool) ([]float64, error) {
	if column < 0 {
		return nil, nil
	}
	for i, v := range f.Data.Numbers[column] {
		switch {
		case math.IsInf(v, 0):
			return nil, console.Input(f.Data.Cell(i, column, fmt.Sprintf("the %s is not finite", name)))
		case positive && v <= 0:
			return nil, console.Input(f.Data.Cell(i, column, fmt.Sprintf("the %s is %g: it must be positive", name, v)))
		}
	}
	return f.Data.Numbers[column], nil
}

// Offsets reads the column of offsets; nil without such a column.
func (b Beside) Offsets(f *console.File) ([]float64, error) {
	return NumbersBeside(f, b.Offset, "offset", false)
}

// rowNoise reads the weights of rows, nil without them, and the standard deviation of the noise of a row of weight 1, 0 if it is
// learned. A column of standard deviations s_n gives the weights (s/s_n)² and the standard deviation s, the root mean square of the s_n.
func (b Beside) rowNoise(f *console.File) (weights []float64, sd float64, err error) {
	if weights, err = NumbersBeside(f, b.Weights, "weight", true); weights != nil || err != nil {
		return weights, b.KnownNoise, err
	}
	each, err := NumbersBeside(f, b.Noise, "standard deviation of the noise", true)
	if each == nil || err != nil {
		return nil, b.KnownNoise, err
	}
	largest := slices.Max(each)
	for _, s := range each {
		sd += s / largest * (s / largest) / float64(len(each))
	}
	sd = largest * math.Sqrt(sd)
	for _, s := range each {
		weights = append(weights, sd/s*(sd/s))
	}
	return weights, sd, nil
}
