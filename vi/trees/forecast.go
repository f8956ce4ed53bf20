package trees

import "math"

// Seconds of one core of the machine that docs/lab/rows.md names, for one of the operations that a fit consists of. They turn counts
// of operations into a forecast; nothing else depends on them.
const (
	secondsGrow  = 3e-9   // a sample and feature of a level of a tree
	secondsPair  = 1.5e-9 // a sample in the sums of two blocks
	secondsCube  = 3e-11  // of an update of the posterior, times the cube of the heights
	secondsBin   = 1.3e-7 // a sample and feature, sorted
	secondsCell  = 1.1e-8 // an interval of a feature of a leaf
	secondsScore = 6e-8   // a sample's leaf of a tree
)

const (
	mostTrees  = 96
	leastTrees = 16
)

// growSeconds returns the work of a tree of n samples and d features.
func growSeconds(n, d int) float64 {
	return float64(secondsGrow*0.5*float64(n)*float64(d)*3) + cellSeconds(d)
}

// placeSeconds returns the work of the leaves of n samples in a tree.
func placeSeconds(n int) float64 { return float64(secondsScore * float64(n)) }

// cellSeconds returns the work of the intervals of d features of the leaves of a tree.
func cellSeconds(d int) float64 {
	return float64(secondsCell * 2 * leavesOfTree * mostBins * float64(d))
}

// binSeconds returns the work of the intervals of d features of n samples.
func binSeconds(n, d int) float64 { return float64(secondsBin * float64(n) * float64(d)) }

// sumSeconds returns the work of sums of n samples over pairs of blocks.
func sumSeconds(n, blocks int) float64 {
	return float64(secondsPair * 0.5 * float64(n) * float64(blocks) * float64(blocks))
}

// evidenceSeconds returns the work of learning heights.
func evidenceSeconds(heights int) float64 {
	h := float64(heights)
	return float64(secondsCube * float64(updates+2) * h * h * h)
}

// Forecast returns the seconds of a fit to n samples of d features with so many trees.
func Forecast(n, d, trees int) float64 {
	curves := d * knotsFor(d)
	return float64(2*binSeconds(n, d)) + sumSeconds(n, d+trees) + evidenceSeconds(curves) + evidenceSeconds(curves+trees*leavesOfTree) + float64(float64(trees)*(growSeconds(min(n, mostGrown), d)+placeSeconds(n)))
}

// trees returns how many trees a fit to n samples of d features grows.
func (p Process) trees(n, d int) int {
	t := mostTrees
	for p.Seconds > 0 && t > leastTrees && Forecast(n, d, t) > p.Seconds {
		t = int(math.Floor(0.85 * float64(t)))
	}
	return t
}

// Memory returns about how many bytes a fit to n samples of d features takes, the features included.
func Memory(n, d int) int64 {
	heights := float64(min(d*knotsFor(d), curveHeights) + mostTrees*leavesOfTree)
	samples := float64(n) * (float64(9*d) + float64(5*min(d, curveHeights/2)) + mostTrees + 64)
	bins := float64(leavesOfTree*mostBins*24) * float64(d)
	return int64(min(float64(samples)+float64(24*heights*heights)+float64(bins), math.MaxInt64/2))
}

// classSeconds returns the work of a round of trees of so many functions, for n samples of d features.
func classSeconds(n, d, functions int) float64 {
	unsure := min(1, 3/float64(functions)) // most samples soon have a small probability of most classes
	seen := min(float64(n), mostGrown/seenShare) * seenShare * (sureShare + float64((1-sureShare)*unsure))
	grow := float64(secondsGrow*seen*float64(d)*3) + cellSeconds(d)
	return float64(float64(functions) * (grow + placeSeconds(n)))
}

// ForecastClasses returns the seconds of a fit of so many functions to n samples of d features, with so many rounds before samples are
// held out and as many after.
func ForecastClasses(n, d, functions, rounds int) float64 {
	return float64(2 * (binSeconds(n, d) + float64(float64(rounds)*classSeconds(n, d, functions))))
}

// rounds returns how many rounds a fit to classes may take.
func (p Process) rounds(n, d, functions int) int {
	if !(p.Seconds > 0) {
		return mostRounds
	}
	r := (p.Seconds - float64(2*binSeconds(n, d))) / float64(2*classSeconds(n, d, functions))
	return int(math.Floor(min(max(r, leastRounds), float64(mostRounds))))
}

// MemoryClasses returns about how many bytes a fit of so many functions to n samples of d features takes, the features included.
func MemoryClasses(n, d, functions int) int64 {
	samples := float64(float64(n) * (float64(9*d) + float64(24*functions) + 96))
	bins := float64(float64(leavesOfTree*mostBins*24) * float64(d))
	trees := float64(float64(mostRounds*functions) * (leavesOfTree * 48))
	return int64(min(samples+bins+trees, math.MaxInt64/2))
}
