package stat

import (
	"errors"
	"fmt"
	"slices"
)

// Limits of a statistic that its users may need.
const (
	MaxSamples = 1 << 40 // largest number of samples
	MaxOutputs = 64      // largest number of outputs
)

// Other limits. The fixed-point numbers depend on the first two and on MaxSamples, see fixed.go.
const (
	maxEntry    = 1 << 7              // largest absolute value of an entry of z
	maxSelf     = maxEntry * maxEntry // largest kernel of a sample with itself
	maxEntries  = 1 << 15             // of z
	maxPatterns = 256                 // of missing targets
)

// Layout describes the entries of z. There is at least one view, at most 64 outputs, and at most 32768
// entries.
type Layout struct {
	// Plan is a hash of everything that determines the entries: landmarks, kernels and their
	// widths, units of the targets. Statistics of different plans cannot be added.
	Plan [32]byte

	Views   []int // D_p, the number of entries of each view: kernels with landmarks, or features
	Outputs int   // L, the number of targets of a sample; may be 0
}

// Entries returns the number of entries of z, ΣD_p + 1 + L.
func (l Layout) Entries() int { return newPlaces(l.Views, l.Outputs).entries() }

// validate returns an error if there is no view, or if a number is out of its limits.
func (l Layout) validate() error {
	if len(l.Views) == 0 {
		return errors.New("stat: Layout.Views: none")
	}
	if l.Outputs < 0 || l.Outputs > MaxOutputs {
		return fmt.Errorf("stat: Layout.Outputs is %d: it must be between 0 and %d", l.Outputs, MaxOutputs)
	}
	left := maxEntries - 1 - l.Outputs
	for p, d := range l.Views {
		if d < 1 {
			return fmt.Errorf("stat: Layout.Views[%d] is %d: a view needs a landmark", p, d)
		}
		if d > left {
			return fmt.Errorf("stat: Layout: more than %d entries", maxEntries)
		}
		left -= d
	}
	return nil
}

// mixes returns an error if statistics of the two layouts cannot be added.
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

// clone returns a deep copy.
func (l Layout) clone() Layout {
	l.Views = slices.Clone(l.Views)
	return l
}

// places are the rows of z: view p begins at row first[p], 1 is in row one, output o in row one+1+o.
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
