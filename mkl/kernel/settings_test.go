package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// The notation of kernels is what the command line and results show.
func TestNotation(t *testing.T) {
	for want, k := range map[string]Kernel{
		"rbf(width=mean)":                           RBF{},
		"rbf(width=0.5)":                            RBF{Width: 0.5},
		"rbf(scale=2)":                              RBF{Scale: 2},
		"rbf(medians=2)":                            RBF{Medians: 2},
		"rbf(width=[1,0.25])":                       RBF{Widths: []float64{1, 0.25}},
		"rbf(ard)":                                  RBF{ARD: true},
		"rbf(width=2,ard)":                          RBF{Width: 2, ARD: true},
		"rbf(medians=2,ard)":                        RBF{Medians: 2, ARD: true},
		"laplacian(width=2)":                        Laplacian{Width: 2},
		"laplacian(width=2,distance=manhattan)":     Laplacian{Width: 2, Manhattan: true},
		"laplacian(ard,distance=manhattan)":         Laplacian{ARD: true},
		"matern(width=mean,smoothness=1.5)":         Matern{},
		"matern(width=1,smoothness=2.5)":            Matern{Width: 1, Smoothness: 2.5},
		"rational-quadratic(width=mean,alpha=1)":    RationalQuadratic{},
		"power-exponential(width=2,power=1.5)":      PowerExponential{Width: 2},
		"power-exponential(width=2,power=1,norm=1)": PowerExponential{Width: 2, Norm: 1},
		"periodic(period=1,width=1)":                Periodic{},
		"periodic(period=7,width=2,decay=3)":        Periodic{Period: 7, Width: 2, Decay: 3},
		"spectral(period=5,width=5)":                Spectral{Period: 5},
		"chi2(additive)":                            ChiSquare{Additive: true},
		"chi2(width=mean)":                          ChiSquare{},
		"categorical(overlap)":                      Categorical{Overlap: true},
		"categorical(medians=0.5)":                  Categorical{Medians: 0.5},
		"linear":                                    Linear{},
		"linear(scale=2)":                           Linear{Scale: 2},
		"polynomial(degree=2,offset=0,scale=1)":     Polynomial{},
		"polynomial(degree=3,offset=1,scale=0.5)":   Polynomial{Degree: 3, Offset: 1, Scale: 0.5},
		"interaction(order=2,width=1)":              Interaction{},
		"categorical(overlap)*linear":               Product{[]Factor{{1, Categorical{Overlap: true}}, {2, Linear{}}}},
		"distance(scale=mean)":                      FromDistance{},
		"func":                                      Func{},
		"f":                                         Func{Name: "f"},
		"precomputed":                               Precomputed{},
		"function":                                  KnownFunction{},
		"constant":                                  Constant{},
		"tanimoto":                                  Tanimoto{},
		"ibs":                                       IBS{},
		"intersection":                              Intersection{},
		"clinical":                                  Clinical{},
	} {
		assert.Equal(t, want, k.String())
	}
	assert.Equal(t, "linear", Linear{Scale: 1}.String(), "1 is what a scale of 0 means")
	assert.Equal(t, "mean median", fmt.Sprint(MeanDistance, " ", MedianDistance))
}

// above and below are the numbers next to v.
func above(v float64) float64 { return math.Nextafter(v, math.Inf(1)) }
func below(v float64) float64 { return math.Nextafter(v, math.Inf(-1)) }

// A setting is accepted up to its limits, and not beyond.
func TestLimitsOfSettings(t *testing.T) {
	for _, c := range []struct {
		setting  string
		least    float64
		most     float64
		kernelOf func(v float64) Kernel
	}{
		{"Width", 1e-150, 1e150, func(v float64) Kernel { return RBF{Width: v} }},
		{"Scale", 1e-150, 1e150, func(v float64) Kernel { return RBF{Scale: v} }},
		{"Medians", 1e-150, 1e150, func(v float64) Kernel { return Laplacian{Medians: v} }},
		{"Widths[2]", 1e-150, 1e150, func(v float64) Kernel { return Matern{Widths: []float64{1, 1, v}} }},
		{"Alpha", 1e-6, 1e6, func(v float64) Kernel { return RationalQuadratic{Alpha: v} }},
		{"Norm", 0.01, 2, func(v float64) Kernel { return PowerExponential{Norm: v, Power: 0.01} }},
		{"Power", 0.01, 2, func(v float64) Kernel { return PowerExponential{Power: v} }},
		{"Power", 0.01, 0.7, func(v float64) Kernel { return PowerExponential{Power: v, Norm: 0.7} }},
		{"Width", 1e-6, 1e6, func(v float64) Kernel { return Periodic{Width: v} }},
		{"Decay", 1e-150, 1e150, func(v float64) Kernel { return Periodic{Decay: v} }},
		{"Width", 0.01, 100, func(v float64) Kernel { return Interaction{Width: v} }},
		{"Scale", 0, math.MaxFloat64, func(v float64) Kernel { return Polynomial{Scale: v} }},
		{"Offset", 0, math.MaxFloat64, func(v float64) Kernel { return Polynomial{Offset: v} }},
	} {
		for _, v := range []float64{c.least, c.most} {
			assert.NoError(t, c.kernelOf(v).Check(3), "%v", c.kernelOf(v))
		}
		for _, v := range []float64{below(c.least), above(c.most), math.NaN(), math.Inf(1)} {
			assert.ErrorContains(t, c.kernelOf(v).Check(3), c.setting+" is ", "%v", c.kernelOf(v))
		}
	}
	for degree, ok := range map[int]bool{-1: false, 0: true, 1: true, 64: true, 65: false} {
		assert.Equal(t, ok, Polynomial{Degree: degree}.Check(3) == nil, "Degree %d", degree)
	}
	for order, ok := range map[int]bool{-1: false, 0: true, 1: true, 8: true, 9: false} {
		assert.Equal(t, ok, Interaction{Order: order}.Check(9) == nil, "Order %d", order)
	}
	assert.NoError(t, Interaction{Order: 3}.Check(3))
}

// Settings that exclude each other, or do not fit the features, are refused with their names.
func TestSettingsThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		want string
		k    Kernel
	}{
		{"more than one of Width, Scale, Widths and Medians", RBF{Width: 1, Scale: 1}},
		{"more than one of Width, Scale, Widths and Medians", RBF{Width: 1, Widths: []float64{1, 1, 1}}},
		{"more than one of Width, Widths and Medians", Laplacian{Width: 1, Medians: 1}},
		{"more than one of Width, Medians and Overlap", Categorical{Medians: 1, Overlap: true}},
		{"more than one of Width, Medians and Overlap", Categorical{Width: 1, Medians: 1}},
		{"more than one of Width, Medians and Additive", ChiSquare{Width: 1, Medians: 1}},
		{"ARD starts from Width or Medians, and Scale is set", RBF{Scale: 1, ARD: true}},
		{"ARD learns Widths, which are set", RBF{Widths: []float64{1, 1, 1}, ARD: true}},
		{"Widths[1] is 0", RBF{Widths: []float64{1, 0, 1}}},
		{"F is nil", Func{}},
		{"Low and High: 3 and 2 ends where the samples have 3 features", Clinical{Low: make([]float64, 3), High: make([]float64, 2)}},
		{"Low[2] is -1.7976931348623157e+308", Clinical{Low: []float64{0, 0, -math.MaxFloat64}, High: []float64{1, 1, math.MaxFloat64}}},
		{"Factors: 1 where two at least are needed", Product{[]Factor{{3, Linear{}}}}},
		{"Factors[1]: Kernel is nil", Product{[]Factor{{1, Linear{}}, {2, nil}}}},
		{"Factors[0]: Columns is 0 of 3 features", Product{[]Factor{{0, Linear{}}, {3, Linear{}}}}},
		{"Factors[1]: Columns is 3 of 2 features", Product{[]Factor{{1, Linear{}}, {3, Linear{}}}}},
		{"Factors: they see 2 columns where the samples have 3", Product{[]Factor{{1, Linear{}}, {1, Linear{}}}}},
		{"Factors[0]: function is no factor", Product{[]Factor{{1, KnownFunction{}}, {2, Linear{}}}}},
		{"Factors[0]: linear*linear is no factor", Product{[]Factor{{2, Product{[]Factor{{1, Linear{}}, {1, Linear{}}}}}, {1, Linear{}}}}},
		{"Factors[0]: ARD", Product{[]Factor{{1, RBF{ARD: true}}, {2, Linear{}}}}},
		{"Factors[0]: Widths", Product{[]Factor{{1, RBF{Widths: []float64{1}}}, {2, Linear{}}}}},
		{"Factors[1]: precomputed is given", Product{[]Factor{{1, Linear{}}, {2, Precomputed{}}}}},
		{"Factors[1]: Degree is 65", Product{[]Factor{{1, Linear{}}, {2, Polynomial{Degree: 65}}}}},
	} {
		assert.ErrorContains(t, c.k.Check(3), c.want)
	}
	for _, k := range []Kernel{
		RBF{ARD: true, Width: 1}, RBF{Widths: []float64{1, 1, 1}}, Func{F: inner}, Clinical{}, Clinical{Low: make([]float64, 3), High: make([]float64, 3)},
		FromDistance{}, Precomputed{}, KnownFunction{}, Categorical{}, ChiSquare{Additive: true},
	} {
		assert.NoError(t, k.Check(3), "%v", k)
	}
}

// The ranges of features come from the training samples, in a product from each factor's own features.
func TestRanges(t *testing.T) {
	low, high := []float64{1, 2, 3}, []float64{4, 5, 6}
	assert.False(t, LacksRange(Linear{}))
	require.True(t, LacksRange(Clinical{}))
	ranged := Clinical{}.WithRange(low, high)
	assert.Equal(t, Clinical{Low: low, High: high}, ranged)
	assert.False(t, LacksRange(ranged))
	low[0] = 9
	assert.Equal(t, 1.0, ranged.(Clinical).Low[0], "the kernel has copies")
	low[0] = 1
	fixed := Clinical{Low: []float64{0}, High: []float64{9}}
	product := Product{[]Factor{{1, fixed}, {2, Clinical{}}}}
	require.True(t, LacksRange(product))
	assert.Equal(t, Product{[]Factor{{1, fixed}, {2, Clinical{Low: low[1:], High: high[1:]}}}}, product.WithRange(low, high))
	assert.False(t, LacksRange(product.WithRange(low, high)))
	assert.False(t, LacksRange(Product{[]Factor{{1, Linear{}}, {2, Linear{}}}}))
}

// What kernels claim of their values.
func TestProperties(t *testing.T) {
	claimed := func(bounded, definite, divisible bool) Properties { return Properties{bounded, definite, divisible} }
	for _, c := range []struct {
		want    Properties
		kernels []Kernel
	}{
		{claimed(true, true, true), []Kernel{
			RBF{}, Laplacian{}, RationalQuadratic{}, PowerExponential{}, Periodic{}, ChiSquare{}, Categorical{}, Product{[]Factor{{1, RBF{}}, {1, Periodic{}}}},
		}},
		{claimed(true, true, false), []Kernel{Matern{}, Categorical{Overlap: true}, Clinical{}, IBS{}, Tanimoto{}, Constant{}, Product{[]Factor{{1, RBF{}}, {1, IBS{}}}}}},
		{claimed(false, true, false), []Kernel{
			Linear{}, Polynomial{}, Spectral{}, Interaction{}, Intersection{}, ChiSquare{Additive: true}, Product{[]Factor{{1, RBF{}}, {1, Linear{}}}},
		}},
		{claimed(true, false, false), []Kernel{FromDistance{}, KnownFunction{}}},
		{claimed(false, false, false), []Kernel{Precomputed{}, Func{}, Product{[]Factor{{1, RBF{}}, {1, Func{F: inner}}}}}},
	} {
		for _, k := range c.kernels {
			assert.Equal(t, c.want, k.Properties(), "%v", k)
		}
	}
	for k, want := range map[StatisticKind]bool{
		SquaredDistance: true, ManhattanDistance: true, Disagreement: true, InnerProduct: true, NoStatistic: true, GivenStatistic: false, CustomStatistic: false,
	} {
		assert.Equal(t, want, Statistic{Kind: k}.OfFeatures())
	}
}

// Samples that are the same, or as far apart as numbers allow, have a kernel of 1 or 0 and slopes of 0, without NaN.
func TestKernelsAtTheEnds(t *testing.T) {
	for _, k := range []Kernel{
		RBF{Width: 2}, RBF{Scale: 2}, Laplacian{Width: 2}, Laplacian{Width: 2, Manhattan: true}, Matern{Width: 2}, Matern{Width: 2, Smoothness: 2.5},
		RationalQuadratic{Width: 2, Alpha: 3}, PowerExponential{Width: 2}, PowerExponential{Width: 2, Norm: 1}, FromDistance{Scale: 2}, ChiSquare{Width: 2},
	} {
		s := []float64{0, math.MaxFloat64, math.Inf(1)}
		k.Apply(s)
		assert.Equal(t, []float64{1, 0, 0}, s, "%v", k)
	}
	for _, k := range []Radial{Matern{Width: 2}, Matern{Width: 2, Smoothness: 2.5}, RationalQuadratic{Width: 2, Alpha: 3}} {
		s := []float64{math.MaxFloat64, math.Inf(1)}
		k.Fall(s)
		assert.Equal(t, []float64{0, 0}, s, "%v", k)
	}
	assert.Equal(t, 0.5, values(IBS{}, la.MatrixOf(2, 1, []float64{7, 1})).At(0, 1), "more than two alleles count as two")
	s := []float64{2, 3}
	KnownFunction{}.Apply(s)
	assert.Equal(t, []float64{0, 0}, s)
	// Rounding may leave a squared distance a little below 0.
	for _, k := range []Decaying{Laplacian{Width: 2}, PowerExponential{Width: 2}} {
		s := []float64{-1e-20}
		k.Distances(s)
		assert.Equal(t, []float64{0}, s, "%v", k)
	}
	s = []float64{-1e-20}
	Matern{Width: 2}.Apply(s)
	assert.Equal(t, []float64{1}, s)
}
