package fitting

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
)

// Copies are worth a line if they are this many rows and this share of them.
const (
	manyCopies = 5
	copyShare  = 0.05
)

// Copies says how many of n rows are copies of others, with the same features and targets, if they are many: a row that is left out is then known from its
// copy. Where fewer than half of the rows differ in their features, as in tables of few categories, equal rows are no copies but different samples.
func Copies(views []dataset.Features, n int, y dataset.Targets) (lines []string) {
	for _, f := range views {
		if f.Strings != nil || f.Kernels.Square() {
			return nil // no rows of features
		}
	}
	var h maphash.Hash
	add := func(v float64) {
		if v != v {
			v = math.NaN() // all are one
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(v+0)) // one zero
		h.Write(b[:])
	}
	copies := 0
	features, rows := map[uint64]bool{}, map[uint64]bool{}
	for i := range n {
		h.Reset()
		for _, f := range views {
			for _, v := range f.X.Row(i) {
				add(v)
			}
		}
		features[h.Sum64()] = true
		addTargets(y, i, add, &h)
		if sum := h.Sum64(); rows[sum] {
			copies++
		} else {
			rows[sum] = true
		}
	}
	if 2*len(features) < n || copies < manyCopies || float64(copies) < copyShare*float64(n) {
		return nil
	}
	return []string{fmt.Sprintf("warning: %d of %s (%.0f %%) are copies of other rows, target and all: a row that is left out is known from its copy, "+
		"and errors of such rows are too small. If the copies are one sample each, keep one; mkl cv -group COLUMN keeps rows together",
		copies, console.Plural(n, "row"), 100*float64(copies)/float64(n))}
}

// addTargets adds the targets of a sample to the hash h; add adds a number.
func addTargets(y dataset.Targets, i int, add func(float64), h *maphash.Hash) {
	for _, numbers := range y.Numbers {
		add(numbers[i])
	}
	for _, labels := range y.Labels {
		add(float64(labels[i]))
	}
	if y.Class != nil {
		h.WriteString(y.Class[i])
	}
	if y.Times != nil {
		add(y.Times[i].From)
		add(y.Times[i].To)
	}
	if y.Exposure != nil {
		add(y.Exposure[i])
	}
}
