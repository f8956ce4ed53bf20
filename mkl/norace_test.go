//go:build !race

package mkl

const raceEnabled = false
