package factors

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/mkl"
)

// kindsOf reads the texts of -view-kind, VIEW=KIND.
func kindsOf(texts []string, views []view) (map[string]mkl.FactorKind, error) {
	given := map[string]mkl.FactorKind{}
	for _, text := range texts {
		name, kind, found := strings.Cut(text, "=")
		if !found {
			return nil, console.Inputf("-view-kind %s: a view and a kind are needed, as in mutations=bernoulli", text)
		}
		if !slices.ContainsFunc(views, func(v view) bool { return v.name == name }) {
			return nil, console.Inputf("-view-kind %s: no view is called %s", text, notes.Quoted(name))
		}
		if _, twice := given[name]; twice {
			return nil, console.Inputf("-view-kind %s: the kind of view %s was given before", text, notes.Quoted(name))
		}
		var k mkl.FactorKind
		if k.UnmarshalText([]byte(kind)) != nil {
			return nil, console.Inputf("-view-kind %s: %q is no kind: gaussian, bernoulli or poisson", text, kind)
		}
		given[name] = k
	}
	return given, nil
}

// kind returns the kind of a view, as -view-kind gives it or else as its entries look like, and says so. Entries that are not of the kind
// that is given are refused by their place.
func (t *Table) kind(f *console.File, name string, columns []int, given map[string]mkl.FactorKind) (mkl.FactorKind, error) {
	if k, ok := given[name]; ok {
		for _, j := range columns {
			for i, v := range f.Data.Numbers[j] {
				if math.IsNaN(v) {
					continue
				}
				if err := k.Check(v); err != nil {
					return k, console.Input(f.Data.Cell(i, j, fmt.Sprintf("an entry of the %s view %s %v", k, notes.Quoted(name), err)))
				}
			}
		}
		return k, nil
	}
	var all []float64
	for _, j := range columns {
		for _, v := range f.Data.Numbers[j] {
			if !math.IsNaN(v) {
				all = append(all, v)
			}
		}
	}
	zeroOne := func(v float64) bool { return v == 0 || v == 1 }
	k, what := mkl.GaussianView, ""
	switch {
	case len(all) == 0:
	case !slices.ContainsFunc(all, func(v float64) bool { return !zeroOne(v) }):
		k, what = mkl.BernoulliView, "0 and 1"
	case dataset.SeemCounts(all):
		k, what = mkl.PoissonView, "counts"
	}
	if k != mkl.GaussianView {
		t.Lines = append(t.Lines, fmt.Sprintf("view %s: its entries are %s, learned as %s: -view-kind %s=gaussian learns them as numbers with noise", name, what, k, name))
	}
	return k, nil
}
