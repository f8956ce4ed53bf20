//go:build !purego

package la

//go:noescape
func neonPanelMul64(panels, k int, a, x, y *float64, add bool)

//go:noescape
func neonPanelSqDist64(panels, k int, a, x, y *float64, add bool)

//go:noescape
func neonPanelAbsDist64(panels, k int, a, x, y *float64, add bool)

//go:noescape
func neonPanelMul32(panels, k int, a, x, y *float32, add bool)

//go:noescape
func neonPanelSqDist32(panels, k int, a, x, y *float32, add bool)

//go:noescape
func neonPanelAbsDist32(panels, k int, a, x, y *float32, add bool)

//go:noescape
func neonPanelSqParts64(k int, a, x, y *float64)

//go:noescape
func neonPanelAbsParts64(k int, a, x, y *float64)

//go:noescape
func neonPanelSqParts32(k int, a, x, y *float32)

//go:noescape
func neonPanelAbsParts32(k int, a, x, y *float32)

//go:noescape
func neonPanelAddProducts64(k int, a, x, y *float64)

//go:noescape
func neonPanelAddProducts32(k int, a, x, y *float32)
