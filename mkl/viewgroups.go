package mkl

import (
	"fmt"
	"slices"
)

// ViewGroup is views that belong together, such as the instruments of one laboratory. A view may be in several groups.
type ViewGroup struct {
	Name  string   // what tables call it
	Views []string // their names: at least one, not all
}

// ViewGroupShare is a row of the table of groups of views. Its numbers come from the same posterior as the numbers of single views.
type ViewGroupShare struct {
	ViewGroup

	// Share is the share of the group's functions together in the variance of the function over the training samples, the sum of the
	// shares of its views, and SD its standard deviation as in [ViewShare].
	Share, SD float64

	// In is the posterior probability that at least one view of the group is included. Before is its prior probability, 1 − 2⁻ⁿ for a
	// group of n views. In says something where it is far from Before.
	In, Before float64

	// Loss and LossSE are as in [ViewShare], without all views of the group.
	Loss, LossSE float64
}

// Groups returns the table of the groups of views that the estimator was given, in their order. It is nil where there is no table of views.
func (t *viewTable) Groups() []ViewGroupShare {
	out := slices.Clone(t.groups)
	for i := range out {
		out[i].Views = slices.Clone(out[i].Views)
	}
	return out
}

// checkGroups adds a remark if groups were asked for and the pool has no table of views.
func (p *pool) checkGroups(asked []ViewGroup) {
	if len(asked) > 0 && p.groups == nil {
		p.remarks = append(p.remarks, groupsRemark)
	}
}

const groupsRemark = "groups of views: left out, because there is no table of views"

// placedGroup is a group with the places of its views.
type placedGroup struct {
	ViewGroup
	views []int
}

// groupsOf finds the views of groups.
func groupsOf(groups []ViewGroup, names []string) (out []placedGroup, err error) {
	for i, g := range groups {
		one := placedGroup{ViewGroup: ViewGroup{Name: g.Name, Views: slices.Clone(g.Views)}}
		fail := func(what string) error { return fmt.Errorf("mkl: Groups[%d] (%q): %s", i, g.Name, what) }
		if err := checkText(g.Name); err != nil {
			return nil, fail(err.Error())
		}
		for _, view := range g.Views {
			v := slices.Index(names, view)
			switch {
			case v < 0:
				return nil, fail(fmt.Sprintf("there is no view %q among %q", view, names))
			case slices.Contains(one.views, v):
				return nil, fail(fmt.Sprintf("the view %q is there twice", view))
			}
			one.views = append(one.views, v)
		}
		if n := len(one.views); n == 0 || n == len(names) {
			return nil, fail(fmt.Sprintf("%d of %d views: a group has at least one view, and not all", n, len(names)))
		}
		out = append(out, one)
	}
	return out, nil
}

// any returns the probability that at least one of some views is included: the conditional probability of a single view, and the share of
// the sweeps for several.
func (q *viewProbabilities) any(views []int) float64 {
	if len(views) == 1 {
		return min(q.in[views[0]], 1)
	}
	var sum float64
	for _, on := range q.sweeps {
		if slices.ContainsFunc(views, func(v int) bool { return on[v] }) {
			sum++
		}
	}
	return sum / float64(len(q.sweeps))
}
