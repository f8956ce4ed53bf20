package mkl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/slab"
)

// FactorGroup is a group of the rows of a [FactorAnalysis].
type FactorGroup struct {
	Name    string    // as in [FactorAnalysis].Groups
	Rows    int       // of the fit
	Factors []float64 // prior variance of each factor in the group; about 0 if the factor is silent
	NoiseSD []float64 // of each column, 0 of a column that is not Gaussian
}

// GroupVariance holds the shares of the variance of a view, among the rows of a group, that the factors explain.
type GroupVariance struct {
	Group   string    `json:"group"`   // name
	All     float64   `json:"all"`     // share that all factors explain together
	Factors []float64 `json:"factors"` // share that each factor explains alone
}

// rowGroups are the groups of the rows of a table, in the order in which they appear. The pointer is nil without groups.
type rowGroups struct {
	names []string
	of    []int // of each row
}

// rowGroupsOf returns the groups of the rows, or nil if there is no group or only one.
func rowGroupsOf(names []string, rows int) (*rowGroups, error) {
	if names == nil {
		return nil, nil
	}
	if len(names) != rows {
		return nil, fmt.Errorf("mkl: Groups: %d for %d rows", len(names), rows)
	}
	g := &rowGroups{}
	at := map[string]int{}
	var first, size []int
	for n, name := range names {
		if name == "" {
			return nil, fmt.Errorf("mkl: Groups[%d] is empty: every row needs a group", n)
		}
		k, known := at[name]
		if !known {
			k = len(g.names)
			at[name] = k
			g.names, first, size = append(g.names, name), append(first, n), append(size, 0)
		}
		size[k]++
		g.of = append(g.of, k)
	}
	for k, name := range g.names {
		if size[k] == 1 && rows > 1 {
			return nil, fmt.Errorf("mkl: Groups[%d]: %q has one row: a group needs two, as its offsets explain a single row", first[k], name)
		}
	}
	if len(g.names) < 2 {
		return nil, nil
	}
	return g, nil
}

// indices returns the number of the group of each row, or nil without groups.
func (g *rowGroups) indices() []int {
	if g == nil {
		return nil
	}
	return g.of
}

// inUnits returns the table in the units of the fit. groups holds the group of each row; it is nil without groups.
func (of *factorViews) inUnits(y *slab.Observed, groups []int) *slab.Observed {
	if groups == nil {
		return y.InUnits(of.center[0], of.scale)
	}
	return y.InUnitsOf(groups, of.center, of.scale)
}

// groupsOfRows returns the number of the group of each of so many new rows, or nil if the fit had no groups. One name is the group of
// all rows.
func (m *FactorAnalysisModel) groupsOfRows(rows int, names []string) ([]int, error) {
	var known []string
	if m.views != nil {
		known = m.views.groups
	}
	switch {
	case known == nil && len(names) == 0:
		return nil, nil
	case known == nil:
		return nil, fmt.Errorf("mkl: groups: the fit had no groups")
	case len(names) == 0 && rows > 0:
		return nil, fmt.Errorf("mkl: groups: the fit had the groups %s: every row needs one of them", strings.Join(known, ", "))
	case len(names) == 1:
		names = slices.Repeat(names, rows)
	case len(names) != rows:
		return nil, fmt.Errorf("mkl: groups: %d for %d rows", len(names), rows)
	}
	of := make([]int, rows)
	for n, name := range names {
		if of[n] = slices.Index(known, name); of[n] < 0 {
			return nil, &UnknownGroupError{Row: n, Group: name, Groups: slices.Clone(known)}
		}
	}
	return of, nil
}

// UnknownGroupError says that a new row is of a group that the fit did not have.
type UnknownGroupError struct {
	Row    int      // of the table that was given
	Group  string   // of this row
	Groups []string // of the fit
}

// Error names the row, its group and the groups of the fit.
func (e *UnknownGroupError) Error() string {
	return fmt.Sprintf("mkl: groups: row %d is of group %q, and the fit had %s", e.Row, e.Group, strings.Join(e.Groups, ", "))
}

// Groups returns the groups of the fit in the order of their first rows, or nil if the fit had no groups or one.
func (m *FactorAnalysisModel) Groups() (groups []FactorGroup) {
	if m.views == nil || m.views.groups == nil {
		return nil
	}
	s := m.posterior.State().Groups
	for g, name := range m.views.groups {
		own := FactorGroup{Name: name, Factors: slices.Clone(s.Variance.Row(g)), NoiseSD: make([]float64, s.Noise.Cols)}
		for q, v := range s.Noise.Row(g) {
			if m.kindOf(q) == GaussianView {
				own.NoiseSD[q] = m.views.fromUnit(q, math.Sqrt(v))
			}
		}
		for _, k := range s.Of {
			if k == g {
				own.Rows++
			}
		}
		groups = append(groups, own)
	}
	return groups
}

// meanNoise returns the noise variance of each column, the mean over the rows.
func meanNoise(s *slab.FactorGroups) []float64 {
	noise := make([]float64, s.Noise.Cols)
	for _, g := range s.Of {
		for q, v := range s.Noise.Row(g) {
			noise[q] += v / float64(len(s.Of))
		}
	}
	return noise
}

// group returns the number of the group of row n of the fit, 0 without groups.
func (m *FactorAnalysisModel) group(n int) int {
	if s := m.posterior.State().Groups; s != nil {
		return s.Of[n]
	}
	return 0
}

// explainGroups sets the variance that the factors explain in each group, for factors in the given order.
func (of *factorViews) explainGroups(p *slab.FactorPosterior, y *slab.Observed, order []int) error {
	each, all, err := p.ExplainedByGroup(y)
	for g, name := range of.groups {
		if err != nil {
			return err
		}
		for v := range of.explained {
			own := GroupVariance{Group: name, All: all[g][v]}
			for _, k := range order {
				own.Factors = append(own.Factors, each[g].At(v, k))
			}
			of.explained[v].Groups = append(of.explained[v].Groups, own)
		}
	}
	return err
}

// addGroups adds the groups to a model file.
func (of *factorViews) addGroups(f *fileWriter, s *slab.FactorGroups) {
	if s == nil {
		return
	}
	G, Q, M := len(of.groups), s.Noise.Cols, s.Variance.Cols
	rows := make([]float64, len(s.Of))
	for n, g := range s.Of {
		rows[n] = float64(g)
	}
	f.add("groups.rows", rows, len(rows))
	f.add("groups.variance", flat(s.Variance), G, M)
	f.add("groups.noise", flat(s.Noise), G, Q)
	if s.Offset.Rows > 0 {
		f.add("groups.offset.mean", flat(s.Offset), G, Q)
		f.add("groups.offset.variance", flat(s.OffsetVariance), G, Q)
	}
	var explained []float64
	for _, v := range of.explained {
		for _, g := range v.Groups {
			explained = append(append(explained, g.All), g.Factors...)
		}
	}
	f.add("groups.explained", explained, len(of.views), G, M+1)
}

// decodeGroups reads the arrays that addGroups has written.
func (of *factorViews) decodeGroups(f *fileReader, s *slab.FactorState, names []string) error {
	if of.groups = names; names == nil {
		return nil
	}
	for k, name := range names {
		if name == "" || slices.Contains(names[:k], name) {
			return fmt.Errorf("model: groups[%d] is called %q", k, name)
		}
	}
	N, Q, M, G, V := s.Mean.Rows, len(s.Noise), s.Mean.Cols, len(names), len(of.views)
	b := &slab.FactorGroups{Of: make([]int, N)}
	for n, g := range f.take("groups.rows", N) {
		if !(g >= 0 && g < float64(G)) {
			return fmt.Errorf("model: groups.rows[%d] is %g", n, g)
		}
		b.Of[n] = int(g)
	}
	b.Variance, b.Noise = f.takeMatrix("groups.variance", G, M), f.takeMatrix("groups.noise", G, Q)
	if f.has("groups.offset.mean") {
		b.Offset, b.OffsetVariance = f.takeMatrix("groups.offset.mean", G, Q), f.takeMatrix("groups.offset.variance", G, Q)
	}
	explained := f.take("groups.explained", V, G, M+1)
	if f.err != nil {
		return f.err
	}
	rows := la.MatrixOf(V*G, M+1, explained)
	for v := range V {
		for g, name := range names {
			row := rows.Row(v*G + g)
			of.explained[v].Groups = append(of.explained[v].Groups, GroupVariance{name, row[0], slices.Clone(row[1:])})
		}
	}
	s.Groups = b
	return nil
}
