package la

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPanelEntriesEqualThePortableOnes(t *testing.T) {
	for _, s := range instructionSets {
		t.Run(s.name, func(t *testing.T) {
			floats(t, func(t *testing.T) { testPanelEntries(t, &s.panels64) }, func(t *testing.T) { testPanelEntries(t, &s.panels32) })
		})
	}
}

func testPanelEntries[T Float](t *testing.T, kt *panelKernels[T]) {
	r := rand.New(rand.NewPCG(21, 22))
	portable := genericPanelKernels[T]()
	for name, pair := range map[string][2]panelEntry[T]{
		"mul": {kt.mul, portable.mul}, "sqDist": {kt.sqDist, portable.sqDist}, "absDist": {kt.absDist, portable.absDist},
	} {
		for _, panels := range []int{0, 1, 2, 3} {
			for _, k := range []int{0, 1, 2, 3, 4, 5, 7, 8, 31, 64, panelPiece / PanelRows} {
				for _, add := range []bool{false, true} {
					wild := k%3 == 1
					a, x := hard[T](r, panels*k*PanelRows+1, wild), hard[T](r, k+1, wild)
					_, got := fenced[T](r, panels*PanelRows)
					want := slices.Clone(got)
					pair[0](panels, k, &a[0], &x[0], &got[8], add)
					pair[1](panels, k, &a[0], &x[0], &want[8], add)
					sameBits(t, want, got, "%s panels=%d k=%d add=%v", name, panels, k, add)
				}
			}
		}
	}
	for name, pair := range map[string][2]partsEntry[T]{"sqParts": {kt.sqParts, portable.sqParts}, "absParts": {kt.absParts, portable.absParts}, "addProducts": {kt.addProducts, portable.addProducts}} {
		for _, k := range []int{0, 1, 2, 3, 31, partsPiece / PanelRows} {
			wild := k%3 == 1
			a, x := hard[T](r, k*PanelRows+1, wild), hard[T](r, k*PanelRows+1, wild)
			_, got := fenced[T](r, k*PanelRows)
			want := slices.Clone(got)
			pair[0](k, &a[0], &x[0], &got[8])
			pair[1](k, &a[0], &x[0], &want[8])
			sameBits(t, want, got, "%s k=%d", name, k)
		}
	}
}
