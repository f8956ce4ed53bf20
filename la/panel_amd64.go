//go:build !purego

package la

//go:noescape
func avx512PanelMul64(panels, k int, a, x, y *float64, add bool)

//go:noescape
func avx512PanelSqDist64(panels, k int, a, x, y *float64, add bool)

//go:noescape
func avx512PanelAbsDist64(panels, k int, a, x, y *float64, add bool)

//go:noescape
func avx512PanelMul32(panels, k int, a, x, y *float32, add bool)

//go:noescape
func avx512PanelSqDist32(panels, k int, a, x, y *float32, add bool)

//go:noescape
func avx512PanelAbsDist32(panels, k int, a, x, y *float32, add bool)

//go:noescape
func avx2PanelMul64(panels, k int, a, x, y *float64, add bool)

//go:noescape
func avx2PanelSqDist64(panels, k int, a, x, y *float64, add bool)

//go:noescape
func avx2PanelAbsDist64(panels, k int, a, x, y *float64, add bool)

//go:noescape
func avx2PanelMul32(panels, k int, a, x, y *float32, add bool)

//go:noescape
func avx2PanelSqDist32(panels, k int, a, x, y *float32, add bool)

//go:noescape
func avx2PanelAbsDist32(panels, k int, a, x, y *float32, add bool)

//go:noescape
func avx512MulBytes(pairs int, a *int8, x *int16, y *int32, add bool)

//go:noescape
func avx512MulBytesVNNI(pairs int, a *int8, x *int16, y *int32, add bool)

//go:noescape
func avx512MulBytesRows(pairs int, a *int8, x *int16, xs int, y *int32, ys int, add bool)

//go:noescape
func avx2MulBytes(pairs int, a *int8, x *int16, y *int32, add bool)

//go:noescape
func avx512PanelSqParts64(k int, a, x, y *float64)

//go:noescape
func avx512PanelAbsParts64(k int, a, x, y *float64)

//go:noescape
func avx512PanelSqParts32(k int, a, x, y *float32)

//go:noescape
func avx512PanelAbsParts32(k int, a, x, y *float32)

//go:noescape
func avx2PanelSqParts64(k int, a, x, y *float64)

//go:noescape
func avx2PanelAbsParts64(k int, a, x, y *float64)

//go:noescape
func avx2PanelSqParts32(k int, a, x, y *float32)

//go:noescape
func avx2PanelAbsParts32(k int, a, x, y *float32)

//go:noescape
func avx512PanelAddProducts64(k int, a, x, y *float64)

//go:noescape
func avx512PanelAddProducts32(k int, a, x, y *float32)

//go:noescape
func avx2PanelAddProducts64(k int, a, x, y *float64)

//go:noescape
func avx2PanelAddProducts32(k int, a, x, y *float32)
