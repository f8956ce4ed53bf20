package conjugate

import (
	"testing"

	"github.com/stretchr/testify/assert"

	_ "github.com/bmkl/bmkl/internal/testkit/golden" // the flag -golden
	"github.com/bmkl/bmkl/vi"
)

// Reference values: the definition E[log p] − E[log q], mpmath with 50 digits.
func TestGammaBoundTerm(t *testing.T) {
	for _, c := range []struct {
		q, p vi.Gamma
		want float64
	}{
		{vi.Gamma{Shape: 1.5, Scale: 0.3}, vi.Gamma{Shape: 1, Scale: 1}, -0.2930000289504694956},
		{vi.Gamma{Shape: 0.5000000001, Scale: 1e10}, vi.Gamma{Shape: 1e-10, Scale: 1e10}, -21.471730974390414543},
		{vi.Gamma{Shape: 0.5000000001, Scale: 2.5e-7}, vi.Gamma{Shape: 1e-10, Scale: 1e10}, -20.971730978113180133},
		{vi.Gamma{Shape: 0.5000000001, Scale: 3.7e9}, vi.Gamma{Shape: 1e-10, Scale: 1e10}, -21.156730974426839766},
		{vi.Gamma{Shape: 0.5000000001, Scale: 9.9999e-11}, vi.Gamma{Shape: 1e-10, Scale: 1e-10}, -21.471725974390414501},
		{vi.Gamma{Shape: 0.5000000001, Scale: 1e-14}, vi.Gamma{Shape: 1e-10, Scale: 1e-10}, -20.971780975211458572},
		{vi.Gamma{Shape: 10000.5, Scale: 1e-4}, vi.Gamma{Shape: 0.5, Scale: 3}, -4.6412610733754971621},
	} {
		g := NewGammas(c.p, c.q.Shape, 2)
		g.Scale[0], g.Scale[1] = c.q.Scale, c.q.Scale
		assert.InEpsilon(t, 2*c.want, g.Bound(), 1e-11, "%v", c)
	}
}
