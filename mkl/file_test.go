package mkl

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSaveLoadSameBits(t *testing.T) {
	m, _, _ := fitTwo(t, 40)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	got, err := LoadRegression(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)

	rng := rand.New(rand.NewPCG(9, 9))
	x := []Features{normal(rng, 17, 2), normal(rng, 17, 3)}
	mean, variance, err := m.Predict(x...)
	require.NoError(t, err)
	mean2, variance2, err := got.Predict(x...)
	require.NoError(t, err)
	require.Equal(t, mean, mean2)
	require.Equal(t, variance, variance2)
	require.Equal(t, m.Summary(), got.Summary())
	require.Equal(t, m.Trace(), got.Trace())

	var again bytes.Buffer
	require.NoError(t, got.Save(&again))
	require.Equal(t, file.Bytes(), again.Bytes())
}
