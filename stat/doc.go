// Package stat sums what a multiple kernel model needs of any number of samples in one pass,
// on one machine or many.
//
// With landmarks, the kernels of view p between a sample and D_p fixed points are a column
// k_p. A regression on such kernels needs of all samples only
//
//	T = Σ_i z_i·z_iᵀ,   z_i = (k_{1,i}; …; k_{P,i}; 1; y_i),
//
// and their number. [Builder] adds samples up to a [Statistic]; statistics of parts of the
// samples are merged and subtracted, saved and sent. [Moments] are its sums as float64,
// which linear maps bring into the form that a fit wants (centred, whitened, of fewer
// landmarks or views); [Moments.PseudoSamples] then replaces the N samples by as many as T
// has rank, with the same sums. docs/scale.md derives all of it.
//
// # What is exact
//
// The samples of a data set come in blocks: [BlockSamples] consecutive ones, or fewer where
// [Builder.EndBlock] says so. The products of a block are summed in float64 by [la.Syrk], in
// a fixed order. The sums of blocks are 128-bit fixed-point numbers, whose addition is
// exact. Hence a statistic is a function of the set of its blocks: the same bits, and the
// same [Statistic.Hash], for every order of the blocks, every partition of them among
// workers, any number of workers and every processor; and T + X − X is T. Another division
// of the same samples into blocks gives other roundings, of the order of 1e-15 of each
// element.
//
// # Files
//
//	layout.go     Layout: what the entries of z are
//	fixed.go      128-bit fixed-point numbers
//	builder.go    Builder: samples to statistic
//	statistic.go  Statistic: merge, subtract
//	encoding.go   its bytes
//	moments.go    Moments: the sums as float64
//	map.go        linear maps of them
//	whiten.go     the map that makes landmarks orthonormal, and what they cannot represent
//	pseudo.go     as many pseudo-samples as T has rank
package stat
