// Package intermediate holds the part of a model that turns kernels into intermediate outputs:
// sample weights a with their precisions λ, and the intermediate outputs G,
//
//	λ_{r,d} ~ Gamma,  a_{r,d} | λ ~ N(0, 1/λ_{r,d}),  g_{r,m,i} | a ~ N(a_rᵀ·k_{m,i}, 1/υ_r).
//
// The models of vi/bemkl and vi/kbmf build on it. They supply the noise precisions υ and what their
// targets say about G.
//
//	outputs.go         Outputs: state, starts, terms of the bound, snapshot
//	sample_weights.go  updates of λ and a
//	intermediate.go    the update of G, and the distances of G from its prior mean
//	ridge.go           terms of the step that scales a and G against the kernel weights
//	samples.go         Samples: how many samples the columns of the kernels stand for
package intermediate
