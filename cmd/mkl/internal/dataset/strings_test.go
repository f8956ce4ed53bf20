package dataset

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/sequence"
)

// What a fold takes of the kernels between all strings is what its own strings give.
func TestStringsOfFolds(t *testing.T) {
	kernels := []sequence.Kernel{sequence.Spectrum{K: 2}, sequence.LocalAlignment{}, sequence.Pairwise{}}
	all := &sequence.Set{Alphabet: sequence.DNA, Kernels: kernels, Strings: []string{"acgtac", "ttacga", "gtacca", "cacagt", "ggacat"}}
	train, test := []int{3, 0, 4}, []int{1, 2}
	own := &sequence.Set{Alphabet: sequence.DNA, Kernels: kernels, Strings: []string{"cacagt", "acgtac", "ggacat"}}
	views, err := all.Views(t.Context())
	require.NoError(t, err)
	want, err := own.Views(t.Context())
	require.NoError(t, err)
	whole := &Strings{Set: all, views: views}
	part := whole.some(train)
	assert.Equal(t, own.Strings, part.Set.Strings)
	for k := range kernels {
		assert.Equal(t, want[k].X, part.views[k].X, kernels[k])
	}
	inputs, err := own.Inputs(t.Context(), []string{"ttacga", "gtacca"})
	require.NoError(t, err)
	assert.Equal(t, inputs, whole.inputs(train, test, []int{4, 4, 3}))
}
