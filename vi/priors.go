package vi

import (
	"fmt"
	"math"
)

// or1 returns g, or Gamma{1, 1} in place of the zero value.
func or1(g Gamma) Gamma {
	if g == (Gamma{}) {
		return Gamma{1, 1}
	}
	return g
}

// checkGamma returns an error that names the prior unless its shape and scale are
// positive and finite.
func checkGamma(name string, g Gamma) error {
	ok := func(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
	if !ok(g.Shape) || !ok(g.Scale) {
		return fmt.Errorf("vi: prior %s: Gamma(%g, %g): shape and scale must be positive and finite", name, g.Shape, g.Scale)
	}
	return nil
}
