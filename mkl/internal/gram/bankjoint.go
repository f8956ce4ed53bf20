package gram

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// jointGroups are the groups of one sight and one kind of distance that differ in their widths alone, as classes with widths of their own
// do. With the parts t_ij of the features in the distance, (x_j − z_ij)² or |x_j − z_ij|, the distances of group c are Σ_j w_cj·t_ij. The
// parts are computed once for all groups, and one copy of the basis points is read in place of one for each group.
type jointGroups struct {
	groups  []int
	kind    kernel.StatisticKind
	sight   int
	panels  la.Panels[float64] // the basis points, not divided by widths
	weights la.Matrix[float64] // by group, what its widths multiply the parts by
}

// leastJoint is the least number of groups whose distances are computed together.
const leastJoint = 3

// Join computes distances that differ in widths alone together from now on, where there are several. These distances, and kernels, then have
// rounding errors of their own, not the bits of [Points]. Nothing can be added any more.
func (b *Bank) Join() {
	for i := range b.groups {
		first := &b.groups[i]
		if first.joint != nil || first.stat.Widths == nil {
			continue
		}
		j := &jointGroups{kind: first.stat.Kind, sight: first.sight}
		for l := range b.groups {
			if g := &b.groups[l]; g.sight == j.sight && g.stat.Kind == j.kind && g.stat.Widths != nil {
				j.groups = append(j.groups, l)
			}
		}
		if len(j.groups) >= leastJoint {
			b.join(j)
		}
	}
}

// join prepares the groups of j for distances that are computed together.
func (b *Bank) join(j *jointGroups) {
	s := &b.sights[j.sight]
	j.panels = la.PackPanels(s.in.Seen(s.in.Basis, s.sight, nil))
	j.weights = la.NewMatrix[float64](len(j.groups), j.panels.Cols)
	for n, at := range j.groups {
		g := &b.groups[at]
		g.joint, g.panels = j, la.Panels[float64]{}
		for f, w := range g.stat.Widths {
			if j.kind == kernel.SquaredDistance {
				w *= w
			}
			j.weights.Set(n, f, 1/w)
		}
	}
}

// distances stores the distances of the sample z to all basis points in the row of the first kernel of each group. The parts
// of one panel at a time are in s.parts.
func (b *Bank) distances(s *BankScratch, j *jointGroups, z []float64) {
	const rows = la.PanelRows
	part := la.Panels[float64]{Rows: rows, Cols: j.panels.Cols, Data: s.parts[:rows*j.panels.Cols]}
	for first := 0; first < j.panels.Padded(); first += rows {
		if j.kind == kernel.SquaredDistance {
			j.panels.SqDistParts(first/rows, z, part.Data)
		} else {
			j.panels.AbsDistParts(first/rows, z, part.Data)
		}
		for n, at := range j.groups {
			row := b.groups[at].kernels[0].row
			part.MultiplyVec(j.weights.Row(n), s.K.Row(row)[first:first+rows])
		}
	}
}
