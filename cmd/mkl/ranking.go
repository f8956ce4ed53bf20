package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/mkl/choose"
)

// comparison is what mkl cv and mkl compare found of a target, for people and for machines.
type comparison struct {
	Task           string      `json:"task"`
	Target         string      `json:"target"`
	Samples        int         `json:"samples"`
	Folds          int         `json:"folds,omitempty"` // of each repetition; none of a test set
	Repeats        int         `json:"repeats,omitempty"`
	By             string      `json:"score"` // the one that decides
	Best           string      `json:"best"`
	Candidates     []candidate `json:"candidates"`
	Recommendation string      `json:"recommendation"`

	Training []string `json:"training,omitempty"` // the models that were fitted to the rows

	Targets []*comparison `json:"targets,omitempty"` // each of several targets, which are together the target above

	of      string // the headline
	ranking *choose.Ranking
	scores  []choose.Score
}

// candidate is a row of the table.
type candidate struct {
	Name       string                     `json:"name"`
	Baseline   bool                       `json:"baseline,omitempty"`
	Failed     []failure                  `json:"failed,omitempty"`
	Scores     map[string]console.Figures `json:"scores"`
	Difference console.Figures            `json:"difference"`        // of the score that decides, from the best
	ByFold     []console.Figures          `json:"by_fold,omitempty"` // empty where it failed
}

// failure is a fold, counted from 0, that failed.
type failure struct {
	Fold  int    `json:"fold"`
	Error string `json:"error"`
}

// figures are an estimate for machines.
func figures(e choose.Estimate) console.Figures {
	return console.Figures{"value": e.Value, "se": e.SE, "low": e.Low, "high": e.High}
}

// rank ranks the candidates of a result.
func (c *comparison) rank(r *choose.Result, by choose.Score) (err error) {
	if c.ranking, err = r.Rank(by); err != nil {
		return err
	}
	c.scores = r.Scores()
	c.By, c.Best, c.Recommendation = by.String(), c.ranking.Rows[c.ranking.Best].Name, c.ranking.Recommendation()
	for k, row := range c.ranking.Rows {
		one := candidate{Name: row.Name, Baseline: row.Baseline, Scores: map[string]console.Figures{}, Difference: figures(row.Difference)}
		for s, e := range row.Scores {
			one.Scores[s.String()] = figures(e)
		}
		if c.Folds > 0 {
			for f, err := range r.Errors[k] {
				if err != nil {
					one.Failed = append(one.Failed, failure{f, err.Error()})
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

// print prints the table, what failed, the recommendation, and the tables of several targets.
func (c *comparison) print(out io.Writer) error {
	fmt.Fprintf(out, "%s\n\n", c.of)
	if err := c.table(out); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, one := range c.Candidates {
		if n := len(one.Failed); n > 0 {
			fmt.Fprintf(out, "%s: %d of %s failed: %s\n", one.Name, n, console.Plural(len(one.ByFold), "fold"),
				strings.TrimPrefix(one.Failed[0].Error, "mkl: "))
		}
	}
	fmt.Fprintln(out, c.Recommendation)
	return c.printTargets(out)
}

// table prints the scores of the candidates.
func (c *comparison) table(out io.Writer) error {
	by := c.ranking.By
	header, align := []string{"", by.String() + " ± SE", "from the best [95 %]"}, "lll"
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
		case k == c.ranking.Best:
			line[2] = "best"
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

// printTargets prints a table of each of a few targets, of many that of the score that decides.
func (c *comparison) printTargets(out io.Writer) error {
	if len(c.Targets) == 0 {
		return nil
	}
	if len(c.Targets) <= mostTargets {
		for _, own := range c.Targets {
			fmt.Fprintf(out, "\n%s\n", own.of)
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
	text := signed(e.Value)
	if math.IsNaN(e.Low) || math.IsNaN(e.High) {
		return text
	}
	return fmt.Sprintf("%s [%s, %s]", text, signed(e.Low), signed(e.High))
}

func signed(x float64) string {
	if x > 0 && !math.IsInf(x, 1) {
		return "+" + console.Figure(x)
	}
	return console.Figure(x)
}
