package probit

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/vi"
)

// BenchmarkProbitFit fits the size of the handwritten numerals: N = 200, C = 10,
// four kernels, 50 sweeps.
func BenchmarkProbitFit(b *testing.B) {
	k, _, labels, _ := probitProblem(b, 200, 10, 4, 0, 1)
	for _, c := range []struct {
		name string
		p    Model
	}{
		{"FixSum", Model{}},
		{"WSum", Model{Rule: RuleWSum}},
		{"WSum-meanfield", Model{Rule: RuleWSum, Update: WeightUpdateMeanField}},
		{"Bin", Model{Rule: RuleBin, NotEmpty: true}},
		{"Bin-meanfield", Model{Rule: RuleBin, NotEmpty: true, Update: WeightUpdateMeanField}},
		{"Bin-structured", Model{Rule: RuleBin, NotEmpty: true, Update: WeightUpdateStructured}},
		{"FixProd", Model{Rule: RuleFixProd}},
		{"WProd", Model{Rule: RuleWProd}},
		{"WProd-meanfield", Model{Rule: RuleWProd, Update: WeightUpdateMeanField}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.p.Ascent = vi.Ascent{Tolerance: -1, MaxSweeps: 50}
			for b.Loop() {
				_, err := c.p.Fit(context.Background(), k, labels)
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkProbitSweep(b *testing.B) {
	k, _, labels, _ := probitProblem(b, 200, 10, 4, 0, 1)
	m, err := Model{Rule: RuleWSum}.model(k, labels)
	require.NoError(b, err)
	for range 20 {
		require.NoError(b, m.Sweep(nil))
	}
	for _, u := range m.updates {
		b.Run(u.Name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, u.Step())
			}
		})
	}
}
