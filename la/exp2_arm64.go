//go:build !purego

package la

//go:noescape
func neonExp2Sum(n, terms int, coef, amp, src, dst *float32, add bool)
