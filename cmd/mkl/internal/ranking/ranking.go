// Package ranking compares candidates by a score on samples that they were not fitted to, for mkl cv and mkl compare.
package ranking

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/choose"
)

// Comparison is what mkl cv and mkl compare found of a target, for people and for machines.
type Comparison struct {
	Task           string      `json:"task"`
	Target         string      `json:"target"`
	Samples        int         `json:"samples"`
	Folds          int         `json:"folds,omitempty"` // of each repetition; none of a test set
	Repeats        int         `json:"repeats,omitempty"`
	By             string      `json:"score"` // the one that decides
	Best           string      `json:"best"`
	Candidates     []Candidate `json:"candidates"`
	Recommendation string      `json:"recommendation,omitempty"` // none of views

	Reference string       `json:"reference,omitempty"` // the candidate that differences are measured from, if that is not the best
	Views     []ViewEffect `json:"views,omitempty"`

	At console.Number `json:"brier_at,omitempty"` // the time of the Brier score of times

	Training []string `json:"training,omitempty"` // the models that were fitted to the rows

	Targets []*Comparison `json:"targets,omitempty"` // each of several targets, which are together the target above

	Of string `json:"-"` // the headline

	ranking *choose.Ranking
	scores  []choose.Score
}

// Candidate is a row of the table.
type Candidate struct {
	Name       string                     `json:"name"`
	Baseline   bool                       `json:"baseline,omitempty"`
	Failed     []Failure                  `json:"failed,omitempty"`
	Scores     map[string]console.Figures `json:"scores"`
	Difference console.Figures            `json:"difference"`        // of the score that decides, from the best or from Comparison.Reference
	ByFold     []console.Figures          `json:"by_fold,omitempty"` // empty where it failed
}

// Failure is a fold, counted from 0, that failed.
type Failure struct {
	Fold  int    `json:"fold"`
	Error string `json:"error"`
}

// figures are an estimate for machines.
func figures(e choose.Estimate) console.Figures {
	return console.Figures{"value": e.Value, "se": e.SE, "low": e.Low, "high": e.High}
}

// Rank ranks the candidates of a result.
func (c *Comparison) Rank(r *choose.Result, by choose.Score) (err error) {
	if c.ranking, err = r.Rank(by); err != nil {
		return err
	}
	c.scores, c.At = r.Scores(), console.Number(r.At)
	c.By, c.Best, c.Recommendation = by.String(), c.ranking.Rows[c.ranking.Best].Name, c.ranking.Recommendation()
	for k, row := range c.ranking.Rows {
		one := Candidate{Name: row.Name, Baseline: row.Baseline, Scores: map[string]console.Figures{}, Difference: figures(row.Difference)}
		for s, e := range row.Scores {
			one.Scores[s.String()] = figures(e)
		}
		if c.Folds > 0 {
			for f, err := range r.Errors[k] {
				if err != nil {
					one.Failed = append(one.Failed, Failure{f, err.Error()})
				}
				values := console.Figures{}
				for _, s := range c.scores {
					if v, ok := r.Fold(k, f, s); ok {
						values[s.String()] = v
					}
				}
				one.ByFold = append(one.ByFold, values)
			}
		}
		c.Candidates = append(c.Candidates, one)
	}
	return nil
}

// Print prints the table, what failed, the recommendation, and the tables of several targets.
func (c *Comparison) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s\n\n", c.Of)
	if err := c.table(out); err != nil {
		return err
	}
	if c.At > 0 {
		fmt.Fprintf(out, "\nBrier: of the probability that the event is later than %s, weighted by the inverse probability of censoring\n", console.Figure(float64(c.At)))
	}
	fmt.Fprintln(out)
	for _, one := range c.Candidates {
		if n := len(one.Failed); n > 0 {
			fmt.Fprintf(out, "%s: %d of %s failed: %s\n", one.Name, n, console.Plural(len(one.ByFold), "fold"),
				strings.TrimPrefix(one.Failed[0].Error, "mkl: "))
		}
	}
	if c.Views != nil {
		c.printViews(out)
	} else {
		fmt.Fprintln(out, c.Recommendation)
	}
	return c.printTargets(out)
}

// table prints the scores of the candidates.
func (c *Comparison) table(out io.Writer) error {
	by := c.ranking.By
	from, reference := "the best", c.ranking.Best
	if c.Reference != "" {
		from, reference = c.Reference, 0
	}
	header, align := []string{"", by.String() + " ± SE", "from " + from + " [95 %]"}, "lll"
	if c.Reference != "" {
		header[2] = "from " + from + " ± SE [95 %]"
	}
	for _, s := range c.scores {
		if s != by {
			header, align = append(header, s.String()), align+"r"
		}
	}
	rows := [][]string{header}
	for k, r := range c.ranking.Rows {
		line := []string{r.Name, "", ""}
		if e, ok := r.Scores[by]; ok {
			line[1] = withError(e)
		}
		switch {
		case k == reference && c.Reference == "":
			line[2] = "best"
		case k == reference:
		case line[1] != "" && c.Reference != "":
			line[2] = withErrorAndInterval(r.Difference)
		case line[1] != "":
			line[2] = withInterval(r.Difference)
		}
		for _, s := range c.scores {
			if s == by {
				continue
			}
			cell := ""
			if e, ok := r.Scores[s]; ok {
				cell = console.Figure(e.Value)
			}
			line = append(line, cell)
		}
		rows = append(rows, line)
	}
	return console.PrintTable(out, align, rows)
}

// mostTargets is the number of targets up to which each has a table.
const mostTargets = 4

// printTargets prints a table for each target if they are few, and else only the score that decides.
func (c *Comparison) printTargets(out io.Writer) error {
	if len(c.Targets) == 0 {
		return nil
	}
	if len(c.Targets) <= mostTargets {
		for _, own := range c.Targets {
			fmt.Fprintf(out, "\n%s\n", own.Of)
			if err := own.table(out); err != nil {
				return err
			}
		}
		return nil
	}
	by := c.Targets[0].ranking.By
	header, align := []string{by.String()}, "l"
	for _, r := range c.ranking.Rows {
		header, align = append(header, r.Name), align+"r"
	}
	rows := [][]string{header}
	for _, own := range c.Targets {
		line := []string{own.Target}
		for _, r := range own.ranking.Rows {
			cell := ""
			if e, ok := r.Scores[by]; ok {
				cell = console.Figure(e.Value)
			}
			line = append(line, cell)
		}
		rows = append(rows, line)
	}
	fmt.Fprintln(out)
	return console.PrintTable(out, align, rows)
}

// withError is a score and its standard error, if that is known.
func withError(e choose.Estimate) string {
	if math.IsNaN(e.SE) {
		return console.Figure(e.Value)
	}
	return console.Figure(e.Value) + " ± " + console.Uncertainty(e.SE)
}

// withInterval is a difference and its interval, if that is known.
func withInterval(e choose.Estimate) string {
	text := console.Signed(e.Value)
	if math.IsNaN(e.Low) || math.IsNaN(e.High) {
		return text
	}
	return fmt.Sprintf("%s [%s, %s]", text, console.Signed(e.Low), console.Signed(e.High))
}

// withErrorAndInterval is a difference, its standard error and its interval, if these are known.
func withErrorAndInterval(e choose.Estimate) string {
	if math.IsNaN(e.SE) {
		return console.Signed(e.Value)
	}
	return fmt.Sprintf("%s ± %s [%s, %s]", console.Signed(e.Value), console.Uncertainty(e.SE), console.Signed(e.Low), console.Signed(e.High))
}

// ScoreNamed is the score that the flag -score names.
func ScoreNamed(name string, of choose.Kind) (choose.Score, error) {
	scores := choose.Scores(of)
	if name == "auto" {
		return scores[0], nil
	}
	var names []string
	for _, s := range scores {
		if !s.Ranks() {
			continue
		}
		own := strings.ReplaceAll(strings.ToLower(s.String()), " ", "-")
		if own == name {
			return s, nil
		}
		names = append(names, own)
	}
	return 0, console.Inputf("-score %s is not for these predictions: it is %s", name, strings.Join(names, " or "))
}

// OfLabels are the classes 1 of samples that have a label and 0 of samples that have not, −1 where that is not known.
func OfLabels(has []mkl.Label) []int {
	class := make([]int, len(has))
	for i, v := range has {
		class[i] = -1
		if v != mkl.LabelUnknown {
			class[i] = int(v - mkl.LabelAbsent)
		}
	}
	return class
}

// OfClasses returns the places of labels among the classes, −1 for a label that is no class.
func OfClasses(labels, classes []string) []int {
	class := make([]int, len(labels))
	for i, label := range labels {
		class[i] = slices.Index(classes, label)
	}
	return class
}
