package mkl

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// sample returns about most of n samples, drawn at random, ascending; all if n ≤ most. With classes
// each class keeps its share, and at least ten of its samples.
func sample(n, most int, class []int, seed uint64) []int {
	all := vec.UpTo(n)
	if n <= most {
		return all
	}
	src := special.NewRand(rand.NewPCG(seed, 0x6d6b6c))
	src.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	if class == nil {
		all = all[:most]
		slices.Sort(all)
		return all
	}
	size := make([]int, slices.Max(class)+1)
	for _, c := range class {
		size[c]++
	}
	left := make([]int, len(size))
	for c, s := range size {
		left[c] = min(s, max(leastOfClass, int(math.Round(float64(most)*float64(s)/float64(n)))))
	}
	var some []int
	for _, i := range all {
		if left[class[i]] > 0 {
			left[class[i]]--
			some = append(some, i)
		}
	}
	slices.Sort(some)
	return some
}

// sampleByContent returns the places of about most samples, ascending, as [sample] does. Which samples are drawn does not depend on their order.
// class is nil for targets.
func sampleByContent(views []View, target []float64, class []int, most int, seed uint64) []int {
	order := rowOrder(rowColumns(views), [][]float64{target}, class != nil, seed)
	if class == nil {
		class = rareClasses(vec.Picked(target, order), most, seed)
	} else {
		class = vec.Picked(class, order)
	}
	rows := vec.Picked(order, sample(len(target), most, class, seed))
	slices.Sort(rows)
	return rows
}

// rareClasses returns classes for [sample] if a sample of the given size would have only one value of y: 0 for
// the samples with that value, 1 for all others. Otherwise it returns nil.
func rareClasses(y []float64, most int, seed uint64) []int {
	rows := sample(len(y), most, nil, seed)
	if len(rows) == 0 || len(rows) == len(y) || othersThanFirst(vec.Picked(y, rows)) != nil {
		return nil
	}
	class := make([]int, len(y))
	for i, v := range y {
		if v != y[rows[0]] {
			class[i] = 1
		}
	}
	return class
}

// othersThanFirst returns the indices of values that differ from the first.
func othersThanFirst(y []float64) (at []int) {
	for i, v := range y {
		if v != y[0] {
			at = append(at, i)
		}
	}
	return at
}

// takeRows returns the views of the samples rows. Views of one Input share their X.
func takeRows(views []View, rows []int) []View {
	out := slices.Clone(views)
	for i := range out {
		if first := slices.IndexFunc(views[:i], func(w View) bool { return w.Input == views[i].Input }); first >= 0 {
			out[i].X = out[first].X
			continue
		}
		out[i].X = out[i].X.TakeRows(rows)
	}
	return out
}

// distinctInputs returns the matrices that a prediction takes, from the views.
func distinctInputs(views []View) (x []Features) {
	for i, v := range views {
		if !slices.ContainsFunc(views[:i], func(w View) bool { return v.Input == w.Input }) {
			x = append(x, v.X)
		}
	}
	return x
}

// leastOfClass is the least number of samples of a class in a part of the samples, if the class has that many.
const leastOfClass = 10
