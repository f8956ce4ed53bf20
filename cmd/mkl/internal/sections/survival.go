package sections

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// riskGroups are the groups into which samples are divided by their predicted risk, the lowest first.
var riskGroups = []string{"low risk", "middle risk", "high risk"}

// curvePoints are the points of a predicted curve.
const curvePoints = 80

// timePictures draws survival curves by risk group, predicted and estimated.
func (r *reporter) timePictures(s *page.Section, p prediction.Times) error {
	f := evaluation.Follow(r.held.Lifetimes)
	s.Paragraphs = []string{"Samples are divided into three groups of the same size by their predicted risk. A predicted curve is the mean of the curves of the samples in the group."}
	rows, end := make([]int, p.Samples()), 0.0
	for i := range rows {
		rows[i] = i
	}
	if f == nil {
		s.Paragraphs = append(s.Paragraphs, "Some times are between two others, so that there is no estimate by Kaplan and Meier to compare with.")
		for _, t := range r.held.Lifetimes {
			for _, v := range []float64{t.From, t.To} {
				if v > end && !math.IsInf(v, 1) {
					end = v
				}
			}
		}
	} else {
		s.Paragraphs = append(s.Paragraphs, "Thin lines are the estimates of Kaplan and Meier from what happened to the samples of the group.")
		rows, end = f.Rows, slices.Max(f.Time)
	}
	risk := p.Risk()
	order := make([]int, len(rows)) // places in rows
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(risk[rows[a]], risk[rows[b]]) })
	grid := make([]float64, curvePoints)
	for g := range grid {
		grid[g] = end * float64(g) / float64(curvePoints-1)
	}
	var groups []page.SurvivalGroup
	table := page.Table{Caption: "Risk groups", Names: 1, Head: []string{"group", "samples", "events", "later than", "predicted", "Kaplan–Meier"}}
	for k, name := range riskGroups {
		part := order[k*len(order)/len(riskGroups) : (k+1)*len(order)/len(riskGroups)]
		if len(part) == 0 {
			continue
		}
		one := page.SurvivalGroup{Name: name, At: grid, Predicted: meanCurve(p, rows, part, grid)}
		if f != nil {
			if err := r.estimate(&one, &table, p, f, part); err != nil {
				return err
			}
		}
		groups = append(groups, one)
	}
	s.Pictures = append(s.Pictures, page.Survival("survival", r.held.Notes.Targets[0], groups))
	if table.Rows != nil {
		s.Tables = append(s.Tables, table)
	}
	below, upTo := p.Transforms(r.held.Lifetimes)
	return r.transformPicture(s, 0, below, upTo)
}

// meanCurve is the mean of the curves of some samples, which part counts in rows.
func meanCurve(p prediction.Times, rows, part []int, grid []float64) []float64 {
	mean := make([]float64, len(grid))
	for _, k := range part {
		for g, v := range p.Survival(rows[k], grid) {
			mean[g] += v / float64(len(part))
		}
	}
	return mean
}

// estimate adds to a group what Kaplan and Meier estimate of its samples, and a row of the table for each time at which
// predictions were evaluated.
func (r *reporter) estimate(group *page.SurvivalGroup, table *page.Table, p prediction.Times, f *evaluation.Followed, part []int) (err error) {
	var time []float64
	var event []bool
	events := 0
	for _, k := range part {
		time, event = append(time, f.Time[k]), append(event, f.Event[k])
		if f.Event[k] {
			events++
		}
	}
	if group.Times, group.KaplanMeier, err = metrics.KaplanMeier(time, event); err != nil {
		return err
	}
	for _, at := range r.held.Evaluation.Times {
		predicted := meanCurve(p, f.Rows, part, []float64{float64(at.Time)})
		_, observed, err := metrics.CensoredCalibration(time, event, make([]float64, len(time)), float64(at.Time))
		if err != nil {
			return err
		}
		table.Rows = append(table.Rows, []string{group.Name, strconv.Itoa(len(part)), strconv.Itoa(events), console.Figure(float64(at.Time)), percent(predicted[0]), percent(observed)})
	}
	return nil
}

// timesTable says how well probabilities of being later than a time were predicted.
func timesTable(times []evaluation.AtTime) page.Table {
	t := page.Table{Caption: "Probabilities of a later event", Head: []string{"later than", "Brier score", "of all alike", "mean probability", "Kaplan–Meier"}}
	for _, a := range times {
		t.Rows = append(t.Rows, []string{
			console.Figure(float64(a.Time)), console.Figure(float64(a.Brier)), console.Figure(float64(a.Baseline)), percent(float64(a.Predicted)), percent(float64(a.Observed)),
		})
	}
	return t
}

// timesHeadline says how well times are predicted.
func (r *reporter) timesHeadline(where string) string {
	text := fmt.Sprintf("%s the log score is %s nats", where, figureOf(r.held.Measures[0].Values, "log score"))
	if c, ok := r.held.Measures[0].Values["concordance"]; ok {
		text = fmt.Sprintf("%s the concordance of risks and times is %s, where ½ is chance", where, console.Figure(c))
	}
	for _, at := range r.held.Evaluation.Times[:min(1, len(r.held.Evaluation.Times))] {
		text += fmt.Sprintf("; that the event is later than %s is predicted with the Brier score %s, where predicting all alike has %s",
			console.Figure(float64(at.Time)), console.Figure(float64(at.Brier)), console.Figure(float64(at.Baseline)))
	}
	return text + "."
}
