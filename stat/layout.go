package stat

import (
	"errors"
	"fmt"
	"slices"
)

// Limits. The fixed-point numbers rest on the first three, see fixed.go.
const (
	// MaxEntry is the largest absolute value of an entry of z. Kernels should be normalised,
	// and targets have mean 0 and standard deviation 1.
	MaxEntry = 1 << 7

	// MaxSelf is the largest kernel of a sample with itself.
	MaxSelf = MaxEntry * MaxEntry

	// MaxSamples is the largest number of samples of a statistic.
	MaxSamples = 1 << 40

	MaxEntries  = 1 << 15 // of z
	MaxOutputs  = 64
	MaxPatterns = 256 // of missing targets
)

// Layout says what the entries of z are.
type Layout struct {
	// Plan is the hash of all that fixes the entries: landmarks, kernels and their widths,
	// units of the targets. Statistics of different plans do not mix.
	Plan [32]byte

	Views   []int // D_p, the entries of each view: kernels with landmarks, or features of them
	Outputs int   // L, targets of a sample; 0 is allowed
}

// Entries returns the number of entries of z, ΣD_p + 1 + L.
func (l Layout) Entries() int { return newPlaces(l.Views, l.Outputs).entries() }

// validate returns an error unless there is a view and nothing is beyond the limits.
func (l Layout) validate() error {
	if len(l.Views) == 0 {
		return errors.New("stat: Layout.Views: none")
	}
	if l.Outputs < 0 || l.Outputs > MaxOutputs {
		return fmt.Errorf("stat: Layout.Outputs is %d: it must be between 0 and %d", l.Outputs, MaxOutputs)
	}
	left := MaxEntries - 1 - l.Outputs
	for p, d := range l.Views {
		if d < 1 {
			return fmt.Errorf("stat: Layout.Views[%d] is %d: a view needs a landmark", p, d)
		}
		if d > left {
			return fmt.Errorf("stat: Layout: more than %d entries", MaxEntries)
		}
		left -= d
	}
	return nil
}

// mixes returns an error unless statistics of the two layouts can be added.
func (l Layout) mixes(with Layout) error {
	switch {
	case l.Plan != with.Plan:
		return fmt.Errorf("stat: statistics of different plans: %x… and %x…", l.Plan[:4], with.Plan[:4])
	case !slices.Equal(l.Views, with.Views) || l.Outputs != with.Outputs:
		return fmt.Errorf("stat: statistics of different layouts: landmarks %d, %d outputs and landmarks %d, %d outputs",
			l.Views, l.Outputs, with.Views, with.Outputs)
	}
	return nil
}

// clone returns a copy that shares nothing.
func (l Layout) clone() Layout {
	l.Views = slices.Clone(l.Views)
	return l
}

// places are the rows of z: those of view p begin at first[p], 1 is at one, output o at
// one+1+o.
type places struct {
	first   []int // of each view
	one     int
	outputs int
}

func newPlaces(views []int, outputs int) places {
	l := places{outputs: outputs}
	for _, d := range views {
		l.first = append(l.first, l.one)
		l.one += d
	}
	return l
}

// view returns the rows of view p: first … end−1.
func (l places) view(p int) (first, end int) {
	if p+1 < len(l.first) {
		return l.first[p], l.first[p+1]
	}
	return l.first[p], l.one
}

// output returns the row of output o.
func (l places) output(o int) int { return l.one + 1 + o }

// entries returns the number of rows.
func (l places) entries() int { return l.one + 1 + l.outputs }
