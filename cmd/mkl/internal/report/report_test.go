package report

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
)

func TestShortened(t *testing.T) {
	for text, want := range map[string]string{
		"rbf(width=2)": "rbf(width=2)",
		"laplacian(width=4.431234,distance=manhattan) of ranks": "laplacian(width=4.431,distance=manhattan) of ranks",
		"rbf(width=0.000123456789)":                             "rbf(width=0.0001235)",
		"rbf(width=1.23456789e-10)":                             "rbf(width=1.235e-10)",
		"rbf(width=[1,2,3,4,5])":                                "rbf(width=[1,2,3,4,5])",
		"rbf(width=[1,2,3,4,5,6.789012])":                       "rbf(width=[1,2,3,4,…])",
	} {
		assert.Equal(t, want, shortened(text))
	}
}

// The report leaves out what is unknown of weights, and what it has already said of kernels.
func TestWeightsForPeople(t *testing.T) {
	assert.Equal(t, "rbf(width=[1,2])", viewAndKernel("rbf(ard)", "rbf(width=[1,2])"))
	assert.Equal(t, "laplacian(width=[1,2],distance=manhattan) of ranks",
		viewAndKernel("laplacian(ard,distance=manhattan) of ranks", "laplacian(width=[1,2],distance=manhattan)"))
	assert.Equal(t, "size  rbf(width=1)", viewAndKernel("size", "rbf(width=1)"))

	est := model.Of("pool")
	r := &Report{est: est, Members: []Member{{"all", 1}}}
	for i := range 24 {
		k := Kernel{View: "all: linear", Kernel: "linear", Weight: 1, Active: true}
		if i >= 21 {
			k.Weight = 0.01
		}
		r.Kernels = append(r.Kernels, k)
	}
	var b strings.Builder
	require.NoError(t, r.printKernels(&b, r.Kernels))
	assert.Equal(t, "24 of 24 kernels active (-list-kernels lists them)\n", b.String())

	r.ListKernels = true
	b.Reset()
	require.NoError(t, r.printKernels(&b, r.Kernels))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	assert.Equal(t, "24 of 24 kernels active: share, kernel, weight", lines[0])
	assert.Equal(t, "  … and 3 below 1 % (-json lists all)", lines[len(lines)-1])
	assert.Len(t, lines, 1+21+1)
	assert.NotContains(t, b.String(), "±")

	// In a pool of two members a kernel is small beside the kernels of its own member only.
	r.Members = append(r.Members, Member{"other", 1})
	r.Kernels = append(r.Kernels, Kernel{View: "other: rbf", Kernel: "rbf", Weight: 1e-6, Active: true})
	r.Kernels = append(r.Kernels, Kernel{View: "other: off", Kernel: "off"})
	r.ListKernels = false
	b.Reset()
	require.NoError(t, r.printKernels(&b, r.Kernels))
	assert.Equal(t, "25 of 26 kernels of 2 members active (-list-kernels lists them)\n", b.String())
	r.ListKernels = true
	b.Reset()
	require.NoError(t, r.printKernels(&b, r.Kernels))
	assert.Contains(t, b.String(), "25 of 26 kernels of 2 members active: share, kernel, weight\n")
	assert.Regexp(t, `(?m)^  other +0\.0 % +rbf +1e-06$`, b.String())
	assert.True(t, strings.HasSuffix(b.String(), "  … and 3 below 1 % of their member (-json lists all)\n"), b.String())
}

// Weights of a class whose function is constant are not listed as if they were large.
func TestVanishedWeights(t *testing.T) {
	est := model.Of("landmark-classifier")
	kernel := func(w console.Number) []Kernel {
		return []Kernel{{View: "x", Kernel: "rbf(width=1)", Weight: w, Active: true}}
	}
	r := &Report{est: est, Classes: []string{"a", "b", "c"}, Targets: []Target{
		{Name: "a", Kernels: kernel(0.5)}, {Name: "b", Kernels: kernel(3e-11)}, {Name: "c", Kernels: kernel(2e-6)},
	}}
	var b strings.Builder
	require.NoError(t, r.Print(&b))
	assert.Equal(t, 2, strings.Count(b.String(), "100.0 %"))
	assert.Contains(t, b.String(), "\nb\nno kernel active: no weight is above 3e-11, and the function of the class is constant\n\nc\n")
}

// TestShares works shares of two kernels out by hand. The second kernel has a spread of four.
func TestShares(t *testing.T) {
	r := &Report{est: model.Of("regression"), notes: &notes.Notes{Views: []notes.View{{Name: "a"}, {Name: "b"}}}}
	kernels := []Kernel{{View: "a", Kernel: "rbf", Weight: -3, SD: 0.3}, {View: "b", Kernel: "linear", Weight: 0.25, SD: 0.05}}
	s := r.sharesOf(kernels, []float64{1, 4})
	require.Len(t, s.Kernels, 2)
	assert.InDelta(t, 0.75, s.Kernels[0].Value, 1e-12)
	assert.InDelta(t, 0.25, s.Kernels[1].Value, 1e-12)
	// d(3/(3+1)) = 1/16 d3 − 3/16 d1, with errors 0.3 and 0.2.
	want := math.Hypot(0.3/16, 3*0.2/16)
	assert.InDelta(t, want, s.Kernels[0].SD, 1e-12)
	assert.InDelta(t, want, s.Kernels[1].SD, 1e-12)
	assert.Equal(t, "a", s.Views[0].View)
	assert.InDelta(t, want, s.Views[0].SD, 1e-12)
	raw := r.sharesOf(kernels, nil)
	assert.InDelta(t, 3/3.25, raw.Kernels[0].Value, 1e-12)
	assert.Zero(t, r.sharesOf([]Kernel{{View: "a"}}, nil).Kernels[0].Value)
}

// TestViews prints the largest share first, and nothing for what an old model does not know.
func TestViews(t *testing.T) {
	var out strings.Builder
	none := console.Number(math.NaN())
	r := &Report{Views: []View{
		{View: "noise", In: 0.31, Informative: 0.2, Loss: -0.004, LossSE: 0.003},
		{View: "genes", Share: 0.8, SD: 0.05, In: 0.998, Informative: 1, Loss: 0.42, LossSE: 0.06},
		{View: "old", Share: 0.2, SD: 0.05, In: none, Informative: 0.9, Loss: none, LossSE: none},
	}}
	assert.NoError(t, r.printViews(&out))
	assert.Equal(t, `
view   share, %  ± SD   in, %  alone, %  loss, nats  ± SE
genes      80.0  ± 5.0    100       100       0.420  ± 0.060
old        20.0  ± 5.0               90
noise       0.0            31        20      -0.004  ± 0.003
`+viewLegend+"\n", out.String())
	out.Reset()
	r.Views, r.Groups = r.Views[:2], []Group{{Group: "lab", Views: []string{"noise"}, Share: 0.8, SD: 0.1, In: 0.99, Before: 0.75, Loss: 0.5, LossSE: 0.07}}
	assert.NoError(t, r.printViews(&out))
	assert.Equal(t, `
view       share, %  ± SD   in, %  alone, %  loss, nats  ± SE
genes          80.0  ± 5.0    100       100       0.420  ± 0.060
noise           0.0            31        20      -0.004  ± 0.003
group lab      80.0  ± 10      99                 0.500  ± 0.070
`+viewLegend+";\na group's in: that at least one of its views is needed, in % before any data lab 75\n", out.String())
	r.Views = []View{{}, {}, {View: "old", Share: 0.2, SD: 0.05, In: none, Informative: 0.9, Loss: none, LossSE: none}}
	json, err := json.Marshal(r.Views[2])
	assert.NoError(t, err)
	assert.JSONEq(t, `{"view": "old", "share": 0.2, "sd": 0.05, "in": "NaN", "informative": 0.9, "loss": "NaN", "loss_se": "NaN"}`, string(json))
}
