package dataset

import (
	"fmt"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// Form is what targets are.
type Form int

// The forms of targets.
const (
	Numbers Form = iota // columns of numbers
	Classes             // a column of labels, one for each sample
	Labels              // columns that say whether a sample has a label
	Entries             // the entries of a table, which has no other columns
	Times               // a column of times until an event, and what is beside it
)

// Probabilities reports whether what is predicted of such targets are probabilities.
func (f Form) Probabilities() bool { return f == Classes || f == Labels }

// Kind is how a column of targets is read. If missing, cells can be empty.
func (f Form) Kind(missing bool) table.Kind {
	switch {
	case f == Numbers && missing, f == Entries, f == Times:
		return table.Optional
	case f == Numbers:
		return table.Number
	case missing:
		return table.OptionalLabel
	}
	return table.Label
}

// TargetKind is how targets of a form are read: where rows without a target are left out or learned from, cells can
// be empty.
func (f Flags) TargetKind(form Form) table.Kind {
	return form.Kind(f.MissingTargets || f.Missing != MissingRefuse && f.Missing != MissingViews)
}

// Targets are targets as package mkl takes them, in one of their forms.
type Targets struct {
	Numbers [][]float64    // by target
	Class   []string       // by sample
	Classes []string       // the distinct labels, in order
	Labels  [][]mkl.Label  // by target and sample
	Times   []mkl.Lifetime // by sample

	Exposure []float64 // by sample, of counts; nil means 1

	// Of numbers, from which offsets were subtracted.
	Weights []float64 // by sample: how precise the number is; nil means 1
	NoiseSD float64   // standard deviation of the noise of a sample of weight 1; 0 if it is learned
}

// Outputs is how many functions are learned: one for each target, or for each class.
func (t Targets) Outputs() int {
	return max(len(t.Numbers), len(t.Labels), len(t.Classes), min(1, len(t.Times)))
}

// TargetsAs returns the targets in a form.
func (t *Table) TargetsAs(form Form) (y Targets, err error) {
	switch form {
	case Numbers:
		for _, j := range t.Targets {
			y.Numbers = append(y.Numbers, t.Main.Data.Numbers[j])
		}
		if y.Exposure, err = t.Beside.Exposures(t.Main); err != nil {
			return y, err
		}
		if y.Weights, y.NoiseSD, err = t.Beside.rowNoise(t.Main); err != nil {
			return y, err
		}
		err = y.takeOffsets(t)
	case Times:
		y.Times, err = t.Beside.Lifetimes(t.Main, t.Targets[0])
	case Classes:
		y.Class = t.Main.Data.Labels[t.Targets[0]]
		y.Classes = table.Classes(y.Class)
	case Labels:
		for _, j := range t.Targets {
			has, err := HasLabel(t.Main, j)
			if err != nil {
				return y, err
			}
			y.Labels = append(y.Labels, has)
		}
	}
	return y, err
}

// takeOffsets subtracts the offsets of the rows from the numbers.
func (y *Targets) takeOffsets(t *Table) error {
	offset, err := t.Beside.Offsets(t.Main)
	if offset == nil || err != nil {
		return err
	}
	for o, all := range y.Numbers {
		rest := make([]float64, len(all))
		for i, v := range all {
			rest[i] = v - offset[i]
		}
		y.Numbers[o] = rest
	}
	return nil
}

// HasLabel reads a column that says whether samples have a label.
func HasLabel(f *console.File, column int) ([]mkl.Label, error) {
	has := make([]mkl.Label, f.Data.Rows)
	for i := range has {
		var err error
		if has[i], err = labelOf(f, i, column, ""); err != nil {
			return nil, err
		}
	}
	return has, nil
}

// labelOf reads whether a row has a label. The error ends with a hint.
func labelOf(f *console.File, row, column int, hint string) (mkl.Label, error) {
	text := f.Data.Labels[column][row]
	switch word := strings.ToLower(text); {
	case word == "":
		return mkl.LabelUnknown, nil
	case word == "true", word == "yes", table.SameNumber(word, "1"):
		return mkl.LabelPresent, nil
	case word == "false", word == "no", table.SameNumber(word, "0"), table.SameNumber(word, "-1"):
		return mkl.LabelAbsent, nil
	default:
		return mkl.LabelUnknown, console.Input(f.Data.Cell(row, column, fmt.Sprintf("%q is neither 1, true or yes nor 0, -1, false or no%s", text, hint)))
	}
}
