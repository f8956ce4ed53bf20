//go:build !purego

package la

//go:noescape
func gemmNeon64(k int, alpha float64, a, b, c *float64, ldc int, add bool)

//go:noescape
func distNeon64(k int, a, b, c *float64, ldc int, add bool)

//go:noescape
func packNeon64(r, k int, src *float64, ld int, dst *float64)

//go:noescape
func dotNeon64(x, y []float64) float64

//go:noescape
func dotLanesNeon64(s *[Lanes]float64, x, y []float64)

//go:noescape
func dotAxpyNeon64(alpha float64, a, x, y []float64) float64

//go:noescape
func axpyNeon64(alpha float64, x, y []float64)

//go:noescape
func axpy4Neon64(x *[4]float64, a *float64, lda int, y []float64)

//go:noescape
func scalNeon64(alpha float64, x []float64)

//go:noescape
func expNeon64(dst, src []float64)

//go:noescape
func gemmNeon32(k int, alpha float32, a, b, c *float32, ldc int, add bool)

//go:noescape
func distNeon32(k int, a, b, c *float32, ldc int, add bool)

//go:noescape
func packNeon32(r, k int, src *float32, ld int, dst *float32)

//go:noescape
func dotNeon32(x, y []float32) float32

//go:noescape
func dotLanesNeon32(s *[Lanes]float32, x, y []float32)

//go:noescape
func dotAxpyNeon32(alpha float32, a, x, y []float32) float32

//go:noescape
func axpyNeon32(alpha float32, x, y []float32)

//go:noescape
func axpy4Neon32(x *[4]float32, a *float32, lda int, y []float32)

//go:noescape
func scalNeon32(alpha float32, x []float32)

//go:noescape
func expNeon32(dst, src []float32)

//go:noescape
func dotNeonMixed(a []float32, x []float64) float64

//go:noescape
func dotLanesNeonMixed(s *[Lanes]float64, a []float32, x []float64)

//go:noescape
func dotAxpyNeonMixed(alpha float64, a []float32, x, y []float64) float64

//go:noescape
func axpyNeonMixed(alpha float64, a []float32, y []float64)

//go:noescape
func axpy4NeonMixed(x *[4]float64, a *float32, lda int, y []float64)
