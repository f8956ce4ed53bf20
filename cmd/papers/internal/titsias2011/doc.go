// Package titsias2011 repeats the experiments of M. K. Titsias and
// M. Lázaro-Gredilla, "Spike and slab variational inference for multi-task and
// multiple kernel learning", NIPS 2011.
//
//	boston.go      Table 1: paired and standard mean field against Gibbs sampling
//	toy.go         Table 2: related tasks with gaps
//	flowers102.go  Table 3: the classes of Flowers102 as related tasks
//	pictures.go    Table 4, and inpainting: pictures restored by a sparse dictionary
//	movielens.go   collaborative filtering
//	factors.go     what the last two share: flags, and fits that go on from a file
package titsias2011
