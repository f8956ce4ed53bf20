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
		{"WSum", Model{Rule: WSum}},
		{"WSum-meanfield", Model{Rule: WSum, Update: MeanField}},
		{"Bin", Model{Rule: Bin, NotEmpty: true}},
		{"Bin-meanfield", Model{Rule: Bin, NotEmpty: true, Update: MeanField}},
		{"Bin-structured", Model{Rule: Bin, NotEmpty: true, Update: Structured}},
		{"FixProd", Model{Rule: FixProd}},
		{"WProd", Model{Rule: WProd}},
		{"WProd-meanfield", Model{Rule: WProd, Update: MeanField}},
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
	m, err := Model{Rule: WSum}.model(k, labels)
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
