package vi

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Reference values: the definition E[log p] − E[log q], mpmath with 50 digits.
func TestGammaBoundTerm(t *testing.T) {
	for _, c := range []struct {
		q, p Gamma
		want float64
	}{
		{Gamma{1.5, 0.3}, Gamma{1, 1}, -0.2930000289504694956},
		{Gamma{0.5000000001, 1e10}, Gamma{1e-10, 1e10}, -21.471730974390414543},
		{Gamma{0.5000000001, 2.5e-7}, Gamma{1e-10, 1e10}, -20.971730978113180133},
		{Gamma{0.5000000001, 3.7e9}, Gamma{1e-10, 1e10}, -21.156730974426839766},
		{Gamma{0.5000000001, 9.9999e-11}, Gamma{1e-10, 1e-10}, -21.471725974390414501},
		{Gamma{0.5000000001, 1e-14}, Gamma{1e-10, 1e-10}, -20.971780975211458572},
		{Gamma{10000.5, 1e-4}, Gamma{0.5, 3}, -4.6412610733754971621},
	} {
		g := newGammas(c.p, c.q.Shape, 2)
		g.scale[0], g.scale[1] = c.q.Scale, c.q.Scale
		assert.InEpsilon(t, 2*c.want, g.bound(), 1e-11, "%v", c)
	}
}
