package conjugate

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/vi"
)

// Or1 returns g, or Gamma{1, 1} in place of the zero value.
func Or1(g vi.Gamma) vi.Gamma {
	if g == (vi.Gamma{}) {
		return vi.Gamma{Shape: 1, Scale: 1}
	}
	return g
}

// CheckPrior returns an error that names the prior unless its shape and scale are
// positive and finite.
func CheckPrior(name string, g vi.Gamma) error {
	ok := func(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
	if !ok(g.Shape) || !ok(g.Scale) {
		return fmt.Errorf("vi: prior %s: Gamma(%g, %g): shape and scale must be positive and finite", name, g.Shape, g.Scale)
	}
	return nil
}
