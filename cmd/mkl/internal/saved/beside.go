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

// findBeside checks -times, and finds the exposures of a model of counts.
func (s *Samples) findBeside(fs *console.Files, m *Model, in *Input) error {
	if in.Times != nil && m.Estimator.Form != dataset.Times {
		return console.Inputf("-times is for models of times until an event, and this is one of %s", m.Notes.Task)
	}
	for _, t := range in.Times {
		if !(t > 0 && t <= math.MaxFloat64) {
			return console.Inputf("-times %g: times are positive numbers", t)
		}
	}
	s.Options.Times = in.Times
	if _, counts := m.Model.(*mkl.CountModel); !counts {
		if in.Exposure != "" {
			return console.Inputf("-exposure is for models of counts, and this is one of %s", m.Notes.Task)
		}
		return nil
	}
	name := in.Exposure
	if n := m.Notes.Beside; name == "" && n != nil {
		name = n.Exposure
	}
	if v, err := strconv.ParseFloat(in.Exposure, 64); err == nil {
		if !(v > 0 && v <= math.MaxFloat64) {
			return console.Inputf("-exposure %s: exposures are positive numbers", in.Exposure)
		}
		s.each = v
		return nil
	}
	if name == "" {
		return nil
	}
	if in.Data == "" {
		return console.Inputf("-exposure %s: no data file is given", name)
	}
	main := fs.All[0]
	if in.Exposure == "" && !slices.Contains(main.Columns(), name) {
		return console.Inputf("%s has no column %q of exposures, as the fit had: -exposure COLUMN names another, -exposure 1 predicts counts for the exposure 1", main.Name(), name)
	}
	var err error
	if s.exposure, err = dataset.OneColumn(main, "-exposure", name, nil); err != nil {
		return err
	}
	if main.Needs(s.exposure) {
		return console.Inputf("-exposure %s: the column is part of a view", name)
	}
	main.Need(s.exposure, table.Optional)
	return nil
}

// exposures are the exposures of the rows of features x, nil if all are 1. Rows that have none leave x and kept.
func (s *Samples) exposures(x []mkl.Features, kept []int, gaps *dataset.Shortfall) (all []float64, still []int, err error) {
	switch {
	case s.each > 0:
		return slices.Repeat([]float64{s.each}, len(kept)), kept, nil
	case s.exposure < 0:
		return nil, kept, nil
	}
	main := s.Files.All[0]
	column, err := dataset.Beside{Event: -1, Upper: -1, Exposure: s.exposure}.Exposures(main)
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
			gaps.First = main.Data.Cell(i, s.exposure, "the exposure is missing")
		}
	}
	if len(still) < len(kept) {
		for k := range x {
			x[k] = x[k].TakeRows(rows)
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
