// Package stat sums the statistics that a multiple kernel model needs, over any number of samples, in
// one pass, on one machine or on many.
//
// With landmarks, the kernels of view p between a sample and D_p fixed points are a column k_p. A
// regression on such kernels needs only the number of samples and the sums
//
//	T = Σ_i z_i·z_iᵀ,   z_i = (k_{1,i}; …; k_{P,i}; 1; y_i),
//
// where y_i are the targets of sample i. The elements of z are called entries.
//
// A [Builder] adds samples to a [Statistic]. Statistics of parts of the samples can be merged,
// subtracted, saved and sent. [Statistic.Moments] returns the sums as float64. [Moments.Apply] maps
// them to another form: centred, whitened, with fewer landmarks or views. [Moments.PseudoSamples]
// replaces the N samples by as many as T has rank, with the same sums. docs/theory/statistics.md has
// the derivations.
//
// # Exact sums
//
// Samples come in blocks: [BlockSamples] consecutive samples, or fewer after [Builder.EndBlock]. The
// products of a block are summed in float64 by [la.Syrk], in a fixed order. The sums of blocks are
// 128-bit fixed-point numbers, whose addition is exact. Hence:
//
//   - A statistic depends only on the set of its blocks. It has the same bits, and the same
//     [Statistic.Hash], for every order of the blocks, every assignment of blocks to machines, every
//     number of workers and every processor.
//   - Subtract after Merge restores the statistic exactly.
//   - Other blocks of the same samples give other roundings, of about 1e-15 of each element.
//
// # Files
//
//	layout.go     Layout: the entries of z
//	fixed.go      128-bit fixed-point numbers
//	builder.go    Builder: from samples to a statistic
//	statistic.go  Statistic: merge, subtract
//	encoding.go   the bytes of a statistic
//	moments.go    Moments: the sums as float64
//	map.go        linear maps of the sums
//	whiten.go     the map that makes landmarks orthonormal
//	pseudo.go     pseudo-samples
package stat
