// Package digits tests how many digits fits and predictions keep where kernel matrices
// are nearly singular: wide kernels, noise of next to nothing, repeated samples, large
// offsets. What the packages of vi compute is computed again in 256 bits, by the
// formulas of the papers and code that shares nothing with theirs. docs/guide/trust.md has
// the promises and what was found.
package digits
