//go:build !purego

package la

var (
	avx512Words = wordKernels{avx512ToWords, avx512FromWords, avx512Squares}
	avx2Words   = wordKernels{avx2ToWords, avx2FromWords, avx2Squares}
)

//go:noescape
func avx512ToWords(n int, x *float64, scale float64, dither *float64, dst *int16)

//go:noescape
func avx512FromWords(n int, high, low *int32, step *float64, scale float64, dst *float64)

//go:noescape
func avx512Squares(n int, x, dst *float64) (largest float64)

//go:noescape
func avx2ToWords(n int, x *float64, scale float64, dither *float64, dst *int16)

//go:noescape
func avx2FromWords(n int, high, low *int32, step *float64, scale float64, dst *float64)

//go:noescape
func avx2Squares(n int, x, dst *float64) (largest float64)
