package ranking

import (
	"fmt"
	"io"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl/choose"
)

// ViewEffect says what the predictions gain by one view, as differences of the score that decides.
type ViewEffect struct {
	View      string `json:"view"`
	WithoutIt string `json:"without_it"` // the candidate that learns from all other views
	ByItself  string `json:"by_itself"`  // the candidate that learns from this view only

	Without  console.Figures `json:"without"`             // score without the view minus score of all views
	Alone    console.Figures `json:"alone"`               // score of the view alone minus score of all views
	OverNone console.Figures `json:"over_none,omitempty"` // score of the view alone minus score of a prediction that looks at no view
	Finding  string          `json:"finding"`
}

// RankViews ranks the candidates and measures each from the first, which learns from all views. The effects name the
// candidates of each view. none names the candidate that looks at no view; there may be no such candidate.
func (c *Comparison) RankViews(r *choose.Result, by choose.Score, effects []ViewEffect, none string) error {
	if err := c.Rank(r, by); err != nil {
		return err
	}
	c.Recommendation, c.Reference = "", r.Names[0]
	for k := range c.Candidates {
		c.ranking.Rows[k].Difference = r.Difference(k, 0, by)
		c.Candidates[k].Difference = figures(c.ranking.Rows[k].Difference)
	}
	nothing := slices.Index(r.Names, none)
	for _, e := range effects {
		alone := slices.Index(r.Names, e.ByItself)
		without, difference := r.Difference(slices.Index(r.Names, e.WithoutIt), 0, by), r.Difference(alone, 0, by)
		e.Without, e.Alone = figures(without), figures(difference)
		switch worse, better := told(by, without); {
		case worse:
			e.Finding = "needed: predictions are worse without it"
		case better:
			e.Finding = "harmful: predictions are better without it"
		case nothing < 0:
			e.Finding = "predictions with it are not significantly better than without it"
		}
		if nothing >= 0 {
			over := r.Difference(alone, nothing, by)
			e.OverNone = figures(over)
			if _, better := told(by, over); e.Finding == "" && better {
				e.Finding = "says something alone, but predictions with it are not significantly better than without it"
			}
		}
		if e.Finding == "" {
			e.Finding = "no sign that it says anything, alone or beside the others"
		}
		c.Views = append(c.Views, e)
	}
	return nil
}

// told reports whether a difference of scores is a loss or a gain that chance does not explain.
func told(by choose.Score, e choose.Estimate) (worse, better bool) {
	if e.Zero() {
		return false, false
	}
	better = by.Better(e.Value, 0)
	return !better, better
}

// printViews prints what each view does.
func (c *Comparison) printViews(out io.Writer) {
	for _, e := range c.Views {
		fmt.Fprintf(out, "%s: %s\n", e.View, e.Finding)
	}
}
