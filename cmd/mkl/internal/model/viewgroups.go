package model

import (
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

// viewGroups reads -view-group. The function that it returns refuses groups with unknown views, and groups of all views.
func (s Settings) viewGroups() (groups []mkl.ViewGroup, check func([]dataset.View) error, err error) {
	for _, text := range s.ViewGroup {
		name, views, ok := strings.Cut(text, "=")
		g := mkl.ViewGroup{Name: strings.TrimSpace(name)}
		for view := range strings.SplitSeq(views, ",") {
			g.Views = append(g.Views, strings.TrimSpace(view))
		}
		if !ok || g.Name == "" {
			return nil, nil, console.Inputf("-view-group %s: NAME=VIEW,VIEW is needed", text)
		}
		if slices.ContainsFunc(groups, func(other mkl.ViewGroup) bool { return other.Name == g.Name }) {
			return nil, nil, console.Inputf("-view-group: two groups are called %q", g.Name)
		}
		groups = append(groups, g)
	}
	return groups, func(views []dataset.View) error {
		var names []string
		for _, v := range views {
			names = append(names, v.Name)
		}
		for k, g := range groups {
			for _, view := range g.Views {
				if !slices.Contains(names, view) {
					return console.Inputf("-view-group %s: there is no view %q (%s)", s.ViewGroup[k], view, console.List(names))
				}
			}
			if len(g.Views) >= len(names) {
				return console.Inputf("-view-group %s: a group cannot have all views", s.ViewGroup[k])
			}
		}
		return nil
	}, nil
}
