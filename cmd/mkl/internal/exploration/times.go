package exploration

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/mkl"
)

// Events are the rows in which the event happened at the time of the target. In the other rows the time is a lower bound.
type Events struct {
	Happened int `json:"happened"`
	Rows     int `json:"rows"` // with a time and a cell that says whether the event happened
}

// askEvents finds the column of -event, and asks for it. Its place is −1 without -event.
func (t *table) askEvents(f *Flags, target int) (dataset.Beside, error) {
	switch {
	case f.Event == "":
	case target < 0:
		return dataset.Beside{}, console.Inputf("-event %s: -target names the column of the times", f.Event)
	case f.Task == "classes":
		return dataset.Beside{}, console.Inputf("-event %s: the target holds times, and -task classes takes it for classes", f.Event)
	}
	b, err := dataset.FindBeside(t.file, dataset.BesideFlags{Event: f.Event}, []int{target})
	if err == nil {
		b.Need(t.file)
	}
	return b, err
}

// countEvents counts the events of the rows that have a time.
func (y *target) countEvents(f *console.File, b dataset.Beside) error {
	if b.Event < 0 {
		return nil
	}
	happened, err := b.Events(f)
	if err != nil {
		return err
	}
	y.events = &Events{}
	for i, v := range y.y {
		if math.IsNaN(v) || happened[i] == mkl.LabelUnknown {
			continue
		}
		y.events.Rows++
		if happened[i] == mkl.LabelPresent {
			y.events.Happened++
		}
	}
	return nil
}

// judgeTimes finds what a fit refuses of times until an event.
func (r *Report) judgeTimes(y *target) {
	below, first := 0, 0
	for i, v := range y.y {
		if v < 0 {
			if below++; below == 1 {
				first = i + 1
			}
		}
	}
	if below > 0 {
		r.add(OfTarget, y.name, "%s below 0, the first in row %d: mkl fit refuses them", console.Plural(below, "time"), first)
	}
	if y.events.Rows > 0 && y.events.Happened == 0 {
		r.add(OfTarget, y.name, "the event happened in no row, and a fit needs rows where it did")
	}
}

// text says how many events there are.
func (v *Events) text() string {
	return fmt.Sprintf("the event happened in %d of %s (%s); the other times are lower bounds",
		v.Happened, console.Plural(v.Rows, "row"), percent(float64(v.Happened)/float64(max(1, v.Rows))))
}

// decideTask takes the task that -event or -task names, in place of the guess.
func (y *target) decideTask(task string) {
	switch {
	case y.ofTimes:
		y.task, y.by = model.Survival, ""
	case task == "regression":
		y.task, y.by = model.Regression, ""
	case task == "classes":
		y.task, y.by = model.Multiclass, ""
	}
}
