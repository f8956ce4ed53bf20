package spec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/kernel"
)

func TestBuild(t *testing.T) {
	for _, c := range []struct {
		in   string
		want ViewKernel
	}{
		{"rbf", ViewKernel{Kernel: kernel.RBF{}}},
		{"rbf(width=mean)", ViewKernel{Kernel: kernel.RBF{}}},
		{"rbf(medians=0.5)", ViewKernel{Kernel: kernel.RBF{Medians: 0.5}}},
		{"rbf(ard)", ViewKernel{Kernel: kernel.RBF{ARD: true}}},
		{"rbf(width=[1,2])", ViewKernel{Kernel: kernel.RBF{Widths: []float64{1, 2}}}},
		{"laplacian(medians=1,distance=manhattan,ranks)", ViewKernel{Kernel: kernel.Laplacian{Medians: 1, Manhattan: true}, Ranks: true}},
		{"laplacian(width=[1,2])", ViewKernel{Kernel: kernel.Laplacian{Widths: []float64{1, 2}}}},
		{"laplacian(ard,width=3)", ViewKernel{Kernel: kernel.Laplacian{ARD: true, Width: 3}}},
		{"matern", ViewKernel{Kernel: kernel.Matern{}}},
		{"matern(width=[1,2],smoothness=2.5,ranks)", ViewKernel{Kernel: kernel.Matern{Widths: []float64{1, 2}, Smoothness: 2.5}, Ranks: true}},
		{"rational-quadratic(alpha=0.5,medians=2)", ViewKernel{Kernel: kernel.RationalQuadratic{Alpha: 0.5, Medians: 2}}},
		{"power-exponential(power=1.2,width=3)", ViewKernel{Kernel: kernel.PowerExponential{Power: 1.2, Width: 3}}},
		{"periodic(period=7)", ViewKernel{Kernel: kernel.Periodic{Period: 7}, AsGiven: true}},
		{"periodic(period=7,decay=30)", ViewKernel{Kernel: kernel.Periodic{Period: 7, Decay: 30}, AsGiven: true}},
		{"spectral(period=7,width=20)", ViewKernel{Kernel: kernel.Spectral{Period: 7, Width: 20}, AsGiven: true}},
		{"chi2(medians=0.5)", ViewKernel{Kernel: kernel.ChiSquare{Medians: 0.5}, AsGiven: true}},
		{"chi2(additive)", ViewKernel{Kernel: kernel.ChiSquare{Additive: true}, AsGiven: true}},
		{"intersection(normalize)", ViewKernel{Kernel: kernel.Intersection{}, AsGiven: true, Normalize: true}},
		{"clinical", ViewKernel{Kernel: kernel.Clinical{}, AsGiven: true}},
		{"ibs", ViewKernel{Kernel: kernel.IBS{}, AsGiven: true}},
		{"power-exponential(power=1,norm=1)", ViewKernel{Kernel: kernel.PowerExponential{Power: 1, Norm: 1}}},
		{"tanimoto(center)", ViewKernel{Kernel: kernel.Tanimoto{}, AsGiven: true, Center: true}},
		{"categorical", ViewKernel{Kernel: kernel.Categorical{}, Categories: true}},
		{"categorical(width=0.5,center)", ViewKernel{Kernel: kernel.Categorical{Width: 0.5}, Categories: true, Center: true}},
		{"categorical(overlap)", ViewKernel{Kernel: kernel.Categorical{Overlap: true}, Categories: true}},
		{"constant", ViewKernel{Kernel: kernel.Constant{}}},
		{"function", ViewKernel{Kernel: kernel.KnownFunction{}}},
		{"linear(scale=0.25,center)", ViewKernel{Kernel: kernel.Linear{Scale: 0.25}, Center: true}},
		{"interaction(order=3,width=2,ranks)", ViewKernel{Kernel: kernel.Interaction{Order: 3, Width: 2}, Ranks: true}},
		{"distance(normalize)", ViewKernel{Kernel: kernel.FromDistance{}, Normalize: true, Given: true, Square: true}},
		{"distance(basis)", ViewKernel{Kernel: kernel.FromDistance{}, Given: true}},
	} {
		ks, err := Parse(c.in)
		require.NoError(t, err, c.in)
		got, err := Build(ks[0])
		require.NoError(t, err, c.in)
		assert.Equal(t, c.want, got, c.in)
	}
	for _, c := range []struct{ in, want string }{
		{"rbf(medians=0)", "rbf: medians=0: a positive number is needed"},
		{"rbf(medians=mean)", "rbf: medians=mean: a positive number is needed"},
		{"rbf(ard=3)", "rbf: ard=3: yes or no is needed"},
		{"laplacian(ard,distance=euclidean)", "laplacian: distance=euclidean: one width for each column is for distance=manhattan"},
		{"constant(scale=2)", `constant has no setting "scale": it has ranks, center, normalize`},
		{"categorical(ranks)", `categorical has no setting "ranks": it has width, medians, overlap, center, normalize`},
		{"precomputed(ranks)", `precomputed has no setting "ranks": it has indefinite, basis, center, normalize`},
	} {
		ks, err := Parse(c.in)
		require.NoError(t, err, c.in)
		_, err = Build(ks[0])
		assert.EqualError(t, err, c.want)
	}
}
