// Package mcmc samples from the posteriors that package vi approximates: Markov
// chains whose limit is the posterior itself, with the figures that tell how far
// they are from it.
//
// A sampler is a plain struct of hyperparameters with a Sample method; [Sampling]
// says how many chains of what length it runs, several side by side. Each chain
// has a random stream of its own, so that the draws depend on the seed alone:
// they are the same on every run and for every number of workers, and a run that
// was interrupted and resumed from its [Checkpoint] ends in the same draws, bit
// for bit. (Between processor architectures the platform's exp and log differ in
// their last digits, after which chains part ways.)
//
// What a sweep costs and which moves a sampler makes is said at each sampler and
// in docs/mcmc.md.
package mcmc
