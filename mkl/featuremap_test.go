package mkl

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/stat"
)

// TestFeatureMap compares features with sums that are written out, for numbers of features around the height of a product, and for a
// kernel with fewer features than landmarks.
func TestFeatureMap(t *testing.T) {
	src := rand.New(rand.NewPCG(5, 6))
	const samples = 7
	for _, D := range []int{1, mapRows - 1, mapRows, mapRows + 1, 2*mapRows + 3} {
		for _, rank := range []int{D, (D + 1) / 2} {
			root, kernel := la.NewMatrix[float64](D, rank), la.NewMatrix[float64](D, D)
			for i := range root.Data {
				root.Data[i] = src.NormFloat64()
			}
			la.Gemm(nil, la.NoTrans, la.Transpose, 1, root, root, 0, kernel)
			f, err := stat.Whiten(nil, kernel, 1e-6)
			require.NoError(t, err)
			m, ok := mapOf(f.By)
			require.True(t, ok)
			assert.Equal(t, f.Landmarks, m.pivots)

			k, phi := la.NewMatrix[float64](D, samples), la.NewMatrix[float64](f.By.Rows, samples)
			for i := range k.Data {
				k.Data[i] = src.NormFloat64()
			}
			m.apply(nil, k, la.NewMatrix[float64](f.By.Rows, samples), phi)
			for i := range phi.Rows {
				for s := range samples {
					var want, size float64
					for j, b := range f.By.Row(i) {
						want += float64(b * k.At(j, s))
						size += max(b*k.At(j, s), -b*k.At(j, s))
					}
					require.InDelta(t, want, phi.At(i, s), 1e-14*size, "%d landmarks, feature %d", D, i)
				}
			}
		}
	}
}

// TestOtherFeatureMap holds that a map that is not a triangle is multiplied as a whole.
func TestOtherFeatureMap(t *testing.T) {
	by := la.MatrixOf(2, 3, []float64{1, 2, 0, 3, 4, 5})
	_, ok := mapOf(by)
	require.False(t, ok)
	assert.Empty(t, mapsOf([]la.Matrix[float64]{la.MatrixOf(1, 1, []float64{1}), by}))
	p := featurePlan{by: []la.Matrix[float64]{by}}
	phi := []la.Matrix[float64]{la.NewMatrix[float64](2, 1)}
	p.features(nil, []la.Matrix[float64]{la.MatrixOf(3, 1, []float64{1, 10, 100})}, phi, nil)
	assert.Equal(t, []float64{21, 543}, phi[0].Data)
}
