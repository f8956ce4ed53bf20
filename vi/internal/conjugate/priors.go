package conjugate

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
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

// Prior checks the prior of a setting.
func Prior(name string, p vi.Gamma) check.Part {
	return func() error { return CheckPrior(name, p) }
}

// Factors checks the n gamma factors of a part of a state.
func Factors(name string, q []vi.Gamma, n int) check.Part {
	return func() error {
		if len(q) != n {
			return fmt.Errorf("%s: %d factors where %d are needed", name, len(q), n)
		}
		for i, g := range q {
			if err := CheckPrior(fmt.Sprintf("%s[%d]", name, i), g); err != nil {
				return err
			}
		}
		return nil
	}
}
