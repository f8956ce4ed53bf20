package saved

import (
	"math"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/mkl"
)

// CheckTimes returns an error if times of -times are not positive, or are not for the model.
func CheckTimes(m *Model, times []float64) error {
	if times != nil && m.Estimator.Form != dataset.Times {
		return console.Inputf("-times is for models of times until an event, and this is one of %s", m.Notes.Task)
	}
	for _, t := range times {
		if !(t > 0 && t <= math.MaxFloat64) {
			return console.Inputf("-times %g: times are positive numbers", t)
		}
	}
	return nil
}

// findBeside checks -times, and finds the exposures of a model of counts.
func (s *Samples) findBeside(fs *console.Files, m *Model, in *Input) error {
	if err := CheckTimes(m, in.Times); err != nil {
		return err
	}
	s.Options.Times = in.Times
	var was notes.Beside
	if n := m.Notes.Beside; n != nil {
		was = *n
	}
	_, counts := m.Model.(*mkl.CountModel)
	switch {
	case in.Exposure != "" && !counts:
		return console.Inputf("-exposure is for models of counts, and this is one of %s", m.Notes.Task)
	case in.Offset != "" && was.Offset == "":
		return console.Inputf("-offset is for models whose fit had offsets, and the fit of this model had none")
	}
	if counts {
		s.exposure = rowNumber{flag: "-exposure", noun: "exposure", positive: true, was: was.Exposure}
		if err := s.exposure.find(fs, in, in.Exposure, "predicts counts for the exposure 1"); err != nil {
			return err
		}
	}
	s.offset = rowNumber{flag: "-offset", noun: "offset", was: was.Offset}
	return s.offset.find(fs, in, in.Offset, "adds the offset 1")
}

// rowNumber is a number of each row to predict that is in no view: an exposure or an offset.
type rowNumber struct {
	flag, noun string
	positive   bool
	was        string // the column of the fit; empty without such a column

	inFile bool // a column has the numbers
	column int  // this column of the main file
	all    bool // every row has the number each
	each   float64
}

// find finds the column that the text names, or else the column of the fit, or reads the number of every row. Errors say
// with one what the number 1 does.
func (n *rowNumber) find(fs *console.Files, in *Input, text, one string) error {
	name := text
	if name == "" {
		name = n.was
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		switch {
		case n.positive && !(v > 0 && v <= math.MaxFloat64):
			return console.Inputf("%s %s: %ss are positive numbers", n.flag, text, n.noun)
		case math.IsNaN(v) || math.IsInf(v, 0):
			return console.Inputf("%s %s: %ss are finite numbers", n.flag, text, n.noun)
		}
		n.all, n.each = true, v
		return nil
	}
	if name == "" {
		return nil
	}
	if in.Data == "" {
		return console.Inputf("%s %s: no data file is given", n.flag, name)
	}
	main := fs.All[0]
	if text == "" && !slices.Contains(main.Columns(), name) {
		return console.Inputf("%s has no column %q of %ss, as the fit had: %s COLUMN names another, %[4]s 1 %[5]s", main.Name(), name, n.noun, n.flag, one)
	}
	var err error
	if n.column, err = dataset.OneColumn(main, n.flag, name, nil); err != nil {
		return err
	}
	if main.Needs(n.column) {
		return console.Inputf("%s %s: the column is part of a view", n.flag, name)
	}
	n.inFile = true
	main.Need(n.column, table.Optional)
	return nil
}

// of returns the numbers of the rows kept, whose features are x; nil without such numbers. It removes rows that lack the number from x, from
// others and from kept.
func (n *rowNumber) of(s *Samples, x []mkl.Features, others *[]float64, kept []int, gaps *dataset.Shortfall) (all []float64, still []int, err error) {
	switch {
	case n.all:
		return slices.Repeat([]float64{n.each}, len(kept)), kept, nil
	case !n.inFile:
		return nil, kept, nil
	}
	main := s.Files.All[0]
	read := dataset.ExposuresOf
	if !n.positive {
		read = func(f *console.File, column int) ([]float64, error) {
			return dataset.NumbersBeside(f, column, n.noun, false)
		}
	}
	column, err := read(main, n.column)
	if err != nil {
		return nil, nil, err
	}
	var rows []int
	for k, i := range kept {
		if v := column[i]; v == v {
			all, still, rows = append(all, v), append(still, i), append(rows, k)
			continue
		}
		if gaps.Missing++; gaps.First == nil {
			gaps.First = main.Data.Cell(i, n.column, "the "+n.noun+" is missing")
		}
	}
	if len(still) < len(kept) {
		for k := range x {
			x[k] = x[k].TakeRows(rows)
		}
		if *others != nil {
			left := make([]float64, 0, len(rows))
			for _, k := range rows {
				left = append(left, (*others)[k])
			}
			*others = left
		}
	}
	return all, still, nil
}

// askBeside finds the columns that say, beside the target of a model of times, whether and when the events happened.
func (o *Opened) askBeside(target []int) error {
	n := o.Notes.Beside
	if n == nil {
		n = &notes.Beside{}
	}
	event := n.Event
	if n.Happened != "" {
		event += "=" + n.Happened
	}
	var err error
	if o.Beside, err = dataset.FindBeside(o.Main(), dataset.BesideFlags{Event: event, Upper: n.Upper}, target); err != nil {
		return err
	}
	for _, j := range []int{o.Beside.Event, o.Beside.Upper} {
		if j >= 0 && o.Main().Needs(j) {
			return console.Inputf("column %q is both part of a view and beside the target", o.Main().Columns()[j])
		}
	}
	o.Beside.Need(o.Main())
	return nil
}
