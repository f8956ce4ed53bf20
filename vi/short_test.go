package vi

import "testing"

// fewer is n, in short runs less: there arithmetic is emulated or slowed by the
// race detector, and what is wanted is that every path is taken.
func fewer[T ~int | uint64](n, less T) T {
	if testing.Short() {
		return less
	}
	return n
}

// notShort skips in short runs a test of what is the same on every machine.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a long test")
	}
}
